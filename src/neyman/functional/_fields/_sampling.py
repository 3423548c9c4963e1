"""What sampling adds to a mean of kernels in several dimensions, at the points of a grid."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final, Self, final

import numpy as np

from neyman.functional._bases._fixed_point import contracted
from neyman.functional._bases._side import Side
from neyman.functional._curves._sampling import Sampled, Spread
from neyman.functional._fields._projected_field import ProjectedField
from neyman.functional._generator import Generator
from neyman.numerics import Array

__all__ = ["FieldSampling"]

# Of a circle, beyond which kernels of a quarter of it are flat.
_TURNS: Final = 2


@final
@dataclass(frozen=True, slots=True, eq=False)
class FieldSampling:
    """A mean of n kernels at values that are drawn from a density.

    Attributes:
        masses: of the density at the places of its lattice; their sum is 1.
        kernels: of each axis, from the places to the points of the grid, shape (places, points).
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
        density: ProjectedField,
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
        """Variance of the mean, r and t, at each point: as in `_curves._sampling`."""
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
