"""What a ledger is made of."""

import sqlite3
from typing import Final

from neyman.ledger._meta import Meta

__all__ = ["APPLICATION", "OBJECTS", "VERSION", "create"]

# "nymn", in the place of SQLite's header that tells programs' files apart.
APPLICATION: Final = 0x6E796D6E
VERSION: Final = 2


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
        "CREATE TABLE events (seq INTEGER PRIMARY KEY AUTOINCREMENT, "
        "event TEXT NOT NULL CHECK (length(event) = 32), entry TEXT NOT NULL, "
        "kind TEXT NOT NULL CHECK (kind IN ('reserve', 'redraw', 'commit')), "
        "cost TEXT CHECK ((cost IS NULL) = (kind <> 'reserve')), "
        "payload TEXT NOT NULL, at TEXT NOT NULL, "
        "digest TEXT NOT NULL CHECK (length(digest) = 64))"
    ),
    "events_event": "CREATE UNIQUE INDEX events_event ON events (event)",
    "events_once": "CREATE UNIQUE INDEX events_once ON events (entry, kind)",
    "events_cost": "CREATE INDEX events_cost ON events (cost) WHERE kind = 'reserve'",
    # A replacing insert deletes without waking the delete trigger.
    "events_insert": (
        "CREATE TRIGGER events_insert BEFORE INSERT ON events WHEN EXISTS (SELECT 1 FROM events "
        "WHERE seq = NEW.seq OR event = NEW.event OR (entry = NEW.entry AND kind = NEW.kind)) "
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


def create(connection: sqlite3.Connection, meta: Meta) -> None:
    """Make the tables and write the row, inside the caller's transaction."""
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute(f"PRAGMA user_version = {VERSION}")
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
