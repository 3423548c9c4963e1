"""Products of integers in fixed point, exact and rounded once, by matrices of doubles."""

from collections.abc import Iterable, Iterator
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt

from neyman.aggregate import IntArray
from neyman.numerics import Array

__all__ = [
    "AMPLITUDE_BITS",
    "BITS",
    "MOST_NODES",
    "Separable",
    "contracted",
    "fixed_product",
    "long_sums",
    "scaled",
    "separable_sums",
]

# Features and their sums have this many bits after the point, amplitudes so many.
BITS: Final = 20
AMPLITUDE_BITS: Final = 6
# Along one axis: 2^13 2^BITS 2^BITS = 2^53.
MOST_NODES: Final = 2**13
_HALF: Final = 1 << (BITS - 1)


class Separable(Protocol):
    """A matrix C of integer features along one axis, at most 2^20 each."""

    def products(self, numbers: IntArray, shift: int) -> IntArray:
        """Return floor((C X + 2^(shift - 1)) / 2^shift) exactly, shape (columns, rows).

        Args:
            numbers: X, shape (nodes, columns), below 2^57.
            shift: 0 or 20.
        """
        ...

    @property
    def matrix(self) -> Array:
        """C, shape (rows, nodes)."""
        ...


def separable_sums(features: Iterable[Separable], counts: IntArray) -> IntArray:
    """Return the sums of products of features over all nodes, in units of 2^-20.

        X_1 = C_1 counts,   X_k = floor((C_k X_{k-1} + 2^19) / 2^20), C_k along axis k

    C_k holds the integers nearest to 2^20 times the features; the first step is exact, each later
    one rounds once. With at most 2^36 records |X_k| < 2^57.

    Args:
        features: the features of each axis.
        counts: records at each node, shape (nodes, ...), at most 2^36 together.

    Returns:
        The sums, shape (rows, ...) with one axis for each feature matrix.
    """
    sums, shift = counts, 0
    for axis, nodes in zip(features, counts.shape, strict=True):
        rest = sums.shape[1:]
        sums = axis.products(sums.reshape(nodes, -1), shift)
        sums, shift = sums.reshape(*rest, -1), BITS
    return sums


def long_sums(features: Iterable[Separable], counts: IntArray) -> npt.NDArray[np.object_]:
    """Return `separable_sums` for any number of records, in Python's integers; slow."""
    sums = counts.astype(np.object_) << BITS
    for axis in features:
        whole = axis.matrix.astype(np.int64).astype(np.object_)
        product = sums.reshape(whole.shape[1], -1).T @ whole.T
        sums = ((product + _HALF) >> BITS).reshape(*sums.shape[1:], len(whole))
    return sums


def fixed_product(matrix: Array, numbers: IntArray, shift: int) -> IntArray:
    """Return floor((C X + 2^(shift - 1)) / 2^shift) exactly, shape (columns, rows).

    X is cut into limbs of b bits; only the highest limb has a sign. With n nodes, every partial sum
    in any order is an integer of at most n 2^20 2^b <= 2^53.

    Args:
        matrix: C, integers of at most 2^20 as doubles, shape (rows, nodes), at most 2^13 nodes.
        numbers: X, shape (nodes, columns), below 2^59.
        shift: 0 or 20, at most b.
    """
    width = 53 - BITS - (matrix.shape[1] - 1).bit_length()
    found = np.zeros((numbers.shape[1], matrix.shape[0]), np.int64)
    for limb, low in _limbs(numbers, width):
        product = (limb.astype(np.float64).T @ matrix.T).astype(np.int64)
        found += product << (low - shift) if low >= shift else (product + _HALF) >> shift
    return found


def _limbs(numbers: IntArray, width: int) -> Iterator[tuple[IntArray, int]]:
    """Yield (limb, place): the numbers are the sum of the limbs times 2^place."""
    place = 0
    while max(int(numbers.max()), -int(numbers.min())) > 1 << width:
        yield numbers & ((1 << width) - 1), place
        numbers = numbers >> width
        place += width
    yield numbers, place


def scaled(amplitudes: IntArray, sums: IntArray) -> IntArray:
    """Return floor((A X + 2^25) / 2^26) exactly, elementwise.

    A has 6 bits after the binary point, and X has 20. With A <= 2^30 and |X| < 2^57, both halves of
    the product stay below 2^62.
    """
    shift = BITS + AMPLITUDE_BITS
    low = sums & ((1 << shift) - 1)
    return amplitudes * (sums >> shift) + ((amplitudes * low + (1 << (shift - 1))) >> shift)


def contracted(tensor: Array, tables: Iterable[Array]) -> Array:
    """Contract each axis of a tensor of doubles with a table, shape (axis, columns)."""
    for table in tables:
        rest = tensor.shape[1:]
        product = tensor.reshape(table.shape[0], -1).T @ table
        tensor = product.reshape(*rest, table.shape[1])
    return tensor
