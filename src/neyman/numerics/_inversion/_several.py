"""The epsilons of several sums of the same losses, by lines that share their nodes.

The cumulant of m copies of one loss and n of another is m K + n K'. Along a training the counts
alone differ, so sums whose saddles lie close together take one line: each cumulant is evaluated on
it once, and every sum has weights and bounds of its own. The proofs for each sum are those that
`_contour` and `_both_ways` give for it alone (docs/theory/contour.md).
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np
import numpy.typing as npt

from neyman.numerics._bracket import Array
from neyman.numerics._disc import Disc
from neyman.numerics._interval import Interval
from neyman.numerics._inversion._contour import DELTA
from neyman.numerics._inversion._contours import Contours, sums_of
from neyman.numerics._inversion._lines import Place, planned
from neyman.numerics._inversion._tails import SHORT, Places, asked
from neyman.numerics._laws._loss_law import LossLaw, LossSum, Span, SumNodes
from neyman.numerics._root import proved_roots

__all__ = ["Several"]

# Sums share a line if their saddles are within this many spreads of it, and their spreads have at
# most this ratio.
_HALF_WIDTH, _ALIKE = 1.0, 2.0
# Tilts of the sketch, less 1: the least, the largest of the first block, the ratio of later blocks,
# and the gap between blocks.
_LEAST, _FIRST, _FURTHER, _NEXT = 1e-4, 12.0, 4.0, 1.1
_FEW, _MORE, _BLOCKS = 48, 12, 12
# How many tilts of the other direction are tried, and the largest over the first direction's.
_TRIED, _STEEPER = 8, 4.0
# The share of the usable strip that is sketched.
_INSIDE = 0.9
# A sum with a wider bracket, over 1 + epsilon, gets a line of its own.
_WIDE = 1e-7


class _Saddles(NamedTuple):
    """Estimates of each sum's tilt, threshold and spread at a saddle; nan if there is none."""

    c: Array
    threshold: Array
    spread: Array


@final
@dataclass(frozen=True, slots=True)
class _Sketch:
    """Estimates along c for each sum: the threshold whose saddle is c, the tail, the spread."""

    c: Array
    threshold: Array
    log_tail: Array
    spread: Array

    @classmethod
    def of(cls, nodes: Sequence[SumNodes], counts: Array, c: Array) -> "_Sketch":
        """Add the sketches of the losses."""
        parts = [one.sketch(c) for one in nodes]
        with np.errstate(invalid="ignore"):
            value = counts @ np.stack([part.value for part in parts])
            slope = counts @ np.stack([part.slope for part in parts])
            curvature = counts @ np.stack([part.curvature for part in parts])
        threshold = slope - 1 / (c - 1) - 1 / c
        spread = np.sqrt(np.maximum(curvature, 0.0) + 1 / (c - 1) ** 2)
        log = value - (c - 1) * threshold - DELTA.log_denominator(c)
        return cls(c, threshold, log - np.log(np.sqrt(2 * np.pi) * spread), spread)

    def joined(self, other: "_Sketch") -> "_Sketch":
        """Return both; the other is of larger tilts."""
        return _Sketch(
            np.concatenate([self.c, other.c]),
            np.concatenate([self.threshold, other.threshold], axis=1),
            np.concatenate([self.log_tail, other.log_tail], axis=1),
            np.concatenate([self.spread, other.spread], axis=1),
        )

    def at_tail(self, log_tail: float) -> _Saddles:
        """Return the saddle of each sum at which the tail has this logarithm."""
        return self._between(-self.log_tail, np.full(len(self.log_tail), -log_tail))

    def at_threshold(self, t: Array) -> _Saddles:
        """Return the saddles of thresholds."""
        return self._between(self.threshold, t)

    def _between(self, rising: Array, wanted: Array) -> _Saddles:
        """Interpolate at the place where each row first reaches the wanted value."""
        reached = rising >= wanted[:, None]
        after = np.argmax(reached, axis=1)
        inside = np.any(reached, axis=1) & (after > 0)
        row: Places = np.arange(after.size, dtype=np.intp)
        after = np.maximum(after, 1)
        low, high = rising[row, after - 1], rising[row, after]
        with np.errstate(invalid="ignore", divide="ignore"):
            share = np.where(inside, (wanted - low) / (high - low), np.nan)

        def between(values: Array) -> Array:
            return values[row, after - 1] * (1 - share) + values[row, after] * share

        tilts = np.broadcast_to(np.log(self.c - 1), rising.shape)
        return _Saddles(1 + np.exp(between(tilts)), between(self.threshold), between(self.spread))


