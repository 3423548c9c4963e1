"""The bin of a value in SQL, by comparisons only.

A number is compared with the edges of a few bins only. For each cell of a uniform grid, a public
list has the bins. The computed cell can be the neighbour of the right one by rounding, so the list
has all bins within a millionth of a cell. The rounding error is smaller: x - e0, the quotient and
the width are rounded once each, on a grid of at most 2^14 cells.
"""

from collections.abc import Sequence
from datetime import date

import numpy as np
from sqlglot import exp

from neyman.tables import _sql as sql
from neyman.tables._sql import Tree

__all__ = ["day_bin", "number_bin"]

_CELLS, _NEAR = 4, 1e-6
_G, _J, _LOW, _HIGH = "g", "j", "low", "high"
_DIGITS, _WIDTH = 6, 24


def number_bin(
    query: exp.Select, value: Tree, edges: Sequence[float], clipped: bool, alias: str
) -> tuple[exp.Select, Tree]:
    """Return the query without the rows outside all bins, and the number of a row's bin.

    Args:
        query: a query over the source.
        value: a double.
        edges: increasing doubles e0, ..., en.
        clipped: whether values outside are moved to the nearer end.
        alias: the alias of the list.
    """
    inside = _inside(value, edges, clipped)
    cells = _CELLS * (len(edges) - 1)
    width = sql.double((edges[-1] - edges[0]) / cells)
    cell = exp.Floor(this=exp.paren(inside.copy() - sql.double(edges[0])) / width)
    # What is outside and not moved has no cell.
    compared = inside if clipped else value
    on = exp.and_(
        # Nothing raises, should an engine take NaN for a number.
        sql.try_cast(cell, "INT").eq(sql.column(_G, alias)),
        compared.copy() >= sql.column(_LOW, alias),
        compared.copy() < sql.column(_HIGH, alias),
    )
    query = query.join(_list(edges, cells).subquery(sql.identifier(alias)), on=on)
    return query, sql.column(_J, alias)


def day_bin(
    query: exp.Select, value: Tree, edges: Sequence[date], clipped: bool
) -> tuple[exp.Select, Tree]:
    """Return the query without the dates outside all bins, and the number of a row's bin."""
    cuts = [sql.cast(sql.text(edge.isoformat()), "DATE") for edge in edges]
    if clipped:
        query = query.where(sql.known(value.copy()))
    else:
        query = query.where(exp.Between(this=value.copy(), low=cuts[0], high=cuts[-1]))
    return query, _halved(value, cuts[1:-1], 0)


def _inside(value: Tree, edges: Sequence[float], clipped: bool) -> Tree:
    low, high = sql.double(edges[0]), sql.double(edges[-1])
    # Of NaN, which engines put above all numbers, this is false, and of NULL not true.
    found = exp.Case().when(exp.Between(this=value.copy(), low=low, high=high), value.copy())
    if clipped:
        found = found.when(value.copy() < low, low)
        found = found.when(exp.Not(this=exp.IsNan(this=value.copy())), high)
    return found


def _list(edges: Sequence[float], cells: int) -> exp.Select:
    """Return the bins of each cell with their edges; that of the last bin is the next double."""
    ends = np.array(edges, np.float64)
    at = (ends - ends[0]) / ((ends[-1] - ends[0]) / cells)
    # The cell after the last holds the last edge.
    first = np.maximum(np.floor(at[:-1] - _NEAR).astype(int), 0)
    last = np.minimum(np.floor(at[1:] + _NEAR).astype(int), cells)
    ends[-1] = np.nextafter(ends[-1], np.inf)
    shown = [_written(end) for end in ends.tolist()]
    texts = [
        f"{g:0{_DIGITS}d}{j:0{_DIGITS}d}{shown[j]}{shown[j + 1]}"
        for j, (low, high) in enumerate(zip(first.tolist(), last.tolist(), strict=True))
        for g in range(low, high + 1)
    ]
    listed = exp.select(sql.named(sql.split(texts), "e")).subquery(sql.identifier("neyman_list"))
    columns = [(_G, _DIGITS, "BIGINT"), (_J, _DIGITS, "BIGINT")]
    found, start = exp.Select().from_(listed), 1
    for name, length, kind in [*columns, (_LOW, _WIDTH, "DOUBLE"), (_HIGH, _WIDTH, "DOUBLE")]:
        part = exp.Substring(
            this=sql.column("e"), start=sql.integer(start), length=sql.integer(length)
        )
        found = found.select(sql.named(sql.cast(part, kind), name))
        start += length
    return found


def _written(number: float) -> str:
    """Return the 17 digits that identify a double, always with the same length."""
    mantissa, exponent = f"{abs(number):.16e}".split("e")
    return f"{'-' if number < 0 else '0'}{mantissa}e{int(exponent):+04d}"


def _halved(value: Tree, cuts: Sequence[Tree], first: int) -> Tree:
    """Return `first` plus the number of increasing cuts that are at most the value."""
    if not cuts:
        return sql.integer(first)
    middle = len(cuts) // 2
    below = exp.LT(this=value.copy(), expression=cuts[middle])
    return (
        exp.Case()
        .when(below, _halved(value, cuts[:middle], first), copy=False)
        .else_(_halved(value, cuts[middle + 1 :], first + middle + 1), copy=False)
    )
