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
    """A `Countable`: the rows of a table, with one or more of its columns as their numbers.

    Of a unit with more rows than it may have, a pseudo-random part counts, the same on every
    engine. A row whose unit is NULL, or with a number that is NULL, counts for nothing.

    Attributes:
        engine: reads the rows.
        view: what is asked of.
        unit_of: who is protected.
        columns: names of the columns.
        max_rows: rows at one place beyond which their count is clamped.
        by: the groups that are counted apart, or None for one of all rows.
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
        """Tables differ in the rows of one unit."""
        return "add_remove"

    @property
    def records(self) -> None:
        """Private."""
        return

    @property
    def whole(self) -> tuple[bool, ...]:
        """Whether the type of each column, or what it was made of, gives whole numbers only."""
        ranges = (self.view.schema[column].kind.range for column in self.columns)
        return tuple(found is not None and found.is_whole for found in ranges)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns."""
        return self.columns

    @property
    def groups(self) -> int:
        """The number of keys, or one."""
        return 1 if self.by is None else len(self.by)

    @property
    def keys(self) -> Columns:
        """The keys, one list a column."""
        return {} if self.by is None else self.by.to_columns()

    @property
    def unit_records(self) -> int:
        """Most rows of one unit in one group."""
        return limits_of(self.unit_of, self.by).rows

    def bound(self, one: Sensitivity) -> Sensitivity:
        """Multiply by the most rows that count of one unit, in the most groups."""
        return limits_of(self.unit_of, self.by).bound(one)

    def describe(self) -> dict[str, object]:
        """Return columns, unit and limits."""
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
        """Return those of a public table, made in the same steps."""
        alike = Alike.of(public, self.engine, self.view, self.unit_of)
        made = replace(self, engine=alike.engine, view=alike.view, unit_of=alike.unit)
        return made, alike.rows(), alike.unit == self.unit_of

    def companion(self, axes: Sequence[Nodes], *, ends: bool) -> Companion | None:
        """Return what counts them and tells what limits did; None where each row is a unit."""
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
        """Return what runs one statement.

        Raises:
            InvalidParameter: if there are not as many axes as columns, or more than 2^30 places.
            UnknownColumn: if the table lacks a column.
            InvalidTable: if a column holds no numbers, or functions of the user's could run in the
                place of the engine's own.
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
