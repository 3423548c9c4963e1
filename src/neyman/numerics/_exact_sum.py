"""Sums of many unlike rationals: exact, however long, and written in time."""

import re
from collections.abc import Iterable
from fractions import Fraction

from neyman.numerics._exact import MOST_BITS, MOST_SUM_BITS

__all__ = ["exact_sum", "from_written", "shortened_up", "written"]

# The number of bits that rounding keeps.
_KEPT_BITS = 512
_HEXADECIMAL = re.compile(r"0x([0-9a-f]+)/0x([0-9a-f]+)")


def exact_sum(terms: Iterable[tuple[Fraction, int]]) -> Fraction:
    """Return the sum of value times count, all values positive.

    Terms of one denominator are added first, the rest in pairs of pairs: the long numbers are few.

    >>> exact_sum([(Fraction(1, 3), 2), (Fraction(1, 6), 1)])
    Fraction(5, 6)
    """
    numerators: dict[int, int] = {}
    first: dict[int, tuple[Fraction, int]] = {}
    for value, count in terms:
        top, bottom = value.as_integer_ratio()
        if bottom in numerators:
            numerators[bottom] += top * count
        else:
            first[bottom] = value, count
            numerators[bottom] = top * count
    # A term with a denominator of its own is in lowest terms already, and may be long.
    sums = [
        value * count
        if value.numerator * count == numerators[bottom]
        else Fraction(numerators[bottom], bottom)
        for bottom, (value, count) in sorted(first.items())
    ]
    while len(sums) > 1:
        rest = sums[len(sums) // 2 * 2 :]
        sums = [one + other for one, other in zip(sums[::2], sums[1::2], strict=False)] + rest
    return sums[0] if sums else Fraction(0)


def shortened_up(value: Fraction) -> Fraction:
    """Return a positive rational, rounded up by less than 2^-500 of itself if it is long."""
    top, bottom = value.as_integer_ratio()
    if max(top.bit_length(), bottom.bit_length()) <= MOST_BITS:
        return value
    shift = _KEPT_BITS - top.bit_length() + bottom.bit_length()
    scaled = (top << max(shift, 0), bottom << max(-shift, 0))
    return Fraction(-(-scaled[0] // scaled[1])) / Fraction(2) ** shift


def written(value: Fraction) -> str:
    """Return the rational as text: in decimal digits, or in hexadecimal ones if it is long.

    Decimal digits of long numbers take quadratic time, and Python refuses them.
    """
    top, bottom = value.as_integer_ratio()
    if max(top.bit_length(), bottom.bit_length()) <= MOST_BITS:
        return str(value)
    return f"{top:#x}/{bottom:#x}"


def from_written(text: str) -> Fraction:
    """Return what `written` wrote in hexadecimal digits.

    Raises:
        ValueError: if it is no such text, or longer than any.
    """
    found = _HEXADECIMAL.fullmatch(text) if len(text) <= MOST_SUM_BITS // 2 + 8 else None
    if found is None:
        raise ValueError(f"a text of {len(text)} characters is no sum in hexadecimal digits")
    return Fraction(int(found[1], 16), int(found[2], 16))
