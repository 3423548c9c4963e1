"""The command line: `neyman release`, `neyman ledger`, `neyman convert`.

Exit status: 0 done, 1 refused or failed (one sentence on stderr says why), 2 wrong usage, 130
interrupted.
"""

from neyman.cli._main import main

__all__ = ["main"]
