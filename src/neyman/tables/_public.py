"""Distinct keys of a public table, read at once: no unit, no noise, no ledger."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import cast

import duckdb
from sqlglot import exp

from neyman.errors import InvalidTable
from neyman.tables import _sql as sql
from neyman.tables._attached import attached_public
from neyman.tables._duckdb_source import Source
from neyman.tables._files import open_file
from neyman.tables._frames import frame
from neyman.tables._schema import SOURCE

__all__ = ["distinct_rows"]


def distinct_rows(source: object, columns: Sequence[str], most: int) -> list[tuple[object, ...]]:
    """Return at most so many distinct rows of some columns, sorted; none with NULL in it.

    Raises:
        InvalidTable: if the source cannot be read, or a column has no keys.
        UnknownColumn: if there is no such column.
    """
    opened = _source(source)
    schema = opened.schema()
    found = exp.Select().from_(
        exp.alias_(opened.relation, SOURCE, quoted=True, table=True), copy=False
    )
    for name in columns:
        kind, value = schema[name].kind, sql.column(schema[name].inside, SOURCE)
        if not kind.keys:
            raise InvalidTable(
                f"column {name!r} of the public table is of type {kind.label}, which has no keys; "
                "write a column of text, integers, booleans or dates"
            )
        cell = sql.cast(value, "TEXT") if str in kind.keys else value
        found = found.select(cell).where(sql.known(value))
    text = found.distinct().limit(most).sql(dialect="duckdb")
    inside = {schema[name].inside for name in columns}
    with suppress(duckdb.Error), opened.session(inside) as connection:
        rows = connection.execute(text).fetchall()
        return sorted(cast("list[tuple[object, ...]]", rows))  # pyright: ignore[reportArgumentType]
    raise InvalidTable("the public table cannot be read; check that it is what its name says")


def _source(source: object) -> Source:
    match source:
        case str() | Path():
            return open_file(Path(source))
        case (duckdb.DuckDBPyConnection(), str()):
            return attached_public(cast("tuple[object, ...]", source))
        case tuple():
            raise InvalidTable(
                "a pair that is no connection of DuckDB with a table's name was given for a "
                "public table; read its keys yourself, and write Keys.tuples(columns, rows)"
            )
        case _:
            return frame(source, "public")
