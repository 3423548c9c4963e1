"""Count, sum and mean."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from neyman.aggregate import SumsReading
from neyman.errors import InvalidParameter
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
    """Rows of each group, whatever their values: each adds 1.

    Attributes:
        poisson: whether the answer also has the interval of the mean, if the number of units is a
            Poisson number: noise and sampling together. The question is the same, and so is its
            entry in a ledger.
    """

    poisson: bool = False

    @property
    def columns(self) -> tuple[Measured, ...]:
        """None."""
        return ()

    @property
    def components(self) -> tuple[Component, ...]:
        """One."""
        return (Component(lambda _: integer(1), 1, 1),)

    @property
    def names(self) -> tuple[str, ...]:
        """Columns of the answer."""
        return (*CountReading.names, *PoissonReading.more) if self.poisson else CountReading.names

    def describe(self) -> dict[str, object]:
        """Return the name."""
        return {"statistic": "count"}

    def reading(self, *, unit_rows: int, weight: int = 1) -> SumsReading:
        """Return the noisy counts as they are."""
        plain = CountReading(weight)
        return PoissonReading(plain, Fraction(1, weight), unit_rows) if self.poisson else plain


@final
@dataclass(frozen=True, slots=True)
class Sum(Statistic):
    """Sum of a column: each row adds its grid integer k.

    Attributes:
        column: whose values are added up.
        poisson: as for `Count`; of values that are not negative.
    """

    column: Measured
    poisson: bool = False

    def __post_init__(self) -> None:
        """Refuse a column without bounds, and Poisson sums of negative values.

        Raises:
            InvalidParameter: saying what to write.
        """
        check_measured("column", self.column)
        if self.poisson and self.column.bounds.lower < 0:
            raise InvalidParameter(
                "poisson=True needs values that are not negative; column "
                f"{self.column.column!r} has {self.column.bounds!r}. Write bounds from 0, or leave "
                "poisson=True out"
            )

    @property
    def columns(self) -> tuple[Measured, ...]:
        """The column."""
        return (self.column,)

    @property
    def components(self) -> tuple[Component, ...]:
        """The integer itself."""
        return (Component(_same, *self.column.bounds.steps),)

    @property
    def names(self) -> tuple[str, ...]:
        """Columns of the answer."""
        return (*SumReading.names, *PoissonReading.more) if self.poisson else SumReading.names

    def describe(self) -> dict[str, object]:
        """Return the name and the column."""
        return {"statistic": "sum"} | self.column.describe()

    def reading(self, *, unit_rows: int, weight: int = 1) -> SumsReading:
        """Return the noisy sums in the column's units."""
        bounds = self.column.bounds
        plain = SumReading(bounds, weight)
        if not self.poisson:
            return plain
        return PoissonReading(plain, bounds.grid / weight, unit_rows * bounds.upper)


@final
@dataclass(frozen=True, slots=True)
class Mean(Statistic):
    """Mean of a column: the centred sum and its own count, balanced and jointly noisy.

    Each row adds (a, k - c): c the grid point in the middle of the bounds, a = max |k - c|.
    The error of the ratio is smallest at the worst mean when the count weighs a
    (docs/decisions/0002-weighted-count.md).

    Its total interval is conservative: without the spread of the values it allows for the largest
    within the bounds. `Variance` comes with a mean whose total interval is narrower.
    """

    column: Measured

    def __post_init__(self) -> None:
        """Refuse a column without bounds."""
        check_measured("column", self.column)

    @property
    def columns(self) -> tuple[Measured, ...]:
        """The column."""
        return (self.column,)

    @property
    def centre(self) -> int:
        """The middle of the bounds, c, in grid steps."""
        return sum(self.column.bounds.steps) // 2

    @property
    def weight(self) -> int:
        """Largest distance from the centre, a, in grid steps."""
        low, high = self.column.bounds.steps
        return max(high - self.centre, self.centre - low)

    @property
    def components(self) -> tuple[Component, ...]:
        """The weighted count and the centred sum."""
        low, high = self.column.bounds.steps
        centre, weight = self.centre, self.weight
        return (
            Component(lambda _: integer(weight), weight, weight),
            Component(lambda k: k[0] - integer(centre), low - centre, high - centre),
        )

    @property
    def names(self) -> tuple[str, ...]:
        """Columns of the answer."""
        return MeanReading.names

    def describe(self) -> dict[str, object]:
        """Return the name and the column."""
        return {"statistic": "mean"} | self.column.describe()

    def reading(self, *, unit_rows: int, weight: int = 1) -> SumsReading:
        """Return the ratios in the column's units, with Fieller's intervals and in total."""
        return MeanReading(self.column.bounds, self.centre, self.weight, weight, unit_rows)
