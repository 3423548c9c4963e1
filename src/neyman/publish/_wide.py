"""Public rows without limits, and within bounds that move nothing."""

from dataclasses import replace
from typing import Final

from neyman.errors import InvalidParameter, InvalidTable
from neyman.tables import Bounds, Expression, Rows, Table, Unit, col

__all__ = ["UNLIMITED", "free", "outside", "row_count", "widened"]

# No unit has so many rows.
UNLIMITED: Final = 2**40
_DOUBLINGS: Final = 60


def free(table: Table, *, per_unit: bool) -> Table:
    """Return a public table whose every row counts.

    Args:
        table: with its limits.
        per_unit: whether the question is of units and not of their rows.
    """
    if not per_unit or table.unit.entity is None:
        return replace(table, unit=Rows())
    unit: Unit = table.unit.without()
    return replace(table, unit=unit.bounded(max_rows=UNLIMITED, max_rows_per_group=UNLIMITED))


def row_count(table: Table, condition: Expression | None = None) -> int:
    """Count the rows of a public table, or those for which something is true."""
    rows = replace(table, unit=Rows())
    asked = rows if condition is None else rows.where(condition)
    return int(asked.count().compute()[0])


def outside(column: str, bounds: Bounds) -> Expression:
    """Say that a value is moved to its bounds."""
    return (col(column) < float(bounds.lower)) | (col(column) > float(bounds.upper))


def widened(table: Table) -> Table:
    """Return a public table within bounds, on the same grids, that no value lies outside.

    Raises:
        InvalidTable: if a column has values that no bounds reach.
    """
    bounds = {name: _around(table, name, held) for name, held in table.bounds.items()}
    # As few as there are, so that sums of wide columns stay in the machine's integers.
    return replace(table, bounds=bounds, max_table_rows=max(row_count(table), 1))


def _around(table: Table, name: str, bounds: Bounds) -> Bounds:
    lower, upper, span = bounds.lower, bounds.upper, bounds.upper - bounds.lower
    for _ in range(_DOUBLINGS):
        try:
            held = Bounds(lower, upper, bounds.grid)
        except (InvalidTable, InvalidParameter):
            break
        below = row_count(table, col(name) < float(lower))
        above = row_count(table, col(name) > float(upper))
        if not below and not above:
            return held
        lower, upper = lower - (span if below else 0), upper + (span if above else 0)
        span *= 2
    raise InvalidTable(f"column {name!r} has values that no bounds on its grid reach")
