"""Counted hits: the sum of losses that are rarely large.

Each loss is cut at c, so that few losses exceed c in all: the hits. The composition is a sum over
the number of hits of each part. Each term composes the hits and the losses below c,

    Σ_κ Π C(n_i, κ_i) R_i^κ_i B_i^(n_i - κ_i),

where the bodies B are composed on a fine grid with the range of c, and moved to a coarse grid once;
the hits R lie on the coarse grid, with the range of the largest loss. All terms with more than m
hits have a mass of at most E^(m+1)/(m+1)! together, with E the expected number of hits. From above
this mass has an infinite loss; from below it is left out.
"""

import math
import operator
from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from itertools import product
from typing import NamedTuple, final

import numpy as np

from neyman.numerics._interval import Array, Interval
from neyman.numerics._lattice_sums._law import Grid, LatticeLaw, laws, lower_law
from neyman.numerics._lattice_sums._plan import (
    FIRST_LOG,
    Coarse,
    Ends,
    Part,
    Question,
    coarse_law,
    levels_within,
    look_at,
    saddle,
    tilt_at,
)
from neyman.numerics._lattice_sums._profile import LatticeProfile
from neyman.numerics._lattice_sums._source import (
    Atoms,
    ChordSource,
    LossSource,
    Masses,
    SourceTails,
)
from neyman.numerics._lattice_sums._whole import WholeLaw, whole_law
from neyman.numerics._lattice_sums._window import Powers, Tilt, Window, window
from neyman.numerics._primitives import exp, expm1, log
from neyman.overriding import override

__all__ = ["CountedHits"]

# The expected number of hits, and the most that are counted.
_EXPECTED, _MOST_HITS, _MOST_TERMS = 0.01, 8, 128
# Cells of the fine and of the coarse grid at the first level.
_FINE, _COARSE = 2**12, 2**11
# Cells that a level may handle, which takes some seconds: of it, and of the next ones, no more.
_MOST_CELLS = 2**25
# The share of delta that hits beyond those counted may add, at the first level.
_UNCOUNTED = 1e-3
# An infinite epsilon is read there, where no finite loss is left.
_FARTHEST = 1e6
_ALL = Tilt(0.0, -math.inf, math.inf, -1e200, 1e200)


class _Cut(NamedTuple):
    """Where the losses are cut.

    Attributes:
        ends: of each part's losses.
        place: c, a multiple of the coarse step.
        coarse: step of the hits' grid.
        fine: step of the bodies' grid, a fraction of it.
        tilt: of the bodies' composition, all but flat.
    """

    ends: Ends
    place: float
    coarse: float
    fine: float
    tilt: Tilt


