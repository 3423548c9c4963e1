"""One loss as the lattice uses it: masses of cells, atoms, range; and Poisson sampling of a loss.

A loss L = log dQ/dP has a part without atoms, atoms, and masses that one law never gives. The three
are stated apart, because the lower lattice law places an atom and a cell by different rules.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple, final

import numpy as np

from neyman.numerics._bracket import ULP, Array
from neyman.numerics._interval import Interval
from neyman.overriding import override

__all__ = [
    "AtomSource",
    "Atoms",
    "ChordSource",
    "LossSource",
    "Masses",
    "SampledSource",
    "SampledSwapSource",
    "SourceTails",
    "SwappedSource",
]

# From this t on, e^t has a formula of its own.
_FAR = 30.0
# The share of the line of an atom that has no neighbours.
_NEAR = 1e-9


class Masses(NamedTuple):
    """Brackets of masses in P and in Q, cell by cell or atom by atom."""

    p: Interval
    q: Interval

    def swapped(self) -> "Masses":
        """Exchange the two laws."""
        return Masses(self.q, self.p)

    def mixed(self, probability: Fraction) -> "Masses":
        """Return the masses in P and in (1 - probability) P + probability Q."""
        share = float(probability)
        rest = float(1 - probability)

        def mix(p: Array, q: Array, side: int) -> Array:
            return np.maximum((rest * p + share * q) * (1 + side * ULP), 0.0)

        return Masses(
            self.p,
            Interval(mix(self.p.lower, self.q.lower, -1), mix(self.p.upper, self.q.upper, 1)),
        )


Atoms = Masses


def no_atoms() -> Atoms:
    """Return no atoms."""
    none = Interval(np.zeros(0), np.zeros(0))
    return Atoms(none, none)


class SourceTails(NamedTuple):
    """Brackets of P(L > t), Q(L > t), P(L <= t), Q(L <= t) of the part without atoms.

    Each has a relative accuracy of its own. Infinite losses do not count.
    """

    p_above: Interval
    q_above: Interval
    p_below: Interval
    q_below: Interval


def no_tails(t: Array) -> SourceTails:
    """Return the tails of nothing."""
    nothing = Interval(np.zeros(t.shape), np.zeros(t.shape))
    return SourceTails(nothing, nothing, nothing, nothing)


class LossSource(ABC):
    """One loss L = log dQ/dP, as the lattice reads it."""

    __slots__ = ()

    @abstractmethod
    def tails(self, t: Array) -> SourceTails:
        """Return the tails of the part without atoms, at thresholds of any shape.

        Args:
            t: doubles taken as exact; infinities are allowed.
        """

    @property
    def atoms(self) -> Atoms:
        """The atoms of finite loss; an atom's loss is the logarithm of its mass in Q over P."""
        return no_atoms()

    @property
    def reach(self) -> tuple[float, float]:
        """Bounds of the losses of the part without atoms."""
        return -np.inf, np.inf

    @property
    def only_q(self) -> tuple[float, float]:
        """Lower and upper bound of Q(L = inf), the mass that P never gives."""
        return 0.0, 0.0

    @property
    def only_p(self) -> tuple[float, float]:
        """Lower and upper bound of P(L = -inf), the mass that Q never gives."""
        return 0.0, 0.0

    def cells(self, t: Array, *, exact: bool) -> Masses:  # noqa: ARG002
        """Return the masses of (-inf, t_0], (t_0, t_1], ..., (t_last, inf), n + 1 for n thresholds.

        Args:
            t: increasing.
            exact: the thresholds are meant to the last bit; else any increasing ones nearby do.
        """
        tails = self.tails(t)
        return Masses(
            _between(tails.p_above, tails.p_below), _between(tails.q_above, tails.q_below)
        )


