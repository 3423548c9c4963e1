"""The seam to whatever runs the SQL: a schema before the charge, integers after it."""

from abc import ABC, abstractmethod

from sqlglot import exp

from neyman.aggregate import IntArray
from neyman.tables._schema import Schema
from neyman.tables._sql import Tree

__all__ = ["Engine"]


class Engine(ABC):
    """A table in some SQL engine.

    Guarantee: nothing but integers and the schema comes out, and no text of the engine's own:
    its errors can quote private values.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def identity(self) -> str:
        """Which dataset this is, without its content; equal for the same data."""

    @property
    @abstractmethod
    def relation(self) -> Tree:
        """The table in a FROM clause."""

    @property
    @abstractmethod
    def schema(self) -> Schema:
        """Names and types of the columns, read once and without a row."""

    @abstractmethod
    def integers(self, statement: exp.Query, width: int) -> IntArray:
        """Run one statement and return its rows of `width` integers.

        Raises:
            EngineFailure: whatever went wrong; rows may have been read.
        """
