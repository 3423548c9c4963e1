"""Binomial tails far out and for huge n, in logarithms, with a proved bracket.

The binomial weight by the saddle point (Loader), with d = k - n p known to the last digit,

    log b(k; n, p) = D(n) - D(k) - D(n - k) - g(k, np) - g(n - k, nq) + log(n / (2 pi k (n-k))) / 2,
    g(x, m) = x log(x / m) + m - x,   D = what Stirling's formula leaves of log x!

and the tail as a beta integral of it, P(X >= k) = ∫_0^p (k / u) b(k; n, u) du. Near the point u the
integrand's logarithm is k log u + (n - k) log(1 - u), concave, and at u + iv its modulus is at most
exp(v^2/2 (k/u^2 + (n-k)/(1-u)^2)) times its value at u. So Gauss's rule with m nodes on a panel
of half-width w is within (64/15) w M rho^(-2m) / (1 - rho^-2), M the largest modulus on the ellipse
of Bernstein of parameter rho (Trefethen, "Approximation theory and approximation practice", 19.3).

Source: Loader (2000), "Fast and accurate computation of binomial probabilities".
"""

import math

import numpy as np

from neyman.numerics._bracket import ULP, Array, Bracket
from neyman.numerics._legendre import legendre

__all__ = ["log_binomial_tail"]

_NODES, _WEIGHTS = legendre(20)
_PANELS = 48
# Panels are this many deviations wide; a log decay of 40 ends the integral.
_PANEL, _DECAY = 0.2, 44.0
# Parameter of the ellipse, where the error bound is small.
_RHO = 4.0
_STIRLING = np.array(
    [1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156, -3617 / 122400]
)


def _stirling_rest(x: Array) -> Array:
    """Return log x! - (x + 1/2) log x + x - log(2 pi) / 2, for whole x >= 1."""
    big = np.maximum(x, 16.0)
    square, series = 1 / (big * big), np.zeros(x.shape)
    for coefficient in _STIRLING[::-1]:
        series = series * square + coefficient
    table = np.array(
        [
            math.lgamma(i + 1) - (i + 0.5) * math.log(i) + i - math.log(2 * math.pi) / 2
            for i in range(1, 16)
        ]
    )
    small = table[np.clip(x, 1, 15).astype(np.int64) - 1]
    return np.where(x >= 16, series / big, small)


def _deviance(x: Array, d: Array) -> Array:
    """Return x log(x / m) + m - x at m = x - d > 0, relatively accurate for small d."""
    m = x - d
    w = d / (x + m)
    square, series = w * w, np.zeros(np.broadcast(x, d).shape)
    for j in range(12, 0, -1):
        series = (series + 1 / (2 * j + 1)) * square
    near = d * w + 2 * x * w * series
    with np.errstate(divide="ignore", invalid="ignore"):
        far = x * np.log(x / m) - d
    return np.where(np.abs(w) < 0.1, near, far)


def log_binomial_tail(k: Array, n: int, half_gap: Array | float) -> Bracket:
    """Return a bracket of log P(X >= k), X binomial with success probability 1/2 + half_gap.

    Args:
        k: whole numbers from 1 to n, as doubles, any shape.
        n: trials, at least 2, at most 2^50.
        half_gap: p - 1/2 in (-1/2, 1/2), within ULP of its value.

    Error: ULP of the deviances and of n half_gap times the steepness of the logarithm; the rule's
        error as above. Measured relative width: 1e-10 at n = 10^12, 3e-13 at n = 10^6.
    """
    # The other tail, where the one asked is the larger: 1 - P(X' >= n - k + 1).
    k = np.asarray(k, dtype=np.float64)
    over = k - n / 2 < n * half_gap
    asked = np.where(over, n - k + 1, k)
    sign = np.where(over, -1.0, 1.0)
    safe = np.clip(asked, 1.0, n)
    value = _small_tail(safe, n, sign * half_gap)
    empty = asked > n
    lower = np.where(empty, -np.inf, value.lower)
    upper = np.where(empty, -np.inf, np.minimum(value.upper, 0.0))
    with np.errstate(divide="ignore"):
        rest = Bracket(
            np.log1p(-np.minimum(np.exp(upper) * (1 + ULP), 1.0)),
            np.log1p(-np.exp(lower) * (1 - ULP)),
        )
    rest = Bracket(rest.lower * (1 + ULP), rest.upper * (1 - ULP))
    return Bracket(np.where(over, rest.lower, lower), np.where(over, rest.upper, upper))


