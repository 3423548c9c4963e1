"""Spark: one statement over the whole cluster, of which integers alone come back."""
# pyright: basic, reportMissingImports=false

import logging
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from threading import Lock, get_ident
from typing import Any, final
from uuid import uuid4

import numpy.typing as npt
from sqlglot import exp

from neyman.tables import _sql as sql
from neyman.tables._engine import Engine
from neyman.tables._running import interruptible
from neyman.tables._schema import Schema
from neyman.tables._spark_words import SPELLING
from neyman.tables._sql import Tree

__all__ = ["Spark"]

# PySpark writes errors to these of its own accord, with what the engine says of them.
_TELLTALES = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")


@final
@dataclass(frozen=True, slots=True)
class Spark(Engine):
    """A table of a Spark session.

    Attributes:
        session: the user's.
        frame: returns the rows as a data frame, its columns called by their place.
        label: which dataset it is.
        columns: its schema when it was opened.
        view: what the frame is called while a statement is read, and no longer.
        lock: one statement of the table is read at a time; many may run.
    """

    session: Any = field(repr=False)
    frame: Callable[[], Any] = field(repr=False)
    label: str = field(repr=False)
    columns: Schema
    view: str = field(repr=False, default_factory=lambda: f"neyman_{uuid4().hex}")
    lock: Lock = field(repr=False, compare=False, default_factory=Lock)

    @property
    def name(self) -> str:
        """Spark."""
        return "Spark"

    @property
    def identity(self) -> str:
        """The name that the user gave, with the schema."""
        return self.label

    @property
    def relation(self) -> Tree:
        """A view for a moment."""
        return sql.relation(self.view)

    @property
    def schema(self) -> Schema:
        """Read when the table was opened."""
        return self.columns

    def check(self) -> None:
        """Nothing to compare."""

    def text(self, statement: exp.Query) -> str:
        """Spell it."""
        return SPELLING.text(statement)

    def read(self, statement: exp.Query) -> list[npt.NDArray[Any]]:
        """Run one statement, under a tag of its own."""
        text = self.text(statement)
        tag = f"neyman-{uuid4().hex}"
        context = self.session.sparkContext

        def work() -> list[npt.NDArray[Any]]:
            with _silent():
                # Of this thread, which ends with the work, and of those that Spark starts from it;
                # a session's own tags would be of this one alone.
                context.addJobTag(tag)
                found = self._planned(text).toArrow()
            return [column.to_numpy() for column in found.itercolumns()]

        return interruptible(work, lambda: context.cancelJobsWithTag(tag))

    def is_interrupt(self, error: Exception) -> bool:  # noqa: ARG002
        """No error of Spark's stands for Ctrl-C."""
        return False

    def _planned(self, text: str) -> Any:
        with self.lock:
            self.frame().createOrReplaceTempView(self.view)
            try:
                return self.session.sql(text)
            finally:
                self.session.catalog.dropTempView(self.view)


@contextmanager
def _silent() -> Generator[None, None, None]:
    """Let PySpark write no errors from this thread."""
    from pyspark.logger import PySparkLogger

    here = get_ident()

    def elsewhere(record: logging.LogRecord) -> bool:
        return record.thread != here

    with ExitStack() as undo:
        for name in _TELLTALES:
            logger = PySparkLogger.getLogger(name)
            logger.addFilter(elsewhere)
            undo.callback(logger.removeFilter, elsewhere)
        yield