@final
@dataclass(frozen=True, slots=True)
class Several:
    """Sums of the same losses, which share nodes for both directions.

    Attributes:
        parts: the losses.
        counts: how often each sum has each of them, a row for each sum.
        two: whether the reversed losses are a second direction; then the larger sum counts.
    """

    parts: tuple[LossSum, ...]
    counts: Array
    two: bool

    @classmethod
    def of(cls, sums: Sequence[LossSum], *, two: bool) -> "Several | None":
        """Gather the losses of sums; None where some have no lines to share."""
        places: dict[tuple[LossLaw, bool], int] = {}
        for one in sums:
            for law, _, back in one.terms:
                places.setdefault((law, back), len(places))
        if not all(law.wide for law, _ in places):
            return None
        counts = np.zeros((len(sums), len(places)))
        for row, one in zip(counts, sums, strict=True):
            for law, count, back in one.terms:
                row[places[law, back]] += count
        return cls(tuple(LossSum(((law, 1.0, back),)) for law, back in places), counts, two)

    def threshold(self, log_delta: float) -> Interval:
        """Bracket the t >= 0 at which the larger delta of each sum has the logarithm `log_delta`.

        Both ends are proved; they are 0 and infinity where shared lines tell little of a sum.
        """
        lower, upper = np.zeros(len(self.counts)), np.full(len(self.counts), np.inf)
        sketches = self._sketches(log_delta)
        if sketches is None:
            return Interval(lower, upper)
        ways = [sketch.at_tail(log_delta) for sketch in sketches]
        apart = (ways[1].threshold > ways[0].threshold) & self.two
        for back, larger in ((False, ~apart), (True, apart)):
            first = ways[back]
            # Beyond the largest loss of the other direction it has no saddle.
            beside = np.nan_to_num(sketches[not back].at_threshold(first.threshold).c, nan=np.inf)
            open_ = larger & (first.threshold > 0)
            waiting = list(_groups(first, np.flatnonzero(open_)))
            while waiting:
                group = waiting.pop()
                found = self._bracket(group, back, first, beside, log_delta)
                if found is not None:
                    lower[group], upper[group] = found
                elif group.size > 1:
                    # The sum with the least spread decides the length of the line.
                    wide = group[np.argsort(first.spread[group], kind="stable")]
                    waiting += [part[np.argsort(first.c[part])] for part in np.array_split(wide, 2)]
        return Interval(lower, upper)

    def _sketches(self, log_delta: float) -> list[_Sketch] | None:
        """Sketch both directions up to tilts at which the tails are below `log_delta`."""
        least, most = LossSum(tuple(part.terms[0] for part in self.parts)).usable
        end, first, high, steps = min(most, 1 - least) - 1, _LEAST, _FIRST, _FEW
        found: list[_Sketch] = []
        for _ in range(_BLOCKS):
            high = min(high, _INSIDE * end)
            if high <= first:
                break
            nodes = [part.sketched(_both(high)) for part in self.parts]
            ways = nodes, [part.reversed() for part in nodes]
            c = 1 + np.geomspace(first, high, steps)
            more = [_Sketch.of(way, self.counts, c) for way in ways]
            found = [a.joined(b) for a, b in zip(found, more, strict=True)] if found else more
            if all(np.all(sketch.log_tail[:, -1] < log_delta) for sketch in more):
                break
            first, high, steps = high * _NEXT, high * _FURTHER, _MORE
        return found or None

    def _bracket(
        self, group: Places, back: bool, first: _Saddles, beside: Array, log_delta: float
    ) -> Interval | None:
        """Bracket the thresholds of a group by one line, and bound the other direction."""
        shared, first = self._shared(group), _Saddles(*(row[group] for row in first))
        tilt = float(np.mean(first.c[[0, -1]]))
        plan = shared.planned(back, tilt, first)
        if plan is None:
            return None
        u, points = plan
        other = np.clip(beside[group], 1 + _LEAST, _STEEPER * tilt)
        far = max(float(points[-1]), float(other.max())) - 1
        nodes = [part.prepared(_both(far, float(u[-1]))) for part in shared.parts]
        ways = nodes, [one.reversed() for one in nodes]
        line = Contours.of(ways[back], shared.counts, tilt, u, points)
        if line is None:
            return None
        target, slope = (np.full(group.size, x) for x in (log_delta, DELTA.shift - tilt))
        found = proved_roots(line.log_bracket, line.middle, target, first.threshold, slope)
        lower, upper = (np.maximum(end, 0.0) for end in found)
        good = (upper < np.inf) & (upper <= lower + _WIDE * (1 + upper))
        if self.two:
            # At 0 both directions have one delta.
            open_ = np.flatnonzero(good & (found.upper > 0))
            asked_for = (
                shared.counts[open_],
                other[open_],
                u,
                lower[open_],
                asked(target).lower[open_],
            )
            good[open_] = _smaller(ways[not back], *asked_for)
        return Interval(np.where(good, lower, 0.0), np.where(good, upper, np.inf))

    def _shared(self, group: Places) -> "Several":
        """Return some of the sums, with the losses that all have equally often as one part."""
        counts = self.counts[group]
        same = np.all(counts == counts[0], axis=0)
        common = [
            term
            for part, n in zip(self.parts, counts[0] * same, strict=True)
            if n
            for term in part.times(int(n)).terms
        ]
        parts = [part for part, alike in zip(self.parts, same, strict=True) if not alike]
        varied = counts[:, ~same]
        if not common:
            return Several(tuple(parts), varied, self.two)
        counts = np.concatenate([varied, np.ones((len(counts), 1))], axis=1)
        return Several((*parts, LossSum(tuple(common))), counts, self.two)

    def planned(self, back: bool, c: float, saddles: _Saddles) -> tuple[Array, Array] | None:
        """Choose heights, and points of the strip, that serve the sums at the ends."""
        top = 2 * c + _FIRST
        parts = [part.sketched(_both(top)) for part in self.parts]
        heights, steps, points = 0.0, math.inf, np.zeros(0)
        ends = 0, len(self.counts) - 1, *(int(f(saddles.spread)) for f in (np.argmin, np.argmax))
        for i in set(ends):
            terms = [
                (inner, count * n, turned)
                for part, n in zip(parts, self.counts[i].tolist(), strict=True)
                for inner, count, turned in part.terms
                if n
            ]
            near = SumNodes(tuple(terms))
            near = near.reversed() if back else near
            law = LossSum(tuple(part.terms[0] for part in self.parts))
            law = law.reversed() if back else law
            place = Place(c, float(saddles.spread[i]), near, 1 + top)
            plan = planned(law, DELTA, place, saddles.threshold[i : i + 1], SHORT)
            if plan is None:
                return None
            heights, steps = max(heights, float(plan.u[-1])), min(steps, plan.step)
            points = np.union1d(points, plan.sparse().points)
        return steps * np.arange(math.ceil(heights / steps) + 1.0), points


