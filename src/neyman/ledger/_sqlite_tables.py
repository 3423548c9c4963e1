"""A ledger's tables in an SQLite file, and the update of an older file."""

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, final

from neyman.arguments import brief
from neyman.errors import LedgerCorrupt, LedgerUnavailable
from neyman.ledger._chain import genesis, inherited_event, link
from neyman.ledger._schema import SAME_TABLES, VERSION, differing, read_meta, relations
from neyman.ledger._store import Table, Tables
from neyman.overriding import override

__all__ = ["OBJECTS", "SQLiteTables", "recognise", "update"]

# "nymn", in the field of SQLite's header that identifies the program.
_APPLICATION: Final = 0x6E796D6E


def _append_only(table: str, change: str) -> str:
    return (
        f"CREATE TRIGGER {table}_{change.lower()} BEFORE {change} ON {table} "
        "BEGIN SELECT RAISE(ABORT, 'a ledger is append-only'); END"
    )


OBJECTS: Final = {
    **relations(number="INTEGER PRIMARY KEY AUTOINCREMENT", blob="BLOB"),
    # A replacing insert deletes without firing the delete trigger.
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

# "CREATE TRIGGER name ..." -> ("trigger", "name", all of it).
_MADE: Final = frozenset(
    (sql.replace("CREATE UNIQUE", "CREATE").split()[1].lower(), name, sql)
    for name, sql in OBJECTS.items()
)


@final
@dataclass(frozen=True, slots=True)
class SQLiteTables(Tables):
    """The tables in a connection to the file, inside the caller's transaction."""

    connection: sqlite3.Connection

    @property
    @override
    def made(self) -> bool:
        query = "SELECT 1 FROM sqlite_master WHERE name = 'meta'"
        return self.connection.execute(query).fetchone() is not None

    @override
    def make(self) -> None:
        self.connection.execute(f"PRAGMA application_id = {_APPLICATION}")
        self.connection.execute(f"PRAGMA user_version = {VERSION}")
        for statement in OBJECTS.values():
            self.connection.execute(statement)

    @property
    @override
    def renewed(self) -> bool:
        return _version(self.connection) >= VERSION

    @override
    def renew(self) -> None:
        if not self.renewed:
            self.connection.execute(f"PRAGMA user_version = {VERSION}")

    @override
    def select(self, query: str, *values: object) -> Iterator[tuple[Any, ...]]:
        return self.connection.execute(query, values)

    @override
    def _insert(self, table: Table, row: Sequence[object]) -> None:
        marks = ", ".join("?" * len(row))
        self.connection.execute(f"INSERT INTO {table} VALUES ({marks})", row)

    @override
    def altered(self) -> Iterator[str]:
        yield from differing(_MADE, self._present())

    def added(self) -> set[tuple[str, str]]:
        """Return kind and name of added objects, for tables of this or an older format."""
        return {part[:2] for part in self._present()} - {part[:2] for part in _MADE}

    def _present(self) -> Iterator[tuple[str, str, str]]:
        return self.connection.execute(
            "SELECT type, name, sql FROM sqlite_master "
            # SQLite's own: the indexes of keys, the last number, what ANALYZE counted.
            "WHERE NOT (name GLOB 'sqlite_*' AND type IN ('table', 'index'))"
        )

    @override
    def damaged(self) -> Iterator[str]:
        for (message,) in self.connection.execute("PRAGMA integrity_check"):
            if message != "ok":
                yield f"SQLite's integrity check: {message}"

    @override
    def collected(self, part: Iterator[str]) -> list[str]:
        found: list[str] = []
        try:
            found.extend(part)
        except sqlite3.DatabaseError as error:
            found.append(f"a page cannot be read (SQLite result {error.sqlite_errorcode})")
        return found


_FIRST: Final = 1


def recognise(connection: sqlite3.Connection, path: Path) -> bool:
    """Return whether the file's tables have an older format and must be updated.

    Raises:
        LedgerCorrupt: if another program wrote the file.
        LedgerUnavailable: if its format is newer than this version of neyman.
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
    if version > VERSION:
        raise LedgerUnavailable(
            f"the ledger {str(path)!r} has format {version}, and this release reads formats up to "
            f"{VERSION}; upgrade neyman"
        )
    return bool(version) and version < SAME_TABLES


def update(connection: sqlite3.Connection) -> None:
    """Update an older file to format 3, in its own transaction.

    Format 1 had no chain. Its rows are copied and chained as they are: earlier changes can no
    longer be detected. Format 2 had no amounts of delta; its rows and its chain do not change.
    `SQLiteTables.renew` marks a file as format 4.

    Raises:
        LedgerCorrupt: if the opening row is missing.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Another process may have updated it meanwhile.
        if _version(connection) == _FIRST:
            _chain_rows(connection)
        if _version(connection) < SAME_TABLES:
            connection.execute(f"PRAGMA user_version = {SAME_TABLES}")
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
