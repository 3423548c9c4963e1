"""Columns of a table whose rows can be counted at public nodes."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final, final

import numpy as np

from neyman.aggregate import COMPANION, Columns, Companion, Countable, Counter, IntArray
from neyman.errors import InvalidParameter
from neyman.nodes import Nodes
from neyman.sensitivity import Neighbors, Sensitivity
from neyman.tables._alike import Alike
from neyman.tables._engines._engine import Engine
from neyman.tables._keys._keys import Keys
from neyman.tables._statements._companion import companion_record, companion_sensitivity
from neyman.tables._statements._histogram import Histogram
from neyman.tables._statements._identity import statement_digest
from neyman.tables._statements._statement import limits_of, salt_of
from neyman.tables._unit import Unit
from neyman.tables._view import View

__all__ = ["TableRecords"]

# Raise it whenever the counts of an unchanged question change.
_RULES: Final = 1
_MOST_PLACES: Final = 2**30
# Counted apart: all of them are held at once, 8 bytes each.
_MOST_COUNTS: Final = 2**28


@final
@dataclass(frozen=True, slots=True)
class TableRecords:
    """A `Countable`: the rows of a table, with one or more columns as their numbers.

    If a unit has more rows than its limit, a pseudo-random part counts, the same on every engine. A
    row whose unit or number is NULL counts for nothing.

    Attributes:
        engine: the engine that reads the rows.
        view: the rows and columns of the question.
        unit_of: the privacy unit.
        columns: names of the columns.
        max_rows: number of rows at one place above which their count is clamped.
        by: the groups; None for one group of all rows.
    """

    engine: Engine = field(repr=False)
    view: View = field(repr=False)
    unit_of: Unit
    columns: tuple[str, ...]
    max_rows: int
    by: Keys | None = None

    @property
    def source(self) -> str:
        """The table's identity."""
        return self.engine.identity

    @property
    def unit(self) -> str:
        """The unit in words."""
        return self.unit_of.label

    @property
    def neighbors(self) -> Neighbors:
        """The neighbouring relation: tables differ in the rows of one unit."""
        return "add_remove"

    @property
    def records(self) -> None:
        """None, because the number of records is private."""
        return

    @property
    def whole(self) -> tuple[bool, ...]:
        """Whether each column, or the column behind it, has whole numbers only."""
        ranges = (self.view.schema[column].kind.range for column in self.columns)
        return tuple(found is not None and found.is_whole for found in ranges)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self.columns

    @property
    def groups(self) -> int:
        """The number of groups."""
        return 1 if self.by is None else len(self.by)

    @property
    def keys(self) -> Columns:
        """The keys, one list for each column."""
        return {} if self.by is None else self.by.to_columns()

    @property
    def unit_records(self) -> int:
        """The most rows of one unit in one group."""
        return limits_of(self.unit_of, self.by).rows

    def bound(self, one: Sensitivity) -> Sensitivity:
        """Return the sensitivity times the most rows of one unit, in the most groups."""
        return limits_of(self.unit_of, self.by).bound(one)

    def describe(self) -> dict[str, object]:
        """Return the columns, the unit and the limits for the public record."""
        # Without groups nothing is said of them, as before there were any.
        groups = {} if self.by is None else {"keys": self.by.describe()}
        return (
            groups
            | {
                "columns": list(self.columns),
                "unit": self.unit_of.describe(() if self.by is None else self.by.by_value),
                "max_table_rows": self.max_rows,
                "count_rules": _RULES,
            }
            | self.view.describe()
        )

    def like(self, public: object) -> tuple[Countable, int, bool]:
        """Return the records of a public table, made by the same steps."""
        alike = Alike.of(public, self.engine, self.view, self.unit_of)
        made = replace(self, engine=alike.engine, view=alike.view, unit_of=alike.unit)
        return made, alike.rows(), alike.unit == self.unit_of

    def companion(self, axes: Sequence[Nodes], *, ends: bool) -> Companion | None:
        """Return the counter with a companion; None if each row is a unit."""
        if self.unit_of.entity is None:
            return None
        histogram = self._histogram(axes, companion=True, ends=ends)
        statement = histogram.statement(self.view)
        self.engine.refuse_stand_ins(statement)

        def compute() -> tuple[IntArray, IntArray]:
            found = self.engine.integers(statement, len(histogram.names) + 1)
            counted = found[:, -2] >= 0
            own, row = found[~counted], np.zeros(COMPANION, np.int64)
            row[-1 - own[:, -2]] = own[:, -1]
            return self._counts(found[counted], histogram), row

        limits = limits_of(self.unit_of, self.by)
        about = [self.describe(), [axis.record() for axis in axes], histogram.moved]
        return Companion(
            about=json.dumps(about, sort_keys=True),
            digest=statement_digest(statement),
            check=lambda: self.engine.refuse_stand_ins(statement),
            record=companion_record(self.unit_of, limits, units=False, bounds=histogram.moved),
            sensitivity=companion_sensitivity(),
            compute=compute,
        )

    def counter(self, axes: Sequence[Nodes]) -> Counter:
        """Return a function that runs the statement.

        Raises:
            InvalidParameter: if the number of axes is not that of columns, or there are more than
                2^30 places.
            UnknownColumn: if the table does not have a column.
            InvalidTable: if a column does not have numbers, or user functions could run in place of
                the engine's own.
        """
        histogram = self._histogram(axes)
        statement = histogram.statement(self.view)
        self.engine.refuse_stand_ins(statement)
        width = len(histogram.names) + 1

        def count() -> IntArray:
            return self._counts(self.engine.integers(statement, width), histogram)

        return Counter(
            statement_digest(statement), count, lambda: self.engine.refuse_stand_ins(statement)
        )

    def _counts(self, found: IntArray, histogram: Histogram) -> IntArray:
        places = histogram.places
        counts = np.zeros((self.groups, places + 1), np.int64)
        counts[found[:, 0] if self.by is not None else 0, found[:, -2]] = found[:, -1]
        return counts[:, :places].reshape(-1)

    def _histogram(
        self, axes: Sequence[Nodes], *, companion: bool = False, ends: bool = False
    ) -> Histogram:
        if len(axes) != len(self.columns):
            raise InvalidParameter(
                f"there must be one column for each of the {len(axes)} sides of the domain; got "
                f"{len(self.columns)}"
            )
        places = math.prod(axis.number for axis in axes)
        if places > _MOST_PLACES:
            raise InvalidParameter(
                f"the nodes of all axes together must be at most 2^30; got {places}. Write fewer "
                "nodes"
            )
        if self.by is not None and places * self.groups > _MOST_COUNTS:
            raise InvalidParameter(
                f"all groups together must have at most 2^28 places, of 8 bytes each; got {places} "
                f"in each of {self.groups} groups. Write fewer groups, or a larger bandwidth or "
                "grid"
            )
        salt = salt_of(self.view, self.unit_of, self.by)
        return Histogram(
            self.columns,
            tuple(axes),
            self.unit_of,
            self.by,
            salt,
            self.max_rows,
            companion=companion,
            ends=ends,
        )
