"""`neyman density`."""

# matplotlib's stubs leave many parameters untyped.
# pyright: reportUnknownMemberType=false

import argparse
from collections.abc import Callable, Mapping, Set
from pathlib import Path
from typing import Final

import numpy as np

from neyman.cli._output import (
    NotMade,
    check_output,
    print_csv,
    print_json,
    print_text,
    protecting_answer,
)
from neyman.cli._parser import WrongUsage
from neyman.cli._question import print_preview
from neyman.cli._question_options import read_request
from neyman.errors import InvalidParameter, NeymanError
from neyman.files import check_target, replace_whole, write_text
from neyman.functional import DensityFunction, function, load
from neyman.functional._records import write_to
from neyman.ledger import store_of
from neyman.numerics import Array, at_least, at_most
from neyman.printable import printable, shortened
from neyman.publish import publish
from neyman.released import Release
from neyman.report import csv_of

__all__ = ["run"]

_LEVEL: Final = 0.95
_PLACES: Final = 13
_SHARES: Final = (0.05, 0.25, 0.5, 0.75, 0.95)
# The first bytes of a picture, by suffix.
_PICTURES: Final[Mapping[str, bytes]] = {".png": b"\x89PNG", ".svg": b"<svg"}


def run(options: argparse.Namespace) -> int:
    """Release the density of a column."""
    request = read_request(options, "density")
    keep, draw = _keeper(options, request.files), _drawer(options, request.files)
    if options.preview:
        return print_preview(request, options)
    plan = request.require_plan()
    check_output(options, request.files, {_head(options)})
    (release,) = publish(plan).releases
    try:
        _write(options, release, keep, draw)
    except (NeymanError, OSError) as error:
        if not isinstance(error, NotMade):
            error.add_note("The release is charged and stored; run the same command again, free")
        raise
    return 0


def _write(
    options: argparse.Namespace,
    release: Release,
    keep: Callable[[DensityFunction], None],
    draw: Callable[[DensityFunction], None],
) -> None:
    """Write the function in every form that the options ask for."""
    f = function(release, DensityFunction)
    try:
        f.require_records(release.confidence)
    except InvalidParameter:
        # Noise hides the curve, but its integers are paid for.
        keep(f)
        raise
    if options.json:
        print_json(options, _record(f, release))
    elif options.csv:
        print_csv(options, csv_of({options.id: release}))
    else:
        print_text(options, _text(f, release, options))
    with protecting_answer(f"the file {options.save}"):
        keep(f)
    with protecting_answer(f"the picture {options.picture}"):
        draw(f)


def _keeper(options: argparse.Namespace, inputs: Set[Path]) -> Callable[[DensityFunction], None]:
    """Return a function that saves to --save, whose path is checked."""
    path: Path | None = options.save
    if path is None:
        return _nothing
    check_target("--save", path, inputs, "function", _is_function)
    if path.suffix.lower() != ".npz":
        raise WrongUsage(
            f"--save must end in .npz; got {path}. Write --save {path.with_suffix('.npz')}"
        )
    return lambda f: replace_whole(path, lambda file: write_to(f, file))


def _drawer(options: argparse.Namespace, inputs: Set[Path]) -> Callable[[DensityFunction], None]:
    """Return a function that draws to --picture, whose path is checked."""
    path: Path | None = options.picture
    if path is None:
        return _nothing
    # Imported now, so that a missing extra is found before anything is charged.
    from neyman.plots import density, to_svg

    kind = path.suffix.lower()
    if kind not in _PICTURES:
        raise WrongUsage(
            f"--picture must end in .png or .svg; got {path}. Write --picture "
            f"{path.with_suffix('.png')}"
        )
    others = inputs if options.save is None else {*inputs, options.save}
    check_target("--picture", path, others, f"picture in {kind[1:]}", _is_picture)

    def draw(f: DensityFunction) -> None:
        picture = density(f, level=_LEVEL, label=options.column)
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


