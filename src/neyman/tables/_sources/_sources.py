"""The engine for each kind of source."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias, cast

from neyman.errors import InvalidTable
from neyman.tables._engines._duckdb_engine import DuckDB
from neyman.tables._engines._duckdb_source import Source
from neyman.tables._engines._engine import Engine
from neyman.tables._sources._attached import attached
from neyman.tables._sources._files import open_file
from neyman.tables._sources._frames import frame
from neyman.tables._sources._several import is_of_several, open_files

__all__ = ["engine_of"]

_Classes: TypeAlias = Mapping[tuple[str, str], Callable[..., Engine]]


def engine_of(source: object, name: str | None) -> Engine:
    """Return the engine for a file, several files, a pair (connection, "table") or a data frame.

    This does not import an engine's package; the code that made the source did.

    Raises:
        InvalidTable: if it is another object, or cannot be read.
        MissingExtra: if a package is missing.
    """
    match source:
        case Path():
            return _file(source, name)
        case str():
            # Text may have been meant for the name of a table.
            return _file(
                Path(source), name, ', a pair (connection, "table"), or a data frame with a name'
            )
        case list():
            return _files(cast("list[object]", source), name)
        case tuple():
            return _pair(cast("tuple[object, ...]", source), name)
        case _:
            return _by_class(source, _FRAMES)(source, name)


def _file(path: Path, name: str | None, instead: str = "") -> Engine:
    if is_of_several(path):
        return _files([path], name)
    _refuse_named(name)
    return _duckdb(open_file(path, instead=instead))


def _files(paths: Sequence[object], name: str | None) -> Engine:
    if all(isinstance(path, str | Path) for path in paths):
        _refuse_named(name)
    return _duckdb(open_files(paths))


def _refuse_named(name: str | None) -> None:
    if name is not None:
        raise InvalidTable(f"a file names itself; leave name out (got name={name!r})")


def _pair(pair: tuple[object, ...], name: str | None) -> Engine:
    match pair:
        case (connection, str(table)):
            return _by_class(connection, _PAIRS)(connection, table, name)
        case _:
            return _duckdb(attached(pair, name))


def _by_class(given: object, classes: _Classes) -> Callable[..., Engine]:
    """Return the engine by package and name of one of the source's bases, without imports."""
    for kind in type(given).__mro__:
        found = classes.get((kind.__module__.partition(".")[0], kind.__name__))
        if found is not None:
            return found
    return classes["", ""]


def _duckdb(source: Source) -> DuckDB:
    return DuckDB((source,), source.schema())


def _duckdb_pair(connection: object, table: str, name: str | None) -> Engine:
    return _duckdb(attached((connection, table), name))


def _duckdb_frame(data: object, name: str | None) -> Engine:
    return _duckdb(frame(data, name))


def _spark_pair(session: Any, table: str, name: str | None) -> Engine:
    from neyman.tables._engines._spark_source import spark_table

    return spark_table(session, table, name)


def _spark_frame(data: Any, name: str | None) -> Engine:
    from neyman.tables._engines._spark_source import spark_frame

    return spark_frame(data, name)


def _postgres_pair(connection: Any, table: str, name: str | None) -> Engine:
    from neyman.tables._engines._postgres_source import postgres_table

    return postgres_table(connection, table, name)


# "" is whatever the others are not: DuckDB takes it, or says what to write.
_PAIRS: _Classes = {
    ("pyspark", "SparkSession"): _spark_pair,
    ("psycopg", "Connection"): _postgres_pair,
    ("", ""): _duckdb_pair,
}
_FRAMES: _Classes = {("pyspark", "DataFrame"): _spark_frame, ("", ""): _duckdb_frame}
