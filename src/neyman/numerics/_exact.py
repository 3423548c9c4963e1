"""Exact rationals for parameters, the doubles that represent them, and their text."""

import math
from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, InvalidOperation
from fractions import Fraction
from numbers import Rational
from typing import TypeAlias, cast

import numpy as np

from neyman.arguments import got
from neyman.errors import InvalidParameter

__all__ = [
    "MOST_BITS",
    "MOST_SUM_BITS",
    "Real",
    "at_least",
    "at_most",
    "ceil_float",
    "exact",
    "exact_positive",
    "exact_size",
    "floor_float",
    "ordinary",
    "rational",
    "shares",
    "square_roots",
    "standing",
    "text",
]

Real: TypeAlias = int | float | Fraction | Decimal
# Longer fractions make composition slow, and Python refuses to write the longest as text.
MOST_BITS = 8192
# Of a sum: 10^4 rationals of a hundred bits. Reducing it to lowest terms takes a second or two.
MOST_SUM_BITS = 2**20
_MOST_EXPONENT = 1000
# How far weights that are written as floats may miss a sum of 1.
_MISSED = Fraction(1, 10**12)
# Digits of a number in text, and its largest power of ten: as many as Python's own integers take.
_MOST_DIGITS = 4300
_SMALLEST, _LARGEST = Fraction(2) ** -1000, Fraction(2) ** 1000


def exact(value: object, name: str) -> Fraction:
    """Return the rational that `value` means; a float means the decimal that it prints as.

    So 0.1 is 1/10, and ten charges of 0.1 add up to exactly 1.

    Args:
        value: an int, a float, a Fraction, a Decimal, or a real NumPy scalar.
        name: what an error calls it.

    Raises:
        InvalidParameter: if `value` is not a finite real number, or takes thousands of bits.
    """
    if isinstance(value, bool) or not isinstance(value, Rational | float | Decimal | np.floating):
        raise InvalidParameter(
            f"{name} must be an int, a float, a Fraction or a Decimal; got {got(value)}. Write "
            "such a number"
        )
    if isinstance(value, Rational):
        return _short(Fraction(int(value.numerator), int(value.denominator)), name)
    # float() first: a NumPy double is a float that prints otherwise.
    written = repr(float(value)) if isinstance(value, float) else str(cast("object", value))
    number = Decimal(written)
    if not number.is_finite():
        raise InvalidParameter(f"{name} must be finite; got {value!r}. Write a finite number")
    if number and abs(number.adjusted()) > _MOST_EXPONENT:
        raise _too_long(name)
    return _short(Fraction(number) if number else Fraction(0), name)


def rational(written: object) -> Fraction | None:
    """Return the rational that text writes, as a decimal or as a ratio such as 61/1347.

    For text of a user, a file or a stored record. None where it is no finite number, or one whose
    digits or exponent would take long: 1e400000000 is twelve signs, and 166 MB as an integer.

    >>> rational("61/1347"), rational("1e400000000")
    (Fraction(61, 1347), None)
    """
    if isinstance(written, int):
        return Fraction(written) if written.bit_length() <= MOST_BITS else None
    if not isinstance(written, str | float | Fraction | Decimal):
        return None
    parts = [_decimal(part) for part in str(written).split("/", 2)]
    match parts:
        case [Fraction() as whole]:
            return whole
        case [Fraction() as top, Fraction() as bottom] if bottom:
            return top / bottom
        case _:
            return None


def _decimal(written: str) -> Fraction | None:
    if len(written) > 2 * _MOST_DIGITS:
        return None
    try:
        number = Decimal(written)
    except InvalidOperation:
        return None
    if not number.is_finite() or (number and abs(number.adjusted()) > _MOST_DIGITS):
        return None
    # An exponent of zero, such as in 0e400000000, is not bounded by the above.
    return Fraction(number) if number else Fraction(0)


def exact_size(value: object, name: str) -> Fraction:
    """Return the rational that `value` means, at least 0.

    Raises:
        InvalidParameter: as `exact`, or if it is negative.
    """
    number = exact(value, name)
    if number < 0:
        raise InvalidParameter(f"{name}={text(number)} is negative; write a number of at least 0")
    return number


def exact_positive(value: object, name: str) -> Fraction:
    """Return the rational that `value` means, above 0.

    Raises:
        InvalidParameter: as `exact`, or if it is not positive.
    """
    number = exact(value, name)
    if number <= 0:
        raise InvalidParameter(f"{name}={text(number)} is not positive; write a number above 0")
    return number


def shares(weights: Sequence[Fraction]) -> tuple[tuple[Fraction, ...], Fraction] | None:
    """Return weights of sum 1 to 1e-12, rounded down to a sum of at most 1, and the missing weight.

    Each is lowered by the excess. If you give the missing weight to the worst case, you lose at
    least as much as with any weights of sum 1 that lie between. None if the sum is not 1.

    >>> shares([Fraction(1, 2), Fraction(1, 2)]), shares([Fraction(1, 2)])
    (((Fraction(1, 2), Fraction(1, 2)), Fraction(0, 1)), None)
    """
    excess = sum(weights, Fraction(0)) - 1
    if abs(excess) > _MISSED:
        return None
    kept = tuple(max(weight - max(excess, Fraction(0)), Fraction(0)) for weight in weights)
    return kept, 1 - sum(kept, Fraction(0))


