"""The places where an increasing function, known within an error, takes given values."""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from neyman.numerics._interval import Array, Interval

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
_Places: TypeAlias = npt.NDArray[np.intp]


def rising_root(function: Rising, target: Array, about: Rising | None = None) -> Interval:
    """Bracket the x at which an increasing function is `target`.

    Args:
        function: of an array, place by place.
        target: one dimension, taken as exact.
        about: the same with no bounds of the errors, where that is quicker.

    Returns:
        x with f(x.lower) <= target <= f(x.upper), both proved; infinite where no proof was found.
    """
    with np.errstate(all="ignore"):
        x = _near(about or function, target)
        value, error, slope = function(x)
        pad = 2 * (error + np.abs(value - target)) / slope
        # A flat end of the function must not throw the proof far away.
        pad = np.minimum(np.where(np.isfinite(pad), pad, 0.0), 2.0**-10 * (1 + np.abs(x)))
        pad = pad + 2.0**-52 * np.abs(x) + 1e-300
        lower, upper = (_proved(function, target, x, pad, side) for side in (-1, 1))
    return Interval(lower, upper)


def _proved(function: Rising, target: Array, x: Array, pad: Array, side: int) -> Array:
    """Return a place at or beyond x, to one side, where f is proved to be beyond the target.

    By doubling the distance; where that took several steps, by halving the last of them again, for
    on a flat stretch they are large, and a little behind it f may be far from the target.
    """

    def holds(at: Array, which: _Places) -> npt.NDArray[np.bool_]:
        value, error, _ = function(at)
        return side * (value - target[which]) - error >= 0

    found, short = np.full(x.shape, side * np.inf), x.copy()
    missing = np.arange(x.size)
    for _ in range(_WIDENINGS):
        at = x[missing] + side * pad[missing]
        beyond = holds(at, missing)
        found[missing[beyond]], short[missing[~beyond]] = at[beyond], at[~beyond]
        missing = missing[~beyond]
        if not missing.size:
            break
        pad = 2 * pad
    for _ in range(_HALVINGS):
        far = (short != x) & (np.abs(found - short) > _FLAT * np.abs(found))
        open_ = np.flatnonzero(np.isfinite(found) & far)
        if not open_.size:
            break
        middle = found[open_] / 2 + short[open_] / 2
        beyond = holds(middle, open_)
        found[open_[beyond]], short[open_[~beyond]] = middle[beyond], middle[~beyond]
    return found


def _near(function: Rising, target: Array) -> Array:
    """Newton's method, kept between ends by halving, at the places that are not found yet."""
    low, high = np.full(target.shape, -1.0), np.full(target.shape, 1.0)
    for end, side in ((low, -1), (high, 1)):
        open_ = np.arange(target.size)
        for _ in range(_DOUBLINGS):
            short = side * (function(end[open_]).value - target[open_]) < 0
            open_ = open_[short]
            if not open_.size:
                break
            end[open_] *= 2
    x, open_ = (low + high) / 2, np.arange(target.size)
    for _ in range(_STEPS):
        at = x[open_]
        value, _, slope = function(at)
        under, over = value <= target[open_], value > target[open_]
        low[open_[under]], high[open_[over]] = at[under], at[over]
        newton = at + (target[open_] - value) / slope
        least, most = low[open_], high[open_]
        inside = (newton > least) & (newton < most)
        following = np.where(inside, newton, (least + most) / 2)
        x[open_] = following
        open_ = open_[~(np.abs(following - at) <= _CLOSE * np.abs(at))]
        if not open_.size:
            break
    return x
