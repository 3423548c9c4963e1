"""Waves on a circle of M nodes, by rotation and reflection of those on an eighth of it."""

from collections.abc import Iterator
from typing import Final, Protocol

import numpy as np

from neyman.aggregate import IntArray
from neyman.numerics import Array

__all__ = ["Eighths", "cosines", "eighth_features", "eighth_norms", "eighth_products"]

_EXACT: Final = 2**53
# Features are made so many at a time, to stay in the cache.
_BLOCK: Final = 1 << 16


class Eighths(Protocol):
    """Integer features of waves j = 1 ... J, cosine and sine of the same amplitude.

    The rows of its matrix T are the count (if it is released), the cosines, the sines.
    """

    @property
    def size(self) -> int: ...
    @property
    def nodes(self) -> int: ...
    @property
    def circle_nodes(self) -> int: ...
    @property
    def counted(self) -> bool: ...
    @property
    def highest(self) -> int: ...
    @property
    def count_feature(self) -> int: ...
    def eighths(self) -> Iterator[tuple[slice, Array, Array]]:
        """Yield (harmonics, cosines, sines), as `eighth_features` does."""
        ...


def eighth_features(circle_nodes: int, amplitudes: Array) -> Iterator[tuple[slice, Array, Array]]:
    """Yield the integers nearest to a_j cos w_j x and a_j sin w_j x, as doubles.

    The waves come from an eighth of the circle, so a quarter turn and a reflection change no digit:
    cos(w (M/4 - k)) is sin(w k), and cos(w (M/2 - k)) is -cos(w k).

    Args:
        circle_nodes: M, a multiple of 8, a power of two.
        amplitudes: a_0 ... a_J.

    Yields:
        (j, cosines, sines): a slice of the j that are equal modulo 4, and arrays of shape (number
        of j, M / 8 + 1); the next step overwrites them.
    """
    m, last = circle_nodes, len(amplitudes)
    cosine = cosines(m)
    waves = cosine, np.roll(cosine, m // 4)
    node = np.arange(m // 8 + 1)
    height = max(1, _BLOCK // node.size)
    places = np.empty((height, node.size), np.int64)
    buffers = np.empty((2, height, node.size))
    for residue in range(1, 5):
        for low in range(residue, last, 4 * height):
            harmonics = slice(low, min(low + 4 * height, last), 4)
            numbers = np.arange(low, harmonics.stop, 4)
            place = np.multiply.outer(numbers, node, out=places[: numbers.size])
            place &= m - 1
            features = buffers[:, : numbers.size]
            for wave, part in zip(waves, features, strict=True):
                wave.take(place, mode="clip", out=part)
            features *= amplitudes[harmonics, None]
            np.rint(features, out=features)
            yield harmonics, features[0], features[1]


def cosines(m: int) -> Array:
    """Return cos(2 pi p / M) for p = 0 ... M - 1, with equal digits in each eighth."""
    eighth = 2 * np.pi * (np.arange(m // 8 + 1) / m)
    quarter = np.concatenate([np.cos(eighth), np.sin(eighth[-2::-1])])
    half = np.concatenate([quarter, -quarter[-2::-1]])
    return np.concatenate([half, half[-2:0:-1]])


def eighth_norms(basis: Eighths) -> tuple[IntArray, int]:
    """Return ||T_x||^2 at nodes 0 ... M / 8, exactly, and the largest entry of T.

    Every other node has the norm of one of these, because a quarter turn exchanges the cosine and
    the sine of an odd j, and their signs.
    """
    largest = basis.count_feature
    norms = np.full(basis.circle_nodes // 8 + 1, float(largest) ** 2)
    for _, *waves in basis.eighths():
        # No wave is greater than the cosine at 0, which is 1.
        largest = max(largest, int(waves[0][:, 0].max()))
        for features in waves:
            norms += np.einsum("ij,ij->j", features, features)
    # All terms are integers, so sums below 2^53 have not been rounded.
    if not norms.max() < _EXACT:
        raise ArithmeticError("a column of features is longer than 2^26.5")
    return norms.astype(np.int64), largest


def eighth_products(basis: Eighths, numbers: Array) -> IntArray:
    """Return T @ numbers; exact if |T| @ |numbers| is below 2^53.

    At node q M/4 + k, with C and S the waves at k and t = j q a number of quarter turns,

        cosine  cos(t pi/2) C - sin(t pi/2) S
        sine    sin(t pi/2) C + cos(t pi/2) S

    and at q M/4 - k the same with -S. So numbers are added, or subtracted, before they are
    multiplied: P_q, D_q the sum and the difference of those at q M/4 + k and q M/4 - k.

    Args:
        basis: the matrix T.
        numbers: integers as doubles, shape (nodes, columns).
    """
    found = np.empty((basis.size, numbers.shape[1]), np.int64)
    j = basis.highest
    if basis.counted:
        found[0] = basis.count_feature * numbers.sum(axis=0)
    cosines, sines = found[basis.counted : -j], found[-j:]
    p, d = _folded(basis, numbers)
    for harmonics, c, s in basis.eighths():
        rows = slice(harmonics.start - 1, harmonics.stop - 1, 4)
        sign = 1 if harmonics.start % 4 < 2 else -1
        if harmonics.start % 2:
            cosines[rows] = c @ (p[0] - p[2]) - sign * (s @ (d[1] - d[3]))
            sines[rows] = s @ (d[0] - d[2]) + sign * (c @ (p[1] - p[3]))
        else:
            cosines[rows] = c @ (p[0] + p[2] + sign * (p[1] + p[3]))
            sines[rows] = s @ (d[0] + d[2] + sign * (d[1] + d[3]))
    return found


def _folded(basis: Eighths, numbers: Array) -> tuple[Array, Array]:
    """Return P_q and D_q, shape (4, M / 8 + 1, columns); each node's number is in one of them."""
    m = basis.circle_nodes
    node = np.arange(m // 8 + 1)
    quarter = np.arange(0, m, m // 4)[:, None]
    after, before = (quarter + node) % m, (quarter - node) % m
    # Nodes that are none of the domain, and those that are after another quarter too.
    absent = len(numbers)
    before[:, [0, -1]] = absent
    padded = np.concatenate([numbers, np.zeros((1, numbers.shape[1]))])
    up, down = (padded[np.minimum(places, absent)] for places in (after, before))
    return up + down, up - down
