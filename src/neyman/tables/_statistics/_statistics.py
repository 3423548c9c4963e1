"""Count, sum and mean."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from neyman.aggregate import SumsReading
from neyman.errors import InvalidParameter
from neyman.overriding import override
from neyman.tables._sql import Tree, integer
from neyman.tables._statistics._readings import (
    CountReading,
    MeanReading,
    PoissonReading,
    SumReading,
)
from neyman.tables._statistics._statistic import Component, Measured, Statistic, check_measured

__all__ = ["Count", "Mean", "Sum"]


def _same(k: Sequence[Tree]) -> Tree:
    return k[0]


@final
@dataclass(frozen=True, slots=True)
class Count(Statistic):
    """The number of rows of each group: each row adds 1, for any values.

    Attributes:
        poisson: whether the answer also has an interval for the mean of a Poisson number of units,
            with noise and sampling together. The question and its record in a ledger are the same.
    """

    poisson: bool = False

    @property
    @override
    def columns(self) -> tuple[Measured, ...]:
        return ()

    @property
    @override
    def components(self) -> tuple[Component, ...]:
        return (Component(lambda _: integer(1), 1, 1),)

    @property
    @override
    def names(self) -> tuple[str, ...]:
        return (*CountReading.names, *PoissonReading.more) if self.poisson else CountReading.names

    @override
    def describe(self) -> dict[str, object]:
        return {"statistic": "count"}

    @override
    def reading(self, *, unit_rows: int, weight: int = 1) -> SumsReading:
        plain = CountReading(weight)
        return PoissonReading(plain, Fraction(1, weight), unit_rows) if self.poisson else plain


@final
@dataclass(frozen=True, slots=True)
class Sum(Statistic):
    """The sum of a column: each row adds its grid integer k.

    Attributes:
        column: the column.
        poisson: as for `Count`; for non-negative values only.
    """

    column: Measured
    poisson: bool = False

    def __post_init__(self) -> None:
        """Check that the column has bounds, which are not negative for Poisson sums.

        Raises:
            InvalidParameter: if it does not.
        """
        check_measured("column", self.column)
        if self.poisson and self.column.bounds.lower < 0:
            raise InvalidParameter(
                "poisson=True needs values that are not negative; column "
                f"{self.column.column!r} has {self.column.bounds!r}. Write bounds from 0, or leave "
                "poisson=True out"
            )

    @property
    @override
    def columns(self) -> tuple[Measured, ...]:
        return (self.column,)

    @property
    @override
    def components(self) -> tuple[Component, ...]:
        return (Component(_same, *self.column.bounds.steps),)

    @property
    @override
    def names(self) -> tuple[str, ...]:
        return (*SumReading.names, *PoissonReading.more) if self.poisson else SumReading.names

    @override
    def describe(self) -> dict[str, object]:
        return {"statistic": "sum"} | self.column.describe()

    @override
    def reading(self, *, unit_rows: int, weight: int = 1) -> SumsReading:
        bounds = self.column.bounds
        plain = SumReading(bounds, weight)
        if not self.poisson:
            return plain
        return PoissonReading(plain, bounds.grid / weight, unit_rows * bounds.upper)


@final
@dataclass(frozen=True, slots=True)
class Mean(Statistic):
    """The mean of a column: the centred sum and its own count, balanced, with joint noise.

    Each row adds (a, k - c), with c the grid point in the middle of the bounds and a = max |k - c|.
    The weight a of the count minimises the error of the ratio at the worst mean
    (docs/decisions/0002-weighted-count.md).

    Its total interval is conservative. Because the spread of the values is not known, it assumes
    the largest within the bounds. `Variance` also has a mean, with a narrower total interval.
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
    def centre(self) -> int:
        """c, the middle of the bounds, in grid steps."""
        return sum(self.column.bounds.steps) // 2

    @property
    def weight(self) -> int:
        """a, the largest distance from the centre, in grid steps."""
        low, high = self.column.bounds.steps
        return max(high - self.centre, self.centre - low)

    @property
    @override
    def components(self) -> tuple[Component, ...]:
        low, high = self.column.bounds.steps
        centre, weight = self.centre, self.weight
        return (
            Component(lambda _: integer(weight), weight, weight),
            Component(lambda k: k[0] - integer(centre), low - centre, high - centre),
        )

    @property
    @override
    def names(self) -> tuple[str, ...]:
        return MeanReading.names

    @override
    def describe(self) -> dict[str, object]:
        return {"statistic": "mean"} | self.column.describe()

    @override
    def reading(self, *, unit_rows: int, weight: int = 1) -> SumsReading:
        return MeanReading(self.column.bounds, self.centre, self.weight, weight, unit_rows)
