"""DuckDB: embedded, out of core, over Parquet, CSV, Arrow and attached databases."""

from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import final

import duckdb
import numpy as np
from sqlglot import exp

from neyman.aggregate import IntArray
from neyman.errors import EngineFailure
from neyman.tables._duckdb_source import Source
from neyman.tables._engine import Engine
from neyman.tables._schema import SOURCE, Schema
from neyman.tables._sql import Tree

__all__ = ["DuckDB"]


@final
@dataclass(frozen=True, slots=True)
class DuckDB(Engine):
    """A source that DuckDB reads.

    Attributes:
        source: where the rows lie.
        columns: its schema when it was opened.
    """

    source: Source = field(repr=False)
    columns: Schema

    @property
    def identity(self) -> str:
        """The source's own."""
        return self.source.identity

    @property
    def relation(self) -> Tree:
        """The source's own."""
        return self.source.relation

    @property
    def schema(self) -> Schema:
        """Read when the table was opened."""
        return self.columns

    def integers(self, statement: exp.Query, width: int) -> IntArray:
        """Run one statement and return its rows of `width` integers."""
        text = statement.sql(dialect="duckdb")
        read = {node.name for node in statement.find_all(exp.Column) if node.table == SOURCE}
        self.source.check()
        answer: IntArray | None = None
        stopped = False
        try:
            with self.source.session(read) as connection:
                answer = _fetched(connection, text)
        except KeyboardInterrupt:
            stopped = True
        except Exception as error:
            stopped = _is_interrupt(error)
        # Raised out here, so that the engine's own error does not come along as its context.
        if stopped:
            raise KeyboardInterrupt
        if answer is None or answer.shape[1] != width:
            raise EngineFailure(
                "DuckDB failed while it read the table, and its own words are withheld, for they "
                "can quote private values. Data may have been touched, so the entry stays "
                "charged; remove the cause (memory, disk, a damaged file) and "
                "ask once more under the same entry id"
            )
        return answer


def _fetched(connection: duckdb.DuckDBPyConnection, text: str) -> IntArray:
    """Run a query in a thread of its own: DuckDB may not hear of Ctrl-C, and Python does."""
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(lambda: connection.execute(text).fetchnumpy())
        try:
            found = running.result()
        except KeyboardInterrupt:
            # Again and again: a query that has not begun yet would not hear of it.
            while not running.done():
                connection.interrupt()
                wait([running], timeout=0.05)
            raise
    return np.column_stack([np.asarray(part, np.int64) for part in found.values()])


def _is_interrupt(error: Exception) -> bool:
    """Tell Ctrl-C, which DuckDB swallows and puts an error of its own in place of."""
    if isinstance(error, duckdb.InterruptException):
        return True
    return type(error) is RuntimeError and str(error) == "Query interrupted"
