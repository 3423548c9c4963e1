"""What a forked child must not inherit: open descriptors, and locks of entries.

A copy of the descriptor of a locked file or of a connection would hold the lock after the parent's
death. A child closes its copies at once, and a fork waits while a descriptor is opened or closed.
"""

import os
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, TypeVar, final

from neyman.errors import InvalidParameter

__all__ = ["kept_from_children", "one_a_thread"]

T = TypeVar("T")


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Kept:
    descriptor: int


_KEPT: Final[set[_Kept]] = set()
_TURNS: Final[dict[int, str]] = {}
_BETWEEN_FORKS: Final = threading.Lock()


def _forget() -> None:
    for inherited in _KEPT:
        os.close(inherited.descriptor)
    _KEPT.clear()
    _TURNS.clear()
    _BETWEEN_FORKS.release()


if sys.platform != "win32":
    os.register_at_fork(
        before=_BETWEEN_FORKS.acquire,
        after_in_parent=_BETWEEN_FORKS.release,
        after_in_child=_forget,
    )


@contextmanager
def kept_from_children(
    open_: Callable[[], T], descriptor: Callable[[T], int], close: Callable[[T], None]
) -> Generator[T]:
    """Open a resource, and close it at the end, but not in a child that was forked meanwhile.

    Args:
        open_: opens it.
        descriptor: returns its descriptor, which a child closes by itself.
        close: closes it for good, in the process that opened it.
    """
    with _BETWEEN_FORKS:
        resource = open_()
        mine = _Kept(descriptor(resource))
        _KEPT.add(mine)
    try:
        yield resource
    finally:
        with _BETWEEN_FORKS:
            if mine in _KEPT:
                _KEPT.discard(mine)
                close(resource)


@contextmanager
def one_a_thread(entry: str) -> Generator[None]:
    """Refuse a second entry's lock in the same thread.

    Raises:
        InvalidParameter: if this thread already has the lock of an entry.
    """
    thread = threading.get_ident()
    other = _TURNS.get(thread)
    if other is not None:
        raise InvalidParameter(
            f"the lock of {entry!r} must not be taken inside the lock of {other!r}: two threads "
            "could wait for each other for ever. End one before the next"
        )
    _TURNS[thread] = entry
    try:
        yield
    finally:
        _TURNS.pop(thread, None)
