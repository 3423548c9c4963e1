"""Transactions on one known ledger, which check that the place still holds that ledger."""

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
    """A place, and the identity of the ledger that was opened there.

    Attributes:
        store: where it is kept.
        identity: its random number, fixed when it was created.
    """

    store: Store
    identity: str

    def read(self, view: Callable[[Tables, Meta], T]) -> T:
        """Return the result of `view` on one snapshot."""
        return self.store.read(self._trusting(view, UNCHANGED), consequence=UNCHANGED)

    def write(self, work: Callable[[Tables, Meta], T], consequence: str) -> T:
        """Run `work` alone, and make its changes durable."""
        return self.store.write(self._trusting(work, consequence), consequence=consequence)

    def known(self, tables: Tables) -> Meta:
        """Return the opening row.

        Raises:
            LedgerMismatch: if the place holds another ledger now.
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
    """Return everything that is wrong with the ledger in a store; empty if nothing is.

    A ledger with altered tables cannot be opened; this function still returns all findings.

    Args:
        store: from `store_of(place).settled()`.
        head: an earlier result of `head()`; without it a shortened or rewritten chain is not found.
        opening: a function that reads the opening row.

    Raises:
        InvalidParameter: if the head is not a digest.
        LedgerUnavailable, LedgerCorrupt: if there is no ledger, or no opening row.
    """
    if head is not None:
        check_digest(head)
    return store.read(
        lambda tables: findings(tables, lambda: opening(tables), head), consequence=UNCHANGED
    )
