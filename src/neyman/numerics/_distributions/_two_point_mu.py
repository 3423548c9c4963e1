"""The smallest Gaussian below all two-point laws whose Rényi divergences obey D_a <= rho a.

Two laws on two points, errors alpha and beta, x = logit(1 - alpha), y = logit(1 - beta). At the
order 2x/(x + y) the bound reads R(x, y) <= rho; with s = (x + y)/2 and t = (x - y)/2

    R = (2s/t) artanh(tanh(s/2) tanh(t/2)).

Along the curve of G_mu, x = v(h + w) and y = v(h - w), h = mu/2, v(z) = log Phi(z)/Phi(-z); there
s and t grow with w, and R grows with s and falls with t. So cells of w, and a bound of the rest of
the line, prove R >= rho on all of it. Proofs: docs/theory/zcdp.md.
"""

import math

import numpy as np

from neyman.numerics._bracket import ULP, Array
from neyman.numerics._special import erf, log_ndtr

__all__ = ["gaussian_of_rho"]

# What the tight mu is raised by, relatively, so that cells can show it: the first that will do.
_RAISES = (2.0**-42, 2.0**-38, 2.0**-34, 2.0**-26, 2.0**-16)
# Cells at first, how often those that do not show it are halved, and how many may be left.
_CELLS, _ROUNDS, _MOST = 400, 30, 2**15
_LOG_SQRT_2PI = 0.5 * math.log(2 * math.pi)


def gaussian_of_rho(tight: float, rho: float) -> float:
    """Return a mu at which R >= rho is proved on the whole curve; infinite if none is found.

    Args:
        tight: about the mu at whose fixed point R = rho.
        rho: rounded up.
    """
    for raise_ in _RAISES:
        mu = tight * (1 + raise_)
        if _proved(mu / 2, rho):
            return mu
    return math.inf


def _proved(h: float, rho: float) -> bool:
    far = _far(h, rho)
    if not math.isfinite(far):
        return False
    ends = np.concatenate([[0.0], np.geomspace(1e-8 * min(h, 1.0), far + h, _CELLS)])
    left, right = ends[:-1], ends[1:]
    for _ in range(_ROUNDS):
        open_ = ~(_least(h, left, right) >= rho)
        left, right = left[open_], right[open_]
        if not left.size:
            return True
        if left.size > _MOST:
            return False
        middle = (left + right) / 2
        left, right = np.concatenate([left, middle]), np.concatenate([middle, right])
    return False


def _far(h: float, rho: float) -> float:
    """Return a Z such that R >= rho wherever h - w <= -Z; infinite if there is none."""
    for z in 4.0 * 2.0 ** np.arange(12.0):
        w = float(z) + 2 * h
        most = w * w / 2 + math.log(w + 1 / w) + _LOG_SQRT_2PI
        if (h * float(z)) ** 2 * math.tanh(most / 2) / most * (1 - 32 * ULP) >= rho:
            return float(z)
    return math.inf


def _log_odds(z: Array) -> Array:
    """Return v(z) = log Phi(z)/Phi(-z); relative error within 8 ULP."""
    small = np.clip(z, -1.0, 1.0)
    near = 2 * np.arctanh(erf(small / math.sqrt(2)))
    return np.where(np.abs(z) < 1, near, log_ndtr(z) - log_ndtr(-z))


def _least(h: float, left: Array, right: Array) -> Array:
    """Bound R from below for all w between left and right."""
    above, below = _log_odds(left + h), _log_odds(left - h)
    lost = 8 * ULP * (np.abs(above) + np.abs(below))
    # v' = phi/(Phi(z) Phi(-z)) is even and convex: its mean over w +- h is at least that at w.
    middle = h * np.exp(-left * left / 2 - _LOG_SQRT_2PI - log_ndtr(left) - log_ndtr(-left))
    s = np.maximum((above - below) / 2 - lost, middle * (1 - ULP * (16 + 4 * left * left)))
    above, below = _log_odds(right + h), _log_odds(right - h)
    t = (above + below) / 2 + 8 * ULP * (np.abs(above) + np.abs(below))
    return _required(s, t) * (1 - 32 * ULP)


def _required(s: Array, t: Array) -> Array:
    """Return R for positive s and t; relative error within 24 ULP."""
    small = np.minimum(s, t)
    near = np.arctanh(np.tanh(np.minimum(small, 1.0) / 2) * np.tanh(np.maximum(s, t) / 2))
    far = (small + np.log1p(np.exp(-s - t)) - np.log1p(np.exp(-np.abs(s - t)))) / 2
    return 2 * s / t * np.where(small < 1, near, far)