@final
@dataclass(frozen=True, slots=True, eq=False)
class CountedHits:
    """The law of a sum of losses that are rarely large; as `LatticeSum`, by counting them.

    Attributes:
        parts: the losses, and how often each is taken.
    """

    parts: tuple[Part, ...]

    @property
    def levels(self) -> range:
        """The levels that a question goes through."""
        terms = math.comb(4 + len(self.parts), len(self.parts))
        cells = _FINE * 4 * (len(self.parts) + terms) + _COARSE * 8 * terms
        return levels_within(cells, _MOST_CELLS)

    def log_delta(self, epsilon: Array) -> Iterator[Interval]:
        """Bracket the logarithm of delta at each epsilon, level by level."""
        flat = np.clip(np.ravel(epsilon).astype(np.float64), -_FARTHEST, _FARTHEST)
        for level in self.levels:
            _, coarse = look_at(self.parts, FIRST_LOG, level)
            question = Question(float(np.max(flat)), inverse=False)
            found = self._profiles(saddle(coarse, question).log_delta, level)
            if found is None:
                return
            lower, upper = (profile.log_delta(flat).reshape(epsilon.shape) for profile in found)
            yield Interval(lower, upper)

    def epsilon(self, delta: Array) -> Iterator[Interval]:
        """Bracket the least epsilon >= 0 with delta(epsilon) <= delta, level by level."""
        flat = np.ravel(delta).astype(np.float64)
        for level in self.levels:
            found = self._profiles(math.log(max(float(np.min(flat)), 1e-300)), level)
            if found is None:
                return
            lower, upper = (profile.epsilon(flat).reshape(delta.shape) for profile in found)
            yield Interval(np.maximum(lower, 0.0), np.maximum(upper, 0.0))

    def _profiles(
        self, log_delta: float, level: int
    ) -> tuple[LatticeProfile, LatticeProfile] | None:
        log_delta = min(max(log_delta, -690.0), 0.0)
        cut = self._cut(log_delta, level)
        bodies, hits = self._cut_laws(cut)
        expected = Interval.exactly(
            sum(
                part.times * (float(np.sum(hit[1].masses)) + hit[1].infinite)
                for part, hit in zip(self.parts, hits, strict=True)
            )
        )
        enough = math.exp(log_delta) * _UNCOUNTED / 16**level
        tails = (_tail(expected, k).upper for k in range(_MOST_HITS))
        most = next((k for k, tail in enumerate(tails) if tail <= enough), _MOST_HITS)
        counts = [
            kappa
            for kappa in product(*(range(min(most, part.times) + 1) for part in self.parts))
            if sum(kappa) <= most
        ]
        if len(counts) > _MOST_TERMS:
            return None
        found = [
            self._sum([x[up] for x in bodies], [x[up] for x in hits], counts, cut, most, up=up)
            for up in (False, True)
        ]
        return LatticeProfile(found[0], up=False), LatticeProfile(found[1], up=True)

    def _cut(self, log_delta: float, level: int) -> _Cut:
        """Choose c and the grids."""
        ends, whole = look_at(self.parts, log_delta, level)
        places = np.concatenate([p for p, _, _ in whole.laws])
        masses = np.concatenate([np.exp(log) * times for _, log, times in whole.laws])
        order = np.argsort(-places)
        above = np.cumsum(masses[order])
        at = int(np.searchsorted(above, _EXPECTED))
        largest = max(end[1] for end in ends)
        least = min(end[0] for end in ends)
        coarse = max(largest, largest - least, 1e-9) / (_COARSE * 4**level)
        wanted = float(places[order][min(at, places.size - 1)])
        place = max(math.ceil(wanted / coarse), 1) * coarse
        bodies = Coarse(
            [
                (*coarse_law(_CutSource(part.upper, -math.inf, place), (low, place)), part.times)
                for part, (low, _) in zip(self.parts, ends, strict=True)
            ]
        )
        spread = math.sqrt(float(bodies.cumulants(np.zeros(1))[2][0]))
        tilt = tilt_at(bodies, 1e-9 / (1e-9 + spread), 20.0 - log_delta + level)
        span = max(tilt.high - tilt.low, place - min(low for low, _ in ends))
        fine = coarse / math.ceil(coarse * (_FINE * 4**level) / span)
        return _Cut(ends, place, coarse, fine, tilt)

    def _cut_laws(
        self, cut: _Cut
    ) -> tuple[list[tuple[LatticeLaw, LatticeLaw]], list[tuple[LatticeLaw, LatticeLaw]]]:
        """Return lower and upper laws of the bodies and of the hits."""
        bodies: list[tuple[LatticeLaw, LatticeLaw]] = []
        hits: list[tuple[LatticeLaw, LatticeLaw]] = []
        for part, (low, high) in zip(self.parts, cut.ends, strict=True):
            same = part.upper is part.lower
            for step, ends, found in (
                (cut.fine, (-math.inf, cut.place), bodies),
                (cut.coarse, (cut.place, math.inf), hits),
            ):
                upper = _CutSource(part.upper, *ends)
                lower = upper if same else _CutSource(part.lower, *ends)
                first, last = max(ends[0], low), min(ends[1], max(high, cut.place))
                grid = Grid(step, math.floor(first / step) - 1, math.ceil(last / step) + 1)
                found.append(laws(upper, lower, grid))
        return bodies, hits

    def _sum(
        self,
        bodies: list[LatticeLaw],
        hits: list[LatticeLaw],
        counts: list[tuple[int, ...]],
        cut: _Cut,
        most: int,
        *,
        up: bool,
    ) -> Window:
        """Return the law of the sum over all counts, on the coarse grid, on one side."""
        terms: list[tuple[int, Window]] = []
        for kappa in counts:
            body = self._body(bodies, kappa, cut, up=up)
            powers: Powers = [
                (body, 1),
                *((hit, k) for hit, k in zip(hits, kappa, strict=True) if k),
            ]
            ways = math.prod(
                math.comb(part.times, k) for part, k in zip(self.parts, kappa, strict=True)
            )
            terms.append((ways, window(powers, _ALL, _ALL.low)))
        first = min(term.first for _, term in terms)
        last = max(term.first + term.masses.upper.size for _, term in terms)
        masses, infinite = Interval.exactly(np.zeros(last - first)), Interval.exactly(0.0)
        for ways, term in terms:
            after = last - term.first - term.masses.upper.size
            r = term.masses * (exp(term.base) * ways)
            masses = masses + Interval(*(np.pad(end, (term.first - first, after)) for end in r))
            infinite = infinite + term.infinite * ways
        rest = self._uncounted(bodies, hits, most) if up else 0.0
        lowered = [term.lowered for _, term in terms]
        return Window(
            cut.coarse,
            first,
            0.0,
            Interval.exactly(0.0),
            masses,
            rest,
            infinite,
            reduce(Interval.smaller if up else Interval.larger, lowered),
        )

    def _body(
        self, bodies: list[LatticeLaw], kappa: tuple[int, ...], cut: _Cut, *, up: bool
    ) -> LatticeLaw:
        """Return the composition of the losses that are not hits, on the coarse grid."""
        powers: Powers = [
            (body, part.times - k)
            for body, part, k in zip(bodies, self.parts, kappa, strict=True)
            if part.times > k
        ]
        if not powers:
            grid = Grid(cut.coarse, 0, 1)
            return LatticeLaw(grid, np.array([1.0, 0.0]), 0.0)
        whole = whole_law(powers, window(powers, cut.tilt, cut.tilt.low), up=up)
        return _laid(whole, cut.coarse) if up else _laid_below(whole, cut.coarse)

    def _uncounted(self, bodies: list[LatticeLaw], hits: list[LatticeLaw], most: int) -> float:
        """Return an upper bound of the mass of more hits than are counted."""
        if most >= sum(part.times for part in self.parts):
            return 0.0
        log_whole, expected = Interval.exactly(0.0), Interval.exactly(0.0)
        for body, hit, part in zip(bodies, hits, self.parts, strict=True):
            mass, more = (
                Interval.exactly(law.masses).total() + law.infinite for law in (body, hit)
            )
            log_whole = log_whole + log(mass + more) * part.times
            expected = expected + more / (mass + more) * part.times
        bound = _tail(expected, most) * exp(log_whole)
        return float(bound.upper)


