"""The logistic pair: what selection with a loss of bounded range is at worst, in one release."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, final

import numpy as np

from neyman.curves._divergences._renyi import logistic_renyi
from neyman.curves._formulas import Summaries
from neyman.curves._pairs._bounded import ShiftedPair, check_epsilon
from neyman.curves._solvers._sources import LogisticSource
from neyman.numerics import Array, ComplexArray, Interval, LossSum, text
from neyman.numerics._laws._logistic_law import LogisticLaw
from neyman.numerics._primitives import exp, expm1, log1p
from neyman.overriding import override

__all__ = ["LogisticPair"]


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

    @property
    @override
    def bound(self) -> Fraction:
        return self.eta

    @override
    def inner_delta(self, x: Interval, bound: Interval) -> Interval:
        return expm1((x - bound) / 2).squared() / -expm1(-bound)

    @override
    def inner_epsilon(self, delta: Interval, bound: Interval) -> Interval:
        return bound + log1p(-(delta * -expm1(-bound)).sqrt()) * 2

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
    def errors(self, alpha: Interval, bound: Interval) -> tuple[Interval, Interval]:
        total = 1 + expm1(bound) * alpha
        return (1 - alpha) / total, exp(bound) * alpha / total

    @override
    def summaries(self) -> Summaries:
        return ShiftedPair.summaries(self)._replace(renyi=self._renyi, zcdp=self._zcdp)

    def _renyi(self, order: Array) -> Interval:
        return logistic_renyi(Interval.decimal(order), Interval.of(self.eta))

    def _zcdp(self) -> tuple[float, float]:
        """The divergence of order 1, eta coth(eta/2) - 2 (proof: docs/theory/selection.md).

        About eta^2/6, and not the eta^2/8 of a mechanism of this range: one pair covers them all.
        """
        kl = self.renyi_bracket(np.asarray(1.0))
        return float(kl.lower), float(kl.upper)