def _between(above: Interval, below: Interval) -> Interval:
    """Return the masses of the cells; each from the smaller of the two tails."""
    lower = np.maximum(above.lower[:-1] - above.upper[1:], below.lower[1:] - below.upper[:-1])
    upper = np.minimum(above.upper[:-1] - above.lower[1:], below.upper[1:] - below.lower[:-1])
    lower = np.maximum(lower, 0.0) * (1 - ULP)
    upper = np.maximum(upper, 0.0) * (1 + ULP)
    return Interval(
        np.concatenate((below.lower[:1], lower, above.lower[-1:])),
        np.concatenate((below.upper[:1], upper, above.upper[-1:])),
    )


@final
@dataclass(frozen=True, slots=True, eq=False)
class AtomSource(LossSource):
    """A loss with atoms only."""

    masses: Atoms
    q_alone: tuple[float, float] = (0.0, 0.0)
    p_alone: tuple[float, float] = (0.0, 0.0)

    @override
    def tails(self, t: Array) -> SourceTails:
        return no_tails(t)

    @property
    @override
    def atoms(self) -> Atoms:
        return self.masses

    @property
    @override
    def reach(self) -> tuple[float, float]:
        return np.inf, -np.inf

    @property
    @override
    def only_q(self) -> tuple[float, float]:
        return self.q_alone

    @property
    @override
    def only_p(self) -> tuple[float, float]:
        return self.p_alone


@final
@dataclass(frozen=True, slots=True, eq=False)
class ChordSource(LossSource):
    """Dense atoms read as nested tests, for the lower law only: a threshold may cut an atom in two.

    A part of an atom has the atom's loss, so that the masses between two thresholds are the masses
    of a randomised event. The lower law asks for no more. The cells are not those of the loss, so
    the upper law must read the atoms themselves.

    Attributes:
        losses: increasing, about where the atoms are.
        p: masses, each at least the atom's own.
        q: masses, each at most the atom's own.
        q_alone: lower bound of Q(L = inf).
        p_alone: lower and upper bound of P(L = -inf).
    """

    losses: Array
    p: Array
    q: Array
    q_alone: float = 0.0
    p_alone: tuple[float, float] = (0.0, 0.0)

    @property
    def _edges(self) -> Array:
        """The boundaries between the atoms' shares of the line."""
        if self.losses.size < 2:
            return np.append(self.losses - _NEAR, self.losses + _NEAR)
        middle = (self.losses[1:] + self.losses[:-1]) / 2
        return np.concatenate(
            (2 * self.losses[:1] - middle[:1], middle, 2 * self.losses[-1:] - middle[-1:])
        )

    @override
    def tails(self, t: Array) -> SourceTails:
        if not self.losses.size:
            return no_tails(t)

        def both(mass: Array) -> tuple[Interval, Interval]:
            room = mass.size * 2.0**-52
            up, down = np.cumsum(mass[::-1])[::-1], np.cumsum(mass)
            above = np.interp(t, self._edges, np.append(up, 0.0))
            below = np.interp(t, self._edges, np.append(0.0, down))
            return tuple(Interval(x * (1 - room), x * (1 + room)) for x in (above, below))  # type: ignore[return-value]

        (p_above, p_below), (q_above, q_below) = both(self.p), both(self.q)
        return SourceTails(p_above, q_above, p_below, q_below)

    @property
    @override
    def reach(self) -> tuple[float, float]:
        edges = self._edges
        return (float(edges[0]), float(edges[-1])) if edges.size else (np.inf, -np.inf)

    @property
    @override
    def only_q(self) -> tuple[float, float]:
        return self.q_alone, self.q_alone

    @property
    @override
    def only_p(self) -> tuple[float, float]:
        return self.p_alone

    @override
    def cells(self, t: Array, *, exact: bool) -> Masses:
        if not self.losses.size:
            return LossSource.cells(self, t, exact=exact)
        edges = self._edges
        at = np.interp(t, edges, np.arange(edges.size, dtype=np.float64))
        whole = np.minimum(at.astype(np.int64), self.p.size - 1)
        share = np.clip(at - whole, 0.0, 1.0)

        def sums(mass: Array) -> Interval:
            # Whole atoms from the one that holds the threshold on, the cut one's shares apart.
            padded = np.append(mass, 0.0)
            blocks = np.add.reduceat(padded, np.append(0, whole))
            # An empty block repeats its first element.
            starts, ends = np.append(0, whole), np.append(whole, mass.size)
            blocks = np.where(ends > starts, blocks, 0.0)
            cut = share * mass[whole]
            value = blocks + np.append(cut, 0.0) - np.append(0.0, cut)
            sizes = (ends - starts + 4.0) * 2.0**-52 * (blocks + np.append(cut, 0.0))
            return Interval(np.maximum(value - sizes, 0.0), np.maximum(value + sizes, 0.0))

        return Masses(sums(self.p), sums(self.q))


