"""Files inside a page: links that need no network and run nothing."""

import json
import re
from base64 import b64encode
from datetime import date
from importlib.metadata import version
from typing import Final

from neyman.publish import Publication
from neyman.released import Release
from neyman.report._html import safe
from neyman.report._records import csv_of, records_of

__all__ = ["csv_link", "json_link"]

# Signs that no file system refuses, or reads as a folder or an option.
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9_.]+")
_LONGEST: Final = 80
# Excel reads a file as UTF-8 only if it begins with this.
_MARK: Final = "\ufeff"


def csv_link(name: str, release: Release, said: str) -> str:
    """Return a link to an answer as CSV.

    Args:
        name: of the release.
        release: the answer.
        said: the text of the link.
    """
    text = _MARK + csv_of({name: release}, guarded=True)
    return _link(f"{_file(name)}.csv", "text/csv", text, said)


def json_link(publication: Publication, made: date, said: str) -> str:
    """Return a link to all answers as JSON, with what they guarantee.

    Args:
        publication: what was released.
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
        "answers": records_of(publication),
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
