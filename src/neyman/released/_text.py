"""Columns, and whole releases, as text for people."""

from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Final

from neyman.printable import printable, shortened, width
from neyman.released._sides import MARKED, TOO_FEW

if TYPE_CHECKING:
    from neyman.released._release import Release

__all__ = ["release_text", "text_of"]

_WIDEST: Final = 100
_BETWEEN: Final = 2
# The most characters of one cell: the key of an unknown group can have any length.
_LONGEST: Final = 60


def text_of(
    columns: Mapping[str, Sequence[object]], *, rows: int | None = None, keys: int = 0
) -> str:
    """Return a table as text, numbers to the right, 100 characters wide unless a cell is wider.

    A wider table of one row is transposed, with a line for each column. A wider table of several
    rows continues in further tables below, each of which repeats the keys. A cell is one line of at
    most 60 characters; characters that control a terminal are printed as numbers.

    Args:
        columns: of equal length.
        rows: the most rows to print; None for all.
        keys: how many of the first columns identify a row.
    """
    cells = [[_cell(cell) for cell in column] for column in columns.values()]
    length = max((len(column) for column in cells), default=0)
    shown = [[_cell(name), *column[:rows]] for name, column in zip(columns, cells, strict=True)]
    widths = [max(map(width, column)) for column in shown]
    if length == 1 and _width(widths) > _WIDEST:
        names = max(width(name) for name, _ in shown)
        return "\n".join(f"{_right(name, names)}  {cell}" for name, cell in shown)
    parts = [
        "\n".join(
            "  ".join(_right(cell, widths[i]) for i, cell in zip(part, row, strict=True))
            for row in zip(*(shown[i] for i in part), strict=True)
        )
        for part in _parts(widths, keys)
    ]
    if rows is not None and length > rows:
        parts[-1] += f"\n... {length - rows} more rows; .columns holds them all"
    return "\n\n".join(parts)


def _parts(widths: list[int], keys: int) -> list[list[int]]:
    """Return the columns of each table: the keys, and as many others as fit."""
    parts = [list(range(keys))]
    for i in range(keys, len(widths)):
        wide = _width([widths[k] for k in (*parts[-1], i)]) > _WIDEST
        if wide and len(parts[-1]) > keys:
            parts.append(list(range(keys)))
        parts[-1].append(i)
    return parts


def _width(widths: list[int]) -> int:
    return sum(widths) + _BETWEEN * max(len(widths) - 1, 0)


def _right(cell: str, columns: int) -> str:
    return " " * (columns - width(cell)) + cell


def _cell(value: object) -> str:
    if not isinstance(value, float):
        return shortened(value, _LONGEST)
    return f"{value:.0f}" if 1e5 <= abs(value) < 1e15 else f"{value:.6g}"


_NO_ROWS: Final = (
    "the interval is wider than half of what the bounds allow, so noise alone could have made the "
    "number; .columns holds it"
)


def release_text(release: "Release", *, rows: int | None, batch: Sequence[str]) -> str:
    """Return a table for people, with the guarantee and the cost; see `Release.to_text`."""
    lines = []
    if rows != 0:
        lines = [*_counted(release), *_tables(release, rows), *_notes(release, batch)]
    lines += [
        f"guarantee: {printable(release.guarantee.curve)}, "
        f"unit: {printable(release.guarantee.unit)} ({release.guarantee.neighbors})",
        f"entry '{printable(release.entry)}': {printable(release.spending)}"
        + ("; a stored answer, not charged again" if release.replayed else ""),
    ]
    return "\n".join(lines)


def _counted(release: "Release") -> list[str]:
    """Return how much of one unit counts, unless each row is one."""
    limits = release.question.limits
    return [] if limits is None else [f"counted: {printable(limits)}"]


def _tables(release: "Release", rows: int | None) -> list[str]:
    """Return the answer as a table; several statistics have one each."""
    if not release.groups:
        return ["no group is shown: no noisy count reached the threshold"]
    if "coefficient" in release.columns:
        reader = "functions" if release.keys else "function"
        number = max(map(len, release.columns.values()))
        return [f"{number:,} coefficients; functional.{reader}(release) reads them"]
    keys, sides = len(release.keys), release.sides
    tables = [text_of(side.readable(release.keys), rows=rows, keys=keys) for side in sides]
    if sides and release.question.together and not sides[0].question.together:
        return [
            f"{printable(side.name)}\n{table}" for side, table in zip(sides, tables, strict=True)
        ]
    return tables or [text_of(release.columns, rows=rows, keys=keys)]


def _notes(release: "Release", batch: Sequence[str]) -> list[str]:
    """Return the meaning of the columns."""
    notes = [*_marks(release), *release.limit_notes(batch), *release.interval_notes]
    lines = [line for note in notes for line in wrap(printable(note), _WIDEST)]
    if release.shown_from is None:
        return lines
    return [f"groups: those whose noisy count is {release.shown_from} or more", *lines]


def _marks(release: "Release") -> list[str]:
    """Return the meaning of the words and marks of rows that noise alone could have made."""
    found = {side.question.amount for side in release.sides if any(side.noise_alone)}
    marks = [(True, MARKED), (False, f"{TOO_FEW}: {_NO_ROWS}")]
    return [sentence for amount, sentence in marks if amount in found]
