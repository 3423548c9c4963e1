"""Waves along the axes of a field, and sums of them that do not depend on their company."""

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from neyman.functional._bases._side import Side
from neyman.numerics import Array

__all__ = ["integrals", "same_bits", "waves"]

_CACHED: Final = 1 << 15


def waves(turns: Array, highest: int) -> Array:
    """Return cosines of j = 0 ... J and sines of j = 1 ... J at shares of a turn, as rows."""
    angles = 2 * np.pi * np.multiply.outer(np.arange(highest + 1), turns)
    return np.concatenate([np.cos(angles), np.sin(angles[1:])])


def integrals(side: Side, highest: int, lower: float, upper: float) -> Array:
    """Return the integrals of the waves of an axis from one place to another, as they are called.

    Raises:
        InvalidParameter: if a place is outside an interval.
    """
    side.located([lower, upper])
    a, b = lower - side.start, upper - side.start
    frequencies = 2 * np.pi / side.period * np.arange(1, highest + 1)
    # Of products, not of differences of near values.
    middle, half = frequencies * ((a + b) / 2), frequencies * ((b - a) / 2)
    length = 2 * np.sin(half) / frequencies
    return np.concatenate([[b - a], length * np.cos(middle), length * np.sin(middle)])


def same_bits(terms: Array, turns: Sequence[Array]) -> Array:
    """Return the sum of terms times waves at each point, by elementwise arithmetic alone.

    Additions and multiplications of whole arrays round each element alike, whatever stands beside
    it; products of matrices do not.

    Args:
        terms: shape (2 J_1 + 1, ..., 2 J_d + 1).
        turns: for each axis where on its circle the points are, as shares of it, shape (m,).

    Error: an estimate: about J 2^-52 times the sum of |terms|.
    """
    found = np.empty(len(turns[0]))
    step = max(1, _CACHED // math.prod(terms.shape[:-1]))
    for first in range(0, len(found), step):
        part = slice(first, first + step)
        sums = terms[..., None]
        for turn, rows in zip(reversed(turns), reversed(terms.shape), strict=True):
            sums = _summed(sums, _recurred(turn[part], (rows - 1) // 2))
        found[part] = sums
    return found


def _summed(terms: Array, table: Array) -> Array:
    """Return the sum over the last axis but one of terms times the table's rows."""
    total = terms[..., 0, :] * table[0]
    for row in range(1, len(table)):
        total += terms[..., row, :] * table[row]
    return total


def _recurred(turns: Array, highest: int) -> Array:
    """Return the rows of `waves`, by basic operations from one cosine and one sine a point."""
    angles = (2 * np.pi * turns).tolist()
    cosine, sine = (np.array([f(angle) for angle in angles]) for f in (math.cos, math.sin))
    table = np.empty((2 * highest + 1, len(turns)))
    table[0] = 1.0
    if highest:
        table[1], table[highest + 1] = cosine, sine
    for j in range(2, highest + 1):
        c, s = table[j - 1], table[highest + j - 1]
        table[j] = c * cosine - s * sine
        table[highest + j] = s * cosine + c * sine
    return table
