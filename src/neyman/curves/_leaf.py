"""A pair known by the tails of its loss, certified because they are intervals."""

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, NamedTuple, final

import numpy as np

from neyman.curves._divergences._outer_renyi import outer_rho
from neyman.curves._formulas import Summaries, Views
from neyman.curves._order import least_mu, least_rho
from neyman.curves._pair import Pair, Tails
from neyman.numerics import Array, Interval
from neyman.numerics._lattice_sums._source import LossSource, Masses, SourceTails
from neyman.numerics._primitives import exp, expm1, log, log1p
from neyman.overriding import override

__all__ = ["Leaf", "LossTails"]

# Cells of the loss, from which divergences are bounded, and how far out they lie where it is
# unbounded; steps of a search for a threshold, and how far from a guess it looks.
_CELLS, _FAR, _STEPS, _ROOM = 1024, 700.0, 60, 2.0**-5
# The largest loss and order for powers, and an offset of orders next to 1.
_LARGEST, _LAST_ORDER, _NEAR_ONE = 700.0, 1e4, 2.0**-6


class LossTails(NamedTuple):
    """P(L > t), Q(L > t), P(L <= t) and Q(L <= t), each with a relative accuracy of its own."""

    p_above: Interval
    q_above: Interval
    p_below: Interval
    q_below: Interval


