"""Transactions on one known ledger: what lies at its place must still be that ledger."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeVar, final

from neyman.errors import LedgerMismatch
from neyman.ledger._opening import known
from neyman.ledger._schema import Meta
from neyman.ledger._store import Store, Tables
from neyman.ledger._trust import trusted

__all__ = ["UNCHANGED", "Access"]

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
