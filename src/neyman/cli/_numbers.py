"""Parses numbers as people type them."""

from collections.abc import Generator
from contextlib import contextmanager
from fractions import Fraction

from neyman.cli._parser import WrongUsage
from neyman.errors import InvalidParameter
from neyman.numerics import rational
from neyman.printable import shortened

__all__ = ["as_usage", "chance", "number", "positive", "whole"]

_LARGEST = Fraction(10) ** 300
_SHOWN = 100


@contextmanager
def as_usage() -> Generator[None]:
    """Turn a refused value into wrong usage: it came from the command line.

    Raises:
        WrongUsage: if a value is refused inside.
    """
    try:
        yield
    except InvalidParameter as error:
        raise WrongUsage(str(error)) from error


def number(text: str, name: str) -> Fraction:
    """Return the exact value of a decimal, or of a fraction such as 61/1347.

    Raises:
        WrongUsage: if it is neither, or outside 1e-300 to 1e300.
    """
    value = rational(text)
    if value is None or (value and not 1 / _LARGEST <= abs(value) <= _LARGEST):
        raise WrongUsage(
            f"{name} must be a number, 0 or from 1e-300 to 1e300; got "
            f"'{shortened(text, _SHOWN)}'. Write a number such as 1, 1e-6 or 61/1347"
        )
    return value


def chance(text: str, name: str) -> Fraction:
    """Return a probability below 1.

    Raises:
        WrongUsage: if it is anything else.
    """
    value = number(text, name)
    if not 0 <= value < 1:
        raise WrongUsage(f"{name} must be in [0, 1); got {text}. Write a probability such as 1e-6")
    return value


def whole(text: str, name: str) -> int:
    """Return a whole number of at least 0.

    Raises:
        WrongUsage: if it is anything else.
    """
    value = number(text, name)
    if value.denominator != 1 or not 0 <= value <= 2**52:
        raise WrongUsage(
            f"{name} must be a whole number from 0 to 2^52; got '{shortened(text, _SHOWN)}'. "
            "Write a number such as 5"
        )
    return value.numerator


def positive(text: str, name: str) -> Fraction:
    """Return a positive number.

    Raises:
        WrongUsage: if it is anything else.
    """
    value = number(text, name)
    if value <= 0:
        raise WrongUsage(f"{name} must be positive; got {text}. Write a number such as 0.5")
    return value
