"""A pair whose loss has atoms only."""

from abc import abstractmethod
from fractions import Fraction

import numpy as np

from neyman.curves._pair import Pair, Tails
from neyman.curves._profiles._profile import LatticeProfile
from neyman.errors import InvalidParameter
from neyman.numerics import (
    Array,
    AtomicLaw,
    Atoms,
    Bracket,
    ComplexArray,
    LossSum,
    WeightedLosses,
    around,
)
from neyman.numerics._atomic._atomic_sums import atom_cumulant, atom_renyi, atom_tails
from neyman.numerics._atomic._tail_vertices import largest_vertex

__all__ = ["LatticePair"]


class LatticePair(Pair):
    """A pair whose loss has atoms only; a leaf gives them, and the one-step table does the rest."""

    __slots__ = ()

    @abstractmethod
    def atoms(self) -> Atoms:
        """Return the law of the loss under P and under Q."""

    def profile(self) -> LatticeProfile:
        """Return the certified one-step profile."""
        found = LatticeProfile.exactly([(self.atoms(), 1)])
        if found is None:
            raise InvalidParameter(f"{self} has too many atoms for a table; write a smaller noise")
        return found

    @property
    def certified(self) -> bool:
        """True: sums of masses with a counted error."""
        return True

    @property
    def log_singular(self) -> tuple[float, float]:
        """The masses at infinity."""
        atoms = self.atoms()
        return atoms.log_only_q, atoms.log_only_p

    def log_tails(self, t: Array, *, closed: bool = False) -> Tails:
        """Sums over the atoms."""
        return Tails(*atom_tails(self.atoms(), np.asarray(t, dtype=np.float64), closed=closed))

    def cumulant(self, s: ComplexArray) -> ComplexArray:
        """A sum over the atoms, its first order taken out."""
        return atom_cumulant(self.atoms(), s)

    def loss_law(self) -> LossSum | None:
        """The atoms as weighted points, where no mass is singular."""
        return self.sampled_law(1.0)

    def sampled_law(self, probability: float) -> LossSum | None:
        """The same, mixed."""
        atoms = self.atoms()
        if max(self.log_singular) > -np.inf:
            return None
        both = np.isfinite(atoms.log_p) & np.isfinite(atoms.log_q)
        loss = atoms.log_q[both] - atoms.log_p[both]
        r = probability * np.expm1(loss)
        known = loss if probability == 1 else np.log1p(r)
        return LossSum.of(AtomicLaw(WeightedLosses.of(atoms.log_p[both], r, known)))

    def epsilon_bracket(self, delta: Array) -> Bracket:
        """From the table."""
        return self.profile().epsilon_bracket(delta)

    def log_delta_bracket(self, epsilon: Array) -> Bracket:
        """From the table."""
        return self.profile().log_delta_bracket(epsilon)

    def beta_bracket(self, alpha: Array) -> Bracket:
        """From the table."""
        return self.profile().beta_bracket(alpha)

    def tpr_bracket(self, alpha: Array) -> Bracket:
        """From the table."""
        return self.profile().tpr_bracket(alpha)

    def outer_gaussian(self) -> Fraction | None:
        """The steepest vertex: a polygon is above the convex G_mu where its vertices are."""
        if max(self.log_singular) > -np.inf:
            return None
        mu = largest_vertex(self.profile().outer)
        return Fraction(mu) ** 2

    def mu_bracket(self, slack: float) -> tuple[float, float]:
        """At the steepest vertex, from both sides, where nothing is set aside."""
        lower, upper = super().mu_bracket(slack)
        if slack > 0 or not np.isfinite(upper):
            return lower, upper
        return max(lower, largest_vertex(self.profile().inner, low=True)), upper

    def renyi_bracket(self, order: Array) -> Bracket:
        """A sum over the atoms of terms of one sign."""
        near = around(order)
        return Bracket(
            atom_renyi(self.atoms(), near.lower).lower, atom_renyi(self.atoms(), near.upper).upper
        )
