"""The nearest monotone vector."""

from typing import Any

import numpy as np

from neyman.numerics import Array

__all__ = ["isotonic"]


def isotonic(values: Array, weights: Array | None = None, *, increasing: bool = True) -> Array:
    """Return the non-decreasing (or non-increasing) vector nearest to values in weighted squares.

    Source: Barlow, Bartholomew, Bremner and Brunk, *Statistical Inference under Order
        Restrictions*, 1972.
    """
    from scipy.optimize import isotonic_regression  # pyright: ignore[reportMissingTypeStubs]

    fitted: Any = isotonic_regression(values, weights=weights, increasing=increasing)
    return np.asarray(fitted.x, np.float64)
