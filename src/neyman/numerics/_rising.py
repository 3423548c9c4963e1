"""The places where an increasing function, known within an error, takes given values."""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from neyman.numerics._bracket import Array, Bracket

__all__ = ["Risen", "Rising", "rising_root"]

_DOUBLINGS, _STEPS, _WIDENINGS = 500, 400, 60
_CLOSE = 2.0**-48
# Halvings of a stretch on which nothing is proved, and how long one is left as it is.
_HALVINGS, _FLAT = 60, 2.0**-40


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
        lower, upper = (_proved(function, target, x, pad, side) for side in (-1, 1))
    return Bracket(lower, upper)


def _proved(function: Rising, target: Array, x: Array, pad: Array, side: int) -> Array:
    """Return a place at or beyond x, to one side, where f is proved to be beyond the target.

    By doubling the distance; where that took several steps, by halving the last of them again, for
    on a flat stretch they are large, and a little behind it f may be far from the target.
    """

    def holds(at: Array) -> npt.NDArray[np.bool_]:
        value, error, _ = function(at)
        return side * (value - target) - error >= 0

    found, short = np.full(x.shape, side * np.inf), x
    for _ in range(_WIDENINGS):
        at = x + side * pad
        beyond = holds(at)
        missing = np.isinf(found)
        found = np.where(missing & beyond, at, found)
        if np.all(np.isfinite(found)):
            break
        short = np.where(missing & ~beyond, at, short)
        pad = 2 * pad
    for _ in range(_HALVINGS):
        open_ = np.isfinite(found) & (short != x) & (np.abs(found - short) > _FLAT * np.abs(found))
        if not np.any(open_):
            break
        middle = np.where(open_, found / 2 + short / 2, found)
        beyond = holds(middle)
        found, short = np.where(open_ & beyond, middle, found), np.where(beyond, short, middle)
    return found


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
