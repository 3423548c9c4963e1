"""DuckDB: embedded, out of core, over Parquet, CSV, Arrow and attached databases."""

from dataclasses import dataclass, field
from typing import Any, final

import duckdb
import numpy as np
import numpy.typing as npt
from sqlglot import exp

from neyman.tables._duckdb_source import Source
from neyman.tables._engine import Engine
from neyman.tables._running import interruptible
from neyman.tables._schema import SOURCE, Schema
from neyman.tables._spelling import Spelling
from neyman.tables._sql import Tree

__all__ = ["DuckDB"]

# The tree is written in its words.
_SPELLING = Spelling("duckdb", {})


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
    def name(self) -> str:
        """DuckDB."""
        return "DuckDB"

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

    def check(self) -> None:
        """Ask the source."""
        self.source.check()

    def text(self, statement: exp.Query) -> str:
        """Spell it."""
        return _SPELLING.text(statement)

    def read(self, statement: exp.Query) -> list[npt.NDArray[Any]]:
        """Run one statement over the columns that it names."""
        text = self.text(statement)
        columns = {node.name for node in statement.find_all(exp.Column) if node.table == SOURCE}
        with self.source.session(columns) as connection:
            found = interruptible(
                lambda: connection.execute(text).fetchnumpy(), connection.interrupt
            )
        return [np.asarray(part) for part in found.values()]

    def is_interrupt(self, error: Exception) -> bool:
        """Tell Ctrl-C, which DuckDB swallows and puts an error of its own in place of."""
        if isinstance(error, duckdb.InterruptException):
            return True
        return type(error) is RuntimeError and str(error) == "Query interrupted"
