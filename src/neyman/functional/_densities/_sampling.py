"""The sampling error of a mean of kernels, and limits for its expected value.

The estimate is e = m + noise + sampling, where m is the expected value of a kernel at x. If the
variance is estimated from e, it is too small where e is too low, and a band of e plus and minus u
estimated deviations is too low. The limits here are the m that a test accepts, with the variance at
m itself:

    |e - m| <= u sd(m),    sd(m)^2 = s^2 + (r m - m^2) / n

s is the standard deviation of the noise, r = E K^2 / E K. Sums of kernels are skewed to the right.
By the first term of Cornish and Fisher the bound from above is

    e - m <= u sd(m) + c(m),    c(m) = ((u^2 - 1) / 6) M(m) / (n^2 sd(m)^2)

M is the third central moment of a kernel. If a unit has at most r records, which may all be equal,
n is the number of records over r: a sum of r equal kernels has r times the variance of r
independent ones, and no sum of r has more. The other side is not shortened by c(m), because the
expansion is not accurate enough where few records are near.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final, NamedTuple, Self, final

import numpy as np

from neyman.functional._bases._domain import Side
from neyman.functional._bases._fixed_point import contracted
from neyman.functional._densities._proper import ProperDensity
from neyman.functional._generator import Generator
from neyman.numerics import Array

__all__ = ["FieldSampling", "Sampled", "Spread", "limits"]

# Of a circle, beyond which kernels of a quarter of it are flat.
_TURNS: Final = 2


class Spread(NamedTuple):
    """Variances of a process and of its slope, and their covariance, at each point."""

    value: Array
    slope: Array
    both: Array


class Sampled(NamedTuple):
    """A mean of n kernels at values with some density.

    Attributes:
        spread: the variances of the mean.
        second: r = E K^2 / E K at each point.
        third: t = E K^3 / E K at each point.
        records: n, the number of records over the most records of one unit.
    """

    spread: Spread
    second: Array
    third: Array
    records: float


@final
@dataclass(frozen=True, slots=True, eq=False)
class FieldSampling:
    """A mean of n kernels at values that are drawn from a density.

    Attributes:
        masses: the masses of the density at the places of its lattice; their sum is 1.
        kernels: the kernels of each axis between places and grid points, shape (places, points).
        peak: the kernel at 0.
        records: n.
    """

    masses: Array = field(repr=False)
    kernels: list[Array] = field(repr=False)
    peak: float
    records: float

    @classmethod
    def of(
        cls,
        density: ProperDensity,
        axes: Sequence[Array],
        bandwidth: Sequence[Fraction],
        records: float,
    ) -> Self:
        """Tabulate the kernels."""
        widths = [float(h) for h in bandwidth]
        kernels = [
            _kernel(side, places, points, h)
            for side, places, points, h in zip(
                density.sides, density.axes, axes, widths, strict=True
            )
        ]
        peak = math.prod(1 / (h * math.sqrt(2 * math.pi)) for h in widths)
        return cls(density.masses(), kernels, peak, max(records, 1.0))

    @property
    def moments(self) -> Sampled:
        """The variance of the mean, r and t, at each point, as in `Sampled`."""
        d, n = len(self.kernels), self.records
        first, second, third = (
            contracted(self.masses, [table**power for table in self.kernels]) for power in (1, 2, 3)
        )
        near = n * first + self.peak
        none = np.zeros(first.shape)
        return Sampled(
            Spread(np.maximum(second - first**2, 0.0) / n, none, none),
            (n * second + self.peak**2 / math.sqrt(2) ** d) / near,
            (n * third + self.peak**3 / math.sqrt(3) ** d) / near,
            n,
        )

    def drawn(self, generator: Generator) -> Array:
        """Return a Gaussian field with the covariance of the mean."""
        own = np.sqrt(self.masses / self.records) * generator.standard_normal(self.masses.shape)
        mean = contracted(self.masses, self.kernels)
        return contracted(own, self.kernels) - mean * float(own.sum())


def _kernel(side: Side, places: Array, points: Array, h: float) -> Array:
    apart = np.subtract.outer(places, points)
    turns = range(-_TURNS, _TURNS + 1) if side.closed else range(1)
    with np.errstate(under="ignore"):
        waves = [np.exp(-0.5 * ((apart + k * side.period) / h) ** 2) for k in turns]
    return np.asarray(sum(waves)) / (h * math.sqrt(2 * math.pi))


def limits(estimate: Array, noise: Array, kernels: Sampled, width: float) -> tuple[Array, Array]:
    """Return the smallest and the largest expected value within `width` standard deviations.

    Args:
        estimate: e.
        noise: s^2, its variance without sampling.
        kernels: r, t and n.
        width: u.

    Error: an estimate, because c is taken at the limit without c.
    Source: Wilson, *Probable inference, the law of succession, and statistical inference*, JASA
        1927; Hall, *The Bootstrap and Edgeworth Expansion*, 1992, section 2.5.
    """
    lower, upper = _roots(estimate, noise, kernels, width)
    n, mean = kernels.records, np.maximum(lower, 0.0)
    variance = noise + np.maximum(kernels.second * mean - mean**2, 0.0) / n
    third = kernels.third * mean - 3 * kernels.second * mean**2 + 2 * mean**3
    # Without any variance there is nothing to skew.
    below = n**2 * np.maximum(variance, np.finfo(np.float64).tiny)
    skew = max(width**2 - 1, 0.0) / 6 * np.maximum(third, 0.0) / below
    return _roots(estimate - skew, noise, kernels, width)[0], upper


def _roots(estimate: Array, noise: Array, kernels: Sampled, width: float) -> tuple[Array, Array]:
    """Return the ends of |e - m| <= u sd(m); for m below 0, sd is that of the noise."""
    flat = width * np.sqrt(noise)
    share = width**2 / kernels.records
    square, half = 1 + share, estimate + share * kernels.second / 2
    # e^2 - u^2 s^2 without its cancellation.
    rest = (estimate - flat) * (estimate + flat)
    root = np.sqrt(np.maximum(half**2 - square * rest, 0.0))
    lower = np.where(estimate > flat, rest / (half + root), estimate - flat)
    upper = np.where(estimate > -flat, (half + root) / square, estimate + flat)
    return lower, upper
