"""Products of integers in fixed point, exact and rounded once, by matrices of doubles."""

from collections.abc import Iterable
from typing import Final

import numpy as np
import numpy.typing as npt

from neyman.aggregate import IntArray
from neyman.numerics import Array

__all__ = [
    "AMPLITUDE_BITS",
    "BITS",
    "MOST_NODES",
    "contracted",
    "long_sums",
    "scaled",
    "separable_sums",
]

# Features and their sums have this many bits after the point, amplitudes so many.
BITS: Final = 20
AMPLITUDE_BITS: Final = 6
# Along one axis: 2^13 2^BITS 2^BITS = 2^53.
MOST_NODES: Final = 2**13
_LOW: Final = (1 << BITS) - 1
_HALF: Final = 1 << (BITS - 1)


def separable_sums(features: Iterable[Array], counts: IntArray) -> IntArray:
    """Return the sums of products of features over all nodes, in units of 2^-20.

        X_0 = 2^20 counts,   X_k = floor((C_k X_{k-1} + 2^19) / 2^20), C_k along axis k

    C_k holds the integers nearest to 2^20 times the features; the first step is exact, each later
    one rounds once. With at most 2^36 records |X_k| < 2^57.

    Args:
        features: for each axis integers of at most 2^20 as doubles, shape (rows, nodes).
        counts: records at each node, shape (nodes, ...), at most 2^36 together.

    Returns:
        Shape (rows, ...), one for each axis.
    """
    sums = counts << BITS
    for matrix in features:
        sums = _multiplied(matrix, sums)
    return sums


def long_sums(features: Iterable[Array], counts: IntArray) -> npt.NDArray[np.object_]:
    """Return what `separable_sums` returns, of however many records: in Python's integers, slow."""
    sums = counts.astype(np.object_) << BITS
    for matrix in features:
        whole = matrix.astype(np.int64).astype(np.object_)
        product = sums.reshape(matrix.shape[1], -1).T @ whole.T
        sums = ((product + _HALF) >> BITS).reshape(*sums.shape[1:], matrix.shape[0])
    return sums


def _multiplied(matrix: Array, sums: IntArray) -> IntArray:
    """Contract the first axis with the matrix, its rows becoming the last.

    The integers are cut into limbs of 20 bits, the highest with the sign and below 2^17: with at
    most 2^13 nodes every partial sum, in whatever order, is an integer of at most 2^53.
    """
    flat = sums.reshape(matrix.shape[1], -1)
    found = np.zeros((flat.shape[1], matrix.shape[0]), np.int64)
    limbs = flat >> (2 * BITS), (flat >> BITS) & _LOW, flat & _LOW
    for limb, part in zip(limbs, (_upper, _whole, _rounded), strict=True):
        # Limbs that are all zero, as are those of small counts, add nothing.
        if limb.any():
            found += part((limb.astype(np.float64).T @ matrix.T).astype(np.int64))
    return found.reshape(*sums.shape[1:], matrix.shape[0])


def _upper(product: IntArray) -> IntArray:
    return product << BITS


def _whole(product: IntArray) -> IntArray:
    return product


def _rounded(product: IntArray) -> IntArray:
    return (product + _HALF) >> BITS


def scaled(amplitudes: IntArray, sums: IntArray) -> IntArray:
    """Return floor((A X + 2^25) / 2^26) exactly, elementwise.

    In units of 1: A has 6 bits after the point, X has 20. With A <= 2^30 and |X| < 2^57 both
    halves of the product stay below 2^62.
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
