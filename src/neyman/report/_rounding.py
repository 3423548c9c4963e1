"""Numbers with as many digits as their noise leaves."""

import math
from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from typing import Final

__all__ = ["DOWN", "NEAREST", "UP", "place_of", "rounded", "usual_place", "written"]

NEAREST: Final = ROUND_HALF_EVEN
DOWN: Final = ROUND_FLOOR
UP: Final = ROUND_CEILING

# Figures of a half-width that are kept: its noise is in the second one.
_FIGURES: Final = 2
# Figures of what has no interval of its own.
_USUAL: Final = 4
# A float64 in full has fewer digits.
_EXACT: Final = Context(prec=800)
_UNITS: Final = {place: Decimal(1).scaleb(min(place, 0)) for place in range(-20, 400)}
# Places after the point from which on, and digits before it up to which, a number is written out.
_MOST_PLACES: Final = 9
_MOST_WHOLE: Final = 1e18


def place_of(lower: float, upper: float) -> int | None:
    """Return the last place that the noise leaves, as a power of ten.

    Two figures of half the width of the interval: -1 of 12.3 ± 1.4, 5 of 343,800,000 ± 7,400,000.
    None where the interval has no ends, or no width.
    """
    half = (upper - lower) / 2
    if not math.isfinite(half) or half <= 0:
        return None
    return math.floor(math.log10(half)) - _FIGURES + 1


def usual_place(values: Sequence[float]) -> int:
    """Return the last place of numbers that have no interval: four figures of the largest."""
    sizes = [abs(value) for value in values if math.isfinite(value)]
    largest = max(sizes, default=0.0)
    if all(size == round(size) for size in sizes):
        return 0
    return min(math.floor(math.log10(largest)) - _USUAL + 1, 0)


def rounded(value: float, place: int, way: str = NEAREST, *, scale: int = 1) -> Decimal:
    """Return a finite number to a power of ten.

    It is taken for the decimals that it prints as: 6.2 is not a little more than 6.2.

    Args:
        value: finite.
        place: of the last digit that is kept.
        way: to the nearest, or for the ends of intervals DOWN or UP, so that they lose nothing.
        scale: by how much it is multiplied before.
    """
    number = scale * Decimal(repr(value))
    kept = number.scaleb(-place).to_integral_value(rounding=way).scaleb(place)
    # No digits after the point beyond the place, and no -0.
    return (kept + 0).quantize(_UNITS.get(place) or Decimal(1).scaleb(place), context=_EXACT)


def written(number: Decimal, decimals: int) -> str:
    """Write a rounded number for people, with thousands apart, and so many decimals."""
    if decimals > _MOST_PLACES or abs(number) >= _MOST_WHOLE:
        return f"{number.normalize():.{_USUAL}g}" if number else "0"
    return f"{number:,.{decimals}f}"
