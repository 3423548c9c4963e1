"""A table of a PostgreSQL server, by the user's connection."""
# pyright: basic, reportMissingImports=false

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, final

from sqlglot import exp

from neyman.errors import InvalidTable
from neyman.tables import _instant as instant
from neyman.tables import _kind as kind
from neyman.tables import _sql as sql
from neyman.tables._engines._postgres_engine import Postgres, session
from neyman.tables._schema import Column, Schema
from neyman.tables._sql import Tree

__all__ = ["postgres_table"]


def _finite_double(value: Tree) -> Tree:
    """Return a NUMERIC as a double: NaN is NULL, and larger values are clamped to the doubles."""

    def numeric(text: str) -> Tree:
        return sql.cast(sql.text(text), "DECIMAL")

    none = exp.Or(
        this=exp.Is(this=value, expression=exp.null()),
        expression=exp.EQ(this=value.copy(), expression=numeric("NaN")),
    )
    small = exp.LT(this=exp.Abs(this=value.copy()), expression=numeric("1e-300"))
    inside = sql.clamped(numeric("-1e300"), value.copy(), numeric("1e300"))
    return exp.Case(
        ifs=[exp.If(this=none, true=exp.null()), exp.If(this=small, true=sql.double(0.0))],
        default=sql.cast(inside, "DOUBLE"),
    )


def _moment(value: Tree) -> Tree:
    """Return a timestamp without a zone, clamped first, because infinity has no parts."""
    low, high = (sql.cast(sql.text(day), "TIMESTAMP") for day in (instant.FIRST, instant.LAST))
    near = sql.clamped(low.copy(), value.copy(), high.copy())
    seconds = exp.Extract(this=exp.var("EPOCH"), expression=sql.cast(near, "TIME"))
    clock = sql.cast(exp.paren(seconds * sql.integer(10**6)), "BIGINT")
    day = instant.midnight(sql.cast(near.copy(), "DATE"))
    return instant.between(value, low, high, exp.Add(this=day, expression=clock))


def _moment_in_utc(value: Tree) -> Tree:
    return _moment(exp.Paren(this=exp.AtTimeZone(this=value, zone=sql.text("UTC"))))


_KINDS = {
    **dict.fromkeys(("text", "character varying", "character", "uuid", "enum"), kind.TEXT),
    **dict.fromkeys(("smallint", "integer", "bigint"), kind.INTEGER),
    "real": kind.NARROW_FLOAT,
    "double precision": kind.FLOAT,
    "numeric": kind.exact("DECIMAL", _finite_double),
    "boolean": kind.BOOLEAN,
    "date": kind.DATE,
    "timestamp without time zone": kind.timestamp(_moment),
    "timestamp with time zone": kind.timestamp(_moment_in_utc),
}
_SCHEMA = "public"
# The first that can be told to read a step anew each time.
_OLDEST = 12


@final
@dataclass(frozen=True, slots=True)
class _Found:
    """The server's data about a table and its neighbours."""

    release: int
    encoding: str | None
    server: str | None
    database: str
    kind: str | None
    columns: tuple[tuple[str, str], ...]
    others: tuple[str, ...]


def postgres_table(connection: Any, table: str, name: str | None) -> Postgres:
    """Return the engine for a table of the server behind a connection.

    The name is that of a table in the schema public, or "schema.table". Our own connections to the
    same server, as the same user, read it.

    Raises:
        InvalidTable: if the connection is closed or cannot be opened again, the server is older
            than release 12, or the database is not in UTF-8; if there is no such table, or it is a
            view; or if the server does not identify itself, and you gave no name.
    """
    *schema, last = table.split(".", 1)
    place = (schema[0] if schema else _SCHEMA, last)
    found: _Found | None = None
    access: Mapping[str, Any] = {}
    with suppress(Exception):
        info = connection.info
        access = {**info.get_parameters(), "password": info.password, "client_encoding": "UTF8"}
        with session(access) as own:
            found = _found(own, place)
    if found is None:
        raise InvalidTable(
            "the connection to PostgreSQL is closed, or cannot be opened once more with what it "
            "was opened with; open it before the table, with a password that serves again"
        )
    if found.release < _OLDEST:
        raise InvalidTable(
            f"PostgreSQL must be of release {_OLDEST} or later; the server is of release "
            f"{found.release}. Copy the table to a later one, or to a Parquet file"
        )
    if found.encoding != "UTF8":
        raise InvalidTable(
            f"the database {found.database!r} is in {found.encoding}, in which text has other "
            "bytes than elsewhere; copy the table to a database in UTF8"
        )
    _refuse_no_table(found, table)
    if (found.server is None) == (name is None):
        raise InvalidTable(
            "this user may not read the server's identity; write name=..., which stands for these "
            "data in the ledger"
            if name is None
            else f"a table of PostgreSQL is named by its server; leave name out (got name={name!r})"
        )
    label = f"postgresql:{found.server or name}:{found.database}:{'.'.join(place)}"
    columns = (Column(name, name, kind.kind_of(type_, _KINDS)) for name, type_ in found.columns)
    return Postgres(access, place, (label,), Schema(tuple(columns)))


def _refuse_no_table(found: _Found, table: str) -> None:
    if found.kind is None:
        close = get_close_matches(table, found.others)
        near = f" (there is {', '.join(map(repr, close))})" if close else ""
        raise InvalidTable(
            f"the database has no table {table!r}{near}; write its name in the schema "
            f"{_SCHEMA!r}, or 'schema.table', committed and not temporary"
        )
    # An ordinary or a partitioned table.
    if found.kind not in {"r", "p"}:
        raise InvalidTable(
            f"{table!r} is a view or lies elsewhere, and a view can mix the rows of many units, "
            "or fail on some; name the table itself, or write the rows to a table of its own first"
        )


def _found(own: Any, place: tuple[str, str]) -> _Found:
    server = None
    with suppress(Exception):
        server = own.execute("SELECT system_identifier::text FROM pg_control_system()").fetchone()
    (database,) = own.execute("SELECT current_database()").fetchone()
    kinds = own.execute(
        "SELECT c.relkind::text, c.oid "
        "FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
        "WHERE n.nspname = %s AND c.relname = %s AND c.relkind IN ('r', 'p', 'v', 'm', 'f')",
        place,
    ).fetchone()
    # A virtual column is computed when it is read, and may fail on one row: as if not there.
    columns = own.execute(
        "SELECT a.attname::text, CASE t.typtype WHEN 'e' THEN 'enum' "
        "ELSE format_type(a.atttypid, NULL) END "
        "FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid "
        "WHERE a.attrelid = %s AND a.attnum > 0 AND NOT a.attisdropped "
        "AND to_jsonb(a)->>'attgenerated' IS DISTINCT FROM 'v' ORDER BY a.attnum",
        (None if kinds is None else kinds[1],),
    ).fetchall()
    others = own.execute(
        "SELECT CASE schemaname WHEN 'public' THEN '' ELSE schemaname || '.' END || tablename "
        "FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')"
    ).fetchall()
    return _Found(
        own.info.server_version // 10_000,
        own.info.parameter_status("server_encoding"),
        None if server is None else server[0],
        database,
        None if kinds is None else kinds[0],
        tuple((name, type_) for name, type_ in columns),
        tuple(row[0] for row in others),
    )
