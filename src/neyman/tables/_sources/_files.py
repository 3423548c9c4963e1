"""Parquet and CSV files."""

from collections.abc import Callable, Container
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import final

import duckdb
from sqlglot import exp

from neyman.errors import InvalidTable
from neyman.tables import _sql as sql
from neyman.tables._engines._duckdb_session import private_session
from neyman.tables._engines._duckdb_source import Source, described, opened
from neyman.tables._engines._room import Room
from neyman.tables._extra import require
from neyman.tables._kind import FREE_TEXT
from neyman.tables._schema import Column, Schema, refuse_alike
from neyman.tables._sources._fingerprint import OpenedFile, opened_file
from neyman.tables._sql import Tree

__all__ = ["open_file"]

_ROWS, _BLOCK = "neyman_csv", "neyman_block"
_GLOB = str.maketrans({sign: f"[{sign}]" for sign in "*?["})


def open_file(path: Path, *, instead: str = "") -> Source:
    """Return the source that the suffix of `path` names.

    Args:
        path: of the file.
        instead: what else could have been given in its place, for the error.

    Raises:
        InvalidTable: if there is no such file, it cannot be read, or it has another suffix.
    """
    if _is_directory(path):
        raise InvalidTable(f"{path} is a directory; write the path of one .parquet or .csv file")
    opens = {".parquet": ParquetFile, ".csv": CsvFile.open}.get(path.suffix.lower())
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
    """One Parquet file."""

    file: OpenedFile = field(repr=False)

    @property
    def identity(self) -> str:
        """The content's."""
        return self.file.identity

    @property
    def relation(self) -> Tree:
        """The file alone: no columns made of its directory's name."""
        return _reader(
            self.file.path,
            lambda path, options: exp.ReadParquet(expressions=[path, *options]),
            hive_partitioning=exp.false(),
        )

    def schema(self) -> Schema:
        """Read the footer."""
        return opened(self._schema, "the Parquet file")

    @property
    def host(self) -> None:
        """None: any connection reads it."""
        return

    @property
    def files(self) -> tuple[str, ...]:
        """The path, as it is and as it is written for DuckDB."""
        return self.file.path, _pattern(self.file.path)

    @property
    def is_file(self) -> bool:
        """What its footer says of NaN must not be believed."""
        return True

    def at(self, place: int) -> "ParquetFile":  # noqa: ARG002
        """Its path serves at all places."""
        return self

    def load(self, connection: duckdb.DuckDBPyConnection, columns: Container[str]) -> None:
        """Nothing: DuckDB reads it where it lies."""

    def check(self) -> None:
        """Compare size and time."""
        self.file.check()

    def _schema(self) -> Schema:
        footer = _reader(
            self.file.path,
            lambda path, _: exp.Anonymous(this="parquet_schema", expressions=[path]),
        )
        query = exp.select("name", "num_children").from_(footer)
        with private_session(Room(), self.files) as connection:
            # DuckDB renames columns that differ by case; their own names are in the footer.
            nodes = connection.execute(query.sql(dialect="duckdb")).fetchall()
            refuse_alike(_top(nodes))
            return described(connection, self.relation)


def _top(nodes: list[tuple[str, int | None]]) -> list[str]:
    """Names of the root's children, out of a walk in depth-first order."""
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
    """One comma-separated file: text columns, one row a line at most."""

    file: OpenedFile = field(repr=False)
    names: tuple[str, ...] = field(repr=False)
    called: str = field(repr=False, default=_ROWS)

    @classmethod
    def open(cls, file: OpenedFile) -> "CsvFile":
        """Read the header."""
        require("pyarrow")
        from neyman.tables._sources._csv import header

        return cls(file, header(file.path))

    @property
    def identity(self) -> str:
        """The content's."""
        return self.file.identity

    @property
    def relation(self) -> Tree:
        """The rows, copied for one question into its private database."""
        return sql.relation(self.called)

    def schema(self) -> Schema:
        """All columns are text."""
        columns = (Column(name, f"c{i}", FREE_TEXT) for i, name in enumerate(self.names))
        return Schema(tuple(columns), told=False)

    @property
    def host(self) -> None:
        """None: it is copied."""
        return

    @property
    def files(self) -> tuple[str, ...]:
        """None: Python reads it."""
        return ()

    @property
    def is_file(self) -> bool:
        """It is copied into a private database."""
        return True

    def at(self, place: int) -> "CsvFile":
        """Call the copy by the place."""
        return replace(self, called=f"{_ROWS}_{place}")

    def load(self, connection: duckdb.DuckDBPyConnection, columns: Container[str]) -> None:
        """Fill a table, which spills to disk what memory cannot hold."""
        from neyman.tables._sources._csv import tables

        width = len(self.names)
        wanted = [i for i in range(width) if f"c{i}" in columns] or [0]
        declared = ", ".join(f"c{i} VARCHAR" for i in wanted)
        connection.execute(f"CREATE TABLE {self.called} ({declared})")
        # Block by block: a reader that DuckDB calls back can be read once only.
        for table in tables(self.file.path, width, wanted):
            connection.register(_BLOCK, table)
            connection.execute(f"INSERT INTO {self.called} FROM {_BLOCK}")
            connection.unregister(_BLOCK)

    def check(self) -> None:
        """Compare size and time."""
        self.file.check()
