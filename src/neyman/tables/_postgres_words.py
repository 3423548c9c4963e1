"""The tree in PostgreSQL's words.

Its arithmetic fails on what IEEE 754 rounds to zero or infinity, and a failure tells of a row: so
quotients too small or too large to matter are zero (`_quotient`).
"""

from sqlglot import exp

from neyman.tables import _sql as sql
from neyman.tables._spelling import Spelling, in_digits
from neyman.tables._sql import Tree

__all__ = ["SPELLING"]


def _literal(node: exp.Literal) -> Tree:
    return in_digits(node, lambda digits: _call("CONVERT_FROM", _decoded(digits), sql.text("UTF8")))


def _decoded(digits: str) -> Tree:
    return _call("DECODE", sql.text(digits), sql.text("hex"))


def _type(node: exp.DataType) -> Tree:
    return exp.DataType.build("DECIMAL") if node.is_type(sql.WIDE) else node


def _encode(node: exp.Encode) -> Tree:
    return _call("CONVERT_TO", node.this, sql.text("UTF8"))


def _split(node: exp.Split) -> Tree:
    return _call("STRING_TO_ARRAY", node.this, node.expression)


def _md5(node: exp.MD5) -> Tree:
    # Ordered as bytes, whatever the database's collation.
    return exp.Collate(this=exp.MD5(this=node.this), expression=sql.identifier("C"))


def _is_nan(node: exp.IsNan) -> Tree:
    return exp.EQ(this=node.this, expression=sql.cast(sql.text("NaN"), "DOUBLE"))


def _try_cast(node: exp.TryCast) -> Tree:
    # Of integers of at most 64 bits to such, which cannot fail.
    return exp.Cast(this=node.this, to=node.to)


def _quotient(node: exp.Div) -> Tree:
    """a / b, and 0 where |a / b| < 1e-30, or > 1e50 and a is finite.

    Every quotient of the tree is added to 1/2 or floored and multiplied by b again, and what it
    comes to is clamped. Below 1e-30 adding it to 1/2 gives 1/2, and of a period b, a - floor(a/b) b
    is 0 or b up to rounding, which are one place. Above 1e50 it is such a period too, and the
    spacing of the doubles near a is above b: the rest is 0, or clamped to 0 or b.
    """
    value, by = node.this, node.expression
    size, unit = exp.Abs(this=value), exp.Abs(this=by)
    small = exp.LT(this=size, expression=exp.Mul(this=unit, expression=sql.double(1e-30)))
    large = exp.And(
        this=exp.GT(this=size.copy(), expression=unit.copy() * sql.double(1e50)),
        expression=exp.LT(this=size.copy(), expression=sql.cast(sql.text("Infinity"), "DOUBLE")),
    )
    outside = exp.If(this=exp.Or(this=small, expression=large), true=sql.double(0.0))
    return exp.Case(ifs=[outside], default=exp.Div(this=value.copy(), expression=by.copy()))


def _call(name: str, *arguments: Tree) -> Tree:
    return exp.Anonymous(this=name, expressions=list(arguments))


SPELLING = Spelling(
    "postgres",
    {
        exp.Literal: _literal,
        exp.DataType: _type,
        exp.Encode: _encode,
        exp.Split: _split,
        exp.MD5: _md5,
        exp.IsNan: _is_nan,
        exp.TryCast: _try_cast,
        exp.Div: _quotient,
    },
)
