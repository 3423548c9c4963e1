"""The laws of the library's losses, as the lattice needs them: tails, atoms and infinite masses.

Each formula is written once, over intervals, and keeps a relative accuracy in both tails. A leaf
names its source in `Pair.loss_source`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias, final

import numpy as np

from neyman.numerics import ULP, Array, Atoms, Interval, exp_outward
from neyman.numerics._lattice_sums._source import (
    AtomSource,
    LossSource,
    Masses,
    SampledSource,
    SourceTails,
)
from neyman.numerics._laws._normal_mixture import NormalMixtures
from neyman.numerics._primitives import exp, expm1, normal_sf
from neyman.overriding import override

__all__ = [
    "ErasedSource",
    "GaussianMixtureSource",
    "GaussianSource",
    "LaplaceSource",
    "LogisticSource",
    "MixedSource",
    "SymmetrisedSource",
    "atom_source",
    "law_above",
    "law_below",
]


Reading: TypeAlias = Callable[[Array], Interval]


def _bracket(x: Interval) -> Interval:
    return Interval(np.clip(x.lower, 0.0, 1.0), np.clip(x.upper, 0.0, 1.0))


def _tails(
    p_above: Interval, q_above: Interval, p_below: Interval, q_below: Interval
) -> SourceTails:
    return SourceTails(*map(_bracket, (p_above, q_above, p_below, q_below)))


@final
@dataclass(frozen=True, slots=True, eq=False)
class GaussianSource(LossSource):
    """N(0, 1) against N(mu, 1): L is normal, of mean -mu^2/2 under P, mu^2/2 under Q."""

    mu: Interval

    @override
    def tails(self, t: Array) -> SourceTails:
        with np.errstate(all="ignore"):
            place, half = Interval.exactly(np.clip(t, -1e300, 1e300)) / self.mu, self.mu / 2
            p, q = place + half, place - half
            return _tails(normal_sf(p), normal_sf(q), normal_sf(-p), normal_sf(-q))


@dataclass(frozen=True, slots=True)
class _BoundedSource(LossSource):
    """A loss within a bound."""

    bound: Fraction

    @property
    @override
    def reach(self) -> tuple[float, float]:
        most = float(Interval.of(self.bound).upper)
        return -most, most

    def _rooms(self, t: Array) -> tuple[Interval, Interval]:
        """Return (bound - t)/2 and (bound + t)/2, at least 0 each."""
        bound = Interval.of(self.bound)
        inside = Interval.exactly(np.clip(t, -float(bound.upper), float(bound.upper)))
        return ((bound - inside) / 2).larger(0.0), ((bound + inside) / 2).larger(0.0)


@final
@dataclass(frozen=True, slots=True)
class LaplaceSource(_BoundedSource):
    """Lap(0, 1) against Lap(epsilon, 1): atoms at both ends, an exponential density between."""

    @override
    def tails(self, t: Array) -> SourceTails:
        right, left = self._rooms(t)
        far = exp(-Interval.of(self.bound)) / 2
        return _tails(far * expm1(right), -expm1(-right) / 2, -expm1(-left) / 2, far * expm1(left))

    @property
    @override
    def atoms(self) -> Masses:
        far = exp(-Interval.of(self.bound)) / 2
        half = np.asarray(0.5)
        return Masses(
            Interval(np.stack((half, far.lower)), np.stack((half, far.upper))),
            Interval(np.stack((far.lower, half)), np.stack((far.upper, half))),
        )


@final
@dataclass(frozen=True, slots=True)
class LogisticSource(_BoundedSource):
    """Logistic(0) against Logistic(eta): P(L > t) = (e^((eta - t)/2) - 1)/(e^eta - 1)."""

    @override
    def tails(self, t: Array) -> SourceTails:
        right, left = self._rooms(t)
        bound = Interval.of(self.bound)
        up, down = expm1(bound), -expm1(-bound)
        return _tails(
            expm1(right) / up, -expm1(-right) / down, -expm1(-left) / down, expm1(left) / up
        )


@final
@dataclass(frozen=True, slots=True, eq=False)
class GaussianMixtureSource(LossSource):
    """Two mixtures of normals whose likelihood ratio increases: tails at the place of a loss."""

    mixtures: NormalMixtures
    ends: tuple[float, float]

    @property
    @override
    def reach(self) -> tuple[float, float]:
        return self.ends

    @override
    def tails(self, t: Array) -> SourceTails:
        flat = np.ravel(t)
        over, under = flat >= self.ends[1], flat <= self.ends[0]
        found = self.mixtures.place(np.where(over | under, 0.0, flat))
        low = np.where(over, np.inf, np.where(under, -np.inf, found.lower))
        high = np.where(over, np.inf, np.where(under, -np.inf, found.upper))

        def tail(read: Reading, *, above: bool) -> Interval:
            first, last = (high, low) if above else (low, high)
            lower, upper = (_at(read, place, above=above) for place in (first, last))
            log = Interval(lower.lower, upper.upper)
            both = exp_outward(Interval(np.minimum(log.lower, 0.0), np.minimum(log.upper, 0.0)))
            return Interval(both.lower.reshape(t.shape), both.upper.reshape(t.shape))

        return SourceTails(
            tail(self.mixtures.log_p_above, above=True),
            tail(self.mixtures.log_q_above, above=True),
            tail(self.mixtures.log_p_below, above=False),
            tail(self.mixtures.log_q_below, above=False),
        )


def _at(read: Reading, z: Array, *, above: bool) -> Interval:
    """Return the log of a tail at a place; beyond the line it is that of nothing or of all."""
    found = read(np.where(np.isfinite(z), z, 0.0))
    sure = np.where((z > 0) == above, -np.inf, 0.0)
    return Interval(*(np.where(np.isfinite(z), side, sure) for side in found))


@final
@dataclass(frozen=True, slots=True, eq=False)
class ErasedSource(LossSource):
    """A loss that is infinite, in either direction, with some probability; bounds of it are given.

    Attributes:
        source: otherwise.
        mass: that probability.
        kept: the rest.
    """

    source: LossSource
    mass: Interval
    kept: Interval

    def _kept(self, mass: Interval) -> Interval:
        return _bracket(mass * self.kept)

    @override
    def tails(self, t: Array) -> SourceTails:
        return SourceTails(*map(self._kept, self.source.tails(t)))

    @property
    @override
    def atoms(self) -> Masses:
        return Masses(*map(self._kept, self.source.atoms))

    @property
    @override
    def reach(self) -> tuple[float, float]:
        return self.source.reach

    def _lost(self, inner: tuple[float, float]) -> tuple[float, float]:
        kept = self._kept(Interval(np.asarray(inner[0]), np.asarray(inner[1])))
        total = _bracket(self.mass + kept)
        return float(total.lower), float(total.upper)

    @property
    @override
    def only_q(self) -> tuple[float, float]:
        return self._lost(self.source.only_q)

    @property
    @override
    def only_p(self) -> tuple[float, float]:
        return self._lost(self.source.only_p)


@final
@dataclass(frozen=True, slots=True, eq=False)
class SymmetrisedSource(LossSource):
    """The larger of a sampled loss and its mirror image: right of 0 the one, left of it the other.

    The rest is at 0. For bases without atoms.
    """

    base: LossSource
    probability: Fraction

    def _sampled(self, t: Array) -> tuple[Interval, Interval]:
        found = SampledSource(self.base, self.probability).tails(np.maximum(t, 0.0))
        return Interval(*found.p_above), Interval(*found.q_above)

    @override
    def tails(self, t: Array) -> SourceTails:
        (p, q), (p0, q0) = self._sampled(np.abs(t)), self._sampled(np.zeros(()))
        right = t >= 0
        # P(L < -t) is Q(L > t), and the other way round.
        far = Interval.where(right, p, p0 + (q0 - q)), Interval.where(right, q, q0 + (p0 - p))
        near = Interval.where(right, q0 + (p0 - p), q), Interval.where(right, p0 + (q0 - q), p)
        return _tails(*far, *near)

    @property
    @override
    def atoms(self) -> Masses:
        p, q = self._sampled(np.zeros(()))
        rest = _bracket(1 - p - q)
        mass = Interval(np.reshape(rest.lower, 1), np.reshape(rest.upper, 1))
        return Masses(mass, mass)

    @property
    @override
    def reach(self) -> tuple[float, float]:
        most = SampledSource(self.base, self.probability).reach[1]
        return -most, most


@final
@dataclass(frozen=True, slots=True, eq=False)
class MixedSource(LossSource):
    """One of several losses, drawn with its share and seen."""

    parts: Sequence[tuple[LossSource, Fraction]]

    def _mixed(self, masses: Sequence[Interval]) -> Interval:
        total = Interval.exactly(np.zeros(()))
        for mass, (_, share) in zip(masses, self.parts, strict=True):
            total = total + Interval(mass.lower, mass.upper) * Interval.of(share)
        return _bracket(total)

    @override
    def tails(self, t: Array) -> SourceTails:
        found = [source.tails(t) for source, _ in self.parts]
        return SourceTails(*(self._mixed(sides) for sides in zip(*found, strict=True)))

    @property
    @override
    def atoms(self) -> Masses:
        found = [
            [_bracket(Interval(*mass) * Interval.of(share)) for mass in source.atoms]
            for source, share in self.parts
        ]
        p, q = (
            Interval(
                np.concatenate([masses[side].lower for masses in found]),
                np.concatenate([masses[side].upper for masses in found]),
            )
            for side in (0, 1)
        )
        return Masses(p, q)

    @property
    @override
    def reach(self) -> tuple[float, float]:
        least, most = zip(*(source.reach for source, _ in self.parts), strict=True)
        return min(least), max(most)

    def _alone(self, bounds: Sequence[tuple[float, float]]) -> tuple[float, float]:
        mass = self._mixed([Interval(np.asarray(low), np.asarray(high)) for low, high in bounds])
        return float(mass.lower), float(mass.upper)

    @property
    @override
    def only_q(self) -> tuple[float, float]:
        return self._alone([source.only_q for source, _ in self.parts])

    @property
    @override
    def only_p(self) -> tuple[float, float]:
        return self._alone([source.only_p for source, _ in self.parts])


def atom_source(atoms: Atoms) -> AtomSource:
    """Return the source of a law with atoms only."""
    # Relative to each mass: rounding is large beside the smallest ones.
    relative = np.minimum(np.asarray(atoms.relative_error), 1.0) * (1 + 2.0**-40)
    near = Interval(1 - relative, 1 + relative)
    return _of_atoms(atoms, near, float(np.max(relative, initial=0.0)))


def law_above(atoms: Atoms) -> AtomSource:
    """Return a law that gives away at least as much: the same losses, of all that they may weigh.

    A mass that rounding leaves uncertain is so in both laws alike, and its loss is not.
    """
    return _one_sided(atoms, 1)


def law_below(atoms: Atoms) -> AtomSource:
    """Return a law that gives away at most as much: the same losses, with their least masses."""
    return _one_sided(atoms, -1)


def _one_sided(atoms: Atoms, side: int) -> AtomSource:
    relative = np.minimum(np.asarray(atoms.relative_error) * (1 + 2.0**-40), 1.0)
    share = 1 + side * relative
    # The logarithms of both masses are rounded.
    room = 4 * ULP * (1 + np.abs(atoms.log_p) + np.abs(atoms.log_q))
    off = np.where(share > 0, room, 0.0)
    worst = float(np.max(relative, initial=0.0))
    return _of_atoms(atoms, Interval(share * (1 - off), share * (1 + off)), worst)


def _of_atoms(atoms: Atoms, share: Interval, worst: float) -> AtomSource:
    def masses(log: Array, share: Interval) -> Interval:
        return _bracket(exp(Interval.exactly(log)) * share)

    def alone(log: float, lost: float) -> tuple[float, float]:
        known = masses(np.asarray(log), Interval(np.asarray(1 - worst), np.asarray(1 + worst)))
        more = exp(Interval.exactly(np.asarray(lost)))
        return float(known.lower), min(float((more + known.upper).upper), 1.0)

    return AtomSource(
        Masses(masses(atoms.log_p, share), masses(atoms.log_q, share)),
        alone(atoms.log_only_q, atoms.log_lost_q),
        alone(atoms.log_only_p, atoms.log_lost_p),
    )
