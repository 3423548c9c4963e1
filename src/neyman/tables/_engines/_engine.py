"""The interface to an engine that runs SQL: a schema before the charge, integers after it.

For undeclared groups, `groups` also returns their names. They go only to the threshold, never into
an error, a log or a repr.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, final

import numpy as np
import numpy.typing as npt
from sqlglot import exp

from neyman.aggregate import FoundGroups, IntArray
from neyman.errors import EngineFailure, InvalidTable
from neyman.tables._engines._found_groups import read_groups
from neyman.tables._engines._room import Room
from neyman.tables._engines._stand_ins import refuse_stand_ins
from neyman.tables._schema import Schema
from neyman.tables._sql import Tree

__all__ = ["Engine"]

T = TypeVar("T")


class Engine(ABC):
    """A table of an SQL engine, or several tables that one statement reads.

    Guarantee: it returns only the schema, integers and, from `groups`, names of groups. It never
        passes on the engine's own texts, because its errors can quote private values.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def name(self) -> str:
        """The name of the engine, as its makers write it."""

    @property
    @abstractmethod
    def identities(self) -> tuple[str, ...]:
        """The identity of each dataset, without its content; equal for equal data."""

    @final
    @property
    def identity(self) -> str:
        """The identity of the dataset; for several tables, of all in order."""
        first, *others = self.identities
        return json.dumps([first, *others]) if others else first

    @property
    @abstractmethod
    def relation(self) -> Tree:
        """The table for a FROM clause; the first of several."""

    @property
    @abstractmethod
    def schema(self) -> Schema:
        """Names and types of the columns, read once and without a row; those of the first table."""

    @property
    @abstractmethod
    def tables(self) -> int:
        """The number of tables that a statement can read."""

    @abstractmethod
    def beside(self, other: "Engine") -> "tuple[Engine, Tree]":
        """Return an engine that also reads the other's only table, and its relation.

        Raises:
            InvalidTable: if no statement can read both.
        """

    def within(self, room: Room) -> "Engine":
        """Return the same engine with a memory limit.

        Raises:
            InvalidTable: if the engine has its own memory settings.
        """
        if room.asked:
            raise InvalidTable(
                f"{self.name} has its own limits of memory. Leave memory_limit and "
                "temporary_directory out, and set them there"
            )
        return self

    @abstractmethod
    def check(self) -> None:
        """Check that the rows are still those that were opened, as far as that is visible.

        Raises:
            EngineFailure: if they have visibly changed.
        """

    @abstractmethod
    def stand_ins(self, *statements: exp.Query) -> Sequence[str]:
        """Return the user functions that could run in place of the engine's own.

        It reads no row.

        Args:
            statements: the statements to check, together.
        """

    @final
    def refuse_stand_ins(self, *statements: exp.Query) -> None:
        """Refuse statements that could call user functions, before the charge.

        Raises:
            InvalidTable: with the names of the functions.
        """
        refuse_stand_ins(self.name, lambda: self.stand_ins(*statements))

    @abstractmethod
    def text(self, statement: exp.Query) -> str:
        """Return a statement in this engine's dialect."""

    @abstractmethod
    def read(self, statement: exp.Query) -> list[npt.NDArray[Any]]:
        """Run one statement and return its columns; the caller withholds every error.

        Raises:
            InvalidTable: if user functions could run; this message is our own and is not withheld.
        """

    @abstractmethod
    def is_interrupt(self, error: Exception) -> bool:
        """Return whether an error is the result of Ctrl-C."""

    @final
    def integers(self, statement: exp.Query, width: int) -> IntArray:
        """Run one statement and return its rows of `width` integers.

        Raises:
            EngineFailure: for any error; rows may have been read.
        """
        return self._answer(statement, lambda columns: _integers(columns, width))

    @final
    def groups(
        self, statement: exp.Query, parts: int, width: int, mark: str
    ) -> tuple[FoundGroups, IntArray]:
        """Run one statement whose first column has names of groups, with `parts` keys each.

        Returns:
            The keys with `width` integers for each group, and the integers of rows with the mark in
            place of a name.

        Raises:
            EngineFailure: for any error; rows may have been read.
        """
        return self._answer(
            statement,
            lambda columns: (
                read_groups(columns, parts, mark) if len(columns) == 1 + width else None
            ),
        )

    def _answer(
        self, statement: exp.Query, understood: Callable[[list[npt.NDArray[Any]]], T | None]
    ) -> T:
        self.check()
        answer: T | None = None
        stopped, refused = False, ""
        try:
            answer = understood(self.read(statement))
        except KeyboardInterrupt:
            stopped = True
        except InvalidTable as error:
            refused = str(error)
        except Exception as error:
            stopped = self.is_interrupt(error)
        # Raised out here, so that the engine's own error does not come along as its context.
        if stopped:
            raise KeyboardInterrupt
        if refused:
            raise EngineFailure(
                f"{refused}. The query failed while it ran: there is no answer, but the entry "
                "stays charged. Remove the cause and ask once more under the same entry id"
            )
        if answer is None:
            raise EngineFailure(
                f"{self.name} failed while it read the table, and its own words are withheld, for "
                "they can quote private values. Data may have been touched, so the entry stays "
                "charged; remove the cause (memory, disk, a damaged file) and "
                "ask once more under the same entry id"
            )
        # The rows that were read are of the file that was fingerprinted.
        self.check()
        return answer


def _integers(columns: list[npt.NDArray[Any]], width: int) -> IntArray | None:
    return np.column_stack(columns).astype(np.int64) if len(columns) == width else None
