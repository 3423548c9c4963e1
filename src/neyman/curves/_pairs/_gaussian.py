"""The Gaussian pair, N(0, 1) against N(mu, 1)."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, final

import numpy as np

from neyman.curves._curve import Curve
from neyman.curves._divergences._subgaussian_order import Subgaussianity
from neyman.curves._formulas import Summaries, Views
from neyman.curves._pair import Pair, Tails
from neyman.curves._solvers._sources import GaussianSource
from neyman.numerics import (
    MOST_SUM_BITS,
    Array,
    ComplexArray,
    GaussianMixtureLaw,
    Interval,
    LossSum,
    NormalLaw,
    Shifts,
    at_most,
    ceil_float,
    exact,
    floor_float,
    gaussian_delta,
    gaussian_epsilon,
    gaussian_log_delta,
    log_ndtr,
    ordinary,
    shortened_up,
    square_roots,
    text,
)
from neyman.numerics._primitives import normal_quantile, normal_sf, phi
from neyman.overriding import override

__all__ = ["GaussianPair"]

_NONE, _SURE = Interval.exactly(0.0), Interval.exactly(1.0)


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
    proved: ClassVar[bool] = True
    mirrored: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Refuse a parameter that no double can represent."""
        ordinary(self.mu_squared, "the square of mu", MOST_SUM_BITS)

    @property
    def _roots(self) -> tuple[float, float]:
        """The double that prints as mu, twice, or else the two around it."""
        return square_roots(self.mu_squared)

    @property
    def _root(self) -> Interval:
        """The root of the exact square."""
        down, up = self._roots
        return Interval.decimal(down) if down == up else Interval(np.asarray(down), np.asarray(up))

    def __str__(self) -> str:
        down, up = self._roots
        if down == up:
            return f"gdp(mu={text(exact(down, 'mu'))})"
        return f"gdp(mu≈{at_most(up, 6)})"

    @override
    def log_tails(self, t: Array, *, closed: bool = False) -> Tails:  # noqa: ARG002
        mu = self._roots[1]
        p, q = t / mu + mu / 2, t / mu - mu / 2
        return Tails(log_ndtr(-p), log_ndtr(p), log_ndtr(-q), log_ndtr(q))

    @override
    def cumulant(self, s: ComplexArray) -> ComplexArray:
        return float(self.mu_squared) * s * (s - 1) / 2

    @override
    def loss_source(self) -> GaussianSource:
        return GaussianSource(self._root)

    @override
    def loss_law(self) -> LossSum:
        return LossSum.of(NormalLaw(float(self.mu_squared)))

    def sampled_law(self, probability: float) -> LossSum:
        """Return the law of the loss of (P, (1 - q) P + q Q)."""
        q, mu = probability, self._roots[0]
        return LossSum.of(GaussianMixtureLaw(Shifts((0.0,), (1.0,)), Shifts((0.0, mu), (1 - q, q))))

    @override
    def views(self) -> Views:
        return Views(
            log_delta=self._log_delta,
            delta=self._delta,
            epsilon=self._epsilon,
            beta=self._beta,
            tpr=self._tpr,
        )

    @override
    def summaries(self) -> Summaries:
        return Summaries(
            renyi=self._renyi,
            zcdp=self._zcdp,
            subgaussian=self._subgaussian,
            mu=self._mu,
            outer_gaussian=lambda: shortened_up(self.mu_squared),
            inner_gaussian=lambda: self.mu_squared,
        )

    def _log_delta(self, epsilon: Array) -> Interval:
        return gaussian_log_delta(epsilon, self._root)

    def _delta(self, epsilon: Array) -> Interval:
        return gaussian_delta(epsilon, self._root)

    def _epsilon(self, delta: Array) -> Interval:
        lower, upper = self._root
        found = gaussian_epsilon(np.ravel(delta), (float(lower), float(upper)))
        return Interval(found.lower.reshape(delta.shape), found.upper.reshape(delta.shape))

    def _beta(self, alpha: Array) -> Interval:
        beta = normal_sf(normal_quantile(Interval.decimal(alpha)) + self._root)
        return Interval.where(alpha == 0, _SURE, Interval.where(alpha == 1, _NONE, beta))

    def _tpr(self, alpha: Array) -> Interval:
        tpr = phi(normal_quantile(Interval.decimal(alpha)) + self._root)
        return Interval.where(alpha == 0, _NONE, Interval.where(alpha == 1, _SURE, tpr))

    def _renyi(self, order: Array) -> Interval:
        value = Interval.of(self.mu_squared) / 2 * Interval.decimal(order)
        # A product that overflows is still finite.
        return Interval.where(np.isposinf(order), Interval.exactly(np.inf), value)

    def _mu(self, slack: float) -> tuple[float, float]:
        return self._roots if slack == 0 else Curve.mu_bracket(self, slack)

    def _zcdp(self) -> tuple[float, float]:
        rho = self.mu_squared / 2
        return floor_float(rho), ceil_float(rho)

    def _subgaussian(self) -> Subgaussianity:
        square = self.mu_squared
        return self.zcdp_bracket(), (floor_float(square), ceil_float(square))
