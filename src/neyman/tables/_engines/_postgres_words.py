"""The tree in PostgreSQL's dialect.

PostgreSQL fails where IEEE 754 rounds to zero, and a failure reveals information about a row. So
quotients that are too small to matter are zero (`_quotient`). Nothing in the tree overflows.
"""

from sqlglot import exp

from neyman.tables import _sql as sql
from neyman.tables._engines._spelling import Spelling, in_digits
from neyman.tables._sql import Tree

__all__ = ["SPELLING"]

_FOURTH = "(0[48]|[2468][048]|[13579][26])"
# The days of the calendar, February 29 in leap years alone.
_DATE = (
    "^(?!0000)([0-9]{4}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)"
    f"|02-(0[1-9]|1[0-9]|2[0-8]))|([0-9]{{2}}{_FOURTH}|{_FOURTH}00)-02-29)$"
)


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


def _explode(node: exp.Explode) -> Tree:
    # A series is rows there, not a list of them.
    return node.this if isinstance(node.this, exp.GenerateSeries) else node


def _hex(node: exp.Hex) -> Tree:
    return _call("ENCODE", node.this, sql.text("hex"))


def _md5(node: exp.MD5) -> Tree:
    # Ordered as bytes, whatever the database's collation.
    return exp.Collate(this=exp.MD5(this=node.this), expression=sql.identifier("C"))


def _is_nan(node: exp.IsNan) -> Tree:
    return exp.EQ(this=node.this, expression=sql.cast(sql.text("NaN"), "DOUBLE"))


def _try_cast(node: exp.TryCast) -> Tree:
    if not node.to.is_type("date"):
        # Of integers of at most 64 bits, or of numbers known to lie between such: neither fails.
        return exp.Cast(this=node.this, to=node.to)
    # Of text whose digits are known to have the shape of a date.
    good = _matches(exp.RegexpLike(this=node.this, expression=sql.text(_DATE)))
    return exp.Case(ifs=[exp.If(this=good, true=exp.Cast(this=node.this.copy(), to=node.to))])


def _matches(node: exp.RegexpLike) -> Tree:
    # Some collations have no patterns.
    collated = exp.Collate(this=exp.Paren(this=node.this), expression=sql.identifier("C"))
    return exp.RegexpLike(this=collated, expression=node.expression)


def _quotient(node: exp.Div) -> Tree:
    """Divide by a constant b; a value below 1e-30 b counts as 0.

    The tree adds quotients to 1/2, which such a small one does not change; or it subtracts floor(x
    / b) b from x, which gives x or x + b = b, the same place of a circle of period b. A quotient of
    expressions cannot be too small.
    """
    if isinstance(node.expression, exp.Nullif | exp.Paren):
        return node
    constant = abs(float(node.expression.this.this))
    if constant <= 1:
        return node
    small = exp.LT(this=exp.Abs(this=node.this.copy()), expression=sql.double(constant * 1e-30))
    return exp.Case(ifs=[exp.If(this=small, true=sql.double(0.0))], default=node.copy())


def _days(node: exp.DateDiff) -> Tree:
    # Both are known to lie in the years 1 to 9999.
    return exp.Paren(this=exp.Sub(this=node.this, expression=node.expression))


def _call(name: str, *arguments: Tree) -> Tree:
    return exp.Anonymous(this=name, expressions=list(arguments))


SPELLING = Spelling(
    "postgres",
    {
        exp.Literal: _literal,
        exp.DataType: _type,
        exp.Encode: _encode,
        exp.Split: _split,
        exp.Explode: _explode,
        exp.Hex: _hex,
        exp.MD5: _md5,
        exp.IsNan: _is_nan,
        exp.TryCast: _try_cast,
        exp.RegexpLike: _matches,
        exp.Div: _quotient,
        exp.DateDiff: _days,
    },
)
