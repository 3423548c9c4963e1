"""The seam to whatever runs the SQL: a schema before the charge, integers after it."""

import json
from abc import ABC, abstractmethod
from typing import final

from sqlglot import exp

from neyman.aggregate import IntArray
from neyman.errors import EngineFailure
from neyman.tables._schema import Schema
from neyman.tables._sql import Tree

__all__ = ["Engine"]


class Engine(ABC):
    """A table in some SQL engine, or several that one statement of it reads.

    Guarantee: nothing but integers and the schema comes out, and no text of the engine's own:
    its errors can quote private values.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def name(self) -> str:
        """The engine, as its makers call it."""

    @property
    @abstractmethod
    def identities(self) -> tuple[str, ...]:
        """Which dataset each table is, without its content; equal for the same data."""

    @final
    @property
    def identity(self) -> str:
        """Which dataset this is; of several tables, all of them in their order."""
        first, *others = self.identities
        return json.dumps([first, *others]) if others else first

    @property
    @abstractmethod
    def relation(self) -> Tree:
        """The table in a FROM clause; the first of several."""

    @property
    @abstractmethod
    def schema(self) -> Schema:
        """Names and types of the columns, read once and without a row; of the first of several."""

    @property
    @abstractmethod
    def tables(self) -> int:
        """How many tables a statement can read."""

    @abstractmethod
    def beside(self, other: "Engine") -> "tuple[Engine, Tree]":
        """Return what reads the other's only table as well, and how that is called.

        Raises:
            InvalidTable: if no statement can read both.
        """

    @abstractmethod
    def check(self) -> None:
        """Look whether the rows are still those that were opened, where that shows.

        Raises:
            EngineFailure: if they are visibly not.
        """

    @abstractmethod
    def text(self, statement: exp.Query) -> str:
        """Return a statement as this engine reads it."""

    @abstractmethod
    def read(self, statement: exp.Query) -> IntArray:
        """Run one statement; whatever it raises is withheld."""

    @abstractmethod
    def is_interrupt(self, error: Exception) -> bool:
        """Tell an error that stands for Ctrl-C."""

    @final
    def integers(self, statement: exp.Query, width: int) -> IntArray:
        """Run one statement and return its rows of `width` integers.

        Raises:
            EngineFailure: whatever went wrong; rows may have been read.
        """
        self.check()
        answer: IntArray | None = None
        stopped = False
        try:
            answer = self.read(statement)
        except KeyboardInterrupt:
            stopped = True
        except Exception as error:
            stopped = self.is_interrupt(error)
        # Raised out here, so that the engine's own error does not come along as its context.
        if stopped:
            raise KeyboardInterrupt
        if answer is None or answer.shape[1] != width:
            raise EngineFailure(
                f"{self.name} failed while it read the table, and its own words are withheld, for "
                "they can quote private values. Data may have been touched, so the entry stays "
                "charged; remove the cause (memory, disk, a damaged file) and "
                "ask once more under the same entry id"
            )
        return answer
