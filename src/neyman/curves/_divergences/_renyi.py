"""Rényi divergences of the bounded pairs, without cancellation at any order.

With h = epsilon/2, m = 2a - 1 and S(x) = sinh(x)/x, the cumulants K(a) = log(1 + X(a)) have

    randomized response:  X = 2 sinh(a h) sinh((a-1) h) / cosh(h)
    Laplace:              X = e^-h (2 sinh(a h) sinh((a-1) h) + h (S(m h) - S(h)))
    logistic:             X = (S(m h) - S(h)) / S(h)

and D_a = K(a) / (a - 1), which grows with a and with epsilon. The formulas are computed in doubles,
within `ERROR` of the truth, relatively; tests/curves/test_renyi.py holds that against ball
arithmetic over all orders and losses.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Final, TypeAlias

import numpy as np

from neyman.numerics import Array, Interval
from neyman.numerics._legendre import legendre

__all__ = [
    "DIVERGENCES",
    "ERROR",
    "laplace_renyi",
    "logistic_renyi",
    "randomized_response_divergence",
    "randomized_response_renyi",
]

ERROR: Final = 2.0**-46

# D of an order and of epsilon, in doubles.
Divergence: TypeAlias = Callable[[Array, Array], Array]

_NODES, _WEIGHTS = legendre(16)
# Above this, e^-x is negligible beside 1; below it nothing overflows.
_FAR = 300.0
# Sixteen times the smallest double: an order may be tiny.
_LEAST = 2.0**-1070
# Losses times orders below it leave D = share a epsilon^2, within their product.
_TINY = 1e-100
# Beyond it D is the largest loss, in doubles.
_MOST_ORDER = 1e100


def randomized_response_renyi(order: Interval, epsilon: Interval) -> Interval:
    """Return D_order of f_{epsilon,0}; its limits are epsilon tanh(epsilon/2) and epsilon."""
    return _proved(randomized_response_divergence, order, epsilon, Fraction(1, 2))


def laplace_renyi(order: Interval, epsilon: Interval) -> Interval:
    """Return D_order of Lap(0, 1), Lap(epsilon, 1); limits epsilon + e^-epsilon - 1, epsilon."""
    return _proved(_laplace, order, epsilon, Fraction(1, 2))


def logistic_renyi(order: Interval, eta: Interval) -> Interval:
    """Return D_order of Logistic(0), Logistic(eta); limits eta coth(eta/2) - 2 and eta."""
    return _proved(_logistic, order, eta, Fraction(1, 6))


def _proved(
    divergence: Divergence, order: Interval, epsilon: Interval, share: Fraction
) -> Interval:
    """Return what holds D at all orders and losses here, both ends computed at once.

    Args:
        divergence: in doubles.
        order: a.
        epsilon: the loss.
        share: D over a epsilon^2 where a epsilon is nothing beside 1.
    """
    low = np.broadcast_arrays(order.lower, epsilon.lower)
    high = np.broadcast_arrays(order.upper, epsilon.upper)
    with np.errstate(all="ignore"):
        value = divergence(np.stack((low[0], high[0])), np.stack((low[1], high[1])))
    found = Interval.within(value, ERROR, _LEAST)
    found = Interval(found.lower[0], found.upper[1])
    # Products of such losses are too small for doubles to hold all of their digits.
    tiny = ((order + 1) * epsilon).upper < _TINY
    if np.any(tiny):
        series = order * epsilon.squared() * share * Interval.within(np.asarray(1.0), ERROR)
        found = Interval.where(tiny, series, found)
    return found.smaller(epsilon).larger(0.0)


def randomized_response_divergence(order: Array, epsilon: Array) -> Array:
    """Return the same in doubles."""
    a, h = _between(order), epsilon / 2
    growth = (a - 1) * epsilon
    near = growth < 2 * _FAR
    x = _products(a, growth, epsilon) * 2 / (1 + np.exp(-epsilon))
    direct = _log_cosh(np.abs(2 * a - 1) * h) - _log_cosh(h)
    cumulant = np.where(near, _log1p(x, direct), growth - np.log1p(np.exp(-epsilon)))
    return np.where(order == 1, epsilon * np.tanh(h), cumulant / (a - 1))


def _laplace(order: Array, epsilon: Array) -> Array:
    a, h = _between(order), epsilon / 2
    # (m - 1) h, with its digits where m is near 1.
    gap = np.where(a < 0.5, -a, a - 1) * 2 * h
    near = gap < _FAR
    gap = np.where(near, gap, 0.0)
    mh = h + gap
    growth = (a - 1) * epsilon
    x = _products(a, growth, epsilon) + np.exp(-h) * h * _sinhc_gap(h, gap)
    direct = np.log(np.cosh(mh) + h * _sinhc(mh)) - h
    cumulant = np.where(near, _log1p(x, direct), growth - np.log1p(np.maximum(a - 1, 0.0) / a))
    at_one = epsilon * np.exp(-h) * (np.sinh(h) + h * _sinhc_slope(h))
    return np.where(order == 1, at_one, cumulant / (a - 1))


def _logistic(order: Array, eta: Array) -> Array:
    a, h = _between(order), eta / 2
    gap = np.where(a < 0.5, -a, a - 1) * 2 * h
    near = gap < _FAR
    gap = np.where(near, gap, 0.0)
    at_h = _sinhc(h)
    direct = np.log(_sinhc(np.abs(h + gap)) / at_h)
    beyond = np.maximum(a - 1, 0.0)
    far = beyond * eta - np.log1p(beyond * 2) - np.log(-np.expm1(-eta))
    cumulant = np.where(near, _log1p(_sinhc_gap(h, gap) / at_h, direct), far)
    return np.where(order == 1, eta * _sinhc_slope(h) / at_h, cumulant / (a - 1))


DIVERGENCES: Final[dict[str, Divergence]] = {
    "randomized response": randomized_response_divergence,
    "laplace": _laplace,
    "logistic": _logistic,
}


def _between(order: Array) -> Array:
    """Return the order, away from the limits at 1 and infinity."""
    return np.minimum(np.where(order == 1, 2.0, order), _MOST_ORDER)


def _products(a: Array, growth: Array, epsilon: Array) -> Array:
    """Return e^-h 2 sinh(a h) sinh((a - 1) h), of growth = (a - 1) epsilon."""
    return np.expm1(np.minimum(growth, 2 * _FAR)) * -np.expm1(-a * epsilon) / 2


def _log1p(x: Array, direct: Array) -> Array:
    """Return log(1 + x), which is also `direct`: the better where 1 + x has lost digits."""
    return np.where(x > -0.5, np.log1p(np.maximum(x, -0.5)), direct)


def _log_cosh(x: Array) -> Array:
    return x + np.log1p(np.exp(-2 * x)) - np.log(2.0)


def _sinhc(x: Array) -> Array:
    positive = np.maximum(x, 1e-300)
    return np.sinh(positive) / positive


def _sinhc_slope(x: Array) -> Array:
    """Return S'(x) = (x cosh x - sinh x) / x^2."""
    small = np.minimum(x, 1.0)
    term = small / 3
    series = term
    for k in range(2, 12):
        term = term * small * small / ((2 * k + 1) * (2 * k - 2))
        series = series + term
    large = np.maximum(x, 1.0)
    return np.where(x < 1, series, (large * np.cosh(large) - np.sinh(large)) / (large * large))


def _sinhc_gap(low: Array, gap: Array) -> Array:
    """Return S(low + gap) - S(low), by quadrature of the slope where the gap is small."""
    narrow = np.abs(gap) < 2
    step = np.where(narrow, gap, 0.0)
    area = step / 2 * (_sinhc_slope(low[..., None] + step[..., None] * (_NODES + 1) / 2) @ _WEIGHTS)
    return np.where(narrow, area, _sinhc(low + gap) - _sinhc(low))
