"""Intervals for a ratio of two noisy integers, rounded outwards."""

import math
from typing import Final

__all__ = ["box_interval", "fieller_interval"]

_POINT: Final = 56
_UNDEFINED: Final = (-math.inf, math.inf)


def fieller_interval(numerator: int, denominator: int, width: float) -> tuple[float, float]:
    """Return {rho : |s - rho n| <= width sqrt(1 + rho^2) + (1 + |rho|)/2} if it is an interval.

    The first term is the Gaussian's, and the second is the rounding's. The lower end solves s' -
    rho n' = width sqrt(1 + rho^2), with s' = s - 1/2 and n' = n + 1/2 if rho >= 0, else n - 1/2,
    that is

        rho = (s' n' - width sqrt(s'^2 + n'^2 - width^2)) / (n'^2 - width^2).

    The upper end is minus the lower end of -s.

    Args:
        numerator: s, noise included.
        denominator: n, noise included.
        width: quantile times standard deviation.

    Error: integers in units of 2^-56; the width and the root are rounded up, and the ends outwards.
    """
    numerator, denominator = int(numerator), int(denominator)  # NumPy's would overflow unseen
    scaled = int(width * 2.0**_POINT) + 1
    if _fixed_point(2 * denominator - 1) <= scaled:
        return _UNDEFINED
    return (
        _fieller_lower(numerator, denominator, scaled),
        -_fieller_lower(-numerator, denominator, scaled),
    )


def _fixed_point(halves: int) -> int:
    return halves << _POINT - 1


def _fieller_lower(numerator: int, denominator: int, width: int) -> float:
    top = _fixed_point(2 * numerator - 1)
    bottom = _fixed_point(2 * denominator + (1 if top >= width else -1))
    root = math.isqrt(top**2 + bottom**2 - width**2) + 1
    low = (top * bottom - width * root) / (bottom**2 - width**2)
    return math.nextafter(low, -math.inf)


def box_interval(numerator: int, denominator: int, half_width: int) -> tuple[float, float]:
    """Return {rho : |s - rho n| <= half_width (1 + |rho|)} if it is an interval.

    These are the extreme ratios in the box with sides 2 half_width around (s, n).

    Error: the ends are correctly rounded, then moved outwards by one double.
    """
    numerator, denominator = int(numerator), int(denominator)
    if denominator <= half_width:
        return _UNDEFINED
    return (
        _box_lower(numerator, denominator, half_width),
        -_box_lower(-numerator, denominator, half_width),
    )


def _box_lower(numerator: int, denominator: int, half_width: int) -> float:
    top = numerator - half_width
    bottom = denominator + (half_width if top >= 0 else -half_width)
    return math.nextafter(top / bottom, -math.inf)
