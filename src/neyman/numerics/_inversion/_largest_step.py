"""Few steps of a mixture law: delta by the place of the largest step.

Cuts a_1 < a_2 < ... of the place z of one step (`CutGrid`) telescope the law of n of them,

    P^n = [χ_1 P]^n + ([χ_2 P]^n - [χ_1 P]^n) + ... + (P^n - [χ_m P]^n),

into positive measures, and delta(t) into positive terms: those that matter have a line each, at
their own saddles; the others are bounded. Nothing is evaluated in the bulk, where the loss hardly
changes and e^(iul) does not decay.
"""

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias, final

import numpy as np
import numpy.typing as npt

from neyman.numerics._interval import Array, Interval
from neyman.numerics._inversion._contour import Contour
from neyman.numerics._inversion._cut_law import CutGrid
from neyman.numerics._inversion._cut_line import Term, cut_line, power_bound
from neyman.numerics._laws._shifts import Shifts
from neyman.numerics._primitives import exp, log, log_peak
from neyman.numerics._special import log_ndtr

__all__ = ["LargestStep", "Plan"]

Places: TypeAlias = npt.NDArray[np.intp]
_LEFT = 30.0
_GUESS = 4.0
_TILTS, _NEAR = 56, 25
_DEARER, _LEAST_TILT = 2.0, 1.5
_LOWEST, _HIGHEST = -3.0, 80.0
_GAPS = 3.0
_SPOILED, _DEEPEST = 3.0, 4


@final
@dataclass(frozen=True, slots=True)
class LargestStep:
    """Contours of the terms that matter, and bounds of the others."""

    contours: tuple[Contour, ...]
    bounded: tuple[tuple[Array, Array], ...]

    def middle(self, t: Array) -> Array:
        """Estimate log delta(t)."""
        return np.logaddexp.reduce([line.middle(t) for line in self.contours], axis=0)

    def tilt(self, t: float) -> float:
        """Estimate 1 - d log delta / dt."""
        sizes = [float(line.middle(np.asarray([t]))[0]) for line in self.contours]
        return self.contours[int(np.argmax(sizes))].c

    def log_bracket(self, t: Array) -> Interval:
        """Bracket log delta(t)."""
        logs = [line.log_bracket(t) for line in self.contours]
        nothing = np.full(t.shape, -np.inf)
        for points, values in self.bounded:
            logs.append(Interval(nothing, power_bound(points, values, t)))
        top = np.max([one.upper for one in logs], axis=0)
        top = np.where(np.isfinite(top), top, 0.0)
        total = Interval.exactly(np.zeros(t.shape))
        for one in logs:
            total = total + exp(one - top)
        return (top + log(total)).smaller(0.0)


