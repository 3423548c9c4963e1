"""Bounds of a likelihood ratio's excess over a threshold by one of its power moments.

U >= 0 has E U <= 1 and E (U^a - 1)/(a - 1) <= R E(b R), with b = a - 1 and E(x) = (e^x - 1)/x. Then

    E (U - e^eps)_+  <=  (R E(bR) + B) / (a z e^(-by) E(bz)),   B = a ∫_0^y (1 - e^-t) e^(-bt) dt

for every z > 0 and every y >= S(z) - eps, S(z) = z/2 + log(sinhc(az/2) / sinhc(bz/2)): the line
(u - e^eps)_+ lies below a multiple of the Bregman divergence of u^a from v = e^-y, tangent to it at
w = v e^z, and that divergence has a known mean. The least such bound is attained, by U on {v, w}.
At y = infinity it is the tangent power alone.
"""

import numpy as np

from neyman.numerics._interval import Array, Interval, quiet
from neyman.numerics._legendre import legendre
from neyman.numerics._primitives import exp, log, log1p, log_growth, softplus

__all__ = ["epsilon_bound", "excess_threshold", "log_delta_bound", "log_excess_bound"]

_NODES, _WEIGHTS = legendre(16)
_UNIT, _HALVES = (_NODES + 1) / 2, _WEIGHTS / 2
# Beyond, e^x is near the end of the doubles.
_LARGEST = 600.0


def _log_sinhc(x: Array) -> Array:
    """Return log(sinh(x)/x) for x >= 0, with relative accuracy."""
    small = np.minimum(x, 1.0) ** 2
    series = np.ones_like(small)
    for k in range(9, 0, -1):
        series = 1 + small / ((2 * k + 2) * (2 * k + 3)) * series
    large = np.maximum(x, 1.0)
    far = large - np.log(2 * large) + np.log1p(-np.exp(-2 * large))
    return np.where(x < 1, np.log1p(small / 6 * series), far)


def excess_threshold(b: Array, z: Array) -> Array:
    """Return S(z), rounded up.

    Args:
        b: order less 1, at least -1/2.
        z: positive.

    Error: where bz <= 1, 2^-49 of the terms added and subtracted, z/2 and the logarithms; beyond,
        2^-49 of z and log(1 + 1/b).
    """
    a = b + 1
    wide = b * z > 1
    tall = np.where(wide, b, 1.0)
    long = np.where(wide, b * z, 1.0)
    # (1 - e^-az) / (1 - e^-bz) - 1, which keeps its digits at the largest orders.
    excess, odds = np.exp(-long) * np.expm1(-z) / np.expm1(-long), np.log1p(1 / tall)
    short = np.where(wide, 1.0, z)
    upper, lower = _log_sinhc(a * short / 2), _log_sinhc(np.abs(b) * short / 2)
    value = np.where(wide, z - (odds - np.log1p(excess)), short / 2 + upper - lower)
    size = np.where(wide, z + odds, short / 2 + upper + lower)
    return value + size * 2.0**-49


def _bregman(b: Array, y: Array) -> Array:
    """Return B."""
    narrow = (y < 1) & (np.abs(b) * y < 1)
    step = np.where(narrow, y, 0.5)
    slope = np.where(narrow, b, 0.0)
    nodes = step[..., None] * _UNIT
    area = step * ((-np.expm1(-nodes) * np.exp(-slope[..., None] * nodes)) @ _HALVES)
    wide = np.where(narrow, 1.0, y)
    by = b * wide
    safe = np.maximum(by, -_LARGEST)
    closed = wide * np.exp(log_growth.function(-safe)) + np.exp(-safe) * np.expm1(-wide)
    return np.where(by < -_LARGEST, np.inf, np.where(narrow, (b + 1) * area, closed))


@quiet
def log_excess_bound(b: Array, divergence: Array, y: Array, z: Array) -> Array:
    """Return the logarithm of the bound above, rounded up.

    Args:
        b: order less 1, at least -1/2.
        divergence: R, an upper bound of the Rényi divergence of that order, positive.
        y: -log v, at least 0.
        z: log(w/v), positive.

    Error: 2^-50 (40 + |b| (R + y + z) + |log R| + |log z|), of bounds whose logarithm is a double.
    """
    growth = log_growth.function
    moment = np.log(divergence) + growth(b * divergence)
    top = np.logaddexp(moment, np.log(np.maximum(_bregman(b, y), 1e-320)))
    log = top - np.log1p(b) - np.log(z) + b * y - growth(b * z)
    size = np.abs(b) * (divergence + y + z) + np.abs(np.log(divergence)) + np.abs(np.log(z))
    return log + 2.0**-50 * (40 + size)


@quiet
def log_delta_bound(b: Array, divergence: Array, z: Array, epsilon: Array) -> Array:
    """Return the bound at epsilon by the least y that z admits, rounded up; infinite for no z."""
    y = (Interval.exactly(excess_threshold(b, z)) - epsilon).larger(0.0).upper
    found = log_excess_bound(b, divergence, y, z)
    return np.where(np.isnan(found), np.inf, found)


@quiet
def epsilon_bound(b: Array, divergence: Array, y: Array, log_delta: Interval) -> Array:
    """Return an epsilon, at least 0, at which the bound by y is delta; infinite where none is.

    The bound is N / (z E(bz)), so that z is log(1 + b N/delta) / b, and epsilon is S(z) - y.
    """
    own = Interval.exactly(b)
    # At z = 1, times E(b).
    known = Interval.exactly(log_excess_bound(b, divergence, y, np.ones_like(y)))
    log_x = known + log_growth(own) - log_delta
    z = Interval.where(b > 0, softplus(log(own.larger(0.0)) + log_x) / own, exp(log_x))
    if np.any(b < 0):
        z = Interval.where(b < 0, log1p(own * exp(log_x)) / own, z)
    found = (Interval.exactly(excess_threshold(b, z.upper)) - y).larger(0.0).upper
    return np.where(np.isnan(found), np.inf, found)
