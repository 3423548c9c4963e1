"""Columns and literals as terms of expressions, made total."""

import math
from datetime import date, datetime

from sqlglot import exp

from neyman.tables import _sql as sql
from neyman.tables._expressions._term import Term, Value
from neyman.tables._instant import since_year_1
from neyman.tables._schema import Column
from neyman.tables._sql import Tree
from neyman.tables._types import LARGEST, SMALLEST, Range, Type

__all__ = ["column_term", "literal_term", "year_1_to_9999"]

_NAMES = {Type.NUMBER: "DOUBLE", Type.TEXT: "TEXT", Type.TRUTH: "BOOLEAN", Type.DAY: "DATE"}
_NAMES[Type.TIME] = "BIGINT"


def column_term(column: Column, wanted: Type) -> Term:
    """Return a column as one of its types."""
    match wanted:
        case Type.NUMBER:
            number, known = column.number(), column.kind.range
            if known is not None:
                return Term(number, known)
            return Term(_inside(number), Range.clipped(), raw=_known(number))
        case Type.TEXT:
            return Term(sql.cast(column.value(), "TEXT"))
        case Type.TRUTH:
            return Term(column.value())
        case Type.DAY:
            return Term(year_1_to_9999(column.value()))
        case Type.TIME:
            return Term(column.instant())


def literal_term(value: Value, wanted: Type) -> Term:
    """Return a literal with its own type, or NULL with the wanted one."""
    match value:
        case None:
            return Term(sql.cast(exp.null(), _NAMES[wanted]))
        case bool():
            return Term(exp.true() if value else exp.false(), value=value)
        case datetime():
            return Term(sql.wide(since_year_1(value)), value=value)
        case date():
            return Term(sql.cast(sql.text(value.isoformat()), "DATE"), value=value)
        case str():
            return Term(sql.cast(sql.text(value), "TEXT"), value=value)
        case _:
            return Term(sql.double(value), Range.of(value), value)


def _known(number: Tree) -> Tree:
    """Write NULL for NaN, which engines order above all numbers."""
    below = exp.LTE(this=sql.part(number), expression=sql.double(math.inf))
    return exp.Case(ifs=[exp.If(this=below, true=number.copy())])


def _inside(number: Tree) -> Tree:
    """Write a double with its magnitude clipped; NaN is NULL.

    The most frequent branch comes first, because engines evaluate the others only if it is false.
    """
    size = exp.Abs(this=number)
    most, least = sql.double(LARGEST), sql.double(SMALLEST)
    usual = exp.Between(this=size, low=least, high=most)
    small = exp.LT(this=size.copy(), expression=least.copy())
    below = exp.LT(this=sql.part(number), expression=sql.double(0.0))
    above = exp.LTE(this=sql.part(number), expression=sql.double(math.inf))
    return exp.Case(
        ifs=[
            exp.If(this=usual, true=number.copy()),
            exp.If(this=small, true=sql.double(0.0)),
            exp.If(this=below, true=sql.double(-LARGEST)),
            exp.If(this=above, true=most.copy()),
        ]
    )


def year_1_to_9999(value: Tree) -> Tree:
    """Write NULL for dates that engines write or count differently, and for infinite ones."""
    first, last = (
        sql.cast(sql.text(day.isoformat()), "DATE") for day in (date(1, 1, 1), date(9999, 12, 31))
    )
    inside = exp.Between(this=value, low=first, high=last)
    return exp.Case(ifs=[exp.If(this=inside, true=value.copy())])