def _short(value: Fraction, name: str, most_bits: int = MOST_BITS) -> Fraction:
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > most_bits:
        raise _too_long(name, most_bits)
    return value


def _too_long(name: str, most_bits: int = MOST_BITS) -> InvalidParameter:
    return InvalidParameter(
        f"{name} must have at most {most_bits} bits; got more. Write it with fewer digits"
    )


def ordinary(value: Fraction, name: str, most_bits: int = MOST_BITS) -> Fraction:
    """Return a positive parameter that a double can represent.

    Raises:
        InvalidParameter: if `value` is outside [2^-1000, 2^1000], or takes more bits.
    """
    _short(value, name, most_bits)
    top, bottom = value.as_integer_ratio()
    # Most of the time the lengths of the numbers decide, and they are quick.
    near = top > 0 and abs(top.bit_length() - bottom.bit_length()) < _MOST_EXPONENT
    if not near and not _SMALLEST <= value <= _LARGEST:
        raise InvalidParameter(
            f"{name}={_sized(value)} is outside [2^-1000, 2^1000]; write a value in that range"
        )
    return value


def _sized(value: Fraction) -> str:
    """Write what may be too long to be read by its power of two."""
    bits = value.numerator.bit_length() - value.denominator.bit_length()
    return text(value) if abs(bits) < 100 else f"about {'-' if value < 0 else ''}2^{bits}"


def floor_float(value: Fraction) -> float:
    """Return the largest double that is at most `value`."""
    near = float(value)
    return near if Fraction(near) <= value else math.nextafter(near, -math.inf)


def ceil_float(value: Fraction) -> float:
    """Return the smallest double that is at least `value`."""
    near = float(value)
    return near if Fraction(near) >= value else math.nextafter(near, math.inf)


def standing(value: Fraction) -> tuple[float, float]:
    """Return the double that prints as `value`, twice, or else the two that print around it.

    Below 2^-1000 the doubles around the nearest one, which enclose `value` as numbers too: those
    that have no relative accuracy are there.
    """
    near = float(value)
    if value and abs(value) < _SMALLEST:
        down, up = math.nextafter(near, -math.inf), math.nextafter(near, math.inf)
        return (max(down, 0.0), up) if value > 0 else (down, min(up, 0.0))
    stood = exact(near, "value")
    if stood == value:
        return near, near
    if stood < value:
        return near, math.nextafter(near, math.inf)
    return math.nextafter(near, -math.inf), near


def square_roots(value: Fraction) -> tuple[float, float]:
    """Return the double that prints as sqrt(value), twice, or else doubles just below and above.

    Raises:
        InvalidParameter: if `value` is neither 0 nor in [2^-1000, 2^1000].
    """
    if value == 0:
        return 0.0, 0.0
    near = math.sqrt(ordinary(value, "a square", MOST_SUM_BITS))
    # The root of the nearest double can miss a decimal by one unit in the last place.
    for root in (near, float(f"{near:.15g}")):
        if exact(root, "value") ** 2 == value:
            return root, root
    down = up = near
    while Fraction(down) ** 2 > value:
        down = math.nextafter(down, 0.0)
    while Fraction(up) ** 2 < value:
        up = math.nextafter(up, math.inf)
    return down, up


def text(value: Fraction) -> str:
    """Write a rational as people do: a decimal where one is exact, else a fraction."""
    if value.denominator == 1 and abs(value) < 10**16:
        return str(value.numerator)
    top, bottom = value.numerator.bit_length(), value.denominator.bit_length()
    if max(top, bottom) > MOST_BITS:
        return f"about 2^{top - bottom}"
    try:
        near = float(value)
    except OverflowError:
        return str(value)
    return repr(near) if exact(near, "value") == value else str(value)


def at_most(value: float | Fraction, digits: int) -> str:
    """Write `value` with `digits` significant digits, rounded up: the truth is at most this.

    >>> at_most(4.886554117, 6)
    '4.88656'
    """
    return _rounded(value, Context(prec=digits, rounding=ROUND_CEILING))


def at_least(value: float | Fraction, digits: int) -> str:
    """Write `value` with `digits` significant digits, rounded down: the truth is at least this.

    >>> at_least(0.99999, 2)
    '0.99'
    """
    return _rounded(value, Context(prec=digits, rounding=ROUND_FLOOR))


def _rounded(value: float | Fraction, context: Context) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    exact = Fraction(value)
    number = context.divide(Decimal(exact.numerator), Decimal(exact.denominator))
    number = number.normalize(context)
    plain = -5 < number.adjusted() < max(context.prec, 7)
    return f"{number:f}" if plain or not number else f"{number:e}"
