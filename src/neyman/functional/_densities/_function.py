"""A released density of one coordinate: a curve."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, final

import numpy as np
import numpy.typing as npt

from neyman.arguments import whole
from neyman.functional._arguments import numbers
from neyman.functional._bases._domain import Side
from neyman.functional._bases._waves import multipliers
from neyman.functional._densities._released import ReleasedDensity
from neyman.functional._densities._wave_sums import Series
from neyman.numerics import Array, Real, exact
from neyman.overriding import override

__all__ = ["ReleasedFunction"]


@final
@dataclass(frozen=True, slots=True)
class ReleasedFunction(ReleasedDensity[Fraction]):
    """The released kernel estimate of one coordinate; its bias is that of its kernel only."""

    kind: ClassVar[str] = "density"
    statistics: ClassVar[tuple[str, ...]] = ("density",)
    version: ClassVar[int] = 2
    coordinates: ClassVar[range] = range(1, 2)

    @property
    def side(self) -> Side:
        """The domain of the values."""
        return self.waves.sides[0]

    @property
    def period(self) -> float:
        """The length of the circle of the release."""
        return self.waves.periods[0]

    def __call__(self, x: npt.ArrayLike, *, derivative: int = 0) -> Array:
        """Return f, or a derivative of f, at each x, in the shape of x.

        Equal points give equal bits, in any call (on one machine with one version of NumPy).

        Raises:
            InvalidParameter: if a point is outside the domain, or the released count is not
                positive.
        """
        order = whole("derivative", derivative, 0, 8)
        return self.series.at(self.side.located(x), order)

    def grid(self, points: int) -> tuple[Array, Array]:
        """Return `points` equally spaced places over the whole domain, and f there."""
        x = self.side.grid(points)
        return x, self(x)

    def integral(self, a: Real, b: Real) -> float:
        """Return the integral of f from a to b; it can be slightly outside [0, 1].

        Kernels of values near an end of an interval reach beyond it, so the integral over the whole
        interval can be less than 1, as for every plain kernel estimate.
        """
        ends = self.cdf([float(exact(a, "a")), float(exact(b, "b"))])
        return float(ends[1] - ends[0])

    def cdf(self, x: npt.ArrayLike) -> Array:
        """Return the integral of f from the lower end to each x.

        It is unbiased given the count, and not monotone. The cdf of `DensityFunction` is monotone,
        from 0 to 1. On a circle it grows by 1 with every turn.
        """
        turns = np.floor(numbers("x", x) / self.side.period) if self.side.closed else 0.0
        return np.asarray(self.series.integral(self.side.located(x)) + turns)

    @property
    def bandwidths(self) -> tuple[float, float]:
        """The smallest and the largest bandwidth for `smooth`."""
        ((low, high),) = self.reach
        return float(low), float(high)

    def bandwidth_at(self, factor: float) -> float:
        """Return the release's bandwidth times a factor, at most the largest one."""
        return self.times(factor)[0]

    @override
    def noise_sd(self, x: npt.ArrayLike, *, derivative: int = 0) -> Array:
        own, common = self.noise_parts(whole("derivative", derivative, 0, 8))
        level = (1 / self.period if derivative == 0 else 0.0) - self(x, derivative=derivative)
        return np.asarray(np.sqrt(own + common * level**2))

    def noise_parts(self, derivative: int) -> tuple[float, float]:
        """Return the variance of the waves at a point, and the relative variance of the count."""
        noise = self.noise_spectrum
        step = 2 * math.pi / self.period
        frequencies = np.arange(noise.size, dtype=np.float64) * step
        return float((noise * frequencies ** (2 * derivative))[1:].sum()), self.count_variance

    @property
    def series(self) -> Series:
        """The sum of waves of f, as a function of the distance from the lower end."""
        products, last = self.transform, self.waves.highest[0] + 1
        found = products[:last].astype(np.complex128)
        found.imag[1:] = -products[last:]
        period = self.period
        kernel = multipliers(period, self.waves.highest[0], float(self.bandwidth))
        return Series(period, found * kernel / period)

    @property
    @override
    def each_bandwidth(self) -> tuple[Fraction, ...]:
        return (self.bandwidth,)

    @staticmethod
    @override
    def _bandwidth_of(found: tuple[Fraction, ...]) -> Fraction:
        (bandwidth,) = found
        return bandwidth
