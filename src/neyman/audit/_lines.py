"""Broken lines of error rates, and the convex line below some points."""

from typing import NamedTuple

import numpy as np

from neyman.numerics import Array

__all__ = ["ErrorRates", "lower_hull"]


class ErrorRates(NamedTuple):
    """A broken line of error rates.

    Attributes:
        alpha: false positive rates, increasing.
        beta: the false negative rate at each.
    """

    alpha: Array
    beta: Array


def lower_hull(x: Array, y: Array) -> ErrorRates:
    """Return the corners of the lower convex hull, from the left end to the right one."""
    order = np.lexsort((y, x))
    x, y = x[order], y[order]
    first = np.append(True, np.diff(x) > 0)
    x, y = x[first], y[first]
    while x.size > 2:
        # A point on or above the line through its neighbours is no corner.
        cross = (x[1:-1] - x[:-2]) * (y[2:] - y[:-2]) - (x[2:] - x[:-2]) * (y[1:-1] - y[:-2])
        corner = np.concatenate([[True], cross > 0, [True]])
        if np.all(corner):
            break
        x, y = x[corner], y[corner]
    return ErrorRates(x, y)
