"""A data frame of Spark, or a table of its catalog."""
# pyright: basic, reportMissingImports=false

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from sqlglot import exp

from neyman.errors import InvalidTable
from neyman.tables import _instant as instant
from neyman.tables import _kind as kind
from neyman.tables import _sql as sql
from neyman.tables._engines._spark_engine import Spark
from neyman.tables._extra import TESTED, outside
from neyman.tables._schema import Column, Schema
from neyman.tables._sql import Tree

__all__ = ["spark_frame", "spark_table"]

_Told = TypeVar("_Told")


def _local(value: Tree) -> Tree:
    """Return a timestamp without a zone from its parts: a session's zone would skip hours."""
    first = sql.cast(sql.text(instant.FIRST), "DATE")
    days = exp.DateDiff(this=sql.cast(value, "DATE"), expression=first, unit=exp.var("DAY"))
    low, high = sql.integer(0), sql.integer(instant.LAST_DAY)
    near = sql.cast(sql.clamped(low.copy(), days.copy(), high.copy()), "BIGINT")
    found: Tree = exp.Mul(this=near, expression=sql.wide(instant.DAY))
    for unit, size in (("HOUR", 3_600_000_000), ("MINUTE", 60_000_000), ("SECOND", 1_000_000)):
        part = exp.Extract(this=exp.var(unit), expression=value.copy())
        found = found + sql.cast(exp.paren(part * sql.wide(size)), "BIGINT")
    return instant.between(days, low, high, found)


def _absolute(value: Tree) -> Tree:
    return instant.since_epoch(sql.call("UNIX_MICROS", value))


_KINDS = {
    **dict.fromkeys(("string", "varchar", "char"), kind.TEXT),
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint"), kind.INTEGER),
    "float": kind.NARROW_FLOAT,
    "double": kind.FLOAT,
    "boolean": kind.BOOLEAN,
    "date": kind.DATE,
    "timestamp": kind.timestamp(_absolute),
    "timestamp_ntz": kind.timestamp(_local),
}
_TABLES = ("MANAGED", "EXTERNAL")


def spark_frame(data: Any, name: str | None) -> Spark:
    """Return the engine for a data frame of Spark.

    Raises:
        InvalidTable: if it has no name, is a stream, draws random numbers, cannot be read, or
            belongs to a session of another process.
    """
    label = _named(f"the {type(data).__name__} of Spark is a plan and", name)
    _refuse_remote(data)
    _refuse_untested(data.sparkSession)
    stream, drawn = _told(
        # Whether a plan is deterministic, the JVM alone tells.
        lambda: (data.isStreaming, not data._jdf.queryExecution().analyzed().deterministic()),  # noqa: SLF001
        "the DataFrame of Spark cannot be read; check that its session runs",
    )
    if stream:
        raise InvalidTable(
            "the DataFrame of Spark is a stream, which has no end; write what has come to a table"
        )
    if drawn:
        raise InvalidTable(
            "the DataFrame of Spark draws random numbers, and holds other rows whenever it is "
            "read; write them to a table or a file first, and read that"
        )
    fields = _fields(lambda: data, "the DataFrame of Spark cannot be read")
    return _engine(data.sparkSession, lambda: data, f"spark:{label}", fields)


def spark_table(session: Any, table: str, name: str | None) -> Spark:
    """Return the engine for a table of a Spark session's catalog, temporary or not.

    Raises:
        InvalidTable: if there is no such table, it is a view, or you gave no name.
    """
    label = _named(
        "a catalog of Spark is called the same on every cluster, so that its table", name
    )
    _refuse_remote(session)
    _refuse_untested(session)
    found = _told(
        lambda: session.catalog.getTable(table),
        f"the session of Spark has no table {table!r}; write its name, with catalog and database "
        "in front where they are not the current ones",
    )
    if found.tableType not in _TABLES:
        raise InvalidTable(
            f"{table!r} is a view, and a view can mix the rows of many units, or fail on some; "
            "name the table itself, or write the view's rows to a table of its own first"
        )
    parts = (found.catalog, *found.namespace, found.name)
    full = ".".join(map(_quoted, parts))

    def frame() -> Any:
        return session.table(full)

    fields = _fields(frame, f"the table {table!r} cannot be read; check its files")
    return _engine(session, frame, f"spark:{label}:{'.'.join(parts)}", fields)


def _engine(
    session: Any, frame: Callable[[], Any], label: str, fields: Sequence[tuple[str, str]]
) -> Spark:
    columns = tuple(
        # A collation after the type does not matter: text is compared by its bytes.
        Column(name, f"c{i}", _kind(declared))
        for i, (name, declared) in enumerate(fields)
    )
    schema = Schema(columns)

    def placed() -> Any:
        from pyspark.sql.functions import col, try_validate_utf8

        # Text can be of any bytes there; what is no UTF-8 is NULL, as for all engines.
        found = (
            try_validate_utf8(col(_quoted(c.name))) if c.kind is kind.TEXT else col(_quoted(c.name))
            for c in columns
        )
        # By place: what users call their columns stands in no statement.
        return frame().select(
            *(value.alias(c.inside) for value, c in zip(found, columns, strict=True))
        )

    types = ", ".join(declared for _, declared in fields)
    return Spark(session, (placed,), (f"{label}:{schema.names}:{types}",), schema)


def _kind(declared: str) -> kind.Kind:
    if declared.startswith("decimal("):
        return kind.exact(declared.upper(), kind.double_by_text)
    return kind.kind_of(declared.partition(" ")[0], _KINDS)


def _fields(frame: Callable[[], Any], problem: str) -> list[tuple[str, str]]:
    return _told(lambda: [(f.name, f.dataType.simpleString()) for f in frame().schema], problem)


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _named(what: str, name: str | None) -> str:
    if name is None:
        raise InvalidTable(
            f"{what} has no name; write name=..., which stands for these data in the ledger: "
            "another name is another dataset"
        )
    return name


def _refuse_remote(given: Any) -> None:
    if type(given).__module__.startswith("pyspark.sql.connect"):
        raise InvalidTable(
            f"the {type(given).__name__} is of Spark Connect, which is not supported; write one "
            "of a session in this process, as SparkSession.builder.master(...) makes it"
        )


def _refuse_untested(session: Any) -> None:
    version, (first, beyond) = str(session.version), TESTED["pyspark"]
    if outside(version, first, beyond):
        raise InvalidTable(
            f"Spark must be at least {first} and below {beyond}, the versions that neyman was "
            f"tested with; the session is of Spark {version}. Write "
            f"pip install 'pyspark>={first},<{beyond}', or copy the table to a Parquet file"
        )


def _told(ask: Callable[[], _Told], problem: str) -> _Told:
    """Return Spark's result; replace its errors by `problem`, because they can quote rows."""
    told: _Told | None = None
    with suppress(Exception):
        told = ask()
    if told is None:
        raise InvalidTable(problem)
    return told
