"""Tables of a page, with escaped text and rounded numbers."""

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final, cast

from neyman.publish import RowState
from neyman.report._answer_tables import AnswerTable
from neyman.report._columns import Head
from neyman.report._html import safe, table_html
from neyman.report._language import Language, read_language, translated

__all__ = ["answer_html", "crosstab_cells", "exactly", "rows_table", "sentence_html", "table_of"]

_HEX: Final = re.compile(r"-?0x[01]\.[0-9a-f]{1,13}p[+-]\d{1,4}")
_LARGE: Final = 1000
_PLACES: Final = 5
# Columns whose cells are words to translate.
_OURS: Final = ("margin", "term", "probability", "share below", "column")


def rows_table(
    head: Sequence[str], rows: Iterable[Sequence[object]], text_columns: int, caption: str = ""
) -> str:
    """Return a table whose first columns are text."""
    cells = [[_number(cell) for cell in row] for row in rows]
    return table_html(head, cells, texts=text_columns, caption=caption)


def table_of(columns: Mapping[str, Sequence[object]], text_columns: int) -> str:
    """Return a table of columns, each with equal decimals in all rows."""
    return table_html(list(columns), _lined(columns, text_columns), texts=text_columns)


def answer_html(
    table: AnswerTable,
    *,
    language: str = "en",
    own: Collection[str] = (),
    caption: str = "",
    hidden: bool = False,
) -> str:
    """Return the table of an answer; rows that noise alone could have made are grey.

    Args:
        table: the answer.
        language: "en", "ko" or "zh".
        own: heads written by the user, which are not translated.
        caption: the caption.
        hidden: whether only screen readers get the caption.
    """
    words = read_language(language)
    shown = table_html(
        [_one_line(head, words, own) for head in table.heads],
        [_cells(table, row, words) for row in range(len(table.rows))],
        texts=sum(head.key for head in table.heads),
        caption=caption,
        quiet=[row.state != RowState.SHOWN for row in table.rows],
        hidden=hidden,
        above=["" if head.above is None else _head_text(head.above, words) for head in table.heads],
    )
    return shown + "".join(
        f'<p class="quiet">{sentence_html(note, words)}</p>' for note in table.notes
    )


def crosstab_cells(table: AnswerTable, words: Language) -> list[str]:
    """Return the numbers of a contingency table, each with its interval below, as HTML."""
    value = next(place for place, head in enumerate(table.heads) if head.value)
    ends = [place for place, head in enumerate(table.heads) if head.above is not None]
    found: list[str] = []
    for row in range(len(table.rows)):
        cells = _cells(table, row, words)
        low_high = ", ".join(cells[place] for place in ends if cells[place])
        below = f"<small>[{safe(low_high)}]</small>" if low_high else ""
        found.append(f"{safe(cells[value])}{below}")
    return found


def exactly(record: Mapping[str, object], caption: str, words: Language) -> str:
    """Return a record as a table of names and values, with decimal numbers."""
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


def _head_text(text: str, words: Language) -> str:
    """Return a translated text; the text itself if there is no translation."""
    return words.columns.get(text) or translated(text, words) or text


def sentence_html(text: str, words: Language) -> str:
    """Return a sentence as HTML, translated, or else in English and marked as such."""
    found = translated(text, words)
    return f'<span lang="en">{safe(text)}</span>' if found is None else safe(found)


def _one_line(head: Head, words: Language, own: Collection[str]) -> str:
    """Return a head with its unit of measure; labels from the user are not translated.

    The ends of an interval have the unit of the number beside them.
    """
    ours = (not head.key or head.name in _OURS) and head.words not in own
    name = _head_text(head.words, words) if ours else head.words
    return name if head.unit is None or head.above else f"{name} ({head.unit})"


def _cells(table: AnswerTable, row: int, words: Language) -> list[str]:
    """Return the cells of a row, with their words translated."""
    found = table.rows[row]
    left_out = found.state.left_out
    return [
        _head_text(cell, words) if head.name in _OURS or (head.value and left_out) else cell
        for head, cell in zip(table.heads, found.cells, strict=True)
    ]


def _lined(columns: Mapping[str, Sequence[object]], texts: int) -> list[tuple[str, ...]]:
    """Return the rows; the numbers of a column have equal decimals, so that they line up.

    Keys are not formatted: a year is not a quantity.
    """
    cells = list(columns.values())
    keys = [[str(cell) for cell in column] for column in cells[:texts]]
    return list(zip(*keys, *map(_column, cells[texts:]), strict=True))


def _column(cells: Sequence[object]) -> list[str]:
    sizes = [abs(x) for x in cells if isinstance(x, float) and math.isfinite(x)]
    if not sizes or all(size == round(size) for size in sizes):
        return [_whole(cell) for cell in cells]
    # The largest number gets five figures.
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
