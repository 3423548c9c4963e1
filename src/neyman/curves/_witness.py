"""The lattice as an independent witness of what the contour says."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, final

import numpy as np

from neyman.curves._pair import Pair, Tails
from neyman.curves._profiles._profile import LatticeProfile
from neyman.curves._tradeoff import TradeOff
from neyman.errors import InvalidParameter
from neyman.numerics import Array, Bracket, ComplexArray, Real, exact, text
from neyman.overriding import override

__all__ = ["LatticeWitness", "by_lattice"]


def by_lattice(f: TradeOff, step: Real) -> TradeOff:
    """Return f evaluated on a lattice of losses: certified, wider, and by other means.

    Each factor's loss is rounded to multiples of `step`, once so that it gives away at least as
    much (supporting lines of its trade-off function) and once at most as much (chords); both are
    composed by tilted transforms. The views bracket f's own.

    Args:
        f: any composition whose factors are certified.
        step: of the losses, positive; half the step halves the width of the brackets at best.

    Raises:
        InvalidParameter: if the step is not positive, or so small that the table is too long.

    Source: Doroshenko et al. (2022), "Connect the dots".

    >>> from neyman.curves import gdp, poisson
    >>> f = poisson(gdp(1), 0.01) ** 100
    >>> bounds = by_lattice(f, 0.001).delta(0.5, bracket=True)
    >>> bounds.lower <= f.delta(0.5, bracket=True).lower <= f.delta(0.5) <= bounds.upper
    True
    """
    size = exact(step, "step")
    if size <= 0:
        raise InvalidParameter(f"step={text(size)} is not positive; write one such as 0.001")
    return TradeOff(LatticeWitness(f.remove, size), LatticeWitness(f.add, size))


@final
@dataclass(frozen=True, slots=True)
class LatticeWitness(Pair):
    """A pair whose views come from rounded losses."""

    pair: Pair
    step: Fraction

    kind: ClassVar[str] = "lattice"

    def __str__(self) -> str:
        return f"by_lattice({self.pair}, step={text(self.step)})"

    @override
    def parameters(self) -> dict[str, object]:
        return {"pair": self.pair.record(), "step": str(self.step)}

    @property
    @override
    def certified(self) -> bool:
        return self.pair.certified

    @property
    @override
    def symmetric(self) -> bool:
        return self.pair.symmetric

    @property
    @override
    def method(self) -> str:
        return "lattice"

    @override
    def swap(self) -> Pair:
        return LatticeWitness(self.pair.swap(), self.step)

    def _profile(self) -> LatticeProfile:
        slow = next((pair for pair, _ in self.pair.factors() if pair.costly), None)
        if slow is not None:
            raise InvalidParameter(
                f"{slow} was to be read on a grid of losses, which would take minutes; write its "
                "own views, without by_lattice"
            )
        found = LatticeProfile.sampled(self.pair.factors(), self.step)
        if found is None:
            raise InvalidParameter(
                f"step={text(self.step)} makes the table of {self.pair} too long; "
                "write a larger one"
            )
        return found

    @override
    def log_tails(self, t: Array, *, closed: bool = False) -> Tails:
        return self.pair.log_tails(t, closed=closed)

    @override
    def cumulant(self, s: ComplexArray) -> ComplexArray:
        return self.pair.cumulant(s)

    @override
    def log_delta_bracket(self, epsilon: Array) -> Bracket:
        return self._profile().log_delta_bracket(epsilon)

    @override
    def delta_bracket(self, epsilon: Array) -> Bracket:
        return self._profile().delta_bracket(epsilon)

    @override
    def epsilon_bracket(self, delta: Array) -> Bracket:
        return self._profile().epsilon_bracket(np.asarray(delta))

    @override
    def beta_bracket(self, alpha: Array) -> Bracket:
        return self._profile().beta_bracket(alpha)

    @override
    def tpr_bracket(self, alpha: Array) -> Bracket:
        return self._profile().tpr_bracket(alpha)

    @override
    def renyi_bracket(self, order: Array) -> Bracket:
        return self.pair.renyi_bracket(order)

    @override
    def outer_gaussian(self) -> Fraction | None:
        return self.pair.outer_gaussian()
