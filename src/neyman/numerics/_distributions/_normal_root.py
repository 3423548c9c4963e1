"""The place where the Gaussian profile takes a value: found in doubles, then proved.

With x1 = eps/mu - mu/2, x2 = x1 + mu and R the Mills ratio, log delta is concave in eps and

    d log delta / d eps = -R(x2) / (R(x1) - R(x2)),   d log delta / d mu = 1 / (R(x1) - R(x2)),

so that Newton's method from Chernoff's bound goes down to the root and never past it.
"""

import math

import numpy as np

from neyman.numerics._bracket import Array
from neyman.numerics._distributions._normal import gaussian_log_delta
from neyman.numerics._interval import Interval
from neyman.numerics._primitives import erf, log, mills, psi
from neyman.numerics._root import proved_root

__all__ = ["gaussian_epsilon", "gaussian_mu_near"]

_ROOT_EIGHT = Interval.of(8).sqrt()
_LOG_SQRT_2PI = 0.5 * math.log(2 * math.pi)
_NEWTON, _CLOSE = 40, 1e-9
_WIDENINGS = 4
# Below it R(x1) - R(x2) is taken by its derivative: the estimate need not be good.
_NARROW = 1e-3
# Further left R overflows, and delta is 1 to all digits.
_LEFTMOST = -30.0
# Where an estimate of log mu is looked for, and in how many halvings.
_LOG_MU, _HALVINGS = (-60.0, 12.0), 60


def gaussian_epsilon(delta: Array, mu: tuple[float, float]) -> Interval:
    """Bracket the smallest epsilon >= 0 at which the profile of G_mu is at most delta.

    Args:
        delta: in [0, 1], one dimension.
        mu: bounds of it, positive.

    Error: that of `gaussian_log_delta` on both sides, over the slope.
    """
    lower, upper = np.zeros(delta.shape), np.zeros(delta.shape)
    lower[delta == 0] = upper[delta == 0] = np.inf
    # delta(0) = erf(mu / sqrt 8).
    at_zero = erf(Interval.exactly(np.asarray(mu)) / _ROOT_EIGHT)
    asked = (delta > 0) & (delta < at_zero.upper[1])
    if np.any(asked):
        found = _roots(delta[asked], mu)
        small = delta[asked] < at_zero.lower[0]
        lower[asked] = np.where(small, np.maximum(found.lower, 0.0), 0.0)
        upper[asked] = np.maximum(found.upper, 0.0)
    return Interval(lower, upper)


def gaussian_mu_near(epsilon: Array, log_delta: Array) -> Array:
    """Return about the mu at which the profile at epsilon >= 0 is `log_delta`; an estimate."""
    low, high = (np.full(epsilon.shape, end) for end in _LOG_MU)
    with np.errstate(all="ignore"):
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            above = _profile(epsilon, np.exp(middle))[0] > log_delta
            low, high = np.where(above, low, middle), np.where(above, middle, high)
    return np.exp(low)


def _roots(delta: Array, mu: tuple[float, float]) -> Interval:
    goal, target = log(delta), np.log(delta)
    with np.errstate(all="ignore"):
        t, ratio, area = _estimate(target, mu[1])
        here = gaussian_log_delta(t, np.asarray(mu[1]))
        t = t + ((here.lower + here.upper) / 2 - target) * area / ratio
        wide = (here.upper - here.lower) + (goal.upper - goal.lower)
        pad = wide * area + 2.0**-52 * mu[1]
        pad = pad / ratio + 2.0**-52 * np.abs(t) + 1e-300
        found = _proved(goal, t, pad, mu)
    missed = ~(np.isfinite(found.lower) & np.isfinite(found.upper))
    if np.any(missed):
        rest = _by_halving(target[missed], mu)
        found.lower[missed], found.upper[missed] = rest.lower, rest.upper
    return found


def _proved(goal: Interval, t: Array, pad: Array, mu: tuple[float, float]) -> Interval:
    """Step outwards until both sides are proved: from below with the least mu, from above most."""
    lower, upper = np.full(t.shape, -np.inf), np.full(t.shape, np.inf)
    sides = np.asarray(mu)[:, None]
    for _ in range(_WIDENINGS):
        bounds = gaussian_log_delta(np.stack([t - pad, t + pad]), sides)
        left, right = bounds.lower[0] >= goal.upper, bounds.upper[1] <= goal.lower
        lower = np.where(np.isneginf(lower) & left, t - pad, lower)
        upper = np.where(np.isposinf(upper) & right, t + pad, upper)
        if np.all(np.isfinite(lower) & np.isfinite(upper)):
            break
        pad = 2 * pad
    return Interval(lower, upper)


def _estimate(target: Array, mu: float) -> tuple[Array, Array, Array]:
    """Return about the root, and R(x2) and R(x1) - R(x2) there."""
    z = np.sqrt(-2 * target)
    # About log((R(z) - R(z + mu)) / sqrt(2 π)) in the tail.
    value = np.minimum(np.log(mu / (z * (z + mu))) - _LOG_SQRT_2PI, 0.0)
    t = mu * mu / 2 + mu * np.sqrt(np.maximum(2 * (value - target), z))
    value, ratio, area = _profile(t, mu)
    for _ in range(_NEWTON):
        off = value - target
        moved = off * area / ratio
        t = t + np.where(np.isfinite(moved), moved, 0.0)
        if not np.any(np.abs(off) > _CLOSE):
            break
        value, ratio, area = _profile(t, mu)
    return t, ratio, area


def _profile(t: Array, mu: Array | float) -> tuple[Array, Array, Array]:
    """Return log delta, R(x2) and R(x1) - R(x2), about."""
    x1 = np.maximum(t / mu - mu / 2, _LEFTMOST)
    ratio = mills.function(x1 + mu)
    area = mills.function(x1) - ratio
    narrow = np.asarray(mu) < _NARROW
    if np.any(narrow):
        area = np.where(narrow, mu * psi.function(x1 + mu / 2), area)
    return np.log(area) - x1 * x1 / 2 - _LOG_SQRT_2PI, ratio, area


def _by_halving(target: Array, mu: tuple[float, float]) -> Interval:
    """Return the same where doubles come to their ends."""
    least, most = (np.asarray(side) for side in mu)
    start = mu[1] * mu[1] / 2 + mu[1] * np.sqrt(-2 * target)

    def bounds(t: Array) -> Interval:
        return Interval(gaussian_log_delta(t, least).lower, gaussian_log_delta(t, most).upper)

    return proved_root(
        bounds,
        lambda t: gaussian_log_delta(t, most).upper,
        target,
        start,
        -start / (mu[1] * mu[1]) - 1 / mu[1],
    )
