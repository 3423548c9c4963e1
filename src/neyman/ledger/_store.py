"""The seam: where a ledger is kept, and what one transaction sees of it.

All above it is the same wherever the rows lie: the accounts, the chain, the recovery rule. Below it
are transactions that are durable when they end, turns, and what each store says of its own damage.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar

__all__ = ["Store", "Table", "Tables"]

T = TypeVar("T")

Table: TypeAlias = Literal["meta", "events"]


@dataclass(frozen=True, slots=True)
class Tables(ABC):
    """The two tables of a ledger inside one transaction.

    They are asked in the SQL that all stores understand; each `?` stands for a value.

    Attributes:
        written: the rows that were added in this transaction, as they were meant.
    """

    written: list[tuple[Table, tuple[object, ...]]] = field(
        default_factory=list[tuple[Table, tuple[object, ...]]],
        init=False,
        repr=False,
        compare=False,
    )

    @property
    @abstractmethod
    def made(self) -> bool:
        """Whether the tables are there."""

    @abstractmethod
    def make(self) -> None:
        """Make the tables, and what keeps them append-only."""

    @property
    @abstractmethod
    def renewed(self) -> bool:
        """Whether tables that are there are marked as format 4."""

    @abstractmethod
    def renew(self) -> None:
        """Mark tables of format 3 as format 4, in this transaction; those of 4 are left alone.

        Releases that know no allowances refuse the ledger from then on.
        """

    @abstractmethod
    def select(self, query: str, *values: object) -> Iterator[tuple[Any, ...]]:
        """Run a query; return its rows."""

    def insert(self, table: Table, row: Sequence[object]) -> None:
        """Add one row, whole."""
        self._insert(table, row)
        self.written.append((table, tuple(row)))

    @abstractmethod
    def _insert(self, table: Table, row: Sequence[object]) -> None:
        """Add one row; whether it stays as it was meant is for `require_kept`."""

    @abstractmethod
    def altered(self) -> Iterator[str]:
        """Say what is not as `make` made it, and what was added; no row is read."""

    @abstractmethod
    def damaged(self) -> Iterator[str]:
        """Say what the store itself finds damaged."""

    @abstractmethod
    def collected(self, part: Iterator[str]) -> list[str]:
        """Return the findings of one part of a check; that rows cannot be read is one more."""


class Store(ABC):
    """A place where one ledger is kept, there already or not yet.

    It holds no connection, so that threads may share it, and it may be forked and pickled. As text
    it is the place, for people, without any password.

    Guarantee: what a `write` did is durable when it returns, whole or not at all, and no two writes
    run at one time. No text of the store's own errors comes out, for it can quote rows.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def name(self) -> str:
        """In short, for a report."""

    @property
    @abstractmethod
    def files(self) -> frozenset[Path]:
        """The files that nobody else may write to; none where it is kept elsewhere."""

    @abstractmethod
    def settled(self) -> "Store":
        """Return the one real name of the place, looked at for what cannot hold a ledger.

        Raises:
            LedgerUnavailable: if no ledger can be kept there.
        """

    @abstractmethod
    def exists(self) -> bool:
        """Whether something is kept there already."""

    @abstractmethod
    def read(self, work: Callable[[Tables], T], *, consequence: str) -> T:
        """Return what `work` finds in one snapshot.

        Args:
            work: gets the tables inside the transaction; may run once only.
            consequence: what a failure means for the caller, ended by a full stop.

        Raises:
            LedgerUnavailable: if it cannot be reached, or stays locked.
            LedgerCorrupt: if what lies there is no ledger, or damaged.
        """

    @abstractmethod
    def write(self, work: Callable[[Tables], T], *, consequence: str, create: bool = False) -> T:
        """Run `work` alone, make durable what it wrote, and return what it returned.

        An error of `work` leaves everything as it was.

        Args:
            work: gets the tables inside the transaction; may run once only.
            consequence: what a failure means for the caller, ended by a full stop.
            create: whether there may be nothing yet.

        Raises:
            LedgerUnavailable: if it cannot be reached or written, or stays locked.
            LedgerCorrupt: if what lies there is no ledger, or damaged.
        """

    @abstractmethod
    def turn(self, entry: str) -> AbstractContextManager[None]:
        """Wait until nobody else is at this entry, and hold it.

        Raises:
            InvalidParameter: if this thread holds a turn already.
            LedgerUnavailable: if turns cannot be taken.
        """
