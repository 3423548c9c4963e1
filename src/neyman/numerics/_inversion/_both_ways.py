"""delta of a loss and of the reversed one, the larger of the two, by one grid of nodes.

The cumulant of the reversed loss is K(1 - s), so that nodes for both sides of the unit interval
serve both. One direction is bracketed. The other is only shown to be smaller, by Chernoff's bound
or by the upper side of a line of its own (docs/theory/contour.md, 7).
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np

from neyman.numerics._bracket import Array
from neyman.numerics._interval import Interval
from neyman.numerics._inversion._contour import DELTA, Contour
from neyman.numerics._inversion._lines import Plan, ceiling, laid, planned
from neyman.numerics._inversion._tails import (
    SHORT,
    ContourTails,
    Places,
    Sketch,
    asked,
    groups,
)
from neyman.numerics._laws._loss_law import LossSum, Span, SumNodes
from neyman.numerics._root import proved_root

__all__ = ["BothWays"]

# Chernoff's bound is relied on if the sketched log delta exceeds it by at least this.
_ROOM = 0.05
# Tilts that are tried for the other direction, as multiples of the first one's.
_TILTS = 2.0 ** np.linspace(-1.0, 3.0, 12)
# Directions whose spreads have at most this ratio share their heights.
_ALIKE = 1.3


@final
@dataclass(frozen=True, slots=True)
class Way:
    """One direction: its tails, a sketch of them, and whether its law is the reversed one."""

    tails: ContourTails
    sketch: Sketch
    back: bool

    def span(self, span: Span) -> Span:
        """Return the law's for one of this way's."""
        return Span(1 - span.high, 1 - span.low, span.height) if self.back else span

    def nodes(self, nodes: SumNodes) -> SumNodes:
        """Return the law's nodes for this way."""
        return nodes.reversed() if self.back else nodes

    def about(self, t: Array) -> Array:
        """Return log delta as sketched; beyond the sketch by its tangent, which is above it."""
        sketch = self.sketch
        beyond = np.maximum(t - sketch.threshold[-1], 0.0)
        return sketch.about(t) - (sketch.c[-1] - DELTA.shift) * beyond

    def other(self, t: Array) -> "Way":
        """Return the other direction, sketched about the tilt that this one has at t."""
        place = self.sketch.at_threshold(float(np.min(t) + np.max(t)) / 2)
        tails = ContourTails(self.tails.law.reversed(), DELTA)
        top = min(place.top, tails.law.usable[1])
        c = 1 + (place.c - 1) * _TILTS
        sketch = tails.sketch_at(c[c < top], (place.near.reversed(), top))
        return Way(tails, sketch, not self.back)

    def further(self, t: Array) -> "Way":
        """Return the same direction, sketched as far as the thresholds t need."""
        asked = float(np.min(t)), float(np.max(t))
        return Way(self.tails, self.tails.sketch(threshold=asked), self.back)


class Pairing(NamedTuple):
    """The contour of the larger delta, and what bounds the other: its nodes, a tilt or a line."""

    first: Contour
    second: Way
    nodes: SumNodes
    tilt: float
    line: Contour | None

    def settled(self, t: Array, most: Array) -> bool:
        """Return whether the other delta is proved to be at most e^most at t."""
        if self.line is None:
            found = ceiling(self.nodes, DELTA, self.tilt, t)
        else:
            found = self.line.log_bracket(t).upper
        return bool(np.all((found <= most) | (t >= self.second.tails.law.range[1])))


