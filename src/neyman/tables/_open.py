"""Rows, wherever they lie, opened for questions."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

from neyman.calls import plain_calls
from neyman.errors import InvalidParameter, UnknownColumn
from neyman.tables._bounds import Bounds
from neyman.tables._engines._room import Room
from neyman.tables._joins._owners import owned
from neyman.tables._mistakes import refuse_no_unit
from neyman.tables._schema import Schema
from neyman.tables._sources._sources import engine_of
from neyman.tables._table import Table
from neyman.tables._unit import Unit
from neyman.tables._view import View

__all__ = ["open_table"]

_MOST: Final = 2**62


@plain_calls
def open_table(
    source: object,
    *,
    unit: Unit,
    bounds: Mapping[str, Bounds] = MappingProxyType({}),
    max_table_rows: int = 2**40,
    name: str | None = None,
    memory_limit: str | None = None,
    temporary_directory: str | Path | None = None,
) -> Table:
    """Open a table for questions; its schema is read, its rows are not.

    Args:
        source: the path of a .parquet or .csv file; several: a list of paths, a pattern such as
            "visits/*.parquet", or a folder, whose own folders such as year=2025 are a column; a
            pyarrow Table, a DataFrame of pandas,
            Polars or Spark, or a pair (connection, "table") of DuckDB or PostgreSQL or
            (SparkSession, "table"). A file is known by its content, which is read once for it
            when the first question is built: SHA-256, kept by a ledger only under its own secret
            key.
        unit: `Rows()`, or `Entity(column, max_rows, max_rows_per)`, with a
            `ForeignKey` in the column's place where another table names the unit.
        bounds: of each column that is added up.
        max_table_rows: rows of one group beyond which an answer is clamped; with bounds of w grid
            steps, w max_table_rows must be within 2^62.
        name: of data in memory or in Spark, which have none; stands for them in the ledger.
        memory_limit: of a file or a data frame, such as "2GB" or "1.5GiB", at least "500MB": the
            most that a process holds that asks one question at a time, without a frame's own
            columns. DuckDB takes 85 % of what is left beside 200 MB for libraries, and spills the
            rest. None leaves it 80 % of the machine's memory.
        temporary_directory: a folder. What memory does not hold, the **private rows** themselves,
            is written under it: into a new folder of your user's alone (mode 0700), not encrypted,
            and removed after each question. None is the system's directory for temporary files.

    Raises:
        InvalidTable: if the source, the unit, a column or a type is not usable as declared; if a
            limit of memory is given for a connection, whose own settings hold.
        InvalidParameter: if a limit is no number or size in its range, or the folder is none.
        UnknownColumn: if the table lacks a declared column.
        MissingExtra: if a data frame or a CSV file is given and pyarrow is not installed.
    """
    if type(max_table_rows) is not int or not 1 <= max_table_rows <= _MOST:
        raise InvalidParameter(
            f"max_table_rows={max_table_rows!r} is not an integer in [1, 2^62]; write one"
        )
    refuse_no_unit(unit)
    room = Room.of(memory_limit, temporary_directory)
    engine = engine_of(source, name).within(room)
    view = View(engine.schema, engine.relation)
    if unit.through is not None:
        engine, view = owned(engine, view, unit.through)
    if unit.entity is not None:
        view.schema[unit.entity].identity()
        for column in unit.grouped:
            _refuse_made_later(view.schema, column)
    table = Table(engine, view, unit, MappingProxyType({}), max_table_rows)
    return table.with_bounds(bounds)


def _refuse_made_later(schema: Schema, column: str) -> None:
    """Refuse a limit of the groups of a column that the table does not have."""
    missing: UnknownColumn | None = None
    try:
        schema[column]
    except UnknownColumn as error:
        missing = error
    if missing is not None:
        raise UnknownColumn(
            f"max_rows_per has a limit for each group of {column!r}: {missing}. If you make "
            "it by with_columns, leave it out of max_rows_per and set the limit after it: "
            f"with_columns({column}=...).bounded(max_rows_per_group=1)"
        )
