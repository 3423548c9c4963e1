"""DuckDB: embedded, out of core, over Parquet, CSV, Arrow and attached databases."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, final

import duckdb
import numpy as np
import numpy.typing as npt
from sqlglot import exp

from neyman.errors import InvalidTable
from neyman.overriding import override
from neyman.tables._engines._duckdb_functions import stand_ins
from neyman.tables._engines._duckdb_session import own_session
from neyman.tables._engines._duckdb_source import Source, together
from neyman.tables._engines._engine import Engine
from neyman.tables._engines._room import Room
from neyman.tables._engines._running import interruptible
from neyman.tables._engines._spelling import Spelling
from neyman.tables._engines._stand_ins import refuse_stand_ins
from neyman.tables._schema import Schema, called
from neyman.tables._sql import WIDE, Tree

__all__ = ["DuckDB"]


def _sum(node: exp.Sum) -> Tree:
    """Write SUM of 64-bit integers unchanged: DuckDB sums them in 128 bits, and faster."""
    wide, narrow = exp.DataType.build(WIDE), exp.DataType.build("BIGINT")
    match node.this:
        case exp.Cast(this=exp.Cast() as inner) as outer if outer.to == wide and inner.to == narrow:
            return exp.Sum(this=inner)
        case _:
            return node


# Of all else the tree is written in its words.
_SPELLING = Spelling("duckdb", {exp.Sum: _sum})


@final
@dataclass(frozen=True, slots=True)
class DuckDB(Engine):
    """The engine for sources that DuckDB reads.

    Attributes:
        sources: the sources of the table and of joined tables.
        columns: the table's schema when it was opened.
        room: the memory limit, and the folder for rows that do not fit.
    """

    sources: tuple[Source, ...] = field(repr=False)
    columns: Schema
    room: Room = field(default_factory=Room, compare=False)

    @property
    @override
    def name(self) -> str:
        return "DuckDB"

    @property
    @override
    def identities(self) -> tuple[str, ...]:
        return tuple(source.identity for source in self.sources)

    @property
    @override
    def relation(self) -> Tree:
        return self.sources[0].relation

    @property
    @override
    def schema(self) -> Schema:
        return self.columns

    @property
    @override
    def tables(self) -> int:
        return len(self.sources)

    @override
    def beside(self, other: Engine) -> tuple[Engine, Tree]:
        if not isinstance(other, DuckDB):
            raise InvalidTable(
                f"a table of {other.name} cannot be joined with one that DuckDB reads; copy one of "
                "them to where the other lies"
            )
        (source,) = other.sources
        sources = (*self.sources, source.at(len(self.sources)))
        hosts = [source.host for source in sources if source.host is not None]
        if any(host is not hosts[0] for host in hosts):
            raise InvalidTable(
                "the two tables are of two connections of DuckDB; open both through one, after "
                "ATTACH where they lie in two databases"
            )
        if hosts and any(source.is_file for source in sources):
            raise InvalidTable(
                "a file cannot be joined with a table of your connection, whose settings may read "
                "it otherwise; write its rows to a table there, or both tables to files"
            )
        room = self.room.beside(other.room)
        _refuse_room(sources, room)
        return replace(self, sources=sources, room=room), sources[-1].relation

    @override
    def within(self, room: Room) -> "DuckDB":
        _refuse_room(self.sources, room)
        return replace(self, room=room)

    @override
    def check(self) -> None:
        for source in self.sources:
            source.check()

    @override
    def stand_ins(self, *statements: exp.Query) -> Sequence[str]:
        host = self._host
        if host is None:
            return ()
        found: list[str] | None = None
        with suppress(duckdb.Error), own_session(host) as cursor:
            found = stand_ins(cursor, *map(self.text, statements))
        if found is None:
            raise InvalidTable("the connection is closed or broken; open it, and the table again")
        return found

    @override
    def text(self, statement: exp.Query) -> str:
        return _SPELLING.text(statement)

    @override
    def read(self, statement: exp.Query) -> list[npt.NDArray[Any]]:
        text = self.text(statement)
        named = [(node.table, node.name) for node in statement.find_all(exp.Column)]
        columns = [
            {name for table, name in named if table == called(place)}
            for place in range(len(self.sources))
        ]
        with together(self.sources, columns, self.room) as connection:

            def work() -> Mapping[str, Any]:
                if self._host is not None:
                    # In the transaction that the statement runs in: what is found is what it calls.
                    refuse_stand_ins(self.name, lambda: stand_ins(connection, text))
                return connection.execute(text).fetchnumpy()

            found = interruptible(work, connection.interrupt)
        return [np.asarray(part) for part in found.values()]

    @property
    def _host(self) -> duckdb.DuckDBPyConnection | None:
        return next((source.host for source in self.sources if source.host is not None), None)

    @override
    def is_interrupt(self, error: Exception) -> bool:
        if isinstance(error, duckdb.InterruptException):
            return True
        return type(error) is RuntimeError and str(error) == "Query interrupted"


def _refuse_room(sources: tuple[Source, ...], room: Room) -> None:
    if room.asked and any(source.host is not None for source in sources):
        raise InvalidTable(
            "a DuckDB connection has its own memory_limit and temp_directory. Leave memory_limit "
            "and temporary_directory out, and write SET memory_limit = '...' and SET "
            "temp_directory = '...' there"
        )
