"""The domain of a grouping column: the places 0, 1, ... of its rows."""

from abc import ABC, abstractmethod

from sqlglot import exp

from neyman.aggregate import Columns, IntArray
from neyman.tables._schema import Column
from neyman.tables._sql import Tree

__all__ = ["Domain"]


class Domain(ABC):
    """The public places of one grouping column, in their order."""

    __slots__ = ()

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of places."""

    @property
    @abstractmethod
    def kind(self) -> str:
        """The kind in the public record; domains of one kind can be combined."""

    @property
    @abstractmethod
    def by_value(self) -> bool:
        """Whether all rows of a place have the same value."""

    @property
    @abstractmethod
    def cells(self) -> tuple[object, ...]:
        """The cell of each place in a row of `Keys`."""

    @abstractmethod
    def texts(self) -> list[str]:
        """Return the places as text for the public record."""

    @abstractmethod
    def names(self, column: str) -> tuple[str, ...]:
        """Return the names of the columns of an answer."""

    @abstractmethod
    def columns(self, column: str, places: IntArray) -> Columns:
        """Return the columns of an answer."""

    @abstractmethod
    def describe(self) -> dict[str, object]:
        """Return the other fields of the public record, by name."""

    @abstractmethod
    def only(self, places: IntArray) -> "Domain":
        """Return these places only, in this order, if places can be left out."""

    @abstractmethod
    def joined(self, other: "Domain", column: str) -> "Domain":
        """Return a domain with these places first, then those of another domain of its kind.

        Raises:
            InvalidTable: if there is no such domain.
        """

    @abstractmethod
    def find(self, cell: object, column: str) -> int:
        """Return the place of a cell.

        Raises:
            InvalidTable: if no place has this cell.
        """

    @abstractmethod
    def told(self, query: exp.Select, column: Column, alias: str) -> tuple[exp.Select, Tree]:
        """Return the query, and a value that determines the place of a row.

        Args:
            query: a query over the source; rows at no place can be left out.
            column: a column of the source.
            alias: the alias of a table that may be joined.

        Raises:
            InvalidTable: if the column's type does not fit.
        """

    @abstractmethod
    def placed(
        self, query: exp.Select, value: Tree, column: Column, alias: str
    ) -> tuple[exp.Select, Tree]:
        """Return the query without values at no place, and the place of a value.

        Args:
            query: a query over rows, or over groups of rows with equal values.
            value: the value that determines the place.
            column: the column of the source with this value.
            alias: the alias of a table that may be joined.
        """
