"""Checks of arguments. An error names the parameter, what it must be, and what was passed."""

import operator
import reprlib
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from types import UnionType
from typing import SupportsIndex, cast

from neyman.errors import InvalidParameter
from neyman.printable import printable

__all__ = [
    "brief",
    "check_list",
    "check_name",
    "check_type",
    "given",
    "got",
    "refuse_large_delta",
    "whole",
    "written",
]

_MOST_BITS = 1024
_LONGEST_NAME = 200
_LONGEST_TEXT = 300
_LARGEST_DELTA = Fraction(1, 100)


def given(name: str, value: object) -> str:
    """Return "name=value" for a single number or text, and only the name otherwise.

    An array can hold private values, and a caller may pass one by mistake.
    """
    return f"{name}={written(value)}" if _is_plain(value) else name


def got(value: object) -> str:
    """Return the value if it is a single number or text, and its type otherwise, as in `given`."""
    return written(value) if _is_plain(value) else f"a value of type {type(value).__name__}"


def _is_plain(value: object) -> bool:
    return value is None or isinstance(value, int | float | str | Fraction | Decimal)


def written(value: object) -> str:
    """Return a short repr, even for an integer too long for Python to print."""
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        return f"about {'-' if value < 0 else ''}2^{value.bit_length()}"
    return reprlib.repr(value)


def brief(shown: object) -> str:
    """Return a text on one line, cut after 300 characters, for messages only.

    A composition can have thousands of parts, and a damaged file can hold an id of any length.
    """
    text = printable(shown)
    return (
        text if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT]}… ({len(text)} characters)"
    )


def check_type(name: str, value: object, kind: type | UnionType, instead: str) -> None:
    """Refuse a value of another type. The message shows the type and not the value.

    Raises:
        InvalidParameter: if it is of another type, or a class itself.
    """
    if isinstance(value, type):
        raise InvalidParameter(f"{name} must be {instead}; got the class {value.__name__}")
    if not isinstance(value, kind):
        raise InvalidParameter(
            f"{name} must be {instead}; got a value of type {type(value).__name__}"
        )


def check_list(name: str, value: object, instead: str) -> None:
    """Refuse anything except a list; a text is refused too, although it is a sequence.

    Raises:
        InvalidParameter: if it is of another type.
    """
    check_type(name, value, Sequence, instead)
    if isinstance(value, str | bytes):
        raise InvalidParameter(
            f"{name} must be a list; got the text {written(value)}. Write {instead}"
        )


def check_name(name: str, value: str) -> None:
    """Refuse a name that people cannot read or type.

    Raises:
        InvalidParameter: if it is not text, or is empty, too long, or not printable.
    """
    check_type(name, value, str, f"1 to {_LONGEST_NAME} printable characters")
    if not 0 < len(value) <= _LONGEST_NAME or not value.isprintable():
        raise InvalidParameter(
            f"{name} must have 1 to {_LONGEST_NAME} printable characters; got {len(value)} "
            f"characters{'' if value.isprintable() else ', some of them not printable'}"
        )


def whole(name: str, value: object, least: int, most: int | None = None) -> int:
    """Return a whole number from `least` to `most`, or without an upper limit.

    Raises:
        InvalidParameter: if it is anything else, or a bool.
    """
    try:
        number = operator.index(cast("SupportsIndex", value))
    except TypeError:
        number = least - 1
    if isinstance(value, bool) or number < least or (most is not None and number > most):
        limits = f"of at least {least}" if most is None else f"from {least} to {most}"
        raise InvalidParameter(f"{name} must be a whole number {limits}; got {got(value)}")
    return number


def refuse_large_delta(delta: Decimal | Fraction, name: str = "delta") -> None:
    """Refuse a delta so large that it must be a mistake, in specs and on the command line.

    Functions accept any delta, for the mathematics.

    Raises:
        InvalidParameter: if it is 0.01 or more.
    """
    if delta >= _LARGEST_DELTA:
        raise InvalidParameter(
            f"{name} must be below 0.01; got {float(delta):g}. A delta this large "
            "permits publishing one record in a hundred in full. Write a number far below 1 in the "
            "number of those protected, such as 1e-6"
        )