class Leaf(Pair):
    """A curve of your own: the law of its privacy loss L = log dQ/dP, by four tails.

    Write a final frozen dataclass with `kind` and `tails`; give `mirrored = True` where L has the
    law under Q that -L has under P, `reach` where the loss is bounded,
    `jumps` where it has atoms, `alone` where one law has mass that the other never gives. Every
    view is then certified, and the curve composes, samples, calibrates, is written down, charged
    and read back like any other: docs/contributing/curve.md.

    Error: delta is the difference of two tails, so that its error is that of the larger one: about
    1e-15, absolute. Give `log_delta` in `views` where a formula keeps more.
    """

    __slots__ = ()

    proved: ClassVar[bool] = True

    @abstractmethod
    def tails(self, t: Array) -> LossTails:
        """Return the tails at thresholds of any shape; the loss's atoms and infinities apart.

        Args:
            t: doubles, taken as exact, infinities among them. Below the least loss the tails above
                are whole, beyond the largest they are 0.
        """

    @property
    def reach(self) -> tuple[float, float]:
        """Bounds of the finite losses, rounded outwards."""
        return -math.inf, math.inf

    def jumps(self) -> tuple[Interval, Interval]:
        """Return the masses in P and in Q of the loss's atoms, where it has some."""
        none = Interval.exactly(np.zeros(0))
        return none, none

    def alone(self) -> tuple[Interval, Interval]:
        """Return P{q = 0} and Q{p = 0}, the masses of an infinite loss."""
        nothing = Interval.exactly(0.0)
        return nothing, nothing

    # -- what follows ---------------------------------------------------------------------------

    @override
    def swap(self) -> Pair:
        return self if self.mirrored else SwappedLeaf(self)

    @property
    @override
    def log_singular(self) -> tuple[float, float]:
        with np.errstate(divide="ignore"):
            p, q = (float(np.log(mass.upper)) for mass in self.alone())
        return q, p

    @override
    def loss_source(self) -> LossSource:
        return _LeafSource(self)

    def tests(self, t: Array) -> tuple[Interval, Interval]:
        """Return the sizes and powers P(L > t) and Q(L > t), atoms and infinite losses counted."""
        found, (p, q) = self.tails(t), self.jumps()
        above_p, above_q = found.p_above, found.q_above + self.alone()[1]
        place = log(q) - log(p)
        for i in range(p.lower.size):
            at = place.at(np.asarray([i]))
            sure, never = t < at.lower, t >= at.upper
            for total, mass in ((0, p), (1, q)):
                one = mass.at(np.asarray([i]))
                more = Interval(np.where(sure, one.lower, 0.0), np.where(never, 0.0, one.upper))
                above_p, above_q = (
                    (above_p + more, above_q) if total == 0 else (above_p, above_q + more)
                )
        return above_p.clip(0.0, 1.0), above_q.clip(0.0, 1.0)

    @override
    def log_tails(self, t: Array, *, closed: bool = False) -> Tails:
        """Return middles: estimates, for pictures and tests by simulation."""
        at = np.asarray(t, dtype=np.float64)
        at = np.nextafter(at, -np.inf) if closed else at
        p, q = (side.middle for side in self.tests(at))
        with np.errstate(divide="ignore"):
            return Tails(np.log(p), np.log1p(-p), np.log(q), np.log1p(-q))

    @override
    def views(self) -> Views:
        return Views(delta=self._delta, tpr=self._tpr)

    @override
    def summaries(self) -> Summaries:
        return Summaries(
            renyi=self._renyi,
            zcdp=lambda: least_rho(self, outer_rho(self)),
            outer_gaussian=self._outer_gaussian,
            outer_pure=self._outer_pure,
        )

    def _delta(self, epsilon: Array) -> Interval:
        """Q(L > e) - e^e P(L > e); each atom counts with (q - e^e p)_+."""
        near = Interval.decimal(epsilon)
        # Delta falls, so either end of epsilon bounds it.
        upper, lower = self._delta_at(near.lower), self._delta_at(near.upper)
        most = self.reach[1]
        sure = (near.lower >= most) & (self.jumps()[0].lower.size == 0)
        high = np.where(sure, np.minimum(upper.upper, self.alone()[1].upper), upper.upper)
        return Interval(np.clip(lower.lower, 0.0, 1.0), np.clip(high, 0.0, 1.0))

    def _delta_at(self, at: Array) -> Interval:
        """Return delta at doubles, taken as exact."""
        found, odds = self.tails(at), exp(Interval.exactly(np.minimum(at, _LARGEST)))
        total = (found.q_above - odds * found.p_above).larger(0.0) + self.alone()[1]
        p, q = self.jumps()
        for i in range(p.lower.size):
            place = np.asarray([i])
            total = total + (q.at(place) - odds * p.at(place)).larger(0.0)
        # Beyond the largest odds that are taken, of all losses only the infinite one surely counts.
        far = at > _LARGEST
        return Interval(np.where(far, self.alone()[1].lower, total.lower), total.upper)

    def _tpr(self, alpha: Array) -> Interval:
        """Between two neighbouring tests from below, below a line of slope e^t from above."""
        flat = np.ravel(np.asarray(alpha, dtype=np.float64))
        near, (nothing, most) = Interval.decimal(flat), self.alone()[1]
        low, high = self._around(flat)
        first, last = self.tests(high), self.tests(low)
        lower = np.maximum(_between(near.lower, first, last), _tests(self).part(near.lower))
        size = Interval.exactly(near.upper)
        upper = (self.alone()[1] + exp(Interval.exactly(self.reach[1])) * size).upper
        for t in (low, high):
            inside = np.clip(t, -_LARGEST, _LARGEST)
            line = Interval(*self.delta_bracket(inside)) + exp(Interval.decimal(inside)) * size
            upper = np.minimum(upper, line.upper)
        lower = np.where(flat <= 0, nothing, np.where(flat >= 1, 1.0, lower))
        upper = np.where(flat <= 0, most, np.where(flat >= 1, 1.0, np.minimum(upper, 1.0)))
        lower = np.minimum(np.maximum(lower, near.lower * (flat > 0)), upper)
        return Interval(lower.reshape(np.shape(alpha)), upper.reshape(np.shape(alpha)))

    def _around(self, alpha: Array) -> tuple[Array, Array]:
        """Return thresholds below and above P(L > t) = alpha, hardly apart."""
        known = _tests(self)
        at = np.clip(np.searchsorted(-known.size, -alpha), 1, known.t.size - 1)
        low, high = known.t[at - 1], known.t[at]
        above, below, blur = known.size[at - 1], known.size[at], np.zeros(alpha.shape)
        with np.errstate(divide="ignore", invalid="ignore"):
            level = np.log(alpha)
            for _ in range(_STEPS):
                # Beyond the two, a line is off by the one part times the other.
                apart = (high - low) * (above - below)
                near = apart <= 2.0**-54 * above * np.minimum(np.maximum(-low, high), 1.0)
                near, middle = near | (above - below <= 4 * blur), (low + high) / 2
                if np.all(near | (middle == low) | (middle == high)):
                    break
                share = (np.log(above) - level) / (np.log(above) - np.log(below))
                share = np.where(below > 0, share, (above - alpha) / (above - below))
                share = np.where(np.isfinite(share), share, 0.5)
                room: Array = (high - low) * _ROOM
                guess: Array = low + (high - low) * share
                for tried in (guess - room, guess + room, middle):
                    t = np.clip(tried, low, high)
                    sizes = self.tests(t)[0]
                    size, blur = sizes.upper, sizes.upper - sizes.lower
                    over = size > alpha
                    low, high = np.where(over, t, low), np.where(over, high, t)
                    above, below = np.where(over, size, above), np.where(over, below, size)
        return low, high

    # -- one-number summaries -------------------------------------------------------------------

    def _renyi(self, order: Array) -> Interval:
        """From the masses of cells: Jensen's inequality in each, and the chord of its ends.

        Error: relative, about the square of a cell; infinite from above where the largest loss is.
        """
        found = [self._divergence(float(a)) for a in np.ravel(order)]
        lower, upper = np.asarray(found, dtype=np.float64).reshape(-1, 2).T
        return Interval(lower.reshape(np.shape(order)), upper.reshape(np.shape(order)))

    def _divergence(self, a: float) -> tuple[float, float]:
        most = self.reach[1]
        if float(self.alone()[1].upper) > 0 and a >= 1:
            return (math.inf if float(self.alone()[1].lower) > 0 else 0.0), math.inf
        # Divergences grow with the order, up to the largest loss.
        lower, upper = _order(self, min(a, _LAST_ORDER))
        return lower, max(most, 0.0) if a > _LAST_ORDER else min(upper, max(most, 0.0))

    def _outer_pure(self) -> Fraction | None:
        if any(float(mass.upper) > 0 for mass in self.alone()):
            return None
        ends = [abs(end) for end in self.reach]
        p, q = self.jumps()
        if p.lower.size:
            place = log(q) - log(p)
            ends += [float(np.max(np.abs(place.lower))), float(np.max(np.abs(place.upper)))]
        most = max((end for end in ends if not math.isinf(end)), default=0.0)
        return None if any(map(math.isinf, self.reach)) else Fraction(most)

    def _outer_gaussian(self) -> Fraction | None:
        """Return the least mu^2 that is proved over all losses, where they are bounded."""
        largest = self.outer_pure()
        if largest is None or largest > _LARGEST:
            return None
        mu = _least_mu(self)
        return Fraction(mu) ** 2 if math.isfinite(mu) else None


