"""What a ledger is made of, wherever it is kept."""

from collections.abc import Iterable, Iterator, Sequence, Set
from typing import Any, Final

from neyman.ledger._meta import Meta
from neyman.ledger._store import Tables

__all__ = ["VERSION", "create", "differing", "relations"]

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


def differing(made: Set[tuple[str, str, str]], found: Iterable[tuple[Any, ...]]) -> Iterator[str]:
    """Compare what was made with what is found, each as its kind, its name and what it says."""
    present = set(found)
    altered = {part[:2] for part in made - present}
    for kind, name in sorted(altered, key=_place):
        yield f"{kind} {name} is missing or altered; it keeps the ledger append-only"
    for kind, name, _ in sorted(present - made, key=_place):
        if (kind, name) not in altered:
            yield f"{kind} {name!r} is no part of a ledger; it may change its rows, or hide them"


def _place(part: Sequence[Any]) -> tuple[bool, str]:
    # What the rest hangs on, or acts by, is named first.
    return part[0] not in {"table", "trigger", "rule", "policy"}, str(part)
