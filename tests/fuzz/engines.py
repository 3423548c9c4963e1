"""Where tables lie: in memory and in files through the public interface, or held by one session."""

from __future__ import annotations

import csv
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any, ClassVar

import duckdb
import pyarrow.parquet as pq
import pytest
from sqlglot import exp

from fuzz.questions import Places
from fuzz.tables import Data, Relation
from neyman.tables._engines import (
    _duckdb_engine,
    _duckdb_session,
    _duckdb_source,
    _postgres_engine,
    _postgres_source,
)
from neyman.tables._engines._duckdb_session import private_session
from neyman.tables._engines._room import Room
from neyman.tables._engines._spelling import Spelling

__all__ = ["Files", "Frames", "Held", "HeldPostgres", "SparkFrames", "World", "held", "serving"]


class World(ABC):
    """Places for tables.

    Attributes:
        stays: whether a question that was asked of some rows can be run again over those that are
            placed now.
        lacks: types of columns that there are none of.
    """

    stays: ClassVar[bool] = False
    lacks: ClassVar[Collection[str]] = ()

    @abstractmethod
    def place(self, data: Data) -> Places:
        """Put the tables there."""


class Frames(World):
    """Arrow tables, through the public interface."""

    def place(self, data: Data) -> Places:
        return {name: (part.arrow(), name) for name, part in data.items()}


class Held(World):
    """Arrow tables that one private session of DuckDB reads: use it inside `held()`."""

    stays: ClassVar[bool] = True

    def __init__(self) -> None:
        self.current: dict[str, Any] = {}

    def place(self, data: Data) -> Places:
        arrow = {name: part.arrow() for name, part in data.items()}
        self.current = {
            name: table.rename_columns([f"c{i}" for i in range(table.num_columns)])
            for name, table in arrow.items()
        }
        return {name: (table, name) for name, table in arrow.items()}


@contextmanager
def held() -> Iterator[Held]:
    """Run all statements in one session, with the settings of the library's own."""
    world = Held()
    with pytest.MonkeyPatch.context() as patch, ExitStack() as stack:
        # Once open, a session takes no other settings.
        patch.setitem(_duckdb_session._CLOSED, "threads", 1)
        connection = stack.enter_context(private_session(Room()))

        @contextmanager
        def together(sources: Any, columns: Any, room: Any) -> Iterator[Any]:  # noqa: ARG001
            for source, wanted in zip(sources, columns, strict=True):
                # A frame of no rows is asked of its columns, and is none of the world's.
                now = world.current[source.label] if source.label else source.table
                replace(source, table=now).load(connection, wanted)
            yield connection

        patch.setattr(_duckdb_engine, "together", together)
        patch.setattr(_duckdb_engine, "_SPELLING", _Once(_duckdb_engine._SPELLING))
        patch.setattr(_duckdb_source, "together", together)
        yield world


class _Once:
    """Each statement is spelled once, however many tables it is asked of."""

    def __init__(self, spelling: Spelling):
        self.spelling = spelling
        # Of the statements themselves: by their parts they would be compared for as long.
        self.last: dict[int, tuple[exp.Query, str]] = {}

    def text(self, statement: exp.Query) -> str:
        if id(statement) not in self.last:
            if len(self.last) > 1000:
                self.last.clear()
            self.last[id(statement)] = statement, self.spelling.text(statement)
        return self.last[id(statement)][1]


