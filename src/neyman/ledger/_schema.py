"""What a ledger is made of, wherever it is kept."""

from typing import Final

from neyman.ledger._meta import Meta
from neyman.ledger._store import Tables

__all__ = ["VERSION", "create", "relations"]

# 3: an amount may have a second part, of delta.
VERSION: Final = 3


def relations(*, number: str, blob: str) -> dict[str, str]:
    """Return the statements that make tables and indexes, by the names of what they make.

    Args:
        number: type of a row's number, in the store's words.
        blob: type of bytes.
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
    """Make the tables and write the row, inside the caller's transaction."""
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
