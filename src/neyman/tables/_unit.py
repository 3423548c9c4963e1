"""Who is protected, and how much of the table one of them may fill."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import final

from neyman.errors import InvalidParameter, InvalidTable
from neyman.tables._foreign_key import ForeignKey
from neyman.tables._limits import Limits

__all__ = ["Entity", "Rows", "Unit"]

_MOST = 2**40
_BOUNDS = ("max_groups", "max_rows_per_group", "max_rows")


class Unit(ABC):
    """What is added or removed between neighbouring tables.

    Of the groups there are, one unit touches at most g with at most r rows in each and m rows in
    all: `limits`.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def entity(self) -> str | None:
        """The column that names the unit, or None where each row is one."""

    @abstractmethod
    def limits(self, among: int | None) -> Limits:
        """Return the most that one unit fills.

        Args:
            among: how many groups there are; None where that is not known.
        """

    @property
    @abstractmethod
    def through(self) -> ForeignKey | None:
        """Where the column is found, if it is not the table's own."""

    @property
    @abstractmethod
    def label(self) -> str:
        """The unit in words."""

    @final
    @property
    def rows(self) -> int:
        """Most rows of one unit in one group."""
        return self.limits(1).rows

    @abstractmethod
    def bounded(
        self,
        max_groups: int | None = None,
        max_rows_per_group: int | None = None,
        max_rows: int | None = None,
    ) -> "Unit":
        """Return the same unit with other contribution bounds; those not named stay."""

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
    def through(self) -> None:
        """Nowhere."""
        return None

    @property
    def label(self) -> str:
        """One row."""
        return "one row"

    def limits(self, among: int | None) -> Limits:
        """One."""
        return Limits(groups=1, rows=1, total=1, among=among)

    def bounded(
        self,
        max_groups: int | None = None,
        max_rows_per_group: int | None = None,
        max_rows: int | None = None,
    ) -> Unit:
        """Refuse: a row is in one group, once."""
        asked = {
            "max_groups": max_groups,
            "max_rows_per_group": max_rows_per_group,
            "max_rows": max_rows,
        }
        said = ", ".join(f"{name}={value}" for name, value in asked.items() if value is not None)
        raise InvalidTable(
            f"contribution bounds ({said}) were asked for, but the unit is one row; "
            "open the table with unit=Entity(column, ...)"
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

    Rows whose value is NULL are nobody's and are dropped. Of a unit beyond its bounds a
    pseudo-random part is kept: groups first, then rows in each group, then rows in all. Give
    `max_groups` and `max_rows_per_group`, or `max_rows`, or `max_rows` with any of the others.

    Attributes:
        column: names the unit: text, integer, boolean or date; or where another table names it.
        max_groups: most groups that one unit counts in.
        max_rows_per_group: most rows that it counts in each.
        max_rows: most rows that it counts in all groups together.
    """

    column: str | ForeignKey
    max_groups: int | None = None
    max_rows_per_group: int | None = None
    max_rows: int | None = None

    def __post_init__(self) -> None:
        """Refuse bounds that are not positive integers, and a unit without bounds."""
        for name in _BOUNDS:
            value = getattr(self, name)
            if value is not None and (type(value) is not int or not 1 <= value <= _MOST):
                raise InvalidParameter(
                    f"{name}={value!r} is not an integer in [1, 2^40]; write how many of them one "
                    f"{self.entity} may fill"
                )
        if self.max_rows is None and None in (self.max_groups, self.max_rows_per_group):
            given = [f"{name}=" for name in _BOUNDS if getattr(self, name) is not None]
            raise InvalidParameter(
                f"{' and '.join(given) or 'no bound'} was given, and one {self.entity} may fill "
                "any number of rows; write max_groups=... and max_rows_per_group=..., or "
                "max_rows=..., the rows of one unit in all groups together"
            )

    @property
    def entity(self) -> str:
        """The column."""
        return self.column if isinstance(self.column, str) else self.column.column

    @property
    def through(self) -> ForeignKey | None:
        """The declared key."""
        return None if isinstance(self.column, str) else self.column

    @property
    def label(self) -> str:
        """All rows of one."""
        return f"all rows of one {self.entity}"

    def limits(self, among: int | None) -> Limits:
        """The declared bounds, and no more groups than there are."""
        return Limits.of(
            groups=self.max_groups,
            rows=self.max_rows_per_group,
            total=self.max_rows,
            among=among,
        )

    def bounded(
        self,
        max_groups: int | None = None,
        max_rows_per_group: int | None = None,
        max_rows: int | None = None,
    ) -> Unit:
        """Return the same entity with other bounds, and those not named as they are."""
        return Entity(
            self.column,
            self.max_groups if max_groups is None else max_groups,
            self.max_rows_per_group if max_rows_per_group is None else max_rows_per_group,
            self.max_rows if max_rows is None else max_rows,
        )

    def once(self) -> Unit:
        """Return the same entity with one row a group."""
        return Entity(self.column, self.max_groups, 1, self.max_rows)

    def describe(self) -> dict[str, object]:
        """Return the public record."""
        record: dict[str, object] = {"entity": self.entity}
        if self.through is not None:
            record["through"] = self.through.describe()
        bounds = {name: getattr(self, name) for name in _BOUNDS}
        return record | {name: bound for name, bound in bounds.items() if bound is not None}
