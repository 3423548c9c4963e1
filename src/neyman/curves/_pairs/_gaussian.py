"""The Gaussian pair, N(0, 1) against N(mu, 1)."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, final

import numpy as np

from neyman.curves._curve import Curve
from neyman.curves._divergences._subgaussian_order import Subgaussianity
from neyman.curves._pair import Pair, Tails
from neyman.curves._solvers._sources import GaussianSource
from neyman.numerics import (
    MOST_SUM_BITS,
    ULP,
    Array,
    Bracket,
    ComplexArray,
    GaussianMixtureLaw,
    LossSum,
    NormalLaw,
    Shifts,
    around,
    at_most,
    ceil_float,
    exact,
    exact_sum,
    floor_float,
    gaussian_epsilon,
    gaussian_log_delta,
    log_ndtr,
    ndtri,
    normal_tail,
    ordinary,
    outward,
    shortened_up,
    square_roots,
    text,
    written,
)
from neyman.overriding import override

__all__ = ["GaussianPair"]


@final
@dataclass(frozen=True, slots=True)
class GaussianPair(Pair):
    """G_mu(alpha) = Phi(Phi^-1(1 - alpha) - mu); K(s) = mu^2 s (s - 1) / 2.

    Kept by the exact square of mu, so that composition, which adds the squares, is exact, up to
    2^20 bits of it.

    Source: Dong, Roth and Su (2022), section 2.2 and corollary 3.3.
    """

    mu_squared: Fraction

    kind: ClassVar[str] = "gaussian"

    def __post_init__(self) -> None:
        """Refuse what no double can stand for."""
        ordinary(self.mu_squared, "the square of mu", MOST_SUM_BITS)

    @property
    def _mu(self) -> tuple[float, float]:
        return square_roots(self.mu_squared)

    @property
    @override
    def certified(self) -> bool:
        return True

    @property
    @override
    def symmetric(self) -> bool:
        return True

    @override
    def parameters(self) -> dict[str, object]:
        return {"mu_squared": written(self.mu_squared)}

    def __str__(self) -> str:
        down, up = self._mu
        if down == up:
            return f"gdp(mu={text(exact(down, 'mu'))})"
        return f"gdp(mu≈{at_most(up, 6)})"

    @override
    def log_tails(self, t: Array, *, closed: bool = False) -> Tails:  # noqa: ARG002
        mu = self._mu[1]
        p, q = t / mu + mu / 2, t / mu - mu / 2
        return Tails(log_ndtr(-p), log_ndtr(p), log_ndtr(-q), log_ndtr(q))

    @override
    def cumulant(self, s: ComplexArray) -> ComplexArray:
        return float(self.mu_squared) * s * (s - 1) / 2

    @override
    def loss_source(self) -> GaussianSource:
        return GaussianSource(self._mu)

    @override
    def loss_law(self) -> LossSum:
        return LossSum.of(NormalLaw(float(self.mu_squared)))

    @override
    def sampled_law(self, probability: float) -> LossSum:
        q, mu = probability, self._mu[0]
        return LossSum.of(GaussianMixtureLaw(Shifts((0.0,), (1.0,)), Shifts((0.0, mu), (1 - q, q))))

    @override
    def gathered(self, factors: Sequence[tuple[Pair, int]]) -> Pair:
        return GaussianPair(
            exact_sum(
                [(pair.mu_squared, n) for pair, n in factors if isinstance(pair, GaussianPair)]
            )
        )

    @override
    def log_delta_bracket(self, epsilon: Array) -> Bracket:
        down, up = self._mu
        upper = gaussian_log_delta(epsilon, np.asarray(up))
        if down == up:
            return upper
        return Bracket(gaussian_log_delta(epsilon, np.asarray(down)).lower, upper.upper)

    @override
    def epsilon_bracket(self, delta: Array) -> Bracket:
        found = gaussian_epsilon(np.ravel(delta), self._mu)
        return Bracket(found.lower.reshape(delta.shape), found.upper.reshape(delta.shape))

    @override
    def beta_bracket(self, alpha: Array) -> Bracket:
        near = around(alpha)
        down, up = self._mu
        return Bracket(
            normal_tail(-ndtri(near.upper), -up).lower, normal_tail(-ndtri(near.lower), -down).upper
        )

    @override
    def tpr_bracket(self, alpha: Array) -> Bracket:
        near = around(alpha)
        down, up = self._mu
        return Bracket(
            normal_tail(ndtri(near.lower), down).lower, normal_tail(ndtri(near.upper), up).upper
        )

    @override
    def renyi_bracket(self, order: Array) -> Bracket:
        with np.errstate(over="ignore"):
            value = order * float(self.mu_squared) / 2
        wide = outward(value, ULP * value, 0.0, np.inf)
        # A product that overflows is still finite.
        most = np.where(np.isfinite(order), np.finfo(np.float64).max, np.inf)
        return Bracket(np.minimum(wide.lower, most), np.nextafter(wide.upper, np.inf))

    @override
    def mu_bracket(self, slack: float) -> tuple[float, float]:
        return self._mu if slack == 0 else super(GaussianPair, self).mu_bracket(slack)

    @override
    def zcdp_bracket(self) -> tuple[float, float]:
        rho = self.mu_squared / 2
        return floor_float(rho), ceil_float(rho)

    @override
    def subgaussian_bracket(self) -> Subgaussianity:
        square = self.mu_squared
        return self.zcdp_bracket(), (floor_float(square), ceil_float(square))

    @override
    def outer_gaussian(self) -> Fraction:
        return shortened_up(self.mu_squared)

    @override
    def inner_gaussian(self) -> Fraction:
        return self.mu_squared

    @override
    def admits(self, curve: Curve) -> bool:
        outer = curve.outer_gaussian()
        return outer is not None and outer <= self.mu_squared
