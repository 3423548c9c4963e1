"""`neyman rehearse`."""

import argparse
from pathlib import Path

from neyman.cli._numbers import whole
from neyman.cli._parser import WrongUsage
from neyman.cli._say import say, say_json
from neyman.files import check_page, write_text
from neyman.publish import Rehearsal, read_spec, rehearse

__all__ = ["run"]


def run(options: argparse.Namespace) -> int:
    """Rehearse a spec on public rows; nothing is charged."""
    joins, limits = _joins(options.join or []), _limits(options.tried)
    if options.report is not None:
        inputs = {options.spec, options.data, *joins.values()}
        check_page("--report", options.report, inputs)
    found = rehearse(
        read_spec(options.spec),
        options.spec.resolve().parent,
        data=options.data,
        joins=joins,
        runs=whole(options.runs, "--runs"),
        max_rows=limits,
    )
    if options.json:
        say_json(found.to_json())
    else:
        say(found.to_text())
    if options.report is not None:
        _write(options.report, found)
    return 0


def _write(path: Path, found: Rehearsal) -> None:
    from neyman.report import rehearsal_html

    page = rehearsal_html(found)
    write_text(path, page)


def _joins(given: list[str]) -> dict[str, Path]:
    """Read NAME=PATH, once for each name.

    Raises:
        WrongUsage: if one is malformed, or a name stands twice.
    """
    joins: dict[str, Path] = {}
    for written in given:
        name, equals, path = written.partition("=")
        if not (name and equals and path):
            raise WrongUsage(
                f"--join must be NAME=PATH; got {written!r}. "
                "Write for example --join wards=wards.csv"
            )
        if name in joins:
            raise WrongUsage(
                f"--join {name} must be given once; got it twice. Write each name once"
            )
        joins[name] = Path(path)
    return joins


def _limits(given: str | None) -> list[int]:
    """Read max_rows=1,2,5.

    Raises:
        WrongUsage: if it is malformed.
    """
    if given is None:
        return []
    name, _, listed = given.partition("=")
    if name != "max_rows" or not listed:
        raise WrongUsage(
            f"--try must list values of max_rows; got {given!r}. Write for example max_rows=1,2,5"
        )
    return [whole(part, "--try max_rows") for part in listed.split(",")]
