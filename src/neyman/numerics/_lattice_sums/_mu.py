"""The least mu whose Gaussian profile is above that of a lattice, and a lower bound of it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
import numpy.typing as npt

from neyman.numerics._distributions._normal import gaussian_log_delta
from neyman.numerics._interval import Array, Interval, quiet
from neyman.numerics._lattice_sums._profile import LatticeProfile
from neyman.numerics._primitives import exp, expm1, log1p, normal_log_sf
from neyman.numerics._special import ndtri

__all__ = ["mu_above", "mu_below"]

_HALVINGS, _POINTS = 50, 400
_MOST = 64.0
# How often chords are divided, and the relative width at which the search ends.
_DIVISIONS, _CLOSE = 40, 1e-10


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

    Only at epsilon >= 0: the swapped loss covers the rest.
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


@final
@dataclass(frozen=True, slots=True)
class _Chords:
    """Upper bounds of log delta at increasing losses, with a chord above delta between two."""

    profiles: Sequence[LatticeProfile]
    at: Array
    log: Array

    @classmethod
    def over(cls, profiles: Sequence[LatticeProfile], at: Array) -> "_Chords":
        """Read the profiles at some losses; each of them bounds delta everywhere."""
        return cls(profiles, at, np.min([each.log_delta(at) for each in profiles], axis=0))

    @quiet
    def held(self, mu: float) -> npt.NDArray[np.bool_]:
        """Return, for each chord, whether the Gaussian profile is proved to be above it.

        Both are functions of e^epsilon, and the profile is convex: a tangent of it that is above
        both ends of a chord proves it. The best one touches where the slopes agree.
        """
        left, right, log_left, log_right = self.at[:-1], self.at[1:], self.log[:-1], self.log[1:]
        scale = np.maximum(log_left, -745.0)
        drop = -np.expm1(np.minimum(log_right - log_left, 0.0))
        width = np.expm1(right - left)
        # Slopes over e^left.
        log_slope = scale + np.log(np.maximum(drop, 1e-300)) - np.log(width) - left
        touch = -mu * (ndtri(np.exp(np.clip(log_slope, -740.0, -1e-12))) + mu / 2)
        touch = np.clip(np.nan_to_num(touch), left, right)
        value = gaussian_log_delta(touch, np.asarray(mu)).lower
        place = Interval.exactly(touch)
        log_tail = normal_log_sf(place / Interval.decimal(mu) + Interval.decimal(mu) / 2)
        # Of G(touch): P(L > touch) e^touch.
        steep = exp(log_tail + place - value)

        def above(end: Array, goal: Array) -> npt.NDArray[np.bool_]:
            # G(touch) - P(L > touch) (e^end - e^touch), as a share of G(touch).
            share = steep * expm1(Interval.exactly(end) - place)
            tangent = log1p((-share).larger(-1)) + value
            return (tangent.lower >= goal) | np.isneginf(goal)

        return above(left, log_left) & above(right, log_right)

    def least(self, low: float, high: float) -> float:
        """Return about the least mu between two whose profile is above all chords; high is one."""
        for _ in range(_HALVINGS):
            if high <= low * (1 + _CLOSE):
                break
            middle = (low + high) / 2
            low, high = (low, middle) if np.all(self.held(middle)) else (middle, high)
        return high

    def divided(self, chosen: npt.NDArray[np.bool_]) -> "_Chords":
        """Return it with some chords cut into four, but for those within a step of a lattice."""
        step = min(each.window.step for each in self.profiles)
        left, width = self.at[:-1], np.diff(self.at)
        chosen = chosen & (width > step)
        more = (left[chosen] + np.outer((0.25, 0.5, 0.75), width[chosen])).ravel()
        return self if not more.size else _Chords.over(self.profiles, np.union1d(self.at, more))


def mu_above(profiles: Sequence[LatticeProfile], least: float) -> float:
    """Return a mu whose Gaussian profile is above upper bounds of delta, at epsilon >= 0; or inf.

    Args:
        profiles: upper ones; at least one of them covers the largest loss.
        least: a mu that is known to be too small.
    """
    ends = [each.window.first * each.window.step for each in profiles[1:]] + [math.inf]
    read = (_places(each, 0.0) for each in profiles)
    kept = [at[: int(np.searchsorted(at, end)) + 1] for at, end in zip(read, ends, strict=True)]
    at = np.unique(np.concatenate([np.zeros(1), *kept]))
    if at.size < 2:
        return math.inf
    chords = _Chords.over(profiles, at)
    high = max(2 * least, 1e-9)
    while not np.all(chords.held(high)):
        high = 2 * high
        if high > _MOST:
            return math.inf
    high = chords.least(least, high)
    for _ in range(_DIVISIONS):
        if high <= least * (1 + _CLOSE):
            break
        # The chords that keep it from coming closer, until those of single steps do.
        finer = chords.divided(~chords.held(high - (high - least) / 4))
        if not np.all(finer.held(high * (1 - _CLOSE))):
            break
        chords = finer
        high = chords.least(least, high)
    return high
