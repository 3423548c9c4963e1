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

from neyman.numerics._interval import Array, Interval
from neyman.numerics._primitives import (
    PI,
    atanh,
    erf,
    exp,
    log,
    log_phi,
    normal_log_sf,
    softplus,
    tanh,
)

__all__ = ["gaussian_of_rho"]

# Relative amounts that the tight mu is raised by, until the cells prove it.
_RAISES = (2.0**-42, 2.0**-38, 2.0**-34, 2.0**-26, 2.0**-16)
# Cells at first, how often those that do not show it are halved, and how many may be left.
_CELLS, _ROUNDS, _MOST = 160, 30, 2**15


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
    z = 4.0 * 2.0 ** np.arange(12.0)
    w = Interval.exactly(h) * 2 + z
    most = w.squared() / 2 + log(w + 1 / w) + log(2 * PI) / 2
    found = (Interval.exactly(z) * h).squared() * tanh(most / 2) / most >= rho
    return float(z[np.argmax(found)]) if np.any(found) else math.inf


def _log_odds(z: Array) -> Interval:
    """Return v(z) = log Phi(z)/Phi(-z), of a small z by 2 artanh(erf(z/sqrt 2))."""
    near = 2 * atanh(erf(np.clip(z, -1.0, 1.0) / Interval.of(2).sqrt()))
    return Interval.where(np.abs(z) < 1, near, log_phi(z) - normal_log_sf(z))


def _least(h: float, left: Array, right: Array) -> Array:
    """Bound R from below for all w between left and right."""
    first, last = Interval.exactly(left), Interval.exactly(right)
    # v' = phi/(Phi(z) Phi(-z)) is even and convex: its mean over w +- h is at least that at w.
    steep = exp(first.squared() / -2 - log(2 * PI) / 2 - log_phi(left) - normal_log_sf(left))
    # v rises.
    places = (first + h).lower, (first - h).upper, (last + h).upper, (last - h).upper
    odds = _log_odds(np.stack(places))
    s = ((Interval.exactly(odds.lower[0]) - odds.upper[1]) / 2).larger(steep * h).lower
    t = ((Interval.exactly(odds.upper[2]) + odds.upper[3]) / 2).upper
    return _required(s, t).lower


def _required(s: Array, t: Array) -> Interval:
    """Return R for positive s and t."""
    small = np.minimum(s, t)
    beside = Interval.exactly(np.minimum(small, 1.0)) / 2
    near = atanh(tanh(beside) * tanh(np.maximum(s, t) / 2))
    apart = Interval.exactly(s) - t
    rest = softplus(-(Interval.exactly(s) + t)) - softplus(-apart.larger(-apart))
    half = Interval.where(small < 1, near, (rest + small) / 2)
    return half * 2 * s / t
