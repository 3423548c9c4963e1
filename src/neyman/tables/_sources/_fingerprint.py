"""A file as it was when it was opened, and what its bytes come to.

A fingerprint is kept only where the file cannot have changed without a new time of change (ctime),
which no program can set. docs/decisions/0020-kept-fingerprint.md says when that is so.
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
    """What the file system says of a file: any of it changes if the bytes visibly do."""

    device: int
    inode: int
    size: int
    modified: int
    changed: int


@final
@dataclass(frozen=True, slots=True)
class _Hashed:
    """What the bytes came to.

    Attributes:
        digest: of the bytes (`_digest`).
        old: whether the file was old when it was read: a later change has a later time.
        kept: whether the file is old, and its file system is one that tells of every change.
    """

    digest: str
    old: bool
    kept: bool


@final
@dataclass(frozen=True, slots=True)
class OpenedFile:
    """One file, known by its content: a copy or a backup of it is the same dataset.

    Attributes:
        path: where it lies, links followed.
        stamp: what the file system said of it when it was opened.
        seen: what its bytes came to when they were last read, or nothing.
    """

    path: str
    stamp: _Stamp = field(repr=False)
    seen: list[_Hashed] = field(repr=False, compare=False, default_factory=list[_Hashed])

    @property
    def place(self) -> tuple[int, int]:
        """Device and inode: one for all paths that lead to the same file."""
        return self.stamp.device, self.stamp.inode

    @property
    def identity(self) -> str:
        """A digest of the bytes. Not public: a ledger keeps it under its own secret key only.

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
        """Look whether the file is still the one that was opened, before and after a statement.

        Raises:
            EngineFailure: if the file system says anything else of it; or its bytes, where the
                file is so new that its times do not tell.
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
        InvalidTable: if there is none, or it cannot be read.
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
    """Read a file whole; what the file system said of it before and after must be the same."""
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
    """Return the SHA-256 of the size and of the SHA-256 of each piece; all processors take part."""
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
    """Have all that was written put on the disk; a memory map that writes again is then told of.

    Until then the file system may tell of the first of its writes alone.
    """
    with suppress(OSError):
        os.fsync(file.fileno())
        return True
    return False


def _tells_changes(device: int) -> bool:
    """Return whether a device holds a file system that tells of every change by a new time."""
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
