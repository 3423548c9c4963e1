"""The one SQL statement of an aggregate, as a syntax tree.

rows     group j, unit u and grid integers k0, k1, ... of every row that counts
parts    group j and component sums s0, s1, ... of the rows that remain after bounding
answer   component sums per group, clamped to a public range; with the companion one more row

If each row is a unit and the groups are declared, nothing is bounded. Then the engine sums first
and finds the group afterwards, because there are many rows but few values that determine groups.

rows     the values v0, v1, ... that determine the group, and grid integers, of every row
sums     component sums of the rows with the same values
parts    group j and component sums of the values in a group
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from sqlglot import exp

from neyman.aggregate import COMPANION, IntArray
from neyman.tables import _sql as sql
from neyman.tables._keys._keys import Keys
from neyman.tables._keys._unknown_keys import UnknownKeys
from neyman.tables._limits import Limits
from neyman.tables._sql import Tree
from neyman.tables._statements._bounding import Bounding
from neyman.tables._statements._companion import MARK, companion_of
from neyman.tables._statements._found import named_groups
from neyman.tables._statements._groups import grouped, numbered, values_of
from neyman.tables._statements._reach import reach
from neyman.tables._statistics._statistic import Component, Measured, Statistic
from neyman.tables._unit import Unit
from neyman.tables._view import View

__all__ = ["Question", "by_group", "groups_of", "limits_of", "salt_of", "unit_rows"]


@final
@dataclass(frozen=True, slots=True)
class Question:
    """The parameters of the statement; all of them are public.

    Attributes:
        statistic: the statistic.
        unit: the privacy unit.
        keys: the groups, declared or not; None for one group.
        salt: the salt of the pseudo-random choices, hexadecimal.
        max_rows: number of rows of one group above which the answer is clamped.
        companion: whether there is one more row for the effect of limits and bounds; for an entity
            only.
    """

    statistic: Statistic
    unit: Unit
    keys: Keys | UnknownKeys | None
    salt: str
    max_rows: int
    companion: bool = False

    @property
    def limits(self) -> Limits:
        """The contribution limits of one unit."""
        return limits_of(self.unit, self.keys, self.statistic)

    @property
    def width(self) -> int:
        """The number of integers in a row of the answer."""
        own = len(self.statistic.components)
        return max(own, COMPANION) if self.companion else own

    def statement(self, view: View) -> exp.Query:
        """Return the query over the view: a group's index, or name, then its integers.

        Raises:
            UnknownColumn: if the view does not have a column.
            InvalidTable: if the type of a column does not fit its use.
        """
        steps = [("neyman_rows", self._rows(view)), *self._parts(view)]
        if not self.companion:
            return sql.in_steps(self._answer(), steps)
        more, integers = companion_of(
            self.limits,
            units=self.statistic.per_unit,
            moved=self._moved_rows(),
        )
        mark = sql.text(MARK[1]) if isinstance(self.keys, UnknownKeys) else sql.integer(MARK[0])
        padded = [*integers, *([sql.wide(0)] * (self.width - COMPANION))]
        named = [sql.named(value, f"s{i}") for i, value in enumerate(padded)]
        row = exp.select(sql.named(mark, "j"), *named).from_(sql.relation("neyman_shares"))
        return sql.in_steps(
            exp.union(self._answer(), row, distinct=False, copy=False), [*steps, *more]
        )

    @property
    def _moved(self) -> bool:
        return self.companion and bool(self.statistic.columns)

    def _moved_rows(self) -> Tree | None:
        """The number of rows of a pair whose values were moved to bounds."""
        if not self._moved:
            return None
        n, x = sql.column("n"), sql.column("x")
        whole = self.statistic.moved([n, *map(sql.column, self._integers)])
        return x if whole is None else exp.Case(ifs=[exp.If(this=whole, true=n)], default=x)

    @property
    def _integers(self) -> list[str]:
        return [f"k{i}" for i in range(len(self.statistic.columns))]

    @property
    def _known(self) -> dict[str, tuple[int, int]]:
        """Return the smallest and largest value of each grid integer of a row; none for sums."""
        if self.statistic.per_unit:
            return {}
        columns = zip(self._integers, self.statistic.columns, strict=True)
        if self.statistic.complete:
            return {name: measured.bounds.steps for name, measured in columns}
        return {name: (x.bounds.steps[0], x.absent) for name, x in columns}

    def _rows(self, view: View) -> exp.Select:
        query = self._told(view)
        outside: list[Tree] = []
        for name, measured in zip(self._integers, self.statistic.columns, strict=True):
            value = view.schema[measured.column].number()
            there = [sql.known(value), exp.Not(this=exp.IsNan(this=value))]
            whole = view.schema[measured.column].whole()
            if whole is not None and measured.bounds.grid == 1:
                there, steps = [sql.known(whole)], _whole_steps(measured, whole)
            else:
                steps = _steps(measured, value)
            outside.append(exp.and_(*there, _outside(measured, value)))
            if self.statistic.complete:
                query = query.select(sql.named(steps, name), copy=False).where(*there, copy=False)
                continue
            # Clamping makes numbers of NULL and NaN, so that no branch can fail.
            absent = sql.cast(sql.integer(measured.absent), "BIGINT")
            coded = exp.Case(ifs=[exp.If(this=exp.and_(*there), true=steps)], default=absent)
            query = query.select(sql.named(coded, name), copy=False)
        if not self._moved:
            return query
        one = exp.Case(ifs=[exp.If(this=exp.or_(*outside), true=sql.integer(1))])
        return query.select(sql.named(one.else_(sql.integer(0)), "x"), copy=False)

    def _told(self, view: View) -> exp.Select:
        """Return the rows with their group, or with the values that determine it."""
        if self.unit.entity is not None or not isinstance(self.keys, Keys):
            return unit_rows(self.keys, self.unit, view)
        query, values = values_of(self.keys, view)
        named = [sql.named(value, f"v{i}") for i, value in enumerate(values)]
        return query.select(*named, copy=False)

    def _parts(self, view: View) -> list[tuple[str, exp.Query]]:
        k = [sql.column(name) for name in self._integers]
        if self.statistic.per_unit:
            # Of a row that is a unit by itself there is one.
            rows = sql.column("n") if self.unit.entity is not None else sql.wide(1)
            k = [sql.cast(value, sql.WIDE) for value in (rows, *k)]
        known = self._known
        components = enumerate(self.statistic.components)
        adds = [(f"s{i}", _add(component, k, known)) for i, component in components]
        if self.unit.entity is None:
            return self._parts_of_rows(view, adds)
        bounding = Bounding(
            limits=self.limits,
            salt=self.salt,
            adds=adds,
            integers=self._integers,
            moved=self._moved,
        )
        if self.statistic.per_unit:
            return bounding.units(adds)
        if not self.statistic.columns:
            return bounding.equal_rows()
        return bounding.chosen_rows()

    def _parts_of_rows(
        self, view: View, adds: Sequence[tuple[str, Tree]]
    ) -> list[tuple[str, exp.Query]]:
        rows, sums = sql.relation("neyman_rows"), sql.relation("neyman_sums")
        if isinstance(self.keys, UnknownKeys):
            named = (sql.named(add, name) for name, add in adds)
            return [("neyman_parts", exp.select(sql.column("j"), *named).from_(rows))]
        values = [f"v{i}" for i in range(len(self.keys.columns))] if self.keys else []
        parts, group = exp.Select().from_(sums), sql.integer(0)
        if self.keys is not None:
            told = [sql.column(name, "neyman_sums") for name in values]
            parts, group = numbered(self.keys, view, parts, told)
        parts = parts.select(sql.named(group, "j"), copy=False)
        query = exp.select(*map(sql.column, values)).from_(rows)
        for (name, add), component in zip(adds, self.statistic.components, strict=True):
            total = sql.total(add)
            if component.low == component.high:
                total = sql.cast(sql.count(), sql.WIDE) * sql.cast(add, sql.WIDE)
            query = query.select(sql.named(total, name), copy=False)
            parts = parts.select(sql.column(name, "neyman_sums"), copy=False)
        summed = query.group_by(*map(sql.column, values)) if values else query
        return [("neyman_sums", summed), ("neyman_parts", parts)]

    def _answer(self) -> exp.Query:
        j = sql.column("j")
        query = exp.select(j).from_(sql.relation("neyman_parts")).group_by(j)
        for i, component in enumerate(self.statistic.components):
            most = component.limit * self.max_rows
            total = exp.Coalesce(this=sql.total(sql.column(f"s{i}")), expressions=[sql.integer(0)])
            inside = sql.clamped(sql.integer(-most), total, sql.integer(most))
            query = query.select(sql.named(sql.cast(inside, "BIGINT"), f"s{i}"), copy=False)
        for i in range(len(self.statistic.components), self.width):
            query = query.select(sql.named(sql.wide(0), f"s{i}"), copy=False)
        return query


def unit_rows(keys: Keys | UnknownKeys | None, unit: Unit, view: View) -> exp.Select:
    """Return group j and, if a column names it, unit u of every row of a known unit.

    A group is its index among the declared ones, or its name.

    Raises:
        UnknownColumn: if the view does not have a column.
        InvalidTable: if the type of a column does not fit its use.
    """
    match keys:
        case UnknownKeys():
            query, group = named_groups(keys, view)
        case _:
            query, group = grouped(keys, view)
    query = query.select(sql.named(group, "j"))
    if unit.entity is None:
        return query
    named = view.schema[unit.entity].identity()
    return query.select(sql.named(named, "u")).where(sql.known(named))


def groups_of(keys: Keys | UnknownKeys | None) -> int | None:
    """Return the number of groups: 1 without keys; None for undeclared groups."""
    match keys:
        case None:
            return 1
        case UnknownKeys():
            return None
        case Keys():
            return len(keys)


def by_group(found: IntArray, groups: int) -> IntArray:
    """Return the integers of all declared groups, one row each; 0 for groups without rows.

    Args:
        found: rows with a group's index and its integers.
        groups: the number of groups.
    """
    answer = np.zeros((groups, found.shape[1] - 1), np.int64)
    answer[found[:, 0]] = found[:, 1:]
    return answer


def limits_of(
    unit: Unit, keys: Keys | UnknownKeys | None, statistic: Statistic | None = None
) -> Limits:
    """Return the contribution limits of one unit."""
    if statistic is not None and statistic.per_unit:
        unit = unit.once()
    return unit.limits(() if keys is None else keys.by_value, groups_of(keys))


def salt_of(view: View, unit: Unit, keys: Keys | UnknownKeys | None) -> str:
    """Return the salt of the pseudo-random choice of a unit's rows, hexadecimal.

    It is equal for all questions about the same groups of the same rows under the same limits, so a
    count and a mean keep rows of the same groups of a unit.
    """
    said = {
        "unit": unit.describe(() if keys is None else keys.by_value),
        "keys": None if keys is None else keys.describe(),
        **view.describe(),
    }
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


def _add(component: Component, k: Sequence[Tree], known: Mapping[str, tuple[int, int]]) -> Tree:
    """Return the contribution of a row, inside the component's range for any formula."""
    low, high = sql.integer(component.low), sql.integer(component.high)
    if component.low == component.high:
        return low
    value = component.value(k)
    ends = reach(value, known)
    inside = ends is not None and component.low <= ends[0] and ends[1] <= component.high
    return sql.cast(value if inside else sql.clamped(low, value, high), "BIGINT")


def _outside(measured: Measured, value: Tree) -> Tree:
    low, high = (sql.double(float(x)) for x in (measured.bounds.lower, measured.bounds.upper))
    return exp.or_(exp.LT(this=value, expression=low), exp.GT(this=value.copy(), expression=high))


def _steps(measured: Measured, value: Tree) -> Tree:
    """Return floor(min(max(x, lower), upper) / grid + 1/2), clamped first against overflow."""
    low, high, grid = (
        sql.double(float(x))
        for x in (measured.bounds.lower, measured.bounds.upper, measured.bounds.grid)
    )
    steps = exp.Floor(this=sql.clamped(low, value, high) / grid + sql.double(0.5))
    return sql.cast(steps, "BIGINT")


def _whole_steps(measured: Measured, value: Tree) -> Tree:
    """Return min(max(x, lower), upper) of an integer on a grid of 1, without doubles."""
    low, high = map(sql.wide, measured.bounds.steps)
    return sql.cast(sql.clamped(low, value, high), "BIGINT")
