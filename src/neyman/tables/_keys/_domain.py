"""What a grouping column may be: places 0, 1, ... that a row is at, or at none of them."""

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
        """Return how many there are."""

    @property
    @abstractmethod
    def kind(self) -> str:
        """Which domains it can be put together with; a word of the public record."""

    @property
    @abstractmethod
    def by_value(self) -> bool:
        """Whether all rows of a place have one value."""

    @property
    @abstractmethod
    def cells(self) -> tuple[object, ...]:
        """What stands for each place in a row of `Keys`."""

    @abstractmethod
    def texts(self) -> list[str]:
        """Return the places as the public record writes them."""

    @abstractmethod
    def names(self, column: str) -> tuple[str, ...]:
        """Return what the columns of an answer are called."""

    @abstractmethod
    def columns(self, column: str, places: IntArray) -> Columns:
        """Return the columns of an answer."""

    @abstractmethod
    def describe(self) -> dict[str, object]:
        """Return what the public record says beside the texts, if anything, by its words."""

    @abstractmethod
    def only(self, places: IntArray) -> "Domain":
        """Return these places alone, in this order, where places can be left out at all."""

    @abstractmethod
    def joined(self, other: "Domain", column: str) -> "Domain":
        """Return a domain that begins with these places and has those of another of its kind.

        Raises:
            InvalidTable: if there is none.
        """

    @abstractmethod
    def find(self, cell: object, column: str) -> int:
        """Return the place of what stands for it.

        Raises:
            InvalidTable: if nothing here does.
        """

    @abstractmethod
    def told(self, query: exp.Select, column: Column, alias: str) -> tuple[exp.Select, Tree]:
        """Return the query, and a value that tells the place of a row.

        Args:
            query: over the source; rows at no place may be left out.
            column: of the source.
            alias: of a table that may be joined.

        Raises:
            InvalidTable: if the column's type does not fit.
        """

    @abstractmethod
    def placed(
        self, query: exp.Select, value: Tree, column: Column, alias: str
    ) -> tuple[exp.Select, Tree]:
        """Return the query without the values that are at no place, and the place of a value.

        Args:
            query: over rows, or over groups of rows that have one value.
            value: that tells the place.
            column: of the source, which the value was told of.
            alias: of a table that may be joined.
        """
