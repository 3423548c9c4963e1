"""The one SQL statement that counts rows at public nodes.

values   group j, unit u and the doubles x0, x1, ... of every row of a known unit
nearest  group j, unit u and the nodes w0, w1, ... of these, in doubles
rows     group j, unit u and place k; the rows of a unit are bounded together
parts    group j, place k and the remaining rows n
answer   rows per group and place, clamped to a public range; with the companion four more rows
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from sqlglot import exp

from neyman.nodes import Nodes
from neyman.tables import _sql as sql
from neyman.tables._keys._keys import Keys
from neyman.tables._sql import Tree
from neyman.tables._statements._bounding import Bounding
from neyman.tables._statements._companion import companion_of
from neyman.tables._statements._places import beyond, inside, nearest, place
from neyman.tables._statements._statement import limits_of, unit_rows
from neyman.tables._unit import Unit
from neyman.tables._view import View

__all__ = ["Histogram"]


@final
@dataclass(frozen=True, slots=True)
class Histogram:
    """The parameters of the statement; all of them are public.

    Attributes:
        columns: the columns of the numbers.
        axes: the nodes of each column.
        unit: the privacy unit.
        keys: the groups; None for one group.
        salt: the salt of the pseudo-random choices, hexadecimal.
        max_rows: number of rows at one place above which their count is clamped.
        companion: whether there are four more rows, at places -1 to -4, for the effect of limits
            and ends; for an entity only.
        ends: whether the companion counts values that were moved to the ends of an axis.
    """

    columns: tuple[str, ...]
    axes: tuple[Nodes, ...]
    unit: Unit
    keys: Keys | None
    salt: str
    max_rows: int
    companion: bool = False
    ends: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of a count: the group, if there are groups, and the place."""
        return ("k",) if self.keys is None else ("j", "k")

    @property
    def places(self) -> int:
        """The number of places; the next number is the place of rows at none."""
        return math.prod(axis.number for axis in self.axes)

    def statement(self, view: View) -> exp.Query:
        """Return the query over the view: index of a group (if any), place, number of rows.

        Raises:
            UnknownColumn: if the view does not have a column.
            InvalidTable: if a column does not have numbers.
        """
        values = unit_rows(self.keys, self.unit, view)
        for i, name in enumerate(self.columns):
            values = values.select(sql.named(view.schema[name].number(), f"x{i}"))
        steps = [("neyman_values", values), ("neyman_nearest", self._nearest()), *self._parts()]
        if not self.companion:
            return sql.in_steps(self._answer(), steps)
        more, integers = companion_of(
            limits_of(self.unit, self.keys),
            units=False,
            moved=sql.column("x") if self.moved else None,
        )
        rows = self._companion_rows(integers)
        answer = exp.union(self._answer(), rows.pop()[1], distinct=False)
        return sql.in_steps(answer, [*steps, *more, *rows])

    @property
    def moved(self) -> bool:
        """Whether it counts values that were moved to an end."""
        clipped = any(not (axis.closed or axis.dropped or axis.counted) for axis in self.axes)
        return self.companion and self.ends and clipped

    def _companion_rows(self, integers: Sequence[Tree]) -> list[tuple[str, exp.Query]]:
        """Return the steps to the companion rows, one row for each integer."""
        names = [f"c{i}" for i in range(len(integers))]
        named = [sql.named(value, name) for value, name in zip(integers, names, strict=True)]
        one = exp.select(*named).from_(sql.relation("neyman_shares"))
        place = sql.each(sql.wide(1), sql.wide(len(names)), sql.wide(1))
        spread = exp.select(*map(sql.column, names), sql.named(place, "i"))
        i = sql.column("i")
        value = exp.Case(default=sql.column(names[-1]))
        for at, name in enumerate(names[:-1], 1):
            value = value.when(i.eq(sql.wide(at)), sql.column(name), copy=False)
        rows = exp.select(*(sql.named(sql.integer(0), name) for name in self.names[:-1]))
        rows = rows.select(sql.named(sql.wide(0) - i, "k"), sql.named(value, "n"))
        return [
            ("neyman_companion", one),
            ("neyman_spread_companion", spread.from_(sql.relation("neyman_companion"))),
            ("", rows.from_(sql.relation("neyman_spread_companion"))),
        ]

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
        if not self.moved:
            return query
        ends = [
            exp.and_(sql.known(x), exp.Not(this=exp.IsNan(this=x)), beyond(axis, x))
            for axis, x in ((axis, sql.column(f"x{i}")) for i, axis in enumerate(self.axes))
            if not (axis.closed or axis.dropped or axis.counted)
        ]
        one = exp.Case(ifs=[exp.If(this=exp.or_(*ends), true=sql.integer(1))])
        return query.select(sql.named(one.else_(sql.integer(0)), "x"))

    def _parts(self) -> list[tuple[str, exp.Query]]:
        nodes = [sql.column(f"w{i}") for i in range(len(self.axes))]
        k = sql.named(place(self.axes, nodes), "k")
        if self.unit.entity is not None:
            bounding = Bounding(
                limits=limits_of(self.unit, self.keys),
                salt=self.salt,
                adds=(),
                integers=("k",),
                moved=self.moved,
            )
            rows = exp.select(sql.column("j"), sql.column("u"), k)
            rows = rows.select(sql.column("x")) if self.moved else rows
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
