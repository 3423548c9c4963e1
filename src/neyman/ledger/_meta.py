"""The one row that was fixed when a ledger was opened."""

import secrets
from dataclasses import dataclass, field

from neyman.accounting import Amount, Budget, filter_from
from neyman.errors import InvalidParameter, LedgerCorrupt
from neyman.ledger._store import Tables
from neyman.numerics import rational

__all__ = ["Meta", "new_meta", "read_amount", "read_meta"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Meta:
    """The one row that was fixed at opening, as text; `secret` keys the fingerprints."""

    ledger: str
    cap: str
    account: str
    capacity: str
    unit: str
    neighbors: str
    created: str
    secret: bytes = field(repr=False)

    def budget(self) -> Budget:
        """Return the filter with the capacity that was fixed at opening, and the delta set aside.

        Raises:
            LedgerCorrupt: if the row does not hold one.
        """
        capacity = read_amount(self.capacity)
        try:
            return Budget(filter_from(self.account, capacity.cost), capacity.delta)
        except InvalidParameter:
            pass
        raise LedgerCorrupt(
            f"the ledger's account {self.account!r} with capacity {self.capacity!r} is none that "
            "a ledger writes; restore it from a backup"
        )


def read_amount(text: object) -> Amount:
    """Return the amount that a ledger wrote: a fraction, and one of delta after a comma.

    Raises:
        LedgerCorrupt: if the text is none.
    """
    cost, delta = (rational(part or "0") for part in str(text).partition(", ")[::2])
    if cost is not None and delta is not None:
        value = Amount(cost, delta)
        if str(value) == text:
            return value
    raise LedgerCorrupt(
        "an amount in the ledger is no fraction that a ledger writes; restore the file from a "
        "backup; `neyman ledger check` names the entry"
    )


def read_meta(tables: Tables) -> Meta | None:
    """Return the row, or None where nothing was written yet.

    Raises:
        LedgerCorrupt: if the table is there without its row.
    """
    if not tables.made:
        return None
    rows = tables.select(
        "SELECT ledger, cap, account, capacity, unit, neighbors, created, secret FROM meta"
    )
    row = next(rows, None)
    if row is None or {type(cell) for cell in row[:-1]} != {str} or type(row[-1]) is not bytes:
        raise LedgerCorrupt(
            "the ledger has lost the row that was fixed at its opening; restore it from a backup"
        )
    names = ("ledger", "cap", "account", "capacity", "unit", "neighbors", "created", "secret")
    return Meta(**dict(zip(names, row, strict=True)))


def new_meta(cap: str, spending: Budget, unit: str, neighbors: str, created: str) -> Meta:
    """Return a new ledger's row, with its own random secret."""
    return Meta(
        ledger=secrets.token_hex(16),
        cap=cap,
        account=spending.filter.account,
        capacity=str(spending.capacity),
        unit=unit,
        neighbors=neighbors,
        created=created,
        secret=secrets.token_bytes(32),
    )