@lru_cache(maxsize=64)
def _least_mu(leaf: Leaf) -> float:
    return least_mu(leaf, 0.0)[1]


def _between(
    alpha: Array, first: tuple[Interval, Interval], last: tuple[Interval, Interval]
) -> Array:
    """Bound from below the power, at size alpha, of a coin between two tests."""
    (p_low, q_low), (p_high, q_high) = first, last
    size, low, high = (Interval.exactly(x) for x in (alpha, p_low.upper, p_high.upper))
    power, more = Interval.exactly(q_low.lower), Interval.exactly(q_high.lower)
    # Where the tests coincide, the quotient holds every share.
    share = ((size - low).larger(0) / (high - low).larger(0)).clip(0.0, 1.0)
    value = (power + share * (more - power).larger(0)).lower
    # Where no threshold is small enough, a part of the smallest test.
    part = ((size / low).smaller(1) * power).lower
    return np.where(p_low.upper <= alpha, value, np.minimum(part, value))


def _thresholds(leaf: Leaf) -> Array:
    """Return losses, closer to each other where they are small, from end to end."""
    least, most = (float(np.clip(end, -_FAR, _FAR)) for end in leaf.reach)
    near = np.linspace(least, most, _CELLS)
    sizes = np.geomspace(1e-3, _FAR, _CELLS)
    fine = np.concatenate((-sizes[::-1], sizes))
    return np.unique(np.append(near, fine[(fine > least) & (fine < most)]))


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Tests:
    """Likelihood ratio tests.

    Attributes:
        t: thresholds, from one below all losses to one beyond them.
        size: upper bounds of P(L > t), falling.
        odds: lower bounds of the largest Q(t < L < inf) / P(L > t) up to each threshold.
        alone: of the infinite loss in Q.
    """

    t: Array
    size: Array
    odds: Array
    alone: Interval

    def part(self, alpha: Array) -> Array:
        """Bound the power at a size from below: a part of a larger test, and the infinite loss."""
        at = np.searchsorted(-self.size, -alpha, side="right") - 1
        odds = Interval.exactly(np.where(at < 0, 0.0, self.odds[np.maximum(at, 0)]))
        return (self.alone + odds * Interval.exactly(alpha)).clip(0.0, 1.0).lower


