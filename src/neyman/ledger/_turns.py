"""Locks of entries: a process whose entry is being drawn waits for the answer."""

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
        """Do not wait: there are no such locks here, and the recovery rules alone are enough."""
        yield
