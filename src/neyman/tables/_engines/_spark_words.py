"""The tree in Spark's dialect.

No text of the user is in the statement literally: Spark replaces ${...} in it by settings and
environment variables, and reads backslashes by a setting. So text is written as hexadecimal digits.
"""

from sqlglot import exp

from neyman.tables import _sql as sql
from neyman.tables._engines._spelling import Spelling, in_digits
from neyman.tables._sql import Tree

__all__ = ["SPELLING"]


def _literal(node: exp.Literal) -> Tree:
    return in_digits(node, lambda digits: sql.cast(exp.HexString(this=digits), "TEXT"))


def _type(node: exp.DataType) -> Tree:
    # Of 38 digits: sums of 2^63 integers of 62 bits have them.
    return exp.DataType.build("DECIMAL(38, 0)") if node.is_type(sql.WIDE) else node


def _encode(node: exp.Encode) -> Tree:
    # ENCODE would read the text and fail on some; these are its bytes as they are.
    return exp.Cast(this=node.this, to=exp.DataType.build("BINARY"))


def _split(node: exp.Split) -> Tree:
    # By a pattern; the mark is one sign of no meaning there.
    return exp.Anonymous(this="SPLIT", expressions=[node.this, node.expression])


def _floor(node: exp.Floor) -> Tree:
    # FLOOR of a double is a 64-bit integer, and an error beyond.
    nearest = exp.Anonymous(this="RINT", expressions=[node.this])
    above = exp.GT(this=nearest, expression=node.this.copy())
    lower = exp.Sub(this=nearest.copy(), expression=sql.double(1.0))
    return exp.Case(ifs=[exp.If(this=above, true=lower)], default=nearest.copy())


def _is_nan(node: exp.IsNan) -> Tree:
    # ISNAN of NULL is false; NaN equals itself.
    return exp.EQ(this=node.this, expression=sql.cast(sql.text("NaN"), "DOUBLE"))


def _days(node: exp.DateDiff) -> Tree:
    # Of dates. With a unit Spark takes midnights of the session's zone, some of which summer time
    # skips, and fails on dates that are far away.
    return sql.call("DATEDIFF", node.this, node.expression)


def _window(node: exp.Window) -> Tree:
    # Rows must have an order; here they are all alike.
    if node.args.get("order") is None:
        first = node.args["partition_by"][0].copy()
        node.set("order", exp.Order(expressions=[exp.Ordered(this=first, nulls_first=False)]))
    return node


def _step(node: exp.CTE) -> Tree:
    # Steps are never kept there, and it has no words for it.
    node.set("materialized", None)
    return node


SPELLING = Spelling(
    "spark",
    {
        exp.Literal: _literal,
        exp.DataType: _type,
        exp.Encode: _encode,
        exp.Split: _split,
        exp.Floor: _floor,
        exp.IsNan: _is_nan,
        exp.DateDiff: _days,
        exp.Window: _window,
        exp.CTE: _step,
    },
)
