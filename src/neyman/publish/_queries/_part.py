"""Statistics that can be asked by themselves, or several together."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import final

from neyman.aggregate import Aggregate
from neyman.publish._queries._query import Groups, Query
from neyman.publish._section import Section
from neyman.tables import Statistic, Table

__all__ = ["Part", "PartQuery"]


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


class PartQuery(Query, Part, ABC):
    """A query that asks for such a statistic alone."""

    @final
    def ask(self, table: Table, by: Groups) -> Aggregate:
        """Ask for it."""
        return table.aggregate(self.made(table), by)
