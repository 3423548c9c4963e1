"""The exactly rounded Laplace."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Self, final

from neyman.calls import plain_calls_of
from neyman.curves import TradeOff, laplace
from neyman.errors import SensitivityMismatch
from neyman.mechanisms._folded import FoldedLaplace
from neyman.mechanisms._mechanism import Mechanism, check_scale
from neyman.numerics import Real, exact_positive, text
from neyman.overriding import override
from neyman.sensitivity import Asked, Sensitivity, sensitivity_of

__all__ = ["Laplace"]


@plain_calls_of
@final
@dataclass(frozen=True, slots=True, init=False)
class Laplace(Mechanism):
    """Adds round(b X), X standard Laplace: exactly the curve of epsilon = l1 sensitivity / b.

    Source: Dwork, McSherry, Nissim and Smith, *Calibrating noise to sensitivity in private data
        analysis*, TCC 2006, Proposition 1.

    Attributes:
        scale: b, exact, in lattice units.

    >>> Laplace(scale=10).half_width(0.95)
    30
    """

    scale: Fraction

    def __init__(self, *, scale: Real) -> None:
        """Create the noise from b; a float means the decimal that it prints as.

        Args:
            scale: b, in lattice units.

        Raises:
            InvalidParameter: if b is outside [2^-3, 2^40].
        """
        b = exact_positive(scale, "scale")
        check_scale(b**2, "Laplace", scale=scale)
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

        >>> Laplace.calibrate(Sensitivity(neighbors="add_remove", l1=Fraction(1)), epsilon=0.1)
        Laplace(scale=Fraction(10, 1))
        """
        sensitivity = sensitivity_of(sensitivity)
        target = exact_positive(epsilon, "epsilon")
        scale = _l1(sensitivity) / target
        check_scale(scale**2, "Laplace", epsilon=epsilon)
        return cls(scale=scale)

    @property
    @override
    def law(self) -> FoldedLaplace:
        return FoldedLaplace(self.scale)

    @override
    def noise_tradeoff(self, sensitivity: Sensitivity) -> TradeOff:
        return laplace(_l1(sensitivity) / self.scale)

    @override
    def beside(
        self, sensitivity: Sensitivity, other: Sensitivity, share: Fraction
    ) -> tuple[Mechanism, Mechanism]:
        second = self.scale * _l1(other) / (share * _l1(sensitivity))
        return Laplace(scale=self.scale / (1 - share)), Laplace(scale=second)

    @property
    @override
    def stddev(self) -> float:
        a = 1 / (2 * self.law.scale)
        return math.sqrt(math.cosh(a) / 2) / math.sinh(a)

    @override
    def describe(self) -> dict[str, object]:
        return {"mechanism": "laplace", "scale": text(self.scale)}


def _l1(sensitivity: Sensitivity) -> Fraction:
    if sensitivity.l1 is None:
        raise SensitivityMismatch(
            "Laplace noise needs an L1 sensitivity; this query bounds only "
            f"l2_squared={sensitivity.l2_squared}. Write Gaussian noise, or a query that bounds l1"
        )
    return sensitivity.l1
