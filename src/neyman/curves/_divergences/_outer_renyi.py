"""Rényi divergences bounded by those of a Gaussian or a randomized response below the curve."""

import numpy as np

from neyman.curves._curve import Curve
from neyman.curves._divergences._renyi import randomized_response_renyi
from neyman.numerics import Array, Interval, ceil_float

__all__ = ["outer_renyi", "outer_rho"]


def outer_renyi(curve: Curve, order: Array) -> Array:
    """Return the least upper bound that its `outer_gaussian` and `outer_pure` give, else infinity.

    The less private of two curves has the larger divergences, of all orders (data processing).
    """
    upper, a = np.full(order.shape, np.inf), Interval.decimal(order)
    square, epsilon = curve.outer_gaussian(), curve.outer_pure()
    if square is not None:
        upper = (a * Interval.of(square) / 2).upper
    if epsilon:
        upper = np.minimum(upper, randomized_response_renyi(a, Interval.of(epsilon)).upper)
    return np.zeros(order.shape) if epsilon == 0 or square == 0 else upper


def outer_rho(curve: Curve) -> float:
    """Return the least upper bound of the smallest rho that they give, else infinity."""
    square, epsilon = curve.outer_gaussian(), curve.outer_pure()
    rho = np.inf if square is None else ceil_float(square / 2)
    if epsilon is None:
        return rho
    # Of randomized response, the divergence of order 1.
    return min(rho, float(outer_renyi(curve, np.ones(()))))
