"""A proof that one convex profile stays below another, by interval refinement."""

from collections.abc import Callable

import numpy as np

from neyman.numerics._interval import Array, Interval
from neyman.numerics._primitives import exp, expm1

__all__ = ["dominated"]

_CELLS = 64
_MOST_CELLS = 30_000
# Relative error granted to a slope; it costs the proof next to nothing.
_SLOPE_ERROR = 1e-9
# The width of a cell that is halved no more, relatively, and of one next to 0 over the right end.
_NARROWEST, _NEAREST = 2.0**-52, 2.0**-100


def dominated(
    upper_of_f: Callable[[Array], Array],
    lower_of_g: Callable[[Array], Array],
    slope_of_g: Callable[[Array], Array],
    stop: float,
) -> bool:
    """Prove f(t) <= g(t) for t in [0, stop]; False means that no proof was found.

    Both are convex in x = e^t. So on a cell f lies below its chord and g above its tangent at the
    middle, and the two lines are compared at the ends of the cell. A cell not settled is halved.
    Where the curves touch no refinement suffices, and the answer is False.

    Args:
        upper_of_f: an upper bound of f at an array of t.
        lower_of_g: a lower bound of g.
        slope_of_g: -dg/dx >= 0, within a relative 1e-9.
        stop: right end, at most 700.
    """
    edges = np.linspace(0.0, stop, _CELLS + 1)
    left, right = edges[:-1], edges[1:]
    ends, least = upper_of_f(edges), _NEAREST * stop
    if np.any(ends > lower_of_g(edges)):
        return False
    at_left, at_right = ends[:-1], ends[1:]
    while left.size:
        middle = (left + right) / 2
        value, slope, here = lower_of_g(middle), slope_of_g(middle), upper_of_f(middle)
        x = exp(Interval.exactly(middle))
        if np.any(here > value):
            return False
        # The tangent at both ends of each cell: x is e^middle and, relatively, the rest away.
        far = expm1(Interval.exactly(np.stack((left, right))) - middle)
        tangent = Interval.exactly(value) - Interval.within(slope, _SLOPE_ERROR) * x * far
        open_ = np.any(np.stack((at_left, at_right)) > tangent.lower, axis=0)
        left, middle, right = left[open_], middle[open_], right[open_]
        at_left, here, at_right = at_left[open_], here[open_], at_right[open_]
        if left.size > _MOST_CELLS or np.any(right - left <= _NARROWEST * right + least):
            return False
        left, right = np.concatenate([left, middle]), np.concatenate([middle, right])
        at_left, at_right = np.concatenate([at_left, here]), np.concatenate([here, at_right])
    return True
