"""The exactly rounded Gaussian."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Self, final

import numpy as np

from neyman.arguments import given
from neyman.calls import plain_calls_of
from neyman.curves import TradeOff, approx_dp, gdp
from neyman.errors import InvalidParameter, SensitivityMismatch
from neyman.mechanisms._folded import FoldedNormal
from neyman.mechanisms._mechanism import Mechanism, check_confidence, check_scale
from neyman.mechanisms._radius import chi_radius
from neyman.mechanisms._ratio import fieller_interval
from neyman.mechanisms._rounded import BAND
from neyman.numerics import Real, exact, exact_positive, text
from neyman.overriding import override
from neyman.sensitivity import Asked, Sensitivity, sensitivity_of

__all__ = ["Gaussian", "variance_of"]

_SUMMED_BELOW = 4.0


@plain_calls_of
@final
@dataclass(frozen=True, slots=True, init=False)
class Gaussian(Mechanism):
    """Adds round(sigma Z), Z standard normal: exactly mu-GDP, mu = l2 sensitivity / sigma.

    Source: Dong, Roth and Su, *Gaussian differential privacy*, JRSS-B 2022, Theorem 1.

    Attributes:
        variance: sigma^2, exact, in squared lattice units; sigma itself may be irrational.

    >>> Gaussian(scale=10) == Gaussian(variance=100)
    True
    """

    variance: Fraction

    def __init__(self, *, scale: Real | None = None, variance: Real | None = None) -> None:
        """Create the noise from sigma or sigma^2, exactly one of them; a float means its decimal.

        Args:
            scale: sigma, in lattice units.
            variance: sigma^2, in squared lattice units.

        Raises:
            InvalidParameter: if both or neither is given, or if sigma is outside [2^-3, 2^40].
        """
        object.__setattr__(self, "variance", variance_of(scale, variance))
        check_scale(self.variance, "Gaussian", scale=scale, variance=variance)

    @classmethod
    def calibrate(
        cls,
        sensitivity: Sensitivity | Asked,
        mu: Real | None = None,
        *,
        epsilon: Real | None = None,
        delta: Real | None = None,
    ) -> Self:
        """Return the noise that makes one release exactly mu-GDP: variance = l2_squared / mu^2.

        For epsilon and delta it takes the largest mu with G_mu >= f_{epsilon,delta}, so that the
        release is (epsilon, delta)-DP. A ledger with cap=approx_dp(epsilon, delta) can spend that
        mu^2.

        Args:
            sensitivity: of the question; or the question itself.
            mu: of one release; or
            epsilon: with delta, instead of mu.
            delta: in (0, 1).

        Raises:
            SensitivityMismatch: if the L2 norm is not bounded.
            InvalidParameter: if neither mu nor the pair is given or both are, if a parameter is out
                of range, or if it needs noise that cannot be drawn.

        Error: mu^2 of a pair is rounded down, so that the guarantee holds as computed.

        >>> Gaussian.calibrate(Sensitivity(neighbors="add_remove", l2_squared=Fraction(4)), mu=0.1)
        Gaussian(variance=Fraction(400, 1))
        """
        sensitivity = sensitivity_of(sensitivity)
        variance = _l2_squared(sensitivity) / _squared(mu, epsilon, delta)
        check_scale(variance, "Gaussian", mu=mu, epsilon=epsilon, delta=delta)
        return cls(variance=variance)

    @property
    @override
    def law(self) -> FoldedNormal:
        return FoldedNormal(self.variance)

    @override
    def noise_tradeoff(self, sensitivity: Sensitivity) -> TradeOff:
        return gdp(squared=_l2_squared(sensitivity) / self.variance)

    @override
    def beside(
        self, sensitivity: Sensitivity, other: Sensitivity, share: Fraction
    ) -> tuple[Mechanism, Mechanism]:
        second = self.variance * _l2_squared(other) / (share * _l2_squared(sensitivity))
        return Gaussian(variance=self.variance / (1 - share)), Gaussian(variance=second)

    @property
    def stddev(self) -> float:
        """sqrt(sum_j (2j + 1) t_j), t_j = P(|K| > j); for sigma >= 4, sqrt(sigma^2 + 1/12).

        There the two differ by a relative 2 exp(-2 pi^2 sigma^2), which is below 1e-130.
        """
        sigma = self.law.scale
        if sigma >= _SUMMED_BELOW:
            return math.sqrt(self.variance + Fraction(1, 12))
        odd = range(1, math.ceil(80 * sigma) + 4, 2)
        return math.sqrt(math.fsum(k * math.erfc(k / (sigma * math.sqrt(8))) for k in odd))

    @property
    @override
    def normal(self) -> bool:
        return True

    @override
    def ratio_interval(
        self, numerator: int, denominator: int, confidence: float
    ) -> tuple[float, float]:
        check_confidence(confidence)
        z = float(self.law.magnitude(np.array([1 - confidence]))[0])
        return fieller_interval(numerator, denominator, (z + BAND * (z + 1)) * self.law.scale)

    @override
    def radius(self, rank: int, size: int, confidence: float) -> float:
        # The general bound also checks the arguments.
        widest = Mechanism.radius(self, rank, size, confidence)
        return min(widest, chi_radius(self.law.scale, rank, size, confidence))

    @override
    def describe(self) -> dict[str, object]:
        return {"mechanism": "gaussian", "variance": text(self.variance)}


def variance_of(scale: Real | None, variance: Real | None) -> Fraction:
    if variance is None and scale is not None:
        sigma = exact_positive(scale, "scale")
        return sigma**2
    if scale is None and variance is not None:
        return exact_positive(variance, "variance")
    raise InvalidParameter(
        "Gaussian noise needs scale or variance, exactly one of them, in lattice units; "
        f"got scale={scale}, variance={variance}"
    )


def _squared(mu: Real | None, epsilon: Real | None, delta: Real | None) -> Fraction:
    """Return mu^2; for epsilon and delta, the largest that is (epsilon, delta)-DP, rounded down."""
    if mu is not None and epsilon is None and delta is None:
        target = exact_positive(mu, "mu")
        return target**2
    if mu is None and epsilon is not None and delta is not None:
        if not 0 < exact(delta, "delta") < 1:
            raise InvalidParameter(
                f"Gaussian noise must have a delta in (0, 1); got {given('delta', delta)}. Write a "
                "small delta, such as 1e-6, or Laplace noise for epsilon alone"
            )
        return approx_dp(epsilon, delta).inner_gaussian()
    raise InvalidParameter(
        "Gaussian noise must have mu, or epsilon and delta; "
        f"got mu={mu}, epsilon={epsilon}, delta={delta}. For epsilon alone, write Laplace noise"
    )


def _l2_squared(sensitivity: Sensitivity) -> Fraction:
    if sensitivity.l2_squared is None:
        raise SensitivityMismatch(
            "Gaussian noise needs an L2 sensitivity; this query bounds only "
            f"l1={sensitivity.l1}. Write Laplace noise, or a query that bounds l2_squared"
        )
    return sensitivity.l2_squared
