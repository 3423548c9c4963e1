"""An interrupt while modules are imported ends the process at once: nothing has begun yet."""

import os
import signal
from collections.abc import Callable
from typing import NoReturn, TypeVar

__all__ = ["INTERRUPTED", "ending_at_once"]

# The convention of shells: 128 plus the number of the signal.
INTERRUPTED = 130

_T = TypeVar("_T")


def ending_at_once(load: Callable[[], _T]) -> _T:
    """Return what `load` imports; an interrupt during it ends the process with one line.

    Python's own handler would raise inside extension modules, and some of them abort.
    """
    before = signal.getsignal(signal.SIGINT)
    if before is not signal.default_int_handler:
        # Another handler decides, such as a shell that ignores interrupts of background jobs.
        return load()
    signal.signal(signal.SIGINT, _end)
    try:
        return load()
    finally:
        signal.signal(signal.SIGINT, before)


def _end(_signal: int, _frame: object) -> NoReturn:
    os.write(2, b"neyman: interrupted before anything was begun\n")
    # An exception would pass through the import and leave half a module behind.
    os._exit(INTERRUPTED)
