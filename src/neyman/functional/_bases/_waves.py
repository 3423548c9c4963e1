"""The waves of a density on a circle or a torus, and the order of a release's integers."""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import reduce
from typing import Final, NamedTuple, TypeVar, final

import numpy as np
import numpy.typing as npt

from neyman.functional._bases._domain import Side
from neyman.functional._bases._fixed_point import MOST_NODES
from neyman.numerics import Array

__all__ = [
    "FINE",
    "Lattice",
    "WaveBasis",
    "Waves",
    "circle_nodes",
    "even_nodes",
    "gathered",
    "lattice_of",
    "multipliers",
    "parts_of",
    "product_multipliers",
    "spread",
]

# In so many dimensions: the fewest nodes on a circle, and how many a bandwidth.
_NODES: Final = {1: (256, 16), 2: (32, 8), 3: (32, 4)}
# Bandwidths finer than this share of a line or circle have so many nodes each, and so many of them
# are left empty after an interval.
FINE: Final = Fraction(1, 1024)
_FINE_NODES, _FINE_PADDING = 8, 96

_Number = TypeVar("_Number", bound=np.generic)


class WaveBasis(ABC):
    """The basis of a density, or of its margin."""

    __slots__ = ()

    @property
    @abstractmethod
    def bandwidths(self) -> tuple[Fraction, ...]:
        """The smallest available bandwidth of each side."""

    @property
    @abstractmethod
    def waves(self) -> "Waves":
        """The waves and their amplitudes."""

    @property
    def outside(self) -> int:
        """The integer of one record outside the domain; 0 if such records are not counted."""
        return 0

    @abstractmethod
    def record(self) -> dict[str, object]:
        """Return the public record for JSON."""


class Lattice(NamedTuple):
    """The nodes on the circle of a side.

    Attributes:
        period: L, the length of the circle.
        nodes: M, the number of nodes on the circle.
        steps: the length of the domain, in steps between nodes.
    """

    period: Fraction
    nodes: int
    steps: int


