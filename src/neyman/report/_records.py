"""What was released, for programs: JSON and CSV."""

import csv
import io
from collections.abc import Mapping, Sequence
from typing import cast

from neyman.publish import Publication
from neyman.released import Release
from neyman.report._functions import read_off

__all__ = ["csv_of", "recorded", "records_of"]


def records_of(publication: Publication) -> list[dict[str, object]]:
    """Return releases for programs."""
    named = zip(publication.names, publication.releases, strict=True)
    return [recorded(name, one) for name, one in named]


def recorded(name: str, release: Release) -> dict[str, object]:
    """Return a release for programs; of a function, with the groups that its noise hides."""
    record: dict[str, object] = {"name": name, **release.to_json()}
    if "coefficient" in release.columns:
        record["hidden"] = list(read_off(release).hidden)
    return record


def csv_of(releases: Mapping[str, Release]) -> str:
    """Write releases as one table, a line for each group, with the name of its release first.

    Its columns are those of all of them together, as JSON has them; a field that a release lacks,
    and a number of too few rows to tell, is empty. Of a function they are what is read off it.
    """
    tables = {name: _columns(release) for name, release in releases.items()}
    columns = dict.fromkeys(column for table in tables.values() for column in table)
    first = "release"
    while first in columns:
        first += "_"
    header = [first, *columns]
    written = io.StringIO()
    lines = csv.writer(written, lineterminator="\n")
    lines.writerow(header)
    for name, table in tables.items():
        length = max((len(cells) for cells in table.values()), default=0)
        for row in range(length):
            cells = {column: values[row] for column, values in table.items()} | {first: name}
            lines.writerow([cells.get(column) for column in header])
    return written.getvalue()


def _columns(release: Release) -> Mapping[str, Sequence[object]]:
    if "coefficient" in release.columns:
        return read_off(release).columns or {}
    return cast("Mapping[str, Sequence[object]]", release.to_json()["columns"])
