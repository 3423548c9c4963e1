"""What a row adds to an answer: bounded integers, whatever the row holds."""

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
    """A column that a statistic is about, with its bounds."""

    column: str
    bounds: Bounds

    @property
    def absent(self) -> int:
        """The integer that stands for no value: one step beyond the upper bound."""
        return self.bounds.steps[1] + 1

    def describe(self) -> dict[str, object]:
        """Return the public record, JSON-able."""
        return {
            "column": self.column,
            "bounds": [text(self.bounds.lower), text(self.bounds.upper)],
            "grid": text(self.bounds.grid),
        }


@final
@dataclass(frozen=True, slots=True)
class Component:
    """One integer that every kept row adds to its group.

    The statement clamps `value` to [low, high] itself, unless the tree of `value` shows that it
    stays there: the sensitivity does not depend on what `value` does.

    Attributes:
        value: from the row's grid integers, one for each column of the statistic, to the integer;
            syntax trees of 64-bit integers. Whether a product fits is its maker's to say.
        low: smallest integer that a row adds.
        high: largest.
    """

    value: Callable[[Sequence[Tree]], Tree]
    low: int
    high: int

    def __post_init__(self) -> None:
        """Refuse a component that is constant zero or beyond the engine's integers."""
        if not (self.low <= self.high and 0 < self.limit <= _MOST):
            raise InvalidParameter(
                "a component must have low <= high, not both zero, within 2^62; got "
                f"[{self.low}, {self.high}]"
            )

    @property
    def limit(self) -> int:
        """Most that one row moves the sum, w."""
        return max(abs(self.low), abs(self.high))


class Statistic(ABC):
    """A sum over rows of integer vectors, one vector a group, and how people read it.

    v_j = sum over kept rows i of group j of (c_1(k_i), ..., c_d(k_i)),   |c_m| <= w_m

    Guarantee: the sensitivity follows from the components' limits and from the unit's bounds
    alone (`sensitivity_of`).
    """

    __slots__ = ()

    @property
    @abstractmethod
    def columns(self) -> tuple[Measured, ...]:
        """What it is about; without any, all rows add the same."""

    @property
    def complete(self) -> bool:
        """Whether a row where one of the columns is NULL or NaN is left out.

        Otherwise it stays, and the integer of such a column is `Measured.absent`.
        """
        return True

    @property
    def totals(self) -> bool:
        """Whether it is the total of a unit that is moved to bounds, and not each value."""
        return False

    @property
    def per_unit(self) -> bool:
        """Whether a unit adds once to a group, by the sums of its rows there, and not each row.

        The components are then over the number of its rows in the group and the sums of their
        integers, one for each column; all rows count, and of a unit at most max_rows groups do.
        """
        return False

    @property
    @abstractmethod
    def components(self) -> tuple[Component, ...]:
        """What each row adds, or each unit, one integer a component."""

    def moved(self, k: Sequence[Tree]) -> Tree | None:  # noqa: ARG002
        """Return whether all that a unit adds is moved to bounds of its own; None: it has none.

        Args:
            k: as of the components, where a unit adds once to a group.
        """
        return None

    @abstractmethod
    def describe(self) -> dict[str, object]:
        """Return the public record, JSON-able: "statistic", columns, parameters."""

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """The columns of the reading, which come after those of the keys."""

    @property
    def rows(self) -> int:
        """How many rows of the answer each group has."""
        return 1

    @abstractmethod
    def reading(self, *, unit_rows: int, weight: int = 1) -> Reading:
        """Return how the noisy integers are read, group by group.

        Args:
            unit_rows: most rows of one unit in one group, r. They may all be alike, and intervals
                for the population must allow for it.
            weight: that all of them were multiplied by, beside other statistics (`Together`).
        """


def check_statistic(name: str, statistic: object) -> None:
    """Refuse what is no statistic, such as its name.

    Raises:
        InvalidParameter: if it is of another type.
    """
    check_type(
        name, statistic, Statistic, 'a statistic, such as Count() or Mean(table.measured("delay"))'
    )


def check_measured(name: str, column: object) -> None:
    """Refuse a column without its bounds, such as the name alone.

    Raises:
        InvalidParameter: if it is of another type.
    """
    written = repr(column) if isinstance(column, str) else '"delay"'
    check_type(name, column, Measured, f"table.measured({written}), the column with its bounds")


def sensitivity_of(components: tuple[Component, ...], limits: Limits) -> Sensitivity:
    """Return the most that one unit moves the vector of all groups.

    A unit with n_j rows in group j moves component c of it by at most n_j w_c. With at most r rows
    in each group and m in all (`neyman.tables._limits`), and g the most groups that one is in:

    l1          = m sum_c w_c
    l2_squared  = (floor(m / r) r^2 + (m mod r)^2) sum_c w_c^2
    coordinates = g d
    largest     = r max_c w_c

    The rows of one group all push the same cells, so r enters whole and not by its root.
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
