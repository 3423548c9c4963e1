"""The frame of all HTML in a notebook: a title, facts, tables, and a size limit."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, cast

from neyman.aggregate import Columns
from neyman.printable import shortened
from neyman.report import rows_table, safe

__all__ = [
    "ROWS",
    "card",
    "facts",
    "first_rows",
    "lines",
    "listed",
    "more",
    "quiet",
    "table",
    "warning",
]

# The most rows of a table, and the most cells.
ROWS: Final = 20
_CELLS: Final = 160
_FEWEST: Final = 3
_LONGEST: Final = 60

_MOST_BYTES: Final = 19_000
_TITLE: Final = 120
_TEXT: Final = 600

# The colours come from the page, because notebooks have light and dark themes.
_STYLE: Final = (
    "<style>.neyman-cell{max-width:60rem}.neyman-cell p{margin:.25em 0}"
    ".neyman-cell pre{font-family:monospace}.neyman-cell .title{font-weight:600}"
    ".neyman-cell .quiet{opacity:.75;font-size:.92em}"
    ".neyman-cell .warning{font-weight:600}.neyman-cell .scroll{overflow-x:auto}"
    ".neyman-cell table{border-collapse:collapse;margin:.4em 0;font-variant-numeric:tabular-nums}"
    ".neyman-cell th,.neyman-cell td{text-align:right;padding:.15em .7em;white-space:nowrap;"
    "border:0;border-bottom:1px solid rgba(128,128,128,.35)}"
    ".neyman-cell th.text,.neyman-cell td.text{text-align:left}.neyman-cell .few td{opacity:.7}"
    ".neyman-cell svg,.neyman-cell img{max-width:100%;height:auto}</style>"
)


def card(title: str, parts: Iterable[str]) -> str:
    """Return a title with the parts that fit into the size limit.

    Args:
        title: the title, as text.
        parts: complete pieces of HTML.
    """
    body = f'<p class="title">{safe(shortened(title, _TITLE))}</p>'
    for part in parts:
        if len((_STYLE + body + part).encode()) > _MOST_BYTES:
            body += quiet("There is more. print(...) shows everything as text.")
            break
        body += part
    return f'{_STYLE}<div class="neyman-cell">{body}</div>'


def facts(known: Mapping[str, object]) -> str:
    """Return names with their values, one on each line; None is left out."""
    rows = [(name, shortened(value, _TEXT)) for name, value in known.items() if value is not None]
    return "".join(f"<p>{safe(name)}: {safe(value)}</p>" for name, value in rows)


def lines(text: str) -> str:
    """Return a text with its lines and spaces."""
    body = "\n".join(safe(line) for line in text.split("\n"))
    return f"<pre>{body}</pre>"


def listed(sentences: Iterable[str]) -> str:
    """Return an HTML list of sentences."""
    return "<ul>" + "".join(f"<li>{safe(one)}</li>" for one in sentences) + "</ul>"


def quiet(sentence: str) -> str:
    """Return a sentence that is less important."""
    return f'<p class="quiet">{safe(sentence)}</p>'


def warning(sentence: str) -> str:
    """Return a sentence that must be seen."""
    return f'<p class="warning">{safe(sentence)}</p>'


def first_rows(columns: Mapping[str, Sequence[object]]) -> Columns:
    """Return the first rows, fewer for a wide table, with long texts cut."""
    rows = min(ROWS, max(_FEWEST, _CELLS // max(len(columns), 1)))
    made = {name: [_cut(cell) for cell in cells[:rows]] for name, cells in columns.items()}
    return cast("Columns", made)


def more(columns: Mapping[str, Sequence[object]], instead: str) -> str:
    """Return a sentence on the rows that `first_rows` leaves out; "" if there are none.

    Args:
        columns: all rows.
        instead: code that gives all rows, such as ".to_pandas()".
    """
    rows, all_rows = (max(map(len, x.values()), default=0) for x in (first_rows(columns), columns))
    if rows == all_rows:
        return ""
    return quiet(f"The first {rows} of {all_rows:,} rows; {instead} gives them all.")


def table(head: Sequence[str], rows: Sequence[Sequence[object]], texts: int) -> str:
    """Return the first rows as a table whose first columns are text."""
    shown = [[_cut(cell) for cell in row] for row in rows[:ROWS]]
    left_out = len(rows) - len(shown)
    rest = quiet(f"{left_out:,} more are left out.") if left_out > 0 else ""
    return rows_table(head, shown, texts) + rest


def _cut(cell: object) -> object:
    return shortened(cell, _LONGEST) if isinstance(cell, str) else cell
