"""An interrupt while modules are imported: nothing has begun yet, so the process ends at once."""

import os
import signal
from collections.abc import Callable
from typing import NoReturn, TypeVar

__all__ = ["INTERRUPTED", "ending_at_once"]

# As shells have it: 128, and the number of the signal.
INTERRUPTED = 130

_T = TypeVar("_T")


def ending_at_once(load: Callable[[], _T]) -> _T:
    """Return what `load` imports; an interrupt meanwhile ends the process with one line.

    Python's own handler would raise inside extension modules, and some of them abort.
    """
    before = signal.getsignal(signal.SIGINT)
    if before is not signal.default_int_handler:
        # Somebody else decides, such as a shell that ignores the interrupts of its background jobs.
        return load()
    signal.signal(signal.SIGINT, _end)
    try:
        return load()
    finally:
        signal.signal(signal.SIGINT, before)


def _end(_signal: int, _frame: object) -> NoReturn:
    os.write(2, b"neyman: interrupted before anything was begun\n")
    # An exception would pass through the import, and what it leaves behind is half a module.
    os._exit(INTERRUPTED)
