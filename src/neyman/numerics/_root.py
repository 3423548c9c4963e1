"""The place where a decreasing function, known from both sides, takes a value."""

from collections.abc import Callable

import numpy as np

from neyman.numerics._bracket import ULP, Array, Bracket

__all__ = ["proved_root"]

_NEWTON, _WIDENINGS = 80, 60
_CLOSE = 1e-14


def proved_root(
    bounds: Callable[[Array], Bracket],
    middle: Callable[[Array], Array],
    target: Array,
    start: Array,
    slope: Array,
    blur: Array | float = 0.0,
) -> Bracket:
    """Bracket the t at which a decreasing function f is `target`.

    Newton's method on an estimate of f, then steps outwards until both sides are proved.

    Args:
        bounds: of f, at an array of t of the target's shape.
        middle: an estimate of f.
        target: the values asked, within ULP (1 + |target|) of what is meant.
        start: about where.
        slope: about f' there, negative.
        blur: by how much more the target may be off.

    Returns:
        t with f(t.lower) >= target >= f(t.upper); infinite where no proof was found.
    """
    t = _middle_root(middle, target, start, slope)
    found = bounds(t)
    slack = 2 * ULP * (1 + np.abs(target)) + blur
    reach = 1e-3 / np.abs(slope)
    with np.errstate(invalid="ignore", divide="ignore"):
        fall = np.maximum((middle(t - reach) - middle(t + reach)) / (2 * reach), 1e-9 / reach)
        pad = (found.upper - found.lower + slack) / fall
    pad = np.where(np.isfinite(pad), pad, 0.0) + 2.0**-52 * np.abs(t) + 1e-300
    lower, upper = np.full(t.shape, -np.inf), np.full(t.shape, np.inf)
    for _ in range(_WIDENINGS):
        below, above = bounds(t - pad).lower, bounds(t + pad).upper
        lower = np.where(np.isneginf(lower) & (below >= target + slack), t - pad, lower)
        upper = np.where(np.isposinf(upper) & (above <= target - slack), t + pad, upper)
        if np.all(np.isfinite(lower) & np.isfinite(upper)):
            break
        pad = 2 * pad
    return Bracket(lower, upper)


def _middle_root(
    middle: Callable[[Array], Array], target: Array, start: Array, slope: Array
) -> Array:
    """Newton's method between a left and a right end, halving where it leaves them."""
    unit = 1 / np.abs(slope)
    low, high = start - unit, start + unit
    for _ in range(_WIDENINGS):
        # Beyond the end of f there is nothing, or noise: below any target.
        left, right = ~(middle(low) >= target), middle(high) > target
        if not np.any(left | right):
            break
        low = np.where(left, start - 2 * (start - low), low)
        high = np.where(right, start + 2 * (high - start), high)
    t, reach = start, 1e-3 * unit
    for _ in range(_NEWTON):
        here, there = middle(t), middle(t + reach)
        low, high = np.where(here >= target, t, low), np.where(here >= target, high, t)
        # The value moves by so much in its last place.
        off = np.where(np.isnan(here), np.inf, np.abs(target - here))
        if not np.any((off > _CLOSE * (1 + np.abs(target))) & (high - low > 4e-16 * np.abs(t))):
            break
        with np.errstate(invalid="ignore", divide="ignore"):
            rate = np.where(there < here, (there - here) / reach, np.nan)
            moved = t + (target - here) / rate
            reach = np.where(np.isfinite(rate), 1e-3 / np.abs(rate), reach)
        inside = (moved > low) & (moved < high)
        t = np.where(inside, moved, (low + high) / 2)
        reach = np.minimum(reach, 1e-3 * unit)
    return t
