"""Where file locks can be trusted: local file systems, as Linux's mount table names them."""

import re
from pathlib import Path, PurePosixPath

__all__ = ["LOCAL", "file_system", "file_system_of"]

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
        mountinfo: text of /proc/self/mountinfo; lines that are not its format are skipped.
        path: as the kernel names it, without links.

    Returns:
        The type, or None where no line covers the path.
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
    """Return the type of the file system under a resolved path; None off Linux, unchecked."""
    try:
        table = _MOUNTS.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return None
    return file_system(table, PurePosixPath(path))
