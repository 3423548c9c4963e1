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
    """Write a draft spec; an existing file is not replaced."""
    data: Path = options.data
    # The data may be a folder, such as ".", which must be resolved to get its name.
    name = data.resolve().stem
    spec: Path = options.spec or Path(f"{name}.toml")
    place: str = options.ledger or str(spec.with_suffix(".ledger"))
    # The URL of a database does not depend on the folder.
    ledger = _seen_from(spec, Path(place)) if store_of(place).files else place
    schema = open_table(data, unit=Rows()).view.schema
    text = template(schema, path=_seen_from(spec, data), ledger=ledger, title=name)
    try:
        with spec.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as error:
        raise InvalidParameter(
            f"{spec} already exists and is not replaced. Choose another name: "
            f"neyman init {data} --spec NAME.toml"
        ) from error
    say(
        f"{spec} written. Replace each FILL IN, then look at the price and the noise:\n"
        f"  neyman release {spec} --preview"
    )
    return 0


def _seen_from(spec: Path, path: Path) -> str:
    """Return a path relative to the folder of the spec."""
    seen = Path(os.path.relpath(path.resolve(), spec.resolve().parent)).as_posix()
    if not seen.isprintable():
        raise InvalidParameter(f"a path in a spec must be printable; got {seen!r}. Rename the file")
    return seen
