# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
"""Magnitudes |X| of symmetric laws: a fast inverse in float64 and an exact forward function.

This is the adapter to scipy.special and python-flint.
"""

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias, final

import numpy as np
import numpy.typing as npt

from neyman.aggregate import IntArray
from neyman.mechanisms._bits import BitSource
from neyman.mechanisms._law import NoiseLaw, ball
from neyman.mechanisms._rounded import BAND, draw
from neyman.overriding import override

__all__ = ["FloatArray", "FoldedLaplace", "FoldedLaw", "FoldedNormal"]

if TYPE_CHECKING:
    from flint import arb

FloatArray: TypeAlias = npt.NDArray[np.float64]


class FoldedLaw(NoiseLaw):
    """|X| for X symmetric about 0 with a density, in lattice units; K is the integer nearest to X.

    t_j = P(|X| > j + 1/2),  j = 0, 1, 2, ...
    """

    __slots__ = ()

    @property
    @abstractmethod
    def scale(self) -> float:
        """The unit of `magnitude` in lattice units, accurate to a few ulps."""

    @abstractmethod
    def magnitude(self, upper: FloatArray) -> FloatArray:
        """Return z >= 0 with P(|X| > scale z) = upper.

        Args:
            upper: probabilities in (0, 1]; may be overwritten.

        Error: must stay below an eighth of the band 2^-45 (z + 1); tests measure it.
        """

    @final
    @override
    def draw(self, count: int, source: BitSource) -> IntArray:
        return draw(self, count, source)

    @final
    def half_width(self, confidence: float) -> int:
        """Return an h with P(|X| < h + 1/2) >= confidence.

        Error: one too large if h + 1/2 is within the band of the quantile.
        """
        z = float(self.magnitude(np.array([1 - confidence]))[0])
        return max(0, math.ceil(self.scale * (z + BAND * (z + 1)) - 0.5))


@final
@dataclass(frozen=True, slots=True)
class FoldedNormal(FoldedLaw):
    """|N(0, variance)|: t_j = erfc((2j + 1) / sqrt(8 variance))."""

    variance: Fraction

    @property
    @override
    def scale(self) -> float:
        return math.sqrt(self.variance)

    @override
    def magnitude(self, upper: FloatArray) -> FloatArray:
        from scipy.special import ndtri

        upper *= 0.5
        z = ndtri(upper, out=upper)
        return np.negative(z, out=z)

    @override
    def tail(self, j: int) -> "arb":
        return ball(Fraction((2 * j + 1) ** 2) / (8 * self.variance)).sqrt().erfc()


@final
@dataclass(frozen=True, slots=True)
class FoldedLaplace(FoldedLaw):
    """|Laplace(b)|: t_j = exp(-(2j + 1) / (2b))."""

    exact_scale: Fraction

    @property
    @override
    def scale(self) -> float:
        return float(self.exact_scale)

    @override
    def magnitude(self, upper: FloatArray) -> FloatArray:
        x = np.log(upper, out=upper)
        return np.negative(x, out=x)

    @override
    def tail(self, j: int) -> "arb":
        return ball(-Fraction(2 * j + 1) / (2 * self.exact_scale)).exp()
