"""The parts of a ledger in any store: its tables, and its opening row."""

import secrets
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, Final

from neyman.accounting import Amount, Budget, filter_from
from neyman.errors import InvalidParameter, LedgerCorrupt
from neyman.ledger._store import Tables
from neyman.numerics import rational

__all__ = [
    "SAME_TABLES",
    "VERSION",
    "Meta",
    "create",
    "differing",
    "new_meta",
    "read_amount",
    "read_meta",
    "relations",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Meta:
    """The opening row, as text; `secret` keys the fingerprints."""

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
            LedgerCorrupt: if the row does not have them.
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
    """Return the amount in a text: a fraction, and a delta after a comma.

    Raises:
        LedgerCorrupt: if a ledger would not have written the text.
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
    """Return the opening row, or None if nothing was written yet.

    Raises:
        LedgerCorrupt: if the table exists without its row.
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


# 3: an amount may have a second part, delta. 4: entries may be allowances and steps taken from
# them, and a cost may charge a tail of its curve to delta. The tables are those of 3, so a ledger
# of format 3 keeps it until it holds something that format 3 does not know.
VERSION: Final = 4
SAME_TABLES: Final = 3


def relations(*, number: str, blob: str) -> dict[str, str]:
    """Return the statements that create tables and indexes, by the names of what they create.

    Args:
        number: the SQL type of a row number in this store.
        blob: the SQL type of bytes.
    """
    return {
        "meta": (
            "CREATE TABLE meta (id INTEGER PRIMARY KEY CHECK (id = 1), ledger TEXT NOT NULL, "
            "cap TEXT NOT NULL, account TEXT NOT NULL, capacity TEXT NOT NULL, unit TEXT NOT NULL, "
            "neighbors TEXT NOT NULL, created TEXT NOT NULL, "
            f"secret {blob} NOT NULL CHECK (length(secret) = 32))"
        ),
        "events": (
            f"CREATE TABLE events (seq {number}, "
            "event TEXT NOT NULL CHECK (length(event) = 32), entry TEXT NOT NULL, "
            "kind TEXT NOT NULL CHECK (kind IN ('reserve', 'redraw', 'commit')), "
            "cost TEXT CHECK ((cost IS NULL) = (kind <> 'reserve')), "
            "payload TEXT NOT NULL, at TEXT NOT NULL, "
            "digest TEXT NOT NULL CHECK (length(digest) = 64))"
        ),
        "events_event": "CREATE UNIQUE INDEX events_event ON events (event)",
        "events_once": "CREATE UNIQUE INDEX events_once ON events (entry, kind)",
        "events_cost": "CREATE INDEX events_cost ON events (cost) WHERE kind = 'reserve'",
    }


def create(tables: Tables, meta: Meta) -> None:
    """Create the tables and write the opening row, inside the caller's transaction."""
    tables.make()
    tables.insert(
        "meta",
        (
            1,
            meta.ledger,
            meta.cap,
            meta.account,
            meta.capacity,
            meta.unit,
            meta.neighbors,
            meta.created,
            meta.secret,
        ),
    )


def differing(made: Set[tuple[str, str, str]], found: Iterable[tuple[Any, ...]]) -> Iterator[str]:
    """Yield the differences between created and present objects.

    Args:
        made: the created objects, each as kind, name and definition.
        found: the present objects, likewise.
    """
    present = set(found)
    altered = {part[:2] for part in made - present}
    for kind, name in sorted(altered, key=_place):
        yield f"{kind} {name} is missing or altered; it keeps the ledger append-only"
    for kind, name, _ in sorted(present - made, key=_place):
        if (kind, name) not in altered:
            yield f"{kind} {name!r} is no part of a ledger; it may change its rows, or hide them"


def _place(part: Sequence[Any]) -> tuple[bool, str]:
    # Objects that others depend on, or that act on others, come first.
    return part[0] not in {"table", "trigger", "rule", "policy"}, str(part)
