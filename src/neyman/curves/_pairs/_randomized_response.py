"""Randomized response: what epsilon-DP is at worst."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, final

import numpy as np

from neyman.curves._curve import Curve
from neyman.curves._divergences._renyi import randomized_response_renyi
from neyman.curves._divergences._subgaussian_order import Subgaussianity
from neyman.curves._pair import Profile, Tails
from neyman.curves._pairs._bounded import TINY, ShiftedPair, check_epsilon
from neyman.curves._profiles._response_profile import (
    ResponseProfile,
    atoms_of_randomized_response,
)
from neyman.curves._solvers._sources import atom_source
from neyman.numerics import (
    ULP,
    Array,
    AtomicLaw,
    Atoms,
    Bracket,
    ComplexArray,
    LossSum,
    WeightedLosses,
    around,
    outward,
    standing,
    text,
)
from neyman.numerics._lattice_sums._source import LossSource
from neyman.overriding import override

__all__ = ["RandomizedResponsePair"]

_LONG = 5_000


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
    def middle_log_delta(self, x: Array, bound: float) -> Array:
        return np.log(-np.expm1(x - bound)) - np.log1p(np.exp(-bound))

    @override
    def log_tails(self, t: Array, *, closed: bool = False) -> Tails:
        bound = float(self.epsilon0)
        kept, flipped = -np.log1p(np.exp(-bound)), -bound - np.log1p(np.exp(-bound))
        top = (t <= bound) if closed else (t < bound)
        all_ = (t <= -bound) if closed else (t < -bound)

        def above(upper_atom: float) -> Array:
            return np.where(all_, 0.0, np.where(top, upper_atom, -np.inf))

        def below(lower_atom: float) -> Array:
            return np.where(all_, -np.inf, np.where(top, lower_atom, 0.0))

        return Tails(above(flipped), below(kept), above(kept), below(flipped))

    @override
    def cumulant(self, s: ComplexArray) -> ComplexArray:
        half = float(self.epsilon0) / 2
        return np.log1p(2 * np.sinh(s * half) * np.sinh((s - 1) * half) / np.cosh(half))

    @override
    def atoms(self) -> Atoms:
        return atoms_of_randomized_response(self.epsilon0)

    @override
    def sampled_atoms(self, probability: Fraction) -> Atoms:
        q, bound = float(probability), float(self.epsilon0)
        high, low = np.log1p(q * np.expm1([bound, -bound])).tolist()
        log_p = -np.logaddexp(0.0, [-bound, bound])[::-1]
        return Atoms(
            Fraction(low),
            Fraction(high) - Fraction(low),
            np.array([0, 1], dtype=np.int64),
            log_p[::-1],
            log_p[::-1] + np.asarray([low, high]),
            place_error=4 * ULP * max(abs(low), abs(high)),
        )

    @override
    def power_profile(self, times: int) -> Profile | None:
        return ResponseProfile(self.epsilon0, times) if times > _LONG else None

    @override
    def loss_source(self) -> LossSource:
        return atom_source(self.atoms())

    @override
    def loss_law(self) -> LossSum:
        return self.sampled_law(1.0)

    @override
    def sampled_law(self, probability: float) -> LossSum:
        bound = float(self.epsilon0)
        signs = np.asarray([bound, -bound])
        log_weight = -np.logaddexp(0.0, signs)
        r = probability * np.expm1(signs)
        return LossSum.of(AtomicLaw(WeightedLosses.of(log_weight, r)))

    @override
    def beta_bracket(self, alpha: Array) -> Bracket:
        near, (down, up) = around(alpha), standing(self.epsilon0)
        return Bracket(self._beta(near.upper, up).lower, self._beta(near.lower, down).upper)

    def _beta(self, alpha: Array, bound: float) -> Bracket:
        steep, flat, slack = self._pieces(alpha, bound)
        error = np.where(alpha > 0, slack * np.minimum(steep, 1.0) + ULP, 0.0)
        first = outward(1 - steep, error, 0.0, 1.0)
        second = outward(flat, np.where(alpha < 1, slack * flat + TINY, 0.0), 0.0, 1.0)
        return Bracket(np.maximum(first.lower, second.lower), np.maximum(first.upper, second.upper))

    @override
    def tpr_bracket(self, alpha: Array) -> Bracket:
        near, (down, up) = around(alpha), standing(self.epsilon0)
        return Bracket(self._tpr(near.lower, down).lower, self._tpr(near.upper, up).upper)

    def _tpr(self, alpha: Array, bound: float) -> Bracket:
        steep, flat, slack = self._pieces(alpha, bound)
        first = outward(steep, np.where(alpha > 0, slack * steep + TINY, 0.0), 0.0, np.inf)
        second = outward(1 - flat, np.where(alpha < 1, 2 * ULP, 0.0), 0.0, 1.0)
        return Bracket(np.minimum(first.lower, second.lower), np.minimum(first.upper, second.upper))

    @staticmethod
    def _pieces(alpha: Array, bound: float) -> tuple[Array, Array, Array]:
        """Return e^bound alpha, e^-bound (1 - alpha) and the relative error of either."""
        log: Array = np.log(np.maximum(alpha, TINY))
        steep: Array = np.where(alpha > 0, np.exp(bound + log), 0.0)
        return steep, np.exp(-bound) * (1 - alpha), ULP * (2 + bound + np.abs(log))

    @override
    def renyi_bracket(self, order: Array) -> Bracket:
        down, up = standing(self.epsilon0)
        upper = randomized_response_renyi(order, up)
        return Bracket(randomized_response_renyi(order, down).lower, upper.upper)

    @override
    def advantage_and_complement(self, bound: float) -> tuple[float, float]:
        return float(np.tanh(bound / 2)), float(2 / (1 + np.exp(bound)))

    def zcdp_bracket(self) -> tuple[float, float]:
        """The divergence of order 1, epsilon tanh(epsilon/2).

        g(a) = a (a - 1) rho - K(a) has g(1) = g'(1) = 0, and g'' >= 0 from 1 on, for there
        K'' <= epsilon^2 / cosh(epsilon/2)^2 <= 2 epsilon tanh(epsilon/2).
        """
        kl = self.renyi_bracket(np.asarray(1.0))
        return float(kl.lower), float(kl.upper)

    @override
    def subgaussian_bracket(self) -> Subgaussianity:
        mean = self.zcdp_bracket()
        return mean, (2 * mean[0], 2 * mean[1])

    @override
    def inner_pure(self) -> Fraction:
        return self.epsilon0

    @override
    def admits(self, curve: Curve) -> bool:
        outer = curve.outer_pure()
        return outer is not None and outer <= self.epsilon0