@lru_cache(maxsize=16)
def _tests(leaf: Leaf) -> _Tests:
    p, q = leaf.jumps()
    t = np.concatenate((_thresholds(leaf), (log(q) - log(p)).middle))
    t = np.unique(np.concatenate((t, (np.min(t) - 1, np.max(t) + 1))))
    (size, power), alone = leaf.tests(t), leaf.alone()[1]
    with np.errstate(invalid="ignore"):
        odds = ((power - alone).larger(0.0) / size.upper).lower
    odds = np.maximum.accumulate(np.where(size.upper > 0, odds, 0.0))
    return _Tests(t, np.minimum.accumulate(size.upper), odds, alone)


class _Cells(NamedTuple):
    """Masses of the cells between thresholds, atoms beside them, and the thresholds' ends."""

    p: Interval
    q: Interval
    low: Array
    high: Array
    atom_p: Interval
    atom_q: Interval


@lru_cache(maxsize=16)
def _cells(leaf: Leaf) -> _Cells:
    t = _thresholds(leaf)
    found = _LeafSource(leaf).cells(t, exact=True)
    ends = np.concatenate(([leaf.reach[0]], t, [leaf.reach[1]]))
    p, q = (Interval(mass.lower, mass.upper) for mass in found)
    return _Cells(p, q, ends[:-1], ends[1:], *leaf.jumps())


def _order(leaf: Leaf, a: float) -> tuple[float, float]:
    cells = _cells(leaf)
    if a * cells.high[-1] <= _LARGEST:
        return _by_excess(leaf, cells, a)
    if a == 1:
        return _by_power(cells, 1 - _NEAR_ONE)[0], _by_power(cells, 1 + _NEAR_ONE)[1]
    return _by_power(cells, a)


def _by_excess(leaf: Leaf, cells: _Cells, a: float) -> tuple[float, float]:
    """Bound log E_P[x^a] / (a - 1), x = e^L, by what x^a is above its tangent at x = 1.

    With g(x) = (x^a - 1 - a (x - 1)) / (a - 1), or x log x - x + 1 for a = 1, convex and least 0:

        E_P[x^a] = 1 + (a - 1) E_P[g(x)] - a Q{p = 0},  g(0) = 1.
    """
    order, (only_p, only_q) = Interval.decimal(a), leaf.alone()
    ends = Interval.exactly(cells.low), Interval.exactly(cells.high)
    with np.errstate(all="ignore"):
        # A cell's mean of x is q/p.
        mean = log(cells.q) - log(cells.p)
        mean = Interval(np.fmax(mean.lower, cells.low), np.fmin(mean.upper, cells.high))
        jensen = _excess(mean, order) * cells.p
        values = [_excess(end, order) for end in ends]
        # Nowhere in a cell is it above the larger of its ends.
        chord = np.fmin(_chord(cells, values).upper, (values[0].larger(values[1]) * cells.p).upper)
        atoms = _excess(log(cells.atom_q) - log(cells.atom_p), order) * cells.atom_p
    some = cells.p.upper > 0
    finite = Interval(np.where(some, jensen.lower, 0.0), np.where(some, chord, 0.0))
    excess = only_p + (finite.larger(0.0).total() + atoms.larger(0.0).total())
    found = excess if a == 1 else log1p((order - 1) * excess - order * only_q) / (order - 1)
    return max(float(found.lower), 0.0), max(float(found.upper), 0.0)


def _excess(loss: Interval, order: Interval) -> Interval:
    """Return g(e^loss), which falls up to 0 and rises from there on."""

    def at(end: Array) -> Interval:
        t = Interval.exactly(end)
        if order.lower == order.upper == 1:
            value = t * exp(t) - expm1(t)
        else:
            value = (expm1(order * t) - order * expm1(t)) / (order - 1)
        return Interval.where(np.isneginf(end), Interval.exactly(1.0), value.larger(0.0))

    low, high = at(loss.lower), at(loss.upper)
    both = low.hull(high)
    return Interval(np.where((loss.lower < 0) & (loss.upper > 0), 0.0, both.lower), both.upper)


