"""Statistics that can be asked by themselves, or several together."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import ClassVar, final

from neyman.aggregate import Aggregate
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
    def bounds(self) -> Mapping[str, str]:
        """The column's."""
        return {self.column: ""}

    @final
    def made(self, table: Table) -> Statistic:
        """Return it."""
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
    def bounds(self) -> Mapping[str, str]:
        """Those of both."""
        return {self.x: "", self.y: ""}

    @final
    def made(self, table: Table) -> Statistic:
        """Return it."""
        return type(self).of(table.measured(self.x), table.measured(self.y))


class PartQuery(Query, Part, ABC):
    """A query that asks for such a statistic alone."""

    @final
    def ask(self, table: Table, by: Groups) -> Aggregate:
        """Ask for it."""
        return table.aggregate(self.made(table), by)
