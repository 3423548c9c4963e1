"""Public rows without limits, and within bounds that move nothing."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from neyman.errors import InvalidTable
from neyman.tables import Bounds, Expression, Rows, Table, Unit, col

__all__ = ["UNLIMITED", "free", "of_known_units", "outside", "row_count", "widened"]

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
        return replace(of_known_units(table), unit=Rows())
    unit: Unit = table.unit.without()
    return replace(table, unit=unit.bounded(max_rows=UNLIMITED, max_rows_per_group=UNLIMITED))


def of_known_units(table: Table) -> Table:
    """Return the rows that are somebody's: no limit cuts those of nobody."""
    entity = table.unit.entity
    if entity is None or table.unit.through is not None:
        return table
    # What a CSV file holds could be numbers as well.
    several = len(table.view.schema[entity].kind.types) > 1
    name = col(entity).as_text() if several else col(entity)
    return table.where(~name.is_null())


def row_count(table: Table, condition: Expression | None = None) -> int:
    """Count the rows of a public table, or those for which something is true."""
    rows = replace(table, unit=Rows())
    asked = rows if condition is None else rows.where(condition)
    return int(asked.count().compute()[0])


def outside(column: str, bounds: Bounds) -> Expression:
    """Say that a value is moved to its bounds."""
    return _below(column, bounds) | _above(column, bounds)


def _below(column: str, bounds: Bounds) -> Expression:
    return col(column).as_number() < float(bounds.lower)


def _above(column: str, bounds: Bounds) -> Expression:
    return col(column).as_number() > float(bounds.upper)


def widened(table: Table, columns: Iterable[str]) -> Table:
    """Return a public table within bounds, on the same grids, that no value lies outside.

    Args:
        table: with bounds.
        columns: those of them that matter; others stay as they are.

    Raises:
        InvalidTable: if a column has values that no bounds reach.
    """
    held = {name: table.bounds[name] for name in columns if name in table.bounds}
    wide = {name: _around(table, name, bounds) for name, bounds in held.items()}
    if wide == held:
        return table
    # As few as there are, so that sums of wide columns stay in the machine's integers.
    return replace(table.with_bounds(wide), max_table_rows=max(row_count(table), 1))


def _around(table: Table, name: str, bounds: Bounds) -> Bounds:
    span = bounds.upper - bounds.lower
    for _ in range(_DOUBLINGS):
        if not row_count(table, outside(name, bounds)):
            return bounds
        below = row_count(table, _below(name, bounds)) > 0
        above = row_count(table, _above(name, bounds)) > 0
        try:
            bounds = Bounds(bounds.lower - below * span, bounds.upper + above * span, bounds.grid)
        except InvalidTable:
            break
        span *= 2
    raise InvalidTable(f"column {name!r} has values that no bounds on its grid reach")
