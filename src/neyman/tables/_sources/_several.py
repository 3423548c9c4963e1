"""Several files as one table: a list, a pattern such as visits/*.parquet, or a folder.

Names of folders such as year=2025 are columns of their files' rows. They are public, like the names
of files: types and errors depend on them.
"""
# pyarrow carries no types of its own.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportMissingTypeStubs=false, reportUnknownArgumentType=false

import glob
import hashlib
import json
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Any, Final, TypeAlias, final
from urllib.parse import unquote

import duckdb
from sqlglot import exp

from neyman.errors import InvalidTable
from neyman.overriding import override
from neyman.tables import _kind as kind
from neyman.tables import _sql as sql
from neyman.tables._engines._duckdb_source import Source
from neyman.tables._key import key_text
from neyman.tables._kind import Kind
from neyman.tables._schema import Column, Schema
from neyman.tables._sources._files import CsvFile, ParquetFile, open_file
from neyman.tables._sources._fingerprint import OpenedFile, opened_file
from neyman.tables._sql import Tree

__all__ = ["files_of", "is_of_several", "open_files"]

_Folders: TypeAlias = Mapping[str, str | None]

_ROWS: Final = "neyman_files"
_SUFFIXES: Final = (".parquet", ".csv")
_MOST: Final = 4096
_SIGNS: Final = frozenset("*?[")
# What Hive writes where there is no value.
_NULL: Final = "__HIVE_DEFAULT_PARTITION__"
_WHOLE: Final = re.compile(r"-?(0|[1-9][0-9]{0,17})")
_SEEN: Final = (
    "is made of the names of folders, which everybody can see, and cannot name a unit; write a "
    "column of the files that does"
)
_TYPES: Final[Mapping[type, tuple[Kind, str]]] = {
    int: (kind.INTEGER, "BIGINT"),
    date: (kind.DATE, "DATE"),
    str: (kind.TEXT, "TEXT"),
}


def is_of_several(path: Path) -> bool:
    """Return whether a path is a folder, or a pattern and not a file."""
    with suppress(OSError, ValueError):
        return path.is_dir() or (not _SIGNS.isdisjoint(str(path)) and not path.exists())
    return False


def files_of(path: Path) -> tuple[Path, ...]:
    """Return the present files of a path: itself, or those of a folder or a pattern."""
    with suppress(InvalidTable):
        return tuple(_of_path(path))
    return (path,)


def open_files(paths: Sequence[object]) -> Source:
    """Return the source of several files, folders and patterns.

    Raises:
        InvalidTable: if there are no files or too many, one occurs twice or cannot be read, or they
            do not have the same columns of the same types.
    """
    found = list(_found(paths))
    if not 0 < len(found) <= _MOST:
        raise InvalidTable(
            f"a table must have 1 to {_MOST:,} files; got {len(found):,}. Write the paths of "
            ".parquet or .csv files, a pattern such as 'visits/*.parquet', or a folder of them"
        )
    suffixes = sorted({path.suffix.lower() for path, _ in found})
    if len(suffixes) > 1:
        raise InvalidTable(
            f"the files of one table must be of one kind; got {' and '.join(suffixes)}. Write "
            "those of one kind, or a pattern such as 'visits/*.parquet'"
        )
    folders = _folders(found)
    first = open_file(found[0][0])
    if len(found) == 1 and not folders:
        return first
    parts = [first, *(_alike(first, found[0][0], path) for path, _ in found[1:])]
    _refuse_twice(found, parts)
    named = [tuple(column[i] for column in folders.values()) for i in range(len(parts))]
    return SeveralFiles(tuple(parts), _schema(parts[0], folders), tuple(named))