@final
@dataclass(frozen=True, slots=True)
class Plan:
    """Sums over the levels between neighbouring cuts, at a few tilts."""

    grid: CutGrid
    count: int
    cuts: Array  # from -inf to the top
    c: Array
    log_levels: Array  # bounds of log (I_g over [a_i, a_(i+1)]), a row for each level
    log_below: Array  # the same up to a_(i+1)
    steepest: Array  # the largest tilt of each level

    @classmethod
    def of(cls, q: Shifts, count: int, log_floor: float, t: float) -> "Plan":
        """Cut from -2 to where nothing is left.

        Args:
            q: the means and weights of Q; P is N(0, 1).
            count: of steps.
            log_floor: about the log of the least delta of interest; a smaller one costs time only.
            t: about the least threshold of interest.
        """
        last = _top(q, count, log_floor - _LEFT - _GUESS)
        # The size of small losses: tilts go up to a hundred over it.
        unit = min(_loss_at(q, q.far / 2 + 1), q.moved)
        steepest = min(2 * (40 - log_floor) / max(t, 1e-300), 100 / unit)
        grid = CutGrid.over(q, last, steepest, min(log_floor, 0.0))
        gap = _GAPS * grid.rise
        ends = last - gap * np.arange(math.ceil((last - _LOWEST) / gap), -1.0, -1.0)
        cuts = np.concatenate([[-np.inf], ends, [np.inf]])
        c = 1 + np.geomspace(0.02, min(max(steepest, 10.0), grid.steepest(0.0) / 2), _TILTS)
        levels = np.stack([grid.between(a, b) for a, b in pairwise(cuts.tolist())])
        pairs = list(pairwise(cuts.tolist()))
        alias = np.stack([grid.log_alias(a, b, c) for a, b in pairs])
        log = np.logaddexp(_log_sums(grid, levels, c), alias) + grid.slack(c) + 1e-12
        steepest = np.asarray([grid.steepest(b) for _, b in pairs])
        return cls(grid, count, cuts, c, log, np.logaddexp.accumulate(log, axis=0), steepest)

    def log_term(self, low: int, high: int) -> Array:
        """Bound log W of the term between two cuts from above, at the tilts."""
        return self._log_terms(self._inner(low, high), np.asarray([high - 1]))[0]

    def _inner(self, low: int, high: int) -> Array:
        return np.logaddexp.reduce(self.log_levels[low:high], axis=0)[None]

    def _log_terms(self, inner: Array, top: Places) -> Array:
        """Bound log W of terms, from the logs of their levels' sums; `top` is the highest level."""
        found = self._log_power(inner, self.log_below[top])
        return np.where(self.c < self.steepest[top, None], found, np.inf)

    def _log_power(self, inner: Array, whole: Array) -> Array:
        n, below = self.count, Interval.exactly(whole)
        once = below * (n - 1) + inner + log(np.asarray(float(n)))
        return (below * n).smaller(once).upper

    def bounds(self, inner: Array, top: Places, t: float) -> Array:
        """Return the least bounds of the logs of terms at t."""
        values = self._log_terms(inner, top) + log_peak.function(self.c) - (self.c - 1) * t
        return np.where(np.isfinite(values), values, np.inf).min(axis=1)

    def bound(self, low: int, high: int, t: float) -> float:
        """Return the same of one term."""
        return float(self.bounds(self._inner(low, high), np.asarray([high - 1]), t)[0])

    def near(self, t: float) -> LargestStep | None:
        """Return brackets of log delta near t; None where the terms take too much."""
        levels = self.cuts.size - 1
        each = np.arange(levels)
        alone = self.bounds(self.log_levels, each, t)
        total = float(np.logaddexp.reduce(alone)) - _GUESS
        if not math.isfinite(total):
            return None
        below = self.bounds(self.log_below[:-1], each[:-1], t)
        low = int(np.flatnonzero(np.append(True, below < total - _LEFT))[-1])
        rest: Array = np.logaddexp.accumulate(self.log_levels[::-1], axis=0)[::-1][low + 1 :]
        above = self.bounds(rest, np.full(levels - 1 - low, levels - 1), t)
        high = low + 1 + int(np.flatnonzero(np.append(above < total - _LEFT, True))[0])
        outside = [(a, b) for a, b in ((0, low), (high, levels)) if a < b]
        bounded = [(self.c, self.log_term(*pair)) for pair in outside]
        found: list[Contour] = []
        if not _collect(self, (low, high), t, total, (found, bounded), _DEEPEST):
            return None
        return LargestStep(tuple(found), tuple(bounded))

    def log_tail(self, t: Array) -> Array:
        """Estimate log delta at thresholds by the bounds of each level."""
        values = self._log_terms(self.log_levels, np.arange(self.cuts.size - 1))
        values = values + log_peak.function(self.c)
        lift = np.outer(t, self.c - 1)
        least = [np.min(row - lift, axis=1) for row in values]
        return np.logaddexp.reduce(least, axis=0) - _GUESS / 2

    def term(self, low: int, high: int, t: float, log_size: float) -> Term:
        """Return the term with its saddle, sought between the tilts around it."""
        values = self.log_term(low, high) - (self.c - 1) * t - np.log(self.c * (self.c - 1))
        values = np.where(np.isfinite(values), values, np.inf)
        c = _dearer(self.c, values)
        ends, grid = (float(self.cuts[low]), float(self.cuts[high])), self.grid
        near = 1 + (c - 1) * np.geomspace(0.6, 1.6, _NEAR)
        below = -math.inf, ends[1]
        sums = _log_sums(grid, np.stack([grid.between(*ends), grid.cut(ends[1])]), near)
        alias = np.stack([grid.log_alias(*pair, near) for pair in (ends, below)])
        sums = np.logaddexp(sums, alias) + grid.slack(near) + 1e-12
        values = np.where(near < self.steepest[high - 1], self._log_power(*sums), np.inf)
        height = values - (near - 1) * t - np.log(near * (near - 1))
        height = np.where(np.isfinite(height), height, np.inf)
        best = _dearer(near, height)
        points = np.concatenate([self.c, near])
        known = np.concatenate([self.log_term(low, high), values])
        good = np.isfinite(known)
        order = np.argsort(points[good])
        return Term(
            *ends,
            self.count,
            best,
            points[good][order],
            known[good][order],
            log_size,
            t,
        )


