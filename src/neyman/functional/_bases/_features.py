"""Exact sums of integer features, and their sensitivity."""

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Final, Protocol

import numpy as np

from neyman.aggregate import IntArray
from neyman.numerics import Array, Interval
from neyman.sensitivity import Neighbors, Sensitivity

__all__ = [
    "CLAMP",
    "MOST_RECORDS",
    "Columns",
    "block_norms",
    "block_products",
    "clamped",
    "feature_sensitivity",
    "feature_sums",
    "lag_products",
    "whole_sums",
]

MOST_RECORDS: Final = 2**36
_LIMB: Final = 12
_EXACT: Final = 2**53
# No released integer is further from 0, however many records there are.
CLAMP: Final = 2**62
# Counts of so many places are made doubles at a time.
_PIECE: Final = 1 << 22


class Columns(Protocol):
    """A matrix T of integers with one column for each public node: a `Basis`, or a coarser one."""

    @property
    def size(self) -> int: ...
    @property
    def nodes(self) -> int: ...
    @property
    def circle_nodes(self) -> int: ...
    @property
    def amplitudes(self) -> Array: ...
    def products(self, numbers: Array) -> IntArray:
        """Return T @ numbers, shape (nodes, columns); exact if |T| @ |numbers| < 2^53."""
        ...

    def norms(self) -> tuple[IntArray, int]:
        """Return ||T_x||^2 at nodes that include the largest, exactly, and T's largest entry."""
        ...


class Blocks(Protocol):
    """A matrix of integers that comes some rows at a time."""

    @property
    def size(self) -> int: ...
    @property
    def nodes(self) -> int: ...
    def blocks(self) -> Iterator[tuple[slice, Array]]: ...


def feature_sums(basis: Columns, counts: IntArray) -> IntArray:
    """Return T @ counts, exactly, shape (size,); for several groups, shape (groups, size).

    Counts are cut into the low 12 bits and the rest. With |T| <= 2^24, at most 2^16 nodes and
    2^36 records every partial sum of either product, in whatever order, is an integer below 2^53:
    2^24 (2^16 2^12) = 2^52 and 2^24 2^36 / 2^12 = 2^48. So products of doubles are exact.

    Args:
        basis: the matrix T.
        counts: records at each node, shape (nodes,) or (groups, nodes), at most 2^36 in a group.
    """
    groups = counts.reshape(-1, basis.nodes)
    parts = [groups & ((1 << _LIMB) - 1), groups >> _LIMB]
    limbs = np.concatenate(parts).astype(np.float64).T
    low, high = np.split(basis.products(limbs), 2, axis=1)
    sums = low + (high << _LIMB)
    return sums.T.reshape(*counts.shape[:-1], basis.size)


def whole_sums(basis: Columns, counts: IntArray) -> IntArray:
    """Return T @ counts for any number of records, each sum clamped to [-2^62, 2^62].

    Clamping does not increase a difference, so the sensitivity holds. The number of records is
    private, so it must not cause an error. Counts are cut into digits for `feature_sums`.

    Args:
        basis: the matrix T.
        counts: records at each node, or sums over them, shape (nodes,); for several groups, shape
            (groups, nodes), and the answer has shape (groups, size).
    """
    if counts.ndim == 1:
        return _some_sums(basis, counts)
    height = max(1, _PIECE // basis.nodes)
    pieces = [counts[at : at + height] for at in range(0, len(counts), height)]
    return np.concatenate([_some_sums(basis, piece) for piece in pieces])


def _some_sums(basis: Columns, counts: IntArray) -> IntArray:
    signs, counts = np.sign(counts), np.abs(counts)
    if float(counts.sum(axis=-1, dtype=np.float64).max()) < MOST_RECORDS:
        return feature_sums(basis, signs * counts)
    base = MOST_RECORDS // basis.nodes
    total = np.zeros((*counts.shape[:-1], basis.size), np.object_)
    scale = 1
    while counts.any():
        counts, digits = np.divmod(counts, base)
        total += feature_sums(basis, signs * digits).astype(np.object_) * scale
        scale *= base
    return np.clip(total, -CLAMP, CLAMP).astype(np.int64)


def clamped(counts: IntArray, times: int) -> IntArray:
    """Return counts clamped so that `times` of them sum to at most 2^62; no difference grows."""
    return np.minimum(counts, CLAMP // times)


def feature_sensitivity(basis: Columns, neighbors: Neighbors) -> Sensitivity:
    """Return the sensitivity of the sums; a record is at one node, or at none.

        add_remove    l2^2 = max_x ||T_x||^2, checked as integers over all nodes
        replace_one   l2^2 = the larger of that and of max_{x,y} ||T_x - T_y||^2, bounded by
                      (max_d sqrt(2 sum_j a_j^2 (1 - cos w_j d)) + sqrt(rows) (1 + 2^-20))^2

    In the second case, the distance of two columns before rounding depends on their lag d only.
    Rounding moves each entry of the difference by at most 1, including the error of its doubles,
    which is below 2^-20.

    Error: never too small. Exact for add_remove; too large by 1e-5 (relative) for replace_one.
    """
    norms, entry = basis.norms()
    squared = Fraction(int(norms.max()))
    if neighbors == "replace_one":
        squared = max(squared, _pair_bound(basis))
        entry *= 2
    return Sensitivity(
        neighbors=neighbors, l2_squared=squared, coordinates=basis.size, largest=entry
    )


def block_products(basis: Blocks, numbers: Array) -> IntArray:
    """Return T @ numbers block by block, as `Columns.products` does."""
    found = np.empty((basis.size, numbers.shape[1]), np.int64)
    for rows, features in basis.blocks():
        found[rows] = features @ numbers
    return found


def block_norms(basis: Blocks) -> tuple[IntArray, int]:
    """Return ||T_x||^2 of every node, exactly, and the largest entry of T."""
    norms = np.zeros(basis.nodes)
    largest = 0.0
    for _, features in basis.blocks():
        largest = max(largest, float(np.abs(features).max()))
        norms += np.einsum("ij,ij->j", features, features)
    # All terms are integers, so sums below 2^53 have not been rounded.
    if not norms.max() < _EXACT:
        raise ArithmeticError("a column of features is longer than 2^26.5")
    return norms.astype(np.int64), int(largest)


def lag_products(basis: Columns) -> Interval:
    """Return sum_j a_j^2 cos(w_j d) at every lag d, before rounding.

    Error: for a transform of length m, log2(m) 2^-50 times the sum of its input
        (theory/rounding.md, section 5); the bracket allows four times that.
    """
    squares = basis.amplitudes**2
    m = basis.circle_nodes
    spectrum = np.zeros(m // 2 + 1)
    spectrum[: squares.size] = squares / 2
    spectrum[0] *= 2
    wrong = math.log2(m) * 2.0**-48 * float(squares.sum())
    return Interval.within(m * np.fft.irfft(spectrum, m), 0.0, wrong)


def _pair_bound(basis: Columns) -> Fraction:
    total = Interval.exactly(basis.amplitudes).squared().total()
    apart = ((total - np.min(lag_products(basis).lower)) * 2).sqrt()
    bound = apart + Interval.of(basis.size).sqrt() * (1 + 2.0**-20)
    return Fraction(math.ceil(Fraction(float(bound.upper)) ** 2))