def _small_tail(k: Array, n: int, gap: Array) -> Bracket:
    """Return the tail for k above the mean, or hardly below it."""
    # d = k - n u at the right end u = p; the integrand falls from there on with log-slope `steep`.
    p, q = 0.5 + gap, 0.5 - gap
    ends = (k - n / 2) - n * gap
    rest = n - k
    spread = 1 / np.sqrt(k / p**2 + np.maximum(rest, 0.0) / q**2)
    steep = np.maximum(ends, 0.0) / (p * q)
    # Concave: below p by y the logarithm is down by at least steep y; and by about y^2/2 spread^2.
    width = np.minimum(_PANEL * spread, _DECAY / (_PANELS * np.maximum(steep, 1e-300)) * 2)
    width = np.minimum(width, p / (2 * _PANELS))
    y = (np.arange(_PANELS)[:, None] * 2 + 1 + _NODES) / 2
    y = y.reshape(-1) * width[..., None]
    distance = ends[..., None] + n * y
    log = _log_weight(k[..., None], n, distance, p[..., None] - y, q[..., None] + y)
    top = np.max(log, axis=-1)
    weights = np.tile(_WEIGHTS, _PANELS) / 2
    total = (np.exp(log - top[..., None]) @ weights) * width
    # What the panels leave out: the logarithm goes on falling at least as fast as at their end.
    reach = width * _PANELS
    last = _log_weight(k, n, ends + n * reach, p - reach, q + reach)
    fall = (ends + n * reach) / ((p - reach) * (q + reach))
    with np.errstate(under="ignore"):
        left_out = np.exp(last - top) / np.maximum(fall, 1e-300)
    rule = _rule_error(k, rest, p, q, width, reach, steep)
    value = top + np.log(total)
    error = ULP * (64 + np.abs(value)) + 4 * ULP * _lost(k, n, gap, ends)
    upper = value + np.log1p(np.minimum(rule + left_out / total, 1.0)) + error
    lower = value + np.log1p(-np.minimum(rule, 0.5)) - error
    return Bracket(lower, upper)


def _log_weight(k: Array, n: int, d: Array, u: Array, v: Array) -> Array:
    """Return log of (k / u) b(k; n, u) at d = k - n u, v = 1 - u."""
    rest = n - k
    safe = np.maximum(rest, 1.0)
    stirling = _stirling_rest(np.asarray(float(n))) - _stirling_rest(k) - _stirling_rest(safe)
    log = stirling - _deviance(k, d) - _deviance(safe, -d)
    log = log + np.log(n / (2 * np.pi * k * safe)) / 2
    # With no failure the weight is u^n itself.
    whole = n * np.log1p(-v)
    return np.where(rest < 1, whole, log) + np.log(k / u)


def _lost(k: Array, n: int, gap: Array, ends: Array) -> Array:
    """Return what rounding of n p and of the deviances takes from the logarithm, in ULP."""
    slope = (np.abs(ends) + np.sqrt(n)) / np.minimum(k, np.maximum(n - k, 1.0))
    deviance = ends**2 / np.maximum(np.minimum(k, np.maximum(n - k, 1.0)), 1.0)
    return slope * n * np.abs(gap) * 2 + np.minimum(deviance, 1e4) + slope * np.abs(ends)


def _rule_error(
    k: Array, rest: Array, p: Array, q: Array, width: Array, reach: Array, steep: Array
) -> Array:
    """Return the error of the rule, relative to the integral."""
    half = width / 2
    real, imaginary = (_RHO + 1 / _RHO) / 2 * half, (_RHO - 1 / _RHO) / 2 * half
    low, high = p - reach - real, q - real
    bend = (
        imaginary**2 / 2 * (k / np.maximum(low, 1e-300) ** 2 + rest / np.maximum(high, 1e-300) ** 2)
    )
    # Along the panel the integrand changes by a factor: the ellipse reaches beyond by `real`.
    change = (
        2 * (real + half) * (steep + reach * (k / np.maximum(low, 1e-300) ** 2 + rest / high**2))
    )
    factor = 64 / 15 * _RHO ** (-2.0 * _NODES.size) / (1 - _RHO**-2)
    return factor * np.exp(np.minimum(bend + change, 600.0)) * _PANELS
