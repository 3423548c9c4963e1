"""The node that a value is at, in SQL: what `neyman.nodes` computes, operation by operation."""

from collections.abc import Sequence

from sqlglot import exp

from neyman.nodes import Nodes
from neyman.tables import _sql as sql
from neyman.tables._sql import Tree

__all__ = ["place"]


def place(axes: Sequence[Nodes], values: Sequence[Tree]) -> Tree:
    """Return the place of a row, the last axis running fastest; NULL where it is at none.

    Args:
        axes: one for each value; at most 2^30 places together.
        values: columns of doubles. An expression would be computed once for each time that it is
            written here.
    """
    first, *rest = (_node(axis, value) for axis, value in zip(axes, values, strict=True))
    for axis, node in zip(axes[1:], rest, strict=True):
        first = first * sql.integer(axis.number) + node
    return first


def _node(axis: Nodes, value: Tree) -> Tree:
    """floor(t / step + 1/2); t is in reach whatever the value is, and no cast may raise."""
    step, half = sql.double(axis.step), sql.double(0.5)
    inside = _turned(axis, value) if axis.closed else _shifted(axis, value)
    node = sql.try_cast(exp.Floor(this=inside / step + half), "INT")
    return (
        exp.Mod(this=exp.paren(node), expression=sql.integer(axis.number)) if axis.closed else node
    )


def _shifted(axis: Nodes, value: Tree) -> Tree:
    # On DuckDB the least and the greatest of two would take as long as all the rest.
    inside = exp.Case().when(_between(value, axis), value)
    if not axis.dropped:
        below = exp.LT(this=value, expression=sql.double(axis.start))
        inside = inside.when(below, sql.double(axis.start))
        inside = inside.when(exp.Not(this=exp.IsNan(this=value)), sql.double(axis.end))
    return inside - sql.double(axis.start)


def _turned(axis: Nodes, value: Tree) -> Tree:
    period = sql.double(axis.end)
    turned = value - exp.Floor(this=value / period) * period
    inside = sql.clamped(sql.double(0.0), turned, period)
    return exp.Case().when(_between(value, axis), inside)


def _between(value: Tree, axis: Nodes) -> Tree:
    # Of NaN this is false, for engines that put it above infinity as well.
    low, high = axis.range if axis.closed else (axis.start, axis.end)
    return exp.Between(this=value, low=sql.double(low), high=sql.double(high))
