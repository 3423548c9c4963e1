"""The least mu whose Gaussian profile is above that of a lattice, and a lower bound of it."""

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from neyman.numerics._bracket import ULP, Array
from neyman.numerics._distributions._normal import gaussian_log_delta
from neyman.numerics._lattice_sums._profile import LatticeProfile
from neyman.numerics._special import log_ndtr, ndtri

__all__ = ["mu_above", "mu_below"]

_HALVINGS, _POINTS = 50, 400
_MOST = 64.0


def _places(profile: LatticeProfile, least: float) -> Array:
    """Return some losses of the window from `least` on, many where the profile is large."""
    w = profile.window
    first = max(math.ceil(least / w.step) - w.first, 0)
    last = profile.sums.size - 1
    if last <= first:
        return np.zeros(0)
    steps = np.unique(np.rint(np.geomspace(1, last - first + 1, _POINTS // 2))).astype(np.int64)
    even = np.linspace(0, last - first, _POINTS // 2).astype(np.int64)
    k = np.unique(np.concatenate((steps - 1, last - first - (steps - 1), even)))
    return (first + w.first + k).astype(np.float64) * w.step


def mu_below(profiles: Sequence[LatticeProfile]) -> float:
    """Return a mu below which some Gaussian profile is too small, by lower bounds of delta.

    Only at epsilon >= 0: the swapped loss tells of the rest.
    """
    found = 0.0
    for profile in profiles:
        at = _places(profile, 0.0)
        goal = profile.log_delta(at)
        at, goal = at[goal > -700], goal[goal > -700]
        if not at.size:
            continue
        low, high = np.zeros(at.size), np.full(at.size, _MOST)
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            # Proved too small.
            small = gaussian_log_delta(at, np.maximum(middle, 1e-12)).upper < goal
            low, high = np.where(small, middle, low), np.where(small, high, middle)
        found = max(found, float(np.max(low)))
    return found


def _holds(mu: float, left: Array, right: Array, log_left: Array, log_right: Array) -> bool:
    """Return whether the Gaussian profile is proved to be above every chord.

    Both are functions of e^epsilon, and the profile is convex: a tangent of it that is above both
    ends of a chord proves it. The best one touches where the slopes agree.
    """
    scale = np.maximum(log_left, -745.0)
    drop = -np.expm1(np.minimum(log_right - log_left, 0.0))
    width = np.expm1(right - left)
    # Slopes over e^left.
    log_slope = scale + np.log(np.maximum(drop, 1e-300)) - np.log(width) - left
    touch = -mu * (ndtri(np.exp(np.clip(log_slope, -740.0, -1e-12))) + mu / 2)
    touch = np.clip(np.nan_to_num(touch), left, right)
    value = gaussian_log_delta(touch, np.asarray(mu)).lower
    log_tail = log_ndtr(-(touch / mu + mu / 2))
    room = 64 * ULP * (1 + np.abs(log_tail))

    def above(end: Array, goal: Array) -> npt.NDArray[np.bool_]:
        # G(touch) - P(L > touch) (e^end - e^touch), as a share of G(touch).
        move = np.expm1(end - touch)
        share = np.exp(log_tail + touch - value) * move
        share = share + np.abs(share) * room
        tangent = value + np.log1p(-np.minimum(share, 1.0))
        return (tangent - 8 * ULP * (1 + np.abs(value)) >= goal) | np.isneginf(goal)

    with np.errstate(divide="ignore", invalid="ignore"):
        return bool(np.all(above(left, log_left) & above(right, log_right)))


def mu_above(profiles: Sequence[LatticeProfile], least: float) -> float:
    """Return a mu whose Gaussian profile is above upper bounds of delta, at epsilon >= 0; or inf.

    Args:
        profiles: upper ones, by increasing tilts; the last covers the largest loss.
        least: a mu that is known to be too small.
    """
    pieces: list[tuple[Array, Array]] = []
    start = 0.0
    for i, profile in enumerate(profiles):
        at = _places(profile, start)
        if i + 1 < len(profiles):
            end = profiles[i + 1].window.first * profiles[i + 1].window.step
            at = at[: int(np.searchsorted(at, end)) + 1]
        if at.size < 2:
            continue
        at = np.append(start, at[at > start])
        pieces.append((at, profile.log_delta(at)))
        start = float(at[-1])
    left, right, low_left, low_right = (
        np.concatenate(x)
        for x in zip(*((a[:-1], a[1:], d[:-1], d[1:]) for a, d in pieces), strict=True)
    )
    low, high = least, max(2 * least, 1e-9)
    while not _holds(high, left, right, low_left, low_right):
        low, high = high, 2 * high
        if high > _MOST:
            return math.inf
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if _holds(middle, left, right, low_left, low_right):
            high = middle
        else:
            low = middle
    return high
