"""Randomized response: what epsilon-DP is at worst."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, final

import numpy as np

from neyman.curves._divergences._renyi import randomized_response_renyi
from neyman.curves._divergences._subgaussian_order import Subgaussianity
from neyman.curves._formulas import Summaries
from neyman.curves._pairs._bounded import ShiftedPair, check_epsilon
from neyman.curves._profiles._response_profile import atoms_of_randomized_response
from neyman.numerics import (
    Array,
    AtomicLaw,
    Atoms,
    ComplexArray,
    Interval,
    LossSum,
    WeightedLosses,
    text,
)
from neyman.numerics._lattice_sums._source import AtomSource, Masses
from neyman.numerics._primitives import exp, expm1, log1p, logistic
from neyman.overriding import override

__all__ = ["RandomizedResponsePair"]


@final
@dataclass(frozen=True, slots=True)
class RandomizedResponsePair(ShiftedPair):
    """f_{epsilon,0}: the binary answer kept with probability e^epsilon / (1 + e^epsilon).

    f(alpha) = max(1 - e^epsilon alpha, e^-epsilon (1 - alpha), 0);
    K(s) = log cosh((s - 1/2) epsilon) - log cosh(epsilon / 2).

    Source: Wasserman and Zhou (2010), proposition 2.4; Kairouz, Oh and Viswanath (2015).
    """

    epsilon0: Fraction

    kind: ClassVar[str] = "randomized_response"
    keys: ClassVar[Mapping[str, str]] = {"epsilon0": "epsilon"}

    def __post_init__(self) -> None:
        """Refuse what doubles cannot work with."""
        check_epsilon(self.epsilon0)

    def __str__(self) -> str:
        return f"pure_dp(epsilon={text(self.epsilon0)})"

    @property
    @override
    def bound(self) -> Fraction:
        return self.epsilon0

    @override
    def inner_delta(self, x: Interval, bound: Interval) -> Interval:
        return -expm1(x - bound) * logistic(bound)

    @override
    def inner_epsilon(self, delta: Interval, bound: Interval) -> Interval:
        return bound + log1p(-(delta / logistic(bound)))

    @override
    def cumulant(self, s: ComplexArray) -> ComplexArray:
        half = float(self.epsilon0) / 2
        return np.log1p(2 * np.sinh(s * half) * np.sinh((s - 1) * half) / np.cosh(half))

    def atoms(self) -> Atoms:
        """Return the law of the loss."""
        return atoms_of_randomized_response(self.epsilon0)

    @override
    def loss_source(self) -> AtomSource:
        bound = Interval.of(self.epsilon0)
        kept, flipped = logistic(bound), logistic(-bound)
        masses = Interval(*np.transpose([[*kept], [*flipped]]))
        return AtomSource(Masses(masses, masses.at(np.asarray([1, 0]))))

    @override
    def loss_law(self) -> LossSum:
        return self.sampled_law(1.0)

    def sampled_law(self, probability: float) -> LossSum:
        """Return the law of the loss of (P, (1 - q) P + q Q)."""
        bound = float(self.epsilon0)
        signs = np.asarray([bound, -bound])
        log_weight = -np.logaddexp(0.0, signs)
        r = probability * np.expm1(signs)
        return LossSum.of(AtomicLaw(WeightedLosses.of(log_weight, r)))

    @override
    def errors(self, alpha: Interval, bound: Interval) -> tuple[Interval, Interval]:
        steep, flat = exp(bound) * alpha, exp(-bound) * (1 - alpha)
        return (1 - steep).larger(flat), steep.smaller(1 - flat)

    @override
    def summaries(self) -> Summaries:
        return ShiftedPair.summaries(self)._replace(
            renyi=self._renyi,
            zcdp=self._zcdp,
            subgaussian=self._subgaussian,
            inner_pure=lambda: self.epsilon0,
        )

    def _renyi(self, order: Array) -> Interval:
        return randomized_response_renyi(Interval.decimal(order), Interval.of(self.epsilon0))

    def _zcdp(self) -> tuple[float, float]:
        """The divergence of order 1, epsilon tanh(epsilon/2).

        g(a) = a (a - 1) rho - K(a) has g(1) = g'(1) = 0, and g'' >= 0 from 1 on, for there
        K'' <= epsilon^2 / cosh(epsilon/2)^2 <= 2 epsilon tanh(epsilon/2).
        """
        kl = self.renyi_bracket(np.asarray(1.0))
        return float(kl.lower), float(kl.upper)

    def _subgaussian(self) -> Subgaussianity:
        mean = self.zcdp_bracket()
        return mean, (2 * mean[0], 2 * mean[1])
