"""The memory limit of DuckDB, and the folder for rows that do not fit."""

import re
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Final, final

from neyman.errors import InvalidParameter

__all__ = ["Room"]

_SIZE: Final = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?([KMGT])(i?)B")
_LEAST: Final = 500 * 10**6
# Of a process: what the interpreter and its libraries take, and what DuckDB holds beyond what it
# counts, in per cent. Measured; see benchmarks/results/tables.md.
_OTHERS: Final = 200 * 10**6
_COUNTED: Final = 85


@final
@dataclass(frozen=True, slots=True)
class Room:
    """A memory limit and a folder.

    Attributes:
        limit: bytes of a process with one question at a time; None for DuckDB's own choice.
        folder: the absolute path of the parent of a private folder for each question, which is
            removed after it; None for the system's directory for temporary files.
    """

    limit: int | None = None
    folder: str | None = None

    @classmethod
    def of(cls, memory_limit: object, temporary_directory: object) -> "Room":
        """Return the limit and the folder of two arguments.

        Raises:
            InvalidParameter: if the limit is not a memory size or too small, or the folder does not
                exist.
        """
        limit = None if memory_limit is None else _bytes(memory_limit)
        return cls(limit, None if temporary_directory is None else _folder(temporary_directory))

    @property
    def counted(self) -> int | None:
        """DuckDB's own limit in bytes: 85 % of the limit minus 200 MB; None for its own choice."""
        return None if self.limit is None else (self.limit - _OTHERS) * _COUNTED // 100

    @property
    def asked(self) -> bool:
        """Whether the caller gave a limit or a folder."""
        return self != Room()

    def beside(self, other: "Room") -> "Room":
        """Return the smaller limit, with this folder if there is one."""
        limits = [limit for limit in (self.limit, other.limit) if limit is not None]
        return Room(min(limits, default=None), self.folder or other.folder)


def _bytes(given: object) -> int:
    found = _SIZE.fullmatch(given) if isinstance(given, str) else None
    if found is None:
        raise InvalidParameter(
            f"memory_limit={given!r} is no size; write a number and a unit, such as '2GB' "
            "(10^9 bytes) or '1.5GiB' (2^30)"
        )
    number, unit, binary = found.groups()
    size = int(Fraction(number) * (1024 if binary else 1000) ** (1 + "KMGT".index(unit)))
    if not _LEAST <= size < 2**62:
        raise InvalidParameter(
            f"memory_limit={given!r} is below 500MB, of which the libraries alone take 160, or "
            "beyond all memory; write '500MB' or more"
        )
    return size


def _folder(given: object) -> str:
    if not isinstance(given, str | Path):
        raise InvalidParameter(
            f"temporary_directory={given!r} is no path; write the path of a folder"
        )
    path = Path(given).absolute()
    found = False
    with suppress(OSError, ValueError):
        found = path.is_dir()
    if not found:
        raise InvalidParameter(
            f"temporary_directory={str(given)!r} is no folder; write the path of one that is there "
            "and that nobody else reads, for rows may be written under it"
        )
    return str(path)
