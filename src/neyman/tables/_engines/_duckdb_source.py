"""Sources of rows for DuckDB."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Container, Generator, Sequence
from contextlib import contextmanager, suppress
from typing import final

import duckdb
from sqlglot import exp

from neyman.errors import InvalidTable
from neyman.tables import _instant as instant
from neyman.tables import _kind as kind
from neyman.tables import _sql as sql
from neyman.tables._engines._duckdb_session import own_session, private_session
from neyman.tables._engines._room import Room
from neyman.tables._kind import Cast
from neyman.tables._schema import Column, Schema
from neyman.tables._sql import Tree

__all__ = ["TIMESTAMP", "Source", "described", "opened", "together"]


def _microseconds(value: Tree) -> Tree:
    return instant.since_epoch(sql.call("EPOCH_US", value))


def _coarse(unit: str) -> Cast:
    """Return the conversion of a coarser unit; values out of range become NULL first.

    For EPOCH_US, DuckDB would convert to nanoseconds, and fail before 1677 and after 2262.
    """

    def converted(value: Tree) -> Tree:
        low, high = (
            exp.Cast(this=sql.text(day), to=exp.DataType.build(unit, dialect="duckdb"))
            for day in (instant.FIRST, instant.LAST)
        )
        inside = sql.clamped(low.copy(), value.copy(), high.copy())
        found = sql.call("EPOCH_US", sql.cast(inside, "TIMESTAMP"))
        return instant.between(value, low, high, instant.since_epoch(found))

    return converted


def _nanoseconds(value: Tree) -> Tree:
    """Return microseconds, rounded down; EPOCH_US would round towards 1970."""
    found = sql.call("EPOCH_NS", value)
    thousand = sql.wide(1000)
    rest = exp.Mod(this=found, expression=thousand)
    down = exp.Case(ifs=[exp.If(this=rest < sql.wide(0), true=sql.wide(1))], default=sql.wide(0))
    quotient = exp.IntDiv(this=found.copy(), expression=thousand.copy())
    return instant.since_epoch(exp.paren(exp.paren(quotient) - down))


TIMESTAMP = kind.timestamp(_microseconds)
_KINDS = {
    **dict.fromkeys(("VARCHAR", "ENUM", "UUID"), kind.TEXT),
    **dict.fromkeys(("TINYINT", "SMALLINT", "INTEGER", "BIGINT"), kind.INTEGER),
    **dict.fromkeys(("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"), kind.INTEGER),
    **dict.fromkeys(("HUGEINT", "UHUGEINT"), kind.WIDE_INTEGER),
    "FLOAT": kind.NARROW_FLOAT,
    "DOUBLE": kind.FLOAT,
    "BOOLEAN": kind.BOOLEAN,
    "DATE": kind.DATE,
    **dict.fromkeys(("TIMESTAMP", "TIMESTAMP WITH TIME ZONE"), TIMESTAMP),
    "TIMESTAMP_S": kind.timestamp(_coarse("TIMESTAMP_S")),
    "TIMESTAMP_MS": kind.timestamp(_coarse("TIMESTAMP_MS")),
    **dict.fromkeys(("TIMESTAMP_NS", "TIMESTAMPTZ_NS"), kind.timestamp(_nanoseconds)),
}


class Source(ABC):
    """Rows that DuckDB can read."""

    __slots__ = ()

    @property
    @abstractmethod
    def identity(self) -> str:
        """The identity of the dataset, without its content."""

    @property
    @abstractmethod
    def relation(self) -> Tree:
        """The rows for a FROM clause."""

    @abstractmethod
    def schema(self) -> Schema:
        """Return the columns; it reads no row.

        Raises:
            InvalidTable: if there is no such table.
        """

    @property
    @abstractmethod
    def host(self) -> duckdb.DuckDBPyConnection | None:
        """The user's connection that must read the rows; None if a private one can read them."""

    @property
    @abstractmethod
    def is_file(self) -> bool:
        """Whether only a private database reads it correctly."""

    @property
    @abstractmethod
    def files(self) -> tuple[str, ...]:
        """The paths that a statement must read; none if Python passes the rows."""

    @abstractmethod
    def at(self, place: int) -> "Source":
        """Return the same rows under a unique name for another place of a statement."""

    @abstractmethod
    def load(self, connection: duckdb.DuckDBPyConnection, columns: Container[str]) -> None:
        """Define `relation` on a connection, with at least these columns."""

    @final
    @contextmanager
    def session(self, columns: Container[str]) -> Generator[duckdb.DuckDBPyConnection, None, None]:
        """Return a connection where `relation` is defined, with at least these columns."""
        with together([self], [columns], Room()) as connection:
            yield connection

    @abstractmethod
    def check(self) -> None:
        """Check that the rows are still those that were opened.

        Raises:
            EngineFailure: if they have visibly changed.
        """


@contextmanager
def together(
    sources: Sequence[Source], columns: Sequence[Container[str]], room: Room
) -> Generator[duckdb.DuckDBPyConnection, None, None]:
    """Return a connection where the relations of all sources are defined.

    Args:
        sources: the sources, with at most one user's connection among them.
        columns: for each source, the columns that must be available.
        room: the memory limit of a private connection; a user's connection keeps its own.
    """
    hosts = [source.host for source in sources if source.host is not None]
    files = [path for source in sources for path in source.files]
    with own_session(hosts[0]) if hosts else private_session(room, files) as connection:
        for source, wanted in zip(sources, columns, strict=True):
            source.load(connection, wanted)
        yield connection


def described(connection: duckdb.DuckDBPyConnection, relation: Tree) -> Schema:
    """Return the schema that DuckDB describes; it reads no row."""
    query = exp.Describe(this=exp.select("*").from_(relation)).sql(dialect="duckdb")
    rows = connection.execute(query).fetchall()
    return Schema(tuple(Column(row[0], row[0], _kind(row[1])) for row in rows))


def _kind(declared: str) -> kind.Kind:
    if declared.startswith("DECIMAL(") and declared.endswith(")"):
        return kind.decimal(declared)
    return kind.kind_of(declared, _KINDS)


def opened(read: Callable[[], Schema], what: str, should: str = "what its name says") -> Schema:
    """Return the result of `read`; DuckDB's own error messages are withheld.

    Args:
        read: a function that calls DuckDB.
        what: the name of the source, for the error.
        should: the condition that the source must meet, for the error.

    Raises:
        InvalidTable: if DuckDB fails.
    """
    schema: Schema | None = None
    with suppress(duckdb.Error):
        schema = read()
    if schema is None:
        raise InvalidTable(f"{what} cannot be read; check that it is {should}")
    return schema
