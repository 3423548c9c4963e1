"""The node of a value in SQL: `neyman.nodes`, operation by operation."""

from collections.abc import Sequence

from sqlglot import exp

from neyman.nodes import OUTSIDE, Nodes
from neyman.tables import _sql as sql
from neyman.tables._sql import Tree

__all__ = ["beyond", "inside", "nearest", "place"]


def nearest(axis: Nodes, value: Tree) -> Tree:
    """Return the number of the node of a double, as a whole double; NULL for a double at none.

    On a circle it is not yet reduced modulo the number of nodes. There are few such numbers for any
    values, so rows can be counted by it.

    Args:
        axis: the nodes.
        value: a column. An expression would be computed at each of its uses here.
    """
    step, half = sql.double(axis.step), sql.double(0.5)
    inside = _turned(axis, value) if axis.closed else _shifted(axis, value)
    node = exp.Floor(this=inside / step + half)
    if not axis.counted:
        return node
    # Nodes of their own: below, above, at no place.
    below, above, none = (sql.double(float(axis.inside + k)) for k in range(OUTSIDE))
    found = exp.Case(default=none).when(_between(value, axis), node)
    found = found.when(exp.LT(this=value, expression=sql.double(axis.start)), below)
    return found.when(exp.Not(this=exp.IsNan(this=value)), above)


def inside(axis: Nodes, value: Tree) -> Tree:
    """Return whether a double is at a node without being moved to an end."""
    return _between(value, axis)


def beyond(axis: Nodes, value: Tree) -> Tree:
    """Return whether a double is moved to an end."""
    return exp.Not(this=_between(value, axis))


def place(axes: Sequence[Nodes], found: Sequence[Tree]) -> Tree:
    """Return the place of a row, with the last axis fastest; NULL if it is at none.

    Args:
        axes: the axes, with at most 2^30 places together.
        found: the nearest node on each axis.
    """
    first, *rest = (_whole(axis, node) for axis, node in zip(axes, found, strict=True))
    for axis, node in zip(axes[1:], rest, strict=True):
        first = first * sql.integer(axis.number) + node
    return first


def _whole(axis: Nodes, node: Tree) -> Tree:
    # No value may raise: where an engine were wrong, as about NaN, it would show that one is there.
    whole = sql.try_cast(node, "INT")
    if not axis.closed:
        return whole
    number = sql.integer(axis.number)
    rest = exp.Mod(this=whole, expression=number) + number
    return exp.Mod(this=exp.paren(rest), expression=number)


def _shifted(axis: Nodes, value: Tree) -> Tree:
    # On DuckDB the least and the greatest of two would take as long as all the rest.
    inside = exp.Case().when(_between(value, axis), value)
    if not (axis.dropped or axis.counted):
        below = exp.LT(this=value, expression=sql.double(axis.start))
        inside = inside.when(below, sql.double(axis.start))
        inside = inside.when(exp.Not(this=exp.IsNan(this=value)), sql.double(axis.end))
    return inside - sql.double(axis.start)


def _turned(axis: Nodes, value: Tree) -> Tree:
    period = sql.double(axis.end)
    turned = value - exp.Floor(this=value / period) * period
    return exp.Case().when(_between(value, axis), turned)


def _between(value: Tree, axis: Nodes) -> Tree:
    # Of NaN this is false, for engines that put it above infinity as well.
    low, high = axis.range if axis.closed else (axis.start, axis.end)
    return exp.Between(this=value, low=sql.double(low), high=sql.double(high))
