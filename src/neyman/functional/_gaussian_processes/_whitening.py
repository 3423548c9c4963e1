# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false
"""Values at public points in coordinates in which the noise of a kernel is independent."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final, Self, cast, final

import numpy as np
import numpy.typing as npt

from neyman.errors import InvalidParameter
from neyman.functional._gaussian_processes._kernels import Kernel, check_kernel, table
from neyman.numerics import Array, text

__all__ = ["LEAST_NUGGET", "Whitening"]

LEAST_NUGGET: Final = Fraction(1, 2**26)
_MOST_POINTS: Final = 2048
_UNIT: Final = 2.0**-53


@final
@dataclass(frozen=True, slots=True, eq=False)
class Whitening:
    """Public points and the factor L of the noise at them: L L^T = K + t I, nearly.

    Noise independent and of variance 1 on c = L^-1 v is noise of covariance L L^T on the values v.
    With w = f(points) - g(points)

        ||L^-1 w|| <= ||f - g||_H

    for the computed L too: L L^T = K + t I + E with ||E|| <= t/2 (Higham, *Accuracy and stability
    of numerical algorithms*, 2002, theorem 10.3: |E| <= (m + 1) u' |L| |L|^T, whose norm is at most
    (m + 1) u' times the trace m (1 + t); entries of K are within 2^-46), so L L^T is above K, and
    w^T (K + s I)^-1 w <= ||f - g||_H^2 for every s > 0. The nugget t only adds noise.

    Attributes:
        kernel: k.
        points: public, shape (m, d), m at most 2048; read-only.
        nugget: t, at least 2^-26.
    """

    kernel: Kernel
    points: Array = field(repr=False)
    nugget: Fraction
    factor: Array = field(repr=False)

    @classmethod
    def of(cls, kernel: Kernel, points: npt.ArrayLike, nugget: Fraction = LEAST_NUGGET) -> Self:
        """Factor the covariance.

        Raises:
            InvalidParameter: if there are too many points, or they are no points, or the nugget is
                too small for doubles or above 1.
        """
        check_kernel(kernel)
        places = table(points).copy()
        if len(places) > _MOST_POINTS:
            raise InvalidParameter(
                f"{len(places)} public points were given; write at most {_MOST_POINTS}, and "
                "interpolate between them"
            )
        if not LEAST_NUGGET <= nugget <= 1:
            raise InvalidParameter(f"nugget={text(nugget)} was given; write one from 2^-26 to 1")
        covariance = kernel.covariance(places, places)
        np.fill_diagonal(covariance, 1 + float(nugget))
        factor = np.asarray(np.linalg.cholesky(covariance), np.float64)
        for array in (places, factor):
            array.setflags(write=False)
        return cls(kernel, places, nugget, factor)

    @property
    def size(self) -> int:
        """The number of points."""
        return len(self.points)

    @property
    def lengths(self) -> Array:
        """Standard deviation of the noise at each point, for independent noise of variance 1."""
        return np.sqrt(np.einsum("ij,ij->i", self.factor, self.factor))

    def whiten(self, values: Array) -> Array:
        """Return L^-1 v for each column v, shape (m, k)."""
        from scipy.linalg import solve_triangular

        return np.asarray(
            cast("Array", solve_triangular(self.factor, values, lower=True, check_finite=False))
        )

    def colour(self, coordinates: Array) -> Array:
        """Return L c."""
        return self.factor @ coordinates

    def error(self, norm: float, value_error: float) -> float:
        """Bound ||computed L^-1 v - exact L^-1 f(points)|| for ||f||_H <= norm.

        With each v within `value_error` of f it is sqrt(m) value_error / s, s^2 = t/2 the least
        eigenvalue of L L^T, and what substitution adds: (L + F) c = v, |F| <= 4 m u |L| (Higham,
        theorem 8.5, with room for blocked code), that is ||F|| ||c|| / s.
        """
        m = self.size
        inverse = math.sqrt(2 / float(self.nugget))
        moved = 4 * m * _UNIT * math.sqrt(2 * m) * inverse
        reached = norm + math.sqrt(m) * value_error * inverse
        return 1.01 * (math.sqrt(m) * value_error * inverse + moved * reached / (1 - moved))

    def record(self) -> Mapping[str, object]:
        """Return the public record, JSON-able."""
        return {
            "kernel": self.kernel.record(),
            "points": self.points.tolist(),
            "nugget": text(self.nugget),
        }
