"""The kernel density at public points in one or more dimensions, with Gaussian process noise."""

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final, Self, final

import numpy as np
import numpy.typing as npt

from neyman.aggregate import Aggregate, IntArray
from neyman.arguments import check_type
from neyman.errors import InvalidParameter
from neyman.functional._arrays import public_number, rows, source
from neyman.functional._bases._domain import Box, Domain, Interval, Side
from neyman.functional._gaussian_processes._kernels import (
    COVARIANCE_ERROR,
    Kernel,
    SquaredExponential,
    check_kernel,
    check_length,
)
from neyman.functional._gaussian_processes._values import SCALE, Question, Whitening, in_lattice
from neyman.nodes import Nodes, histogram
from neyman.numerics import Interval as Bounds
from neyman.numerics import Real, text
from neyman.sensitivity import Neighbors, check_neighbors

__all__ = ["density_at", "density_norm"]

_NODES_A_BANDWIDTH: Final = 16
_MOST_ENTRIES: Final = 1 << 24
_BLOCK: Final = 1 << 16


def density_at(
    values: npt.NDArray[np.generic],
    points: npt.ArrayLike,
    *,
    domain: Interval | Box,
    bandwidth: Real,
    neighbors: Neighbors,
    unit: str,
    name: str,
    kernel: Kernel | None = None,
) -> Aggregate:
    """Ask for a Gaussian kernel density at public points, with Gaussian process noise.

        replace_one   f(p) = (1/n) sum_i K_h(p - x_i)       add_remove   n f(p)

    Any number of points costs at most as much budget as the whole function, which costs no more
    than one point. On a line or circle, or if you need other points later, use `density`: its
    coefficients are the whole function.

    The release has integers: the column of a record is s L^-1 K_h(points - x), rounded, where L L^T
    is the covariance of the noise at the points. So the noise on the values has that covariance,
    and the guarantee does not depend on floating-point arithmetic.

    Args:
        values: private, a NumPy array of any real dtype, shape (n, d), or (n,) for d = 1; read
            after the ledger is charged. A value counts at the nearest public node; nodes are a 16th
            of the bandwidth apart. A value at no place of the domain counts for nothing.
        points: the public points, shape (m, d), m at most 2048.
        domain: an `Interval`, or a `Box` with one for each of the d coordinates.
        bandwidth: h, in the units of the coordinates. Public.
        neighbors: "add_remove", where the number of records is private and the sum is released, or
            "replace_one", where it is public.
        unit: the privacy unit, in the words of the ledger; each row is one unit.
        name: the name of the dataset in the ledger; other values need another name.
        kernel: the covariance of the noise; by default the best one,
            `SquaredExponential(bandwidth)`.

    Raises:
        InvalidParameter: if an argument is not valid, noise of this kernel hides nothing, or points
            times nodes are more than 2^24.

    Guarantee: with Gaussian noise of variance v it is mu-GDP, mu^2 = l2_squared / v. For
        add_remove, l2_squared is checked as integers over all nodes. For replace_one, it is the
        norm in the kernel's Hilbert space plus the effect of rounding, about 1e-5 (relative).
    Source: Hall, Rinaldo and Wasserman, *Differential privacy for functions and functional data*,
        JMLR 2013, section 4.1.
    """
    check_neighbors(neighbors)
    h = check_length(bandwidth, "bandwidth")
    instead = (
        "an Interval for each coordinate: Interval(...) or Box(Interval(...), ...). On a circle "
        "the whole curve is to be had: functional.density"
    )
    check_type("domain", domain, Domain, instead)
    sides = domain.sides
    for side in sides:
        check_type("a side of domain", side, Interval, instead)
    private = rows(values, len(sides))
    records = public_number(private, neighbors)
    whitening = Whitening.of(SquaredExponential(h) if kernel is None else kernel, points)
    columns = _Columns.of(whitening, sides, h)

    def compute() -> IntArray:
        return columns.sums(private)

    question = Question(
        statistic="density_at",
        whitening=whitening,
        unit=unit,
        source=source(name, private),
        neighbors=neighbors,
        records=records,
    )
    return question.aggregate(
        {"domain": domain.record(), "bandwidth": text(h)},
        (sides, h, neighbors),
        columns.l2_squared(neighbors),
        columns.peak / (columns.scale * (records or 1)),
        compute,
    )