@final
@dataclass(frozen=True, slots=True)
class BothWays:
    """The larger delta of a loss and of the reversed loss, by nodes that serve both directions."""

    law: LossSum

    @classmethod
    def of(cls, law: LossSum) -> "BothWays | None":
        """Return None if the directions share no nodes, or one has no line."""
        if not law.wide:
            return None
        shut = ContourTails(law, DELTA).shut or ContourTails(law.reversed(), DELTA).shut
        return None if shut else cls(law)

    def log_delta(self, t: Array) -> Interval | None:
        """Bracket the logarithm of the larger delta at t >= 0 (one dimension).

        Returns:
            None where a line could not be laid.
        """
        lower, upper = np.full(t.shape, -np.inf), np.zeros(t.shape)
        ahead = ContourTails(self.law, DELTA)
        sketch = ahead.sketch(threshold=(float(np.min(t)), float(np.max(t))))
        if sketch.empty:
            return None
        for group, pairing in self._pairings(Way(ahead, sketch, False), t):
            if pairing is None:
                return None
            here = t[group]
            found = pairing.first.log_bracket(here)
            # At 0 both have the total variation.
            off = here > 0
            if not pairing.settled(here[off], found.lower[off]):
                found = _larger(found, pairing.second.tails.log_tail(here))
            lower[group], upper[group] = found.lower, found.upper
        return Interval(lower, upper)

    def threshold(self, log_delta: Array) -> Interval | None:
        """Bracket the t >= 0 at which the larger delta has the logarithm `log_delta` < 0.

        The upper end is proved where it is positive; at 0 both directions have one delta.

        Returns:
            None where a line could not be laid.
        """
        lower, upper = np.full(log_delta.shape, -np.inf), np.full(log_delta.shape, np.inf)
        ahead = ContourTails(self.law, DELTA)
        sketch = ahead.sketch(log_tail=(float(np.max(log_delta)), float(np.min(log_delta))))
        if sketch.empty:
            return None
        near = np.maximum(sketch.near_tail(log_delta), 0.0)
        for group, pairing in self._pairings(Way(ahead, sketch, False), near):
            if pairing is None:
                return None
            target, first = log_delta[group], pairing.first
            slope = np.full(target.shape, DELTA.shift - first.c)
            found = proved_root(first.log_bracket, first.middle, target, near[group], slope)
            most = asked(target).lower
            above = found.upper > 0
            if np.any(above) and not pairing.settled(
                np.maximum(found.lower, 0.0)[above], most[above]
            ):
                found = _larger(found, pairing.second.tails.threshold(target))
            lower[group], upper[group] = found.lower, found.upper
        return Interval(lower, upper)

    def _pairings(self, ahead: Way, t: Array) -> Iterator[tuple[Places, Pairing | None]]:
        """Yield groups of thresholds with what was laid for them."""
        for group, _ in groups(ahead.sketch, t):
            here = t[group]
            first, second = ahead, ahead.other(here)
            if not second.sketch.c.size:
                yield group, None
                continue
            if np.mean(second.about(here)) > np.mean(first.about(here)):
                first, second = second.further(here), first
            yield group, self._laid(first, second, here)

    def _laid(self, first: Way, second: Way, t: Array) -> Pairing | None:
        """Lay a line for the first and, unless Chernoff's bound should do, for the second."""
        middle = float(np.min(t) + np.max(t)) / 2
        place, other = (way.sketch.at_threshold(middle) for way in (first, second))
        most = math.inf if first.tails.few is None else SHORT
        plan = planned(first.tails.law, DELTA, place, t, most)
        if plan is None:
            return None
        plan = plan.sparse() if t.size == 1 else plan
        tilt = np.asarray([other.c])
        constant = float(other.near.sketch(tilt).value[0] + DELTA.about_chernoff(tilt)[0])
        room = first.about(t) - constant + (other.c - 1) * t
        more: Plan | None = None
        if np.min(room) < _ROOM:
            if 1 / _ALIKE < other.spread / place.spread < _ALIKE:
                more = plan.moved(other.c)
            else:
                more = planned(second.tails.law, DELTA, other, t)
        asked = second.span(Span(other.c, other.c, 0.0) if more is None else more.span)
        mine = first.span(plan.span)
        span = Span(*map(min, mine[:1], asked[:1]), *map(max, mine[1:], asked[1:]))
        nodes = self.law.prepared(span)
        line = laid(plan, first.nodes(nodes))
        if line is None:
            return None
        others = second.nodes(nodes)
        beside = None if more is None else laid(more, others)
        contour = None if beside is None else beside.tail(DELTA)
        return Pairing(line.tail(DELTA), second, others, other.c, contour)


def _larger(one: Interval, other: Interval) -> Interval:
    return Interval(np.maximum(one.lower, other.lower), np.maximum(one.upper, other.upper))
