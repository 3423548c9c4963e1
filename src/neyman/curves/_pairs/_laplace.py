"""The Laplace pair, Lap(0, 1) against Lap(epsilon, 1)."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, final

import numpy as np

from neyman.curves._divergences._renyi import laplace_renyi
from neyman.curves._formulas import Summaries
from neyman.curves._order import least_rho
from neyman.curves._pairs._bounded import ShiftedPair, check_epsilon
from neyman.curves._solvers._sources import LaplaceSource
from neyman.numerics import Array, ComplexArray, Interval, LossSum, text
from neyman.numerics._laws._laplace_law import LaplaceLaw
from neyman.numerics._primitives import exp, expm1, log1p, tanh
from neyman.overriding import override

__all__ = ["LaplacePair"]


@final
@dataclass(frozen=True, slots=True)
class LaplacePair(ShiftedPair):
    """Lap(0, 1) against Lap(epsilon, 1), the limit of groups of pure DP.

    f(alpha) = 1 - e^epsilon alpha, e^-epsilon / (4 alpha), e^-epsilon (1 - alpha), in turn, broken
    at e^-epsilon / 2 and 1/2;  delta(x) = 1 - e^((x - epsilon)/2);
    K(s) = log(s/(2s-1) e^((s-1) epsilon) + (s-1)/(2s-1) e^(-s epsilon)).

    Source: Dong, Roth and Su (2022), proposition 2.15 and equation 9.
    """

    epsilon0: Fraction

    kind: ClassVar[str] = "laplace"
    keys: ClassVar[Mapping[str, str]] = {"epsilon0": "epsilon"}

    def __post_init__(self) -> None:
        """Refuse what doubles cannot work with."""
        check_epsilon(self.epsilon0)

    def __str__(self) -> str:
        return f"laplace(epsilon={text(self.epsilon0)})"

    @property
    @override
    def bound(self) -> Fraction:
        return self.epsilon0

    @override
    def inner_delta(self, x: Interval, bound: Interval) -> Interval:
        return -expm1((x - bound) / 2)

    @override
    def inner_epsilon(self, delta: Interval, bound: Interval) -> Interval:
        return bound + log1p(-delta) * 2

    @override
    def cumulant(self, s: ComplexArray) -> ComplexArray:
        half = float(self.epsilon0) / 2
        m = 2 * s - 1
        safe = np.where(np.abs(m) < 1e-8, 1.0, m)
        ratio = np.where(np.abs(m) < 1e-8, half, np.sinh(safe * half) / safe)
        return np.asarray(np.log(np.cosh(m * half) + ratio) - half, dtype=np.complex128)

    @override
    def loss_source(self) -> LaplaceSource:
        return LaplaceSource(self.epsilon0)

    @override
    def loss_law(self) -> LossSum:
        return self.sampled_law(1.0)

    def sampled_law(self, probability: float) -> LossSum:
        """Return the law of the loss of (P, (1 - q) P + q Q)."""
        return LossSum.of(LaplaceLaw(float(self.epsilon0), probability))

    @override
    def errors(self, alpha: Interval, bound: Interval) -> tuple[Interval, Interval]:
        edge = exp(-bound) / 2
        steep = exp(bound) * alpha.smaller(edge)
        middle = edge / (alpha.larger(edge) * 2)
        flat = exp(-bound) * (1 - alpha)
        rest = alpha.choose(0.5, middle, flat)
        return alpha.choose(edge, 1 - steep, rest), alpha.choose(edge, steep, 1 - rest)

    @override
    def summaries(self) -> Summaries:
        return ShiftedPair.summaries(self)._replace(renyi=self._renyi, zcdp=self._zcdp)

    def _zcdp(self) -> tuple[float, float]:
        bound = Interval.of(self.epsilon0)
        return least_rho(self, float((bound * tanh(bound / 2)).upper))

    def _renyi(self, order: Array) -> Interval:
        return laplace_renyi(Interval.decimal(order), Interval.of(self.epsilon0))
