"""Values at public points: whitening by the kernel of the noise, questions, and columns."""

# scipy carries no types of its own.
# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final, Self, cast, final

import numpy as np
import numpy.typing as npt

from neyman.aggregate import Aggregate, Columns, IntArray, Noise
from neyman.digests import digest
from neyman.errors import InvalidParameter
from neyman.functional._gaussian_processes._kernels import Kernel, check_kernel, table
from neyman.numerics import Array, text
from neyman.sensitivity import Neighbors, Sensitivity

__all__ = ["LEAST_NUGGET", "SCALE", "Question", "ValuesReading", "Whitening", "in_lattice"]

LEAST_NUGGET: Final = Fraction(1, 2**26)
_MOST_POINTS: Final = 2048
_UNIT: Final = 2.0**-53
# One unit moves the whitened coordinates by about this many lattice units.
SCALE: Final = 2.0**23
# Raise it whenever the integers of an unchanged question change.
_RULES: Final = 2


@final
@dataclass(frozen=True, slots=True, eq=False)
class Whitening:
    """Public points and the factor L of their noise: L L^T = K + t I up to rounding.

    Independent noise of variance 1 on c = L^-1 v is noise of covariance L L^T on the values v. With
    w = f(points) - g(points),

        ||L^-1 w|| <= ||f - g||_H

    also for the computed L. It has L L^T = K + t I + E with ||E|| <= t/2 (Higham, *Accuracy and
    stability of numerical algorithms*, 2002, theorem 10.3: |E| <= (m + 1) u' |L| |L|^T, whose norm
    is at most (m + 1) u' times the trace m (1 + t); entries of K are within 2^-46). So L L^T is
    above K, and w^T (K + s I)^-1 w <= ||f - g||_H^2 for every s > 0. The nugget t only adds noise.

    Attributes:
        kernel: the kernel k.
        points: the public points, shape (m, d), m at most 2048; read-only.
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
            InvalidParameter: if there are too many points, they are not valid, or the nugget is too
                small for doubles or above 1.
        """
        check_kernel(kernel)
        places = table(points).copy()
        if len(places) > _MOST_POINTS:
            raise InvalidParameter(
                f"there must be at most {_MOST_POINTS} public points; got {len(places)}. Write "
                "fewer, and interpolate between them"
            )
        if not LEAST_NUGGET <= nugget <= 1:
            raise InvalidParameter(f"nugget must be from 2^-26 to 1; got {text(nugget)}")
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

    def error(self, norm: float, value_error: float) -> float:
        """Return a bound on ||computed L^-1 v - exact L^-1 f(points)|| for ||f||_H <= norm.

        If each v is within `value_error` of f, the first part is sqrt(m) value_error / s, where s^2
        = t/2 bounds the least eigenvalue of L L^T. The second part is the error of substitution,
        ||F|| ||c|| / s: (L + F) c = v, |F| <= 4 m u |L| (Higham, theorem 8.5, with room for blocked
        code).
        """
        m = self.size
        inverse = math.sqrt(2 / float(self.nugget))
        moved = 4 * m * _UNIT * math.sqrt(2 * m) * inverse
        reached = norm + math.sqrt(m) * value_error * inverse
        return 1.01 * (math.sqrt(m) * value_error * inverse + moved * reached / (1 - moved))

    def record(self) -> Mapping[str, object]:
        """Return the public record for JSON."""
        return {
            "kernel": self.kernel.record(),
            "points": self.points.tolist(),
            "nugget": text(self.nugget),
        }


@final
@dataclass(frozen=True, slots=True, eq=False)
class ValuesReading:
    """values = step F y: noise of covariance (step sd)^2 F F^T. Post-processing of y.

    Attributes:
        points: the public points, shape (m, d).
        factor: F, the inverse of the whitening, shape (m, m).
        step: the value of one lattice unit of a whitened coordinate.
    """

    points: Array = field(repr=False)
    factor: Array = field(repr=False)
    step: float

    def columns(self, noisy: IntArray, noise: Noise, confidence: float) -> Columns:
        """Return the points x1 ... xd, the values with their noise, and the integers.

        The standard deviations are exact up to rounding. The intervals treat a sum of independent
        rounded Gaussians as one rounded Gaussian, in proportion; each holds separately.
        """
        values = self.step * (self.factor @ noisy.astype(np.float64))
        lengths = self.step * np.sqrt(np.einsum("ij,ij->i", self.factor, self.factor))
        widths = lengths * noise.half_width(confidence)
        columns: Columns = {f"x{k}": x.tolist() for k, x in enumerate(self.points.T, 1)}
        return columns | {
            "value": values.tolist(),
            "stddev": (noise.stddev * lengths).tolist(),
            "lower": (values - widths).tolist(),
            "upper": (values + widths).tolist(),
            "coefficient": noisy.tolist(),
        }


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """The common part of all questions about values at public points.

    Attributes:
        statistic: the name of the question.
        whitening: the points and the kernel of the noise.
        unit: the privacy unit, in the words of the ledger.
        source: the name of the dataset in the ledger.
        neighbors: the neighbouring relation.
        records: the number of records if it is public, else None.
    """

    statistic: str
    whitening: Whitening
    unit: str
    source: str
    neighbors: Neighbors
    records: int | None

    def aggregate(
        self,
        declared: Mapping[str, object],
        rule: object,
        l2_squared: Fraction,
        step: float,
        compute: Callable[[], IntArray],
        factor: Array | None = None,
    ) -> Aggregate:
        """Return the question, not yet computed.

        Args:
            declared: the public record of the other arguments, for JSON.
            rule: the map from records to integers, without the points; its fields distinguish this
                question from others.
            l2_squared: the squared L2 sensitivity of the integers.
            step: the value of one lattice unit of a whitened coordinate.
            compute: a function that returns the integers.
            factor: the inverse of the whitening; that of the points by default.
        """
        size, points = self.whitening.size, self.whitening
        query = {"statistic": self.statistic, "rules": _RULES, "records": self.records}
        # Not the factor: its last bits are those of a machine.
        rules = digest(self.statistic, points.kernel, points.points, points.nugget, rule)
        return Aggregate(
            query=query | dict(points.record()) | dict(declared) | {"computation": rules},
            source=self.source,
            unit=self.unit,
            sensitivity=Sensitivity(
                neighbors=self.neighbors,
                l2_squared=l2_squared,
                coordinates=size,
                largest=math.isqrt(math.floor(l2_squared)) + 1,
            ),
            size=size,
            reading=ValuesReading(
                self.whitening.points, self.whitening.factor if factor is None else factor, step
            ),
            compute=compute,
        )


def in_lattice(distance: float, size: int) -> Fraction:
    """Return l2_squared of integers rounded from vectors at this distance, in lattice units.

    Rounding moves each difference by at most 1, and the errors of the doubles before it are far
    below 2^-10: ||rint(a) - rint(b)|| <= ||a - b|| + sqrt(size) (1 + 2^-10).
    """
    return Fraction(math.ceil((1 + 2.0**-45) * (distance + math.sqrt(size) * (1 + 2.0**-10)) ** 2))
