# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
"""Discrete Gaussian noise."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Final, Self, final

import numpy as np

from neyman.curves import TradeOff, discrete_gaussian
from neyman.errors import InvalidParameter
from neyman.mechanisms._gaussian import Gaussian, variance_of
from neyman.mechanisms._law import ball
from neyman.mechanisms._mechanism import Mechanism, check_scale
from neyman.mechanisms._moves import largest_square, worst_move
from neyman.mechanisms._tabled import TabledLaw
from neyman.numerics import Array, Real, exact_positive, text
from neyman.overriding import override
from neyman.sensitivity import Asked, Sensitivity, sensitivity_of

__all__ = ["DiscreteGaussian", "FoldedTheta"]

if TYPE_CHECKING:
    from flint import arb

_WIDEST: Final = 10**6


@final
@dataclass(frozen=True, slots=True)
class FoldedTheta(TabledLaw):
    """t_j = 2 sum over k > j of w_k / sum over all k of w_k, w_k = exp(-k^2 / (2 variance))."""

    variance: Fraction

    @override
    def tail(self, j: int) -> "arb":
        sums = self._sums(j + 2)
        return 2 * sums[j + 1] / (2 * sums[0] - 1)

    @override
    def tails(self) -> "Iterator[arb]":
        sums = self._sums(0)
        total = 2 * sums[0] - 1
        for rest in sums[1:]:
            yield 2 * rest / total

    def _sums(self, least: int) -> "list[arb]":
        """Return balls of w_k + w_(k+1) + ... for k = 0, 1, ..., as far as the precision can see.

        w_(k+1) = w_k e^(-(2k+1)/(2 variance)). The remainder after the last term is between its
        first term and a geometric series.
        """
        from flint import arb, ctx

        count = max(least, math.ceil(math.sqrt(1.4 * float(self.variance) * (ctx.prec + 64)))) + 2
        weight, factor = arb(1), ball(-1 / (2 * self.variance)).exp()
        turn = factor * factor
        weights: list[arb] = []
        for _ in range(count):
            weights.append(weight)
            weight *= factor
            factor *= turn
        rest = weight * arb(1).union(1 / (1 - factor))
        for weight in reversed(weights):
            rest += weight
            weights[count - 1] = rest
            count -= 1
        return weights

    def approximate_tails(self) -> Array:
        """Return the sums in doubles, from the smallest term up: at most 13,000 errors of 2^-53.

        The mass beyond 13 sigma is below 2^-120.
        """
        reach = math.ceil(13 * math.sqrt(self.variance)) + 3
        weights = np.exp(np.arange(reach, dtype=np.float64) ** 2 / (-2 * float(self.variance)))
        sums = np.cumsum(weights[::-1])[::-1]
        return 2 * sums[1:] / (2 * sums[0] - 1)

    def second_moment(self) -> float:
        """Return E K^2."""
        k = np.arange(math.ceil(40 * math.sqrt(self.variance)) + 3, dtype=np.float64)
        weights = np.exp(k**2 / (-2 * float(self.variance)))
        return float(2 * np.sum(k**2 * weights) / (2 * np.sum(weights) - 1))


@final
@dataclass(frozen=True, slots=True, init=False)
class DiscreteGaussian(Mechanism):
    """Adds K, P(K = k) proportional to exp(-k^2 / (2 sigma^2)): the discrete Gaussian.

    It is exactly l2_squared / (2 sigma^2)-zCDP, but not mu-GDP with mu = l2 sensitivity / sigma.
    The smallest mu of a move by 1 is 2 Phi^-1((1 + P(K = 0)) / 2), larger by a factor of about 1 +
    1/(24 sigma^2). `Gaussian` noise, rounded, is exactly as private as its formula, and has the
    same width.

    Source: Canonne, Kamath and Steinke, *The discrete Gaussian for differential privacy*, NeurIPS
        2020.

    Attributes:
        variance: the parameter sigma^2, exact, in squared lattice units; the variance of K is
            slightly smaller.

    >>> DiscreteGaussian(scale=2).describe()
    {'mechanism': 'discrete_gaussian', 'variance': '4'}
    """

    variance: Fraction

    def __init__(self, *, scale: Real | None = None, variance: Real | None = None) -> None:
        """Create the noise from sigma or sigma^2, exactly one of them; a float means its decimal.

        Args:
            scale: sigma, in lattice units.
            variance: sigma^2, in squared lattice units.

        Raises:
            InvalidParameter: if both or neither is given, or if sigma is outside [2^-3, 1000].
        """
        object.__setattr__(self, "variance", variance_of(scale, variance))
        check_scale(self.variance, "Discrete Gaussian", scale=scale, variance=variance)
        if self.variance > _WIDEST:
            raise InvalidParameter(
                f"the variance of discrete Gaussian noise must be at most {_WIDEST}; got "
                f"{text(self.variance)}. Write Gaussian noise, which has no such limit"
            )

    @classmethod
    def calibrate(cls, sensitivity: Sensitivity | Asked, rho: Real) -> Self:
        """Return the noise that makes one release exactly rho-zCDP: variance = l2_squared / 2 rho.

        If l2_squared is not bounded, the largest value for integers within the other bounds takes
        its place. For another target, search:

            calibrate(
                lambda s: DiscreteGaussian(scale=s).tradeoff(sensitivity), EpsilonDelta(1, 1e-6)
            )

        Args:
            sensitivity: of the question; or the question itself.
            rho: of one release; positive.

        Raises:
            InvalidParameter: if rho is not positive, or needs noise that cannot be drawn.

        >>> DiscreteGaussian.calibrate(
        ...     Sensitivity(neighbors="add_remove", l2_squared=Fraction(4)), rho=0.02)
        DiscreteGaussian(variance=Fraction(100, 1))
        """
        sensitivity = sensitivity_of(sensitivity)
        target = exact_positive(rho, "rho")
        variance = Fraction(max(largest_square(sensitivity), 1)) / (2 * target)
        check_scale(variance, "Discrete Gaussian", rho=rho)
        return cls(variance=variance)

    @property
    @override
    def law(self) -> FoldedTheta:
        return FoldedTheta(self.variance)

    def noise_tradeoff(self, sensitivity: Sensitivity) -> TradeOff:
        """Return the curve of the worst move of the integers within the sensitivity.

        A move by d of one coordinate has the curve `discrete_gaussian(sigma, sensitivity=d)`, which
        decreases with d because the law is log-concave. Coordinates compose.

        Args:
            sensitivity: of the integers before noise.

        Raises:
            SensitivityMismatch: if there are more than 16 moves to compare. A single number, with
                `coordinates=1`, has one.
            InvalidParameter: if a move is above 26 sigma.
        """
        return worst_move(sensitivity, self._curve)

    def _curve(self, steps: int) -> TradeOff:
        return discrete_gaussian(variance=self.variance, sensitivity=steps)

    @override
    def beside(
        self, sensitivity: Sensitivity, other: Sensitivity, share: Fraction
    ) -> tuple[Mechanism, Mechanism]:
        moved = Fraction(max(largest_square(sensitivity), 1))
        second = Gaussian(variance=self.variance).beside(
            replace(sensitivity, l2_squared=moved), other, share
        )[1]
        return DiscreteGaussian(variance=self.variance / (1 - share)), second

    @property
    @override
    def stddev(self) -> float:
        return math.sqrt(self.law.second_moment())

    @override
    def describe(self) -> dict[str, object]:
        return {"mechanism": "discrete_gaussian", "variance": text(self.variance)}
