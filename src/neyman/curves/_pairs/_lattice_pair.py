"""A pair whose loss has atoms only."""

from abc import abstractmethod
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

import numpy as np

from neyman.curves._curve import Curve
from neyman.curves._formulas import Summaries, Views
from neyman.curves._pair import Pair, Tails
from neyman.curves._profiles._atomic_profile import AtomicProfile
from neyman.curves._solvers._sources import atom_source
from neyman.errors import InvalidParameter
from neyman.numerics import (
    Array,
    AtomicLaw,
    Atoms,
    ComplexArray,
    Interval,
    LossSum,
    WeightedLosses,
)
from neyman.numerics._atomic._atomic_sums import atom_cumulant, atom_renyi, atom_tails
from neyman.numerics._atomic._tail_views import largest_vertex
from neyman.numerics._lattice_sums._source import LossSource
from neyman.overriding import override

__all__ = ["LatticePair"]


class LatticePair(Pair):
    """A pair whose loss has atoms only; a leaf gives them, and the one-step table does the rest."""

    __slots__ = ()

    proved: ClassVar[bool] = True

    @abstractmethod
    def atoms(self) -> Atoms:
        """Return the law of the loss under P and under Q."""

    def profile(self) -> AtomicProfile:
        """Return the certified one-step profile."""
        return _profile(self)

    @property
    @override
    def log_singular(self) -> tuple[float, float]:
        atoms = self.atoms()
        return atoms.log_only_q, atoms.log_only_p

    @override
    def log_tails(self, t: Array, *, closed: bool = False) -> Tails:
        return Tails(*atom_tails(self.atoms(), np.asarray(t, dtype=np.float64), closed=closed))

    @override
    def cumulant(self, s: ComplexArray) -> ComplexArray:
        return atom_cumulant(self.atoms(), s)

    @override
    def loss_source(self) -> LossSource:
        return atom_source(self.atoms())

    @override
    def loss_law(self) -> LossSum | None:
        return self.sampled_law(1.0)

    def sampled_law(self, probability: float) -> LossSum | None:
        """Return the law of the loss of (P, (1 - q) P + q Q)."""
        atoms = self.atoms()
        if max(self.log_singular) > -np.inf:
            return None
        both = np.isfinite(atoms.log_p) & np.isfinite(atoms.log_q)
        loss = atoms.log_q[both] - atoms.log_p[both]
        r = probability * np.expm1(loss)
        known = loss if probability == 1 else np.log1p(r)
        return LossSum.of(AtomicLaw(WeightedLosses.of(atoms.log_p[both], r, known)))

    @override
    def views(self) -> Views:
        return Views(
            log_delta=self._log_delta, epsilon=self._epsilon, beta=self._beta, tpr=self._tpr
        )

    @override
    def summaries(self) -> Summaries:
        return Summaries(renyi=self._renyi, mu=self._mu, outer_gaussian=self._outer_gaussian)

    def _epsilon(self, delta: Array) -> Interval:
        return self.profile().epsilon_bracket(delta)

    def _log_delta(self, epsilon: Array) -> Interval:
        profile = self.profile()
        found = profile.log_delta_bracket(epsilon)
        # A table omits far atoms and blurs the last one, so use the bound of the losses there.
        if np.any(epsilon >= np.max(profile.table.places.lower, initial=-np.inf)):
            outer = self.outer_pure()
            most = np.inf if outer is None else Interval.of(outer).upper
            none = (epsilon >= most) & (self.log_singular[0] == -np.inf)
            found = Interval.where(none, Interval.exactly(-np.inf), found)
        return found

    def _beta(self, alpha: Array) -> Interval:
        return self.profile().beta_bracket(alpha)

    def _tpr(self, alpha: Array) -> Interval:
        return self.profile().tpr_bracket(alpha)

    def _outer_gaussian(self) -> Fraction | None:
        if max(self.log_singular) > -np.inf:
            return None
        _, mu = largest_vertex(self.profile().table)
        return Fraction(mu) ** 2

    def _mu(self, slack: float) -> tuple[float, float]:
        lower, upper = Curve.mu_bracket(self, slack)
        if slack > 0 or not np.isfinite(upper):
            return lower, upper
        return max(lower, largest_vertex(self.profile().table)[0]), upper

    def _renyi(self, order: Array) -> Interval:
        return Interval.decimal(order).through(lambda a: atom_renyi(self.atoms(), a), falling=False)


# Room for both directions of two pairs: one view reads a table several times.
@lru_cache(maxsize=4)
def _profile(pair: LatticePair) -> AtomicProfile:
    found = AtomicProfile.of([(pair.atoms(), 1)])
    if found is None:
        raise InvalidParameter(f"{pair} has too many atoms for a table; write a smaller noise")
    return found
