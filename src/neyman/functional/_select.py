"""Which of the free bandwidths to read a release with, from the release alone."""

import numpy as np

from neyman.functional._function import ReleasedFunction
from neyman.functional._line_basis import multipliers
from neyman.numerics import Array

__all__ = ["select_bandwidth"]

_STEPS_A_DOUBLING = 8


def select_bandwidth(function: ReleasedFunction, *, standard_errors: float = 0.5) -> float:
    """Return a bandwidth with a small estimated integrated squared error. Free post-processing.

        R(h) = sum_j (l^2 - 2 l) t_j + l^2 ((1 - t_j) / n + s_j^2),   l = lambda_j(h)
        t_j  = (|y_j|^2 - 1/n - s_j^2) n / (n - 1)

    y_j is the noisy transform and s_j^2 the known variance of its noise, so t_j is unbiased for
    the squared transform of the density, and R(h) for the error, up to a constant. The largest
    bandwidth whose R is within so many standard errors of the least is taken: R is flat below
    the best and rises slowly above.

    Args:
        function: as released; its own bandwidth plays no part.
        standard_errors: how far above the least; 0 takes the least itself.

    Returns:
        One of the bandwidths h0 2^(k/8), h0 that of the release.

    Error: an estimate. Values heaped on a few places have no density, and get the smallest.
    Source: Rudemo, *Empirical choice of histograms and kernel density estimators*, Scandinavian
        Journal of Statistics 1982 (the unbiased estimate, without noise).
    """
    low, high = function.bandwidths
    count = np.log2(high / low) * _STEPS_A_DOUBLING
    candidates = np.minimum(low * 2.0 ** (np.arange(int(count) + 1) / _STEPS_A_DOUBLING), high)
    basis, n = function.basis, max(function.count, 2.0)
    noise = 2 * (function.stddev / (basis.amplitudes[1:] * n)) ** 2
    power = np.abs(function.transform[1:]) ** 2
    unbiased = (power - 1 / n - noise) * (n / (n - 1))
    rows = np.array([multipliers(basis.period, basis.highest, h)[1:] for h in candidates])
    slopes = rows * rows * (1 - 1 / n) - 2 * rows
    risks = slopes @ unbiased + (rows * rows) @ (1 / n + noise)
    best = int(np.argmin(risks))
    near = risks - risks[best] <= standard_errors * _errors(
        slopes - slopes[best], unbiased, n, noise
    )
    return float(candidates[np.flatnonzero(near)[-1]])


def _errors(slopes: Array, unbiased: Array, n: float, noise: Array) -> Array:
    """Return standard errors of slopes @ unbiased, the parts of y_j taken as independent."""
    signal = np.clip(unbiased, 0.0, 1.0)
    spread = (1 - signal) / n + noise
    return np.sqrt(slopes**2 @ (spread**2 + 2 * spread * signal))
