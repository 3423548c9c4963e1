"""The interface of a store: where a ledger is kept, and what one transaction sees.

Accounts, chain and recovery rules are the same for every store and use this interface. A store
provides durable transactions, locks of entries, and a description of its own damage.
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

    Queries use SQL that all stores understand; each `?` is a parameter.

    Attributes:
        written: the rows that were added in this transaction, as they were passed.
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
        """Whether the tables exist."""

    @abstractmethod
    def make(self) -> None:
        """Create the tables, and the triggers that keep them append-only."""

    @property
    @abstractmethod
    def renewed(self) -> bool:
        """Whether existing tables are marked as format 4."""

    @abstractmethod
    def renew(self) -> None:
        """Mark tables of format 3 as format 4, in this transaction; does nothing for format 4.

        Afterwards, versions of neyman that know no allowances refuse the ledger.
        """

    @abstractmethod
    def select(self, query: str, *values: object) -> Iterator[tuple[Any, ...]]:
        """Return the rows of a query."""

    def insert(self, table: Table, row: Sequence[object]) -> None:
        """Add one row."""
        self._insert(table, row)
        self.written.append((table, tuple(row)))

    @abstractmethod
    def _insert(self, table: Table, row: Sequence[object]) -> None:
        """Add one row; `require_kept` checks later that it was stored unchanged."""

    @abstractmethod
    def altered(self) -> Iterator[str]:
        """Yield what differs from the result of `make`, and what was added; no row is read."""

    @abstractmethod
    def damaged(self) -> Iterator[str]:
        """Yield what the store itself finds damaged."""

    @abstractmethod
    def collected(self, part: Iterator[str]) -> list[str]:
        """Return the findings of one part of a check; unreadable rows are one more finding."""


class Store(ABC):
    """A place for one ledger, which may exist already or not.

    It has no open connection, so threads may share it, and it may be forked and pickled. As text it
    is the place, without any password.

    Guarantee: what a `write` did is durable when it returns, whole or not at all, and no two writes
        run at the same time. The store's own error texts are not shown, because they can quote
        rows.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def name(self) -> str:
        """A short name, for a report."""

    @property
    @abstractmethod
    def files(self) -> frozenset[Path]:
        """The files that nothing else may write to; empty if the ledger is not in a file."""

    @abstractmethod
    def settled(self) -> "Store":
        """Return the store at the real name of the place, after checking that it can hold a ledger.

        Raises:
            LedgerUnavailable: if no ledger can be kept there.
        """

    @abstractmethod
    def exists(self) -> bool:
        """Return whether something is kept there already."""

    @abstractmethod
    def read(self, work: Callable[[Tables], T], *, consequence: str) -> T:
        """Return the result of `work` on one snapshot.

        Args:
            work: receives the tables inside the transaction; may run only once.
            consequence: what a failure means for the caller; ends with a full stop.

        Raises:
            LedgerUnavailable: if the store cannot be reached, or stays locked.
            LedgerCorrupt: if the place does not hold a ledger, or a damaged one.
        """

    @abstractmethod
    def write(self, work: Callable[[Tables], T], *, consequence: str, create: bool = False) -> T:
        """Run `work` alone, make its changes durable, and return its result.

        An error in `work` leaves everything unchanged.

        Args:
            work: receives the tables inside the transaction; may run only once.
            consequence: what a failure means for the caller; ends with a full stop.
            create: whether the place may be empty.

        Raises:
            LedgerUnavailable: if the store cannot be reached or written, or stays locked.
            LedgerCorrupt: if the place does not hold a ledger, or a damaged one.
        """

    @abstractmethod
    def turn(self, entry: str) -> AbstractContextManager[None]:
        """Wait for the lock of this entry, and hold it during the block.

        Raises:
            InvalidParameter: if this thread already has the lock of an entry.
            LedgerUnavailable: if the lock cannot be taken.
        """
