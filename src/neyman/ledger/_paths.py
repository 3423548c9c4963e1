"""The paths that can hold a ledger: on a local disk, where file locks can be trusted."""

import os
import re
from pathlib import Path, PurePosixPath

from neyman.errors import InvalidParameter, LedgerUnavailable

__all__ = [
    "LOCAL",
    "file_system",
    "file_system_of",
    "plain_path",
    "real_path",
    "require_one_name",
    "require_present",
    "unwritable",
]

_NAMES = """
apfs bcachefs btrfs ecryptfs erofs exfat ext2 ext3 ext4 f2fs fuseblk hfs hfsplus jfs nilfs2 ntfs
ntfs3 overlay ramfs reiserfs tmpfs ubifs ufs vfat xfs zfs
"""
LOCAL = frozenset(_NAMES.split())

_MOUNTS = Path("/proc/self/mountinfo")
_ESCAPE = re.compile(r"\\([0-7]{3})")


def file_system(mountinfo: str, path: PurePosixPath) -> str | None:
    """Return the type of the file system that holds an absolute, resolved path.

    The longest mount point that is a prefix wins; of equals, the last, which covers the others.

    Args:
        mountinfo: text of /proc/self/mountinfo; lines in another format are skipped.
        path: as the kernel names it, without links.

    Returns:
        The type, or None if no line covers the path.
    """
    found, depth = None, -1
    for line in mountinfo.splitlines():
        before, dash, after = line.partition(" - ")
        fields, kinds = before.split(" "), after.split(" ")
        if not dash or len(fields) < 6 or not kinds[0]:
            continue
        point = PurePosixPath(_ESCAPE.sub(lambda code: chr(int(code[1], 8)), fields[4]))
        if path.is_relative_to(point) and len(point.parts) >= depth:
            found, depth = kinds[0], len(point.parts)
    return found


def file_system_of(path: Path) -> str | None:
    """Return the type of the file system under a resolved path; None if not on Linux."""
    try:
        table = _MOUNTS.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return None
    return file_system(table, PurePosixPath(path))


def plain_path(path: str | os.PathLike[str]) -> Path:
    """Return a path as it was written.

    Raises:
        InvalidParameter: if it is not the plain path of a file.
    """
    given = os.fspath(path) if isinstance(path, str | os.PathLike) else None  # pyright: ignore[reportUnnecessaryIsInstance]
    if not isinstance(given, str) or not given or given.startswith((":", "file:")):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidParameter(
            f"place={given!r} is no path of a file; a ledger outlives the process, "
            'so write a path on a local disk such as "budget.ledger"'
        )
    if "\0" in given:
        raise InvalidParameter("place holds a NUL character; write a path on a local disk")
    return Path(given)


def real_path(path: Path) -> Path:
    """Return the real path of a ledger's file, which need not exist yet.

    On Linux the mount table names the file system. One that is not known to be local is refused,
    because its locks and flushes cannot be trusted. On other systems this check is not possible,
    and you must know.

    Raises:
        LedgerUnavailable: if no ledger can be kept there.
    """
    place = Path(os.path.realpath(path))
    try:
        refusal = _refusal(place)
    except OSError as error:
        refusal = f"cannot be looked up ({type(error).__name__}); write another path"
    if refusal is not None:
        raise LedgerUnavailable(f"{str(place)!r} {refusal}")
    return place


def _refusal(place: Path) -> str | None:
    if place.is_dir():
        return "is a directory; write the path of a file in it"
    if not place.parent.is_dir():
        return f"needs the directory {str(place.parent)!r}, which does not exist; make it first"
    if place.exists() and not place.is_file():
        return "is no regular file; write another path"
    kind = file_system_of(place)
    if kind is not None and kind not in LOCAL:
        return (
            f"lies on a file system ({kind}) that is not known as local, so its locks and flushes "
            "cannot be trusted; keep the ledger on a local disk"
        )
    return None


def require_present(place: Path) -> None:
    """Refuse a place without a file.

    Raises:
        LedgerUnavailable: if there is none.
    """
    # A link to itself counts as present.
    if not os.path.lexists(place):
        raise LedgerUnavailable(
            f"there is no ledger at {str(place)!r}; write the path of one, "
            "or make one with Ledger.open"
        )


def require_one_name(place: Path) -> None:
    """Refuse a file with a second name, a hard link.

    SQLite names the log after the path that it was given. Under the other name, it would miss the
    charges of a killed process and the locks of a live one.

    Raises:
        LedgerUnavailable: if the file has one.
    """
    if place.exists() and place.stat().st_nlink > 1:
        raise LedgerUnavailable(
            f"{str(place)!r} has a second name (a hard link), under which charges would be missed; "
            "remove one of the names, and copy a ledger only when no process uses it"
        )


def unwritable(place: Path) -> Path | None:
    """Return what this user cannot write: the file, its directory, or None if both are writable."""
    for needed in (place, place.parent):
        if needed.exists() and not os.access(needed, os.W_OK):
            return needed
    return None
