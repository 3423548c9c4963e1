"""A statistic: bounded integers that each row adds, for any row."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from neyman.aggregate import Reading
from neyman.arguments import check_type
from neyman.errors import InvalidParameter
from neyman.numerics import text
from neyman.sensitivity import Sensitivity
from neyman.tables._bounds import Bounds
from neyman.tables._limits import Limits
from neyman.tables._sql import Tree

__all__ = [
    "Component",
    "Measured",
    "Statistic",
    "check_measured",
    "check_statistic",
    "sensitivity_of",
]

_MOST = 2**62


@final
@dataclass(frozen=True, slots=True)
class Measured:
    """A column of a statistic, with its bounds."""

    column: str
    bounds: Bounds

    @property
    def absent(self) -> int:
        """The integer of a missing value: one step above the upper bound."""
        return self.bounds.steps[1] + 1

    def describe(self) -> dict[str, object]:
        """Return the public record for JSON."""
        return {
            "column": self.column,
            "bounds": [text(self.bounds.lower), text(self.bounds.upper)],
            "grid": text(self.bounds.grid),
        }


@final
@dataclass(frozen=True, slots=True)
class Component:
    """One integer that every kept row adds to its group.

    The statement itself clamps `value` to [low, high], unless the tree of `value` shows that it
    stays there. So the sensitivity does not depend on `value`.

    Attributes:
        value: the map from the row's grid integers, one for each column of the statistic, to the
            integer, as syntax trees of 64-bit integers. Its author must make sure that products
            fit.
        low: the smallest integer that a row adds.
        high: the largest integer that a row adds.
    """

    value: Callable[[Sequence[Tree]], Tree]
    low: int
    high: int

    def __post_init__(self) -> None:
        """Refuse a component that is always zero or exceeds the engine's integers."""
        if not (self.low <= self.high and 0 < self.limit <= _MOST):
            raise InvalidParameter(
                "a component must have low <= high, not both zero, within 2^62; got "
                f"[{self.low}, {self.high}]"
            )

    @property
    def limit(self) -> int:
        """w, the most that one row moves the sum."""
        return max(abs(self.low), abs(self.high))


class Statistic(ABC):
    """A sum over rows of integer vectors, one vector for each group, and the columns of its answer.

    v_j = sum over kept rows i of group j of (c_1(k_i), ..., c_d(k_i)),   |c_m| <= w_m

    Guarantee: the sensitivity depends only on the components' limits and on the unit's contribution
        limits (`sensitivity_of`).
    """

    __slots__ = ()

    @property
    @abstractmethod
    def columns(self) -> tuple[Measured, ...]:
        """Its columns; without any, all rows add the same."""

    @property
    def complete(self) -> bool:
        """Whether a row with NULL or NaN in one of the columns is left out.

        If not, the row stays, and the integer of such a column is `Measured.absent`.
        """
        return True

    @property
    def totals(self) -> bool:
        """Whether the total of a unit is moved to bounds, and not each value."""
        return False

    @property
    def per_unit(self) -> bool:
        """Whether a unit adds once to a group, by the sums of its rows there, instead of each row.

        The components are then functions of the number of its rows in the group and the sums of
        their integers, one for each column. All rows count, and at most max_rows groups of a unit.
        """
        return False

    @property
    @abstractmethod
    def components(self) -> tuple[Component, ...]:
        """The contributions of each row, or of each unit, one integer for each component."""

    def moved(self, k: Sequence[Tree]) -> Tree | None:  # noqa: ARG002
        """Return whether the total of a unit is moved to bounds of its own; None if there are none.

        Args:
            k: as for the components, if a unit adds once to a group.
        """
        return None

    @abstractmethod
    def describe(self) -> dict[str, object]:
        """Return the public record for JSON: "statistic", columns, parameters."""

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """The columns of the answer after those of the keys."""

    @property
    def rows(self) -> int:
        """The number of rows of the answer for each group."""
        return 1

    @abstractmethod
    def reading(self, *, unit_rows: int, weight: int = 1) -> Reading:
        """Return the columns of the answer, from noisy integers, group by group.

        Args:
            unit_rows: r, the most rows of one unit in one group. They can all be equal, and
                intervals for the population must allow for that.
            weight: the factor of all integers, beside other statistics (`Together`).
        """


def check_statistic(name: str, statistic: object) -> None:
    """Check that an object is a statistic, and not its name.

    Raises:
        InvalidParameter: if it has another type.
    """
    check_type(
        name, statistic, Statistic, 'a statistic, such as Count() or Mean(table.measured("delay"))'
    )


def check_measured(name: str, column: object) -> None:
    """Check that a column has bounds, and is not only a name.

    Raises:
        InvalidParameter: if it has another type.
    """
    written = repr(column) if isinstance(column, str) else '"delay"'
    check_type(name, column, Measured, f"table.measured({written}), the column with its bounds")


def sensitivity_of(components: tuple[Component, ...], limits: Limits) -> Sensitivity:
    """Return the sensitivity of the vector of all groups to one unit.

    A unit with n_j rows in group j moves its component c by at most n_j w_c. With at most r rows in
    each group and m in all (`neyman.tables._limits`), and g the most groups of one unit:

    l1          = m sum_c w_c
    l2_squared  = (floor(m / r) r^2 + (m mod r)^2) sum_c w_c^2
    coordinates = g d
    largest     = r max_c w_c

    The rows of one group all add to the same cells, so r counts fully and not by its root.
    """
    most = [component.limit for component in components]
    one = Sensitivity(
        neighbors="add_remove",
        l1=Fraction(sum(most)),
        l2_squared=Fraction(sum(limit**2 for limit in most)),
        coordinates=len(most),
        largest=max(most),
    )
    return limits.bound(one)
