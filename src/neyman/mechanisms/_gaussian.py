"""The exactly rounded Gaussian."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Self, final

import numpy as np

from neyman.errors import InvalidParameter, SensitivityMismatch
from neyman.mechanisms._folded import FoldedNormal
from neyman.mechanisms._mechanism import Mechanism, check_confidence, check_scale, not_positive
from neyman.mechanisms._radius import chi_radius
from neyman.mechanisms._ratio import fieller_interval
from neyman.mechanisms._rounded import BAND
from neyman.numerics import Real, exact, text
from neyman.sensitivity import Sensitivity
from neyman.tradeoff import TradeOff, gdp

__all__ = ["Gaussian", "variance_of"]

_SUMMED_BELOW = 4.0


@final
@dataclass(frozen=True, slots=True, init=False)
class Gaussian(Mechanism):
    """Adds round(sigma Z), Z standard normal: exactly mu-GDP, mu = l2 sensitivity / sigma.

    >>> Gaussian(scale=10) == Gaussian(variance=100)
    True

    Source: Dong, Roth and Su, *Gaussian differential privacy*, JRSS-B 2022, Theorem 1.

    Attributes:
        variance: sigma^2, exact, in squared lattice units; sigma itself may be irrational.
    """

    variance: Fraction

    def __init__(self, *, scale: Real | None = None, variance: Real | None = None) -> None:
        """Take sigma or sigma^2, exactly one of them; a float stands for the decimal it prints as.

        Raises:
            InvalidParameter: if both or neither is given, or sigma is outside [2^-3, 2^40].
        """
        object.__setattr__(self, "variance", variance_of(scale, variance))
        check_scale(self.variance, "Gaussian")

    @classmethod
    def calibrate(cls, sensitivity: Sensitivity, mu: Real) -> Self:
        """Return the noise that makes one release exactly mu-GDP: variance = l2_squared / mu^2.

        >>> Gaussian.calibrate(Sensitivity(neighbors="add_remove", l2_squared=Fraction(4)), mu=0.1)
        Gaussian(variance=Fraction(400, 1))

        Raises:
            SensitivityMismatch: if the L2 norm is not bounded.
            InvalidParameter: if mu is not positive, or calls for noise that cannot be drawn.
        """
        target = exact(mu, "mu")
        if target <= 0:
            raise not_positive("mu", target)
        return cls(variance=_l2_squared(sensitivity) / target**2)

    @property
    def law(self) -> FoldedNormal:
        """The law of |sigma Z|."""
        return FoldedNormal(self.variance)

    def noise_tradeoff(self, sensitivity: Sensitivity) -> TradeOff:
        """Return G_mu with mu^2 = l2_squared / variance."""
        return gdp(squared=_l2_squared(sensitivity) / self.variance)

    @property
    def stddev(self) -> float:
        """sqrt(sum_j (2j + 1) t_j), t_j = P(|K| > j); from sigma = 4 on sqrt(sigma^2 + 1/12).

        The two differ by a relative 2 exp(-2 pi^2 sigma^2), below 1e-130 there.
        """
        sigma = self.law.scale
        if sigma >= _SUMMED_BELOW:
            return math.sqrt(self.variance + Fraction(1, 12))
        odd = range(1, math.ceil(80 * sigma) + 4, 2)
        return math.sqrt(math.fsum(k * math.erfc(k / (sigma * math.sqrt(8))) for k in odd))

    def ratio_interval(
        self, numerator: int, denominator: int, confidence: float
    ) -> tuple[float, float]:
        """Return Fieller's set with H(rho) = z sigma sqrt(1 + rho^2) + (1 + |rho|)/2."""
        check_confidence(confidence)
        z = float(self.law.magnitude(np.array([1 - confidence]))[0])
        return fieller_interval(numerator, denominator, (z + BAND * (z + 1)) * self.law.scale)

    def radius(self, rank: int, size: int, confidence: float) -> float:
        """Return sigma chi_rank + sqrt(size)/2: a normal vector looks the same from all sides."""
        # The checks, and never more than what any law has.
        widest = Mechanism.radius(self, rank, size, confidence)
        return min(widest, chi_radius(self.law.scale, rank, size, confidence))

    def describe(self) -> dict[str, object]:
        """Return the record, e.g. {"mechanism": "gaussian", "variance": "100"}."""
        return {"mechanism": "gaussian", "variance": text(self.variance)}


def variance_of(scale: Real | None, variance: Real | None) -> Fraction:
    if variance is None and scale is not None:
        sigma = exact(scale, "scale")
        if sigma <= 0:
            raise not_positive("scale", sigma)
        return sigma**2
    if scale is None and variance is not None:
        return exact(variance, "variance")
    raise InvalidParameter(
        f"Gaussian noise of scale={scale}, variance={variance} was asked for; "
        "give exactly one of them, in lattice units"
    )


def _l2_squared(sensitivity: Sensitivity) -> Fraction:
    if sensitivity.l2_squared is None:
        raise SensitivityMismatch(
            "Gaussian noise was asked for, which needs an L2 sensitivity, and the query bounds "
            f"only l1={sensitivity.l1}; write Laplace noise, or a query that bounds l2_squared"
        )
    return sensitivity.l2_squared
