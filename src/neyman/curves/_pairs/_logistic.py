"""The logistic pair: what selection with a loss of bounded range is at worst, in one release."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, final

import numpy as np

from neyman.curves._curve import Curve
from neyman.curves._divergences._renyi import logistic_renyi
from neyman.curves._order import proved_below
from neyman.curves._pair import Profile, Tails
from neyman.curves._pairs._bounded import ShiftedPair, check_epsilon
from neyman.curves._profiles._profile import LatticeProfile
from neyman.curves._solvers._sources import LogisticSource
from neyman.numerics import ULP, Array, Bracket, ComplexArray, LossSum, around, standing, text
from neyman.numerics._laws._logistic_law import LogisticLaw
from neyman.overriding import override

__all__ = ["LogisticPair"]

# Cells for the range of one loss, tried in turn.
_CELLS = (1024, 256, 64)


@final
@dataclass(frozen=True, slots=True)
class LogisticPair(ShiftedPair):
    """Logistic(0) against Logistic(eta), the envelope of all pairs with max L - min L <= eta.

    f(alpha) = (1 - alpha) / (1 + (e^eta - 1) alpha);  delta(x) = (e^(eta/2) - e^(x/2))^2 /
    (e^eta - 1);  K(s) = log S((2s - 1) eta/2) - log S(eta/2), S(z) = sinh(z)/z. Under P the loss
    has the density e^((eta - l)/2) / (2 (e^eta - 1)) on [-eta, eta].

    Source: Dong, Durfee and Rogers (2020), "Optimal differential privacy composition for
        exponential mechanisms", for bounded range; the envelope: docs/theory/selection.md.
    """

    eta: Fraction

    kind: ClassVar[str] = "logistic"

    def __post_init__(self) -> None:
        """Refuse what doubles cannot work with."""
        check_epsilon(self.eta)

    def __str__(self) -> str:
        return f"bounded_range(eta={text(self.eta)})"

    @override
    def parameters(self) -> dict[str, object]:
        return {"eta": str(self.eta)}

    @property
    @override
    def bound(self) -> Fraction:
        return self.eta

    @override
    def middle_log_delta(self, x: Array, bound: float) -> Array:
        return 2 * np.log(-np.expm1((x - bound) / 2)) - np.log(-np.expm1(-bound))

    def log_tails(self, t: Array, *, closed: bool = False) -> Tails:  # noqa: ARG002
        """P(L > t) = (e^((eta - t)/2) - 1) / (e^eta - 1); e^(log of an odd ratio) times it for Q.

        No loss has positive mass, so closed or open is the same.
        """
        bound = float(self.eta)
        inside = np.clip(t, -bound, bound)
        right, left = (bound - inside) / 2, (bound + inside) / 2
        with np.errstate(divide="ignore"):
            total = np.log(np.expm1(bound))
            up, down = np.log(np.expm1(right)) - total, np.log(np.expm1(left)) - total
        # At the ends rounding may leave a probability above 1.
        return Tails(*(np.minimum(log, 0.0) for log in (up, right + down, left + up, down)))

    @override
    def cumulant(self, s: ComplexArray) -> ComplexArray:
        return LogisticLaw(float(self.eta)).at(np.asarray(s, dtype=np.complex128))

    @override
    def loss_source(self) -> LogisticSource:
        return LogisticSource(self.eta)

    @override
    def loss_law(self) -> LossSum:
        return LossSum.of(LogisticLaw(float(self.eta)))

    @override
    def power_profile(self, times: int) -> Profile | None:
        if times > 2:
            return None
        for cells in _CELLS:
            found = LatticeProfile.sampled([(self, times)], min(self.eta / cells, Fraction(1)))
            if found is not None:
                return found
        return None

    @override
    def beta_bracket(self, alpha: Array) -> Bracket:
        near, (down, up) = around(alpha), standing(self.eta)
        return Bracket(self._beta(near.upper, up, -1), self._beta(near.lower, down, 1))

    def _beta(self, alpha: Array, bound: float, side: int) -> Array:
        value = (1 - alpha) / (1 + np.expm1(bound) * alpha)
        return np.where(alpha == 0, 1.0, self._nudged(value, bound, side))

    @override
    def tpr_bracket(self, alpha: Array) -> Bracket:
        near, (down, up) = around(alpha), standing(self.eta)
        return Bracket(self._tpr(near.lower, down, -1), self._tpr(near.upper, up, 1))

    def _tpr(self, alpha: Array, bound: float, side: int) -> Array:
        value = np.exp(bound) * alpha / (1 + np.expm1(bound) * alpha)
        return np.where(alpha == 1, 1.0, self._nudged(value, bound, side))

    @staticmethod
    def _nudged(value: Array, bound: float, side: int) -> Array:
        wide = np.nextafter(value * (1 + side * 2 * ULP * (2 + bound)), side * np.inf)
        return np.where(value > 0, np.clip(wide, 0.0, 1.0), 0.0)

    @override
    def renyi_bracket(self, order: Array) -> Bracket:
        down, up = standing(self.eta)
        return Bracket(logistic_renyi(order, down).lower, logistic_renyi(order, up).upper)

    def zcdp_bracket(self) -> tuple[float, float]:
        """The divergence of order 1, eta coth(eta/2) - 2 (proof: docs/theory/selection.md).

        About eta^2/6, and not the eta^2/8 of a mechanism of this range: one pair covers them all.
        """
        kl = self.renyi_bracket(np.asarray(1.0))
        return float(kl.lower), float(kl.upper)

    @override
    def advantage_and_complement(self, bound: float) -> tuple[float, float]:
        return float(np.tanh(bound / 4)), float(2 / (1 + np.exp(bound / 2)))

    @override
    def admits(self, curve: Curve) -> bool:
        outer = curve.outer_pure()
        inside = outer is not None and outer <= self.eta
        return inside and proved_below(curve, self, 0.0, self.slope)
