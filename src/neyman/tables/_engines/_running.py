"""Queries that Ctrl-C interrupts."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TypeVar

__all__ = ["interruptible"]

_Found = TypeVar("_Found")


def interruptible(work: Callable[[], _Found], cancel: Callable[[], object]) -> _Found:
    """Run `work` in its own thread, so that Ctrl-C reaches Python even if the engine ignores it.

    Args:
        work: a function that calls the engine.
        cancel: a function that stops `work`; this thread calls it while `work` runs.
    """
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(work)
        try:
            return running.result()
        except KeyboardInterrupt:
            # Again and again: a query that has not begun yet would not hear of it.
            while not running.done():
                cancel()
                wait([running], timeout=0.05)
            raise