def _smaller(
    nodes: Sequence[SumNodes], counts: Array, tilts: Array, u: Array, t: Array, most: Array
) -> npt.NDArray[np.bool_]:
    """Return which sums' delta is proved to be at most e^most at t: by Chernoff, then by a line.

    Args:
        nodes: of each loss.
        counts: of the losses, a row for each sum.
        tilts: about where each sum's saddle is.
        u: heights of the line.
        t: thresholds, one for each sum.
        most: logarithms.
    """
    good = np.zeros(t.shape, dtype=bool)
    if not t.size:
        return good
    room = float(tilts.min()) - 1, float(tilts.max()) - 1
    points: Array = 1 + np.geomspace(*room, _TRIED)
    values = sums_of([Disc.exactly(one.most(points)) for one in nodes], counts).upper
    bounds = (values + DELTA.log_chernoff(points)) - (Interval.exactly(points) - 1) * t[:, None]
    good |= np.any(bounds.upper <= most[:, None], axis=1)
    if not np.all(good):
        tilt = float(np.mean(tilts[~good]))
        line = Contours.of(nodes, counts, tilt, u, np.asarray([tilt]))
        if line is not None:
            good |= line.log_bracket(t, np.arange(t.size)).upper <= most
    return good


def _both(far: float, height: float = 0.0) -> Span:
    """Return what nodes are prepared for that serve both directions up to a tilt."""
    return Span(-far, 1 + far, height)


def _groups(saddles: _Saddles, which: Places) -> Iterator[Places]:
    """Yield sums that share a line, in the order of their tilts."""
    order = which[np.argsort(saddles.c[which], kind="stable")]
    start = 0
    while start < order.size:
        c, spread = saddles.c[order[start:]], saddles.spread[order[start:]]
        widest, least = np.maximum.accumulate(spread), np.minimum.accumulate(spread)
        apart = ((c - c[0]) * widest > 2 * _HALF_WIDTH) | (widest > _ALIKE * least)
        stop = start + (int(np.argmax(apart)) if np.any(apart) else c.size)
        yield order[start:stop]
        start = stop
