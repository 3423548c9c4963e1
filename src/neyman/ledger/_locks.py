"""Locks of entries on Linux: one byte for each entry being drawn, in a file beside the ledger.

Open-file-description locks apply to threads and processes alike, and end at once with their holder.
They need a separate file: closing any descriptor of the ledger's file would drop SQLite's locks.
"""

import errno
import hashlib
import os
import struct
import sys
from collections.abc import Generator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Final

from neyman.errors import LedgerUnavailable
from neyman.ledger._forks import kept_from_children, one_a_thread

assert sys.platform == "linux"
import fcntl  # noqa: E402

__all__ = ["turn"]

# struct flock: type, whence, start, length, process (0 for this kind of lock), padding.
_FLOCK: Final = "@hhqqi0q"


@contextmanager
def turn(ledger: Path, entry: str) -> Generator[None]:
    """Wait for the lock of this entry, and hold it during the block.

    Raises:
        InvalidParameter: if this thread already has the lock of an entry.
        LedgerUnavailable: if the file of locks cannot be used.
    """
    place = _byte(entry)
    file = ledger.with_name(f"{ledger.name}.turns")
    refusal: int | None = None

    def close(descriptor: int) -> None:
        with suppress(OSError):
            # Unlock first: a copy from a native library's fork would keep the lock after a close.
            _lock(descriptor, fcntl.F_UNLCK, place)
        os.close(descriptor)

    with one_a_thread(entry), ExitStack() as held:
        try:
            descriptor = held.enter_context(
                kept_from_children(lambda: _opened(file, ledger), int, close)
            )
            _lock(descriptor, fcntl.F_WRLCK, place)
        except OSError as error:
            refusal = error.errno
        if refusal is not None:
            raise LedgerUnavailable(
                f"the file of turns {str(file)!r} cannot be used "
                f"({errno.errorcode.get(refusal, refusal)}). Nothing was charged. Check that it "
                "is a plain file that this user may write, or delete it"
            )
        yield


def _opened(file: Path, ledger: Path) -> int:
    # Everyone who can write the ledger can take its locks, whatever the umask.
    mode = ledger.stat().st_mode & 0o666
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    descriptor = os.open(file, flags, mode)
    with suppress(OSError):
        if os.fstat(descriptor).st_mode & 0o666 != mode:
            os.fchmod(descriptor, mode)
    return descriptor


def _byte(entry: str) -> int:
    return int.from_bytes(hashlib.sha256(entry.encode()).digest()[:8], "big") >> 2


def _lock(descriptor: int, kind: int, place: int) -> None:
    request = struct.pack(_FLOCK, kind, os.SEEK_SET, place, 1, 0)
    try:
        fcntl.fcntl(descriptor, fcntl.F_OFD_SETLKW, request)
    except OSError as error:
        # A kernel without these locks: no waiting.
        if error.errno != errno.EINVAL:
            raise
