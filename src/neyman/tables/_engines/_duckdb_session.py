"""A private DuckDB connection that reads nothing but what it is told to."""

import tempfile
from collections.abc import Generator
from contextlib import contextmanager

import duckdb

from neyman.tables._engines._room import Room

__all__ = ["private_session"]


@contextmanager
def private_session(room: Room) -> Generator[duckdb.DuckDBPyConnection, None, None]:
    """Open an in-memory database; what it spills goes to a directory of its own, then away.

    The directory is the user's alone (mode 0700). Left to itself DuckDB would write rows to `.tmp`
    in the working directory, which others may read.
    """
    with tempfile.TemporaryDirectory(prefix="neyman-", dir=room.folder) as spill:
        settings: dict[str, str | bool | int | float | list[str]] = {
            "temp_directory": spill,
            "autoinstall_known_extensions": False,
        }
        if room.counted is not None:
            settings["memory_limit"] = f"{room.counted}B"
        connection = duckdb.connect(":memory:", config=settings)
        try:
            # Some versions draw one on any output; how far a query is tells of the rows.
            connection.execute("SET enable_progress_bar = false")
            # The least and greatest values that a Parquet file tells of leave NaN out, and by them
            # the optimizer takes it for decided that no value is NaN.
            connection.execute("SET disabled_optimizers = 'statistics_propagation'")
            yield connection
        finally:
            connection.close()
