"""Who is protected, and how much of the table one of them may fill."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import final

from neyman.errors import InvalidParameter, InvalidTable

__all__ = ["Entity", "Rows", "Unit"]

_MOST = 2**40


class Unit(ABC):
    """What is added or removed between neighbouring tables.

    Of n groups one unit touches at most `groups(n)`, with at most `rows` rows in each.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def entity(self) -> str | None:
        """The column that names the unit, or None where each row is one."""

    @property
    @abstractmethod
    def rows(self) -> int:
        """Most rows of one unit in one group."""

    @property
    @abstractmethod
    def label(self) -> str:
        """The unit in words."""

    @abstractmethod
    def groups(self, among: int) -> int:
        """Most groups that one unit touches of so many."""

    @abstractmethod
    def bounded(self, max_groups: int, max_rows_per_group: int) -> "Unit":
        """Return the same unit with other contribution bounds."""

    @abstractmethod
    def once(self) -> "Unit":
        """Return the same unit with at most one row in a group."""

    @abstractmethod
    def describe(self) -> dict[str, object]:
        """Return the public record, JSON-able."""


@final
@dataclass(frozen=True, slots=True)
class Rows(Unit):
    """Each row is a unit: neighbouring tables differ in one row."""

    @property
    def entity(self) -> None:
        """No column: the row itself."""
        return None

    @property
    def rows(self) -> int:
        """One."""
        return 1

    @property
    def label(self) -> str:
        """One row."""
        return "one row"

    def groups(self, among: int) -> int:  # noqa: ARG002
        """One."""
        return 1

    def bounded(self, max_groups: int, max_rows_per_group: int) -> Unit:
        """Refuse: a row is in one group, once."""
        raise InvalidTable(
            f"contribution bounds of {max_groups} groups and {max_rows_per_group} rows were asked "
            "for, but the unit is one row; open the table with unit=Entity(column, ...)"
        )

    def once(self) -> Unit:
        """Return itself."""
        return self

    def describe(self) -> dict[str, object]:
        """Return the public record."""
        return {"rows": 1}


@final
@dataclass(frozen=True, slots=True)
class Entity(Unit):
    """All rows that share a value of one column are a unit.

    Rows whose value is NULL are nobody's and are dropped. Of a unit with more than
    `max_groups` groups or `max_rows_per_group` rows in a group, a pseudo-random part is kept.

    Attributes:
        column: names the unit: text, integer, boolean or date.
        max_groups: most groups that one unit counts in.
        max_rows_per_group: most rows that it counts in each.
    """

    column: str
    max_groups: int
    max_rows_per_group: int

    def __post_init__(self) -> None:
        """Refuse bounds that are not positive integers."""
        for name in ("max_groups", "max_rows_per_group"):
            value = getattr(self, name)
            if type(value) is not int or not 1 <= value <= _MOST:
                raise InvalidParameter(
                    f"{name}={value!r} is not an integer in [1, 2^40]; write how many of them one "
                    f"{self.column} may fill"
                )

    @property
    def entity(self) -> str:
        """The column."""
        return self.column

    @property
    def rows(self) -> int:
        """Most rows in one group."""
        return self.max_rows_per_group

    @property
    def label(self) -> str:
        """All rows of one."""
        return f"all rows of one {self.column}"

    def groups(self, among: int) -> int:
        """The declared bound, or all groups where there are fewer."""
        return min(self.max_groups, among)

    def bounded(self, max_groups: int, max_rows_per_group: int) -> Unit:
        """Return the same entity with other bounds."""
        return Entity(self.column, max_groups, max_rows_per_group)

    def once(self) -> Unit:
        """Return the same entity with one row a group."""
        return Entity(self.column, self.max_groups, 1)

    def describe(self) -> dict[str, object]:
        """Return the public record."""
        return {
            "entity": self.column,
            "max_groups": self.max_groups,
            "max_rows_per_group": self.max_rows_per_group,
        }
