"""Tables of a page: text that harms nobody, numbers that people can read."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, cast

from neyman.released import (
    MARKED,
    TOO_FEW,
    Release,
    Side,
    counts_units,
    is_amount,
    noise_alone,
    readable,
    units_of,
)
from neyman.report._html import safe, table_html
from neyman.report._language import Language

__all__ = ["answer_table", "crosstab_cells", "exactly", "rows_table", "table_of"]

_HEX: Final = re.compile(r"-?0x[01]\.[0-9a-f]{1,13}p[+-]\d{1,4}")
_LARGE: Final = 1000
_PLACES: Final = 5


def rows_table(
    head: Sequence[str], rows: Iterable[Sequence[object]], text_columns: int, caption: str = ""
) -> str:
    """Return a table; the first columns hold text."""
    cells = [[_number(cell) for cell in row] for row in rows]
    return table_html(head, cells, texts=text_columns, caption=caption)


def table_of(columns: Mapping[str, Sequence[object]], text_columns: int) -> str:
    """Return a table of columns of equal length, each with the same decimals throughout."""
    return table_html(list(columns), _lined(columns, text_columns), texts=text_columns)


def answer_table(release: Release) -> str:
    """Return an answer as a table, or as one for each of several statistics.

    Rows that noise alone could have made are grey, and say so.
    """
    found: list[str] = []
    for side in release.sides:
        flags = noise_alone(side.query, side.columns)
        columns = readable(side.query, side.columns, release.keys)
        head = [_called(name, side) for name in columns]
        texts = len(release.keys) + ("term" in columns)
        found.append(table_html(head, _lined(columns, texts), texts=texts, quiet=flags))
        if any(flags) and is_amount(side.query):
            found.append(f'<p class="quiet">{safe(MARKED)}.</p>')
        elif any(flags):
            found.append(
                f'<p class="quiet">{safe(TOO_FEW)}: the interval is wider than half of what the '
                "bounds allow, so noise alone could have made the number.</p>"
            )
    return "".join(found)


def crosstab_cells(release: Release) -> list[str]:
    """Return the numbers of a contingency table, each with its interval below it, as HTML."""
    rows = zip(*(release.columns[name] for name in ("count", "lower", "upper")), strict=True)
    flags = noise_alone(release.query, release.columns)
    return [
        f"{safe(_whole(count))}{'*' if few else ''}"
        f"<small>[{safe(_whole(lower))}, {safe(_whole(upper))}]</small>"
        for (count, lower, upper), few in zip(rows, flags, strict=True)
    ]


def exactly(record: Mapping[str, object], caption: str, words: Language) -> str:
    """Return a record as a table of its names and values, numbers in decimals."""
    head = words.page["name"], words.page["value"]
    table = table_html(head, list(_flat(record, "")), texts=2, caption=caption)
    return table if words.name == "en" else f'<div lang="en">{table}</div>'


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


def _called(name: str, side: Side) -> str:
    """Return the head of a column: a count of units says whose."""
    if name != "count_units" or not counts_units(side.query):
        return name
    return f"number of {units_of(side.query)}"


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
