"""`neyman init`."""

import argparse
import os
from pathlib import Path

from neyman.cli._say import say
from neyman.errors import InvalidParameter
from neyman.ledger import store_of
from neyman.publish import template
from neyman.tables import Rows, open_table

__all__ = ["run"]


def run(options: argparse.Namespace) -> int:
    """Write a spec to be filled in; an existing file stays as it is."""
    data: Path = options.data
    # A folder is a table too, and "." has a name as well.
    name = data.resolve().stem
    spec: Path = options.spec or Path(f"{name}.toml")
    place: str = options.ledger or str(spec.with_suffix(".ledger"))
    # A database is the same from every folder.
    ledger = _seen_from(spec, Path(place)) if store_of(place).files else place
    schema = open_table(data, unit=Rows()).view.schema
    text = template(schema, path=_seen_from(spec, data), ledger=ledger, title=name)
    try:
        with spec.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as error:
        raise InvalidParameter(
            f"--spec {spec} is there already and is not replaced; write a path where none lies"
        ) from error
    say(
        f"{spec} written. Fill in what says FILL IN, then price it and see how exact it is:\n"
        f"  neyman release {spec} --preview"
    )
    return 0


def _seen_from(spec: Path, path: Path) -> str:
    """Write a path as the spec must: relative to its folder."""
    seen = Path(os.path.relpath(path.resolve(), spec.resolve().parent)).as_posix()
    if not seen.isprintable():
        raise InvalidParameter(
            f"the path {seen!r} holds characters that a spec cannot; rename the file"
        )
    return seen
