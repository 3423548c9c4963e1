"""The tails of a sum of losses at any thresholds, and the thresholds of any tail.

One contour answers well for thresholds within a spread or two of its saddle, so an array of them
is served by a ladder of contours, each evaluated once.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias, final

import numpy as np
import numpy.typing as npt

from neyman.numerics._bracket import Array
from neyman.numerics._interval import Interval
from neyman.numerics._inversion._contour import Functional
from neyman.numerics._inversion._few_steps import FewSteps
from neyman.numerics._inversion._lines import Line, Place, chernoff, line_at
from neyman.numerics._laws._loss_law import LossSum, Span, SumNodes
from neyman.numerics._primitives import log1mexp
from neyman.numerics._root import proved_root

__all__ = ["SHORT", "ContourTails", "Places", "Sketch", "asked", "groups"]

Places: TypeAlias = npt.NDArray[np.intp]
# A contour serves thresholds within this many spreads of its own.
_HALF_WIDTH = 1.6
_FIRST_BLOCK, _BLOCKS = 12.0, 12
# Places of the points in the first block and in later ones, on a logarithmic scale from 0 to 1.
_FIRST, _NEXT = np.linspace(0.0, 1.0, 12), np.linspace(0.0, 1.0, 6)
_LEAST_TILT, _OVERLAP, _FURTHER = 1e-4, 1.2, 4.0
# The least width of the strip right of the poles in which a line is laid.
_LEAST_ROOM = 0.02
_REFINEMENTS, _MOST_GAPS = 3, 40
_PARTS = np.arange(1.0, 12.0)
# Points of the strip at which many thresholds are bounded at once.
_TILTS, _MANY = 6, 8
# The largest number of nodes of a line that costs no more than the largest-step method.
SHORT = 2**12
# The error of a target's logarithm: that of the library, and half a unit of the decimal.
_LOGS = 2.0**-50
# A bracket of this relative width needs no other method.
_NARROW = 1e-8


@final
@dataclass(frozen=True, slots=True)
class Sketch:
    """Estimates along the real axis, by which lines are placed; nothing here is proved.

    Attributes:
        c: points right of the poles, ascending.
        threshold: the threshold whose saddle is c.
        log_tail: the log of the functional there.
        spread: the standard deviation of the tilted loss.
        near: the sketched law.
        top: the largest c that `near` serves.
    """

    c: Array
    threshold: Array
    log_tail: Array
    spread: Array
    near: SumNodes
    top: float

    @property
    def empty(self) -> bool:
        """Whether there is no usable point, because the losses leave the doubles."""
        return not self.c.size

    def joined(self, other: "Sketch") -> "Sketch":
        """Return both, in the order of c, made monotone."""
        order = np.argsort(np.concatenate([self.c, other.c]))

        def both(mine: Array, others: Array) -> Array:
            return np.concatenate([mine, others])[order]

        return Sketch(
            both(self.c, other.c),
            np.maximum.accumulate(both(self.threshold, other.threshold)),
            np.minimum.accumulate(both(self.log_tail, other.log_tail)),
            both(self.spread, other.spread),
            other.near,
            other.top,
        )

    def missing(self, threshold: tuple[float, float], log_tail: tuple[float, float]) -> Array:
        """Return points between neighbours whose thresholds lie more than a spread apart."""
        t, value = self.threshold, self.log_tail
        asked = (t[1:] >= threshold[0]) & (t[:-1] <= threshold[1])
        asked |= (value[1:] <= log_tail[0]) & (value[:-1] >= log_tail[1])
        gap = np.diff(t) / np.minimum(self.spread[1:], self.spread[:-1])
        parts = np.where(asked, np.minimum(np.ceil(gap), 12.0), 1.0)
        wide = np.flatnonzero(parts > 1)[:_MOST_GAPS]
        share = _PARTS[None, :] / parts[wide, None]
        between = self.c[wide, None] + share * np.diff(self.c)[wide, None]
        return between[share < 1]

    def about(self, t: Array) -> Array:
        """Estimate the log of the tail at thresholds."""
        return np.interp(t, self.threshold, self.log_tail)

    def near_tail(self, log_tail: Array) -> Array:
        """Estimate the thresholds at which the tail has given logarithms."""
        return np.interp(-log_tail, -self.log_tail, self.threshold)

    def at_threshold(self, t: float) -> Place:
        """Return the place of a line for a threshold."""
        log_c = float(np.interp(t, self.threshold, np.log(self.c)))
        spread = float(np.interp(t, self.threshold, self.spread))
        return Place(math.exp(log_c), spread, self.near, self.top)


@final
@dataclass(frozen=True, slots=True)
class ContourTails:
    """Brackets of one functional of a sum of losses."""

    law: LossSum
    functional: Functional

    def log_tail(self, t: Array, enough: Array | None = None) -> Interval:
        """Bracket the logarithm of the functional at thresholds t (one dimension).

        Args:
            t: thresholds.
            enough: a logarithm for each threshold. Where a cheap upper bound is at most that, no
                lower bound is sought.
        """
        lower, upper = np.full(t.shape, -np.inf), np.zeros(t.shape)
        least, most = self.law.range
        upper[t >= most], lower[t < least] = -np.inf, self._whole(t[t < least])
        inner = np.flatnonzero((t < most) & (t >= least))
        if not inner.size or self.shut:
            return Interval(lower, upper)
        ends = float(np.min(t[inner])), float(np.max(t[inner]))
        sketch = self.sketch(threshold=ends)
        if sketch.empty:
            return Interval(lower, upper)
        if enough is not None and t[inner].size > _MANY:
            upper[inner] = self._cheaply(sketch, ends, t[inner])
            inner = inner[upper[inner] > enough[inner]]
        low = None if enough is None else enough[inner]
        found = self._by_lines(sketch, t[inner], low)
        lower[inner], upper[inner] = found.lower, np.minimum(upper[inner], found.upper)
        return Interval(lower, upper)

    def _by_lines(self, sketch: Sketch, t: Array, enough: Array | None) -> Interval:
        """Bracket by short lines, then by the largest step, then by lines of any length."""
        few = self.few
        if few is None:
            return self._laid(sketch, t, enough, math.inf)
        lower, upper = np.full(t.shape, -np.inf), np.zeros(t.shape)
        if not few.rarely_hit:
            lower, upper = self._laid(sketch, t, enough, SHORT)
        loose = ~(upper - lower <= _NARROW)
        if enough is not None:
            loose &= upper > enough
        if np.any(loose):
            near = few.log_tail(t[loose])
            lower[loose] = np.maximum(lower[loose], near.lower)
            upper[loose] = np.minimum(upper[loose], near.upper)
        unknown = loose & np.isneginf(lower)
        if np.any(unknown):
            low = None if enough is None else enough[unknown]
            lower[unknown], upper[unknown] = self._laid(sketch, t[unknown], low, math.inf)
        return Interval(lower, upper)

    def _laid(self, sketch: Sketch, t: Array, enough: Array | None, most: float) -> Interval:
        """Bracket by lines of at most `most` nodes; (-inf, 0) where there is none."""
        lower, upper = np.full(t.shape, -np.inf), np.zeros(t.shape)
        for group, place in groups(sketch, t):
            if enough is not None:
                upper[group] = self._ceiling(place, t[group], enough[group])
                if np.all(upper[group] <= enough[group]):
                    continue
            line = line_at(self.law, self.functional, place, t[group], most)
            if line is not None:
                lower[group], upper[group] = line.tail(self.functional).log_bracket(t[group])
            elif math.isinf(most):
                upper[group] = chernoff(self.law, self.functional, np.asarray([place.c]), t[group])
        return Interval(lower, upper)

    def _ceiling(self, place: Place, t: Array, enough: Array) -> Array:
        """Return Chernoff's bounds by the place's c if the sketch makes them suffice, else 0."""
        c = np.asarray([place.c])
        constant = float(place.near.sketch(c).value[0] + self.functional.about_chernoff(c)[0])
        if not np.all(constant - (place.c - self.functional.shift) * t < enough):
            return np.zeros(t.shape)
        return chernoff(self.law, self.functional, c, t)

    def _whole(self, t: Array) -> Array:
        """Bound the functional's logarithm from below where every loss exceeds the threshold."""
        if not self.functional.double:
            return np.zeros(t.shape)
        return log1mexp(np.minimum(t, 0.0)).lower

    def _cheaply(self, sketch: Sketch, ends: tuple[float, float], t: Array) -> Array:
        """Bound the functional's logarithm at many thresholds by Chernoff's bound at few points."""
        tilts = [sketch.at_threshold(end).c for end in ends]
        points = np.geomspace(tilts[0], tilts[-1], _TILTS)
        return chernoff(self.law, self.functional, points, t)

    @property
    def shut(self) -> bool:
        """Whether no line can be laid right of the poles."""
        return self.law.usable[1] <= self.functional.shift + _LEAST_ROOM

    def threshold(self, log_tail: Array) -> Interval:
        """Bracket the t at which the functional has the logarithm `log_tail` < 0.

        Returns:
            t with F(t.lower) >= e^log_tail >= F(t.upper), both proved.
        """
        few, places = self.few, np.arange(log_tail.size)
        found = Interval(np.full(log_tail.shape, -np.inf), np.full(log_tail.shape, np.inf))
        if few is None or not few.rarely_hit:
            self._find(found, log_tail, places, math.inf if few is None else SHORT)
        if few is not None:
            lower, upper = found
            loose = (upper > 0) & ~(upper * (1 - _NARROW) <= lower)
            for i in np.flatnonzero(loose).tolist():
                near = few.threshold(asked(log_tail[i]))
                lower[i], upper[i] = max(lower[i], near.lower), min(upper[i], near.upper)
            self._find(found, log_tail, places[np.isinf(lower) & np.isinf(upper)], math.inf)
        return found

    def _find(self, into: Interval, log_tail: Array, places: Places, most: float) -> None:
        """Write brackets of some thresholds into `into`, by lines of at most `most` nodes."""
        for group, _, found in self.thresholds(log_tail[places], most=most):
            at = places[group]
            into.lower[at], into.upper[at] = found.lower, found.upper

    @property
    def few(self) -> FewSteps | None:
        """The largest-step method for this law; None where it does not apply."""
        return FewSteps.of(self.law) if self.functional.double else None

    def thresholds(
        self, log_tail: Array, blur: Array | float = 0.0, most: float = math.inf
    ) -> Iterator[tuple[Places, Line, Interval]]:
        """Yield brackets as `threshold` does, in groups with the line of each.

        A group without a line is left out.

        Args:
            log_tail: logarithms of the functional.
            blur: their absolute error.
            most: the largest number of nodes of a line.
        """
        if self.shut or not log_tail.size:
            return
        blurs = np.broadcast_to(blur, log_tail.shape)
        sketch = self.sketch(log_tail=(float(np.max(log_tail)), float(np.min(log_tail))))
        if sketch.empty:
            return
        near = sketch.near_tail(log_tail)
        for group, place in groups(sketch, near):
            line = line_at(self.law, self.functional, place, near[group], most)
            if line is None:
                continue
            contour = line.tail(self.functional)
            slope = np.full(group.shape, self.functional.shift - contour.c)
            bounds = proved_root(
                contour.log_bracket,
                contour.middle,
                log_tail[group],
                near[group],
                slope,
                blurs[group],
            )
            yield group, line, bounds

    def sketch(
        self,
        *,
        threshold: tuple[float, float] = (math.inf, -math.inf),
        log_tail: tuple[float, float] = (-math.inf, math.inf),
    ) -> Sketch:
        """Sketch the strip, finely where the thresholds or the tails of a range lie.

        Args:
            threshold: the range of thresholds.
            log_tail: the range of logarithms of the functional, the larger one first.
        """
        shift, top = self.functional.shift, self.law.usable[1]
        high = min(_FIRST_BLOCK, 0.999 * (top - shift))
        c = shift + _LEAST_TILT * (high / _LEAST_TILT) ** _FIRST
        sketch = self.sketch_at(c, self._near(high))
        if sketch.empty:
            return sketch
        for _ in range(_BLOCKS):
            enough = sketch.threshold[-1] > threshold[1] and sketch.log_tail[-1] < log_tail[1]
            if enough or shift + _OVERLAP * high >= top:
                break
            far = min(_FURTHER * high, 0.999 * (top - shift))
            c = shift + _OVERLAP * high * (far / (_OVERLAP * high)) ** _NEXT
            sketch = sketch.joined(self.sketch_at(c, self._near(far)))
            high = far
        for _ in range(_REFINEMENTS):
            c = sketch.missing(threshold, log_tail)
            if not c.size:
                break
            sketch = sketch.joined(self.sketch_at(c, (sketch.near, sketch.top)))
        return sketch

    def _near(self, high: float) -> tuple[SumNodes, float]:
        """Sketch the law up to twice `high` right of the poles; return the largest c as well."""
        shift = self.functional.shift
        top = min(shift + 2 * high, self.law.usable[1])
        return self.law.sketched(Span(1 - top if self.law.wide else shift, top, 0.0)), top

    def sketch_at(self, c: Array, near: tuple[SumNodes, float]) -> Sketch:
        """Sketch at points c, ascending, by a sketched law and the largest c that it serves."""
        shift = self.functional.shift
        real = near[0].sketch(c)
        other = 1 / c if self.functional.double else 0.0
        threshold = real.slope - 1 / (c - shift) - other
        spread = np.sqrt(np.maximum(real.curvature, 0.0) + 1 / (c - shift) ** 2)
        log_tail = real.value - (c - shift) * threshold - self.functional.log_denominator(c)
        log_tail = log_tail - np.log(np.sqrt(2 * np.pi) * spread)
        good = np.isfinite(log_tail) & np.isfinite(threshold) & np.isfinite(spread)
        return Sketch(c[good], threshold[good], log_tail[good], spread[good], *near)


def asked(log_tail: Array) -> Interval:
    """Return intervals around logarithms that were computed from the doubles of decimals."""
    return Interval.within(log_tail, _LOGS, _LOGS)


def groups(sketch: Sketch, t: Array) -> Iterator[tuple[Places, Place]]:
    """Yield groups of thresholds that share a contour, ascending, with the place of each."""
    if sketch.empty:
        return
    if t.size == 1:
        yield np.zeros(1, dtype=np.intp), sketch.at_threshold(float(t[0]))
        return
    order = np.argsort(t, kind="stable")
    ascending, start = t[order], 0
    while start < order.size:
        first = float(ascending[start])
        spread = sketch.at_threshold(first).spread
        # The spread where the group would end counts as well.
        later = sketch.at_threshold(first + 2 * _HALF_WIDTH * spread).spread
        last = first + 2 * _HALF_WIDTH * min(max(spread, later), 2 * spread)
        stop = max(int(np.searchsorted(ascending, last, side="right")), start + 1)
        middle = (first + float(ascending[stop - 1])) / 2
        yield order[start:stop], sketch.at_threshold(middle)
        start = stop
