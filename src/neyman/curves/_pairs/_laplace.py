"""The Laplace pair, Lap(0, 1) against Lap(epsilon, 1)."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, final

import numpy as np

from neyman.curves._curve import Curve
from neyman.curves._divergences._renyi import laplace_renyi
from neyman.curves._order import least_rho, proved_below
from neyman.curves._pair import Tails
from neyman.curves._pairs._bounded import ShiftedPair, check_epsilon
from neyman.curves._solvers._sources import LaplaceSource
from neyman.numerics import ULP, Array, Bracket, ComplexArray, LossSum, around, standing, text
from neyman.numerics._laws._laplace_law import LaplaceLaw
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
    def middle_log_delta(self, x: Array, bound: float) -> Array:
        return np.log(-np.expm1((x - bound) / 2))

    @override
    def log_tails(self, t: Array, *, closed: bool = False) -> Tails:
        bound = float(self.epsilon0)
        high = (t > bound) if closed else (t >= bound)
        low = (t <= -bound) if closed else (t < -bound)
        inside = np.clip(t, -bound, bound)
        small_p = -(inside + bound) / 2 - np.log(2.0)
        small_q = (inside - bound) / 2 - np.log(2.0)

        def pick(at_low: float, middle: Array, at_high: float) -> Array:
            return np.where(low, at_low, np.where(high, at_high, middle))

        return Tails(
            pick(0.0, small_p, -np.inf),
            pick(-np.inf, np.log1p(-np.exp(small_p)), 0.0),
            pick(0.0, np.log1p(-np.exp(small_q)), -np.inf),
            pick(-np.inf, small_q, 0.0),
        )

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

    @override
    def sampled_law(self, probability: float) -> LossSum:
        return LossSum.of(LaplaceLaw(float(self.epsilon0), probability))

    @override
    def beta_bracket(self, alpha: Array) -> Bracket:
        near, (down, up) = around(alpha), standing(self.epsilon0)
        return Bracket(self._beta(near.upper, up, -1), self._beta(near.lower, down, 1))

    def _beta(self, alpha: Array, bound: float, side: int) -> Array:
        steep, rest = self._pieces(alpha, bound)
        value = np.where(alpha < math.exp(-bound) / 2, 1 - steep, rest)
        return np.where(alpha == 0, 1.0, self._nudged(value, bound, side))

    @override
    def tpr_bracket(self, alpha: Array) -> Bracket:
        near, (down, up) = around(alpha), standing(self.epsilon0)
        return Bracket(self._tpr(near.lower, down, -1), self._tpr(near.upper, up, 1))

    def _tpr(self, alpha: Array, bound: float, side: int) -> Array:
        steep, rest = self._pieces(alpha, bound)
        value = np.where(alpha < math.exp(-bound) / 2, steep, 1 - rest)
        return np.where(alpha == 1, 1.0, self._nudged(value, bound, side))

    @staticmethod
    def _pieces(alpha: Array, bound: float) -> tuple[Array, Array]:
        """Return 1 - f before the first break, and f after it."""
        edge = math.exp(-bound) / 2
        steep = math.exp(bound) * np.minimum(alpha, edge)
        middle, flat = edge / (2 * np.maximum(alpha, edge)), math.exp(-bound) * (1 - alpha)
        return steep, np.where(alpha > 0.5, flat, middle)

    @staticmethod
    def _nudged(value: Array, bound: float, side: int) -> Array:
        wide = np.nextafter(value * (1 + side * 2 * ULP * (2 + bound)), side * np.inf)
        return np.where(value > 0, np.clip(wide, 0.0, 1.0), 0.0)

    @override
    def renyi_bracket(self, order: Array) -> Bracket:
        down, up = standing(self.epsilon0)
        upper = laplace_renyi(order, up)
        return Bracket(laplace_renyi(order, down).lower, upper.upper)

    @override
    def zcdp_bracket(self) -> tuple[float, float]:
        bound = standing(self.epsilon0)[1]
        return least_rho(self, bound * math.tanh(bound / 2) * (1 + 4 * ULP))

    @override
    def advantage_and_complement(self, bound: float) -> tuple[float, float]:
        return float(-np.expm1(-bound / 2)), float(np.exp(-bound / 2))

    @override
    def admits(self, curve: Curve) -> bool:
        outer = curve.outer_pure()
        inside = outer is not None and outer <= self.epsilon0
        return inside and proved_below(curve, self, 0.0, self.slope)
