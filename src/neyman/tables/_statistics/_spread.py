"""Variance, covariance and correlation."""

from dataclasses import dataclass
from typing import final

from neyman.aggregate import SumsReading
from neyman.overriding import override
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

    Each row adds three integers within N: N (1, u, 2 (u^2 - 1/2)), with u in [-1, 1] its distance
    from the middle of the bounds.
    """

    column: Measured

    def __post_init__(self) -> None:
        """Check that the column has bounds."""
        check_measured("column", self.column)

    @property
    @override
    def layout(self) -> Layout:
        return Layout((Axis(self.column),), ((), (0,), (0, 0)))

    @property
    @override
    def columns(self) -> tuple[Measured, ...]:
        return (self.column,)

    @property
    @override
    def names(self) -> tuple[str, ...]:
        return VarianceReading.names

    @override
    def describe(self) -> dict[str, object]:
        return {"statistic": "variance"} | self.column.describe()

    @override
    def reading(self, *, unit_rows: int, weight: int = 1) -> SumsReading:
        return VarianceReading(self.layout, weight, unit_rows)


@dataclass(frozen=True, slots=True)
class _OfTwo(OfMoments):
    """A statistic of two columns, for rows with both values."""

    column: Measured
    other: Measured

    def __post_init__(self) -> None:
        """Check that the columns have bounds."""
        check_measured("column", self.column)
        check_measured("other", self.other)

    @property
    @override
    def columns(self) -> tuple[Measured, ...]:
        return (self.column, self.other)

    def _named(self, statistic: str) -> dict[str, object]:
        """Return the name and the columns."""
        first, second = self.column.describe(), self.other.describe()
        return {"statistic": statistic} | first | {"other": second}


@final
@dataclass(frozen=True, slots=True)
class Covariance(_OfTwo):
    """The covariance of two columns, for rows with both values.

    Each row adds N (1, u, v, u v).
    """

    @property
    @override
    def layout(self) -> Layout:
        return Layout((Axis(self.column), Axis(self.other)), ((), (0,), (1,), (0, 1)))

    @property
    @override
    def names(self) -> tuple[str, ...]:
        return CovarianceReading.names

    @override
    def describe(self) -> dict[str, object]:
        return self._named("covariance")

    @override
    def reading(self, *, unit_rows: int, weight: int = 1) -> SumsReading:  # noqa: ARG002
        return CovarianceReading(self.layout, weight)


@final
@dataclass(frozen=True, slots=True)
class Correlation(_OfTwo):
    """Pearson's correlation of two columns, for rows with both values.

    Each row adds N (1, u, v, 2 (u^2 - 1/2), 2 (v^2 - 1/2), u v).
    """

    @property
    @override
    def layout(self) -> Layout:
        terms: tuple[Term, ...] = ((), (0,), (1,), (0, 0), (1, 1), (0, 1))
        return Layout((Axis(self.column), Axis(self.other)), terms)

    @property
    @override
    def names(self) -> tuple[str, ...]:
        return CorrelationReading.names

    @override
    def describe(self) -> dict[str, object]:
        return self._named("correlation")

    @override
    def reading(self, *, unit_rows: int, weight: int = 1) -> SumsReading:  # noqa: ARG002
        return CorrelationReading(self.layout, weight)
