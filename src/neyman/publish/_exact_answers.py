"""Exact answers about public rows, with and without limits and bounds."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Final, final

from neyman.aggregate import Aggregate, Columns, FoundGroups, IntArray, Noise
from neyman.errors import InvalidTable
from neyman.publish._numbers import Number, Place, numbers_of
from neyman.publish._query_on_table import QueryOnTable
from neyman.tables import Bounds, Expression, Rows, Table, Unit, col

__all__ = [
    "NOISELESS",
    "UNLIMITED",
    "counted",
    "free",
    "read",
    "share_kept",
    "share_moved",
    "widened",
]


@final
@dataclass(frozen=True, slots=True)
class _Noiseless:
    """A noise of 0, which gives exact answers."""

    stddev: float = field(default=0.0, init=False)
    normal: bool = field(default=True, init=False)

    def half_width(self, confidence: float) -> int:  # noqa: ARG002
        """Return 0."""
        return 0

    def ratio_interval(
        self,
        numerator: int,
        denominator: int,
        confidence: float,  # noqa: ARG002
    ) -> tuple[float, float]:
        """Return the ratio."""
        ratio = numerator / denominator if denominator else float("nan")
        return ratio, ratio

    def radius(self, rank: int, size: int, confidence: float) -> float:  # noqa: ARG002
        """Return 0."""
        return 0.0


NOISELESS: Final = _Noiseless()


def counted(question: Aggregate) -> tuple[IntArray, Columns, IntArray | None]:
    """Return exact integers of public rows, their keys, and the integers of the companion."""
    found, own = None, None
    if question.companion is not None:
        found, own = question.companion.compute()
    elif question.unknown is not None:
        found = question.unknown.find()
    match found:
        case FoundGroups():
            return found.integers.reshape(-1), _columns(question, found), own
        case None:
            return question.compute(), question.keys, own
        case _:
            return found, question.keys, own


def _columns(question: Aggregate, found: FoundGroups) -> Columns:
    return {} if question.unknown is None else question.unknown.columns(found.keys)


def read(
    question: Aggregate, integers: IntArray, keys: Columns, noise: Noise, confidence: float
) -> dict[Place, Number]:
    """Return the numbers of an answer from exact integers."""
    return numbers_of(question.exactly(integers, noise, confidence), keys)


# More rows than any unit has.
UNLIMITED: Final = 2**40
_DOUBLINGS: Final = 60


def free(table: Table, *, per_unit: bool) -> Table:
    """Return a public table in which every row counts.

    Args:
        table: the table with its limits.
        per_unit: whether the question is about units instead of their rows.
    """
    if not per_unit or table.unit.entity is None:
        return replace(_of_known_units(table), unit=Rows())
    unit: Unit = table.unit.without()
    return replace(table, unit=unit.bounded(max_rows=UNLIMITED, max_rows_per_group=UNLIMITED))


def _of_known_units(table: Table) -> Table:
    """Return the rows that have a unit; limits do not apply to others."""
    entity = table.unit.entity
    if entity is None or table.unit.through is not None:
        return table
    # In a CSV file, the column could be read as numbers as well.
    several = len(table.view.schema[entity].kind.types) > 1
    name = col(entity).as_text() if several else col(entity)
    return table.where(~name.is_null())


def _row_count(table: Table, condition: Expression | None = None) -> int:
    """Count the rows of a public table that satisfy a condition, or all rows."""
    rows = replace(table, unit=Rows())
    asked = rows if condition is None else rows.where(condition)
    return int(asked.count().compute()[0])


def _outside(column: str, bounds: Bounds) -> Expression:
    """Return the condition that a value is clipped to its bounds."""
    return _below(column, bounds) | _above(column, bounds)


def _below(column: str, bounds: Bounds) -> Expression:
    return col(column).as_number() < float(bounds.lower)


def _above(column: str, bounds: Bounds) -> Expression:
    return col(column).as_number() > float(bounds.upper)


def widened(table: Table, columns: Iterable[str]) -> Table:
    """Return a public table with bounds that include all values, on the same grids.

    Args:
        table: the table with bounds.
        columns: the columns to change.

    Raises:
        InvalidTable: if no bounds include all values of a column.
    """
    held = {name: table.bounds[name] for name in columns if name in table.bounds}
    wide = {name: _around(table, name, bounds) for name, bounds in held.items()}
    if wide == held:
        return table
    # The exact number of rows, so that sums of wide columns fit into 64 bits.
    return replace(table.with_bounds(wide), max_table_rows=max(_row_count(table), 1))


def _around(table: Table, name: str, bounds: Bounds) -> Bounds:
    span = bounds.upper - bounds.lower
    for _ in range(_DOUBLINGS):
        if not _row_count(table, _outside(name, bounds)):
            return bounds
        below = _row_count(table, _below(name, bounds)) > 0
        above = _row_count(table, _above(name, bounds)) > 0
        try:
            bounds = Bounds(bounds.lower - below * span, bounds.upper + above * span, bounds.grid)
        except InvalidTable:
            break
        span *= 2
    raise InvalidTable(f"column {name!r} has values that no bounds on its grid include")


def share_kept(asked: QueryOnTable, own: IntArray | None) -> float | None:
    """Return the share of rows that limits keep; None if there are no rows.

    For statistics of units it is the average share of the groups of a unit.

    Args:
        asked: the query about public rows.
        own: the exact integers of its companion.
    """
    table = asked.table
    if asked.query.per_unit and own is not None:
        whole, kept, lost = (int(part) for part in own[:3])
        return (whole + kept) / (whole + kept + lost) if own[:3].any() else None
    for column in () if asked.query.statistic_name == "several" else asked.query.bounds:
        table = table.where(~col(column).as_number().is_null())
    rows = replace(_of_known_units(table), unit=Rows())
    every = int(counted(rows.count(asked.by))[0].sum())
    return int(counted(table.count(asked.by))[0].sum()) / every if every else None


def share_moved(asked: QueryOnTable, question: Aggregate, own: IntArray | None) -> float | None:
    """Return the share of values that bounds clip; None if it is unknown.

    If units have several rows, it is the average over units, as in a release.
    """
    companion = question.companion
    if companion is not None and own is not None:
        units = int(own[:3].sum())
        return int(own[3]) / units if companion.record["bounds"] and units else None
    held = [_outside(name, asked.table.bounds[name]) for name in asked.query.bounds]
    rows = _row_count(asked.table)
    return (
        _row_count(asked.table, reduce(lambda one, other: one | other, held)) / rows
        if held and rows
        else None
    )
