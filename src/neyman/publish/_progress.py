"""How far a publication is, drawn where somebody watches: in a terminal, or in a notebook."""

import sys
from collections.abc import Callable
from types import TracebackType
from typing import Any, Final, TypeAlias, final

from neyman.printable import shortened, width

__all__ = ["Bar", "Progress"]

# Told the entry about to run, how many are done, and of how many.
Progress: TypeAlias = Callable[[str, int, int], None]

_CELLS: Final = 20
_LONGEST: Final = 60
_ERASE: Final = "\x1b[K"


@final
class Bar:
    """A line that is drawn anew with each entry.

    A terminal gets it on stderr, and it is gone at the end. A notebook cannot take a line away: it
    gets plain text on stdout, and at the end the line says that all is done. Wherever else the
    output goes, nothing is drawn.
    """

    def __init__(self) -> None:
        self._notebook = _in_kernel()
        self._drawn = 0

    def __enter__(self) -> "Bar":
        return self

    def __call__(self, entry: str, done: int, total: int) -> None:
        """Draw it."""
        self._line(done, total, f"{min(done + 1, total)}/{total} {shortened(entry, _LONGEST)}")

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the line, or take it away."""
        if not self._drawn:
            return
        if self._notebook:
            if kind is None:
                self._line(1, 1, "done")
            self._write("\n")
        else:
            self._write(f"\r{_ERASE}")

    def _line(self, done: int, total: int, said: str) -> None:
        if not (self._notebook or sys.stderr.isatty()):
            return
        filled = _CELLS * done // total
        line = f"[{'#' * filled}{'.' * (_CELLS - filled)}] {said}"
        if self._notebook:
            # Spaces cover what is left of a longer line: not every notebook knows how to erase.
            self._write(f"\r{line}{' ' * max(self._drawn - width(line), 0)}")
        else:
            self._write(f"\r{_ERASE}{line}")
        self._drawn = width(line)

    def _write(self, text: str) -> None:
        stream = sys.stdout if self._notebook else sys.stderr
        stream.write(text)
        stream.flush()


def _in_kernel() -> bool:
    """Return whether a notebook shows what is printed."""
    ipython: Any = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return getattr(shell, "kernel", None) is not None
