"""The command line: `neyman release`, `neyman ledger`, `neyman convert`.

Exit status: 0 done; 1 refused or failed, with one sentence on stderr; 2 wrong usage; 130
interrupted.
"""

from collections.abc import Sequence
from importlib import import_module

from neyman.cli._interrupts import ending_at_once

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    return ending_at_once(lambda: import_module("neyman.cli._main")).main(argv)
