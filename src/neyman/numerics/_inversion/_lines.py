"""Lines through the strip: where they are laid, how finely, and what bounds the rest of them.

K along a line serves all functionals whose poles lie left of it. Proofs: docs/theory/contour.md.
"""

import math
from dataclasses import dataclass, replace
from typing import NamedTuple, final

import numpy as np

from neyman.numerics._complex import ComplexArray
from neyman.numerics._disc import Disc
from neyman.numerics._interval import Array, Interval
from neyman.numerics._inversion._contour import (
    KNOWN,
    Contour,
    Functional,
    based,
    even_step,
    line_weights,
)
from neyman.numerics._inversion._steady import Removed, SteadyRest, line_without, steady_part
from neyman.numerics._laws._loss_law import LossNodes, LossSum, Span, SumNodes

__all__ = ["Line", "Place", "Plan", "ceiling", "chernoff", "laid", "line_at", "planned"]

# Aliases and the rest of the line add at most e^-34 = 2e-15 of the functional.
_CUT = 34.0
# The same for a line that falls only like a power: 5e-12.
_STEADY_CUT = 26.0
# Distances of other points from c, in units of 1/spread. The best one is about 8 away.
_STEPS = np.asarray([0.25, 0.5, 1.0, 2.0, 3.0, 4.5, 6.0, 8.0, 11.0, 16.0])
# The least height of a line, in units of 1/spread, and the ratio of the heights that are tried.
_SHORTEST, _LONGER = 7.0, 1.25
_MOST_NODES, _STEADY_NODES = 2**19, 2**14


class Place(NamedTuple):
    """Where a line lies: c, the spread of the tilted loss there, and a sketch of the law."""

    c: float
    spread: float
    near: SumNodes
    top: float  # the largest c that the sketch serves, about 2 c or more


@final
@dataclass(frozen=True, slots=True)
class Line:
    """K along Re s = c, with what bounds the rest: serves all functionals on its side."""

    c: float
    step: float
    u: Array
    exponent: Disc  # K(s_j) less the base
    base: float  # about K(c)
    off: Interval  # K(c) less the base
    points: Array
    values: Array
    nodes: SumNodes
    removed: Removed | None  # what does not decay, and is composed exactly

    def tail(self, functional: Functional) -> Contour:
        """Return the contour of a functional whose poles lie left of c."""
        shift, rest = functional.shift, self.nodes
        s: ComplexArray = np.asarray(self.c + 1j * self.u, np.complex128)
        weight = line_weights(functional, s, self.exponent, self.off)
        base = based(Interval.exactly(np.asarray([self.base])), self.step)
        if self.removed is not None:
            rest = self.removed.rest(self.nodes)
            steady = self.removed.line / functional.denominator(Disc.exactly(s))
            weight = weight * self.removed.left - steady
        last = np.maximum(self.u[-1:], self.step)
        # Left of its poles a functional has no bound from K.
        right = self.points > shift
        values = self.values[right] + functional.log_chernoff(self.points[right])
        contour = Contour.of(
            functional,
            (self.c, self.step),
            weight,
            base,
            _beyond(rest, functional, self.c, last) + self.off,
            (self.points[right], values.upper),
        )
        if self.removed is None:
            return contour
        steady = self.removed.tail(double=functional.double, shift=shift, base=base, most=self.base)
        return replace(contour, steady=steady, left=self.removed.left)

    def reversed(self) -> "Line":
        """Return the same line for the reversed loss: K(1 - s), at 1 - c, mirrored."""
        return Line(
            1 - self.c,
            self.step,
            self.u,
            self.exponent.conj,
            self.base,
            self.off,
            1 - self.points[::-1],
            self.values[::-1],
            self.nodes.reversed(),
            None if self.removed is None else self.removed.reversed(),
        )


