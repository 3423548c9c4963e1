"""The profile from the powers of tests, and back: the two are conjugate, and both are certified.

    delta(x) = sup over alpha of tpr(alpha) - e^x alpha
    tpr(alpha) = inf over x of delta(x) + e^x alpha

Both are conjugates of functions that are concave and increasing, in alpha and in e^x. Powers are
used as they are, never as 1 - beta: small values keep their digits.

Source: Dong, Roth and Su (2022), proposition 2.12, at negative x too.
"""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from neyman.numerics import Array, Interval, exp, expm1, log
from neyman.numerics._concave import Concave

__all__ = ["epsilon_shown", "powers_of_profile", "profile_of_powers"]

_REACH = 700.0
Powers: TypeAlias = Callable[[Array], Interval]


def _codes(spacing: float, far: float, right: float, end: float) -> Array:
    """Return codes from -800, where e^u is 0, to `end`; coarser where it is tiny."""
    fine = np.arange(0.0, 40.0, spacing)
    coarse = np.arange(40.0, 705.0, far)
    ahead = np.concatenate([fine, coarse])
    return np.concatenate([[-800.0], -coarse[::-1], -fine[:0:-1], ahead[ahead <= right], [end]])


# Sizes are half of e^u below the middle, and 1 less half of e^-u above it; beyond 1 - e^-33/2 the
# doubles lie too close together to resolve a slope.
_SIZES, _MANY_SIZES = _codes(0.5, 15.0, 33.0, 800.0), _codes(0.0025, 0.02, 33.0, 800.0)
_LOSSES, _MANY_LOSSES = _codes(0.5, 15.0, 690.0, _REACH), _codes(0.0025, 0.02, 690.0, _REACH)

# Sizes of the first tests; the number of refinements, and of new sizes in each.
_FIRST_SIZES = np.concatenate([np.geomspace(1e-300, 1e-3, 128), np.linspace(1e-3, 1.0, 128)[1:]])
_REFINEMENTS, _FINER = 4, 17


def profile_of_powers(tpr: Powers, swapped: Powers, epsilon: Array) -> Interval:
    """Bracket log delta at any real epsilon.

    Args:
        tpr: brackets of the power at sizes in [0, 1], any shape.
        swapped: the same for the other direction, used for negative epsilon:
            delta(-x) = 1 - e^-x + e^-x delta_swapped(x).
        epsilon: any shape.

    Error: relative 1e-10 of delta beyond that of the powers, 1e-8 at kinks.
    """
    lower, upper = np.empty(epsilon.shape), np.empty(epsilon.shape)
    left = epsilon < 0
    for where, powers in ((~left, tpr), (left, swapped)):
        if np.any(where):
            lower[where], upper[where] = _delta(powers, np.abs(epsilon[where]))
    x = Interval.decimal(np.maximum(epsilon[left], -_REACH))
    other = exp(x) * Interval(lower[left], upper[left]) - expm1(x)
    # Below the reach, 1 is all that a double can say.
    lower[left] = other.lower
    upper[left] = np.where(epsilon[left] < -_REACH, 1.0, other.upper)
    return log(Interval(lower, upper).clip(0.0, 1.0)).smaller(0.0)


def _delta(tpr: Powers, epsilon: Array) -> Interval:
    """Bracket delta at epsilon >= 0, one dimension."""
    odds = exp(Interval.decimal(np.minimum(epsilon, _REACH)))
    curve = Concave(
        lambda u: tpr(_size(u)), lambda u: Interval.decimal(_size(u)), _SIZES, _MANY_SIZES
    )
    found = curve.conjugate(odds)
    lower = np.maximum(found.lower, 0.0)
    lower = np.where(epsilon > _REACH, float(tpr(np.zeros(1)).lower[0]), lower)
    return Interval(lower, np.clip(found.upper, lower, 1.0))


def powers_of_profile(delta: Callable[[Array], Interval], alpha: Array) -> Interval:
    """Bracket the power of the best test at sizes in [0, 1].

    Args:
        delta: brackets of the profile at any real epsilon, any shape.
        alpha: any shape.

    Error: relative 1e-10 beyond that of the profile; nothing but alpha is known from below where
        the profile has a kink and delta is tiny beside it.
    """
    sizes = Interval.decimal(alpha.ravel())

    def height(u: Array) -> Interval:
        return -Interval(*delta(np.clip(u, -_REACH, _REACH)))

    curve = Concave(height, lambda u: exp(Interval.decimal(u)), _LOSSES, _MANY_LOSSES)
    found = curve.conjugate(sizes)
    # Steeper lines give no bound below this.
    beyond = (exp(_REACH) * sizes).lower
    lower = np.maximum(np.minimum(-found.upper, beyond), sizes.lower)
    upper = np.clip(-found.lower, 0.0, 1.0)
    return Interval(np.clip(lower, 0.0, upper).reshape(alpha.shape), upper.reshape(alpha.shape))


def epsilon_shown(power: Callable[[Array], Interval], delta: Array) -> Array:
    """Bound from below the smallest epsilon >= 0 with delta(epsilon) <= delta.

    Any size a shows delta(epsilon) >= tpr(a) - e^epsilon a, so that epsilon is at least

        log((tpr(a) - delta) / a),

    which is sought along a where it is largest.

    Args:
        power: brackets tpr at sizes in (0, 1].
        delta: the targets, one dimension.
    """
    target = Interval.decimal(delta).upper[:, None]
    sizes = np.broadcast_to(_FIRST_SIZES, (delta.size, _FIRST_SIZES.size))
    tpr = np.broadcast_to(power(_FIRST_SIZES).lower, sizes.shape)
    best = np.zeros(delta.shape)
    for _ in range(_REFINEMENTS):
        reach = _reach(tpr, target, sizes)
        best = np.maximum(best, reach.max(axis=1))
        at = np.argmax(reach, axis=1)[:, None]
        left = np.take_along_axis(sizes, np.maximum(at - 1, 0), axis=1)
        right = np.take_along_axis(sizes, np.minimum(at + 1, sizes.shape[1] - 1), axis=1)
        share = np.linspace(0.0, 1.0, _FINER)
        sizes = np.minimum(left * (right / left) ** share, 1.0)
        tpr = power(sizes.ravel()).lower.reshape(sizes.shape)
    return np.maximum(best, _reach(tpr, target, sizes).max(axis=1))


def _reach(tpr: Array, delta: Array, sizes: Array) -> Array:
    """Return log((tpr - delta) / a), rounded down; -inf where it proves nothing."""
    return log((Interval.exactly(tpr) - delta).larger(0.0) / Interval.exactly(sizes)).lower


def _size(u: Array) -> Array:
    half = np.exp(-np.abs(u)) / 2
    return np.where(u < 0, half, 1 - half)
