"""Which SQLite file is a ledger, of which format; how an older one is brought up to date."""

import sqlite3
from pathlib import Path
from typing import Final

from neyman.arguments import brief
from neyman.errors import LedgerCorrupt, LedgerUnavailable
from neyman.ledger._chain import genesis, inherited_event, link
from neyman.ledger._meta import read_meta
from neyman.ledger._schema import VERSION
from neyman.ledger._sqlite_tables import APPLICATION, OBJECTS, SQLiteTables

__all__ = ["recognise", "update"]

_FIRST: Final = 1


def recognise(connection: sqlite3.Connection, path: Path) -> bool:
    """Return whether the file is of an older format, to be brought up to date.

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
    if application != APPLICATION and (application or version or objects):
        raise LedgerCorrupt(
            f"{str(path)!r} is a SQLite file, but no ledger; write another path for the ledger"
        )
    if version > VERSION:
        raise LedgerUnavailable(
            f"the ledger {str(path)!r} has format {version}, and this release reads formats up to "
            f"{VERSION}; upgrade neyman"
        )
    return bool(version) and version < VERSION


def update(connection: sqlite3.Connection) -> None:
    """Bring an older file to this release's format, in one transaction of its own.

    Format 1 had no chain. Its rows are copied as they are and chained as they were found: what was
    altered before cannot be told any more. Format 2 had no amounts of delta, and its rows and its
    chain stay as they are.

    Raises:
        LedgerCorrupt: if the row fixed at opening is lost.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Another process may have done it meanwhile.
        if _version(connection) == _FIRST:
            _chain_rows(connection)
        if _version(connection) < VERSION:
            connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _version(connection: sqlite3.Connection) -> int:
    return connection.execute("PRAGMA user_version").fetchone()[0]


def _chain_rows(connection: sqlite3.Connection) -> None:
    meta = read_meta(SQLiteTables(connection))
    if meta is None:
        raise LedgerCorrupt("the ledger has lost its tables; restore the file from a backup")
    for kind, name in sorted(SQLiteTables(connection).added()):
        raise LedgerCorrupt(
            f"the ledger of an older format cannot be brought up to date: {kind} {brief(name)!r} "
            "is no part of a ledger. The file was left as it was; take away what was added, or "
            "restore the file from a backup"
        )
    around = {name: sql for name, sql in OBJECTS.items() if not sql.startswith("CREATE TABLE")}
    for name, sql in around.items():
        kind = "TRIGGER" if sql.startswith("CREATE TRIGGER") else "INDEX"
        connection.execute(f"DROP {kind} IF EXISTS {name}")
    connection.execute("ALTER TABLE events RENAME TO events_first")
    connection.execute(OBJECTS["events"])
    digest = genesis(meta)
    rows = connection.execute(
        "SELECT seq, entry, kind, cost, payload, at FROM events_first ORDER BY seq"
    )
    for seq, *told in rows.fetchall():
        row = (seq, inherited_event(meta.ledger, (seq, *told)), *told)
        digest = link(digest, row)
        connection.execute("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?)", (*row, digest))
    connection.execute("DROP TABLE events_first")
    for sql in around.values():
        connection.execute(sql)
