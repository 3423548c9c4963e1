"""Where monotone functions take a value: by brackets that are proved, or to the last bit."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from neyman.numerics._interval import Array, Interval, quiet

__all__ = ["first_double", "proved_root", "proved_roots", "raised"]

Mask: TypeAlias = npt.NDArray[np.bool_]
Places: TypeAlias = npt.NDArray[np.intp]

_NEWTON, _WIDENINGS = 80, 60
# Differences that end the search, that rounding may cause, and that it causes if they stop falling.
_CLOSE, _NOISE, _QUIET = 1e-14, 1e-9, 1e-11
# The relative and absolute error of a target, which is the logarithm of a user's number.
_OF_TARGET = 2.0**-49
# The least step that shows a slope, as a share of 1/|slope|.
_APART = 1e-6
_INFINITY = np.float64(np.inf).view(np.int64)


def raised(start: Array, step: Array | float, holds: Callable[[Array], Mask]) -> Array:
    """Move certified upper ends up, in steps that double, until a claim is shown there again.

    So that a view and its inverse agree to the last bit: the inverse's end is certified, but the
    view may round it to the other side.

    Args:
        start: where the claim is true.
        step: the first, positive.
        holds: where it is shown.

    Returns:
        where it is shown; the start where 2^60 steps do not reach that.
    """
    found = start
    for _ in range(_WIDENINGS):
        there = holds(found)
        if np.all(there):
            return found
        found = np.where(there, found, found + step)
        step = 2 * step
    return np.where(holds(found), found, start)


def proved_root(
    bounds: Callable[[Array], Interval],
    middle: Callable[[Array], Array],
    target: Array,
    start: Array,
    slope: Array,
    blur: Array | float = 0.0,
) -> Interval:
    """Bracket the t at which a decreasing function f is `target`.

    Secants of an estimate of f, then steps outwards until both sides are proved.

    Args:
        bounds: of f, at a one-dimensional array of t.
        middle: an estimate of f.
        target: values of f, within 2^-49 (1 + |target|) of the intended ones.
        start: about where.
        slope: about f' there, negative.
        blur: by how much more the target may be off.

    Returns:
        t with f(t.lower) >= target >= f(t.upper); infinite where no proof was found.
    """
    return proved_roots(lambda t, _: bounds(t), middle, target, start, slope, blur)


def proved_roots(
    bounds: Callable[[Array, Places], Interval],
    middle: Callable[[Array], Array],
    target: Array,
    start: Array,
    slope: Array,
    blur: Array | float = 0.0,
) -> Interval:
    """Bracket, for each of several functions, the place where it is its target.

    As `proved_root`, but `bounds` takes places and the index of the function to evaluate at each,
    and `middle` takes one place for each function.
    """
    t, slope = _secants(middle, target, start, slope)
    found = bounds(t, np.arange(t.size))
    slack = _OF_TARGET * (1 + np.abs(target)) + blur
    with np.errstate(invalid="ignore"):
        pad = (found.upper - found.lower + slack) / np.abs(slope)
    pad = np.where(np.isfinite(pad), pad, 0.0) + 2.0**-52 * np.abs(t) + 1e-300
    low, high = target - slack, target + slack
    lower, upper = np.full(t.shape, -np.inf), np.full(t.shape, np.inf)
    for _ in range(_WIDENINGS):
        left, right = np.flatnonzero(np.isneginf(lower)), np.flatnonzero(np.isposinf(upper))
        if not left.size + right.size:
            break
        ends = t[left] - pad[left], t[right] + pad[right]
        found = bounds(np.concatenate(ends), np.concatenate((left, right)))
        below, above = found.lower[: left.size], found.upper[left.size :]
        lower[left] = np.where(below >= high[left], ends[0], -np.inf)
        upper[right] = np.where(above <= low[right], ends[1], np.inf)
        pad = 2 * pad
    return Interval(lower, upper)


@quiet
def _secants(
    middle: Callable[[Array], Array], target: Array, start: Array, slope: Array
) -> tuple[Array, Array]:
    """Follow secants, and halve where they leave the ends found so far; the slope as well."""
    unit = 1 / np.abs(slope)
    low, high = np.full(start.shape, -np.inf), np.full(start.shape, np.inf)
    t, here, last = start, middle(start), np.full(start.shape, np.inf)
    settled = stalled = np.zeros(start.shape, dtype=bool)
    for k in range(_NEWTON):
        # Beyond the end of f there is nothing, or noise: below any target.
        left = here >= target
        low, high = np.where(left, t, low), np.where(left, high, t)
        # Relative to the rounding of the value.
        off = np.where(np.isnan(here), np.inf, np.abs(target - here))
        off = off / (1 + np.abs(target))
        # Secants close in ever faster, until what is left is noise; once it may be chance.
        before, stalled = stalled, (off < _NOISE) & (off > last / 2)
        settled = settled | (off <= _CLOSE) | (stalled & (before | (off < _QUIET)))
        settled |= high - low <= 4e-16 * np.abs(t)
        if np.all(settled):
            break
        last = off
        moved, middle_ = t + (target - here) / slope, (low + high) / 2
        step = np.where(left, 1.0, -1.0) * unit * 2.0 ** min(k, 60)
        outwards = np.where(np.isfinite(middle_), middle_, t + step)
        moved = np.where((moved > low) & (moved < high), moved, outwards)
        # A settled place does not move: its differences are noise.
        moved = np.where(settled, t, moved)
        there = middle(moved)
        rate = (there - here) / (moved - t)
        # Places that are too close show no slope.
        told = np.isfinite(rate) & (rate < 0) & (np.abs(moved - t) > _APART * unit)
        t, here, slope = moved, there, np.where(told, rate, slope)
    return t, slope


def first_double(predicate: Callable[[Array], Mask], shape: tuple[int, ...]) -> Array:
    """Return the smallest x >= 0 at which `predicate` holds, for each element; inf if none does.

    Non-negative doubles are ordered as their bit patterns are, so that 63 halvings of the integers
    find the place to the last bit over the whole range. The predicate was seen to hold at every
    finite value returned, even where rounding makes it waver.

    Args:
        predicate: takes and returns arrays of `shape`; false, then true, as x grows.
        shape: of the answer.
    """
    low = np.full(shape, -1, dtype=np.int64)
    high = np.full(shape, _INFINITY, dtype=np.int64)
    while np.any(high - low > 1):
        middle = np.where(high - low > 1, low + (high - low) // 2, high)
        holds = predicate(middle.view(np.float64)) | (middle == high)
        high = np.where(holds, middle, high)
        low = np.where(holds, low, middle)
    return high.view(np.float64)
