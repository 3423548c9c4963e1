"""Parquet and CSV files."""

from collections.abc import Callable, Container, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import final

import duckdb
from sqlglot import exp

from neyman.errors import InvalidTable
from neyman.overriding import override
from neyman.tables import _sql as sql
from neyman.tables._engines._duckdb_session import private_session
from neyman.tables._engines._duckdb_source import Source, described, opened
from neyman.tables._engines._room import Room
from neyman.tables._extra import require
from neyman.tables._kind import FREE_TEXT, HALF_FLOAT, NARROW_FLOAT, TEXT
from neyman.tables._schema import Column, Schema, refuse_alike
from neyman.tables._sources._fingerprint import OpenedFile, opened_file
from neyman.tables._sql import Tree

__all__ = ["open_file"]

_ROWS, _BLOCK = "neyman_file", "neyman_block"
# DuckDB's own name for the number of a row in a Parquet file.
_NUMBER = "file_row_number"
_WORKBOOKS = {".xlsx", ".xls", ".xlsm", ".xlsb", ".ods"}
_GLOB = str.maketrans({sign: f"[{sign}]" for sign in "*?["})


def open_file(path: Path, *, instead: str = "") -> Source:
    """Return the source of a file, by the suffix of its path.

    Args:
        path: path of the file.
        instead: other possible arguments, for the error.

    Raises:
        InvalidTable: if there is no such file, it cannot be read, or it has another suffix.
    """
    if _is_directory(path):
        raise InvalidTable(f"{path} is a directory; write the path of one .parquet or .csv file")
    opens = {".parquet": ParquetFile.open, ".csv": CsvFile.open}.get(path.suffix.lower())
    if path.suffix.lower() in _WORKBOOKS:
        raise InvalidTable(
            f"{path.name!r} is a workbook, whose columns have no types; read a sheet of it into a "
            f'frame, ny.open(pandas.read_excel("{path.name}"), name="...", unit="..."), or with '
            "polars.read_excel, or save the sheet as a .csv file"
        )
    if opens is None:
        raise InvalidTable(
            f"{path.name!r} ends in {path.suffix!r}; write the path of a .parquet or .csv file"
            f"{instead}"
        )
    return opens(opened_file(path))


def _is_directory(path: Path) -> bool:
    with suppress(OSError, ValueError):
        return path.is_dir()
    return False


def _pattern(path: str) -> str:
    # DuckDB takes a path for a pattern; in brackets a sign stands for itself.
    return path.translate(_GLOB)


def _reader(
    path: str,
    function: Callable[[Tree, list[Tree]], Tree],
    **options: Tree,
) -> Tree:
    named: list[Tree] = [
        exp.EQ(this=exp.column(name), expression=value) for name, value in options.items()
    ]
    return exp.Table(this=function(sql.text(_pattern(path)), named))


@final
@dataclass(frozen=True, slots=True)
class ParquetFile(Source):
    """One Parquet file; text that is not UTF-8 is NULL, and so are timestamps out of range.

    DuckDB fails on such values, and a failure would reveal information about the row. Each column
    is checked once. If it has such values, Arrow reads it, which does not check, and they are
    replaced.

    Attributes:
        file: the file when it was opened.
        columns: its schema.
        called: the name of the rows in a statement.
        sound: whether DuckDB can read a column, for the checked columns.
    """

    file: OpenedFile = field(repr=False)
    columns: Schema = field(repr=False)
    called: str = field(repr=False, default=_ROWS)
    sound: dict[str, bool] = field(repr=False, compare=False, default_factory=dict[str, bool])

    @classmethod
    def open(cls, file: OpenedFile) -> "ParquetFile":
        """Open the file by its footer."""
        require("pyarrow")
        return cls(file, opened(lambda: _footer(file.path), "the Parquet file"))

    @property
    @override
    def identity(self) -> str:
        return self.file.identity

    @property
    @override
    def relation(self) -> Tree:
        return sql.relation(self.called)

    @override
    def schema(self) -> Schema:
        return self.columns

    @property
    @override
    def host(self) -> None:
        return

    @property
    @override
    def files(self) -> tuple[str, ...]:
        return self.file.path, _pattern(self.file.path)

    @property
    @override
    def is_file(self) -> bool:
        return True

    @override
    def at(self, place: int) -> "ParquetFile":
        return replace(self, called=f"{_ROWS}_{place}")

    @override
    def load(self, connection: duckdb.DuckDBPyConnection, columns: Container[str]) -> None:
        wanted = [column for column in self.columns.columns if column.inside in columns]
        partial = (x.inside for x in wanted if x.kind is TEXT or x.kind.instant is not None)
        broken = self._broken(connection, list(partial))
        f, t = sql.identifier("f"), sql.identifier("t")
        rows = exp.alias_(_parquet(self.file.path, numbered=bool(broken)), f)
        # Only what is wanted: DuckDB 1.2 reads all that a view names. A count wants nothing.
        values = [sql.named(sql.integer(1), "one")] if not wanted else []
        for column in wanted:
            mended = broken.get(column.inside)
            value = sql.column(mended, "t") if mended else sql.column(column.inside, "f")
            values.append(sql.named(value, column.inside))
        query = exp.select(*values).from_(rows)
        if broken:
            texts = f"{self.called}_texts"
            self._copy(connection, texts, broken)
            same = sql.column(_NUMBER, "f").eq(sql.column("n", "t"))
            query = query.join(exp.alias_(sql.relation(texts), t), on=same)
        connection.execute(f"CREATE VIEW {self.called} AS {query.sql(dialect='duckdb')}")

    @override
    def check(self) -> None:
        self.file.check()

    def _broken(
        self, connection: duckdb.DuckDBPyConnection, names: Sequence[str]
    ) -> dict[str, str]:
        """Return the columns that DuckDB cannot read, with names for their corrected versions."""
        new = [name for name in names if name not in self.sound]
        if new and self._is_sound(connection, new):
            self.sound.update(dict.fromkeys(new, True))
        for name in names:
            if name not in self.sound:
                self.sound[name] = self._is_sound(connection, [name])
        return {name: f"c{i}" for i, name in enumerate(names) if not self.sound[name]}

    def _is_sound(self, connection: duckdb.DuckDBPyConnection, names: Sequence[str]) -> bool:
        # A hash takes all bytes of all values. Lengths do not, nor does what the footer says: by
        # those DuckDB may answer without a look at the bytes.
        hashes = (sql.call("BIT_XOR", sql.call("HASH", sql.column(name))) for name in names)
        query = exp.select(*hashes).from_(_parquet(self.file.path))
        with suppress(duckdb.InvalidInputException, duckdb.ConversionException):
            connection.execute(query.sql(dialect="duckdb")).fetchall()
            return True
        return False

    def _copy(
        self, connection: duckdb.DuckDBPyConnection, texts: str, broken: Mapping[str, str]
    ) -> None:
        from neyman.tables._sources._utf8 import texts_of

        inside = [column.inside for column in self.columns.columns]
        places = {inside.index(name): called for name, called in broken.items()}
        # Of the types that DuckDB gives them, or files with mended values and others would differ.
        typed = [sql.named(sql.column(name), called) for name, called in broken.items()]
        none = exp.select(sql.named(sql.wide(0), "n"), *typed).from_(_parquet(self.file.path))
        empty = none.where(exp.false()).sql(dialect="duckdb")
        connection.execute(f"CREATE TABLE {texts} AS {empty}")
        for table in texts_of(self.file.path, places):
            _insert(connection, texts, table)


