"""Statistics where a unit adds once to a group, for any number of its rows there."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from sqlglot import exp

from neyman.aggregate import Columns, IntArray, Noise, SumsReading, Term
from neyman.arguments import check_type
from neyman.errors import InvalidTable
from neyman.numerics import text
from neyman.overriding import override
from neyman.tables import _sql as sql
from neyman.tables._bounds import Bounds
from neyman.tables._sql import Tree
from neyman.tables._statistics._readings import CountReading, MeanReading, SumReading
from neyman.tables._statistics._statistic import Component, Measured, Statistic, check_measured
from neyman.tables._statistics._statistics import Mean

__all__ = ["CountUnits", "MeanPerUnit", "SumPerUnit"]


@final
@dataclass(frozen=True, slots=True)
class CountUnits(Statistic):
    """The number of distinct units of each group: each adds 1."""

    @property
    @override
    def columns(self) -> tuple[Measured, ...]:
        return ()

    @property
    @override
    def per_unit(self) -> bool:
        return True

    @property
    @override
    def components(self) -> tuple[Component, ...]:
        return (Component(lambda _: sql.integer(1), 1, 1),)

    @property
    @override
    def names(self) -> tuple[str, ...]:
        return ("count_units", *CountReading.names[1:])

    @override
    def describe(self) -> dict[str, object]:
        return {"statistic": "count_units"}

    @override
    def reading(self, *, unit_rows: int, weight: int = 1) -> SumsReading:  # noqa: ARG002
        return _Called("count_units", CountReading(weight))


@final
@dataclass(frozen=True, slots=True)
class MeanPerUnit(Statistic):
    """The mean over units of the mean of each unit's rows: "the average patient", not "visit".

    A unit with n rows in a group, with grid integers k, adds

        (a, floor(sum k / n + 1/2) - c)

    c is the grid point in the middle of the bounds, a the largest distance from it. No row is cut,
    and the sensitivity does not depend on the number of rows of a unit. The result differs from the
    mean over rows if units with many rows differ from others.
    """

    column: Measured

    def __post_init__(self) -> None:
        """Check that the column has bounds."""
        check_measured("column", self.column)

    @property
    @override
    def columns(self) -> tuple[Measured, ...]:
        return (self.column,)

    @property
    @override
    def per_unit(self) -> bool:
        return True

    @property
    @override
    def components(self) -> tuple[Component, ...]:
        low, high = self.column.bounds.steps
        mean = Mean(self.column)
        centre, weight = mean.centre, mean.weight

        def nearest(k: Sequence[Tree]) -> Tree:
            # Of numbers that are not negative, for engines divide negative ones each its own way.
            n, total = k
            above = exp.paren(total - exp.paren(n * sql.wide(low)))
            doubled = exp.paren(above * sql.wide(2) + n)
            whole = exp.IntDiv(this=doubled, expression=exp.paren(n * sql.wide(2)))
            return sql.cast(whole, sql.WIDE) + sql.wide(low - centre)

        return (
            Component(lambda _: sql.integer(weight), weight, weight),
            Component(nearest, low - centre, high - centre),
        )

    @property
    @override
    def names(self) -> tuple[str, ...]:
        return ("mean_per_unit", *MeanReading.names[1:])

    @override
    def describe(self) -> dict[str, object]:
        return {"statistic": "mean_per_unit"} | self.column.describe()

    @override
    def reading(self, *, unit_rows: int, weight: int = 1) -> SumsReading:
        mean = Mean(self.column).reading(unit_rows=unit_rows, weight=weight)
        return _Called("mean_per_unit", mean)


@final
@dataclass(frozen=True, slots=True)
class SumPerUnit(Statistic):
    """The sum over units of the total of each unit's rows, clamped to bounds of its own.

    A unit with grid integers k adds min(max(sum k, L), U) to a group. No row is cut, and the
    sensitivity does not depend on the number of rows of a unit.

    Attributes:
        column: the column, with the bounds of one row.
        total: bounds L and U of the total of one unit in a group, on the column's own grid.
    """

    column: Measured
    total: Bounds

    def __post_init__(self) -> None:
        """Check that the column and the total have bounds, on the same grid."""
        check_measured("column", self.column)
        check_type("total", self.total, Bounds, "Bounds(lower, upper, grid=...) of a unit's total")
        if self.total.grid != self.column.bounds.grid:
            raise InvalidTable(
                f"the total of a unit must be on the grid of its column, "
                f"{text(self.column.bounds.grid)}; got {self.total!r}"
            )

    @property
    @override
    def columns(self) -> tuple[Measured, ...]:
        return (self.column,)

    @property
    @override
    def per_unit(self) -> bool:
        return True

    @property
    @override
    def components(self) -> tuple[Component, ...]:
        return (Component(lambda k: k[1], *self.total.steps),)

    @property
    @override
    def names(self) -> tuple[str, ...]:
        return ("sum_per_unit", *SumReading.names[1:])

    @property
    @override
    def totals(self) -> bool:
        return True

    @override
    def moved(self, k: Sequence[Tree]) -> Tree:
        low, high = self.total.steps
        return exp.or_(
            exp.LT(this=k[1], expression=sql.integer(low)),
            exp.GT(this=k[1].copy(), expression=sql.integer(high)),
        )

    @override
    def describe(self) -> dict[str, object]:
        total = [text(self.total.lower), text(self.total.upper)]
        return {"statistic": "sum_per_unit", "total": total} | self.column.describe()

    @override
    def reading(self, *, unit_rows: int, weight: int = 1) -> SumsReading:  # noqa: ARG002
        return _Called("sum_per_unit", SumReading(self.total, weight))


@final
@dataclass(frozen=True, slots=True)
class _Called(SumsReading):
    """A reading whose first column has its own name."""

    name: str
    reading: SumsReading

    @property
    @override
    def terms(self) -> tuple[Term | None, ...]:
        return self.reading.terms

    @override
    def columns(self, noisy: IntArray, noise: Noise, confidence: float) -> Columns:
        first, *rest = self.reading.columns(noisy, noise, confidence).items()
        return {self.name: first[1], **dict(rest)}
