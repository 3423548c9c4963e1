"""A file at the time when it was opened, and the digest of its bytes.

A fingerprint is kept only if the file cannot change without a new time of change (ctime), which no
program can set. docs/decisions/0020-kept-fingerprint.md says when that holds.
"""

import hashlib
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple, final

from neyman.errors import EngineFailure, InvalidTable

__all__ = ["OpenedFile", "opened_file"]

# Local file systems of Linux that set the time of change at every write, by memory maps too once
# what they hold was written to the disk.
_LOCAL: Final = frozenset({"ext2", "ext3", "ext4", "f2fs", "xfs"})
_MOUNTS: Final = Path("/proc/self/mountinfo")
# Times are as coarse as one second. A file that changed later than this before it was read may
# change once more, and its time stay.
_COARSE: Final = 2 * 10**9
# Bytes: of a piece of a file, and of one reading.
_PIECE, _READ = 2**24, 2**20


@final
class _Stamp(NamedTuple):
    """The file system's data about a file; one of them changes if the bytes visibly change."""

    device: int
    inode: int
    size: int
    modified: int
    changed: int


@final
@dataclass(frozen=True, slots=True)
class _Hashed:
    """The digest of the bytes.

    Attributes:
        digest: the digest (`_digest`).
        old: whether the file was old when it was read: a later change has a later time.
        kept: whether the file is old, and its file system records every change.
    """

    digest: str
    old: bool
    kept: bool


@final
@dataclass(frozen=True, slots=True)
class OpenedFile:
    """A file, identified by its content: a copy or a backup is the same dataset.

    Attributes:
        path: its path, with links resolved.
        stamp: the file system's data when it was opened.
        seen: the digest of its bytes when they were last read, or nothing.
    """

    path: str
    stamp: _Stamp = field(repr=False)
    seen: list[_Hashed] = field(repr=False, compare=False, default_factory=list[_Hashed])

    @property
    def place(self) -> tuple[int, int]:
        """Device and inode: equal for all paths to the same file."""
        return self.stamp.device, self.stamp.inode

    @property
    def identity(self) -> str:
        """A digest of the bytes. Not public: a ledger stores it only under its own secret key.

        The file is read again unless it cannot have changed since it was last read.

        Raises:
            EngineFailure: if the file has changed since it was opened.
        """
        if self.seen and self.seen[0].kept:
            self._require_stamp()
        else:
            self._read()
        return f"sha256:{self.seen[0].digest}"

    def check(self) -> None:
        """Check that the file is still the one that was opened, before and after a statement.

        Raises:
            EngineFailure: if the file system's data differ, or the bytes differ for a file that is
                so new that its times do not show changes.
        """
        self._require_stamp()
        if self.seen and not self.seen[0].old:
            self._read()

    def _read(self) -> None:
        found: tuple[_Hashed, _Stamp] | None = None
        with suppress(OSError):
            found = _hashed(self.path)
        self._require_stamp()
        if found is None:
            raise EngineFailure("the file cannot be read any more; make it readable and ask again")
        hashed, stamp = found
        if stamp != self.stamp or (self.seen and self.seen[0].digest != hashed.digest):
            raise _changed()
        self.seen[:] = [hashed]

    def _require_stamp(self) -> None:
        stamp = None
        with suppress(OSError):
            stamp = _stamp(self.path)
        if stamp != self.stamp:
            raise _changed()


def opened_file(path: Path) -> OpenedFile:
    """Return the file at `path`.

    Raises:
        InvalidTable: if there is no such file, or it cannot be read.
    """
    stamp, real = None, ""
    problem = f"there is no file {path}; write the path of one"
    try:
        if path.is_file():
            real = str(path.resolve())
            stamp = _stamp(real)
    except PermissionError:
        problem = f"the file {path} may not be read by this user; change its permissions"
    except (OSError, ValueError):
        pass
    if stamp is None:
        raise InvalidTable(problem)
    return OpenedFile(real, stamp)


def _changed() -> EngineFailure:
    return EngineFailure(
        "the file has changed since the table was opened; open it again and ask under a new entry "
        "id"
    )


def _stamp(path: str) -> _Stamp:
    with Path(path).open("rb") as file:
        return _stamp_of(file)


def _stamp_of(file: BinaryIO) -> _Stamp:
    found = os.fstat(file.fileno())
    return _Stamp(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def _hashed(path: str) -> tuple[_Hashed, _Stamp]:
    """Read a whole file; the file system's data must be equal before and after."""
    with Path(path).open("rb") as file:
        flushed = _flushed(file)
        before, now = _stamp_of(file), time.time_ns()
        digest = _digest(path, before.size)
        after = _stamp_of(file)
    if after != before:
        raise _changed()
    old = before.changed + _COARSE < now
    return _Hashed(digest, old, old and flushed and _tells_changes(before.device)), before


def _digest(path: str, size: int) -> str:
    """Return the SHA-256 of the size and of the SHA-256 of each piece, on all processors."""
    found = hashlib.sha256(size.to_bytes(8))
    starts = range(0, size, _PIECE)
    with ThreadPoolExecutor(min(len(starts), os.cpu_count() or 1) or 1) as pool:
        for piece in pool.map(partial(_digest_of_piece, path), starts):
            found.update(piece)
    return found.hexdigest()


def _digest_of_piece(path: str, start: int) -> bytes:
    found = hashlib.sha256()
    with Path(path).open("rb") as file:
        file.seek(start)
        for _ in range(0, _PIECE, _READ):
            # Readings and digests of so many bytes let other threads of Python run.
            found.update(file.read(_READ))
    return found.digest()


def _flushed(file: BinaryIO) -> bool:
    """Flush all writes to the disk; the file system then records later writes of a memory map.

    Before that, it may record only the first of them.
    """
    with suppress(OSError):
        os.fsync(file.fileno())
        return True
    return False


def _tells_changes(device: int) -> bool:
    """Return whether the file system of a device records every change with a new time."""
    if sys.platform != "linux":
        return False
    named = f"{os.major(device)}:{os.minor(device)}"
    kinds: set[str] = set()
    with suppress(OSError):
        for line in _MOUNTS.read_text(encoding="utf-8", errors="replace").splitlines():
            mount, _, kind = line.partition(" - ")
            if mount.split(" ")[2] == named:
                kinds.add(kind.split(" ")[0])
    return bool(kinds) and kinds <= _LOCAL
