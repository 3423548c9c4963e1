"""Turns on Linux: one locked byte, in a file beside the ledger, for each entry being drawn.

Open-file-description locks bind threads and processes alike, and end at once with their holder.
They need a file of their own: closing any descriptor of the ledger's would drop SQLite's locks.
"""

import errno
import hashlib
import os
import struct
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, final

from neyman.errors import InvalidParameter, LedgerUnavailable

assert sys.platform == "linux"
import fcntl  # noqa: E402

__all__ = ["turn"]

# struct flock: type, whence, start, length, process (0 for this kind of lock), padding.
_FLOCK: Final = "@hhqqi0q"
_CLOSED: Final = -1


@final
@dataclass(slots=True, eq=False)
class _Turn:
    entry: str
    file: Path
    thread: int
    descriptor: int = _CLOSED


# A forked child shares its parent's locks, and would keep them after the parent's death: it closes
# its copies of the descriptors, and forks wait while one is opened or closed.
_OPEN: Final[set[_Turn]] = set()
_BETWEEN_FORKS: Final = threading.Lock()


def _forget() -> None:
    for inherited in _OPEN:
        os.close(inherited.descriptor)
    _OPEN.clear()
    _BETWEEN_FORKS.release()


os.register_at_fork(
    before=_BETWEEN_FORKS.acquire,
    after_in_parent=_BETWEEN_FORKS.release,
    after_in_child=_forget,
)


@contextmanager
def turn(ledger: Path, entry: str) -> Generator[None]:
    """Wait until nobody else has the turn of this entry, and hold it.

    Raises:
        InvalidParameter: if this thread holds a turn already.
        LedgerUnavailable: if the file of turns cannot be used.
    """
    mine = _Turn(entry, ledger.with_name(f"{ledger.name}.turns"), threading.get_ident())
    refusal: int | None = None
    try:
        try:
            _open(mine, ledger)
            _lock(mine, fcntl.F_WRLCK)
        except OSError as error:
            refusal = error.errno
        if refusal is not None:
            raise LedgerUnavailable(
                f"the file of turns {str(mine.file)!r} cannot be used "
                f"({errno.errorcode.get(refusal, refusal)}). Nothing was charged. Check that it "
                "is a plain file that this user may write, or delete it"
            )
        yield
    finally:
        _close(mine)


def _open(mine: _Turn, ledger: Path) -> None:
    # Whoever may write the ledger may take a turn, whatever the umask.
    mode = ledger.stat().st_mode & 0o666
    with _BETWEEN_FORKS:
        for other in _OPEN:
            if other.thread == mine.thread:
                raise InvalidParameter(
                    f"the turn of {mine.entry!r} was asked inside that of {other.entry!r}, and "
                    "two threads could wait for each other for ever; end one before the next"
                )
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        mine.descriptor = os.open(mine.file, flags, mode)
        _OPEN.add(mine)
    with suppress(OSError):
        if os.fstat(mine.descriptor).st_mode & 0o666 != mode:
            os.fchmod(mine.descriptor, mode)


def _lock(mine: _Turn, kind: int) -> None:
    digest = hashlib.sha256(mine.entry.encode()).digest()
    start = int.from_bytes(digest[:8], "big") >> 2
    request = struct.pack(_FLOCK, kind, os.SEEK_SET, start, 1, 0)
    try:
        fcntl.fcntl(mine.descriptor, fcntl.F_OFD_SETLKW, request)
    except OSError as error:
        # A kernel without these locks: no turns.
        if error.errno != errno.EINVAL:
            raise


def _close(mine: _Turn) -> None:
    with _BETWEEN_FORKS:
        # A child that was forked inside the turn leaves it without ending its parent's.
        if mine not in _OPEN:
            return
        _OPEN.discard(mine)
        with suppress(OSError):
            # A copy that a native library's fork made would outlive a mere close.
            _lock(mine, fcntl.F_UNLCK)
        os.close(mine.descriptor)
