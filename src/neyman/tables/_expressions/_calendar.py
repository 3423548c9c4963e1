"""The trees of operations on dates and timestamps, each total and equal on all engines.

A timestamp is an integer (`neyman.tables._instant`), so its parts are quotients and remainders.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Final

from sqlglot import exp

from neyman.tables import _instant as instant
from neyman.tables import _sql as sql
from neyman.tables._expressions import _trees as trees
from neyman.tables._expressions._term import Term, Write
from neyman.tables._sql import Tree
from neyman.tables._types import Range, Type

__all__ = [
    "UNITS",
    "as_time",
    "clock",
    "difference",
    "iso_value",
    "moved",
    "offset_of",
    "part_of_day",
    "since",
    "to_day",
    "truncated",
    "weekday",
]

_MINUTE: Final = 60_000_000
_ISO = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?(Z|[+-][0-9]{2}:[0-9]{2})?)?"
)
_OFFSET = re.compile(r"([+-])([0-9]{2}):([0-9]{2})")
_SIZES: Mapping[str, int] = {
    "second": 1_000_000,
    "minute": _MINUTE,
    "hour": 60 * _MINUTE,
    "day": instant.DAY,
}


def iso_value(text: str) -> date | None:
    """Return the date or the timestamp in UTC of an ISO 8601 text; None if it is neither."""
    if not _ISO.fullmatch(text):
        return None
    try:
        if len(text) == len("2020-02-29"):
            return date.fromisoformat(text)
        found = datetime.fromisoformat(text)
        return found if found.tzinfo is None else found.astimezone(UTC).replace(tzinfo=None)
    except (ValueError, OverflowError):
        return None


def offset_of(text: object) -> int | None:
    """Return the microseconds of a fixed offset such as +09:00; None if it is not one."""
    found = _OFFSET.fullmatch(text) if isinstance(text, str) else None
    if found is None or int(found[2]) > 14 or int(found[3]) > 59:
        return None
    minutes = 60 * int(found[2]) + int(found[3])
    return (-minutes if found[1] == "-" else minutes) * _MINUTE


def as_time(day: Term) -> Term:
    """Return the timestamp at which a date begins."""
    return Term(instant.midnight(day.tree))


def _as_day(t: Type, term: Term) -> Term:
    return term if t is Type.DAY else Term(instant.date_of(term.tree))


def to_day(t: Type, terms: Sequence[Term]) -> Term:
    return _as_day(t, terms[0])


def part_of_day(unit: str) -> Write:
    def write(t: Type, terms: Sequence[Term]) -> Term:
        part = exp.Extract(this=exp.var(unit), expression=_as_day(t, terms[0])())
        return Term(sql.cast(part, "DOUBLE"), Range.whole(14))

    return write


def clock(period: str, unit: str) -> Write:
    """Write the number of whole units since the period began."""

    def write(_: Type, terms: Sequence[Term]) -> Term:
        rest = exp.Mod(this=terms[0](), expression=sql.wide(_SIZES[period]))
        return Term(sql.cast(instant.whole(rest, _SIZES[unit]), "DOUBLE"), Range.whole(6))

    return write


def since(unit: str) -> Write:
    """Write the number of units between: whole days for dates, fractions for timestamps."""
    size = _SIZES[unit]

    def write(t: Type, terms: Sequence[Term]) -> Term:
        a, b = terms
        if t is Type.DAY:
            days = exp.DateDiff(this=a(), expression=b(), unit=exp.var("DAY"))
            found = Term(sql.cast(days, "DOUBLE"), Range.whole(22))
            many = float(instant.DAY // size)
            return found if many == 1 else trees.product(t, [found, _number(many)])
        gone = exp.Paren(this=exp.Sub(this=a(), expression=b()))
        found = Term(sql.cast(gone, "DOUBLE"), Range.whole(60))
        return trees.quotient(t, [found, _number(float(size))])

    return write


def _number(value: float) -> Term:
    return Term(sql.double(value), Range.of(value), value)


def difference(t: Type, terms: Sequence[Term]) -> Term:
    """Write the difference of numbers, or the days between dates or timestamps."""
    return trees.difference(t, terms) if t is Type.NUMBER else since("day")(t, terms)


def weekday(t: Type, terms: Sequence[Term]) -> Term:
    """Write the day of the week; the first day of year 1 was a Monday."""
    day = _as_day(t, terms[0])
    first = Term(sql.cast(sql.text(instant.FIRST), "DATE"))
    rest = trees.remainder(t, [since("day")(Type.DAY, [day, first]), _number(7.0)])
    return Term(trees.added(t, [rest, _number(1.0)]).tree, Range.whole(3))


def moved(_: Type, terms: Sequence[Term]) -> Term:
    """Add a fixed offset; results outside the years 1 to 9999 are NULL."""
    offset = offset_of(terms[1].value) or 0
    return Term(instant.inside(exp.Add(this=terms[0](), expression=sql.wide(offset))))


def truncated(t: Type, terms: Sequence[Term]) -> Term:
    """Write the first day of the year, quarter, month or week."""
    return Term(UNITS[str(terms[1].value)](_as_day(t, terms[0])))


def _same_day(day: Term) -> Tree:
    return day.tree


def _to_monday(day: Term) -> Tree:
    late = trees.difference(Type.NUMBER, [weekday(Type.DAY, [day]), _number(1.0)])
    return exp.Sub(this=day(), expression=sql.cast(late(), "INT"))


def _whole_part(unit: str, day: Term) -> Tree:
    return sql.cast(exp.Extract(this=exp.var(unit), expression=day()), "INT")


def _to_first(day: Term) -> Tree:
    late = exp.Paren(this=exp.Sub(this=_whole_part("DAY", day), expression=sql.integer(1)))
    return exp.Sub(this=day(), expression=late)


def _of_year(day: Term) -> Tree:
    return _first_of(_whole_part("YEAR", day), sql.integer(1))


def _of_quarter(day: Term) -> Tree:
    month = _whole_part("MONTH", day)
    late = exp.Mod(this=exp.Paren(this=month - sql.integer(1)), expression=sql.integer(3))
    return _first_of(_whole_part("YEAR", day), exp.Sub(this=month.copy(), expression=late))


def _first_of(year: Tree, month: Tree) -> Tree:
    return sql.call("MAKE_DATE", year, month, sql.integer(1))


UNITS = {
    "year": _of_year,
    "quarter": _of_quarter,
    "month": _to_first,
    "week": _to_monday,
    "day": _same_day,
}
"""What `truncate` takes."""
