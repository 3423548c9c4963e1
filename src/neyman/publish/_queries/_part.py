"""Statistics that can be asked by themselves, or several together."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import ClassVar, final

from neyman.aggregate import Aggregate
from neyman.overriding import override
from neyman.publish._queries._query import Groups, Query
from neyman.publish._section import Section
from neyman.tables import Measured, Statistic, Table

__all__ = ["ColumnPart", "PairPart", "Part", "PartQuery"]


class Part(Section, ABC):
    """What a statistic is of, whatever it may spend."""

    @abstractmethod
    def made(self, table: Table) -> Statistic:
        """Return the statistic.

        Raises:
            InvalidTable: if it does not go with the table.
        """

    @property
    def bounds(self) -> Mapping[str, str]:
        """The columns that must have bounds in [columns], and what else may be written instead."""
        return {}


class ColumnPart(Part, ABC):
    """What a statistic of one column is of.

    Attributes:
        of: makes the statistic.
    """

    of: ClassVar[Callable[[Measured], Statistic]]

    column: str
    """Whose values."""

    @property
    @final
    @override
    def bounds(self) -> Mapping[str, str]:
        return {self.column: ""}

    @final
    @override
    def made(self, table: Table) -> Statistic:
        return type(self).of(table.measured(self.column))


class PairPart(Part, ABC):
    """What a statistic of two columns is of.

    Attributes:
        of: makes the statistic.
    """

    of: ClassVar[Callable[[Measured, Measured], Statistic]]

    x: str
    """One column."""
    y: str
    """The other."""

    @property
    @final
    @override
    def bounds(self) -> Mapping[str, str]:
        return {self.x: "", self.y: ""}

    @final
    @override
    def made(self, table: Table) -> Statistic:
        return type(self).of(table.measured(self.x), table.measured(self.y))


class PartQuery(Query, Part, ABC):
    """A query that asks for such a statistic alone."""

    @final
    @override
    def ask(self, table: Table, by: Groups) -> Aggregate:
        return table.aggregate(self.made(table), by)
