"""Variance, covariance and correlation."""

from dataclasses import dataclass
from typing import final

from neyman.aggregate import SumsReading
from neyman.tables._statistics._moments import Axis, Layout, OfMoments, Term
from neyman.tables._statistics._spread_readings import (
    CorrelationReading,
    CovarianceReading,
    VarianceReading,
)
from neyman.tables._statistics._statistic import Measured, check_measured

__all__ = ["Correlation", "Covariance", "Variance"]


@final
@dataclass(frozen=True, slots=True)
class Variance(OfMoments):
    """Variance, standard deviation and mean of a column, from one noisy vector.

    Each row adds N (1, u, 2 (u^2 - 1/2)), u in [-1, 1] its distance from the middle of the bounds:
    three integers, each within N.
    """

    column: Measured

    def __post_init__(self) -> None:
        """Refuse a column without bounds."""
        check_measured("column", self.column)

    @property
    def layout(self) -> Layout:
        """Of the three sums."""
        return Layout((Axis(self.column),), ((), (0,), (0, 0)))

    @property
    def columns(self) -> tuple[Measured, ...]:
        """The column."""
        return (self.column,)

    @property
    def names(self) -> tuple[str, ...]:
        """Columns of the answer."""
        return VarianceReading.names

    def describe(self) -> dict[str, object]:
        """Return the name and the column."""
        return {"statistic": "variance"} | self.column.describe()

    def reading(self, *, unit_rows: int, weight: int = 1) -> SumsReading:
        """Return the moments in the column's units, with intervals of the noise and in total."""
        return VarianceReading(self.layout, weight, unit_rows)


@dataclass(frozen=True, slots=True)
class _OfTwo(OfMoments):
    """A statistic of two columns, where both are known."""

    column: Measured
    other: Measured

    def __post_init__(self) -> None:
        """Refuse columns without bounds."""
        check_measured("column", self.column)
        check_measured("other", self.other)

    @property
    def columns(self) -> tuple[Measured, ...]:
        """Both."""
        return (self.column, self.other)

    def _named(self, statistic: str) -> dict[str, object]:
        """Return the name and the columns."""
        first, second = self.column.describe(), self.other.describe()
        return {"statistic": statistic} | first | {"other": second}


@final
@dataclass(frozen=True, slots=True)
class Covariance(_OfTwo):
    """Covariance of two columns, where both are known.

    Each row adds N (1, u, v, u v).
    """

    @property
    def layout(self) -> Layout:
        """Of the four sums."""
        return Layout((Axis(self.column), Axis(self.other)), ((), (0,), (1,), (0, 1)))

    @property
    def names(self) -> tuple[str, ...]:
        """Columns of the answer."""
        return CovarianceReading.names

    def describe(self) -> dict[str, object]:
        """Return the name and the columns."""
        return self._named("covariance")

    def reading(self, *, unit_rows: int, weight: int = 1) -> SumsReading:  # noqa: ARG002
        """Return the covariances in the columns' units, with intervals of the noise."""
        return CovarianceReading(self.layout, weight)


@final
@dataclass(frozen=True, slots=True)
class Correlation(_OfTwo):
    """Pearson's correlation of two columns, where both are known.

    Each row adds N (1, u, v, 2 (u^2 - 1/2), 2 (v^2 - 1/2), u v).
    """

    @property
    def layout(self) -> Layout:
        """Of the six sums."""
        terms: tuple[Term, ...] = ((), (0,), (1,), (0, 0), (1, 1), (0, 1))
        return Layout((Axis(self.column), Axis(self.other)), terms)

    @property
    def names(self) -> tuple[str, ...]:
        """Columns of the answer."""
        return CorrelationReading.names

    def describe(self) -> dict[str, object]:
        """Return the name and the columns."""
        return self._named("correlation")

    def reading(self, *, unit_rows: int, weight: int = 1) -> SumsReading:  # noqa: ARG002
        """Return the correlations, with intervals of the noise."""
        return CorrelationReading(self.layout, weight)
