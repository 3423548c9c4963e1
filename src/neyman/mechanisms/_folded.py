# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
"""Magnitudes |X| of symmetric laws: a fast inverse in float64 and an exact forward function.

The adapter to scipy.special and python-flint.
"""

import importlib
import math
from abc import ABC, abstractmethod
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias, final

import numpy as np
import numpy.typing as npt

from neyman.errors import MissingExtra
from neyman.mechanisms._precision import working_precision

__all__ = ["FloatArray", "FoldedLaplace", "FoldedLaw", "FoldedNormal", "require_flint"]

if TYPE_CHECKING:
    from flint import arb

FloatArray: TypeAlias = npt.NDArray[np.float64]


def require_flint() -> None:
    """Raise unless python-flint, which decides the draws that float64 cannot, is installed.

    Raises:
        MissingExtra: if it is not.
    """
    with suppress(ImportError):
        importlib.import_module("flint")
        return
    raise MissingExtra(
        "noise was asked for and python-flint, which rounds it exactly, is not installed; "
        "write: pip install 'neyman[noise]'"
    )


class FoldedLaw(ABC):
    """|X| for X symmetric about 0 with a positive, continuous density, in lattice units.

    t_j = P(|X| > j + 1/2),  j = 0, 1, 2, ...
    """

    __slots__ = ()

    @property
    @abstractmethod
    def scale(self) -> float:
        """The unit of `magnitude` in lattice units, correctly rounded to a few ulps."""

    @abstractmethod
    def magnitude(self, upper: FloatArray) -> FloatArray:
        """Return z >= 0 with P(|X| > scale z) = upper.

        Args:
            upper: probabilities in (0, 1]; may be overwritten.

        Error: must stay below an eighth of the band 2^-45 (z + 1); tests measure it.
        """

    @abstractmethod
    def tail(self, j: int) -> "arb":
        """Return a ball that holds t_j, at python-flint's working precision."""

    @final
    def boundary(self, j: int, length: int) -> int:
        """Return floor(2^length t_j), exactly: the precision grows until the ball decides."""
        precision = length + 64
        while True:
            with working_precision(precision):
                cell = (self.tail(j) * 2**length).floor().unique_fmpz()
            if cell is not None:
                return int(cell)
            precision *= 2


@final
@dataclass(frozen=True, slots=True)
class FoldedNormal(FoldedLaw):
    """|N(0, variance)|: t_j = erfc((2j + 1) / sqrt(8 variance))."""

    variance: Fraction

    @property
    def scale(self) -> float:
        """The standard deviation."""
        return math.sqrt(self.variance)

    def magnitude(self, upper: FloatArray) -> FloatArray:
        """Return -ndtri(upper / 2)."""
        from scipy.special import ndtri

        upper *= 0.5
        z = ndtri(upper, out=upper)
        return np.negative(z, out=z)

    def tail(self, j: int) -> "arb":
        """Return erfc of the root of an exact rational."""
        return _ball(Fraction((2 * j + 1) ** 2) / (8 * self.variance)).sqrt().erfc()


@final
@dataclass(frozen=True, slots=True)
class FoldedLaplace(FoldedLaw):
    """|Laplace(b)|: t_j = exp(-(2j + 1) / (2b))."""

    exact_scale: Fraction

    @property
    def scale(self) -> float:
        """The scale b."""
        return float(self.exact_scale)

    def magnitude(self, upper: FloatArray) -> FloatArray:
        """Return -log(upper)."""
        x = np.log(upper, out=upper)
        return np.negative(x, out=x)

    def tail(self, j: int) -> "arb":
        """Return exp of an exact rational."""
        return _ball(-Fraction(2 * j + 1) / (2 * self.exact_scale)).exp()


def _ball(value: Fraction) -> "arb":
    from flint import arb, fmpq

    return arb(fmpq(value.numerator, value.denominator))
