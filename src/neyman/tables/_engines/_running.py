"""Ctrl-C reaches a query."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TypeVar

__all__ = ["interruptible"]

_Found = TypeVar("_Found")


def interruptible(work: Callable[[], _Found], cancel: Callable[[], object]) -> _Found:
    """Run `work` in a thread of its own: an engine may not hear of Ctrl-C, and Python does.

    Args:
        work: asks the engine.
        cancel: stops what `work` asked for; called from here while it runs.
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
