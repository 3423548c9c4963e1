"""The privacy profile of a window of a composition, and its inverse, from above or from below."""

import math
from dataclasses import dataclass, field
from typing import final

import numpy as np

from neyman.numerics._bracket import ULP, Array
from neyman.numerics._lattice_sums._window import Window

__all__ = ["LatticeProfile"]

_WIDENINGS = 80


@final
@dataclass(frozen=True, slots=True, eq=False)
class LatticeProfile:
    """delta(epsilon) of a law on a grid, as an upper or as a lower bound.

    Attributes:
        window: of the composition.
        up: whether the bounds are upper ones.
        later: a lower bound is read at an epsilon larger by that.
        spared: mass that is taken off a lower bound.
    """

    window: Window
    up: bool
    later: float = 0.0
    spared: float = 0.0
    sums: Array = field(init=False)
    excess: Array = field(init=False)

    def __post_init__(self) -> None:
        """Scan the window once."""
        sums, excess = self.window.scans(up=self.up)
        object.__setattr__(self, "sums", sums)
        object.__setattr__(self, "excess", excess)

    def noise(self, epsilon: Array) -> Array:
        """Return about the share of delta that the rounding of the transform may have made."""
        w = self.window
        error = float(np.max(w.masses.upper - w.masses.lower, initial=0.0))
        flat = 1 / -np.expm1(-w.tilt) - 1 / -np.expm1(-w.tilt - w.step)
        j = np.ceil(np.clip(epsilon / w.step, -(2.0**50), 2.0**50)) - w.first
        inside = (j >= 0) & (j < self.sums.size)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = error * flat / self.excess[np.where(inside, j, 0).astype(np.int64)]
        return np.where(inside, share, np.inf)

    @property
    def rest(self) -> float:
        """The mass whose loss is infinite, or beyond the window."""
        w = self.window
        return float(w.infinite.upper) + w.beyond if self.up else float(w.infinite.lower)

    def _error(self) -> float:
        return self.window.base_error + self.window.scan_error + 8 * ULP

    def log_delta(self, epsilon: Array) -> Array:
        """Return a bound of log delta, on one side, at real arguments."""
        log = self._log_whole(epsilon)
        if not self.spared:
            return log
        with np.errstate(divide="ignore", over="ignore"):
            share = np.minimum(self.spared * np.exp(-log) * (1 + 2 * ULP), 1.0)
            return log + np.log1p(-share) - ULP * np.where(share < 1, np.abs(log), 0.0)

    def _log_whole(self, epsilon: Array) -> Array:
        w, side, move = self.window, 1 if self.up else -1, self.window.lowered + self.later
        x = epsilon + move
        x = x - side * ULP * (np.abs(epsilon) + np.abs(move))
        k: Array = np.ceil(np.clip(x / w.step, -(2.0**50), 2.0**50))
        k = np.where(k * w.step < x, k + 1, k)
        j = np.clip(k - w.first, 0, self.sums.size - 1).astype(np.int64)
        f = np.clip(k * w.step - x, 0.0, w.step)
        with np.errstate(divide="ignore", invalid="ignore"):
            value = -np.expm1(-f) * self.sums[j] + np.exp(-f) * self.excess[j]
            log = w.base - w.tilt * j + np.log(value) + side * self._error()
            log = np.where(k - w.first >= self.sums.size, -np.inf, log)
            log = np.logaddexp(log, np.log(self.rest) + side * ULP)
            # Left of the window the profile is larger than at its first point, and below 1.
            if self.up:
                log = np.where(k < w.first, 0.0, log)
            log = log + side * np.where(np.isfinite(log), ULP * (1 + np.abs(log)), 0.0)
        return np.minimum(log, 0.0)

    def epsilon(self, delta: Array) -> Array:
        """Return a bound of the least epsilon with delta(epsilon) <= delta; inf if there is none.

        -inf stands for "below the window" among the lower bounds.
        """
        w = self.window
        whole = delta + self.spared
        with np.errstate(divide="ignore", invalid="ignore"):
            goal = np.log(whole)
            left = np.log(np.maximum(whole - self.rest, 0.0))
            places = w.base - w.tilt * np.arange(self.sums.size) + np.log(self.excess)
            j = places.size - np.searchsorted(places[::-1], left, side="right")
            j = np.clip(j, 0, places.size - 1)
            target = np.exp(np.minimum(left - w.base + w.tilt * j, 700.0))
            share = (target - self.excess[j]) / (self.sums[j] - self.excess[j])
            f = -np.log1p(-np.clip(np.nan_to_num(share), 0.0, 1.0))
        guess = (j + w.first) * w.step - np.minimum(f, w.step) - w.lowered - self.later
        return self._proved(np.asarray(guess, dtype=np.float64), goal)

    def _proved(self, guess: Array, goal: Array) -> Array:
        """Move the guesses until the profile is seen to be on the right side of its goal."""
        side = 1 if self.up else -1
        goal = goal - side * 2 * ULP * (1 + np.abs(np.where(np.isfinite(goal), goal, 0.0)))
        pad = self.window.step * 1e-12 + 2.0**-52 * np.abs(guess)
        found = np.full(guess.shape, np.inf if self.up else -np.inf)
        for _ in range(_WIDENINGS):
            at = guess + side * pad
            value = self._log_whole(at)
            # Nothing is proved of an epsilon at which a delta of 0 is only not excluded.
            holds = value <= goal if self.up else (value >= goal) & (value > -np.inf)
            found = np.where(np.isinf(found) & holds, at, found)
            if np.all(np.isfinite(found)):
                break
            pad = 2 * pad
        if not self.up:
            least = math.log(self.rest) if self.rest > 0 else -np.inf
            found = np.where(least > goal, np.inf, found)
        return found
