"""A public table in memory, a file, a data frame or DuckDB: read at once, without privacy."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from decimal import Decimal
from math import isnan
from numbers import Integral, Real
from pathlib import Path
from typing import TypeAlias, cast, final

import duckdb
from sqlglot import exp

from neyman.errors import InvalidTable
from neyman.tables import _kind as kind
from neyman.tables import _sql as sql
from neyman.tables._engines._duckdb_source import Source
from neyman.tables._key import Key
from neyman.tables._schema import SOURCE, Column, Schema
from neyman.tables._sources._attached import attached_public
from neyman.tables._sources._files import open_file
from neyman.tables._sources._frames import frame

__all__ = ["Cell", "PublicTable"]

Cell: TypeAlias = Key | float | None

_Read: TypeAlias = Callable[[Sequence[str], int | None], list[tuple[object, ...]]]
_INT64 = 2**63
_WHOLE = re.compile(r"-?(0|[1-9][0-9]{0,18})")


@final
@dataclass(frozen=True, slots=True)
class PublicTable:
    """Columns of equal length: no unit, no noise, no ledger.

    Attributes:
        schema: the schema. In memory all columns count as text, and each cell has its own type.
        read: a function that returns rows of some columns: all, or a number of distinct ones
            without NULL.
        written: whether numbers are text, as in a CSV file.
    """

    schema: Schema
    read: _Read = field(repr=False)
    written: bool

    @classmethod
    def of(cls, table: object) -> "PublicTable":
        """Open a mapping of names to lists, a file, a data frame, or a table of DuckDB.

        Raises:
            InvalidTable: if it is another object, or cannot be read.
        """
        match table:
            case Mapping():
                return cls._in_memory(cast("Mapping[object, Iterable[object]]", table))
            case str() | Path():
                path = Path(table)
                return cls._of(open_file(path), written=path.suffix.lower() == ".csv")
            case (duckdb.DuckDBPyConnection(), str()):
                source = attached_public(cast("tuple[object, ...]", table))
                return cls._of(source, written=False)
            case tuple():
                raise InvalidTable(
                    "a pair must be a connection of DuckDB and the name of a table; got another "
                    "pair. Write a data frame of the public rows or, for keys alone, "
                    "Keys.tuples(columns, rows)"
                )
            case _:
                return cls._of(frame(table, "public"), written=False)

    @classmethod
    def _in_memory(cls, table: Mapping[object, Iterable[object]]) -> "PublicTable":
        named = {str(name): list(values) for name, values in table.items()}
        if len({len(values) for values in named.values()}) > 1:
            raise InvalidTable(
                "the lists of the public table are not of one length; write a cell a row"
            )

        def read(names: Sequence[str], most: int | None) -> list[tuple[object, ...]]:
            rows = zip(*(named[name] for name in names), strict=True)
            return list(rows) if most is None else _distinct(_cells(rows, names))[:most]

        schema = Schema(tuple(Column(name, name, kind.TEXT) for name in named))
        return cls(schema, read, written=False)

    @classmethod
    def _of(cls, source: Source, *, written: bool) -> "PublicTable":
        schema = source.schema()

        def read(names: Sequence[str], most: int | None) -> list[tuple[object, ...]]:
            return _rows(source, [schema[name] for name in names], most)

        return cls(replace(schema, told=True), read, written)

    def columns(self, names: Sequence[str]) -> dict[str, list[Cell]]:
        """Return the cells of columns, all in the same row order; NaN is NULL.

        Raises:
            UnknownColumn: if there is no such column.
            InvalidTable: if a cell has a type that no statement can have.
        """
        for name in names:
            found = self.schema[name].kind
            if found.identity is None and found.number is None:
                raise InvalidTable(
                    f"column {name!r} of the public table is of type {found.label}; write text, "
                    "numbers, booleans or dates"
                )
        rows = _cells(self.read(names, None), names)
        return {name: [row[i] for row in rows] for i, name in enumerate(names)}

    def keys(self, names: Sequence[str], most: int) -> list[tuple[Cell, ...]]:
        """Return at most `most` distinct rows of columns without NULL, sorted.

        Raises:
            UnknownColumn: if there is no such column.
            InvalidTable: if a column cannot have keys.
        """
        for name in names:
            found = self.schema[name].kind
            if not found.keys:
                raise InvalidTable(
                    f"column {name!r} of the public table is of type {found.label}, which has no "
                    "keys; write a column of text, whole numbers, booleans or dates"
                )
        rows = _cells(self.read(names, most), names)
        # NaN is NULL too.
        return sorted((row for row in rows if None not in row), key=_told_apart)

    def numbers(self, cells: list[Cell], name: str) -> list[Cell]:
        """Return the cells of a column; those of a file as numbers, if all are numbers."""
        if not self.written:
            return cells
        texts = [cell for cell in cells if isinstance(cell, str)]
        if all(map(_WHOLE.fullmatch, texts)):
            return [_cell(None if cell is None else int(str(cell)), name) for cell in cells]
        with suppress(ValueError):
            return [_cell(None if cell is None else float(str(cell)), name) for cell in cells]
        return cells


def _rows(source: Source, columns: Sequence[Column], most: int | None) -> list[tuple[object, ...]]:
    query = exp.Select().from_(exp.alias_(source.relation, SOURCE, quoted=True, table=True))
    for column in columns:
        value = sql.column(column.inside, SOURCE)
        if most is not None:
            query = query.where(sql.known(value))
        if str in column.kind.keys:
            value = sql.cast(value, "TEXT")
        elif column.kind.number is not None and column.kind.range is None:
            value = sql.cast(value, "DOUBLE")
        query = query.select(value)
    if most is not None:
        query = query.distinct().limit(most)
    inside = {column.inside for column in columns}
    with suppress(duckdb.Error), source.session(inside) as connection:
        found = connection.execute(query.sql(dialect="duckdb")).fetchall()
        return cast("list[tuple[object, ...]]", found)  # pyright: ignore[reportArgumentType]
    raise InvalidTable("the public table cannot be read; check that it is what its name says")


def _distinct(rows: Iterable[tuple[Cell, ...]]) -> list[tuple[object, ...]]:
    known = (row for row in rows if None not in row)
    return list({_told_apart(row): row for row in known}.values())


def _told_apart(row: Sequence[Cell]) -> tuple[tuple[str, Cell], ...]:
    """Return a sort key of a row; True and 1 are equal in Python, but different cells."""
    return tuple((type(cell).__name__, cell) for cell in row)


def _cells(rows: Iterable[Sequence[object]], names: Sequence[str]) -> list[tuple[Cell, ...]]:
    return [tuple(map(_cell, row, names)) for row in rows]


def _cell(value: object, name: str) -> Cell:
    match value:
        case datetime():
            pass
        case None | bool() | date():
            return value
        case str():
            if "\0" not in value and value == value.encode("utf-8", "replace").decode():
                return str(value)
        case Integral():
            if -_INT64 <= int(value) < _INT64:
                return int(value)
        case Real() | Decimal():
            return None if isnan(value) else float(value)
        case _:
            pass
    raise InvalidTable(
        f"{value!r} in column {name!r} of the public table cannot go into a statement; write text "
        "without NUL, integers of 64 bits, floats, booleans or dates"
    )
