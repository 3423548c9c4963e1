"""A pair known by the tails of its loss, certified because they are intervals."""

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, NamedTuple, final

import numpy as np

from neyman.curves._divergences._outer_renyi import outer_rho
from neyman.curves._order import least_mu, least_rho
from neyman.curves._pair import Pair, Tails
from neyman.numerics import Array, Bracket, around
from neyman.numerics._interval import Interval
from neyman.numerics._lattice_sums._source import LossSource, Masses, SourceTails
from neyman.numerics._primitives import exp, log
from neyman.overriding import override

__all__ = ["Leaf", "LossTails"]

# Cells of the loss, from which divergences are bounded, and how far out they lie where it is
# unbounded; halvings of a search for a threshold.
_CELLS, _FAR, _HALVINGS = 4096, 700.0, 90
_LARGEST, _NEAR_ONE = 700.0, 2.0**-16


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
    1e-15, absolute. Override `log_delta_bracket` where a formula keeps more.
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

    def _above(self, t: Array) -> tuple[Interval, Interval]:
        """Return P(L > t) and Q(L > t), atoms and infinite losses counted."""
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
        p, q = (side.middle for side in self._above(at))
        with np.errstate(divide="ignore"):
            return Tails(np.log(p), np.log1p(-p), np.log(q), np.log1p(-q))

    @override
    def log_delta_bracket(self, epsilon: Array) -> Bracket:
        found = self.delta_bracket(epsilon)
        with np.errstate(divide="ignore"):
            logs = log(Interval(found.lower, found.upper))
        lower = np.where(found.lower > 0, logs.lower, -np.inf)
        return Bracket(lower, np.where(found.upper > 0, np.minimum(logs.upper, 0.0), -np.inf))

    @override
    def delta_bracket(self, epsilon: Array) -> Bracket:
        """Q(L > e) - e^e P(L > e); each atom counts with (q - e^e p)_+."""
        near = around(epsilon)
        # Delta falls, so either end of epsilon bounds it.
        upper, lower = self._delta(near.lower), self._delta(near.upper)
        most = self.reach[1]
        sure = (near.lower >= most) & (self.jumps()[0].lower.size == 0)
        high = np.where(sure, np.minimum(upper.upper, self.alone()[1].upper), upper.upper)
        return Bracket(np.clip(lower.lower, 0.0, 1.0), np.clip(high, 0.0, 1.0))

    def _delta(self, at: Array) -> Interval:
        """Return delta at doubles that stand for themselves."""
        found, odds = self.tails(at), exp(Interval.exactly(np.minimum(at, _LARGEST)))
        total = (found.q_above - odds * found.p_above).larger(0.0) + self.alone()[1]
        p, q = self.jumps()
        for i in range(p.lower.size):
            place = np.asarray([i])
            total = total + (q.at(place) - odds * p.at(place)).larger(0.0)
        far = at > _LARGEST
        return Interval(
            np.where(far, self.alone()[1].lower, total.lower),
            np.where(far, np.minimum(total.upper, found.q_above.upper + 1e-300), total.upper),
        )

    @override
    def tpr_bracket(self, alpha: Array) -> Bracket:
        """Between two neighbouring tests from below, below a line of slope e^t from above."""
        flat = np.ravel(np.asarray(alpha, dtype=np.float64))
        near = around(flat)
        low, high = self._around(flat)
        first, last = self._above(high), self._above(low)
        lower = _between(near.lower, first, last)
        upper = np.ones(flat.shape)
        for t in (low, high):
            inside = np.clip(t, -_LARGEST, _LARGEST)
            line = Interval(*self.delta_bracket(inside))
            line = line + exp(Interval(*around(inside))) * Interval.exactly(near.upper)
            upper = np.minimum(upper, line.upper)
        lower = np.where(flat <= 0, self.alone()[1].lower, np.where(flat >= 1, 1.0, lower))
        upper = np.where(flat <= 0, self.alone()[1].upper, np.where(flat >= 1, 1.0, upper))
        lower = np.minimum(np.maximum(lower, near.lower * (flat > 0)), upper)
        return Bracket(lower.reshape(np.shape(alpha)), upper.reshape(np.shape(alpha)))

    def _around(self, alpha: Array) -> tuple[Array, Array]:
        """Return thresholds below and above P(L > t) = alpha, hardly apart."""
        least, most = (np.clip(end, -_FAR, _FAR) for end in self.reach)
        jumps = self.jumps()
        if jumps[0].lower.size:
            place = (log(jumps[1]) - log(jumps[0])).middle
            least, most = min(least, float(np.min(place))), max(most, float(np.max(place)))
        low, high = np.full(alpha.shape, least - 1.0), np.full(alpha.shape, most + 1.0)
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            done = (middle == low) | (middle == high)
            if np.all(done):
                break
            over = self._above(middle)[0].upper > alpha
            low, high = np.where(over & ~done, middle, low), np.where(over | done, high, middle)
        return low, high

    @override
    def beta_bracket(self, alpha: Array) -> Bracket:
        power = self.tpr_bracket(alpha)
        rest = 1 - Interval(power.lower, power.upper)
        return Bracket(np.clip(rest.lower, 0.0, 1.0), np.clip(rest.upper, 0.0, 1.0))

    # -- one-number summaries -------------------------------------------------------------------

    @override
    def renyi_bracket(self, order: Array) -> Bracket:
        """From the masses of cells: Jensen's inequality in each, and the chord of its ends.

        Error: relative, about the square of a cell; infinite from above where the largest loss is.
        """
        found = [self._divergence(float(a)) for a in np.ravel(order)]
        lower, upper = np.asarray(found, dtype=np.float64).reshape(-1, 2).T
        return Bracket(lower.reshape(np.shape(order)), upper.reshape(np.shape(order)))

    def _divergence(self, a: float) -> tuple[float, float]:
        most = self.reach[1]
        if float(self.alone()[1].upper) > 0 and a >= 1:
            return (math.inf if float(self.alone()[1].lower) > 0 else 0.0), math.inf
        if math.isinf(a):
            return 0.0, max(most, 0.0)
        cells = _cells(self)
        if a == 1:
            # Divergences grow with the order.
            return _order(cells, 1 - _NEAR_ONE, most)[0], _order(cells, 1 + _NEAR_ONE, most)[1]
        return _order(cells, a, most)

    @override
    def zcdp_bracket(self) -> tuple[float, float]:
        return least_rho(self, outer_rho(self))

    @override
    def outer_pure(self) -> Fraction | None:
        if any(float(mass.upper) > 0 for mass in self.alone()):
            return None
        ends = [abs(end) for end in self.reach]
        p, q = self.jumps()
        if p.lower.size:
            place = log(q) - log(p)
            ends += [float(np.max(np.abs(place.lower))), float(np.max(np.abs(place.upper)))]
        most = max((end for end in ends if not math.isinf(end)), default=0.0)
        return None if any(map(math.isinf, self.reach)) else Fraction(most)

    @override
    def outer_gaussian(self, *, tight: bool = False) -> Fraction | None:  # noqa: ARG002
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
    # Where there is no room between the tests, the quotient holds every share.
    share = ((size - low).larger(0) / (high - low).larger(0)).clip(0.0, 1.0)
    value = (power + share * (more - power).larger(0)).lower
    # Where no threshold is small enough, a part of the smallest test.
    part = ((size / low).smaller(1) * power).lower
    return np.where(p_low.upper <= alpha, value, np.minimum(part, value))


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
    least, most = (float(np.clip(end, -_FAR, _FAR)) for end in leaf.reach)
    near = np.linspace(least, most, _CELLS)
    sizes = np.geomspace(1e-3, _FAR, _CELLS // 2)
    fine = np.concatenate((-sizes[::-1], sizes))
    t = np.unique(np.append(near, fine[(fine > least) & (fine < most)]))
    found = _LeafSource(leaf).cells(t, exact=True)
    ends = np.concatenate(([leaf.reach[0]], t, [leaf.reach[1]]))
    p, q = (Interval(mass.lower, mass.upper) for mass in found)
    return _Cells(p, q, ends[:-1], ends[1:], *leaf.jumps())


def _order(cells: _Cells, a: float, most: float) -> tuple[float, float]:
    """Bound log E_P[e^(aL)] / (a - 1): x^a is convex in x = e^L, or concave for a < 1.

    Relative to its value at the last end, so that nothing overflows.
    """
    order, last = Interval.decimal(a), float(_ends(cells)[1].upper[-1])
    with np.errstate(all="ignore"):
        values = [exp(order * (end - last)) for end in _ends(cells)]
        # The cell's mean of x under P is q/p: its power is one side, the chord the other.
        jensen = _within(_power(cells.p, cells.q, order, last), cells, values)
        chord = _within(_chord(cells, values), cells, values)
        atoms = _power(cells.atom_p, cells.atom_q, order, last)
    if math.isinf(most):
        # The last cell has no end.
        chord.lower[-1], chord.upper[-1] = 0.0, math.inf
        jensen.upper[-1] = math.inf if a > 1 else jensen.upper[-1]
    one, other = (jensen, chord) if a > 1 else (chord, jensen)
    total = Interval(one.lower, other.upper).larger(0).total() + atoms.total()
    found = (log(total) + order * last) / (order - 1)
    return max(float(found.lower), 0.0), max(float(found.upper), 0.0)


def _within(value: Interval, cells: _Cells, ends: list[Interval]) -> Interval:
    """Return the mean of x^a over a cell, which lies between its values at the ends."""
    least, most = ends[0].smaller(ends[1]) * cells.p, ends[0].larger(ends[1]) * cells.p
    lower = np.fmax(value.lower, least.lower)
    return Interval(lower, np.maximum(np.fmin(value.upper, most.upper), lower))


def _power(p: Interval, q: Interval, a: Interval, last: float) -> Interval:
    """Return p (q/p)^a e^(-a last), 0 where there is no mass."""
    some = (p.upper > 0) & (q.upper > 0)
    known = Interval(np.where(some, p.lower, 1.0), np.where(some, p.upper, 1.0))
    other = Interval(np.where(some, q.lower, 1.0), np.where(some, q.upper, 1.0))
    value = exp(a * (log(other) - log(known) - last) + log(known))
    return Interval(np.where(some, value.lower, 0.0), np.where(some, value.upper, 0.0))


def _ends(cells: _Cells) -> tuple[Interval, Interval]:
    """Return the losses at the ends of the cells, within the doubles of which e^x is one."""
    low, high = (np.clip(end, -_FAR, _FAR) for end in (cells.low, cells.high))
    return Interval.exactly(low), Interval.exactly(high)


def _chord(cells: _Cells, values: list[Interval]) -> Interval:
    """Return the mean, under P, of what is linear in e^L between its values at a cell's ends."""
    low, high = (exp(end) for end in _ends(cells))
    bottom, top = values
    share = (cells.q - low * cells.p) / (high - low).larger(5e-324)
    rest = (high * cells.p - cells.q) / (high - low).larger(5e-324)
    value = bottom * rest + top * share
    empty = (cells.p.upper <= 0) | (cells.q.upper <= 0)
    return Interval(np.where(empty, 0.0, value.lower), np.where(empty, 0.0, value.upper))


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


def _clipped(side: Interval) -> Bracket:
    return Bracket(np.clip(side.lower, 0.0, 1.0), np.clip(side.upper, 0.0, 1.0))
