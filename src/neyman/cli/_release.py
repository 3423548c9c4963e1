"""`neyman release`."""

import argparse
import json
import os
import sys
from collections.abc import Callable, Set
from fractions import Fraction
from pathlib import Path

from neyman.errors import InvalidParameter
from neyman.numerics import at_least, at_most
from neyman.publish import Bill, Plan, Publication, bill, plan, publish, read_spec
from neyman.released import Release

__all__ = ["run"]

# More groups make a picture that nobody can read; the table has them all.
_MOST_DRAWN = 60


def run(options: argparse.Namespace) -> int:
    """Publish what a spec asks for."""
    prepared = plan(read_spec(options.spec), options.spec.resolve().parent)
    if options.dry_run:
        return _price(prepared)
    write = None
    if options.report is not None:
        write = _reporter(options.report, {options.spec, prepared.data, prepared.ledger})
    watched = sys.stderr.isatty()
    try:
        publication = publish(prepared, progress=_progress if watched else _silent)
    finally:
        if watched:
            print("\r\x1b[K", end="", file=sys.stderr)
    if write is not None:
        write(publication)
    if options.json:
        print(json.dumps([release.to_json() for release in publication.releases], indent=1))
    else:
        print("\n\n".join(map(_told, publication.releases)))
    return 0


def _told(release: Release) -> str:
    """Write a release for people; of a function, what is read off it and not its coefficients."""
    from neyman.report import figures

    read = figures(release)
    if read is None:
        return f"{release.entry}\n{release.to_text()}"
    cells = [
        list(read),
        *([f"{cell:.6g}" for cell in row] for row in zip(*read.values(), strict=True)),
    ]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ["  ".join(map(str.rjust, row, widths)) for row in cells]
    return "\n".join([release.entry, *lines, release.to_text(rows=0)])


def _silent(entry: str, done: int, total: int) -> None:
    """Say nothing: nobody watches."""


def _progress(entry: str, done: int, total: int) -> None:
    filled = 20 * done // total
    bar = "#" * filled + "." * (20 - filled)
    print(f"\r\x1b[K[{bar}] {done + 1}/{total} {entry}", end="", file=sys.stderr, flush=True)


def _price(prepared: Plan) -> int:
    price = bill(prepared)
    print(f"cap {prepared.cap}, unit {prepared.unit} ({prepared.neighbors})")
    for step, cost in zip(prepared.steps, price.costs, strict=True):
        share = "   stored, free" if cost is None else _percent(cost, price)
        print(f"{share}  {step.curve!s:24}  {step.entry}")
    print(f"{_percent(price.due, price)}  to pay, of the budget")
    left = at_least(100 * price.remaining / price.capacity, 6)
    verdict = "fits" if price.fits else "does not fit, and would be refused"
    print(f"{left:>13} %  remain in the ledger now: the plan {verdict}")
    return 0 if price.fits else 1


def _percent(amount: Fraction, price: Bill) -> str:
    return f"{at_most(100 * amount / price.capacity, 6):>13} %"


def _reporter(path: Path, inputs: Set[Path]) -> Callable[[Publication], None]:
    """Return what writes the report; whatever stands in its way is found before the charge."""
    # Imported now, so that a missing extra is told before anything is charged.
    from neyman.plots import released, to_svg, tradeoff
    from neyman.report import figures, html

    _check_target(path, inputs)

    def write(publication: Publication) -> None:
        pictures: dict[str, str] = {}
        for release in publication.releases:
            few = len(next(iter(release.columns.values()))) <= _MOST_DRAWN
            if few or figures(release) is not None:
                pictures[release.entry] = to_svg(released(release))
        curve = to_svg(tradeoff({str(publication.total): publication.total}))
        page = html(publication, tradeoff_svg=curve, release_svgs=pictures)
        part = path.with_name(f"{path.name}.part")
        part.write_text(page, encoding="utf-8")
        part.replace(path)

    return write


def _check_target(path: Path, inputs: Set[Path]) -> None:
    place = path.resolve()
    if place in {other.resolve() for other in inputs} or (place.is_file() and not _is_page(place)):
        raise InvalidParameter(
            f"--report {path} is a file that is no report; write a path where none lies"
        )
    if place.is_dir():
        raise InvalidParameter(f"--report {path} is a folder; write the path of a file in it")
    if not place.parent.is_dir():
        raise InvalidParameter(
            f"--report {path} lies in no folder that exists; make it, or write another path"
        )
    if not os.access(place.parent, os.W_OK):
        raise InvalidParameter(f"--report {path} lies in a folder that cannot be written to")


def _is_page(place: Path) -> bool:
    with place.open("rb") as file:
        return file.read(15).lower() == b"<!doctype html>"