@final
@dataclass(frozen=True, slots=True)
class Plan:
    """The choices for a line: they decide its width, and prove nothing."""

    functional: Functional
    c: float
    step: float
    u: Array
    points: Array  # of the strip, c among them

    @property
    def span(self) -> Span:
        """The span that the law has to be prepared for."""
        return Span(float(self.points[0]), float(self.points[-1]), float(self.u[-1]))

    def sparse(self) -> "Plan":
        """Return the plan for a single threshold, with c and the two outermost points only."""
        points = np.unique([self.points[0], self.c, self.points[-1]])
        return Plan(self.functional, self.c, self.step, self.u, points)

    def moved(self, c: float) -> "Plan":
        """Return the plan through another c without other points, for upper bounds only."""
        return Plan(self.functional, c, self.step, self.u, np.asarray([c]))


def line_at(
    law: LossSum, functional: Functional, place: Place, t: Array, most: float = math.inf
) -> Line | None:
    """Return the line at a place for thresholds t; None where K leaves the doubles.

    Args:
        law: the sum of the losses.
        functional: which tail it is laid for.
        place: through which c.
        t: thresholds, near the saddle's.
        most: nodes; a line that takes more is not laid.
    """
    plan = planned(law, functional, place, t, most)
    return None if plan is None else laid(plan, law.prepared(plan.span))


def planned(
    law: LossSum, functional: Functional, place: Place, t: Array, most: float = math.inf
) -> Plan | None:
    """Choose the step and the end of a line, and the points that will bound its aliases.

    None where that takes more than `most` nodes.
    """
    c, spread, near, top = place
    low, high = law.usable
    points = _others(functional, c, spread, (low, min(high, top)))
    # The end and the step are estimates. `laid` proves what follows from them.
    guesses = near.sketch(points).value
    usable = np.isfinite(guesses)
    points, guesses = points[usable], guesses[usable]
    if c not in points:
        return None
    log_size = float(-functional.log_denominator(np.asarray(c))) - math.log(3 * spread)
    ends = np.asarray([np.min(t), np.max(t)])
    period, part = _period(functional, c, (points, guesses), ends, log_size)
    if not 0 < period < math.inf:
        return None
    points, step = points[part], even_step(2 * math.pi / period)
    steady = steady_part(near, c)
    decaying = near if steady is None else SteadyRest(steady, near)
    cut, longest = (_CUT, _MOST_NODES) if steady is None else (_STEADY_CUT, _STEADY_NODES)
    target = log_size + math.log(math.pi) - cut
    # The largest height decides whether `most` nodes suffice.
    if most < longest and not _beyond(decaying, functional, c, np.asarray([most * step])) <= target:
        return None
    heights = np.clip(_SHORTEST / spread * _LONGER ** np.arange(12.0), step, longest * step)
    heights[-1] = longest * step
    height = _height(decaying, functional, c, heights, target)
    if height > most * step:
        return None
    u = step * np.arange(math.floor(height / step) + 1.0)
    return Plan(functional, c, step, u, points)


def laid(plan: Plan, nodes: SumNodes) -> Line | None:
    """Return the line, by nodes prepared for a span that holds the plan's.

    None where K leaves the doubles, or is lost on half of a long line.
    """
    c, u = plan.c, plan.u
    most, real = nodes.most(plan.points), nodes.real(np.asarray([c]))
    known, at = np.isfinite(most), int(np.searchsorted(plan.points, c))
    if not known[at] or not np.isfinite(real.value[0]) or not np.isfinite(real.error[0]):
        return None
    if u.size > _STEADY_NODES + 1 and not _followed(nodes, c, u, float(real.value[0])):
        return None
    line, removed = line_without(nodes, c, u)
    value, error = line
    if removed is None:
        value[0], error[0] = real.value[0], real.error[0]
    if not np.isfinite(value[0]) or not np.isfinite(error[0]):
        return None
    base = float(value[0].real)
    off = Interval.within(np.zeros(()), 0.0, error[0])
    points, values = plan.points[known], most[known]
    return Line(c, plan.step, u, line - base, base, off, points, values, nodes, removed)


