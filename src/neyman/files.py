"""Files that a command writes: obstacles are found before anything is charged."""

import os
import tempfile
from collections.abc import Callable, Set
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from neyman.errors import InvalidParameter

__all__ = ["check_page", "check_target", "replace_whole", "write_text"]


def check_target(
    option: str, path: Path, inputs: Set[Path], word: str, ours: Callable[[Path], bool]
) -> None:
    """Refuse a path that cannot be written to, or whose file must not be replaced.

    Args:
        option: as the user wrote it.
        path: its path.
        inputs: the files that the command reads, and never writes to.
        word: the name of the kind of file, for the message.
        ours: whether a file is of this kind and may be replaced.

    Raises:
        InvalidParameter: if the path is refused.
    """
    place = path.resolve()
    if place in {other.resolve() for other in inputs} or (place.is_file() and not ours(place)):
        raise InvalidParameter(
            f"{option} must not replace a file that is no {word}; got {path}. Write another path"
        )
    if place.is_dir():
        raise InvalidParameter(f"{option} {path} is a folder; write the path of a file in it")
    if not path.parent.is_dir():
        raise InvalidParameter(
            f"{option} {path} lies in no folder that exists; make it, or write another path"
        )
    if not os.access(path.parent, os.W_OK):
        raise InvalidParameter(f"{option} {path} lies in a folder that cannot be written to")


def check_page(option: str, path: Path, inputs: Set[Path]) -> None:
    """Refuse a path to which a page cannot be written, like `check_target`."""
    check_target(option, path, inputs, "report", _is_page)


def write_text(path: Path, text: str) -> None:
    """Write text, whole or not at all, like `replace_whole`."""
    replace_whole(path, lambda file: file.write(text.encode()))


def replace_whole(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Run `write` on a file beside the path, and move it there once it is whole and on the disk.

    The file beside it has a random name, is created anew, and follows no link; only this user can
    read it until it is whole. It is removed in any case, also after an interrupt. If the path is a
    link, the link is replaced, and not its target.
    """
    descriptor, name = tempfile.mkstemp(prefix=".neyman-", suffix=".part", dir=path.parent)
    part = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            write(file)
            file.flush()
            os.fchmod(file.fileno(), 0o666 & ~_umask())
            os.fsync(file.fileno())
        part.replace(path)
    except BaseException:
        with suppress(OSError):
            part.unlink()
        raise
    _sync(path.parent)


def _umask() -> int:
    """Return the mask of new files; it can only be read by setting it, here to the strictest."""
    mask = os.umask(0o777)
    os.umask(mask)
    return mask


def _sync(folder: Path) -> None:
    """Make the new name in the folder durable, if the system can."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _is_page(place: Path) -> bool:
    with place.open("rb") as file:
        return file.read(15).lower() == b"<!doctype html>"
