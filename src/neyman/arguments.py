"""What a caller wrote: of the right kind, or refused by the name of the parameter."""

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
    "refuse_large_delta",
    "whole",
    "written",
]

_MOST_BITS = 1024
_LONGEST_NAME = 200
_LONGEST_TEXT = 300
_LARGEST_DELTA = Fraction(1, 100)


def given(name: str, value: object) -> str:
    """Say what was found: a single number or word as it is, of all else the name alone.

    An array can hold private values, and comes by mistake where a number was meant.
    """
    plain = value is None or isinstance(value, int | float | str | Fraction | Decimal)
    return f"{name}={written(value)}" if plain else name


def written(value: object) -> str:
    """Write a number or a word in few signs, also an integer that Python refuses to write."""
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        return f"about {'-' if value < 0 else ''}2^{value.bit_length()}"
    return reprlib.repr(value)


def brief(shown: object) -> str:
    """Shorten what is shown to people, on one line; what is stored and compared stays whole.

    A composition can be of thousands of parts, and a file that was damaged or tampered with holds
    any id, of any kind or none.
    """
    text = printable(shown)
    return (
        text if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT]}… ({len(text)} characters)"
    )


def check_type(name: str, value: object, kind: type | UnionType, instead: str) -> None:
    """Refuse what is no such thing; only its type is told.

    Raises:
        InvalidParameter: if it is of another type, or a class itself.
    """
    if isinstance(value, type):
        raise InvalidParameter(f"{name}={value.__name__}, a class, was given; write {instead}")
    if not isinstance(value, kind):
        raise InvalidParameter(f"{name} of type {type(value).__name__} was given; write {instead}")


def check_list(name: str, value: object, instead: str) -> None:
    """Refuse what is no list, and text, which would be taken for a list of letters.

    Raises:
        InvalidParameter: if it is of another type.
    """
    check_type(name, value, Sequence, instead)
    if isinstance(value, str | bytes):
        raise InvalidParameter(
            f"{given(name, value)} was given, a text and no list; write {instead}"
        )


def check_name(name: str, value: str) -> None:
    """Refuse a name that people could not read or write.

    Raises:
        InvalidParameter: if it is no text, empty, too long, or not printable.
    """
    check_type(name, value, str, f"1 to {_LONGEST_NAME} printable characters")
    if not 0 < len(value) <= _LONGEST_NAME or not value.isprintable():
        raise InvalidParameter(
            f"{name} of {len(value)} characters was given; "
            f"write 1 to {_LONGEST_NAME} printable characters"
        )


def whole(name: str, value: object, least: int, most: int) -> int:
    """Return a whole number from `least` to `most`.

    Raises:
        InvalidParameter: if it is none, or a truth value.
    """
    try:
        number = operator.index(cast("SupportsIndex", value))
    except TypeError:
        number = least - 1
    if isinstance(value, bool) or not least <= number <= most:
        raise InvalidParameter(
            f"{given(name, value)} was given; write a whole number from {least} to {most}"
        )
    return number


def refuse_large_delta(delta: Decimal | Fraction, name: str = "") -> None:
    """Refuse, in specs and on the command line, a delta that is no delta but a slip of units.

    It is the chance that nothing at all is promised; functions take any, for the mathematics.

    Raises:
        InvalidParameter: if it is 0.01 or more.
    """
    if delta >= _LARGEST_DELTA:
        raise InvalidParameter(
            f"{name}{float(delta):g} was given as a delta, the probability that nothing is "
            "promised, and a budget or target has one below 0.01; write one far below 1 in the "
            "number of those protected, such as 1e-6"
        )
