"""Numbers as people type them."""

from collections.abc import Generator
from contextlib import contextmanager
from fractions import Fraction

from neyman.cli._parser import WrongUsage
from neyman.errors import InvalidParameter
from neyman.numerics import rational
from neyman.printable import shortened

__all__ = ["WrongUsage", "as_usage", "chance", "number", "positive", "whole"]

_LARGEST = Fraction(10) ** 300
_SHOWN = 100


@contextmanager
def as_usage() -> Generator[None]:
    """Have a value that is refused inside be wrong usage: it was written on the command line.

    Raises:
        WrongUsage: if one is.
    """
    try:
        yield
    except InvalidParameter as error:
        raise WrongUsage(str(error)) from error


def number(text: str, name: str) -> Fraction:
    """Return the rational that a decimal, or a fraction such as 61/1347, stands for.

    Raises:
        WrongUsage: if it is neither, or far too large or small.
    """
    value = rational(text)
    if value is None or (value and not 1 / _LARGEST <= abs(value) <= _LARGEST):
        raise WrongUsage(
            f"{name} '{shortened(text, _SHOWN)}' is not a finite number from 1e-300 to 1e300; "
            "write one such as 1, 1e-6 or 61/1347"
        )
    return value


def chance(text: str, name: str) -> Fraction:
    """Return the probability below 1 that was written.

    Raises:
        WrongUsage: if it is none.
    """
    value = number(text, name)
    if not 0 <= value < 1:
        raise WrongUsage(f"{name} {text} was given; write a number in [0, 1)")
    return value


def whole(text: str, name: str) -> int:
    """Return the int of at least 0.

    Raises:
        WrongUsage: if it is none.
    """
    value = number(text, name)
    if value.denominator != 1 or not 0 <= value <= 2**52:
        raise WrongUsage(
            f"{name} '{shortened(text, _SHOWN)}' is no whole number; write one from 0 to 2^52"
        )
    return value.numerator


def positive(text: str, name: str) -> Fraction:
    """Return the positive rational that was written.

    Raises:
        WrongUsage: if it is none.
    """
    value = number(text, name)
    if value <= 0:
        raise WrongUsage(f"{name} {text} is not positive; write one such as 0.5")
    return value
