# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
"""Two-sided geometric noise, the discrete Laplace."""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Self, final

import numpy as np

from neyman.curves import TradeOff, discrete_laplace, identity
from neyman.errors import SensitivityMismatch
from neyman.mechanisms._folded import FloatArray, FoldedLaw
from neyman.mechanisms._laplace import Laplace
from neyman.mechanisms._law import ball
from neyman.mechanisms._mechanism import Mechanism, check_scale
from neyman.numerics import Real, exact_positive, text
from neyman.overriding import override
from neyman.sensitivity import Asked, Sensitivity, sensitivity_of

__all__ = ["DiscreteLaplace", "FoldedGeometric"]

if TYPE_CHECKING:
    from flint import arb


@final
@dataclass(frozen=True, slots=True)
class FoldedGeometric(FoldedLaw):
    """t_j = 2 e^(-a (j + 1)) / (1 + e^-a) = e^(-a (j + 1/2)) / cosh(a/2), a = 1 / scale.

    This is the integer nearest to an X with P(|X| > x) = e^(-a x) / cosh(a/2) for x >= 0, which has
    an atom at 0 and a density elsewhere.
    """

    exact_scale: Fraction

    @property
    @override
    def scale(self) -> float:
        return float(self.exact_scale)

    @override
    def magnitude(self, upper: FloatArray) -> FloatArray:
        x = np.log(upper, out=upper)
        x += self._log_cosh
        np.negative(x, out=x)
        return np.maximum(x, 0.0, out=x)

    @property
    def _log_cosh(self) -> float:
        # 2 sinh(a/4)^2 = cosh(a/2) - 1, which keeps its digits where a is small.
        return math.log1p(2 * math.sinh(1 / (4 * self.scale)) ** 2)

    @override
    def tail(self, j: int) -> "arb":
        a = 1 / self.exact_scale
        return ball(-a * (2 * j + 1) / 2).exp() / ball(a / 2).cosh()


@final
@dataclass(frozen=True, slots=True, init=False)
class DiscreteLaplace(Mechanism):
    """Adds K, P(K = k) proportional to exp(-|k| / scale): the geometric mechanism.

    It has exactly the curve `discrete_laplace(1 / scale, sensitivity=l1)`, for integers that move
    by l1 in any coordinates. That curve is 1 - (1 - f)^l1 (the l1-fold iterate), f that of a move
    by 1, and a move by l1 is a chain of l1 moves by 1, each in one coordinate.

    Source: Ghosh, Roughgarden and Sundararajan, *Universally utility-maximizing privacy
        mechanisms*, STOC 2009; the chain, Dong, Roth and Su, JRSS-B 2022, theorem 2.14.

    Attributes:
        scale: 1/a, exact, in lattice units.

    >>> DiscreteLaplace(scale=10).half_width(0.95)
    30
    """

    scale: Fraction

    def __init__(self, *, scale: Real) -> None:
        """Create the noise from 1/a; a float means the decimal that it prints as.

        Args:
            scale: 1/a, in lattice units.

        Raises:
            InvalidParameter: if it is outside [2^-3, 2^40].
        """
        b = exact_positive(scale, "scale")
        check_scale(b**2, "Discrete Laplace", scale=scale)
        object.__setattr__(self, "scale", b)

    @classmethod
    def calibrate(cls, sensitivity: Sensitivity | Asked, epsilon: Real) -> Self:
        """Return the noise that makes one release exactly epsilon-DP: scale = l1 / epsilon.

        Args:
            sensitivity: of the question; or the question itself.
            epsilon: of one release; positive.

        Raises:
            SensitivityMismatch: if the L1 norm is not bounded.
            InvalidParameter: if epsilon is not positive, or needs noise that cannot be drawn.

        >>> DiscreteLaplace.calibrate(
        ...     Sensitivity(neighbors="add_remove", l1=Fraction(1)), epsilon=0.1)
        DiscreteLaplace(scale=Fraction(10, 1))
        """
        sensitivity = sensitivity_of(sensitivity)
        target = exact_positive(epsilon, "epsilon")
        scale = max(_steps(sensitivity), 1) / target
        check_scale(scale**2, "Discrete Laplace", epsilon=epsilon)
        return cls(scale=scale)

    @property
    @override
    def law(self) -> FoldedGeometric:
        return FoldedGeometric(self.scale)

    def noise_tradeoff(self, sensitivity: Sensitivity) -> TradeOff:
        """Return the discrete Laplace curve at floor(l1), because integers move by integers.

        Args:
            sensitivity: of the integers before noise.

        Raises:
            SensitivityMismatch: if the L1 norm is not bounded.
            InvalidParameter: if l1 is above 2^17, where Laplace noise is as good.
        """
        steps = _steps(sensitivity)
        return discrete_laplace(1 / self.scale, sensitivity=steps) if steps else identity()

    @override
    def beside(
        self, sensitivity: Sensitivity, other: Sensitivity, share: Fraction
    ) -> tuple[Mechanism, Mechanism]:
        moved = replace(sensitivity, l1=Fraction(max(_steps(sensitivity), 1)))
        second = Laplace(scale=self.scale).beside(moved, other, share)[1]
        return DiscreteLaplace(scale=self.scale / (1 - share)), second

    @property
    @override
    def stddev(self) -> float:
        return 1 / (math.sqrt(2) * math.sinh(1 / (2 * self.law.scale)))

    @override
    def describe(self) -> dict[str, object]:
        return {"mechanism": "discrete_laplace", "scale": text(self.scale)}


def _steps(sensitivity: Sensitivity) -> int:
    if sensitivity.l1 is None:
        raise SensitivityMismatch(
            "discrete Laplace noise needs an L1 sensitivity; this query bounds only "
            f"l2_squared={sensitivity.l2_squared}. Write Gaussian noise, or a query that bounds l1"
        )
    return math.floor(sensitivity.l1)