def _by_power(cells: _Cells, a: float) -> tuple[float, float]:
    """Bound log E_P[e^(aL)] / (a - 1): x^a is convex in x = e^L, or concave for a < 1.

    Relative to the largest term, so that little overflows.
    """
    order, ends = Interval.decimal(a), (Interval.exactly(cells.low), Interval.exactly(cells.high))
    with np.errstate(all="ignore"):
        # The cell's mean of x under P is q/p: its power is one side, the chord the other.
        logs, atoms = (
            order * log(q) + (1 - order) * log(p)
            for p, q in ((cells.p, cells.q), (cells.atom_p, cells.atom_q))
        )
        terms = np.append(logs.middle, atoms.middle)
        peak = float(np.max(terms[np.isfinite(terms)], initial=-math.inf))
        peak = peak if math.isfinite(peak) else 0.0
        values = [exp(order * end - peak) for end in ends]
        jensen = _within(_present(exp(logs - peak), cells.p, cells.q), cells, values)
        chord = _within(_chord(cells, values), cells, values)
        whole = _present(exp(atoms - peak), cells.atom_p, cells.atom_q)
    one, other = (jensen, chord) if a > 1 else (chord, jensen)
    total = Interval(one.lower, other.upper).larger(0).total() + whole.total()
    found = (log(total) + peak) / (order - 1)
    return max(float(found.lower), 0.0), max(float(found.upper), 0.0)


def _within(value: Interval, cells: _Cells, ends: list[Interval]) -> Interval:
    """Return the mean of x^a over a cell, which lies between its values at the ends."""
    least, most = ends[0].smaller(ends[1]) * cells.p, ends[0].larger(ends[1]) * cells.p
    lower = np.fmax(value.lower, least.lower)
    return Interval(lower, np.maximum(np.fmin(value.upper, most.upper), lower))


def _present(value: Interval, p: Interval, q: Interval) -> Interval:
    """Return a value that is 0 where there is no mass, and at least 0."""
    some = (p.upper > 0) & (q.upper > 0)
    return Interval(
        np.where(some, np.fmax(value.lower, 0.0), 0.0), np.where(some, value.upper, 0.0)
    )


def _chord(cells: _Cells, values: list[Interval]) -> Interval:
    """Return the mean, under P, of a function linear in e^L with these values at a cell's ends."""
    low, high = (exp(Interval.exactly(end)) for end in (cells.low, cells.high))
    bottom, top = values
    share = (cells.q - low * cells.p) / (high - low).larger(5e-324)
    rest = (high * cells.p - cells.q) / (high - low).larger(5e-324)
    value = bottom * rest + top * share
    empty, endless = (cells.p.upper <= 0) | (cells.q.upper <= 0), ~np.isfinite(high.upper)
    lower = np.where(empty | endless, 0.0, value.lower)
    return Interval(lower, np.where(empty, 0.0, np.where(endless, np.inf, value.upper)))


@final
@dataclass(frozen=True, slots=True)
class SwappedLeaf(Leaf):
    """(Q, P) of a leaf: the loss changes its sign."""

    leaf: Leaf

    kind: ClassVar[str] = "swapped_leaf"

    def __str__(self) -> str:
        return f"({self.leaf}).swap()"

    @override
    def swap(self) -> Pair:
        return self.leaf

    @override
    def tails(self, t: Array) -> LossTails:
        found = self.leaf.tails(-t)
        return LossTails(found.q_below, found.p_below, found.q_above, found.p_above)

    @property
    @override
    def reach(self) -> tuple[float, float]:
        least, most = self.leaf.reach
        return -most, -least

    @override
    def jumps(self) -> tuple[Interval, Interval]:
        p, q = self.leaf.jumps()
        return q, p

    @override
    def alone(self) -> tuple[Interval, Interval]:
        p, q = self.leaf.alone()
        return q, p


@final
@dataclass(frozen=True, slots=True, eq=False)
class _LeafSource(LossSource):
    """A leaf as the lattice reads it."""

    leaf: Leaf

    @override
    def tails(self, t: Array) -> SourceTails:
        return SourceTails(*(_clipped(side) for side in self.leaf.tails(t)))

    @property
    @override
    def atoms(self) -> Masses:
        return Masses(*map(_clipped, self.leaf.jumps()))

    @property
    @override
    def reach(self) -> tuple[float, float]:
        return self.leaf.reach

    @property
    @override
    def only_q(self) -> tuple[float, float]:
        mass = _clipped(self.leaf.alone()[1])
        return float(mass.lower), float(mass.upper)

    @property
    @override
    def only_p(self) -> tuple[float, float]:
        mass = _clipped(self.leaf.alone()[0])
        return float(mass.lower), float(mass.upper)


def _clipped(side: Interval) -> Interval:
    return Interval(np.clip(side.lower, 0.0, 1.0), np.clip(side.upper, 0.0, 1.0))
