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
    """What counts private records at public nodes.

    Attributes:
        digest: of all that decides which record counts where, derived from what will run.
        count: gives one count for each place, int64, group by group, the last axis running fastest.
            The data are read when it is called, not before.
        check: as of an `Aggregate`.
    """

    digest: str
    count: Callable[[], IntArray] = field(repr=False)
    check: Callable[[], None] = field(default=lambda: None, repr=False)


class Countable(Protocol):
    """Private records with one or more numbers each, which can be counted at public nodes.

    An array in memory, or columns of a table: whoever asks for a function of the counts need not
    know which.
    """

    @property
    def source(self) -> str:
        """What stands for the records in the ledger: the `source` of an `Aggregate`."""
        ...

    @property
    def unit(self) -> str:
        """Who is protected, in words."""
        ...

    @property
    def neighbors(self) -> Neighbors:
        """The neighbouring relation."""
        ...

    @property
    def records(self) -> int | None:
        """Their number where it is public, under replace_one."""
        ...

    @property
    def whole(self) -> tuple[bool, ...]:
        """Of each of their numbers, whether its declared type has whole ones only."""
        ...

    @property
    def names(self) -> tuple[str, ...]:
        """What each of their numbers is called."""
        ...

    @property
    def groups(self) -> int:
        """In how many groups they are counted apart; 1 where there is one of all."""
        ...

    @property
    def keys(self) -> Columns:
        """The public keys of the groups, in order; empty where there is one group of all."""
        ...

    @property
    def unit_records(self) -> int:
        """Most records of one unit that count in one group; they may all be alike."""
        ...

    def bound(self, one: Sensitivity) -> Sensitivity:
        """Return how far a unit moves what one record moves so far."""
        ...

    def describe(self) -> dict[str, object]:
        """Return what is public about them, JSON-able: a part of the query's record."""
        ...

    def like(self, public: object) -> "tuple[Countable, int, bool]":
        """Return public rows to be counted in the same way.

        Args:
            public: a table, as `open_table` gives it.

        Returns:
            The rows, how many there are before filters, and whether limits of a unit apply.

        Raises:
            InvalidParameter: if these are the private records, or are in arrays.
            InvalidTable: if the rows cannot be made in the steps of the private ones.
            UnknownColumn: if it lacks a column.
        """
        ...

    def companion(self, axes: Sequence[Nodes], *, ends: bool) -> "Companion | None":
        """Return what counts them and tells what limits did; None where a unit has one record.

        Args:
            axes: as of `counter`.
            ends: whether to tell of values that are moved to the ends of an axis, too.
        """
        ...

    def counter(self, axes: Sequence[Nodes]) -> Counter:
        """Return what counts them.

        Args:
            axes: one for each number. A record at no node of some axis counts for nothing.
        """
        ...
