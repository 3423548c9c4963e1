"""Dates and timestamps in text, by a format of a closed list.

A text is compared with the shapes that the format allows, and is NULL if it has none of them. Then
only digits become numbers, so nothing can fail.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Final

from sqlglot import exp

from neyman.tables import _instant as instant
from neyman.tables import _sql as sql
from neyman.tables._expressions._term import Term
from neyman.tables._expressions._values import year_1_to_9999
from neyman.tables._sql import Tree
from neyman.tables._types import Type

__all__ = ["DATE_FORMATS", "TIMESTAMP_FORMATS", "to_date", "to_timestamp"]

DATE_FORMATS: Final = (
    *("%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y", "%d/%m/%Y", "%d-%m-%Y", "%m/%d/%Y", "%m-%d-%Y"),
    "%Y%m%d",
)
_TIMES: Final = (" %H:%M", " %H:%M:%S", "T%H:%M", "T%H:%M:%S")
_MACHINE: Final = ("T%H:%M:%SZ", " %H:%M:%S.%f", "T%H:%M:%S.%f")
TIMESTAMP_FORMATS: Final = (
    *(day + time for day in DATE_FORMATS for time in _TIMES),
    *("%Y-%m-%d" + time for time in _MACHINE),
)
_MARK: Final = "!"
_SIZES: Mapping[str, int] = {"Y": 4, "m": 2, "d": 2, "H": 2, "M": 2, "S": 2, "f": 6}
_MOST: Mapping[str, int] = {"H": 23, "M": 59, "S": 59}
_MICROSECONDS: Mapping[str, int] = {"H": 3_600_000_000, "M": 60_000_000, "S": 1_000_000, "f": 1}


def to_date(_: Type, terms: Sequence[Term]) -> Term:
    x, format_ = terms
    return Term(year_1_to_9999(_day(x, str(format_.value))))


def to_timestamp(_: Type, terms: Sequence[Term]) -> Term:
    x, format_ = terms
    written = str(format_.value)
    found = instant.midnight(year_1_to_9999(_day(x, written)))
    good: list[Tree] = []
    for field in (field for field in "HMSf" if f"%{field}" in written):
        digits = sql.cast(_digits(x, written, [field]), "BIGINT")
        found = found + exp.Mul(this=digits, expression=sql.wide(_MICROSECONDS[field]))
        if field in _MOST:
            most = sql.wide(_MOST[field])
            good.append(exp.LTE(this=digits.copy(), expression=most))
    return Term(exp.Case(ifs=[exp.If(this=exp.and_(*good), true=found)]))


def _day(x: Term, format_: str) -> Tree:
    digits, to = _digits(x, format_, ["Y", "m", "d"]), exp.DataType.build("DATE")
    # Without `safe` Spark's would be a plain cast.
    return exp.TryCast(this=digits, to=to, safe=True)


def _digits(x: Term, format_: str, fields: Sequence[str]) -> Tree:
    """Write the digits of fields with "-" between them; NULL if the text has another shape."""
    cases: list[Tree] = []
    for pattern, places in _shapes(format_):
        parts: list[Tree] = []
        for field in fields:
            first, size = places[field]
            lacking = sql.text("0" * (_SIZES[field] - size))
            part = exp.Substring(this=x(), start=sql.integer(first), length=sql.integer(size))
            digits = (part, lacking) if field == "f" else (lacking, part)
            parts.append(sql.joined(sql.text("-" if parts else ""), *digits))
        # With a mark behind it, for to some engines a text ends before a last line break too.
        marked = exp.Paren(this=sql.joined(x(), sql.text(_MARK)))
        matched = exp.RegexpLike(this=marked, expression=sql.text(pattern))
        cases.append(exp.If(this=matched, true=sql.joined(*parts)))
    return exp.Case(ifs=cases)


def _shapes(format_: str) -> Iterator[tuple[str, Mapping[str, tuple[int, int]]]]:
    """Yield each shape of a format: its pattern, and positions and sizes of its fields, from 1.

    Month and day have one digit or two if there are separators around them. They have two in
    formats without separators and in formats of machines. A fraction has one to six digits.
    """
    machine = "%f" in format_ or format_.endswith("Z")
    short = (2,) if machine or "%Y%m%d" in format_ else (2, 1)
    fractions = range(1, 7) if "%f" in format_ else (0,)
    for month, day, fraction in product(short, short, fractions):
        sizes = {**_SIZES, "m": month, "d": day, "f": fraction}
        pattern, end, places, signs = "^", 1, dict[str, tuple[int, int]](), iter(format_)
        for sign in signs:
            size = 1
            if sign == "%":
                field = next(signs)
                size = sizes[field]
                places[field] = end, size
                pattern += f"[0-9]{{{size}}}"
            else:
                pattern += f"[{sign}]"
            end += size
        yield f"{pattern}{_MARK}$", places
