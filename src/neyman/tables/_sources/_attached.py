"""A table of a database that the user has opened."""

import os
from collections.abc import Container
from contextlib import closing, suppress
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TypeAlias, final

import duckdb

from neyman.errors import InvalidTable
from neyman.overriding import override
from neyman.tables import _sql as sql
from neyman.tables._engines._duckdb_source import Source, described, opened
from neyman.tables._schema import Schema
from neyman.tables._sql import Tree

__all__ = ["attached"]

_Place: TypeAlias = tuple[str, str, str]


@final
@dataclass(frozen=True, slots=True)
class AttachedTable(Source):
    """A table of the user's connection; its own cursor reads it.

    Attributes:
        connection: the user's connection; its settings and pending results do not change.
        place: database, schema and table.
        label: the path of the database file, or the user's name for one without a file.
    """

    connection: duckdb.DuckDBPyConnection = field(repr=False)
    place: _Place
    label: str = field(repr=False)

    @property
    @override
    def identity(self) -> str:
        return f"database:{self.label}:{'.'.join(self.place)}"

    @property
    @override
    def relation(self) -> Tree:
        return sql.relation(*self.place)

    @override
    def schema(self) -> Schema:
        return opened(
            self._schema,
            f"the table {'.'.join(self.place)}",
            "what its name says, and that no generated column of it calls a macro of the database, "
            "which could mix the rows of many units",
        )

    @property
    @override
    def host(self) -> duckdb.DuckDBPyConnection:
        return self.connection

    @property
    @override
    def files(self) -> tuple[str, ...]:
        return ()

    @property
    @override
    def is_file(self) -> bool:
        return False

    @override
    def at(self, place: int) -> "AttachedTable":  # noqa: ARG002
        return self

    @override
    def load(self, connection: duckdb.DuckDBPyConnection, columns: Container[str]) -> None:  # noqa: ARG002
        if self.place not in _catalog(connection).places:
            raise InvalidTable(f"{'.'.join(self.place)} is no table any more; open another")

    def check(self) -> None:
        """Do nothing: there is nothing to compare."""

    def _schema(self) -> Schema:
        with self.session(()) as cursor:
            return described(cursor, self.relation)


def attached(pair: tuple[object, ...], name: str | None) -> AttachedTable:
    """Return the source for a pair of connection and table.

    The name is that of a table in the database's main schema, "schema.table", or
    "database.schema.table". Temporary tables and registered frames belong to one connection, so
    they are not found.

    Raises:
        InvalidTable: if it is not an open connection or not a table, the database is in memory
            without a name, or it is not DuckDB's own.
    """
    connection, place, found = _found(pair)
    if place[0] not in found.own:
        raise InvalidTable(
            f"the database {place[0]!r} is not DuckDB's own, and reading it can fail on some rows; "
            "copy the table to one of DuckDB, as by CREATE TABLE copied AS FROM "
            f"{'.'.join(place)}"
        )
    path = found.paths.get(place[0])
    if (path is None) == (name is None):
        raise InvalidTable(
            f"the database {place[0]!r} is in memory and has the same name in every process; "
            "write name=..., which stands for these data in the ledger"
            if path is None
            else f"a database file names its tables; leave name out (got name={name!r})"
        )
    label = f"memory:{name}" if path is None else os.path.realpath(path)
    return AttachedTable(connection, place, label)


def attached_public(pair: tuple[object, ...]) -> AttachedTable:
    """Return the source for a public table, which is in no ledger.

    Raises:
        InvalidTable: if it is not an open connection or not a table.
    """
    connection, place, _ = _found(pair)
    return AttachedTable(connection, place, "public")


def _found(
    pair: tuple[object, ...],
) -> "tuple[duckdb.DuckDBPyConnection, _Place, _Catalog]":
    """Return the connection, the full name, and the catalog of the databases."""
    match pair:
        case (duckdb.DuckDBPyConnection() as connection, str(table)):
            pass
        case _:
            raise InvalidTable(
                f"a tuple of {', '.join(type(part).__name__ for part in pair)} is no table; "
                'write (connection, "table name"), with a connection of DuckDB or psycopg, or a '
                "SparkSession"
            )
    found: _Catalog | None = None
    with suppress(duckdb.Error), closing(connection.cursor()) as cursor:
        found = _catalog(cursor)
    if found is None:
        raise InvalidTable("the connection is closed or broken; open it before the table")
    place = found.place(table)
    return connection, place, found


@final
@dataclass(frozen=True, slots=True)
class _Catalog:
    """The tables and files of the databases; `own` are in DuckDB's own format."""

    here: tuple[str, str]
    places: frozenset[_Place]
    views: frozenset[_Place]
    paths: dict[str, str | None]
    own: frozenset[str]

    def place(self, table: str) -> _Place:
        """Return the full name of a table."""
        parts = table.split(".", 2)
        wanted = (*self.here[: 3 - len(parts)], *parts)
        for place in self.places:
            if place == wanted:
                return place
        if wanted in self.views:
            raise InvalidTable(
                f"{table!r} is a view, and a view can mix the rows of many units, or fail on some; "
                "name the table itself, or write the view's rows to a table of its own first"
            )
        close = get_close_matches(parts[-1], sorted({place[2] for place in self.places}))
        near = f" (there is {', '.join(map(repr, close))})" if close else ""
        raise InvalidTable(
            f"the database has no table {table!r}{near}; write its name, committed and not "
            "temporary: a temporary table or a registered frame is seen by its connection alone"
        )


def _catalog(cursor: duckdb.DuckDBPyConnection) -> _Catalog:
    here = cursor.execute("SELECT current_database(), current_schema()").fetchall()[0]
    found = cursor.execute(
        "SELECT table_catalog, table_schema, table_name, table_type FROM information_schema.tables "
        "WHERE table_type <> 'LOCAL TEMPORARY'"
    ).fetchall()
    places = frozenset((row[0], row[1], row[2]) for row in found if row[3] == "BASE TABLE")
    views = frozenset((row[0], row[1], row[2]) for row in found) - places
    databases = cursor.execute(
        "SELECT database_name, path, type FROM duckdb_databases()"
    ).fetchall()
    paths = {row[0]: row[1] for row in databases}
    own = frozenset(row[0] for row in databases if row[2] == "duckdb")
    return _Catalog((here[0], here[1]), places, views, paths, own)
