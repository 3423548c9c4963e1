"""The waves of a field on a torus, as they are read."""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import reduce
from typing import Final, TypeVar

import numpy as np
import numpy.typing as npt

from neyman.aggregate import IntArray
from neyman.functional._bases._fixed_point import AMPLITUDE_BITS, MOST_NODES
from neyman.functional._bases._line_basis import multipliers
from neyman.functional._bases._side import Side
from neyman.numerics import Array

__all__ = ["NODES_A_BANDWIDTH", "FieldReading", "even_nodes"]

# In so many dimensions.
NODES_A_BANDWIDTH: Final = {2: 8, 3: 4}
# Waves whose multiplier is smaller than this are no part of the estimator.
_SMALLEST_MULTIPLIER: Final = 1e-6

_Number = TypeVar("_Number", bound=np.generic)


class FieldReading(ABC):
    """Products of cosines and sines of j = (j_1, ..., j_d) on a torus, and the scale of each.

    Attributes:
        sides: where values lie, one for each axis.
        bandwidth: h_1, ..., h_d, the least that can be read.
        counted: whether j = 0, the number of records, is released.
    """

    __slots__ = ()

    sides: tuple[Side, ...]
    bandwidth: tuple[Fraction, ...]
    counted: bool

    @property
    @abstractmethod
    def lattice(self) -> IntArray:
        """2^6 a_j as integers, shape (J_1 + 1, ..., J_d + 1); 0 for what is not released."""

    @property
    @abstractmethod
    def whole(self) -> "FieldReading":
        """The field that was released."""

    @property
    @abstractmethod
    def coordinates(self) -> tuple[int, ...]:
        """Which of its axes these are."""

    @abstractmethod
    def record(self) -> dict[str, object]:
        """Return the public record, JSON-able."""

    @property
    def dimensions(self) -> int:
        """How many axes."""
        return len(self.sides)

    @property
    def volume(self) -> float:
        """Of the torus."""
        return math.prod(side.period for side in self.sides)

    @property
    def highest(self) -> tuple[int, ...]:
        """The highest frequency on each axis."""
        reach = math.sqrt(-2 * math.log(_SMALLEST_MULTIPLIER)) / (2 * math.pi)
        return tuple(
            math.floor(reach * side.period / float(h))
            for side, h in zip(self.sides, self.bandwidth, strict=True)
        )

    @property
    def kept(self) -> npt.NDArray[np.bool_]:
        """Whether a wave is one of the kernel's, shape (J_1 + 1, ..., J_d + 1)."""
        return np.asarray(self._scaled**2 <= -2 * math.log(_SMALLEST_MULTIPLIER))

    @property
    def parts(self) -> Array:
        """How many products of cosines and sines a wave has: 2 for each axis with j_k > 0."""
        return _outer(_twice(j) for j in self.highest)

    @property
    def size(self) -> int:
        """How many integers are released."""
        return int(self.parts[self.kept].sum()) - (not self.counted)

    @property
    def amplitudes(self) -> Array:
        """a_j, shape (J_1 + 1, ..., J_d + 1)."""
        return self.lattice.astype(np.float64) * 2.0**-AMPLITUDE_BITS

    def multipliers(self, bandwidth: Sequence[Fraction | float]) -> Array:
        """Return the product of lambda_jk at these bandwidths."""
        return _outer(
            multipliers(side.period, j, float(h))
            for side, j, h in zip(self.sides, self.highest, bandwidth, strict=True)
        )

    @property
    def released(self) -> npt.NDArray[np.bool_]:
        """Whether a product of cosines and sines is, shape (2 J_1 + 1, ..., 2 J_d + 1)."""
        return np.asarray(self.spread(self.lattice) > 0)

    def spread(self, waves: npt.NDArray[_Number]) -> npt.NDArray[_Number]:
        """Return what belongs to each wave at each of its products of cosines and sines.

        Args:
            waves: shape (J_1 + 1, ..., J_d + 1).

        Returns:
            Shape (2 J_1 + 1, ..., 2 J_d + 1): on each axis cosines of j = 0 ... J, then sines.
        """
        rows = ([*range(j + 1), *range(1, j + 1)] for j in self.highest)
        return waves[np.ix_(*rows)]

    def gathered(self, products: Array) -> Array:
        """Return the sum over all products of cosines and sines of a wave, for each wave."""
        for j in self.highest:
            # Each axis in turn is the first, and becomes the last.
            waves = products[: j + 1].copy()
            waves[1:] += products[j + 1 :]
            products = np.moveaxis(waves, 0, -1)
        return products

    @property
    def _scaled(self) -> Array:
        """|h w| of each wave."""
        squares = (
            (2 * math.pi * float(h) / side.period * np.arange(j + 1)) ** 2
            for side, j, h in zip(self.sides, self.highest, self.bandwidth, strict=True)
        )
        return np.sqrt(np.asarray(reduce(np.add.outer, squares)), dtype=np.float64)


def even_nodes(sides: Sequence[Side], bandwidth: Sequence[Fraction | float]) -> tuple[int, ...]:
    """Return even numbers of nodes on circles, enough for each bandwidth: 2^a or 3 2^a."""
    per = NODES_A_BANDWIDTH[len(sides)]
    found: list[int] = []
    for side, h in zip(sides, bandwidth, strict=True):
        least = max(32.0, per * side.period / float(h))
        power = 1 << math.ceil(math.log2(least))
        found.append(power * 3 // 4 if power * 3 // 4 >= least else power)
    # Half of them, or on a circle all, are nodes of values.
    if max(found) > MOST_NODES:
        raise ArithmeticError("more nodes on an axis than sums of doubles are exact for")
    return tuple(found)


def _twice(highest: int) -> Array:
    found = np.full(highest + 1, 2.0)
    found[0] = 1.0
    return found


def _outer(factors: Iterable[Array]) -> Array:
    return np.asarray(reduce(np.multiply.outer, factors))
