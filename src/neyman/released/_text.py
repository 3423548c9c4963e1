"""Columns as people read them."""

from collections.abc import Mapping, Sequence
from typing import Final

from neyman.printable import shortened, width

__all__ = ["text_of"]

_WIDEST: Final = 100
_BETWEEN: Final = 2
# Columns that one cell takes at most: the key of an unknown group can be of any length.
_LONGEST: Final = 60


def text_of(
    columns: Mapping[str, Sequence[object]], *, rows: int | None = None, keys: int = 0
) -> str:
    """Return a table, numbers to the right, 100 characters wide where its cells are not wider.

    What is wider is turned where it is one row, a line for each column; else it goes on in further
    tables below, each of which begins with the keys again. A cell is one line of at most 60
    characters, and signs that a terminal acts on are written as their numbers.

    Args:
        columns: of equal length.
        rows: how many to show at most; None for all.
        keys: how many of the columns, the first, say what a row is of.
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
    """Return the columns of each table: the keys, and as many others as there is room for."""
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
