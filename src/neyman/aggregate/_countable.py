"""Private records that can be counted at public nodes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, final

from neyman.aggregate._readings import Columns, IntArray
from neyman.nodes import Nodes
from neyman.sensitivity import Neighbors, Sensitivity

if TYPE_CHECKING:
    from neyman.aggregate._aggregate import Companion

__all__ = ["Countable", "Counter"]


@final
@dataclass(frozen=True, slots=True)
class Counter:
    """A counter of private records at public nodes.

    Attributes:
        digest: of everything that decides which record counts where, derived from what will run.
        count: returns one count for each node, int64, group by group, with the last axis fastest.
            The data are read when it is called, not before.
        check: as for an `Aggregate`.
    """

    digest: str
    count: Callable[[], IntArray] = field(repr=False)
    check: Callable[[], None] = field(default=lambda: None, repr=False)


class Countable(Protocol):
    """Private records with one or more numbers each, which can be counted at public nodes.

    They are an array in memory or columns of a table. A function of the counts does not depend on
    which.
    """

    @property
    def source(self) -> str:
        """The name of the records in the ledger: the `source` of an `Aggregate`."""
        ...

    @property
    def unit(self) -> str:
        """The privacy unit, in words."""
        ...

    @property
    def neighbors(self) -> Neighbors:
        """The neighbouring relation."""
        ...

    @property
    def records(self) -> int | None:
        """Their number if it is public, under replace_one."""
        ...

    @property
    def whole(self) -> tuple[bool, ...]:
        """For each of their numbers, whether its declared type has only integers."""
        ...

    @property
    def names(self) -> tuple[str, ...]:
        """The name of each of their numbers."""
        ...

    @property
    def groups(self) -> int:
        """In how many groups they are counted separately; 1 without groups."""
        ...

    @property
    def keys(self) -> Columns:
        """The public keys of the groups, in order; empty without groups."""
        ...

    @property
    def unit_records(self) -> int:
        """Most records of one unit that count in one group; they may all be equal."""
        ...

    def bound(self, one: Sensitivity) -> Sensitivity:
        """Return the sensitivity to one unit, from the sensitivity to one record."""
        ...

    def describe(self) -> dict[str, object]:
        """Return the public description of the records, for JSON: a part of the query's record."""
        ...

    def like(self, public: object) -> "tuple[Countable, int, bool]":
        """Return public rows, counted in the same way.

        Args:
            public: a table from `open_table`.

        Returns:
            The rows, how many there are before filters, and whether limits of a unit apply.

        Raises:
            InvalidParameter: if these are the private records, or are in arrays.
            InvalidTable: if the rows do not allow the steps of the private ones.
            UnknownColumn: if a column is missing.
        """
        ...

    def companion(self, axes: Sequence[Nodes], *, ends: bool) -> "Companion | None":
        """Return a companion that counts the records too; None if each unit has one record.

        Args:
            axes: as for `counter`.
            ends: whether it also reports values that are moved to the ends of an axis.
        """
        ...

    def counter(self, axes: Sequence[Nodes]) -> Counter:
        """Return a counter of the records.

        Args:
            axes: one for each number. A record that is at no node of an axis is not counted.
        """
        ...