def _parquet(path: str, *, numbered: bool = False) -> Tree:
    """Return the file alone, without columns from the names of its folders."""
    more = {_NUMBER: exp.true()} if numbered else {}
    return _reader(
        path,
        lambda path, options: exp.ReadParquet(expressions=[path, *options]),
        hive_partitioning=exp.false(),
        **more,
    )


def _footer(path: str) -> Schema:
    footer = _reader(path, lambda path, _: exp.Anonymous(this="parquet_schema", expressions=[path]))
    query = exp.select("name", "num_children", "logical_type").from_(footer)
    with private_session(Room(), (path, _pattern(path))) as connection:
        # DuckDB renames columns that differ by case; their own names are in the footer.
        nodes = connection.execute(query.sql(dialect="duckdb")).fetchall()
        names = _top([(name, children) for name, children, _ in nodes])
        refuse_alike(names)
        if _NUMBER in map(str.casefold, names):
            raise InvalidTable(
                f"a column is called {_NUMBER!r}, which DuckDB calls the number of a row in a "
                "Parquet file; rename it"
            )
        schema = described(connection, _parquet(path))
        # DuckDB calls floats of two bytes FLOAT, which has four.
        halves = {name for name, _, logical in nodes if str(logical).startswith("Float16")}
        columns = (
            replace(column, kind=HALF_FLOAT)
            if column.name in halves and column.kind is NARROW_FLOAT
            else column
            for column in schema.columns
        )
        return replace(schema, columns=tuple(columns))


def _top(nodes: list[tuple[str, int | None]]) -> list[str]:
    """Return the names of the root's children, from nodes in depth-first order."""
    names: list[str] = []
    nested = 0
    for name, children in nodes[1:]:
        if nested == 0:
            names.append(name)
            nested = 1
        nested += (children or 0) - 1
    return names


@final
@dataclass(frozen=True, slots=True)
class CsvFile(Source):
    """A comma-separated file: text columns, at most one row per line."""

    file: OpenedFile = field(repr=False)
    names: tuple[str, ...] = field(repr=False)
    called: str = field(repr=False, default=_ROWS)

    @classmethod
    def open(cls, file: OpenedFile) -> "CsvFile":
        """Open the file by its header."""
        require("pyarrow")
        from neyman.tables._sources._csv import header

        return cls(file, header(file.path))

    @property
    @override
    def identity(self) -> str:
        return self.file.identity

    @property
    @override
    def relation(self) -> Tree:
        return sql.relation(self.called)

    @override
    def schema(self) -> Schema:
        columns = (Column(name, f"c{i}", FREE_TEXT) for i, name in enumerate(self.names))
        return Schema(tuple(columns), told=False)

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
        return True

    @override
    def at(self, place: int) -> "CsvFile":
        return replace(self, called=f"{_ROWS}_{place}")

    @override
    def load(self, connection: duckdb.DuckDBPyConnection, columns: Container[str]) -> None:
        from neyman.tables._sources._csv import tables

        width = len(self.names)
        wanted = [i for i in range(width) if f"c{i}" in columns] or [0]
        declared = ", ".join(f"c{i} VARCHAR" for i in wanted)
        connection.execute(f"CREATE TABLE {self.called} ({declared})")
        for table in tables(self.file.path, width, wanted):
            _insert(connection, self.called, table)

    @override
    def check(self) -> None:
        self.file.check()


def _insert(connection: duckdb.DuckDBPyConnection, into: str, table: object) -> None:
    # Block by block: a reader that DuckDB calls back can be read once only.
    connection.register(_BLOCK, table)
    connection.execute(f"INSERT INTO {into} FROM {_BLOCK}")
    connection.unregister(_BLOCK)
