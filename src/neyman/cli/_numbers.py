"""Numbers as people type them."""

from decimal import Decimal, InvalidOperation
from fractions import Fraction

from neyman.errors import InvalidParameter

__all__ = ["WrongUsage", "number", "whole"]

_MOST_EXPONENT = 300


class WrongUsage(Exception):
    """Options that do not go together; exit status 2."""


def number(text: str, name: str) -> Fraction:
    """Return the rational that a decimal, or a fraction such as 61/1347, stands for.

    Raises:
        InvalidParameter: if it is neither.
    """
    parts = [_decimal(part) for part in text.split("/")]
    if len(parts) > 2 or None in parts or parts[1:] == [0]:
        raise InvalidParameter(
            f"{name} {text!r} is not a finite number; write one such as 1, 1e-6 or 61/1347"
        )
    first, *rest = (part for part in parts if part is not None)
    return first / rest[0] if rest else first


def whole(text: str, name: str) -> int:
    """Return the int of at least 0.

    Raises:
        InvalidParameter: if it is none.
    """
    value = number(text, name)
    if value.denominator != 1 or not 0 <= value <= 2**52:
        raise InvalidParameter(f"{name} {text!r} is no whole number; write one from 0 to 2^52")
    return value.numerator


def _decimal(text: str) -> Fraction | None:
    # Decimal first: it does not spend minutes on 1e999999999.
    try:
        value = Decimal(text)
    except InvalidOperation:
        return None
    if not value.is_finite() or abs(value.adjusted()) > _MOST_EXPONENT:
        return None
    return Fraction(value)
