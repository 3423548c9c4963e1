"""Timestamps as integers: microseconds since the start of year 1, equal on every engine.

Engines have their own units, ranges and zones of timestamps, and fail outside their ranges. All of
them compare, subtract and divide 64-bit integers in the same way.
"""

from datetime import UTC, date, datetime, timedelta
from typing import Final

from sqlglot import exp

from neyman.tables import _sql as sql
from neyman.tables._sql import Tree

__all__ = [
    "DAY",
    "EPOCH",
    "FIRST",
    "LAST",
    "LAST_DAY",
    "between",
    "date_of",
    "inside",
    "midnight",
    "since_epoch",
    "since_year_1",
    "whole",
]

DAY: Final = 86_400_000_000
EPOCH: Final = 62_135_596_800_000_000
"""The microseconds from 0001-01-01 to 1970-01-01."""
LAST_DAY: Final = date.max.toordinal() - 1
_MOST: Final = (LAST_DAY + 1) * DAY - 1
FIRST: Final = date.min.isoformat()
LAST: Final = f"{date.max.isoformat()}T23:59:59.999999"


def between(value: Tree, low: Tree, high: Tree, result: Tree) -> Tree:
    """Write `result` if low <= value <= high, else NULL."""
    test = exp.Between(this=sql.part(value), low=low, high=high)
    return exp.Case(ifs=[exp.If(this=test, true=result)])


def inside(value: Tree) -> Tree:
    """Write an integer, or NULL outside the years 1 to 9999."""
    return between(value, sql.wide(0), sql.wide(_MOST), value.copy())


def since_epoch(value: Tree) -> Tree:
    """Write microseconds since 1970 as microseconds since the year 1."""
    low, high = sql.wide(-EPOCH), sql.wide(_MOST - EPOCH)
    # Clamped as well, for an engine may add before it compares.
    moved = sql.clamped(low.copy(), value.copy(), high.copy())
    return between(value, low, high, exp.Add(this=moved, expression=sql.wide(EPOCH)))


def whole(value: Tree, unit: int) -> Tree:
    """Write floor(value / unit) of a non-negative integer, as an integer."""
    return exp.IntDiv(this=sql.part(value), expression=sql.wide(unit))


def date_of(value: Tree) -> Tree:
    """Write the date of a timestamp."""
    days = sql.cast(whole(value, DAY), "INT")
    return exp.Add(this=sql.cast(sql.text(FIRST), "DATE"), expression=days)


def midnight(day: Tree) -> Tree:
    """Write the timestamp at which a date of the years 1 to 9999 begins."""
    first = sql.cast(sql.text(FIRST), "DATE")
    days = exp.DateDiff(this=sql.part(day), expression=first, unit=exp.var("DAY"))
    return exp.Mul(this=sql.cast(days, "BIGINT"), expression=sql.wide(DAY))


def since_year_1(moment: date) -> int:
    """Return the microseconds of a date or a datetime; one with a zone is converted to UTC."""
    if not isinstance(moment, datetime):
        moment = datetime(moment.year, moment.month, moment.day)
    if moment.tzinfo is not None:
        moment = moment.astimezone(UTC).replace(tzinfo=None)
    return (moment - datetime.min) // timedelta(microseconds=1)
