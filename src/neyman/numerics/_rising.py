"""The places where an increasing function, known within an error, takes given values."""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from neyman.numerics._bracket import Array, Bracket

__all__ = ["Risen", "Rising", "rising_root"]

_DOUBLINGS, _STEPS, _WIDENINGS = 500, 400, 60
_CLOSE = 2.0**-48


class Risen(NamedTuple):
    """Values, bounds of their absolute errors, and about the slopes."""

    value: Array
    error: Array
    slope: Array


Rising: TypeAlias = Callable[[Array], Risen]


def rising_root(function: Rising, target: Array) -> Bracket:
    """Bracket the x at which an increasing function is `target`.

    Args:
        function: of an array of the target's shape.
        target: taken as exact.

    Returns:
        x with f(x.lower) <= target <= f(x.upper), both proved; infinite where no proof was found.
    """
    with np.errstate(all="ignore"):
        x = _near(function, target)
        value, error, slope = function(x)
        pad = 2 * (error + np.abs(value - target)) / slope
        # A flat end of the function must not throw the proof far away.
        pad = np.minimum(np.where(np.isfinite(pad), pad, 0.0), 2.0**-10 * (1 + np.abs(x)))
        pad = pad + 2.0**-52 * np.abs(x) + 1e-300
        lower, upper = np.full(x.shape, -np.inf), np.full(x.shape, np.inf)
        for _ in range(_WIDENINGS):
            below, above = function(x - pad), function(x + pad)
            is_below = np.isneginf(lower) & (below.value + below.error <= target)
            is_above = np.isposinf(upper) & (above.value - above.error >= target)
            lower, upper = np.where(is_below, x - pad, lower), np.where(is_above, x + pad, upper)
            if np.all(np.isfinite(lower) & np.isfinite(upper)):
                break
            pad = 2 * pad
    return Bracket(lower, upper)


def _near(function: Rising, target: Array) -> Array:
    """Newton's method, kept between ends by halving."""
    low, high = np.full(target.shape, -1.0), np.full(target.shape, 1.0)
    for _ in range(_DOUBLINGS):
        down, up = function(low).value > target, function(high).value < target
        if not (np.any(down) or np.any(up)):
            break
        low, high = np.where(down, 2 * low, low), np.where(up, 2 * high, high)
    x = (low + high) / 2
    for _ in range(_STEPS):
        value, _, slope = function(x)
        low, high = np.where(value <= target, x, low), np.where(value > target, x, high)
        newton = x + (target - value) / slope
        following = np.where((newton > low) & (newton < high), newton, (low + high) / 2)
        if np.all(np.abs(following - x) <= _CLOSE * np.abs(x)):
            return following
        x = following
    return x
