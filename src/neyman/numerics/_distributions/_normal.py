"""Normal tails, the Gaussian privacy profile and its inverse, in logarithms and with error bounds.

With R(x) = (1 - Phi(x)) / phi(x) the Mills ratio, x1 = eps/mu - mu/2 and x2 = x1 + mu,

    delta(eps) = Phi(-x1) - e^eps Phi(-x2) = phi(x1) (R(x1) - R(x2))
               = phi(x1) ∫_x1^x2 (1 - x R(x)) dx

and the last form loses no digits when mu is small.
"""

import math

import numpy as np

from neyman.numerics._bracket import ULP, Array, Bracket
from neyman.numerics._legendre import legendre
from neyman.numerics._special import erfcx, erfinv, log_ndtr, ndtr, ndtri

__all__ = ["gaussian_log_delta", "mills_ratio", "normal_quantile_gap", "normal_tail", "ramp"]

_LOG_SQRT_2PI = 0.5 * math.log(2 * math.pi)
_NODES, _WEIGHTS = legendre(16)
_SERIES_FROM = 12.0
_SERIES_TERMS = 20
# Below it Phi nears the end of the doubles, and ndtr gives 0 too early.
_FAR_TAIL = -30.0
_LEAST_LOG = -float(np.finfo(np.float64).max)


def mills_ratio(x: Array) -> Array:
    """Return (1 - Phi(x)) / phi(x); relative error within ULP for x >= -1/2."""
    return math.sqrt(math.pi / 2) * erfcx(x / math.sqrt(2))


def normal_tail(z: Array, shift: Array | float) -> Bracket:
    """Return a bracket of Phi(x) at x = z + shift, where z = Phi^-1(p) came from `ndtri`.

    Error: the quantile and the sum are off by at most 2 ULP (1 + |z| + |shift|) in x; the slope of
    log Phi is below 1 + |x|.
    """
    x = z + shift
    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        relative = 2 * ULP * (1 + np.abs(z) + np.abs(shift)) * (1 + np.maximum(-x, 0.0))
        value = np.where(x < _FAR_TAIL, np.exp(log_ndtr(x)), ndtr(x))
        lower = np.nextafter(value * np.maximum(1 - relative, 0.0), -1.0)
        upper = np.nextafter(value * (1 + relative), 2.0)
    sure = np.isinf(x)
    return Bracket(
        np.where(sure, value, np.maximum(lower, 0.0)), np.where(sure, value, np.minimum(upper, 1.0))
    )


def normal_quantile_gap(advantage: float, complement: float) -> float:
    """Return mu with 2 Phi(mu/2) - 1 = advantage; relative error within 16 ULP.

    Args:
        advantage: in [0, 1).
        complement: 1 - advantage, given apart so that neither loses digits.
    """
    if advantage < 0.5:
        return 2 * math.sqrt(2) * float(erfinv(np.asarray(advantage)))
    return -2 * float(ndtri(np.asarray(complement / 2)))


def ramp(x: Array) -> Array:
    """Return 1 - x R(x), by its enveloping asymptotic series in the far tail."""
    safe = np.maximum(x, _SERIES_FROM)
    square = 1 / (safe * safe)
    term, series = square, square.copy()
    for k in range(1, _SERIES_TERMS):
        term = -(2 * k + 1) * square * term
        series = series + term
    near = np.minimum(x, _SERIES_FROM)
    return np.where(x < _SERIES_FROM, 1 - near * mills_ratio(near), series)


def gaussian_log_delta(epsilon: Array, mu: Array) -> Bracket:
    """Return a bracket of log delta(epsilon) of the pair N(0, 1), N(mu, 1).

    Args:
        epsilon: real, any shape; infinities allowed.
        mu: positive, broadcast against `epsilon`.

    Error: absolute, within ULP (4 + x^2 + (1 + x) x2 + s) of the logarithm, x = max(x1, 0): x^2
    for phi(x1), which is as much as 1 - x R(x) loses, being about 1/x^2; x2 for the rounding of x1,
    times the slope of the logarithm, which ends like a normal density below 0; s = 4 for mu <= 1,
    else x2/mu, by which R(x1) - R(x2) cancels. Measured: below 0.3 of it.
    """
    epsilon, mu = np.broadcast_arrays(epsilon, mu)
    size = np.abs(epsilon)
    with np.errstate(invalid="ignore", over="ignore", under="ignore", divide="ignore"):
        ratio = np.where(np.isinf(size), np.inf, size / mu)
        x1, x2 = ratio - mu / 2, ratio + mu / 2
        log = _log_profile(x1, x2, mu)
        log = np.where(np.isinf(ratio), -np.inf, np.minimum(log, 0.0))
        spread = np.where(mu <= 1, 4.0, x2 / mu)
        right, left = np.maximum(x1, 0.0), np.minimum(x1, 0.0)
        slope = (1 + right) * np.exp(-left * left / 2)
        error = ULP * (4 + right * right + slope * x2 + spread)
        error = np.where(np.isneginf(log), 0.0, error)
        lower, upper = log - error, np.minimum(log + error, 0.0)
    # A logarithm that overflows is still the logarithm of something positive.
    upper = np.where(np.isneginf(log) & np.isfinite(size), _LEAST_LOG, upper)
    return Bracket(_reflect(epsilon, lower, -1), _reflect(epsilon, upper, 1))


def _log_profile(x1: Array, x2: Array, mu: Array) -> Array:
    narrow = mu <= 1
    # The first is the slow one, and mu is one number most of the time.
    if not np.any(narrow):
        return _log_wide(x1, x2)
    log = _log_narrow(x1, np.minimum(mu, 1.0))
    return log if np.all(narrow) else np.where(narrow, log, _log_wide(x1, x2))


def _log_narrow(x1: Array, mu: Array) -> Array:
    points = x1[..., None] + mu[..., None] * (_NODES + 1) / 2
    area = mu / 2 * (ramp(points) @ _WEIGHTS)
    return -x1 * x1 / 2 - _LOG_SQRT_2PI + np.log(area)


def _log_wide(x1: Array, x2: Array) -> Array:
    right = np.maximum(x1, 0.0)
    far = -right * right / 2 - _LOG_SQRT_2PI + np.log(mills_ratio(right) - mills_ratio(x2))
    left = np.minimum(x1, 0.0)
    density = np.exp(-left * left / 2 - _LOG_SQRT_2PI)
    near = np.log(np.exp(log_ndtr(-left)) - density * mills_ratio(x2))
    return np.where(x1 >= 0, far, near)


def _reflect(epsilon: Array, log: Array, side: int) -> Array:
    """Extend to negative epsilon: delta(-e) = 1 - e^-e + e^-e delta(e) for a symmetric pair."""
    if np.all(epsilon >= 0):
        return log
    negative = np.minimum(epsilon, 0.0)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        exponent = np.maximum(negative + log, -800.0)
        part = np.exp(exponent)
        total = -np.expm1(negative) + part
        value = np.log(total)
        # exp turns the absolute error of its argument into a relative one.
        error = 2 * ULP * (1 + np.abs(value) - exponent * part / total)
    return np.where(epsilon < 0, np.minimum(value + side * error, 0.0), log)
