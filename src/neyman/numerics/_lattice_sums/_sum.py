"""The sum of independent losses: finer and finer brackets of its profile."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np
import numpy.typing as npt

from neyman.numerics._interval import Array, Interval
from neyman.numerics._lattice_sums._law import laws, upper_law
from neyman.numerics._lattice_sums._mu import mu_above, mu_below
from neyman.numerics._lattice_sums._plan import (
    LEVELS,
    Part,
    Plan,
    Question,
    grid_by,
    grid_of,
    levels_within,
    plan,
    plan_whole,
)
from neyman.numerics._lattice_sums._profile import LatticeProfile
from neyman.numerics._lattice_sums._source import LossSource
from neyman.numerics._lattice_sums._whole import part_of, whole_law
from neyman.numerics._lattice_sums._window import Powers, Window, log_total, lowered, window
from neyman.numerics._primitives import exp, log

__all__ = ["Divergences", "LatticeSum", "WholeProfile"]

# Cells of the longest part, or of the window, at the first level; four times as many at the next.
_FIRST_CELLS = 2**13
# The most cells in memory, about 60 bytes each: of every part, and of temporary arrays.
_MOST_HELD, _BESIDE = 2**24, 3
# An infinite epsilon is read there, where no finite loss is left.
_FARTHEST = 1e6
# The share of delta at which the upper law may exceed the sum by much.
_MISSED = 1e-4
# Logarithms of deltas at which a profile is read as a whole, and of the mass that is cut then.
_RUNGS, _UNCUT = (-1e-3, -2.0, -6.0, -15.0, -30.0, -60.0, -120.0, -240.0, -480.0), -690.0
_LOWEST_RUNG, _FAR_RUNGS = -60.0, (-640.0, -120.0, -40.0)
# Divergences of smaller orders are bounded by the one of this.
_NEAR_ONE = 1e-3
# The share of delta that rounding may cause at the first level before another tilt is tried, and
# the number of tilts that are tried.
_QUIET, _MOST_TILTS = 1e-5, 16
# How often a window that begins beyond the answer is moved to the left.
_LEFTWARDS = 8


@final
@dataclass(frozen=True, slots=True, eq=False)
class WholeProfile:
    """Bounds by several tilts; each tilt gives close bounds for deltas of some size."""

    below: tuple[LatticeProfile, ...]
    above: tuple[LatticeProfile, ...]

    def log_delta(self, epsilon: Array) -> Interval:
        """Bracket log delta at real arguments."""
        at = np.clip(epsilon, -_FARTHEST, _FARTHEST)
        lower = np.max([each.log_delta(at) for each in self.below], axis=0)
        upper = np.min([each.log_delta(at) for each in self.above], axis=0)
        return Interval(lower, upper)

    def epsilon(self, delta: Array) -> Interval:
        """Bracket the least epsilon >= 0 with delta(epsilon) <= delta."""
        lower = np.max([each.epsilon(delta) for each in self.below], axis=0)
        upper = np.min([each.epsilon(delta) for each in self.above], axis=0)
        return Interval(np.maximum(lower, 0.0), np.maximum(upper, 0.0))


@final
@dataclass(frozen=True, slots=True, eq=False)
class Divergences:
    """Upper bounds of the Rényi divergences of a sum of losses, by its upper law.

    The law's masses bound E_P e^(aL) for every a >= 1, since a spread raises it.
    """

    powers: Powers

    @property
    def rest(self) -> float:
        """Bound of the mass that is left out: delta is at most that of the divergences, and it."""
        total = sum((n * Fraction(law.infinite) for law, n in self.powers), Fraction(0))
        return float(Interval.of(total).upper)

    def __call__(self, order: Array) -> Array:
        """Return the bounds at orders above 1."""
        a = np.maximum(order, 1 + _NEAR_ONE) - 1
        totals = [log_total(self.powers, x).upper for x in a.ravel().tolist()]
        bounds = Interval.exactly(np.reshape(totals, a.shape)) / a - lowered(self.powers)
        return bounds.upper


@final
@dataclass(frozen=True, slots=True, eq=False)
class LatticeSum:
    """The law of a sum of independent losses, read on finer and finer grids.

    Every question is answered by an iterator of brackets, one a level. A level takes four times
    the cells of the one before, and about a sixteenth of its width. The brackets depend on the
    question and on the level only, never on the clock.

    Attributes:
        parts: the losses, and how often each is taken.
        step: of the grid; None where each level finds its own. With a step there is one level, and
            losses are cut as at the last.

    Raises:
        InvalidParameter: from every question, if the step makes too many cells.
    """

    parts: tuple[Part, ...]
    step: float | None = None

    @property
    def levels(self) -> range:
        """The levels that a question goes through."""
        if self.step is not None:
            return range(LEVELS - 1, LEVELS)
        # The first in any case.
        return levels_within((len(self.parts) + _BESIDE) * _FIRST_CELLS, _MOST_HELD) or range(1)

    @staticmethod
    def cells(level: int) -> int:
        """Return the most cells of a law, or of a window, at a level."""
        return _FIRST_CELLS * 4**level

    def log_delta(self, epsilon: Array) -> Iterator[Interval]:
        """Bracket the logarithm of delta at each epsilon, level by level."""
        flat = np.clip(np.ravel(epsilon).astype(np.float64), -_FARTHEST, _FARTHEST)
        beyond = flat > self._largest
        if np.all(beyond):
            nothing = np.full(epsilon.shape, -np.inf)
            yield Interval(nothing, nothing)
            return
        questions = [Question(float(x), inverse=False) for x in flat]
        for level in self.levels:
            lower, upper = np.full(flat.shape, -np.inf), np.zeros(flat.shape)
            quiet = _QUIET / 16**level
            for below, above, is_open in self._profiles(questions, level):
                lower = np.max([lower, *(b.log_delta(flat) for b in below)], axis=0)
                upper = np.minimum(upper, above.log_delta(flat))
                is_open[(above.noise(flat) <= quiet) | (upper <= lower + quiet)] = False
            for rung in _FAR_RUNGS:
                # So far out that hardly a loss is left: what is known of small deltas.
                if not np.any(untold := (upper == 0) & (flat > 0) & ~beyond):
                    break
                _, above = self._readings(Question(rung, inverse=True), level)
                upper[untold] = above.log_delta(flat[untold])
            upper[beyond] = -np.inf
            yield Interval(lower.reshape(epsilon.shape), upper.reshape(epsilon.shape))

    @property
    def _largest(self) -> float:
        """An upper bound of the sum; infinite if a loss may be infinite."""
        if any(part.upper.only_q[1] > 0 for part in self.parts):
            return math.inf
        losses = (_largest_of(part.upper) * part.times for part in self.parts)
        return float(sum(losses, Interval.exactly(0.0)).upper)

    def epsilon(self, delta: Array) -> Iterator[Interval]:
        """Bracket the least epsilon >= 0 with delta(epsilon) <= delta, level by level."""
        flat = np.ravel(delta).astype(np.float64)
        with np.errstate(divide="ignore"):
            questions = [Question(float(x), inverse=True) for x in np.log(flat)]
        for level in self.levels:
            known = Interval(np.zeros(flat.shape), np.full(flat.shape, np.inf))
            quiet, before = _QUIET / 16**level, np.zeros(flat.shape, dtype=np.bool_)
            for below, above, is_open in self._profiles(questions, level):
                known, found, before = _nearer(known, flat, below, above)
                settled = known.upper <= known.lower * (1 + quiet)
                is_open[(above.noise(found) <= quiet) | settled] = False
            for _ in range(_LEFTWARDS):
                # If the saddle was misplaced, the answer lies before the window.
                if not np.any(before):
                    break
                place = float(known.upper[before][0]) / 2
                reading = self._readings(Question(place, inverse=False), level)
                known, _, before = _nearer(known, flat, *reading)
            lower, upper = known
            yield Interval(lower.reshape(delta.shape), upper.reshape(delta.shape))

    def _profiles(
        self, questions: list[Question], level: int
    ) -> Iterator[tuple[list[LatticeProfile], LatticeProfile, npt.NDArray[np.bool_]]]:
        """Yield profiles from below and above by tilts that suit one question after the other.

        Also yield a mask of the open questions, in which the caller marks those that are answered.
        """
        open_ = np.ones(len(questions), dtype=np.bool_)
        for _ in range(_MOST_TILTS):
            if not np.any(open_):
                return
            at = int(np.flatnonzero(open_)[0])
            open_[at] = False
            below, above = self._readings(questions[at], level)
            yield below, above, open_

    def _readings(
        self, question: Question, level: int
    ) -> tuple[list[LatticeProfile], LatticeProfile]:
        """Return profiles from below, and one from above, by the tilt that suits a question."""
        found = plan(self.parts, question, level)
        lowers, uppers = self._laws(found, level)
        low, high = (window(powers, found.tilt, found.least) for powers in (lowers, uppers))
        below = [LatticeProfile(low, up=False)]
        # The upper law's distance is to the loss of its source: that must be the loss itself.
        known = all(part.upper is part.lower for part in self.parts)
        if known and any(part.lower.atoms.q.upper.size for part in self.parts):
            below.append(_coupled(uppers, high, found.log_delta))
        return below, LatticeProfile(high, up=True)

    def _laws(self, found: Plan, level: int) -> tuple[Powers, Powers]:
        if self.step is None:
            grids = grid_of(self.parts, found, self.cells(level))
        else:
            most = min(self.cells(level), _MOST_HELD // (len(self.parts) + _BESIDE))
            grids = grid_by(self.parts, found, self.step, most)
        both = [
            (*laws(part.upper, part.lower, grid), part.times)
            for part, grid in zip(self.parts, grids, strict=True)
        ]
        return [(low, n) for low, _, n in both], [(high, n) for _, high, n in both]

    def profile(self, level: int) -> "WholeProfile":
        """Return the profile from delta near 1 down to about 1e-40, to be read at many points."""
        below: list[LatticeProfile] = []
        above: list[LatticeProfile] = []
        for log_delta in _RUNGS:
            if log_delta >= _LOWEST_RUNG:
                lower, upper = self._readings(Question(log_delta, inverse=True), level)
                below.extend(lower)
                above.append(upper)
        return WholeProfile(tuple(below), tuple(above))

    def mu(self) -> Iterator[tuple[float, float]]:
        """Bracket the least mu whose Gaussian profile is above the sum's at every epsilon >= 0.

        The other half of the guarantee is that of the swapped losses. Infinite above if a loss is
        infinite, or has no largest value.
        """
        for level in self.levels:
            below: list[LatticeProfile] = []
            above: list[LatticeProfile] = []
            for log_delta in _RUNGS:
                found = plan(self.parts, Question(log_delta, inverse=True), level, _UNCUT)
                lowers, uppers = self._laws(found, level)
                low, high = (window(x, found.tilt, found.least) for x in (lowers, uppers))
                if above and high.first <= above[-1].window.first:
                    continue
                below.append(LatticeProfile(low, up=False))
                above.append(LatticeProfile(high, up=True))
            least = mu_below(below)
            closed = any(each.rest == 0 for each in above)
            yield least, mu_above(above, least) if closed else math.inf

    def divergences(self, level: int, log_mass: float) -> "Divergences":
        """Return the Rényi divergences of the sum, bounded from above, but for a small mass.

        Args:
            level: of the grid.
            log_mass: logarithm of about what may be left out.
        """
        grids = grid_of(self.parts, plan_whole(self.parts, log_mass, level), self.cells(level))
        laws = [
            (upper_law(part.upper, grid), part.times)
            for part, grid in zip(self.parts, grids, strict=True)
        ]
        return Divergences(laws)

    def part(self, level: int, log_mass: float, times: int = 1) -> Part:
        """Return the sum as a loss to be sampled, and summed again.

        Args:
            level: of the grid.
            log_mass: logarithm of about what may be left out.
            times: how often the loss is to be taken.
        """
        found = plan_whole(self.parts, log_mass, level)
        powers = self._laws(found, level)
        low, high = (
            whole_law(each, window(each, found.tilt, found.least), up=up)
            for up, each in zip((False, True), powers, strict=True)
        )
        return part_of(low, high, times)


def _nearer(
    known: Interval, delta: Array, below: list[LatticeProfile], above: LatticeProfile
) -> tuple[Interval, Array, npt.NDArray[np.bool_]]:
    """Return brackets of epsilon by one more reading, its upper end, and what lies before it."""
    lower = np.max([known.lower, *(each.epsilon(delta) for each in below)], axis=0)
    found = np.maximum(above.epsilon(delta), 0.0)
    upper = np.minimum(known.upper, found)
    start = (above.window.first + 1) * above.window.step
    return Interval(lower, upper), found, (upper > lower) & (upper > 0) & (upper <= start)


def _largest_of(source: LossSource) -> Interval:
    """Return a bound of the finite losses, of the atoms too."""
    p, q = (mass.at(source.atoms.q.upper > 0) for mass in source.atoms)
    most = float(np.max((log(q) - log(p)).upper, initial=-np.inf))
    least, largest = source.reach
    return Interval.exactly(max(most, largest if least < largest else -np.inf))


def _coupled(powers: Powers, found: Window, log_delta: float) -> LatticeProfile:
    """Return a lower bound by the upper law: its losses exceed the sum's by little, mostly.

    A step's excess has a mean of at most h^2/8 and moves by h: Hoeffding's inequality.
    """
    count = sum(n for _, n in powers)
    # Grid points are rounded, and so their distances.
    step = Interval.exactly(found.step) + 2 * max(law.grid.rounding for law, _ in powers)
    missed = _MISSED * math.exp(max(log_delta, -690.0))
    tail = -log(Interval.exactly(missed))
    whole, moved = Interval.exactly(0.0), Interval.exactly(0.0)
    for law, n in powers:
        mass = Interval.exactly(law.masses).total() + law.infinite
        whole, moved = whole + log(mass.larger(1)) * n, moved + Interval.exactly(law.moved) * n
    # The upper law's points lie a rounding above the grid: here they count below it.
    later = step.squared() * count / 8 + step * (tail * count / 2).sqrt() + found.lowered * -4
    spared = moved * exp(whole) + missed
    return LatticeProfile(found, up=False, later=float(later.upper), spared=float(spared.upper))
