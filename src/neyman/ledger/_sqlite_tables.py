"""A ledger's tables in a SQLite file."""

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, final

from neyman.ledger._schema import VERSION, differing, relations
from neyman.ledger._store import Table, Tables
from neyman.overriding import override

__all__ = ["APPLICATION", "OBJECTS", "SQLiteTables"]

# "nymn", in the place of SQLite's header that tells programs' files apart.
APPLICATION: Final = 0x6E796D6E


def _append_only(table: str, change: str) -> str:
    return (
        f"CREATE TRIGGER {table}_{change.lower()} BEFORE {change} ON {table} "
        "BEGIN SELECT RAISE(ABORT, 'a ledger is append-only'); END"
    )


OBJECTS: Final = {
    **relations(number="INTEGER PRIMARY KEY AUTOINCREMENT", blob="BLOB"),
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

# "CREATE TRIGGER name ..." -> ("trigger", "name", all of it).
_MADE: Final = frozenset(
    (sql.replace("CREATE UNIQUE", "CREATE").split()[1].lower(), name, sql)
    for name, sql in OBJECTS.items()
)


@final
@dataclass(frozen=True, slots=True)
class SQLiteTables(Tables):
    """The tables as a connection to the file sees them; the transaction is the caller's."""

    connection: sqlite3.Connection

    @property
    @override
    def made(self) -> bool:
        query = "SELECT 1 FROM sqlite_master WHERE name = 'meta'"
        return self.connection.execute(query).fetchone() is not None

    @override
    def make(self) -> None:
        self.connection.execute(f"PRAGMA application_id = {APPLICATION}")
        self.connection.execute(f"PRAGMA user_version = {VERSION}")
        for statement in OBJECTS.values():
            self.connection.execute(statement)

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
        """Return kind and name of all that was added, be the tables of this format or an older."""
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
