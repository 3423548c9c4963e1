"""PostgreSQL: one statement in a read-only session of its own."""
# pyright: basic, reportMissingImports=false

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, final

import numpy as np
import numpy.typing as npt
from sqlglot import exp

from neyman.errors import InvalidTable
from neyman.overriding import override
from neyman.tables import _sql as sql
from neyman.tables._engines._engine import Engine
from neyman.tables._engines._postgres_functions import stand_ins
from neyman.tables._engines._postgres_words import SPELLING
from neyman.tables._engines._running import interruptible
from neyman.tables._engines._stand_ins import refuse_stand_ins
from neyman.tables._schema import Schema
from neyman.tables._sql import Tree

__all__ = ["Postgres", "session"]

_SETTINGS = (
    # Names mean what the server means by them, whatever functions the database has.
    "SET search_path = pg_catalog",
    "SET default_transaction_read_only = on",
    # How long a query takes tells of the rows.
    "SET statement_timeout = 0",
    # A policy is evaluated row by row and may fail on one: a table that has one is refused whole.
    "SET row_security = off",
    "SET standard_conforming_strings = on",
    "SET datestyle = 'ISO, YMD'",
    # Compiling takes longer than running short statements, and saves nothing in long ones.
    "SET jit = off",
)


@final
@dataclass(frozen=True, slots=True)
class Postgres(Engine):
    """The engine for a table of a PostgreSQL server, and for joined tables.

    Attributes:
        access: the parameters of the user's connection.
        place: schema and table.
        labels: the identities of the datasets.
        columns: its schema when it was opened.
    """

    access: Mapping[str, Any] = field(repr=False)
    place: tuple[str, str]
    labels: tuple[str, ...] = field(repr=False)
    columns: Schema

    @property
    @override
    def name(self) -> str:
        return "PostgreSQL"

    @property
    @override
    def identities(self) -> tuple[str, ...]:
        return self.labels

    @property
    @override
    def relation(self) -> Tree:
        return sql.relation(*self.place)

    @property
    @override
    def schema(self) -> Schema:
        return self.columns

    @property
    @override
    def tables(self) -> int:
        return len(self.labels)

    @override
    def beside(self, other: Engine) -> tuple[Engine, Tree]:
        if not isinstance(other, Postgres) or other.access != self.access:
            raise InvalidTable(
                f"a table of {other.name} cannot be joined with one of this connection to "
                "PostgreSQL; open both through one connection"
            )
        return replace(self, labels=self.labels + other.labels), other.relation

    def check(self) -> None:
        """Do nothing: there is nothing to compare."""

    @override
    def stand_ins(self, *statements: exp.Query) -> Sequence[str]:
        found: list[str] | None = None
        with suppress(Exception), session(self.access) as connection:
            named = (
                name
                for statement in statements
                for name in stand_ins(connection, statement, self.text(statement))
            )
            found = list(dict.fromkeys(named))
        if found is None:
            raise InvalidTable(
                "PostgreSQL does not tell its functions; check that the server can be reached"
            )
        return found

    @override
    def text(self, statement: exp.Query) -> str:
        return SPELLING.text(statement)

    @override
    def read(self, statement: exp.Query) -> list[npt.NDArray[Any]]:
        text = self.text(statement).encode()
        with session(self.access) as connection:
            cursor = connection.cursor(binary=True)
            look = partial(stand_ins, connection, statement, text.decode())
            refuse_stand_ins(self.name, look)
            rows = interruptible(lambda: cursor.execute(text).fetchall(), connection.cancel_safe)
            # What came in between was there when the statement was read, or is not in it.
            refuse_stand_ins(self.name, look)
            columns = zip(*rows, strict=True) if rows else [()] * len(cursor.description or ())
            return [np.array(column) for column in columns]

    @override
    def is_interrupt(self, error: Exception) -> bool:  # noqa: ARG002
        return False


@contextmanager
def session(access: Mapping[str, Any]) -> Generator[Any, None, None]:
    """Open our own connection, because the user's keeps its settings and its transaction."""
    import psycopg

    with psycopg.connect(**access, autocommit=True) as connection:
        for setting in _SETTINGS:
            connection.execute(setting)
        yield connection