def _followed(nodes: SumNodes, c: float, u: Array, top: float) -> bool:
    """Return whether K is known up to half of a long line. Otherwise the line is useless.

    Where K is not known, its only bound is e^K(c), so the sum is off by 1/(πu) at least.
    """
    value, error = nodes.line(c, np.asarray([0.0, u[u.size // 2]])).at(1)
    return bool(value.real - error <= top and error < KNOWN)


def _others(functional: Functional, c: float, spread: float, strip: tuple[float, float]) -> Array:
    """Return c and points on both sides of it, of the part of the strip that is usable."""
    tau, room = _STEPS / spread, c - functional.shift
    points = np.concatenate([c - room * np.tanh(tau[::-1] / room), [c], c + tau])
    # Next to the end of what is usable there is still room for the first of them.
    top = max(strip[1], 2 * c - functional.shift)
    return points[(points > max(strip[0], functional.shift)) & (points < top)]


def chernoff(law: LossSum, functional: Functional, points: Array, t: Array) -> Array:
    """Bound the logarithm of the functional from above, by points of the strip right of a."""
    best = np.zeros(t.shape)
    ends = float(np.min(points)), float(np.max(points))
    shared = law.prepared(Span(*ends, 0.0)) if law.wide else None
    for c in points.tolist():
        nodes = law.prepared(Span(c, c, 0.0)) if shared is None else shared
        best = np.fmin(best, ceiling(nodes, functional, c, t))
    return best


def ceiling(nodes: SumNodes, functional: Functional, c: float, t: Array) -> Array:
    """Return Chernoff's bound of the log by one point c, from nodes prepared for it."""
    at = np.asarray([c])
    constant = functional.log_chernoff(at) + nodes.most(at)
    bound = constant - (Interval.exactly(at) - functional.shift) * t
    return np.fmin(0.0, bound.upper)


def _period(
    functional: Functional,
    c: float,
    others: tuple[Array, Array],
    ends: Array,
    log_size: float,
) -> tuple[float, slice]:
    """Return an R that keeps the aliases below e^-_CUT of the functional at both ends.

    The second value is the range of the points from which that follows.
    """
    points, values = others
    at, shift = int(np.flatnonzero(points == c)[0]), functional.shift
    size = values[at] - (c - shift) * ends + log_size - _CUT
    bounds = values + functional.about_chernoff(points)
    room = bounds - (points - shift) * ends[:, None] - size[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        period = room / np.abs(points - c)
    above, below = period[:, at + 1 :], period[:, :at]
    if not above.size:
        return math.inf, slice(0, 0)
    least = np.minimum(below.min(axis=1, initial=np.inf), -size / (c - shift))
    longest = np.maximum(above.min(axis=1), least).max()
    first = int(below.argmin(axis=1).min()) if at else 0
    return float(longest), slice(first, at + 2 + int(above.argmin(axis=1).max()))


def _height(
    near: LossNodes | SteadyRest,
    functional: Functional,
    c: float,
    u: Array,
    target: float,
) -> float:
    """Return the height at which a line ends: one of the ascending u, or one between two."""
    at = 0
    for _ in range(3):
        bound = np.nan_to_num(_beyond(near, functional, c, u), nan=1e300, posinf=1e300)
        # If no height reaches the target, the first within a factor e of the best one will do.
        at = int(np.argmax(bound <= max(target, float(bound[-1]) + 1)))
        if at == 0 or u[at] < 1.01 * _LONGER * u[at - 1]:
            break
        u = np.asarray(np.geomspace(float(u[at - 1]), float(u[at]), 10), np.float64)
        at = 9
    return float(u[at])


def _beyond(near: LossNodes | SteadyRest, functional: Functional, c: float, u: Array) -> Array:
    """Bound the log of h Σ of |e^(K - K(c)) / d| over the nodes above u, for c - a > 0."""
    if functional.double:
        return near.decay(c, u, 1.0) - np.log(u)
    return near.decay_integral(c, u, 1.0)
