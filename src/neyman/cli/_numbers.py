"""Numbers as people type them."""

from fractions import Fraction

from neyman.errors import InvalidParameter
from neyman.numerics import rational
from neyman.printable import shortened

__all__ = ["WrongUsage", "number", "whole"]

_LARGEST = Fraction(10) ** 300
_SHOWN = 100


class WrongUsage(Exception):
    """Options that do not go together; exit status 2."""


def number(text: str, name: str) -> Fraction:
    """Return the rational that a decimal, or a fraction such as 61/1347, stands for.

    Raises:
        InvalidParameter: if it is neither, or far too large or small.
    """
    value = rational(text)
    if value is None or (value and not 1 / _LARGEST <= abs(value) <= _LARGEST):
        raise InvalidParameter(
            f"{name} '{shortened(text, _SHOWN)}' is not a finite number from 1e-300 to 1e300; "
            "write one such as 1, 1e-6 or 61/1347"
        )
    return value


def whole(text: str, name: str) -> int:
    """Return the int of at least 0.

    Raises:
        InvalidParameter: if it is none.
    """
    value = number(text, name)
    if value.denominator != 1 or not 0 <= value <= 2**52:
        raise InvalidParameter(
            f"{name} '{shortened(text, _SHOWN)}' is no whole number; write one from 0 to 2^52"
        )
    return value.numerator
