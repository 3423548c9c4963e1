"""Numbers for people, rounded to a side."""

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

__all__ = ["at_least", "at_most"]


def at_most(value: float | Fraction, digits: int) -> str:
    """Write `value` with `digits` significant digits, rounded up: the truth is at most this.

    >>> at_most(4.886554117, 6)
    '4.88656'
    """
    return _written(value, Context(prec=digits, rounding=ROUND_CEILING))


def at_least(value: float | Fraction, digits: int) -> str:
    """Write `value` with `digits` significant digits, rounded down: the truth is at least this.

    >>> at_least(0.99999, 2)
    '0.99'
    """
    return _written(value, Context(prec=digits, rounding=ROUND_FLOOR))


def _written(value: float | Fraction, context: Context) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    exact = Fraction(value)
    number = context.divide(Decimal(exact.numerator), Decimal(exact.denominator))
    number = number.normalize(context)
    plain = -5 < number.adjusted() < max(context.prec, 7)
    return f"{number:f}" if plain or not number else f"{number:e}"
