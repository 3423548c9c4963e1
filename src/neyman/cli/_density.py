"""`neyman density`."""

# matplotlib's stubs leave many parameters untyped.
# pyright: reportUnknownMemberType=false

import argparse
from collections.abc import Callable, Mapping, Set
from pathlib import Path
from typing import Final

from neyman.cli._after import NotMade, after_the_answer
from neyman.cli._asked import asked_of
from neyman.cli._density_words import LEVEL, head, record, text
from neyman.cli._numbers import WrongUsage
from neyman.cli._output import check_output, give, give_csv, give_json
from neyman.cli._question import foresee, to_release
from neyman.errors import InvalidParameter, NeymanError
from neyman.files import check_target, replace_whole, write_text
from neyman.functional import (
    DensityFunction,
    function,
    load,
)
from neyman.functional._records import write_to
from neyman.publish import publish
from neyman.released import Release
from neyman.report import csv_of

__all__ = ["run"]

# By suffix, what such a file begins with.
_PICTURES: Final[Mapping[str, bytes]] = {".png": b"\x89PNG", ".svg": b"<svg"}


def run(options: argparse.Namespace) -> int:
    """Release the density of one column of a table."""
    asked = asked_of(options, "density")
    keep, draw = _keeper(options, asked.files), _drawer(options, asked.files)
    if options.preview:
        return foresee(asked, options)
    prepared = to_release(asked)
    check_output(options, asked.files, {head(options)})
    (release,) = publish(prepared).releases
    try:
        _write(options, release, keep, draw)
    except (NeymanError, OSError) as error:
        if not isinstance(error, NotMade):
            error.add_note("the release is charged and stored; the same command asks again, free")
        raise
    return 0


def _write(
    options: argparse.Namespace,
    release: Release,
    keep: Callable[[DensityFunction], None],
    draw: Callable[[DensityFunction], None],
) -> None:
    """Read the release, and write what was asked for."""
    f = function(release, DensityFunction)
    try:
        f.require_records(release.confidence)
    except InvalidParameter:
        # Noise hides the curve, and its integers are paid for all the same.
        keep(f)
        raise
    if options.json:
        give_json(options, record(f, release))
    elif options.csv:
        give_csv(options, csv_of({options.id: release}))
    else:
        give(options, text(f, release, options))
    with after_the_answer(f"the file {options.save}"):
        keep(f)
    with after_the_answer(f"the picture {options.picture}"):
        draw(f)


def _keeper(options: argparse.Namespace, inputs: Set[Path]) -> Callable[[DensityFunction], None]:
    """Return what saves the function, if that was asked for; its path is checked."""
    path: Path | None = options.save
    if path is None:
        return _nothing
    check_target("--save", path, inputs, "function", _is_function)
    if path.suffix.lower() != ".npz":
        raise WrongUsage(
            f"--save {path} does not end in .npz, as files of functions do; write "
            f"--save {path.with_suffix('.npz')}"
        )
    return lambda f: replace_whole(path, lambda file: write_to(f, file))


def _drawer(options: argparse.Namespace, inputs: Set[Path]) -> Callable[[DensityFunction], None]:
    """Return what draws the picture, if that was asked for; its path is checked."""
    path: Path | None = options.picture
    if path is None:
        return _nothing
    # Imported now, so that a missing extra is told before anything is charged.
    from neyman.plots import density, to_svg

    kind = path.suffix.lower()
    if kind not in _PICTURES:
        raise WrongUsage(f"--picture {path} is neither .png nor .svg; write one of them")
    others = inputs if options.save is None else {*inputs, options.save}
    check_target("--picture", path, others, f"picture in {kind[1:]}", _is_picture)

    def draw(f: DensityFunction) -> None:
        picture = density(f, level=LEVEL, label=options.column)
        if kind == ".svg":
            write_text(path, to_svg(picture))
        else:
            replace_whole(path, lambda file: picture.savefig(file, format="png", dpi=130))

    return draw


def _nothing(f: DensityFunction) -> None:
    """Write nothing."""


def _is_function(place: Path) -> bool:
    try:
        load(place, DensityFunction)
    except (NeymanError, OSError, ValueError, KeyError, EOFError):
        return False
    return True


def _is_picture(place: Path) -> bool:
    with place.open("rb") as file:
        return file.read(4) == _PICTURES[place.suffix.lower()]
