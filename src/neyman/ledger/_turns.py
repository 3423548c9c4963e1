"""Turns: who asks an entry that is being drawn waits for its answer, instead of drawing too."""

import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["turn"]

if sys.platform == "linux":
    from neyman.ledger._locks import turn
else:

    @contextmanager
    def turn(ledger: Path, entry: str) -> Generator[None]:  # noqa: ARG001
        """Wait for nobody: no such locks here, and the recovery rule keeps the promises alone."""
        yield
