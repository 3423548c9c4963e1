"""What a ledger tells, each answer from one snapshot, and its handle on the store."""

from abc import ABC
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Final, TypeVar

from neyman.accounting import Amount, Budget, filter_from
from neyman.curves import TradeOff
from neyman.displayed import Displayed
from neyman.errors import LedgerMismatch
from neyman.ledger._check import findings
from neyman.ledger._events import Events
from neyman.ledger._export import ledger_record
from neyman.ledger._meta import Meta
from neyman.ledger._opening import known
from neyman.ledger._records import Entry, check_digest
from neyman.ledger._store import Store, Tables
from neyman.ledger._trust import trusted
from neyman.sensitivity import Neighbors

__all__ = ["UNCHANGED", "Views"]

T = TypeVar("T")

UNCHANGED: Final = "Nothing was changed."


@dataclass(frozen=True, slots=True)
class Views(Displayed, ABC):
    """A handle on one ledger, and all that may be asked of it without a charge."""

    store: Store
    cap: TradeOff
    unit: str
    neighbors: Neighbors
    account: str = field(repr=False)
    capacity: Fraction = field(repr=False)
    delta_for_groups: Fraction = field(repr=False)
    _identity: str = field(repr=False)

    @property
    def _budget(self) -> Budget:
        return Budget(filter_from(self.account, self.capacity), self.delta_for_groups)

    def entries(self) -> tuple[Entry, ...]:
        """Return all entries, in the order in which they were reserved."""
        return self._read(lambda tables, meta: Events(tables, meta).entries())

    def spent(self) -> Fraction:
        """Return the exact sum of all charges, in the unit of the account."""
        return self._spent().cost

    def spent_delta(self) -> Fraction:
        """Return the exact sum of what was charged of the delta that was set aside."""
        return self._spent().delta

    def left(self) -> Amount:
        """Return what may still be charged to both accounts, as they stand at one moment."""
        return self._budget.capacity - self._spent()

    def remaining(self) -> Fraction:
        """Return what may still be charged, in the unit of the account."""
        return self.left().cost

    def remaining_delta(self) -> Fraction:
        """Return what may still be charged of the delta that was set aside."""
        return self.left().delta

    def _spent(self) -> Amount:
        return self._read(lambda tables, meta: Events(tables, meta).spent())

    def total(self) -> TradeOff:
        """Return the guarantee of everything charged so far, revealed or not."""
        return self._read(
            lambda tables, meta: meta.budget().spent_curve(Events(tables, meta).spent())
        )

    def export(self) -> dict[str, object]:
        """Return everything that the ledger holds, JSON-able, with the rows of its chain.

        Answers are in it, and are public; the secret that keys the datasets' fingerprints is not.
        """
        return self._read(ledger_record)

    def head(self) -> str:
        """Return the digest of the last row, which covers all that was ever charged and stored.

        Note it elsewhere: `check(head)` then finds rows cut off the end, and a chain written anew.
        """
        return self._read(lambda tables, meta: Events(tables, meta).head())

    def check(self, head: str | None = None) -> tuple[str, ...]:
        """Return everything that is wrong with the ledger; empty when nothing is.

        Args:
            head: what `head()` gave once; without it a shortened or rewritten chain is not found.

        Raises:
            InvalidParameter: if the head is no digest.
        """
        if head is not None:
            check_digest(head)
        return self.store.read(
            lambda tables: findings(tables, partial(self._known, tables), head),
            consequence=UNCHANGED,
        )

    def _read(self, view: Callable[[Tables, Meta], T]) -> T:
        return self.store.read(self._trusting(view, UNCHANGED), consequence=UNCHANGED)

    def _write(self, work: Callable[[Tables, Meta], T], consequence: str) -> T:
        return self.store.write(self._trusting(work, consequence), consequence=consequence)

    def _trusting(
        self, work: Callable[[Tables, Meta], T], consequence: str
    ) -> Callable[[Tables], T]:
        return trusted(lambda tables: work(tables, self._known(tables)), consequence)

    def _known(self, tables: Tables) -> Meta:
        meta = known(tables)
        if meta.ledger != self._identity:
            raise LedgerMismatch(
                f"{str(self.store)!r} was replaced by another ledger since it was opened; "
                "open it again, or restore what was there"
            )
        return meta
