"""Logarithms of binomial masses that keep their digits for many trials.

log p(k) = r(n) - r(k) - r(n-k) - D(k, np) - D(n-k, n(1-p)) - log(2π k (n-k)/n)/2, with r the rest
of Stirling's formula and D(k, m) = k log(k/m) + m - k.

Source: Loader (2000), "Fast and accurate computation of binomial probabilities".
"""

import math

import numpy as np

from neyman.numerics._bracket import ULP, Array

__all__ = ["log_binomial_mass"]

_SERIES = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)
_SMALL = 16
_TABLE = np.asarray(
    [0.0]
    + [
        math.lgamma(k + 1) - (k + 0.5) * math.log(k) + k - math.log(2 * math.pi) / 2
        for k in range(1, _SMALL)
    ]
)


def log_binomial_mass(k: Array, n: Array | int, p: float, q: float) -> tuple[Array, Array]:
    """Return log P(X = k) and a bound of its error.

    Args:
        k: whole numbers from 0 to n, as doubles.
        n: trials, at least 1, broadcast against k.
        p: success probability in (0, 1), within an ULP.
        q: 1 - p, given apart so that neither loses digits.

    Error: of D, ULP (|k - np| + D), for p's and the ratio's rounding; 16 ULP for the rest.
    """
    rest = n - k
    parts = (_deviance(k, n * p), _deviance(rest, n * q))
    inner = (k > 0) & (rest > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        middle = _rest(np.asarray(n, dtype=np.float64)) - _rest(k) - _rest(rest)
        middle = middle - np.log(2 * math.pi * k * (rest / n)) / 2
    log = np.where(inner, middle, 0.0) - parts[0] - parts[1]
    gap = np.abs(k - n * p) * (1 / q + 1 / p) * min(p, q)
    return log, ULP * (16 + 2 * gap + 2 * (parts[0] + parts[1]))


def _rest(x: Array) -> Array:
    """Return log x! less Stirling's formula."""
    big = np.maximum(x, float(_SMALL))
    square, series = 1 / (big * big), np.zeros(x.shape)
    for coefficient in reversed(_SERIES):
        series = series * square + coefficient
    small = _TABLE[np.clip(x, 0, _SMALL - 1).astype(np.int64)]
    return np.where(x < _SMALL, small, series / big)


def _deviance(k: Array, m: Array | float) -> Array:
    """Return k log(k/m) + m - k, by a series where the two are near."""
    d = (k - m) / m
    near = np.abs(d) < 0.1
    e = np.where(near, d, 0.0)
    v = e / (2 + e)
    # (1 + e) log(1 + e) - e = e v + 2 (1 + e) Σ_{j>=1} v^(2j+1)/(2j+1)
    series = np.zeros(k.shape)
    for j in range(10, 0, -1):
        series = (series + 1 / (2 * j + 1)) * v * v
    close = e * v + 2 * (1 + e) * v * series
    with np.errstate(divide="ignore", invalid="ignore"):
        far = np.where(k > 0, (1 + d) * np.log1p(d) - d, 1.0)
    return m * np.where(near, close, far)