class Files(World):
    """Each time another kind of source for all tables, written in another way."""

    def __init__(self, folder: Path, draw: Random):
        self.folder, self.draw, self.kind, self.turn = folder, draw, "", 0

    def start(self) -> None:
        """Draw where the next tables, and their neighbours, lie."""
        self.kind = self.draw.choice(["parquet", "csv", "duckdb", "arrow"])
        self.settings = [text for text in _SETTINGS if self.draw.random() < 0.3]
        self.kept: list[duckdb.DuckDBPyConnection] = []

    def place(self, data: Data) -> Places:
        self.turn += 1
        if self.kind == "duckdb":
            return self._attached(data)
        if self.kind == "arrow":
            return Frames().place(data)
        places: dict[str, tuple[object, str | None]] = {}
        for name, part in data.items():
            path = self.folder / f"{name}-{self.turn}.{self.kind}"
            if self.kind == "parquet":
                pq.write_table(part.arrow(), path, row_group_size=self.draw.choice([1, 2, 7, 1000]))
            else:
                self._csv(path, part)
            places[name] = path, None
        return places

    def _attached(self, data: Data) -> Places:
        connection = duckdb.connect()
        self.kept.append(connection)
        for setting in self.settings:
            connection.execute(setting)
        for name, part in data.items():
            connection.register("arrow", part.arrow())
            connection.execute(f"CREATE TABLE {name} AS FROM arrow")
        return {name: ((connection, name), name) for name in data}

    def _csv(self, path: Path, part: Relation) -> None:
        quoting = self.draw.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
        ends = self.draw.choice(["\n", "\r\n"])
        with path.open("w", newline="", encoding="utf-8") as file:
            written = csv.writer(file, quoting=quoting, lineterminator=ends)
            written.writerow([name for name, _ in part.columns])
            for row in part.rows:
                written.writerow(["" if cell is None else _text(cell) for cell in row])


_SETTINGS = [
    "SET default_order = 'DESC'",
    "SET default_null_order = 'NULLS_FIRST'",
    "SET integer_division = true",
    "SET ieee_floating_point_ops = false",
    "SET default_collation = 'NOCASE'",
    "SET preserve_insertion_order = false",
]


def _text(cell: Any) -> str:
    return str(cell).lower() if isinstance(cell, bool) else str(cell)


class HeldPostgres(World):
    """Tables of a PostgreSQL server, filled anew, that one session reads: see `serving`."""

    stays: ClassVar[bool] = True
    lacks: ClassVar[Collection[str]] = ("uint64", "seconds")

    def __init__(self, connection: Any):
        self.connection = connection
        self.there: dict[str, Relation] = {}

    def place(self, data: Data) -> Places:
        with self.connection.transaction(), self.connection.cursor() as cursor:
            # Nothing here is to outlive anything.
            cursor.execute("SET LOCAL synchronous_commit = off")
            for name, part in data.items():
                if self.there.get(name) != part or _nan(part):
                    self._fill(cursor, name, part)
        return {name: ((self.connection, name), None) for name in data}

    def _fill(self, cursor: Any, name: str, part: Relation) -> None:
        before = self.there.get(name)
        if before is None or before.columns != part.columns:
            columns = ", ".join(f"{column} {_POSTGRES[kind]}" for column, kind in part.columns)
            cursor.execute(f"DROP TABLE IF EXISTS {name}")
            cursor.execute(f"CREATE UNLOGGED TABLE {name} ({columns})")
        else:
            cursor.execute(f"DELETE FROM {name}")
        if part.rows:
            with cursor.copy(f"COPY {name} FROM STDIN") as copy:
                for row in part.rows:
                    copy.write_row(row)
        self.there[name] = part


@contextmanager
def serving(connection: Any) -> Iterator[HeldPostgres]:
    """Run all statements in one session, with the settings of the library's own."""
    with (
        _postgres_engine.session(connection.info.get_parameters()) as own,
        pytest.MonkeyPatch.context() as patch,
    ):

        @contextmanager
        def session(access: Any) -> Iterator[Any]:  # noqa: ARG001
            yield own

        patch.setattr(_postgres_engine, "session", session)
        patch.setattr(_postgres_source, "session", session)
        yield HeldPostgres(connection)


class SparkFrames(World):
    """Data frames of a session of Spark, through the public interface."""

    lacks: ClassVar[Collection[str]] = ("uint64", "seconds")

    def __init__(self, session: Any):
        self.session = session

    def place(self, data: Data) -> Places:
        made = self.session.createDataFrame
        return {name: (made(part.arrow()), name) for name, part in data.items()}


_POSTGRES = {
    "text": "text",
    "int64": "bigint",
    "int8": "smallint",
    "bool": "boolean",
    "date": "date",
    "clock": "timestamp",
    "instant": "timestamptz",
    "double": "double precision",
    "float": "real",
    "decimal": "numeric(38, 9)",
}


def _nan(part: Relation) -> bool:
    return any(cell != cell for row in part.rows for cell in row)
