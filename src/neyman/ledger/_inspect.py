"""A check of what lies at a place, be it sound enough to be opened or not."""

from functools import partial

from neyman.ledger._check import findings
from neyman.ledger._opening import known
from neyman.ledger._records import check_digest
from neyman.ledger._store import Store

__all__ = ["inspect"]


def inspect(store: Store, head: str | None = None) -> tuple[str, ...]:
    """Return everything that is wrong with the ledger in a store; empty when nothing is.

    A ledger whose tables were altered is not opened; this says all that was found.

    Args:
        store: from `store_of(place).settled()`.
        head: what `head()` gave once; without it a shortened or rewritten chain is not found.

    Raises:
        InvalidParameter: if the head is no digest.
        LedgerUnavailable, LedgerCorrupt: if there is no ledger, or no opening row to go by.
    """
    if head is not None:
        check_digest(head)
    return store.read(
        lambda tables: findings(tables, partial(known, tables), head),
        consequence="Nothing was changed.",
    )
