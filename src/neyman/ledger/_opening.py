"""Compare what is stored at a place with what the caller expects there."""

import os
from contextlib import suppress
from pathlib import Path

from neyman.arguments import brief
from neyman.errors import InvalidParameter, LedgerMismatch, RelationMismatch
from neyman.ledger._events import Events
from neyman.ledger._merge import Copy
from neyman.ledger._paths import plain_path
from neyman.ledger._postgres import PostgresStore
from neyman.ledger._postgres_url import is_url
from neyman.ledger._records import garbled
from neyman.ledger._schema import Meta, create, read_meta
from neyman.ledger._sqlite import SQLiteStore
from neyman.ledger._store import Store, Tables
from neyman.sensitivity import Neighbors, check_neighbors

__all__ = [
    "found_or_created",
    "known",
    "planted",
    "relation_of",
    "require_relation",
    "require_same",
    "store_of",
]


def store_of(place: str | os.PathLike[str] | Store, folder: Path | None = None) -> Store:
    """Return the store at a place, without looking whether it exists.

    Args:
        place: path of a file on a local disk; or the URL of a PostgreSQL server,
            "postgresql://user@host/database", with "?ledger=name" if it holds several ledgers; or a
            store, which is returned.
        folder: the folder of a relative path; None for the process's own.

    Raises:
        InvalidParameter: if it is none of these. The message shows no part of a URL.
    """
    if isinstance(place, Store):
        return place
    if isinstance(place, str) and is_url(place):
        return PostgresStore.at(place)
    path = plain_path(place)
    return SQLiteStore(path if folder is None else folder / path)


def found_or_created(tables: Tables, asked: Meta) -> Meta:
    """Return the opening row, which is created now if there is none."""
    meta = read_meta(tables)
    if meta is None:
        create(tables, asked)
    return meta or asked


def known(tables: Tables) -> Meta:
    """Return the opening row.

    Raises:
        LedgerCorrupt: if it is missing.
    """
    meta = read_meta(tables)
    if meta is None:
        raise garbled("opening row", "the ledger")
    return meta


def planted(tables: Tables, held: Copy, here: Store, source: Store) -> None:
    """Write a copy to an empty place.

    Raises:
        LedgerMismatch: if a ledger is there.
    """
    if read_meta(tables) is not None:
        raise LedgerMismatch(
            f"there is a ledger at {str(here)!r} already, and it was to become a copy of "
            f"{str(source)!r}; write a place where none is, or merge the two"
        )
    create(tables, held.meta)
    events = Events(tables, held.meta)
    for row in held.rows:
        events.add(*row)


def relation_of(meta: Meta) -> Neighbors:
    """Return the neighbouring relation.

    Raises:
        LedgerCorrupt: if the stored text is not one.
    """
    neighbors: Neighbors | None = None
    with suppress(InvalidParameter):
        neighbors = check_neighbors(meta.neighbors)
    if neighbors is None:
        raise garbled("neighbouring relation", "the ledger")
    return neighbors


def require_same(store: Store, name: str, found: object, asked: object) -> None:
    """Refuse to open a ledger with other parameters than it was created with.

    Raises:
        LedgerMismatch: if a parameter differs; the message names it.
    """
    if found != asked:
        held = brief(str(found))
        raise LedgerMismatch(
            f"the ledger {str(store)!r} was created with {name}={held}; got "
            f"{name}={brief(str(asked))}. Write what it was created with, or a path where no "
            "ledger is"
        )


def require_relation(found: dict[str, str], asked: dict[str, str]) -> None:
    """Refuse a question for another privacy unit or another neighbouring relation.

    Args:
        found: unit and neighbors of the ledger.
        asked: those of the question.

    Raises:
        RelationMismatch: if one differs.
    """
    if asked == found:
        return
    differ = [key for key in asked if asked[key] != found[key]]
    this, other = (", ".join(f"{key}={side[key]!r}" for key in differ) for side in (found, asked))
    raise RelationMismatch(
        f"this ledger protects unit={found['unit']!r} under {found['neighbors']!r}; the entry "
        f"protects unit={asked['unit']!r} under {asked['neighbors']!r}. "
        f"Write {this} if that is what your entry protects. For a new ledger, write "
        f"Ledger.open(..., {other})"
    )
