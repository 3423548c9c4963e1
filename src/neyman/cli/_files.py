"""Files that a command writes: what stands in their way is found before anything is charged."""

import os
from collections.abc import Callable, Set
from pathlib import Path

from neyman.errors import InvalidParameter

__all__ = ["check_target", "is_page", "replace_whole"]


def check_target(
    option: str, path: Path, inputs: Set[Path], word: str, ours: Callable[[Path], bool]
) -> None:
    """Refuse a path that cannot be written to, or whose file would be a loss.

    Args:
        option: as the user wrote it.
        path: where it leads.
        inputs: what the command reads, and never writes to.
        word: what the file is called in an error.
        ours: whether a file is such a one, and may be replaced.

    Raises:
        InvalidParameter: if so.
    """
    place = path.resolve()
    if place in {other.resolve() for other in inputs} or (place.is_file() and not ours(place)):
        raise InvalidParameter(
            f"{option} {path} is a file that is no {word}; write a path where none lies"
        )
    if place.is_dir():
        raise InvalidParameter(f"{option} {path} is a folder; write the path of a file in it")
    if not place.parent.is_dir():
        raise InvalidParameter(
            f"{option} {path} lies in no folder that exists; make it, or write another path"
        )
    if not os.access(place.parent, os.W_OK):
        raise InvalidParameter(f"{option} {path} lies in a folder that cannot be written to")


def replace_whole(path: Path, write: Callable[[Path], object]) -> None:
    """Let `write` write beside the path, and put it there once it is whole."""
    part = path.with_name(f"{path.name}.part")
    write(part)
    part.replace(path)


def is_page(place: Path) -> bool:
    """Return whether a file is a page, such as a report."""
    with place.open("rb") as file:
        return file.read(15).lower() == b"<!doctype html>"