def lattice_of(side: Side, bandwidth: Fraction) -> Lattice:
    """Return the circle of one side.

    An empty stretch follows an interval of length T. The stretch has the same length, or about 96 h
    for bandwidths h below T / 1024, which halves the number of waves. M is a power of two.
    """
    length = side.length
    if bandwidth >= FINE * length:
        (nodes,) = circle_nodes((side,), (bandwidth,))
        return Lattice(
            *((length, nodes, nodes) if side.closed else (2 * length, nodes, nodes // 2))
        )
    share = Fraction(1) if side.closed else length / (length + _FINE_PADDING * bandwidth)
    nodes = 1 << math.ceil(math.log2(_FINE_NODES * length / (share * bandwidth)))
    steps = math.floor(share * nodes)
    return Lattice(length * nodes / steps, nodes, steps)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Waves:
    """Products of cosines and sines of j = (j_1, ..., j_d) on a torus, or on a circle for one side.

    The integers of a release are coefficients of these products, in this order: on each side the
    cosines of j = 0 ... J, then the sines of j = 1 ... J, with the last side fastest. Products of
    amplitude 0 are not released. j = 0 is the number of records.

    Attributes:
        sides: the domain, one side for each coordinate.
        bandwidths: h_1, ..., h_d, the smallest available bandwidths.
        amplitudes: a_j, the scale of the features, shape (J_1 + 1, ..., J_d + 1); 0 for waves that
            are not released.
    """

    sides: tuple[Side, ...]
    bandwidths: tuple[Fraction, ...]
    amplitudes: Array = field(repr=False)

    @property
    def highest(self) -> tuple[int, ...]:
        """The highest frequency of each side."""
        return tuple(number - 1 for number in self.amplitudes.shape)

    @property
    def counted(self) -> bool:
        """Whether j = 0, the number of records, is released."""
        return bool(self.amplitudes.flat[0] > 0)

    @property
    def lattices(self) -> tuple[Lattice, ...]:
        """The circle of each side."""
        if len(self.sides) == 1:
            return (lattice_of(self.sides[0], self.bandwidths[0]),)
        nodes = circle_nodes(self.sides, self.bandwidths)
        return tuple(
            Lattice(Fraction(side.period), m, m if side.closed else m // 2)
            for side, m in zip(self.sides, nodes, strict=True)
        )

    @property
    def periods(self) -> tuple[float, ...]:
        """The length of the circle of each side."""
        return tuple(float(one.period) for one in self.lattices)

    @property
    def volume(self) -> float:
        """The length of the circle, or the volume of the torus."""
        return math.prod(self.periods)

    @property
    def parts(self) -> Array:
        """The number of products of each wave."""
        return parts_of(self.highest)

    @property
    def size(self) -> int:
        """The number of released integers."""
        return int(self.parts[self.amplitudes > 0].sum())

    @property
    def released(self) -> npt.NDArray[np.bool_]:
        """Whether each product is released, shape (2 J_1 + 1, ..., 2 J_d + 1)."""
        return np.asarray(spread(self.amplitudes) > 0)

    def multipliers(self, bandwidths: Sequence[Fraction | float]) -> Array:
        """Return the product of lambda_jk for a kernel of these bandwidths, for each wave."""
        return product_multipliers(self.periods, self.highest, bandwidths)

    def along(self, axes: tuple[int, ...]) -> "Waves":
        """Return the waves that vary along some axes only."""
        return Waves(
            tuple(self.sides[k] for k in axes),
            tuple(self.bandwidths[k] for k in axes),
            self.amplitudes[self._only(axes)],
        )

    def integers_along(self, axes: tuple[int, ...], integers: tuple[int, ...]) -> tuple[int, ...]:
        """Return the integers whose waves vary along some axes only."""
        released = self.released
        order = np.cumsum(released.ravel()).reshape(released.shape) - 1
        only = self._only(axes)
        return tuple(integers[int(place)] for place in order[only][released[only]])

    def _only(self, axes: tuple[int, ...]) -> tuple[int | slice, ...]:
        return tuple(slice(None) if k in axes else 0 for k in range(len(self.sides)))


def multipliers(period: float, highest: int, bandwidth: float) -> Array:
    """Return lambda_j = exp(-(h w_j)^2 / 2) for j = 0 ... highest."""
    scaled = (2 * math.pi * bandwidth / period) * np.arange(highest + 1)
    with np.errstate(under="ignore"):
        return np.exp(-0.5 * scaled * scaled)


def product_multipliers(
    periods: Sequence[float], highest: Sequence[int], bandwidths: Sequence[Fraction | float]
) -> Array:
    """Return the products of the multipliers of each side, shape (J_1 + 1, ..., J_d + 1)."""
    return _outer(
        multipliers(period, j, float(h))
        for period, j, h in zip(periods, highest, bandwidths, strict=True)
    )


def parts_of(highest: Sequence[int]) -> Array:
    """Return the number of products of each wave: 2 for each side with j_k > 0."""
    return _outer(np.where(np.arange(j + 1) > 0, 2.0, 1.0) for j in highest)


def spread(waves: npt.NDArray[_Number]) -> npt.NDArray[_Number]:
    """Return the value of each wave at each of its products.

    Args:
        waves: one value for each wave, shape (J_1 + 1, ..., J_d + 1).

    Returns:
        Shape (2 J_1 + 1, ..., 2 J_d + 1): on each axis cosines of j = 0 ... J, then sines.
    """
    for axis, number in enumerate(waves.shape):
        sines = waves[(slice(None),) * axis + (slice(1, number),)]
        waves = np.concatenate([waves, sines], axis=axis)
    return waves


def gathered(products: Array) -> Array:
    """Return the sum over all products of a wave, for each wave."""
    for number in products.shape:
        # Each axis in turn is the first, and becomes the last.
        last = number // 2 + 1
        waves = products[:last].copy()
        waves[1:] += products[last:]
        products = np.moveaxis(waves, 0, -1)
    return products


def circle_nodes(sides: Sequence[Side], bandwidths: Sequence[Fraction | float]) -> tuple[int, ...]:
    """Return even numbers of nodes on the circles of the sides, enough for these bandwidths.

    For one side it is a power of two, for several sides 2^a or 3 2^a.
    """
    fewest, per_bandwidth = _NODES[len(sides)]
    found: list[int] = []
    for side, h in zip(sides, bandwidths, strict=True):
        least = max(float(fewest), per_bandwidth * side.period / float(h))
        found.append(even_nodes(least) if len(sides) > 1 else 1 << math.ceil(math.log2(least)))
    # Half of them, or on a circle all, are nodes of values.
    if len(sides) > 1 and max(found) > MOST_NODES:
        raise ArithmeticError("more nodes on an axis than sums of doubles are exact for")
    return tuple(found)


def even_nodes(least: float) -> int:
    """Return the smallest number of the form 2^a or 3 2^a that is at least this."""
    power = 1 << math.ceil(math.log2(least))
    return power * 3 // 4 if power * 3 // 4 >= least else power


def _outer(factors: Iterable[Array]) -> Array:
    return np.asarray(reduce(np.multiply.outer, factors))
