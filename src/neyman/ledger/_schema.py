"""What a ledger's file is made of, and how it is recognised."""

import secrets
import sqlite3
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Final

from neyman.accounting import Filter, filter_from
from neyman.errors import InvalidParameter, LedgerCorrupt, LedgerUnavailable

__all__ = ["OBJECTS", "Meta", "create", "new_meta", "read_fraction", "read_meta", "recognise"]

# "nymn", in the place of SQLite's header that tells programs' files apart.
_APPLICATION: Final = 0x6E796D6E
_VERSION: Final = 1


def _append_only(table: str, change: str) -> str:
    return (
        f"CREATE TRIGGER {table}_{change.lower()} BEFORE {change} ON {table} "
        "BEGIN SELECT RAISE(ABORT, 'a ledger is append-only'); END"
    )


OBJECTS: Final = {
    "meta": (
        "CREATE TABLE meta (id INTEGER PRIMARY KEY CHECK (id = 1), ledger TEXT NOT NULL, "
        "cap TEXT NOT NULL, account TEXT NOT NULL, capacity TEXT NOT NULL, unit TEXT NOT NULL, "
        "neighbors TEXT NOT NULL, created TEXT NOT NULL, "
        "secret BLOB NOT NULL CHECK (length(secret) = 32))"
    ),
    "events": (
        "CREATE TABLE events (seq INTEGER PRIMARY KEY AUTOINCREMENT, entry TEXT NOT NULL, "
        "kind TEXT NOT NULL CHECK (kind IN ('reserve', 'redraw', 'commit')), "
        "cost TEXT CHECK ((cost IS NULL) = (kind <> 'reserve')), "
        "payload TEXT NOT NULL, at TEXT NOT NULL)"
    ),
    "events_once": "CREATE UNIQUE INDEX events_once ON events (entry, kind)",
    "events_cost": "CREATE INDEX events_cost ON events (cost) WHERE kind = 'reserve'",
    # A replacing insert deletes without waking the delete trigger.
    "events_insert": (
        "CREATE TRIGGER events_insert BEFORE INSERT ON events WHEN EXISTS (SELECT 1 FROM events "
        "WHERE seq = NEW.seq OR (entry = NEW.entry AND kind = NEW.kind)) "
        "BEGIN SELECT RAISE(ABORT, 'a ledger is append-only'); END"
    ),
    "events_order": (
        "CREATE TRIGGER events_order BEFORE INSERT ON events WHEN NEW.kind <> 'reserve' AND NOT "
        "EXISTS (SELECT 1 FROM events WHERE entry = NEW.entry AND kind = 'reserve') "
        "BEGIN SELECT RAISE(ABORT, 'an entry begins with its reserve'); END"
    ),
    "events_update": _append_only("events", "UPDATE"),
    "events_delete": _append_only("events", "DELETE"),
    "meta_insert": (
        "CREATE TRIGGER meta_insert BEFORE INSERT ON meta WHEN EXISTS (SELECT 1 FROM meta) "
        "BEGIN SELECT RAISE(ABORT, 'a ledger is append-only'); END"
    ),
    "meta_update": _append_only("meta", "UPDATE"),
    "meta_delete": _append_only("meta", "DELETE"),
}


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

    def filter(self) -> Filter:
        """Return the filter with the capacity that was fixed at opening.

        Raises:
            LedgerCorrupt: if the row does not hold one.
        """
        capacity = read_fraction(self.capacity)
        try:
            return filter_from(self.account, capacity)
        except InvalidParameter:
            pass
        raise LedgerCorrupt(
            f"the ledger's account {self.account!r} with capacity {self.capacity!r} is none that "
            "a ledger writes; restore the file from a backup"
        )


def read_fraction(text: object) -> Fraction:
    """Return the fraction that a ledger wrote.

    Raises:
        LedgerCorrupt: if the text is not one.
    """
    try:
        value = Fraction(str(text))
        if str(value) == text:
            return value
    except (ValueError, ZeroDivisionError):
        pass
    raise LedgerCorrupt(
        "an amount in the ledger is no fraction that a ledger writes; restore the file from a "
        "backup; `neyman ledger check` names the entry"
    )


def recognise(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a SQLite file that another program, or a newer release, wrote.

    Raises:
        LedgerCorrupt: if it is another program's.
        LedgerUnavailable: if its format is newer than this release.
    """
    # One snapshot: another process may be creating the ledger meanwhile.
    connection.execute("BEGIN")
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    objects = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    connection.execute("COMMIT")
    if application != _APPLICATION and (application or version or objects):
        raise LedgerCorrupt(
            f"{str(path)!r} is a SQLite file, but no ledger; write another path for the ledger"
        )
    if version > _VERSION:
        raise LedgerUnavailable(
            f"the ledger {str(path)!r} has format {version}, and this release reads formats up to "
            f"{_VERSION}; upgrade neyman"
        )


def create(connection: sqlite3.Connection, meta: Meta) -> None:
    """Make the tables and write the row, inside the caller's transaction."""
    connection.execute(f"PRAGMA application_id = {_APPLICATION}")
    connection.execute(f"PRAGMA user_version = {_VERSION}")
    for statement in OBJECTS.values():
        connection.execute(statement)
    connection.execute(
        "INSERT INTO meta VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
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


def read_meta(connection: sqlite3.Connection) -> Meta | None:
    """Return the row, or None from a file that nothing was written to.

    Raises:
        LedgerCorrupt: if the table is there without its row.
    """
    if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone():
        return None
    row = connection.execute(
        "SELECT ledger, cap, account, capacity, unit, neighbors, created, secret FROM meta"
    ).fetchone()
    if row is None or {type(cell) for cell in row[:-1]} != {str} or type(row[-1]) is not bytes:
        raise LedgerCorrupt(
            "the ledger has lost the row that was fixed at its opening; restore it from a backup"
        )
    names = ("ledger", "cap", "account", "capacity", "unit", "neighbors", "created", "secret")
    return Meta(**dict(zip(names, row, strict=True)))


def new_meta(cap: str, spending: Filter, unit: str, neighbors: str, created: str) -> Meta:
    """Return a new ledger's row, with its own random secret."""
    return Meta(
        ledger=secrets.token_hex(16),
        cap=cap,
        account=spending.account,
        capacity=str(spending.capacity),
        unit=unit,
        neighbors=neighbors,
        created=created,
        secret=secrets.token_bytes(32),
    )
