"""Logarithms of binomial probabilities that keep their digits at a million trials.

log p(j) = δ(n) - δ(j) - δ(n-j) - D(j, np) - D(n-j, nq) - log(2π j (n-j)/n)/2, δ the remainder of
Stirling's formula and D(j, x) = j log(j/x) + x - j.

Source: Loader (2000), "Fast and accurate computation of binomial probabilities".
"""

import math

import numpy as np

from neyman.numerics._bracket import ULP, Array
from neyman.numerics._complex import log1p_minus

__all__ = ["log_binomial"]

_SERIES = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360)
_TABLE = np.asarray(
    [0.0]
    + [
        math.log(math.factorial(k)) - ((k + 0.5) * math.log(k) - k + math.log(2 * math.pi) / 2)
        for k in range(1, 16)
    ]
)


def log_binomial(n: int, success: float, failure: float) -> tuple[Array, Array]:
    """Return log of the probabilities of j = 0 ... n successes, and bounds of their errors.

    Args:
        n: trials, at least 1.
        success: probability of one, within ULP relatively.
        failure: 1 - success, likewise.
    """
    j = np.arange(n + 1.0)
    k = n - j
    first, second = _deviance(j, n * success), _deviance(k, n * failure)
    inner = (j > 0) & (k > 0)
    width = np.where(inner, np.maximum(j, 1) * np.maximum(k, 1) * (2 * math.pi / n), 1.0)
    rest = _stirling(np.asarray([float(n)])) - _stirling(j) - _stirling(k)
    log = np.where(inner, rest, 0.0) - first - second - np.log(width) / 2
    slack = np.abs(j - n * success) + first + second + np.abs(np.log(width))
    return log, ULP * (4 + 4 * slack)


def _stirling(k: Array) -> Array:
    """Return log k! less Stirling's formula; absolute error below 4e-16."""
    large = np.maximum(k, 16.0)
    square = large * large
    series = np.zeros_like(large)
    for coefficient in reversed(_SERIES):
        series = series / square + coefficient
    return np.where(k < 16, _TABLE[np.minimum(k, 15).astype(np.intp)], series / large)


def _deviance(j: Array, x: float) -> Array:
    """Return j log(j/x) + x - j = x ((1 + r) log(1 + r) - r), r = j/x - 1."""
    r = (j - x) / x
    safe = np.where(j > 0, r, 0.0)
    near = x * ((1 + safe) * log1p_minus(safe) + safe * safe)
    # Far above x the squares cancel, and the formula as it stands does not.
    far = j * np.log1p(np.maximum(safe, 0.0)) - (j - x)
    return np.where(j > 0, np.where(safe > 1, far, near), x)
