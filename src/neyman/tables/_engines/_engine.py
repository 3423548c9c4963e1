"""The seam to whatever runs the SQL: a schema before the charge, integers after it.

Where nobody declared the groups, their names come too (`groups`). They go to the door and no
further than the threshold: in no error, log or repr.
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
    """A table in some SQL engine, or several that one statement of it reads.

    Guarantee: nothing but the schema, integers and, from `groups` alone, names of groups comes
    out, and no text of the engine's own: its errors can quote private values.
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

    def within(self, room: Room) -> "Engine":
        """Return the same engine with so much room.

        Raises:
            InvalidTable: if its room is its own affair.
        """
        if room.asked:
            raise InvalidTable(
                f"{self.name} has its own limits of memory. Leave memory_limit and "
                "temporary_directory out, and set them there"
            )
        return self

    @abstractmethod
    def check(self) -> None:
        """Look whether the rows are still those that were opened, where that shows.

        Raises:
            EngineFailure: if they are visibly not.
        """

    @abstractmethod
    def stand_ins(self, *statements: exp.Query) -> Sequence[str]:
        """Name the functions of the user's that could run in the place of the engine's own.

        No row is read.

        Args:
            statements: whose functions are looked for, at once.
        """

    @final
    def refuse_stand_ins(self, *statements: exp.Query) -> None:
        """Refuse statements that could call functions of the user's; before the charge.

        Raises:
            InvalidTable: naming the functions.
        """
        refuse_stand_ins(self.name, lambda: self.stand_ins(*statements))

    @abstractmethod
    def text(self, statement: exp.Query) -> str:
        """Return a statement as this engine reads it."""

    @abstractmethod
    def read(self, statement: exp.Query) -> list[npt.NDArray[Any]]:
        """Run one statement and return its columns; whatever it raises is withheld.

        Raises:
            InvalidTable: if functions of the user's could run, in words of our own, not withheld.
        """

    @abstractmethod
    def is_interrupt(self, error: Exception) -> bool:
        """Tell an error that stands for Ctrl-C."""

    @final
    def integers(self, statement: exp.Query, width: int) -> IntArray:
        """Run one statement and return its rows of `width` integers.

        Raises:
            EngineFailure: whatever went wrong; rows may have been read.
        """
        return self._answer(statement, lambda columns: _integers(columns, width))

    @final
    def groups(
        self, statement: exp.Query, parts: int, width: int, mark: str
    ) -> tuple[FoundGroups, IntArray]:
        """Run one statement whose first column names groups, by `parts` keys each.

        Returns:
            The keys, and `width` integers a group; and those of rows that have the mark in place of
            a name.

        Raises:
            EngineFailure: whatever went wrong; rows may have been read.
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
