"""A file as it was when it was opened, and what its bytes come to."""

import hashlib
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import TypeAlias, final

from neyman.errors import EngineFailure, InvalidTable

__all__ = ["OpenedFile", "opened_file"]

_Stamp: TypeAlias = tuple[int, int, int]


@final
@dataclass(frozen=True, slots=True)
class OpenedFile:
    """One file, known by its content: a copy or a backup of it is the same dataset.

    Attributes:
        path: where it lies, links followed.
        stamp: inode, size and time of the last change.
        digest: reads the file once, whenever it is first called.
    """

    path: str
    stamp: _Stamp = field(repr=False)
    digest: Callable[[], str] = field(repr=False, compare=False)

    @property
    def identity(self) -> str:
        """SHA-256 of the bytes. Not public: a ledger keeps it under its own secret key only.

        Raises:
            EngineFailure: if the file has changed since it was opened.
        """
        digest = None
        with suppress(OSError):
            digest = self.digest()
        self.check()
        if digest is None:
            raise EngineFailure("the file cannot be read any more; nothing was charged")
        return f"sha256:{digest}"

    def check(self) -> None:
        """Look whether the file is still the one that was opened.

        Raises:
            EngineFailure: if it has another inode, size or time.
        """
        stamp = None
        with suppress(OSError):
            stamp = _stamp(self.path)
        if stamp != self.stamp:
            raise EngineFailure(
                "the file has changed since the table was opened; open it again and ask under a "
                "new entry id"
            )


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
    return OpenedFile(real, stamp, cache(partial(_digest, real)))


def _stamp(path: str) -> _Stamp:
    with Path(path).open("rb") as file:
        found = os.fstat(file.fileno())
    return found.st_ino, found.st_size, found.st_mtime_ns


def _digest(path: str) -> str:
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
