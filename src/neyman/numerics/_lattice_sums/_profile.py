"""The privacy profile of a window of a composition, and its inverse, from above or from below."""

import math
from dataclasses import dataclass, field
from typing import final

import numpy as np
import numpy.typing as npt

from neyman.numerics._interval import Array, Interval
from neyman.numerics._lattice_sums._window import Window
from neyman.numerics._primitives import exp, expm1, log, log1p, log_sum

__all__ = ["LatticeProfile"]

# So often a guess is moved twice as far as before; after a few times, only where it helps.
_WIDENINGS, _FEW = 80, 3
_NOTHING, _ALL = Interval.exactly(-math.inf), Interval.exactly(0.0)


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

    def _safe(self, bounds: Interval) -> Array:
        """Return the end of an argument, or of a goal, at which more is proved than is needed."""
        return bounds.lower if self.up else bounds.upper

    def log_delta(self, epsilon: Array) -> Array:
        """Return a bound of log delta, on one side, at real arguments."""
        log_whole = self._log_whole(epsilon)
        if not self.spared:
            return log_whole
        whole = Interval.exactly(log_whole)
        return (whole + log1p((exp(-whole) * -self.spared).larger(-1))).lower

    def _log_whole(self, epsilon: Array) -> Array:
        w = self.window
        x = self._safe(Interval.decimal(epsilon) + w.lowered + self.later)
        k: Array = np.ceil(np.clip(x / w.step, -(2.0**50), 2.0**50))
        # Rounding may put x beside its cell: behind it from above, before it from below.
        behind, place = (Interval.exactly(at) * w.step for at in (k - 1, k))
        k = k - (behind.upper >= x) if self.up else k + (place.lower < x)
        inside = np.clip(k - w.first, 0, self.sums.size - 1)
        j = inside.astype(np.int64)
        f = (Interval.exactly(k) * w.step - x).clip(0.0, w.step)
        sums, excess = (Interval.within(one[j], w.scan_error) for one in (self.sums, self.excess))
        log_mass = w.logs(inside) + log(exp(-f) * excess - expm1(-f) * sums)
        log_mass = Interval.where(k - w.first >= self.sums.size, _NOTHING, log_mass)
        found = log_sum(log_mass, log(Interval.exactly(self.rest)))
        if not self.up:
            return found.lower
        # Left of the window the profile is larger than at its first point, and below 1.
        return Interval.where(k < w.first, _ALL, found).smaller(0).upper

    def epsilon(self, delta: Array) -> Array:
        """Return a bound of the least epsilon with delta(epsilon) <= delta; inf if there is none.

        A lower bound of -inf means "below the window".
        """
        w, base = self.window, float(self.window.base.middle)
        whole = Interval.decimal(delta) + self.spared
        with np.errstate(divide="ignore", invalid="ignore"):
            left = np.log(np.maximum(whole.middle - self.rest, 0.0))
            places = base - w.tilt * np.arange(self.sums.size) + np.log(self.excess)
            j = places.size - np.searchsorted(places[::-1], left, side="right")
            j = np.clip(j, 0, places.size - 1)
            target = np.exp(np.minimum(left - base + w.tilt * j, 700.0))
            rise = self.sums[j] - self.excess[j]
            share = np.clip(np.nan_to_num((target - self.excess[j]) / rise), 0.0, 1.0)
            f, slope = -np.log1p(-share), rise / (self.excess[j] + share * rise)
        guess = (j + w.first) * w.step - np.minimum(f, w.step) - w.lowered.middle - self.later
        return self._proved(guess, self._safe(log(whole)), slope)

    def _reaches(self, goal: Array, epsilon: Array) -> npt.NDArray[np.bool_]:
        value = self._log_whole(epsilon)
        # Nothing is proved of an epsilon at which a delta of 0 is only not excluded.
        return value <= goal if self.up else (value >= goal) & (value > -np.inf)

    def _proved(self, guess: Array, goal: Array, slope: Array) -> Array:
        """Move the guesses until the profile is seen to be on the right side of its goal."""
        side = 1 if self.up else -1
        with np.errstate(all="ignore"):
            off = side * (self._log_whole(guess) - goal) / slope
        pad = self.window.step * 1e-12 + 2.0**-52 * np.abs(guess)
        pad = pad + np.where(np.isfinite(off), np.clip(off, 0.0, self.window.step), 0.0)
        found = np.full(guess.shape, np.inf if self.up else -np.inf)
        for n in range(_WIDENINGS):
            at = guess + side * pad
            found = np.where(np.isinf(found) & self._reaches(goal, at), at, found)
            missing = np.isinf(found)
            if n == _FEW and np.any(missing):
                # The profile is monotone: what the widest does not reach, none before it does.
                widest = guess + side * pad * 2.0 ** (_WIDENINGS - 1 - n)
                missing &= self._reaches(goal, widest)
            if not np.any(missing):
                break
            pad = 2 * pad
        if not self.up:
            least = log(Interval.exactly(self.rest)).lower
            found = np.where(least > goal, np.inf, found)
        return found