def _at(f: DensityFunction, places: int) -> dict[str, Array]:
    """Return the density and its bands at equally spaced points of the domain."""
    x = f.sides[0].grid(places)
    found = {"x": x, "density": f(x)}
    for kind, prefix in (("density", ""), ("noise", "noise_")):
        band = f.band(_LEVEL, kind)
        found[f"{prefix}lower"] = np.interp(x, band.x, band.lower)
        found[f"{prefix}upper"] = np.interp(x, band.x, band.upper)
    return found


def _quantiles(f: DensityFunction) -> dict[str, float]:
    """Return quantiles; a circle has none, because it has no first point."""
    if f.sides[0].closed:
        return {}
    values = f.ppf(_SHARES)
    return {f"{share:g}": float(value) for share, value in zip(_SHARES, values, strict=True)}


def _record(f: DensityFunction, release: Release) -> dict[str, object]:
    """Return the release, the function, its bands and its quantiles, JSON-able."""
    return {
        "format": "neyman.density",
        "version": 2,
        "release": release.to_json(),
        "replayed": release.replayed,
        "function": f.to_json(),
        "unresolved": f.unresolved,
        "band": {
            "level": _LEVEL,
            **{name: values.tolist() for name, values in _at(f, _PLACES).items()},
        },
        "quantiles": _quantiles(f),
    }


def _text(f: DensityFunction, release: Release, options: argparse.Namespace) -> str:
    """Return the curve with its bands, its quantiles, and the charge, as text."""
    found = _at(f, _PLACES)
    heads = [name.replace("_", " ") for name in list(found)[1:]]
    lines = [
        _head(options),
        f"records {f.count:.0f}, noise {f.count_sd:.1f}",
        *_outside(f),
        *([f.unresolved] if f.unresolved else []),
        "",
        f"{shortened(options.column, 14):>14} " + " ".join(f"{name:>12}" for name in heads),
    ]
    rows = np.column_stack(list(found.values()))
    lines += [f"{x:>14.6g} " + " ".join(f"{v:>12.4g}" for v in values) for x, *values in rows]
    percent = f"{100 * _LEVEL:g} %"
    lines += [
        f"lower, upper: {percent} band for the whole density of the population. It is an estimate,",
        "and misses features that so few records cannot show.",
        f"noise lower, noise upper: {percent} band for the density of these records without noise.",
    ]
    quantiles = _quantiles(f)
    if quantiles:
        shares = "".join(f"{100 * float(share):>9.3g} %" for share in quantiles)
        values = "".join(f"{value:>11.5g}" for value in quantiles.values())
        lines += ["", f"quantiles    {shares}", f"             {values}"]
    return "\n".join([*lines, "", *_paid(release, options)])


def _outside(f: DensityFunction) -> list[str]:
    """Return a line on the records outside the domain, if they were counted."""
    if not f.outside:
        return []
    below, above, nowhere = f.outside
    return [
        f"outside {round(below.count)} below, {round(above.count)} above, "
        f"{round(nowhere.count)} without a number, noise {below.stddev:.1f}"
    ]


def _head(options: argparse.Namespace) -> str:
    """Return the first line of the page."""
    return f"density of {printable(options.column)} on {_domain(options)}"


def _domain(options: argparse.Namespace) -> str:
    if options.period is not None:
        return f"a circle of {options.period}"
    if options.domain is None:
        return "its bounds, values outside counted apart"
    outside = {"drop": "left out", "clip": "moved to its ends"}.get(
        options.outside, "counted apart"
    )
    return f"[{options.domain.replace(':', ', ')}], values outside {outside}"


def _paid(release: Release, options: argparse.Namespace) -> list[str]:
    """Return the guarantee, the charge and what remains."""
    spending, guarantee = release.spending, release.guarantee
    cost = f"{at_most(100 * spending.cost / spending.cap, 5)} % of {store_of(options.ledger)}"
    left = at_least(100 * spending.remaining / spending.cap, 5)
    return [
        f"guarantee  {guarantee.curve}, {printable(guarantee.unit)} ({guarantee.neighbors})",
        f"charged    {'earlier, ' if release.replayed else ''}{cost}; {left} % remain",
    ]
