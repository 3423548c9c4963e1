"""Whether what a user gives can be a trade-off function or a profile, up to a stated error.

f on [0, 1] is one exactly if it is convex, continuous, and 0 <= f <= 1 - alpha; that it does not
increase follows, for f(1) = 0 is then its minimum. Convexity gives continuity but at 0.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TypeAlias

from neyman.errors import InvalidParameter
from neyman.numerics import text

__all__ = ["check_curve", "check_profile"]

Point: TypeAlias = tuple[Fraction, Fraction]
# What a double of a function without any error may be off by, and a slope of such.
_ROUNDING, _ROUNDED_SLOPE = Fraction(1, 2**50), 1e-9


def check_curve(values: Sequence[Point], error: Fraction) -> None:
    """Refuse values of f, each within `error`, that no trade-off function has.

    Raises:
        InvalidParameter: naming the place, and what fails there.
    """
    off = error + _ROUNDING
    for k, (a, b) in enumerate(values):
        if not -off <= b <= 1 + off:
            raise _no_curve(a, b, "which leaves [0, 1]")
        if b > 1 - a + off:
            raise _no_curve(a, b, f"above 1 - alpha = {text(1 - a)}: no test is worse than a coin")
        if k and b > values[k - 1][1] + 2 * off:
            raise _no_curve(a, b, f"above the {float(values[k - 1][1]):g} before: it increases")
    for (a, b), (c, d), (e, f) in zip(values, values[1:], values[2:], strict=False):
        if (d - off) * (e - a) > (b + off) * (e - c) + (f + off) * (c - a):
            raise _no_curve(c, d, "above the line through its neighbours: it is not convex")


def _no_curve(a: Fraction, b: Fraction, found: str) -> InvalidParameter:
    return InvalidParameter(
        f"beta({float(a):g}) = {float(b):g} was found, {found}; write a trade-off function, which "
        "is convex, continuous and within [0, 1 - alpha], state a larger error, or repair the "
        "values by piecewise_hull"
    )


def check_profile(values: Sequence[Point], room: Fraction) -> None:
    """Refuse values of delta, each at most `room` times too small, that no profile has.

    Raises:
        InvalidParameter: naming the place, and what fails there.
    """
    points = sorted(values)
    for k, (x, d) in enumerate(points):
        if not 0 <= d <= 1 + _ROUNDING:
            raise _no_profile(x, d, "which is no probability")
        if k and d > points[k - 1][1] * room + _ROUNDING:
            raise _no_profile(x, d, f"above the {float(points[k - 1][1]):g} before: it increases")
    odds = [math.exp(x) for x, _ in points]
    share = float(room)
    for k in range(1, len(points) - 1):
        before, here, behind = (float(d) for _, d in points[k - 1 : k + 2])
        left, right = odds[k] - odds[k - 1], odds[k + 1] - odds[k]
        if left <= 0 or right <= 0:
            continue
        chord = (before * right + behind * left) / (left + right) * share
        if here > chord * (1 + _ROUNDED_SLOPE) + float(_ROUNDING):
            raise _no_profile(*points[k], "above the line through its neighbours in e^epsilon")


def _no_profile(x: Fraction, d: Fraction, found: str) -> InvalidParameter:
    return InvalidParameter(
        f"delta({float(x):g}) = {float(d):g} was found, {found}; write a privacy profile, which is "
        "convex in e^epsilon and does not increase, state a larger relative_error, or write what "
        "is known by itself as approx_dp_points"
    )
