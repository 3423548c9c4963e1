"""Answers as tables for people, with rounded numbers and suppressed rows."""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, final

from neyman.printable import printable
from neyman.publish import Presented, RowState
from neyman.released import MARK, MARKED, TOO_FEW, Side
from neyman.report._columns import (
    Column,
    Head,
    columns_of_function,
    columns_of_side,
    number_of,
    rounded,
    written,
)
from neyman.report._functions import read_off
from neyman.report._question_text import capitalised, statistic_text

__all__ = ["AnswerTable", "Row", "answer_tables", "function_table", "title_of"]

_UNCERTAIN: Final = (
    f"{TOO_FEW}: the interval is wider than half of what the bounds allow, so noise alone could "
    "have made the number."
)
# The cell of an unknown number.
_UNKNOWN: Final = "–"
# A decimal that fewer than this share of a column needs is left out.
_FEW: Final = 0.25
# With the full-width forms of East Asian keyboards.
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\uff1d", "\uff0b", "\uff0d", "\uff20")


@final
@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table.

    Attributes:
        cells: the texts for people.
        values: the values for programs: keys as text, rounded numbers, None if left out.
        state: whether the row is shown, and if not, why.
    """

    cells: tuple[str, ...]
    values: tuple[str | int | float | None, ...]
    state: RowState = RowState.SHOWN


@final
@dataclass(frozen=True, slots=True)
class AnswerTable:
    """An answer, or one statistic of it, as every output presents it.

    Attributes:
        name: the id of the answer.
        title: its title.
        heads: the heads of the columns, keys first.
        rows: the rows, in order.
        notes: sentences below the table.
    """

    name: str
    title: str
    heads: tuple[Head, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()

    def to_csv(self) -> str:
        """Return the table as CSV for people; spreadsheets run none of it as a formula.

        If numbers are left out, a last column says why.
        """
        remarks = any(row.state != RowState.SHOWN for row in self.rows)
        file = io.StringIO()
        lines = csv.writer(file, lineterminator="\n")
        remark = ["remark"] if remarks else []
        lines.writerow([_inert(head.line) for head in self.heads] + remark)
        for row in self.rows:
            remark = [self._remark(row)] if remarks else []
            lines.writerow([_inert(value) for value in row.values] + remark)
        return file.getvalue()

    def to_json(self) -> dict[str, object]:
        """Return the table, JSON-able: rounded numbers, null if left out."""
        names = [head.name for head in self.heads]
        return {
            "id": self.name,
            "title": self.title,
            "columns": [
                {"name": head.name, "label": head.line, "unit": head.unit} for head in self.heads
            ],
            "rows": [
                dict(zip(names, row.values, strict=True)) | {"state": row.state}
                for row in self.rows
            ],
            "notes": list(self.notes),
        }

    def _remark(self, row: Row) -> str:
        """Return why a row is left out or marked."""
        if row.state == RowState.MARKED:
            return MARKED.removeprefix(f"{MARK} ")
        place = [head.value for head in self.heads].index(True)
        return row.cells[place] if row.state.left_out else ""


def answer_tables(shown: Presented) -> tuple[AnswerTable, ...]:
    """Return the tables of an answer, one for each of its statistics.

    A function has one table of its values, or none if its noise hides it.

    Args:
        shown: the release with its presentation, from `Publication.presented`.
    """
    if "coefficient" in shown.release.columns:
        read = read_off(shown.release).columns
        return () if read is None else (function_table(shown, read),)
    return tuple(_of_side(shown, side) for side in shown.release.sides)


def function_table(shown: Presented, read: Mapping[str, Sequence[object]]) -> AnswerTable:
    """Return the values of a function as a table.

    Args:
        shown: the release with its presentation.
        read: the columns of `read_off`, or their first rows.
    """
    columns = columns_of_function(shown, read)
    states: list[RowState] = [RowState.SHOWN] * len(columns[0].cells)
    notes = tuple(f"{note[:1].upper()}{note[1:]}." for note in read_off(shown.release).notes)
    return _table(shown, title_of(shown), columns, states, notes)


def title_of(shown: Presented, side: Side | None = None) -> str:
    """Return the title of an answer, or of one of its statistics.

    By default it is the question, such as "Mean of arrival delay by month".
    """
    given = shown.display.title
    if given is not None and side is None:
        return given
    language = shown.presentation.language
    question = (shown.release if side is None else side).question
    return capitalised(statistic_text(question, language=language, called=shown.label), language)


def _of_side(shown: Presented, side: Side) -> AnswerTable:
    states = shown.states(side)
    several = len(shown.release.sides) > 1
    title = title_of(shown, side if several else None)
    return _table(shown, title, columns_of_side(shown, side), states, _notes(shown, side, states))


def _notes(shown: Presented, side: Side, states: Sequence[RowState]) -> tuple[str, ...]:
    """Return the meaning of marks in the table, and the rule that suppresses rows."""
    notes = [f"{MARKED}."] if RowState.MARKED in states and side.question.amount else []
    notes += [_UNCERTAIN] if RowState.TOO_FEW in states else []
    return (*notes, *shown.rule.sentences)


def _table(
    shown: Presented,
    title: str,
    columns: Sequence[Column],
    states: Sequence[RowState],
    notes: tuple[str, ...],
) -> AnswerTable:
    """Return the table with rounded numbers, and without suppressed ones."""
    # Each coefficient of a regression has its own unit, so it has its own decimals.
    terms = next((one.cells for one in columns if one.head.name == "term"), [""] * len(states))
    made = [_cells(column, states, terms, shown) for column in columns]
    rows = tuple(
        Row(tuple(text for text, _ in cells), tuple(value for _, value in cells), state)
        for state, *cells in zip(states, *made, strict=True)
    )
    return AnswerTable(shown.name, title, tuple(one.head for one in columns), rows, notes)


def _cells(
    column: Column, states: Sequence[RowState], terms: Sequence[object], shown: Presented
) -> list[tuple[str, str | int | float | None]]:
    """Return the cells of a column, for people and for programs."""
    if column.head.key:
        return [(str(cell), str(cell)) for cell in column.cells]
    fixed = shown.display.decimals if column.head.value or column.head.above else None
    places = column.places if fixed is None else [-fixed] * len(states)
    numbers = [
        None if (number := number_of(cell)) is None or state.left_out else number
        for cell, state in zip(column.cells, states, strict=True)
    ]
    decimals = _decimals(numbers, places, terms)
    found: list[tuple[str, str | int | float | None]] = []
    for number, place, term, state in zip(numbers, places, terms, states, strict=True):
        if number is None:
            word = shown.rule.instead_of(state) if column.head.value else ""
            found.append((word if state.left_out else _UNKNOWN, None))
            continue
        last = max(place, -decimals[term])
        number_shown = rounded(number, last, column.way, scale=column.scale)
        mark = MARK if column.head.value and state == RowState.MARKED else ""
        text = f"{written(number_shown, decimals[term])}{mark}"
        found.append((text, int(number_shown) if decimals[term] == 0 else float(number_shown)))
    return found


def _decimals(
    numbers: Sequence[float | None], places: Sequence[int], terms: Sequence[object]
) -> dict[object, int]:
    """Return the decimals of each term: those of its most precise number.

    If few numbers are so precise, one decimal fewer.
    """
    needed: dict[object, list[int]] = {term: [] for term in terms}
    for number, place, term in zip(numbers, places, terms, strict=True):
        if number is not None:
            needed[term].append(max(-place, 0))
    most = {term: max(decimals, default=0) for term, decimals in needed.items()}
    return {
        term: most[term] - (0 < decimals.count(most[term]) < _FEW * len(decimals))
        for term, decimals in needed.items()
    }


def _inert(value: object) -> object:
    """Return a value that a spreadsheet reads as a number or as text, never as a formula."""
    if not isinstance(value, str):
        return "" if value is None else value
    text = printable(value)
    return f"'{text}" if text.startswith(_FORMULA) and not _is_number(text) else text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
