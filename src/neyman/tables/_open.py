"""Opening a table for questions."""

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
    """Open a table for questions; it reads the schema, but no rows.

    Args:
        source: the path of a .parquet or .csv file; for several files a list of paths, a pattern
            such as "visits/*.parquet", or a folder, where folders such as year=2025 are a column; a
            pyarrow Table; a DataFrame of pandas, Polars or Spark; or a pair (connection, "table")
            of DuckDB or PostgreSQL or (SparkSession, "table"). The identity of a file is the
            SHA-256 of its content, which is read when you build the first question. A ledger stores
            it only under its own secret key.
        unit: the privacy unit, `Rows()` or `Entity(column, max_rows, max_rows_per)`, with a
            `ForeignKey` as the column if another table names the unit.
        bounds: the bounds of each column that is summed.
        max_table_rows: number of rows of one group above which an answer is clamped. With bounds of
            w grid steps, w max_table_rows must be within 2^62.
        name: the name in the ledger of data in memory or in Spark, which have no name of their own.
        memory_limit: for a file or a data frame, such as "2GB" or "1.5GiB", at least "500MB": the
            most memory of a process with one question at a time, without a frame's own columns.
            DuckDB takes 85 % of the limit minus 200 MB for libraries, and spills the rest. None
            gives it 80 % of the machine's memory.
        temporary_directory: a folder. **Private rows** that do not fit into memory are written
            under it, not encrypted, into a new folder that only your user can read (mode 0700),
            which is removed after each question. None is the system's directory for temporary
            files.

    Raises:
        InvalidTable: if the source, the unit, a column or a type is not usable as declared, or a
            memory limit is given for a connection, which has its own settings.
        InvalidParameter: if a limit is not a number or size in its range, or the folder does not
            exist.
        UnknownColumn: if the table does not have a declared column.
        MissingExtra: if the source is a data frame or a CSV file and pyarrow is not installed.
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
    """Refuse a limit for groups of a column that the table does not have."""
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
