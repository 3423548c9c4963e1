"""Transactions on one known ledger: what lies at its place must still be that ledger."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeVar, final

from neyman.errors import LedgerMismatch
from neyman.ledger._check import findings
from neyman.ledger._opening import known
from neyman.ledger._records import check_digest
from neyman.ledger._schema import Meta
from neyman.ledger._store import Store, Tables
from neyman.ledger._trust import trusted

__all__ = ["UNCHANGED", "Access", "inspect"]

T = TypeVar("T")

UNCHANGED: Final = "Nothing was changed."


@final
@dataclass(frozen=True, slots=True)
class Access:
    """A place and the identity of the ledger that was opened there.

    Attributes:
        store: where it is kept.
        identity: its random number, fixed at opening.
    """

    store: Store
    identity: str

    def read(self, view: Callable[[Tables, Meta], T]) -> T:
        """Return what `view` finds in one snapshot."""
        return self.store.read(self._trusting(view, UNCHANGED), consequence=UNCHANGED)

    def write(self, work: Callable[[Tables, Meta], T], consequence: str) -> T:
        """Run `work` alone, and make durable what it wrote."""
        return self.store.write(self._trusting(work, consequence), consequence=consequence)

    def known(self, tables: Tables) -> Meta:
        """Return what was fixed at opening.

        Raises:
            LedgerMismatch: if another ledger lies there now.
        """
        meta = known(tables)
        if meta.ledger != self.identity:
            raise LedgerMismatch(
                f"{str(self.store)!r} was replaced by another ledger since it was opened; "
                "open it again, or restore what was there"
            )
        return meta

    def _trusting(
        self, work: Callable[[Tables, Meta], T], consequence: str
    ) -> Callable[[Tables], T]:
        return trusted(lambda tables: work(tables, self.known(tables)), consequence)


def inspect(
    store: Store, head: str | None = None, opening: Callable[[Tables], Meta] = known
) -> tuple[str, ...]:
    """Return everything that is wrong with the ledger in a store; empty when nothing is.

    A ledger whose tables were altered is not opened; this says all that was found.

    Args:
        store: from `store_of(place).settled()`.
        head: what `head()` gave once; without it a shortened or rewritten chain is not found.
        opening: reads the opening row.

    Raises:
        InvalidParameter: if the head is no digest.
        LedgerUnavailable, LedgerCorrupt: if there is no ledger, or no opening row to go by.
    """
    if head is not None:
        check_digest(head)
    return store.read(
        lambda tables: findings(tables, lambda: opening(tables), head), consequence=UNCHANGED
    )
