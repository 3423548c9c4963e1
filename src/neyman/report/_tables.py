"""Tables of a page: text that harms nobody, numbers that people can read."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import groupby
from typing import Final, cast

from neyman.printable import printable
from neyman.report._answer_tables import AnswerTable
from neyman.report._columns import Head

__all__ = ["answer_html", "exactly", "rows_table", "safe", "table_of"]

_HEX: Final = re.compile(r"-?0x[01]\.[0-9a-f]{1,13}p[+-]\d{1,4}")
_LARGE: Final = 1000
_PLACES: Final = 5


def safe(shown: object) -> str:
    """Return text as HTML shows it; signs that nobody sees are written as their numbers."""
    return escape(printable(shown))


def rows_table(head: Sequence[str], rows: Iterable[Sequence[object]], text_columns: int) -> str:
    """Return a table; the first columns hold text.

    A cell is text to a spreadsheet that the page is copied into, so that none of it is run.
    """
    return _table(head, [(False, [_number(cell) for cell in row]) for row in rows], text_columns)


def table_of(columns: Mapping[str, Sequence[object]], text_columns: int) -> str:
    """Return a table of columns of equal length, each with the same decimals throughout."""
    return _table(
        list(columns), [(False, row) for row in _lined(columns, text_columns)], text_columns
    )


def answer_html(table: AnswerTable) -> str:
    """Return an answer as it is presented: rows that noise alone could have made are grey."""
    above = [head.above for head in table.heads]
    heads = [_one_line(head) for head in table.heads]
    rows = [(row.state != "shown", row.cells) for row in table.rows]
    shown = _table(heads, rows, sum(head.key for head in table.heads), above)
    return shown + "".join(f'<p class="quiet">{safe(note)}</p>' for note in table.notes)


def exactly(record: Mapping[str, object]) -> str:
    """Return a record as a table of its names and values, numbers in decimals."""
    return rows_table(("Name", "Value"), list(_flat(record, "")), 2)


def _flat(record: Mapping[str, object], before: str) -> Iterable[tuple[str, str]]:
    for name, value in record.items():
        inside = cast("Mapping[str, object]", value if isinstance(value, Mapping) else {})
        if inside:
            yield from _flat(inside, f"{before}{name}.")
        else:
            yield f"{before}{name}", _written(cast("object", value))


def _written(value: object) -> str:
    match value:
        case None | [] | {}:
            return "none"
        case str() if _HEX.fullmatch(value):
            return f"{float.fromhex(value):.12g}"
        case list():
            return ", ".join(_written(part) for part in cast("list[object]", value))
        case dict():
            inside = cast("dict[str, object]", value)
            return "; ".join(f"{name} {_written(part)}" for name, part in inside.items())
        case _:
            return str(value)


def _one_line(head: Head) -> str:
    """Return a head with its unit of measure."""
    return head.words if head.unit is None else f"{head.words} ({head.unit})"


def _table(
    head: Sequence[str],
    rows: Iterable[tuple[bool, Sequence[str]]],
    texts: int,
    above: Sequence[str | None] = (),
) -> str:
    def row(tag: str, cells: Sequence[str]) -> str:
        return "".join(
            f"<{tag}{' class=text' if i < texts else ''}>{safe(cell)}</{tag}>"
            for i, cell in enumerate(cells)
        )

    lines = "".join(
        f"<tr{' class=few' if few else ''}>{row('td', cells)}</tr>" for few, cells in rows
    )
    return (
        f'<div class="scroll" tabindex="0"><table><thead>{_above(above)}<tr>{row("th", head)}</tr>'
        f"</thead><tbody>{lines}</tbody></table></div>"
    )


def _above(names: Sequence[str | None]) -> str:
    """Return the row of heads that stand above several; none where there are none."""
    if not any(names):
        return ""
    runs = [(name, len(list(run))) for name, run in groupby(names)]
    cells = "".join(f'<th colspan="{wide}">{safe(name or "")}</th>' for name, wide in runs)
    return f"<tr>{cells}</tr>"


def _lined(columns: Mapping[str, Sequence[object]], texts: int) -> list[tuple[str, ...]]:
    """Return the rows; the numbers of a column have the same decimals, so that they line up.

    Keys stay as they are: a year is no quantity.
    """
    cells = list(columns.values())
    keys = [[str(cell) for cell in column] for column in cells[:texts]]
    return list(zip(*keys, *map(_column, cells[texts:]), strict=True))


def _column(cells: Sequence[object]) -> list[str]:
    sizes = [abs(x) for x in cells if isinstance(x, float) and math.isfinite(x)]
    if not sizes or all(size == round(size) for size in sizes):
        return [_whole(cell) for cell in cells]
    # Five figures of the largest.
    largest = max(sizes)
    places = max(0, _PLACES - 1 - math.floor(math.log10(largest))) if largest else 0
    if largest < 10**-_PLACES:
        return [_number(cell) for cell in cells]
    return [f"{x:,.{places}f}" if isinstance(x, float) else _number(x) for x in cells]


def _whole(cell: object) -> str:
    finite = isinstance(cell, float) and math.isfinite(cell)
    return f"{cell:,.0f}" if finite else _number(cell)


def _number(cell: object) -> str:
    if isinstance(cell, float):
        return f"{cell:,.0f}" if abs(cell) >= _LARGE else f"{cell:.5g}"
    return f"{cell:,}" if isinstance(cell, int) and not isinstance(cell, bool) else str(cell)