@final
@dataclass(frozen=True, slots=True, eq=False)
class SwappedSource(LossSource):
    """(Q, P): the loss changes its sign."""

    source: LossSource

    @override
    def tails(self, t: Array) -> SourceTails:
        found = self.source.tails(-t)
        return SourceTails(found.q_below, found.p_below, found.q_above, found.p_above)

    @property
    @override
    def atoms(self) -> Atoms:
        return self.source.atoms.swapped()

    @property
    @override
    def reach(self) -> tuple[float, float]:
        least, largest = self.source.reach
        return -largest, -least

    @property
    @override
    def only_q(self) -> tuple[float, float]:
        return self.source.only_p

    @property
    @override
    def only_p(self) -> tuple[float, float]:
        return self.source.only_q

    @override
    def cells(self, t: Array, *, exact: bool) -> Masses:
        found = self.source.cells(-t[::-1], exact=exact)
        p, q = (Interval(m.lower[::-1], m.upper[::-1]) for m in found)
        return Masses(q, p)


def _inner(t: Array, probability: Fraction) -> Interval:
    """Bracket log(1 + (e^t - 1)/q); -inf where e^t <= 1 - q."""
    share = float(probability)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        z = np.expm1(np.minimum(t, _FAR)) / share
        room = 4 * 2.0**-53 * np.abs(z)
        near = [np.log1p(np.maximum(z + side * room, -1.0)) for side in (-1, 1)]
        far = t - np.log(share) + np.log1p((share - 1) * np.exp(-np.maximum(t, _FAR)))
        wide = ULP * (2 + np.abs(far) + abs(np.log(share)))
        low = np.where(t > _FAR, far - wide, near[0] - ULP * np.abs(near[0]))
        high = np.where(t > _FAR, far + wide, near[1] + ULP * np.abs(near[1]))
    # Beyond the ends the threshold is infinite, up to rounding.
    low = np.where(np.isnan(low), near[0], low)
    high = np.where(np.isnan(high), near[1], high)
    return Interval(np.where(np.isposinf(t), np.inf, low), np.where(np.isposinf(t), np.inf, high))


def _widest(low: SourceTails, high: SourceTails) -> SourceTails:
    """Return brackets of tails at a threshold between one where they are known and another."""
    return SourceTails(
        Interval(high.p_above.lower, low.p_above.upper),
        Interval(high.q_above.lower, low.q_above.upper),
        Interval(low.p_below.lower, high.p_below.upper),
        Interval(low.q_below.lower, high.q_below.upper),
    )


def _mixed_tails(tails: SourceTails, probability: Fraction) -> SourceTails:
    above = Masses(tails.p_above, tails.q_above).mixed(probability)
    below = Masses(tails.p_below, tails.q_below).mixed(probability)
    return SourceTails(above.p, above.q, below.p, below.q)


def _log_mixed(loss: float, probability: Fraction) -> float:
    """Return log(1 - q + q e^loss)."""
    share = float(probability)
    if loss > _FAR:
        return loss + float(np.log(share) + np.log1p((1 - share) / share * np.exp(-loss)))
    return float(np.log1p(share * np.expm1(loss)))


