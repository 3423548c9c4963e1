"""Cells of a public table in memory, a file or a data frame: read at once, and all told."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from math import isnan
from numbers import Integral, Real
from pathlib import Path
from typing import TypeAlias, cast, final

import duckdb
from sqlglot import exp

from neyman.errors import InvalidTable, UnknownColumn
from neyman.tables import _sql as sql
from neyman.tables._duckdb_source import Source
from neyman.tables._files import open_file
from neyman.tables._frames import frame
from neyman.tables._key import Key
from neyman.tables._schema import SOURCE, Column

__all__ = ["Cell", "PublicTable"]

Cell: TypeAlias = Key | float | None

_INT64 = 2**63
_WHOLE = re.compile(r"-?(0|[1-9][0-9]{0,18})")


@final
@dataclass(frozen=True, slots=True)
class PublicTable:
    """Columns of equal length.

    Attributes:
        names: of the columns.
        read: gives the cells of one.
        written: whether numbers are written as text, as in a CSV file.
    """

    names: tuple[str, ...]
    read: Callable[[str], list[object]] = field(repr=False)
    written: bool

    @classmethod
    def of(cls, table: object) -> "PublicTable":
        """Open a mapping of names to lists, the path of a file, or a data frame.

        Raises:
            InvalidTable: if it is none of them, or cannot be read.
        """
        match table:
            case Mapping():
                named = {
                    str(name): list(cast("Iterable[object]", values))
                    for name, values in cast("Mapping[object, object]", table).items()
                }
                if len({len(values) for values in named.values()}) > 1:
                    raise InvalidTable(
                        "the lists of the public table are not of one length; write a cell a row"
                    )
                return cls(tuple(named), named.__getitem__, written=False)
            case str() | Path():
                path = Path(table)
                return cls._of(open_file(path), written=path.suffix.lower() == ".csv")
            case tuple():
                raise InvalidTable(
                    "a public table is read at once, and a pair was given; write a data frame of "
                    "its rows, such as connection.table(name).to_arrow_table()"
                )
            case _:
                return cls._of(frame(table, "public"), written=False)

    @classmethod
    def _of(cls, source: Source, *, written: bool) -> "PublicTable":
        schema = source.schema()
        return cls(tuple(schema.names), lambda name: _cells(source, schema[name]), written)

    def cells(self, name: str) -> list[Cell]:
        """Return the cells of a column; NaN is NULL.

        Raises:
            UnknownColumn: if there is no such column.
            InvalidTable: if a cell is nothing that a statement can hold.
        """
        if name not in self.names:
            raise UnknownColumn(
                f"the public table has no column {name!r}; it has "
                + ", ".join(map(repr, self.names[:20]))
            )
        return [_cell(value, name) for value in self.read(name)]

    def numbers(self, name: str) -> list[Cell]:
        """Return the cells, those of a file as numbers where all of them are written so."""
        cells = self.cells(name)
        if not self.written:
            return cells
        texts = [cell for cell in cells if isinstance(cell, str)]
        if all(map(_WHOLE.fullmatch, texts)):
            return [_cell(None if cell is None else int(str(cell)), name) for cell in cells]
        with suppress(ValueError):
            return [_cell(None if cell is None else float(str(cell)), name) for cell in cells]
        return cells


def _cells(source: Source, column: Column) -> list[object]:
    kind, value = column.kind, sql.column(column.inside, SOURCE)
    if kind.identity is None and kind.number is None:
        raise InvalidTable(
            f"column {column.name!r} of the public table is of type {kind.label}; write text, "
            "numbers, booleans or dates"
        )
    if str in kind.keys or kind.identity is None:
        value = sql.cast(value, "TEXT" if str in kind.keys else "DOUBLE")
    rows: Sequence[tuple[object, ...]] | None = None
    query = exp.select(value).from_(exp.alias_(source.relation, SOURCE, quoted=True, table=True))
    with suppress(duckdb.Error), source.session({column.inside}) as connection:
        rows = connection.execute(query.sql(dialect="duckdb")).fetchall()
    if rows is None:
        raise InvalidTable("the public table cannot be read; check that it is what its name says")
    return [cell for (cell,) in rows]


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
