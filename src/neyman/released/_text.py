"""Columns as people read them."""

from neyman.aggregate import Columns

__all__ = ["text_of"]


def text_of(columns: Columns, *, rows: int | None = None) -> str:
    """Return a table, numbers to the right.

    Args:
        columns: of equal length.
        rows: how many to show at most; None for all.
    """
    cells = [[_cell(cell) for cell in column] for column in columns.values()]
    length = max((len(column) for column in cells), default=0)
    shown = [list(columns), *zip(*(column[:rows] for column in cells), strict=True)]
    widths = [max(len(row[i]) for row in shown) for i in range(len(columns))]
    lines = [
        "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        for row in shown
    ]
    if rows is not None and length > rows:
        lines.append(f"... {length - rows} more rows; .columns holds them all")
    return "\n".join(lines)


def _cell(value: object) -> str:
    if not isinstance(value, float):
        return str(value)
    return f"{value:.0f}" if 1e5 <= abs(value) < 1e15 else f"{value:.6g}"