def _tail(expected: Interval, most: int) -> Interval:
    """Bound the probability that more than `most` of independent events happen."""
    return reduce(operator.mul, [expected / k for k in range(1, most + 2)])


def _laid(law: WholeLaw, step: float) -> LatticeLaw:
    """Return an upper law on a coarser grid: each mass is split between its neighbours."""
    losses = law.losses
    low = math.floor(float(losses.lower[0]) / step) - 1
    grid = Grid(step, low, math.ceil(float(losses.upper[-1]) / step) + 1)
    # A loss that rounding puts into the next cell has a share of 0 or 1 there.
    k = np.floor((losses / step).upper)
    left = Interval.exactly(k) * step
    share = (expm1(left - losses) / expm1(Interval.exactly(-step))).clip(0.0, 1.0)
    right = (share * law.masses).upper
    rest = (Interval.exactly(law.masses) - right).larger(0).upper
    at = k.astype(np.int64) - low
    both = Interval.exactly(np.append(rest, right)).binned(np.append(at, at + 1), grid.index.size)
    return LatticeLaw(grid, both.upper, law.infinite)


def _laid_below(law: WholeLaw, step: float) -> LatticeLaw:
    """Return a lower law on a coarser grid, by cells of many atoms."""
    kept = law.masses > 0
    if not np.any(kept):
        return LatticeLaw(Grid(step, 0, 1), np.zeros(2), law.infinite)
    losses = law.losses.middle[kept]
    source = ChordSource(losses, law.p.upper[kept], law.masses[kept], law.infinite)
    grid = Grid(
        step, math.floor(float(losses[0]) / step) - 1, math.ceil(float(losses[-1]) / step) + 1
    )
    return lower_law(source, grid)


@final
@dataclass(frozen=True, slots=True, eq=False)
class _CutSource(LossSource):
    """The part of a loss in (low, high]. Infinite losses belong to (low, inf] only.

    An atom belongs to the interval that holds an upper bound of its loss.

    Attributes:
        source: the whole loss.
        low: may be -inf.
        high: may be inf.
    """

    source: LossSource
    low: float
    high: float

    @override
    def tails(self, t: Array) -> SourceTails:
        shape, order = np.shape(t), np.argsort(np.ravel(t))
        p, q = self.cells(np.ravel(t)[order], exact=True)
        back = np.argsort(order)

        def below(mass: Interval) -> Interval:
            sums = mass.running().at(slice(-1)).at(back)
            return Interval(sums.lower.reshape(shape), sums.upper.reshape(shape))

        def above(mass: Interval) -> Interval:
            sums = mass.at(slice(None, None, -1)).running().at(slice(-2, None, -1)).at(back)
            return Interval(sums.lower.reshape(shape), sums.upper.reshape(shape))

        return SourceTails(above(p), above(q), below(p), below(q))

    @property
    @override
    def atoms(self) -> Atoms:
        p, q = self.source.atoms
        place = (log(q) - log(p)).upper
        kept = (place > self.low) & (place <= self.high)
        return Atoms(p.at(kept), q.at(kept))

    @property
    @override
    def reach(self) -> tuple[float, float]:
        least, largest = self.source.reach
        return max(least, self.low), min(largest, self.high)

    @property
    @override
    def only_q(self) -> tuple[float, float]:
        return self.source.only_q if self.high == np.inf else (0.0, 0.0)

    @property
    @override
    def only_p(self) -> tuple[float, float]:
        return self.source.only_p if self.low == -np.inf else (0.0, 0.0)

    @override
    def cells(self, t: Array, *, exact: bool) -> Masses:
        inner = np.clip(t, self.low, self.high)
        ends = np.concatenate(([self.low], inner, [self.high]))
        found = self.source.cells(ends, exact=exact)
        # Between equal thresholds there is nothing, not even rounding.
        nothing = Interval.exactly(0.0)
        return Masses(
            *(Interval.where(np.diff(ends) > 0, m.at(slice(1, -1)), nothing) for m in found)
        )
