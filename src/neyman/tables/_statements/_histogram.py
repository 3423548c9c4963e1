"""The one SQL statement that counts rows at public nodes.

values   group j, unit u and the doubles x0, x1, ... of every row of a known unit
nearest  group j, unit u and the nodes w0, w1, ... that they are at, in doubles
rows     group j, unit u and place k, where rows of one unit are bounded together
parts    group j, place k and rows n that are left
answer   rows per group and place, clamped to a public range
"""

import math
from dataclasses import dataclass
from typing import final

from sqlglot import exp

from neyman.nodes import Nodes
from neyman.tables import _sql as sql
from neyman.tables._keys._keys import Keys
from neyman.tables._statements._bounding import Bounding
from neyman.tables._statements._places import inside, nearest, place
from neyman.tables._statements._statement import limits_of, unit_rows
from neyman.tables._unit import Unit
from neyman.tables._view import View

__all__ = ["Histogram"]


@final
@dataclass(frozen=True, slots=True)
class Histogram:
    """Everything that the statement depends on; all of it public.

    Attributes:
        columns: of the numbers.
        axes: the nodes of each.
        unit: whose rows are bounded together.
        keys: the groups, or None for a single one.
        salt: of the pseudo-random choices, hexadecimal.
        max_rows: rows at one place beyond which their count is clamped.
    """

    columns: tuple[str, ...]
    axes: tuple[Nodes, ...]
    unit: Unit
    keys: Keys | None
    salt: str
    max_rows: int

    @property
    def names(self) -> tuple[str, ...]:
        """What rows are counted by: group, if there are any, and place."""
        return ("k",) if self.keys is None else ("j", "k")

    @property
    def places(self) -> int:
        """How many there are; the place of what is at none comes after them."""
        return math.prod(axis.number for axis in self.axes)

    def statement(self, view: View) -> exp.Query:
        """Return the query over the view: a group's index, if any, a place, how many rows.

        Raises:
            UnknownColumn: if the view lacks a column.
            InvalidTable: if a column holds no numbers.
        """
        values = unit_rows(self.keys, self.unit, view)
        for i, name in enumerate(self.columns):
            values = values.select(sql.named(view.schema[name].number(), f"x{i}"))
        steps = [("neyman_values", values), ("neyman_nearest", self._nearest()), *self._parts()]
        return sql.in_steps(self._answer(), steps)

    def _nearest(self) -> exp.Select:
        names = self.names[:-1] if self.unit.entity is None else ("j", "u")
        query = exp.select(*map(sql.column, names)).from_(sql.relation("neyman_values"))
        for i, axis in enumerate(self.axes):
            value = sql.column(f"x{i}")
            query = query.select(sql.named(nearest(axis, value), f"w{i}"))
            # Left out at once: as a group of NULLs they would take longer than all the rest. Those
            # of an entity are left out where its rows are counted.
            if axis.dropped and self.unit.entity is None:
                query = query.where(inside(axis, value))
        return query

    def _parts(self) -> list[tuple[str, exp.Query]]:
        nodes = [sql.column(f"w{i}") for i in range(len(self.axes))]
        k = sql.named(place(self.axes, nodes), "k")
        if self.unit.entity is not None:
            bounding = Bounding(
                limits=limits_of(self.unit, self.keys),
                salt=self.salt,
                adds=(),
                integers=("k",),
            )
            rows = exp.select(sql.column("j"), sql.column("u"), k)
            step = "neyman_rows", rows.from_(sql.relation("neyman_nearest"))
            return [step, *bounding.counted_rows()]
        group = [sql.column(name) for name in self.names[:-1]]
        # Counted first and placed after: there are few nodes, and many rows.
        cells = exp.select(*group, *nodes, sql.named(sql.count(), "n")).group_by(*group, *nodes)
        parts = exp.select(*group, k, sql.column("n")).from_(sql.relation("neyman_cells"))
        return [
            ("neyman_cells", cells.from_(sql.relation("neyman_nearest"))),
            ("neyman_parts", parts),
        ]

    def _answer(self) -> exp.Query:
        by = [sql.column(name) for name in self.names]
        # Not left out by a filter: engines would apply it to each row, and place each row twice.
        nowhere = exp.Coalesce(this=by[-1], expressions=[sql.integer(self.places)])
        total = sql.total(sql.column("n"))
        inside = sql.clamped(sql.integer(0), total, sql.integer(self.max_rows))
        return (
            exp.select(*by[:-1], sql.named(nowhere, "k"))
            .select(sql.named(sql.cast(inside, "BIGINT"), "n"))
            .from_(sql.relation("neyman_parts"))
            .group_by(*by)
        )
