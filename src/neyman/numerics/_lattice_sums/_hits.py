"""Counted hits: the sum of losses that are rarely large.

Each loss is cut at c, so that few losses exceed c in all: the hits. The composition is the sum,
over how many hits each part has, of hits and of what stays below c,

    Σ_κ Π C(n_i, κ_i) R_i^κ_i B_i^(n_i - κ_i),

where the bodies B are composed on a fine grid, of the range of c, and laid on a coarse one once;
the hits R live on the coarse grid, of the range of the largest loss. More than a few hits have
together at most E^(m+1)/(m+1)!, with E the expected number of hits: that is an infinite loss from
above and nothing from below.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple, final

import numpy as np

from neyman.numerics._bracket import ULP, Array, Bracket
from neyman.numerics._lattice_sums._cut import CutSource
from neyman.numerics._lattice_sums._law import Grid, LatticeLaw, laws, lower_law, right_shares
from neyman.numerics._lattice_sums._plan import (
    FIRST_LOG,
    Coarse,
    Ends,
    Part,
    Question,
    coarse_law,
    look_at,
    saddle,
    tilt_at,
)
from neyman.numerics._lattice_sums._profile import LatticeProfile
from neyman.numerics._lattice_sums._source import ChordSource
from neyman.numerics._lattice_sums._whole import WholeLaw, whole_law
from neyman.numerics._lattice_sums._window import Powers, Tilt, Window, window

__all__ = ["CountedHits"]

# The expected number of hits, and the most that are counted.
_EXPECTED, _MOST_HITS, _MOST_TERMS = 0.01, 8, 128
# Cells of the fine and of the coarse grid at the first level.
_FINE, _COARSE, _LEVELS = 2**12, 2**11, 5
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
        return range(next((k for k in range(_LEVELS) if cells * 4**k > _MOST_CELLS), _LEVELS))

    def log_delta(self, epsilon: Array) -> Iterator[Bracket]:
        """Bracket the logarithm of delta at each epsilon, level by level."""
        flat = np.clip(np.ravel(epsilon).astype(np.float64), -_FARTHEST, _FARTHEST)
        for level in self.levels:
            _, coarse = look_at(self.parts, FIRST_LOG, level)
            question = Question(float(np.max(flat)), inverse=False)
            found = self._profiles(saddle(coarse, question).log_delta, level)
            if found is None:
                return
            lower, upper = (profile.log_delta(flat).reshape(epsilon.shape) for profile in found)
            yield Bracket(lower, upper)

    def epsilon(self, delta: Array) -> Iterator[Bracket]:
        """Bracket the least epsilon >= 0 with delta(epsilon) <= delta, level by level."""
        flat = np.ravel(delta).astype(np.float64)
        for level in self.levels:
            found = self._profiles(math.log(max(float(np.min(flat)), 1e-300)), level)
            if found is None:
                return
            lower, upper = (profile.epsilon(flat).reshape(delta.shape) for profile in found)
            yield Bracket(np.maximum(lower, 0.0), np.maximum(upper, 0.0))

    def _profiles(
        self, log_delta: float, level: int
    ) -> tuple[LatticeProfile, LatticeProfile] | None:
        log_delta = min(max(log_delta, -690.0), 0.0)
        cut = self._cut(log_delta, level)
        bodies, hits = self._cut_laws(cut)
        expected = sum(
            part.times * (float(np.sum(hit[1].masses)) + hit[1].infinite)
            for part, hit in zip(self.parts, hits, strict=True)
        )
        enough = math.exp(log_delta) * _UNCOUNTED / 16**level
        most = next((k for k in range(_MOST_HITS) if _tail(expected, k) <= enough), _MOST_HITS)
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
                (*coarse_law(CutSource(part.upper, -math.inf, place), (low, place)), part.times)
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
                upper = CutSource(part.upper, *ends)
                lower = upper if same else CutSource(part.lower, *ends)
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
        terms: list[tuple[float, Window]] = []
        for kappa in counts:
            body = self._body(bodies, kappa, cut, up=up)
            powers: Powers = [
                (body, 1),
                *((hit, k) for hit, k in zip(hits, kappa, strict=True) if k),
            ]
            ways = math.prod(
                math.comb(part.times, k) for part, k in zip(self.parts, kappa, strict=True)
            )
            terms.append((float(ways), window(powers, _ALL, _ALL.low)))
        first = min(term.first for _, term in terms)
        last = max(term.first + term.masses.upper.size for _, term in terms)
        masses, infinite = np.zeros(last - first), 0.0
        for ways, term in terms:
            error = (8 * ULP + term.base_error) * (1 if up else -1)
            share = ways * math.exp(term.base) * (1 + error)
            r = term.masses.upper if up else term.masses.lower
            start = term.first - first
            masses[start : start + r.size] += share * r
            infinite += ways * float(term.infinite.upper if up else term.infinite.lower)
        rest = self._uncounted(bodies, hits, most) if up else 0.0
        room = 4 * ULP * len(terms) * (1 if up else -1)
        masses, infinite = masses * (1 + room), infinite * (1 + room)
        lowered = [term.lowered for _, term in terms]
        return Window(
            cut.coarse,
            first,
            0.0,
            0.0,
            Bracket(masses, masses),
            rest,
            Bracket(np.asarray(infinite), np.asarray(infinite)),
            min(lowered) if up else max(lowered),
        )

    def _body(
        self, bodies: list[LatticeLaw], kappa: tuple[int, ...], cut: _Cut, *, up: bool
    ) -> LatticeLaw:
        """Return the composition of what is not hit, laid on the coarse grid."""
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
        log, expected = 0.0, 0.0
        for body, hit, part in zip(bodies, hits, self.parts, strict=True):
            mass, more = (float(np.sum(law.masses)) + law.infinite for law in (body, hit))
            log += part.times * math.log(mass + more)
            expected += part.times * more / (mass + more)
        return _tail(expected, most) * math.exp(log) * (1 + 1e-6)


def _tail(expected: float, most: int) -> float:
    """Return a bound of the probability of more than so many of independent events."""
    return expected ** (most + 1) / math.factorial(most + 1)


def _laid(law: WholeLaw, step: float) -> LatticeLaw:
    """Return an upper law on a coarser grid: each mass is split between its neighbours."""
    losses = law.losses
    low = math.floor(float(losses[0]) / step) - 1
    grid = Grid(step, low, math.ceil(float(losses[-1]) / step) + 1)
    # A loss that rounding puts into the next cell has a share of 0 or 1.
    k = np.floor(losses / step + 4 * ULP * (1 + np.abs(losses / step))).astype(np.int64) - low
    share = right_shares(losses, grid.losses[k], step)
    right = law.masses * share
    masses = np.zeros(grid.last - low + 1)
    masses += np.bincount(k, weights=law.masses - right, minlength=masses.size)
    masses += np.bincount(k + 1, weights=right, minlength=masses.size)
    room = 1 + ULP * (4 + law.masses.size / masses.size)
    return LatticeLaw(grid, masses * room, law.infinite, -4 * ULP * grid.size)


def _laid_below(law: WholeLaw, step: float) -> LatticeLaw:
    """Return a lower law on a coarser grid, by cells of many atoms."""
    losses, kept = law.losses, law.masses > 0
    if not np.any(kept):
        return LatticeLaw(Grid(step, 0, 1), np.zeros(2), law.infinite)
    losses, q = losses[kept], law.masses[kept]
    p = q * np.exp(-losses) * (1 + 2 * ULP * (2 + np.abs(losses)))
    source = ChordSource(losses, p, q, law.infinite)
    grid = Grid(
        step, math.floor(float(losses[0]) / step) - 1, math.ceil(float(losses[-1]) / step) + 1
    )
    return lower_law(source, grid)
