"""A number known from both sides, and outward rounding.

The model: the basic operations are correctly rounded (IEEE 754); every function taken from the C
library or from SciPy is within `ULP` = 8 units of 2^-53 of the truth, relatively, where it is used
(what Phi loses in its tails is allowed for there). That is assumed, not proved; tests/numerics and
tests/truth hold it against 50-digit values.
"""

import numpy as np

from neyman.numerics._interval import Array, Interval

__all__ = ["ULP", "Array", "complement", "exp_outward", "outward"]

ULP = 8 * 2.0**-53


def outward(value: Array, error: Array | float, floor: float, ceiling: float) -> Interval:
    """Return `value` +- `error` (absolute), kept within a range that holds the truth."""
    with np.errstate(invalid="ignore"):
        # An infinite value is exact: inf - inf would make it nan.
        wide = np.where(np.isfinite(value), error, 0.0)
        return Interval(
            np.clip(value - wide, floor, ceiling), np.clip(value + wide, floor, ceiling)
        )


def exp_outward(log: Interval) -> Interval:
    """Return exp of a bracket of logarithms of probabilities, rounded outwards; exp(-inf) is 0."""
    with np.errstate(under="ignore"):
        # One step more for the subnormal numbers, which have no relative accuracy.
        lower = np.nextafter(np.exp(log.lower) * (1 - ULP), -np.inf)
        upper = np.nextafter(np.exp(log.upper) * (1 + ULP), np.inf)
    exact_zero = np.isneginf(log.upper)
    return Interval(np.maximum(lower, 0.0), np.where(exact_zero, 0.0, np.minimum(upper, 1.0)))


def complement(value: Array) -> Interval:
    """Return a bracket of 1 - x, x the decimal that `value` in [0, 1] prints as."""
    near = Interval.decimal(value)
    return Interval(np.maximum(1 - near.upper, 0.0), np.minimum(1 - near.lower, 1.0))
