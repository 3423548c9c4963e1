"""Files inside a page: links that need no network and run nothing."""

import json
import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from datetime import date
from importlib.metadata import version
from typing import Final

from neyman.publish import Publication
from neyman.report._answer_tables import AnswerTable
from neyman.report._html import safe
from neyman.report._language import Language

__all__ = ["csv_link", "json_link"]

# Signs that no file system refuses, or reads as a folder or an option.
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9_.]+")
_LONGEST: Final = 80
# Excel reads a file as UTF-8 only if it begins with this.
_MARK: Final = "\ufeff"


def csv_link(table: AnswerTable, of: int, words: Language) -> str:
    """Return a link to a table as CSV.

    Args:
        table: the table.
        of: how many tables its answer has.
        words: of the language.
    """
    several = of > 1
    said = words.put("csv_of", title=table.title) if several else words.page["csv"]
    file = f"{table.name} {table.title}" if several else table.name
    return _link(f"{_file(file)}.csv", "text/csv", _MARK + table.to_csv(), said)


def json_link(
    publication: Publication, answers: Sequence[Mapping[str, object]], made: date, said: str
) -> str:
    """Return a link to all answers as JSON, with what they guarantee.

    Args:
        publication: what was released.
        answers: a record of each.
        made: the day of the page.
        said: the text of the link.
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
    return _link(f"{_file(publication.title)}.json", "application/json", text, said)


def _link(file: str, kind: str, text: str, said: str) -> str:
    data = b64encode(text.encode()).decode("ascii")
    return (
        f'<a download="{safe(file)}" href="data:{kind};charset=utf-8;base64,{data}">'
        f"{safe(said)}</a>"
    )


def _file(name: str) -> str:
    """Return a name for a file that is one everywhere."""
    return _UNSAFE.sub("-", name).strip("-.")[:_LONGEST] or "answer"