def _joined(atoms: Atoms, p: tuple[float, float], q: tuple[float, float]) -> Atoms:
    """Return the atoms and one more, if it has mass."""
    if max(p[1], q[1]) <= 0:
        return atoms
    return Atoms(
        *(
            Interval(np.append(mass.lower, more[0]), np.append(mass.upper, more[1]))
            for mass, more in ((atoms.p, p), (atoms.q, q))
        )
    )


def _scaled(mass: tuple[float, float], factor: Fraction) -> tuple[float, float]:
    f = float(factor)
    return mass[0] * f * (1 - ULP), mass[1] * f * (1 + ULP)


@final
@dataclass(frozen=True, slots=True, eq=False)
class SampledSource(LossSource):
    """(P, (1 - q) P + q Q): its loss is log(1 - q + q e^L).

    Attributes:
        source: of (P, Q), where P is a probability.
        probability: q, strictly between 0 and 1.
    """

    source: LossSource
    probability: Fraction

    @override
    def tails(self, t: Array) -> SourceTails:
        inner = _inner(t, self.probability)
        both = _widest(self.source.tails(inner.lower), self.source.tails(inner.upper))
        return _mixed_tails(both, self.probability)

    @property
    @override
    def atoms(self) -> Atoms:
        # Where Q has no mass the loss is log(1 - q).
        lost = self.source.only_p
        return _joined(
            self.source.atoms.mixed(self.probability), lost, _scaled(lost, 1 - self.probability)
        )

    @property
    @override
    def reach(self) -> tuple[float, float]:
        least, largest = self.source.reach
        ends = _log_mixed(least, self.probability), _log_mixed(largest, self.probability)
        return ends[0] - ULP * (1 + abs(ends[0])), ends[1] + ULP * (1 + abs(ends[1]))

    @property
    @override
    def only_q(self) -> tuple[float, float]:
        return _scaled(self.source.only_q, self.probability)

    @override
    def cells(self, t: Array, *, exact: bool) -> Masses:
        if exact:
            return super(SampledSource, self).cells(t, exact=True)
        inner = np.maximum.accumulate(_inner(t, self.probability).upper)
        return self.source.cells(inner, exact=False).mixed(self.probability)


@final
@dataclass(frozen=True, slots=True, eq=False)
class SampledSwapSource(LossSource):
    """((1 - q) Q + q P, Q) of a source of (P, Q): its loss is -log(1 - q + q e^-L).

    With (P, Q) the laws of a mechanism with and without a unit, this is its Poisson sampling, seen
    from with the unit.

    Attributes:
        source: of (P, Q).
        probability: q, strictly between 0 and 1.
    """

    source: LossSource
    probability: Fraction

    @override
    def tails(self, t: Array) -> SourceTails:
        inner = _inner(-t, self.probability)
        both = _widest(self.source.tails(-inner.upper), self.source.tails(-inner.lower))
        above = Masses(both.q_above, both.p_above).mixed(self.probability)
        below = Masses(both.q_below, both.p_below).mixed(self.probability)
        return SourceTails(above.q, above.p, below.q, below.p)

    @property
    @override
    def atoms(self) -> Atoms:
        lost = self.source.only_q
        mixed = self.source.atoms.swapped().mixed(self.probability).swapped()
        return _joined(mixed, _scaled(lost, 1 - self.probability), lost)

    @property
    @override
    def reach(self) -> tuple[float, float]:
        least, largest = self.source.reach
        ends = -_log_mixed(-least, self.probability), -_log_mixed(-largest, self.probability)
        return ends[0] - ULP * (1 + abs(ends[0])), ends[1] + ULP * (1 + abs(ends[1]))

    @property
    @override
    def only_p(self) -> tuple[float, float]:
        return _scaled(self.source.only_p, self.probability)

    @override
    def cells(self, t: Array, *, exact: bool) -> Masses:
        if exact:
            return super(SampledSwapSource, self).cells(t, exact=True)
        inner = np.maximum.accumulate(-_inner(-t, self.probability).upper)
        found = self.source.cells(inner, exact=False)
        return found.swapped().mixed(self.probability).swapped()
