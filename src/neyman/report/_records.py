"""Releases as JSON and CSV."""

import csv
import io
import json
import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from datetime import date
from importlib.metadata import version
from typing import Final, cast

from neyman.publish import Publication
from neyman.released import Release
from neyman.report._answer_tables import AnswerTable
from neyman.report._functions import read_off
from neyman.report._html import safe
from neyman.report._language import Language

__all__ = ["csv_link", "csv_of", "json_link", "link", "recorded", "records_of"]


def records_of(publication: Publication) -> list[dict[str, object]]:
    """Return the records of all releases, JSON-able."""
    named = zip(publication.names, publication.releases, strict=True)
    return [recorded(name, one) for name, one in named]


def recorded(name: str, release: Release) -> dict[str, object]:
    """Return the record of a release; for a function, also what its noise hides, and why."""
    record: dict[str, object] = {"name": name, **release.to_json()}
    if "coefficient" in release.columns:
        read = read_off(release)
        record |= {"hidden": list(read.hidden), "unresolved": list(read.notes)}
    return record


def csv_of(releases: Mapping[str, Release]) -> str:
    """Return releases as one CSV table: a line for each group, with the name of the release first.

    The columns are those of all releases, as in the JSON. A field is empty if a release does not
    have it, or if its number comes from too few rows. The columns of a function are its values.
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


# Characters outside those that every file system accepts in a name.
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9_.]+")
_LONGEST: Final = 80
# Excel reads a file as UTF-8 only if it begins with this mark.
_MARK: Final = "\ufeff"


def csv_link(table: AnswerTable, of: int, words: Language) -> str:
    """Return a link to a table as CSV.

    Args:
        table: the table.
        of: the number of tables of its answer.
        words: the language.
    """
    several = of > 1
    label = words.put("csv_of", title=table.title) if several else words.page["csv"]
    file = f"{table.name} {table.title}" if several else table.name
    return link(f"{_file(file)}.csv", "text/csv", _MARK + table.to_csv(), label)


def json_link(
    publication: Publication, answers: Sequence[Mapping[str, object]], made: date, label: str
) -> str:
    """Return a link to all answers as JSON, with their guarantee.

    Args:
        publication: the publication.
        answers: the record of each answer.
        made: the date of the page.
        label: the text of the link.
    """
    record = {
        "format": "neyman.page",
        "version": 1,
        "title": publication.title,
        "made": made.isoformat(),
        "neyman": version("neyman"),
        "unit": publication.unit,
        "neighbors": publication.neighbors,
        "guarantee": publication.total.to_json(),
        "ledger": {"name": publication.ledger.name, "head": publication.head},
        "answers": list(answers),
    }
    text = json.dumps(record, ensure_ascii=False, allow_nan=False, indent=1)
    return link(f"{_file(publication.title)}.json", "application/json", text, label)


def link(file: str, kind: str, text: str, label: str) -> str:
    """Return a link that contains a whole file, so that it works without a network."""
    data = b64encode(text.encode()).decode("ascii")
    return (
        f'<a download="{safe(file)}" href="data:{kind};charset=utf-8;base64,{data}">'
        f"{safe(label)}</a>"
    )


def _file(name: str) -> str:
    """Return a file name that every system accepts."""
    return _UNSAFE.sub("-", name).strip("-.")[:_LONGEST] or "answer"
