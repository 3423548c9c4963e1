"""Data frames in memory as Arrow tables, by their schema only: no row decides a type."""
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingTypeStubs=false

from collections.abc import Callable, Container
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date
from functools import lru_cache
from typing import Any, final

import duckdb

from neyman.errors import InvalidTable
from neyman.overriding import override
from neyman.tables import _sql as sql
from neyman.tables._engines._duckdb_source import TIMESTAMP, Source, described, opened
from neyman.tables._extra import require
from neyman.tables._schema import Column, Schema, refuse_alike
from neyman.tables._sql import Tree

__all__ = ["frame"]

_NAME = "neyman_frame"


@final
@dataclass(frozen=True, slots=True)
class Frame(Source):
    """An Arrow table; pandas and Polars frames become one, without copies if possible.

    Attributes:
        table: the rows, with columns named by position.
        names: the user's names of the columns.
        label: the name of the dataset in the ledger.
        called: its name on the connection that reads it.
    """

    table: Any = field(repr=False)
    names: tuple[str, ...]
    label: str = field(repr=False)
    called: str = field(repr=False, default=_NAME)

    @property
    @override
    def identity(self) -> str:
        types = ", ".join(str(kind) for kind in self.table.schema.types)
        return f"frame:{self.label}:{list(self.names)}:{types}"

    @property
    @override
    def relation(self) -> Tree:
        return sql.relation(self.called)

    @override
    def schema(self) -> Schema:
        return opened(self._schema, "the data frame")

    @property
    @override
    def host(self) -> None:
        return

    @property
    @override
    def files(self) -> tuple[str, ...]:
        return ()

    @property
    @override
    def is_file(self) -> bool:
        return False

    @override
    def at(self, place: int) -> "Frame":
        return replace(self, called=f"{_NAME}_{place}")

    @override
    def load(self, connection: duckdb.DuckDBPyConnection, columns: Container[str]) -> None:
        from neyman.tables._sources._timestamps import in_microseconds, is_timestamp
        from neyman.tables._sources._utf8 import in_utf8

        def mended(name: str) -> Any:
            column = self.table[name]
            # What no statement reads stays as it is.
            if name not in columns:
                return column
            return in_microseconds(column) if is_timestamp(column.type) else in_utf8(column)

        names = self.table.column_names
        connection.register(
            self.called, type(self.table).from_arrays(list(map(mended, names)), names=names)
        )

    def check(self) -> None:
        """Do nothing: there is nothing to compare."""

    def _schema(self) -> Schema:
        from neyman.tables._sources._timestamps import is_timestamp

        schema = self.table.schema.remove_metadata()
        inside = _described(schema.serialize().to_pybytes()).columns
        return Schema(
            tuple(
                Column(name, column.inside, TIMESTAMP if is_timestamp(type_) else column.kind)
                for name, column, type_ in zip(self.names, inside, schema.types, strict=True)
            )
        )


@lru_cache(maxsize=256)
def _described(schema: bytes) -> Schema:
    """Return DuckDB's types of an Arrow schema, from a table without rows."""
    import pyarrow as pa

    empty = pa.ipc.read_schema(pa.py_buffer(schema)).empty_table()
    with Frame(empty, tuple(empty.column_names), "").session(()) as connection:
        return described(connection, sql.relation(_NAME))


def frame(data: object, name: str | None) -> Frame:
    """Return the source for an Arrow table, a pandas or a Polars data frame.

    Raises:
        InvalidTable: if it is another object, has no name, or a column cannot be converted.
        MissingExtra: if pyarrow is not installed.
    """
    kind = type(data)
    convert = _CONVERT.get((kind.__module__.partition(".")[0], kind.__name__))
    if convert is None:
        raise InvalidTable(
            f"a {kind.__name__} is no table; write the path of a .parquet or .csv file, a pair "
            '(connection, "table"), a pyarrow Table, or a pandas or Polars DataFrame'
        )
    if name is None:
        raise InvalidTable(
            f"a {kind.__name__} in memory has no name; write name=..., which stands for these "
            "data in the ledger: another name is another dataset"
        )
    require("pyarrow")
    table = convert(data)
    names = tuple(str(column) for column in table.column_names)
    if not names:
        raise InvalidTable(
            f"the {kind.__name__} {name!r} has no columns; write one that has, with rows or without"
        )
    refuse_alike(names)
    return Frame(table.rename_columns([f"c{i}" for i in range(len(names))]), names, name)


def _arrow(data: Any) -> Any:
    return data


def _polars(data: Any) -> Any:
    # Polars panics on a column of Python objects.
    for name, kind in data.schema.items():
        if type(kind).__name__ == "Object":
            raise InvalidTable(
                f"the Polars column {name!r} is of type Object; cast it to a Polars type"
            )
    return data.to_arrow()


def _pandas(data: Any) -> Any:
    import pyarrow as pa

    names = [str(name) for name in data.columns]
    for name in names:
        if name != _text(name):
            raise InvalidTable(
                f"the pandas column {name!r} is called by half surrogates; rename it"
            )
    return pa.table([_series(data.iloc[:, i]) for i in range(data.shape[1])], names=names)


def _series(series: Any) -> Any:
    import pyarrow as pa

    kind = series.dtype
    # Objects can be anything: text is text, dates are theirs in ISO 8601, all else is NULL.
    mixed = kind.name == "object" or (
        kind.name == "category" and kind.categories.dtype.name == "object"
    )
    array = None
    try:
        array = None if mixed else pa.array(series, from_pandas=True)
    except (pa.ArrowException, TypeError, UnicodeError):
        # Half surrogates in it, or something of that kind.
        mixed = kind.name in {"str", "string"} or (
            kind.name == "category" and kind.categories.dtype.name in {"str", "string"}
        )
    if mixed:
        return pa.array([_text(value) for value in series], type=pa.string())
    if array is None:
        raise InvalidTable(
            f"the pandas column {series.name!r} of dtype {kind.name} has no Arrow type; "
            "convert it with astype"
        )
    return array


def _text(value: object) -> str | None:
    # What pandas gives as `.dt.date`; a dtype does not tell of it, and no row may decide a type.
    if isinstance(value, date):
        return None if value != value else value.isoformat()
    # Half surrogates are no text elsewhere: no UTF-8 stands for them.
    with suppress(UnicodeEncodeError):
        return value.encode().decode() if isinstance(value, str) else None
    return None


_CONVERT: dict[tuple[str, str], Callable[[Any], Any]] = {
    ("pyarrow", "Table"): _arrow,
    ("pandas", "DataFrame"): _pandas,
    ("polars", "DataFrame"): _polars,
}
