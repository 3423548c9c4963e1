"""Rényi divergences of the bounded pairs, without cancellation at any order.

With h = epsilon/2, m = 2a - 1 and S(x) = sinh(x)/x, the cumulants K(a) = log(1 + X(a)) have

    randomized response:  X = 2 sinh(a h) sinh((a-1) h) / cosh(h)
    Laplace:              X = e^-h (2 sinh(a h) sinh((a-1) h) + h (S(m h) - S(h)))
    logistic:             X = (S(m h) - S(h)) / S(h)

and D_a = K(a) / (a - 1).
"""

import numpy as np
import numpy.typing as npt

from neyman.numerics import ULP, Array, Bracket
from neyman.numerics._legendre import legendre

__all__ = ["laplace_renyi", "logistic_renyi", "randomized_response_renyi"]

_NODES, _WEIGHTS = legendre(16)
# Above, e^-x is nothing beside 1, and nothing overflows below.
_FAR = 300.0
_MOST_ORDER = 1e100
# Sixteen times the smallest double.
_LEAST = 2.0**-1070


def randomized_response_renyi(order: Array, epsilon: float) -> Bracket:
    """Bracket D_order of f_{epsilon,0}; its limits are epsilon tanh(epsilon/2) and epsilon."""
    a, h = _between(order), epsilon / 2
    m = np.abs(2 * a - 1)
    near = a * h < _FAR
    x = 2 * np.sinh(np.minimum(a * h, _FAR)) * np.sinh(np.where(near, np.abs(a - 1) * h, 0.0))
    direct = _log_cosh(m * h) - _log_cosh(h)
    far = 2 * (a - 1) * h - np.where(a > 1, np.log1p(np.exp(-2 * h)), 0.0)
    cumulant = np.where(near, _log1p_signed(x / np.cosh(h), a > 1, direct), far)
    return _divergence(order, cumulant, h, (float(epsilon * np.tanh(h)), epsilon))


def laplace_renyi(order: Array, epsilon: float) -> Bracket:
    """Bracket D_order of Lap(0, 1), Lap(epsilon, 1); limits epsilon + e^-epsilon - 1, epsilon."""
    a, h = _between(order), epsilon / 2
    # (m - 1) h, with its digits where m is near 1.
    gap = np.where(a < 0.5, -a, a - 1) * 2 * h
    near = gap < _FAR
    gap = np.where(near, gap, 0.0)
    mh, inner = h + gap, np.where(near, np.abs(a - 1) * h, 0.0)
    x = 2 * np.sinh(np.where(near, a * h, 0.0)) * np.sinh(inner) + h * np.abs(_sinhc_gap(h, gap))
    direct = np.log(np.cosh(mh) + h * _sinhc(mh)) - h
    share = np.maximum(a - 1, 0.0) / a
    far = 2 * (a - 1) * h - np.log1p(share)
    cumulant = np.where(near, _log1p_signed(x * np.exp(-h), a > 1, direct), far)
    slope = np.sinh(h) + h * _sinhc_slope(np.asarray(h))
    return _divergence(order, cumulant, h, (float(2 * h * np.exp(-h) * slope), epsilon))


def logistic_renyi(order: Array, eta: float) -> Bracket:
    """Bracket D_order of Logistic(0), Logistic(eta); limits eta coth(eta/2) - 2 and eta."""
    a, h = _between(order), eta / 2
    gap = np.where(a < 0.5, -a, a - 1) * 2 * h
    near = gap < _FAR
    gap = np.where(near, gap, 0.0)
    at_h = _sinhc(np.asarray(h))
    direct = np.log(_sinhc(np.abs(h + gap)) / at_h)
    growth = np.maximum(a - 1, 0.0) * 2 * h
    far = growth - np.log1p(np.maximum(a - 1, 0.0) * 2) - np.log(-np.expm1(-2 * h))
    size = np.abs(_sinhc_gap(h, gap)) / at_h
    cumulant = np.where(near, _log1p_signed(size, a > 1, direct), far)
    slope = float(2 * h * _sinhc_slope(np.asarray(h)) / at_h)
    return _divergence(order, cumulant, h, (slope, eta))


def _between(order: Array) -> Array:
    """Return the order, away from the limits at 1 and infinity."""
    return np.minimum(np.where(order == 1, 2.0, order), _MOST_ORDER)


def _divergence(order: Array, cumulant: Array, h: float, limits: tuple[float, float]) -> Bracket:
    """Bracket K / (a - 1), with the limits at 1 and infinity.

    Error: X is within ULP (8 + (2a + 2) h) of the truth, relatively, and
    d log(1 + X) <= min(1, log(1 + X)) dX / X; for negative X, which is above -1/2, twice that.
    Of an X beyond the normal doubles a few of the smallest ones are lost.
    """
    at_one, at_infinity = limits
    a = _between(order)
    error = 2 * ULP * (8 + (2 * a + 2) * h) * np.minimum(np.abs(cumulant), 1.0)
    value, error = cumulant / (a - 1), np.abs((error + _LEAST) / (a - 1))
    value = np.where(order == 1, at_one, value)
    error = np.where(order == 1, 8 * ULP * at_one, error) + 2 * ULP * value
    lower = np.where(np.isposinf(order), at_infinity * (1 - ULP), value - error)
    upper = np.where(order > _MOST_ORDER, np.inf, np.nextafter(value + error, np.inf))
    most = np.nextafter(at_infinity * (1 + ULP), np.inf)
    return Bracket(np.maximum(np.nextafter(lower, -1.0), 0.0), np.minimum(upper, most))


def _log1p_signed(size: Array, positive: npt.NDArray[np.bool_], direct: Array) -> Array:
    """Return log(1 + x) or log(1 - x) for x = `size`; `direct` where 1 - x has lost digits."""
    minus = np.log1p(-np.minimum(size, 0.5))
    return np.where(positive, np.log1p(size), np.where(size < 0.5, minus, direct))


def _log_cosh(x: Array | float) -> Array:
    return x + np.log1p(np.exp(-2 * np.asarray(x))) - np.log(2.0)


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


def _sinhc_gap(low: float, gap: Array) -> Array:
    """Return S(low + gap) - S(low), by quadrature of the slope where the gap is small."""
    narrow = np.abs(gap) < 2
    step = np.where(narrow, gap, 0.0)
    area = step / 2 * (_sinhc_slope(low + step[..., None] * (_NODES + 1) / 2) @ _WEIGHTS)
    return np.where(narrow, area, _sinhc(low + gap) - _sinhc(np.asarray(low)))
