"""Covariance kernels of Gaussian processes, and the norm of a Gaussian bump under them."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from operator import mul
from typing import ClassVar, Final, final

import numpy as np
import numpy.typing as npt

from neyman.arguments import check_type, whole
from neyman.errors import InvalidParameter
from neyman.functional._arguments import numbers
from neyman.numerics import Array, Interval, Real, exact, expm1, text
from neyman.numerics._primitives import PI
from neyman.overriding import override

__all__ = [
    "COVARIANCE_ERROR",
    "MOST_DIMENSIONS",
    "Kernel",
    "Matern",
    "SquaredExponential",
    "check_dimension",
    "check_kernel",
    "check_length",
    "table",
]

MOST_DIMENSIONS: Final = 64
# In at most 64 dimensions: z = |x - y| / l is within (d + 8) 2^-53 relatively, z |k'(z)| <= 1, and
# evaluation adds 20 2^-53 at most: together below 92 2^-53.
COVARIANCE_ERROR: Final = 2.0**-46
_SMALLEST, _LARGEST = Fraction(1, 10**60), Fraction(10**60)


class Kernel(ABC):
    """A stationary covariance k(x, y) with k(x, x) = 1, a function of the distance |x - y|.

    Its Hilbert space H has the functions by which neighbours can differ under noise of this
    covariance: T(N(f, s^2 k), N(g, s^2 k)) = G_mu, mu = ||f - g||_H / s, for any number of points.

    Source: Hall, Rinaldo and Wasserman, *Differential privacy for functions and functional data*,
        JMLR 2013, section 3.
    """

    __slots__ = ()

    kind: ClassVar[str]
    length_scale: Fraction

    @abstractmethod
    def at(self, distance: Array) -> Array:
        """Return k at these distances, elementwise; 0 at infinity."""

    @abstractmethod
    def bump_norm_squared(self, bandwidth: Real, dimension: int) -> float:
        """Return ||K_h||_H^2, K_h(x) = (2 pi h^2)^(-d/2) exp(-|x|^2 / (2 h^2)), rounded up.

        Args:
            bandwidth: h, in the units of the length scale.
            dimension: d, the number of coordinates.

        Raises:
            InvalidParameter: if it is infinite, out of range for doubles, or not known in d
                dimensions.
        """

    @abstractmethod
    def bump_distance_squared(self, bandwidth: Real, dimension: int, diameter: Real) -> float:
        """Return an upper bound of ||K_h(. - x) - K_h(. - y)||_H^2 over |x - y| <= diameter.

        Raises:
            InvalidParameter: as for `bump_norm_squared`, or if the diameter is not positive.
        """

    def covariance(self, x: npt.ArrayLike, y: npt.ArrayLike) -> Array:
        """Return the matrix k(x_i, y_j).

        Args:
            x: points, shape (m, d); shape (m,) in one dimension.
            y: points, shape (n, d); shape (n,) in one dimension.

        Error: each entry is within 2^-46.
        """
        left, right = table(x, "x"), table(y, "y")
        if left.shape[1] != right.shape[1]:
            raise InvalidParameter(
                "the points of both sets must have as many coordinates; got "
                f"{left.shape[1]} and {right.shape[1]}"
            )
        scale = float(self.length_scale)
        squares = np.zeros((left.shape[0], right.shape[0]))
        # The difference first: products of coordinates would lose what is near.
        with np.errstate(over="ignore"):
            for a, b in zip(left.T, right.T, strict=True):
                squares += ((a[:, None] - b) / scale) ** 2
            return self.at(np.sqrt(squares) * scale)

    @abstractmethod
    def record(self) -> dict[str, object]:
        """Return the public record for JSON."""


@final
@dataclass(frozen=True, slots=True, init=False)
class SquaredExponential(Kernel):
    """k = exp(-|x - y|^2 / (2 l^2)), in any dimension. Its paths are analytic.

        ||K_h||_H^2 = (8 pi^2 l^2 (h^2 - l^2/2))^(-d/2),  infinite for l >= sqrt(2) h,
        <K_h(. - x), K_h(. - y)> = ||K_h||_H^2 exp(-|x - y|^2 / (4 h^2 - 2 l^2))

    It is least at l = h, where it is K_h(0)^2: the noise is as smooth as the estimate. Smoother
    noise hides less, and for l >= sqrt(2) h it hides nothing.

    >>> SquaredExponential(1).bump_norm_squared(1, 1) * 2 * math.pi  # K_h(0)^2 = 1 / (2 pi)
    1.000...

    Attributes:
        length_scale: l, exact, in the units of the points.
    """

    kind: ClassVar[str] = "squared_exponential"

    length_scale: Fraction

    def __init__(self, length_scale: Real) -> None:
        """Take l; a float counts as the decimal that it prints as.

        Raises:
            InvalidParameter: if it is not in [1e-60, 1e60].
        """
        object.__setattr__(self, "length_scale", check_length(length_scale, "length_scale"))

    @override
    def at(self, distance: Array) -> Array:
        z = distance / float(self.length_scale)
        with np.errstate(over="ignore", under="ignore"):
            return np.exp(-0.5 * z * z)

    @override
    def bump_norm_squared(self, bandwidth: Real, dimension: int) -> float:
        h, d = check_length(bandwidth, "bandwidth"), check_dimension(dimension)
        base = 8 * self.length_scale**2 * self._room(h)
        if d * abs(_log10(base)) >= 480:
            return _representable(0.0)
        root = Interval.of(base).sqrt() * PI
        return _representable(float((1 / reduce(mul, [root] * d)).upper))

    @override
    def bump_distance_squared(self, bandwidth: Real, dimension: int, diameter: Real) -> float:
        norm = self.bump_norm_squared(bandwidth, dimension)
        reach = check_length(diameter, "diameter")
        h = exact(bandwidth, "bandwidth")
        share = -expm1(-Interval.of(reach**2 / (4 * self._room(h))))
        return float((share * norm * 2).upper)

    @override
    def record(self) -> dict[str, object]:
        return {"kind": self.kind, "length_scale": text(self.length_scale)}

    def _room(self, h: Fraction) -> Fraction:
        room = h**2 - self.length_scale**2 / 2
        if room <= 0:
            raise InvalidParameter(
                f"the length scale of the noise must be below sqrt(2) bandwidths, {text(h)} each; "
                f"got {text(self.length_scale)}. Noise that smooth hides nothing, at any size. "
                f"Write SquaredExponential({text(h)}), which needs the least noise"
            )
        return room


@final
@dataclass(frozen=True, slots=True, init=False)
class Matern(Kernel):
    """Matern covariance of smoothness nu = 1/2, 3/2 or 5/2; a = sqrt(2 nu) |x - y| / l.

        nu = 1/2: e^-a      nu = 3/2: (1 + a) e^-a      nu = 5/2: (1 + a + a^2/3) e^-a

    In one dimension, q = nu + 1/2 and b = sqrt(2 nu) / l, the spectrum is c b^(2q-1) (b^2 + w^2)^-q
    with c = 2, 4, 16/3, and

        ||K_h||_H^2 = sum_j binomial(q, j) b^(2(q-j)) (2j-1)!! (2 h^2)^-j
                      / (2 sqrt(pi) h c b^(2q-1)),

    finite for every l and h, because such noise is rough. For the same privacy its standard
    deviation is at best 1.3 % (nu = 5/2, l = 1.14 h), 2.8 % (3/2, 1.2 h) and 12 % (1/2, 1.41 h)
    above that of SquaredExponential(h).

    Attributes:
        smoothness: nu, exact.
        length_scale: l, exact, in the units of the points.
    """

    kind: ClassVar[str] = "matern"

    smoothness: Fraction
    length_scale: Fraction

    def __init__(self, smoothness: Real, length_scale: Real) -> None:
        """Take nu and l; a float counts as the decimal that it prints as.

        Raises:
            InvalidParameter: if nu is not 1/2, 3/2 or 5/2, or l is not in [1e-60, 1e60].
        """
        object.__setattr__(self, "smoothness", exact(smoothness, "smoothness"))
        object.__setattr__(self, "length_scale", check_length(length_scale, "length_scale"))
        if self.smoothness not in (Fraction(1, 2), Fraction(3, 2), Fraction(5, 2)):
            raise InvalidParameter(
                f"smoothness must be 0.5, 1.5 or 2.5; got {text(self.smoothness)}. For smoother "
                "noise write SquaredExponential(length_scale)"
            )

    @property
    def states(self) -> int:
        """q: the value and its q - 1 derivatives are a Markov process."""
        return int(self.smoothness + Fraction(1, 2))

    @property
    def rate(self) -> float:
        """sqrt(2 nu) / l, the rate at which the covariance falls."""
        return math.sqrt(2 * self.smoothness) / float(self.length_scale)

    @override
    def at(self, distance: Array) -> Array:
        a = np.minimum(distance * self.rate, 800.0)
        polynomial = [1 + 0 * a, 1 + a, 1 + a + a * a / 3][self.states - 1]
        with np.errstate(under="ignore"):
            return polynomial * np.exp(-a)

    @override
    def bump_norm_squared(self, bandwidth: Real, dimension: int) -> float:
        h = check_length(bandwidth, "bandwidth")
        if check_dimension(dimension) != 1:
            raise InvalidParameter(
                f"the norm under Matern noise is known in 1 dimension only; got {dimension}. Write "
                "SquaredExponential(bandwidth)"
            )
        q = self.states
        square = 2 * self.smoothness / self.length_scale**2
        double_factorials = (1, 1, 3, 15)
        total = sum(
            math.comb(q, j) * square ** (q - j) * double_factorials[j] / (2 * h**2) ** j
            for j in range(q + 1)
        )
        # In rationals but for two square roots: b^(2q-1) = b square^(q-1).
        ratio = total / (2 * h * (Fraction(2), Fraction(4), Fraction(16, 3))[q - 1])
        ratio /= square ** (q - 1)
        if abs(_log10(ratio)) > 250 or abs(_log10(square)) > 250:
            return _representable(0.0)
        value = Interval.of(ratio) / (PI.sqrt() * Interval.of(square).sqrt())
        return _representable(float(value.upper))

    @override
    def bump_distance_squared(self, bandwidth: Real, dimension: int, diameter: Real) -> float:
        check_length(diameter, "diameter")
        return 4 * self.bump_norm_squared(bandwidth, dimension)

    @override
    def record(self) -> dict[str, object]:
        return {
            "kind": self.kind,
            "smoothness": text(self.smoothness),
            "length_scale": text(self.length_scale),
        }


def table(points: npt.ArrayLike, name: str = "points") -> Array:
    """Return public points as doubles of shape (m, d); a vector has m points on the line.

    Raises:
        InvalidParameter: if there are none, one is not finite, or they have too many dimensions.
    """
    array = numbers(name, points)
    array = array[:, None] if array.ndim == 1 else array
    if array.ndim != 2 or not array.size or array.shape[1] > MOST_DIMENSIONS:
        raise InvalidParameter(
            f"{name} must have shape (m, d), d at most {MOST_DIMENSIONS}; got {np.shape(points)}"
        )
    if not np.isfinite(array).all():
        raise InvalidParameter(f"a public point of {name} is not finite; write finite ones")
    return array


def check_kernel(kernel: object) -> None:
    """Check that an object is a kernel.

    Raises:
        InvalidParameter: if it is not.
    """
    instead = "SquaredExponential(length_scale) or Matern(smoothness, length_scale)"
    check_type("kernel", kernel, Kernel, instead)


def check_dimension(dimension: int) -> int:
    return whole("dimension", dimension, 1, MOST_DIMENSIONS)


def check_length(value: Real, name: str) -> Fraction:
    """Return a length, checked so that its square and its inverse are in range for doubles.

    Raises:
        InvalidParameter: if it is not in [1e-60, 1e60].
    """
    length = exact(value, name)
    if not _SMALLEST <= length <= _LARGEST:
        raise InvalidParameter(f"{name} must be from 1e-60 to 1e60; got {text(length)}")
    return length


def _log10(value: Fraction) -> float:
    return (value.numerator.bit_length() - value.denominator.bit_length()) * math.log10(2)


def _representable(value: float) -> float:
    """Return a number, checked to be in the range of full double accuracy."""
    if not 1e-290 < value < 1e290:
        raise InvalidParameter(
            "the norm of a kernel of this bandwidth is beyond doubles; write lengths near 1, by "
            "choosing another unit"
        )
    return value