@final
@dataclass(frozen=True, slots=True)
class SeveralFiles(Source):
    """The rows of all files, with columns from the names of their folders.

    Attributes:
        parts: the files.
        columns: the columns of each file, then those of the folders' names.
        folders: the values of these last columns, for each file.
        called: the name of the rows in a statement.
    """

    parts: tuple[Source, ...] = field(repr=False)
    columns: Schema = field(repr=False)
    folders: tuple[tuple[int | date | str | None, ...], ...] = field(repr=False)
    called: str = field(repr=False, default=_ROWS)

    @property
    @override
    def identity(self) -> str:
        told = [
            [part.identity, [None if value is None else key_text(value) for value in values]]
            for part, values in zip(self.parts, self.folders, strict=True)
        ]
        names = [column.name for column in self._of_folders]
        written = json.dumps([names, sorted(map(json.dumps, told))])
        return f"files:{len(told)}:sha256:{hashlib.sha256(written.encode()).hexdigest()}"

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
        return tuple(path for part in self.parts for path in part.files)

    @property
    @override
    def is_file(self) -> bool:
        return True

    @override
    def at(self, place: int) -> "SeveralFiles":
        return replace(self, called=f"{_ROWS}_{place}")

    @override
    def load(self, connection: duckdb.DuckDBPyConnection, columns: Container[str]) -> None:
        own = len(self.columns.columns) - len(self._of_folders)
        wanted = [i for i in range(own) if self.columns.columns[i].inside in columns]
        rows: list[str] = []
        for i, (part, values) in enumerate(zip(self.parts, self.folders, strict=True)):
            here = _called(part, f"{self.called}_part_{i}")
            inside = [here.schema()[self.columns.columns[k].name].inside for k in wanted]
            here.load(connection, frozenset(inside))
            chosen = [
                sql.named(sql.column(name), self.columns.columns[k].inside)
                for k, name in zip(wanted, inside, strict=True)
            ]
            chosen += [
                sql.named(_constant(value, column), column.inside)
                for value, column in zip(values, self._of_folders, strict=True)
            ]
            query = exp.select(*(chosen or [sql.named(sql.integer(1), "one")]))
            rows.append(query.from_(here.relation).sql(dialect="duckdb"))
        connection.execute(f"CREATE VIEW {self.called} AS {' UNION ALL '.join(rows)}")

    @override
    def check(self) -> None:
        for part in self.parts:
            part.check()

    @property
    def _of_folders(self) -> tuple[Column, ...]:
        number = len(self.folders[0])
        return self.columns.columns[len(self.columns.columns) - number :]


def _called(part: Source, name: str) -> Source:
    match part:
        case ParquetFile() | CsvFile():
            return replace(part, called=name)
        case _:
            return part


def _constant(value: int | date | str | None, column: Column) -> Tree:
    declared = next(name for held, name in _TYPES.values() if held.keys == column.kind.keys)
    if value is None:
        return sql.cast(exp.null(), declared)
    return sql.cast(sql.text(key_text(value)), declared)


def _found(paths: Sequence[object]) -> Iterator[tuple[Path, _Folders]]:
    """Yield each file, with the values in the names of its folders."""
    for given in paths:
        if not isinstance(given, str | Path):
            raise InvalidTable(
                f"a list of files must hold paths; got a {type(given).__name__}. Write for example "
                '["visits-2024.parquet", "visits-2025.parquet"]'
            )
        path = Path(given)
        for file in _of_path(path):
            yield file, _said(file)


def _of_path(path: Path) -> list[Path]:
    if not is_of_several(path):
        return [path]
    if path.is_dir():
        inside = sorted(_readable(path.rglob("*")))
        files = [file for file in inside if not _is_hidden(file.relative_to(path))]
    else:
        # A pattern may begin at the root, which no method of a path takes.
        found = [Path(file) for file in sorted(glob.glob(str(path), recursive=True))]  # noqa: PTH207
        files = [inner for file in found for inner in _of_path(file)]
    if not files:
        what = "folder" if path.is_dir() else "pattern"
        raise InvalidTable(
            f"the {what} {path} has no .parquet or .csv files; write the path of one that has"
        )
    return files


def _readable(found: Iterable[Path]) -> Iterator[Path]:
    # A folder can have such a name as well, and what is in it is found by itself.
    return (file for file in found if file.suffix.lower() in _SUFFIXES and file.is_file())


def _is_hidden(path: Path) -> bool:
    # Programs put notes of their own beside the files.
    return any(part.startswith((".", "_")) for part in path.parts)


def _said(file: Path) -> _Folders:
    said: dict[str, str | None] = {}
    for part in file.parts[:-1]:
        name, equals, value = part.partition("=")
        if name and equals:
            said[unquote(name)] = None if value == _NULL else unquote(value)
    return said


