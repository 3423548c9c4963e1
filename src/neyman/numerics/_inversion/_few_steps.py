"""delta of few steps of a mixture of normals, where one large step decides.

The line of the whole law does not decay there. `_largest_step` divides the law instead.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

import numpy as np
import numpy.typing as npt

from neyman.numerics._bracket import Array
from neyman.numerics._interval import Interval
from neyman.numerics._inversion._largest_step import LargestStep, Plan
from neyman.numerics._laws._loss_law import LossSum
from neyman.numerics._laws._shifts import Shifts
from neyman.numerics._root import proved_root

__all__ = ["FewSteps"]

# The largest number of steps and of expected hits; with few steps, hits are not limited.
_MOST_STEPS, _MOST_HITS, _FEW = 3000, 4.0, 20
# With fewer expected hits, lines of the whole law are long.
_RARELY = 0.5
# Means beyond lie off the grids.
_FARTHEST = 16.0
# Relative widths that are worth no other line: of a few values, and of a curve's.
_NARROW, _CURVE, _SINGLE = 5e-10, 1e-8, 16
_TRIALS, _STEP = 3, 0.25
_LOWEST_LOG = -700.0


@final
@dataclass(frozen=True, slots=True)
class FewSteps:
    """`count` steps with P = N(0, 1) and Q a mixture of means >= 0."""

    q: Shifts
    count: int

    @classmethod
    def of(cls, law: LossSum) -> "FewSteps | None":
        """Return the steps of a sum of losses; None if it has another form, or too many steps."""
        if len(law.terms) != 1:
            return None
        term, count, reversed_ = law.terms[0]
        q = term.from_one_normal(reversed_=reversed_)
        if q is None or count != int(count) or not 2 <= count <= _MOST_STEPS:
            return None
        if q.far > _FARTHEST or (count > _FEW and q.moved * count > _MOST_HITS):
            return None
        return cls(q, int(count))

    @property
    def rarely_hit(self) -> bool:
        """Whether a record is in hardly any of the steps. No short line is accurate then."""
        return self.q.moved * self.count < _RARELY

    def _one(self, t: Array) -> Array:
        """Estimate log delta of a single step."""
        z = np.arange(-8.0, 80.0, _STEP)
        means, weights = np.asarray(self.q.means)[:, None], np.asarray(self.q.weights)[:, None]
        loss = np.logaddexp.reduce(np.log(weights) + means * z - means * means / 2, axis=0)
        gap = loss - t[:, None]
        with np.errstate(divide="ignore"):
            log = t[:, None] - z * z / 2 + np.where(gap > 0, gap, 0)
            log = log + np.log(-np.expm1(-np.maximum(gap, 0.0)))
        return np.logaddexp.reduce(log, axis=1) + math.log(_STEP / math.sqrt(2 * math.pi))

    def log_tail(self, t: Array) -> Interval:
        """Bracket log delta at thresholds t >= 0; where nothing is found, by -inf and 0."""
        lower, upper = np.full(t.shape, -np.inf), np.zeros(t.shape)
        for group, _, found in self.served(t, _NARROW if t.size <= _SINGLE else _CURVE):
            lower[group] = np.maximum(lower[group], found.lower)
            upper[group] = np.minimum(upper[group], found.upper)
        return Interval(lower, upper)

    def served(
        self, t: Array, narrow: float
    ) -> Iterator[tuple[npt.NDArray[np.intp], LargestStep, Interval]]:
        """Yield contours, each with the indices of its thresholds and its brackets.

        Args:
            t: thresholds >= 0.
            narrow: a relative width that needs no other contour.
        """
        waiting = [np.argsort(t)] if t.size else []
        while waiting:
            group = waiting.pop()
            middle = group.size // 2
            good = np.zeros(group.size, dtype=bool)
            here = self._near(float(t[group[middle]]))
            if here is not None:
                found = here.log_bracket(t[group])
                good = found.upper - found.lower <= narrow
                yield group, here, found
            # Thresholds without a narrow bracket get contours of their own, on either side.
            good[middle] = True
            parts = group[:middle][~good[:middle]], group[middle + 1 :][~good[middle + 1 :]]
            waiting += [part for part in parts if part.size]

    def _near(self, t: float) -> LargestStep | None:
        # One step, from which the others take what they lose without a hit.
        lost = 1.2 * (self.count - 1) * min(self.q.moved, 0.5)
        floor = float(self._one(np.asarray([t * (1 + 1e-3) + 1e-9 + lost]))[0])
        if not floor > _LOWEST_LOG:
            return None
        return Plan.of(self.q, self.count, floor, t).near(t)

    def threshold(self, asked: Interval) -> Interval:
        """Bracket the t >= 0 with this log delta(t); (-inf, inf) where no line was found.

        From -inf to 0 where delta(0) is proved to be less.
        """
        log_tail = float(asked.middle)
        plan, t, falls = self._start(log_tail)
        low, high = -math.inf, math.inf
        if falls:
            start = plan.near(0.0)
            if start is not None and np.all(start.log_bracket(np.zeros(1)) <= asked):
                return Interval(np.asarray(low), np.zeros(()))
        for _ in range(_TRIALS):
            here = plan.near(t)
            if here is None:
                break
            slope = np.asarray([1 - here.tilt(t)])
            target, start_at = np.asarray([log_tail]), np.asarray([t])
            found = proved_root(here.log_bracket, here.middle, target, start_at, slope)
            # Each end is proved by itself.
            low, high = max(low, float(found.lower[0])), min(high, float(found.upper[0]))
            if not math.isfinite(high - low) or high - low <= _NARROW * abs(high):
                break
            t = max((low + high) / 2, 0.0)
        return Interval(np.asarray(low), np.asarray(high))

    def _start(self, log_tail: float) -> tuple[Plan, float, bool]:
        """Return a plan, an estimate of the threshold, and whether it may be below 0."""
        single = np.geomspace(1e-12, 700.0, 90)
        above = np.flatnonzero(self._one(single) >= log_tail)
        least = float(single[above[-1]]) if above.size else 1e-9
        plan = Plan.of(self.q, self.count, log_tail, least)
        grid = np.concatenate([[0.0], np.geomspace(1e-3 * least, 1e3 * least + 10, 100)])
        guess = plan.log_tail(grid)
        t = float(np.interp(-log_tail, -np.minimum.accumulate(guess), grid))
        if t < 0.7 * least:
            plan = Plan.of(self.q, self.count, log_tail, t)
        return plan, t, t <= 0 or float(guess[0]) < log_tail + 3
