"""Which store a place stands for."""

import os
from pathlib import Path

from neyman.ledger._paths import plain_path
from neyman.ledger._postgres import PostgresStore
from neyman.ledger._postgres_url import is_url
from neyman.ledger._sqlite import SQLiteStore
from neyman.ledger._store import Store

__all__ = ["store_of"]


def store_of(place: str | os.PathLike[str] | Store, folder: Path | None = None) -> Store:
    """Return the store at a place; nothing is looked up yet.

    Args:
        place: path of a file on a local disk; or the URL of a PostgreSQL server,
            "postgresql://user@host/database", with "?ledger=name" where it is not the only one;
            or a store, which is returned.
        folder: what a relative path starts from; None for the process's own.

    Raises:
        InvalidParameter: if it is none of these. No part of a URL is shown.
    """
    if isinstance(place, Store):
        return place
    if isinstance(place, str) and is_url(place):
        return PostgresStore.at(place)
    path = plain_path(place)
    return SQLiteStore(path if folder is None else folder / path)