def density_norm(
    kernel: Kernel, *, bandwidth: Real, dimension: int, diameter: Real, neighbors: Neighbors
) -> float:
    """Return the largest change of the sum of Gaussian bumps, sum_i K_h(. - x_i), by one unit.

        add_remove    ||K_h||_H
        replace_one   sup ||K_h(. - x) - K_h(. - y)||_H; sqrt(2 (1 - exp(-R^2 / (2 h^2)))) K_h(0)
                      for noise with l = h

    Under replace_one the number n of records is public, and the mean changes by an n-th of it.

    >>> from neyman.functional import SquaredExponential
    >>> places = dict(bandwidth=0.5, dimension=1, diameter=100)
    >>> round(density_norm(SquaredExponential(0.5), **places, neighbors="replace_one"), 6)
    1.128379

    Args:
        kernel: the covariance of the noise.
        bandwidth: h, in the units of the values.
        dimension: d, the number of coordinates.
        diameter: R, the largest distance of two values, in the units of h.
        neighbors: the neighbouring relation.

    Raises:
        InvalidParameter: if the norm is infinite or not known; see `Kernel.bump_norm_squared`.

    Error: rounded up, by at most 1e-13 (relative); for Matern kernels under replace_one, too large
        by at most a factor of sqrt(2).
    Source: Hall, Rinaldo and Wasserman (2013), section 4.1, for l = h.
    """
    check_kernel(kernel)
    if check_neighbors(neighbors) == "add_remove":
        squared = kernel.bump_norm_squared(bandwidth, dimension)
    else:
        squared = kernel.bump_distance_squared(bandwidth, dimension, diameter)
    return float(Bounds.exactly(squared).sqrt().upper)


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Columns:
    """One column of integers for each public node of a grid over the box.

    Attributes:
        whitening: the points and the noise.
        box: the sides.
        bandwidth: h.
        scale: lattice units of a whitened coordinate, for bumps of height 1.
        integers: shape (m, nodes), int32. Made once, because it must be the same for all
            neighbours.
    """

    whitening: Whitening
    box: tuple[Side, ...]
    bandwidth: Fraction
    scale: float
    integers: npt.NDArray[np.int32] = field(repr=False)

    @classmethod
    def of(cls, whitening: Whitening, box: tuple[Side, ...], bandwidth: Fraction) -> Self:
        d = whitening.points.shape[1]
        if d != len(box):
            raise InvalidParameter(
                f"a box must have as many sides as the points have coordinates, {d}; got {len(box)}"
            )
        squared = whitening.kernel.bump_norm_squared(bandwidth, d)
        scale = SCALE * _peak(bandwidth, d) / math.sqrt(squared)
        sides = [_places(side, bandwidth) for side in box]
        nodes = math.prod(side.number for side in sides)
        if nodes * whitening.size > _MOST_ENTRIES:
            raise InvalidParameter(
                f"points times nodes must be at most {_MOST_ENTRIES}; got {whitening.size} points "
                f"and {nodes} nodes. Write fewer points or a larger bandwidth"
            )
        axes = [side.start + side.step * np.arange(side.number) for side in sides]
        places = np.stack([x.ravel() for x in np.meshgrid(*axes, indexing="ij")], axis=1)
        bump = SquaredExponential(bandwidth)
        integers = np.empty((whitening.size, nodes), np.int32)
        height = max(1, (1 << 20) // whitening.size)
        for first in range(0, nodes, height):
            part = slice(first, first + height)
            block = whitening.whiten(bump.covariance(whitening.points, places[part]))
            integers[:, part] = np.rint(scale * block)
        return cls(whitening, box, bandwidth, scale, integers)

    @property
    def peak(self) -> float:
        """K_h(0)."""
        return _peak(self.bandwidth, len(self.box))

    def sums(self, values: npt.NDArray[np.generic]) -> IntArray:
        """Return the sum of the records' columns, exactly.

        Counts are cut into 12 low bits and the rest. With entries of at most 2^24, blocks of 2^16
        nodes and 2^36 records, all products and sums of doubles stay below 2^52.
        """
        axes = [_places(side, self.bandwidth) for side in self.box]
        counts = histogram(axes, list(values.T))
        total = np.zeros(self.whitening.size, np.int64)
        for first in range(0, counts.size, _BLOCK):
            part = counts[first : first + _BLOCK]
            limbs = np.stack([part & 4095, part >> 12], axis=1).astype(np.float64)
            block = self.integers[:, first : first + _BLOCK].astype(np.float64)
            low, high = (block @ limbs).astype(np.int64).T
            total += low + (high << 12)
        return total

    def l2_squared(self, neighbors: Neighbors) -> Fraction:
        """Return the squared sensitivity to one record; a record is at one node, or at none."""
        wide = self.integers.astype(np.int64)
        largest = int(np.einsum("ij,ij->j", wide, wide).max(initial=1))
        if int(np.abs(self.integers).max()) > 2**24:
            raise ArithmeticError("an entry of the columns is above 2^24")
        if neighbors == "add_remove":
            return Fraction(largest)
        d = len(self.box)
        kernel = self.whitening.kernel
        # Nodes are doubles: a little more than the diameter.
        reach = Fraction(math.sqrt(sum(float(side.length) ** 2 for side in self.box)) * 1.000001)
        apart = Bounds.exactly(kernel.bump_distance_squared(self.bandwidth, d, reach)).sqrt()
        norm = Bounds.exactly(kernel.bump_norm_squared(self.bandwidth, d)).sqrt()
        error = self.whitening.error(float((norm / self.peak).upper), COVARIANCE_ERROR)
        distance = (apart / self.peak + 2 * Bounds.exactly(error)) * self.scale
        return max(Fraction(largest), in_lattice(float(distance.upper), self.whitening.size))


def _places(side: Side, bandwidth: Fraction) -> Nodes:
    number = math.ceil(side.length * _NODES_A_BANDWIDTH / bandwidth) + 1
    return side.places(float(side.length) / (number - 1), number)


def _peak(bandwidth: Fraction, dimension: int) -> float:
    return (2 * math.pi * float(bandwidth) ** 2) ** (-dimension / 2)