def _dearer(c: Array, height: Array) -> float:
    """Return the saddle's tilt; next to the pole a larger one, which has fewer nodes."""
    best = float(c[int(np.argmin(height))])
    fair = (height <= height.min() + _DEARER) & (c <= max(best, _LEAST_TILT))
    return float(c[np.flatnonzero(fair)[-1]])


def _log_sums(grid: CutGrid, weights: Array, c: Array) -> Array:
    """Return the logs of the sums of φ B^c times each row of weights, a column for each c."""
    log = grid.log_base + c[:, None] * grid.loss
    # Each row by itself: what is large far out must not drown what is small near by.
    found = np.full((weights.shape[0], c.size), -np.inf)
    with np.errstate(divide="ignore"):
        logs = np.log(weights)
    for i, row in enumerate(logs):
        most = float(row.max())
        if most == -np.inf:
            continue
        keep = row > min(most, 0.0) - 690
        part = log[:, keep] + row[keep]
        top = part.max(axis=1)
        found[i] = top + np.log(np.exp(part - top[:, None]).sum(axis=1))
    return found


def _loss_at(q: Shifts, z: float) -> float:
    means, weights = np.asarray(q.means), np.asarray(q.weights)
    return float(np.log1p(weights @ np.expm1(means * z - means * means / 2)))


def _top(q: Shifts, count: int, log_left: float) -> float:
    """Return where Q has less than e^log_left left in `count` steps."""
    z = np.arange(0.5, _HIGHEST, 0.25)
    means, weights = np.asarray(q.means)[:, None], np.asarray(q.weights)[:, None]
    with np.errstate(divide="ignore"):
        log = np.logaddexp.reduce(np.log(weights) + log_ndtr(means - z), axis=0)
    good = np.flatnonzero(log + math.log(count) <= log_left)
    return float(z[good[0]]) if good.size else _HIGHEST


def _collect(
    plan: Plan,
    ends: tuple[int, int],
    t: float,
    total: float,
    into: tuple[list[Contour], list[tuple[Array, Array]]],
    depth: int,
) -> bool:
    """Lay the line of a term, or those of both its halves."""
    low, high = ends
    bound = plan.bound(low, high, t)
    if bound < total - _LEFT:
        into[1].append((plan.c, plan.log_term(low, high)))
        return True
    alone = plan.bounds(plan.log_levels[low:high], np.arange(low, high), t)
    spoiled = bound > float(np.logaddexp.reduce(alone)) + _SPOILED
    made = None if spoiled else cut_line(plan.grid, plan.term(low, high, t, total))
    if made is not None:
        into[0].append(made)
        return True
    if depth == 0 or high - low < 2:
        return False
    middle = (low + high) // 2
    return all(
        _collect(plan, part, t, total, into, depth - 1) for part in ((low, middle), (middle, high))
    )