def _folders(
    found: Sequence[tuple[Path, _Folders]],
) -> dict[str, list[int | date | str | None]]:
    """Return the columns from the names of folders.

    Raises:
        InvalidTable: if the files are not all in folders with the same names.
    """
    names = list(found[0][1])
    for path, said in found:
        if sorted(said) != sorted(names):
            raise InvalidTable(
                f"all files of one table must lie in folders of the same columns; {found[0][0]} "
                f"has {', '.join(names) or 'none'}, and {path} has {', '.join(said) or 'none'}. "
                "Open them apart, or move them"
            )
    return {name: _typed([said[name] for _, said in found]) for name in names}


def _typed(values: Sequence[str | None]) -> list[int | date | str | None]:
    known = [value for value in values if value is not None]
    if known and all(map(_WHOLE.fullmatch, known)):
        return [None if value is None else int(value) for value in values]
    with suppress(ValueError):
        if known and all(len(value) == len("2025-12-31") for value in known):
            return [None if value is None else date.fromisoformat(value) for value in values]
    return list(values)


def _schema(first: Source, folders: Mapping[str, Sequence[object]]) -> Schema:
    schema = first.schema()
    own = [replace(column, inside=f"c{i}") for i, column in enumerate(schema.columns)]
    for name, values in folders.items():
        types = {type(value) for value in values if value is not None} or {str}
        held, _ = _TYPES[types.pop()]
        # Whose a row is, no name of a folder says: it would be seen by everybody.
        own.append(Column(name, f"c{len(own)}", replace(held, identity=None, unnamed=_SEEN)))
    return Schema(tuple(own), told=schema.told)


def _refuse_twice(found: Sequence[tuple[Path, _Folders]], parts: Sequence[Source]) -> None:
    seen: dict[object, Path] = {}
    for (path, _), part in zip(found, parts, strict=True):
        # Not by paths: a file has as many as there are hard links to it.
        real = part.file.place if isinstance(part, ParquetFile | CsvFile) else str(path)
        if real in seen:
            raise InvalidTable(
                f"each file must be given once, or its rows count twice; got {path} and "
                f"{seen[real]}, which are one file. Leave one out"
            )
        seen[real] = path


def _alike(first: Source, path: Path, other: Path) -> Source:
    """Open a file that must have the same columns as the first, in any order.

    Raises:
        InvalidTable: if it cannot be read, or has other columns or types.
    """
    match first:
        case ParquetFile():
            opened = opened_file(other)
            ours, theirs = _types(first.file, path), _types(opened, other)
            # What the footer says makes the schema: DuckDB need not be asked again for the same.
            alike = ours == theirs
            part: Source = (
                replace(first, file=opened, sound={}) if alike else ParquetFile.open(opened)
            )
        case _:
            part = open_file(other)
            ours, theirs = (
                [(name, "text") for name in one.schema().names] for one in (first, part)
            )
    if sorted(ours) == sorted(theirs):
        return part
    what = "the first lines of the two CSV files have other names"
    if first.schema().told:
        here, there = dict(ours), dict(theirs)
        name = next(name for name in {**here, **there} if here.get(name) != there.get(name))
        what = (
            f"column {name!r} is {here.get(name, 'missing')} in the one and "
            f"{there.get(name, 'missing')} in the other"
        )
    raise InvalidTable(
        f"all files of one table must have the same columns of the same types; {path} and {other} "
        f"have not: {what}. Write both anew with one schema, or open them apart"
    )


def _types(file: OpenedFile, path: Path) -> list[tuple[str, str]]:
    """Return the paths and types of all columns in the order of the footer."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    schema: Any = None
    with suppress(OSError, pa.ArrowException):
        schema = parquet.ParquetFile(file.path).schema
    if schema is None:
        raise InvalidTable(f"{path} cannot be read; check that it is what its name says")
    leaves = [schema.column(i) for i in range(len(schema.names))]
    return [
        (leaf.path, f"{leaf.physical_type} ({leaf.logical_type}, {leaf.max_repetition_level})")
        for leaf in leaves
    ]
