"""Spark: one statement over the whole cluster, which returns integers only."""
# pyright: basic, reportMissingImports=false

import logging
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from threading import Lock, get_ident
from typing import Any, final
from uuid import uuid4

import numpy.typing as npt
from sqlglot import exp

from neyman.errors import InvalidTable
from neyman.overriding import override
from neyman.tables import _sql as sql
from neyman.tables._engines._engine import Engine
from neyman.tables._engines._running import interruptible
from neyman.tables._engines._spark_functions import stand_ins
from neyman.tables._engines._spark_words import SPELLING
from neyman.tables._engines._stand_ins import refuse_stand_ins
from neyman.tables._schema import Schema
from neyman.tables._sql import Tree

__all__ = ["Spark"]

# PySpark writes errors to these of its own accord, with what the engine says of them.
_TELLTALES = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")


@final
@dataclass(frozen=True, slots=True)
class Spark(Engine):
    """The engine for a table of a Spark session, and for joined tables.

    Attributes:
        session: the user's session.
        frames: functions that return the rows as data frames, with columns named by position.
        labels: the identities of the datasets.
        columns: the schema of the first when it was opened.
        views: temporary names of the frames while a statement is parsed.
        lock: one statement of the table is parsed at a time; several can run.
    """

    session: Any = field(repr=False)
    frames: tuple[Callable[[], Any], ...] = field(repr=False)
    labels: tuple[str, ...] = field(repr=False)
    columns: Schema
    views: tuple[str, ...] = field(repr=False, default_factory=lambda: (f"neyman_{uuid4().hex}",))
    lock: Lock = field(repr=False, compare=False, default_factory=Lock)

    @property
    @override
    def name(self) -> str:
        return "Spark"

    @property
    @override
    def identities(self) -> tuple[str, ...]:
        return self.labels

    @property
    @override
    def relation(self) -> Tree:
        return sql.relation(self.views[0])

    @property
    @override
    def schema(self) -> Schema:
        return self.columns

    @property
    @override
    def tables(self) -> int:
        return len(self.frames)

    @override
    def beside(self, other: Engine) -> tuple[Engine, Tree]:
        if not isinstance(other, Spark) or other.session is not self.session:
            raise InvalidTable(
                f"a table of {other.name} cannot be joined with one of this session of Spark; "
                "read both in one session"
            )
        both = replace(
            self,
            frames=self.frames + other.frames,
            labels=self.labels + other.labels,
            views=self.views + other.views,
        )
        return both, other.relation

    def check(self) -> None:
        """Do nothing: there is nothing to compare."""

    @override
    def stand_ins(self, *statements: exp.Query) -> Sequence[str]:
        return stand_ins(self.session, *map(self.text, statements))

    @override
    def text(self, statement: exp.Query) -> str:
        return SPELLING.text(statement)

    @override
    def read(self, statement: exp.Query) -> list[npt.NDArray[Any]]:
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

    @override
    def is_interrupt(self, error: Exception) -> bool:  # noqa: ARG002
        return False

    def _planned(self, text: str) -> Any:
        with self.lock, ExitStack() as undo:
            refuse_stand_ins(self.name, lambda: stand_ins(self.session, text))
            for view, frame in zip(self.views, self.frames, strict=True):
                frame().createOrReplaceTempView(view)
                undo.callback(self.session.catalog.dropTempView, view)
            planned = self.session.sql(text)
            # Now that every name in the statement stands for one function, and no row is read.
            refuse_stand_ins(self.name, lambda: stand_ins(self.session, text))
            return planned


@contextmanager
def _silent() -> Generator[None, None, None]:
    """Suppress PySpark's error logs from this thread."""
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
