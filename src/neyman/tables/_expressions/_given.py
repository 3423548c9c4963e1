"""Arguments of expressions: text, and values of literals."""

from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from numbers import Integral
from typing import Any, cast

from neyman.arguments import written
from neyman.errors import InvalidParameter
from neyman.tables._expressions._term import Value
from neyman.tables._types import LARGEST, SMALLEST

__all__ = ["check_text", "value_of"]


def check_text(text: object, what: str) -> None:
    """Refuse text that some engine cannot store."""
    if type(text) is not str or "\0" in text or text != text.encode("utf-8", "replace").decode():
        raise InvalidParameter(
            f"{what} must be text without NUL and without half surrogates; got {text!r}"
        )


def value_of(given: object) -> Value:
    """Return a literal's value: a double, text, a boolean, a date, or None."""
    match given:
        case None | bool():
            return given
        case datetime():
            return _in_utc(given)
        case date():
            return date(given.year, given.month, given.day)
        case str():
            check_text(str(given), "text")
            return str(given)
        case float() | Integral() | Decimal() | Fraction():
            return _double(given)
        case _:
            pass
    if type(given).__module__ == "numpy":
        return value_of(cast("Any", given).tolist())
    raise InvalidParameter(
        "an expression must be made of numbers, texts, booleans, dates, datetimes, None and "
        f"col(name); got a {type(given).__name__}"
    )


def _in_utc(given: datetime) -> datetime:
    """Return a timestamp without a zone; pandas has its own class, with nanoseconds."""
    plain = datetime(
        given.year,
        given.month,
        given.day,
        given.hour,
        given.minute,
        given.second,
        given.microsecond,
        given.tzinfo,
        fold=given.fold,
    )
    if plain.utcoffset() is None:
        return plain.replace(tzinfo=None, fold=0)
    try:
        return plain.astimezone(UTC).replace(tzinfo=None)
    except OverflowError:
        raise InvalidParameter(
            f"the timestamp {plain.isoformat()} leaves the years 1 to 9999 in UTC; write another"
        ) from None


def _double(given: Any) -> float:
    try:
        value = float(given)
    except (OverflowError, ValueError, TypeError):
        value = float("inf")
    if value and not SMALLEST <= abs(value) <= LARGEST:
        raise InvalidParameter(
            f"the number {written(given)} is not 0 nor of a magnitude in [2^-200, 2^200]; write one"
        )
    if isinstance(given, Integral) and value != int(given):
        raise InvalidParameter(
            f"numbers are compared as doubles, and the integer {given!r} is not a double. Integers "
            "beyond 2^53 can only be compared as keys; write Keys(...)"
        )
    return value + 0.0
