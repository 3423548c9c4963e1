"""Sums of products of waves in fixed point, and their sensitivity."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Protocol, final

import numpy as np

from neyman.aggregate import IntArray
from neyman.functional._bases._features import CLAMP, MOST_RECORDS
from neyman.functional._bases._fixed_point import (
    AMPLITUDE_BITS,
    BITS,
    contracted,
    fixed_product,
    long_sums,
    scaled,
    separable_sums,
)
from neyman.functional._bases._symmetric_waves import cosines
from neyman.functional._bases._waves import spread
from neyman.nodes import Nodes
from neyman.numerics import Array, Interval, expm1, log1p
from neyman.sensitivity import Neighbors, Sensitivity

__all__ = ["AxisFeatures", "axes_of", "field_sensitivity", "field_sums"]

# Of a cosine of a multiple of 2 pi / M, in doubles.
_WAVE_ERROR: Final = 2.0**-47


@final
@dataclass(frozen=True, slots=True)
class AxisFeatures:
    """C: the integers nearest to 2^20 cos w_j x and 2^20 sin w_j x, w_j = 2 pi j / M.

    Rows: cosines of j = 0 ... J, sines of j = 1 ... J.

    Attributes:
        circle_nodes: M, a multiple of 8.
        highest: J.
        nodes: number of nodes of the domain, the first on the circle: all, or M / 2 + 1.
    """

    circle_nodes: int
    highest: int
    nodes: int

    def waves(self, nodes: int) -> tuple[Array, Array]:
        """Return cosines and sines, both of j = 0 ... J, at the first nodes, as doubles."""
        m = self.circle_nodes
        cosine = np.rint(2.0**BITS * cosines(m))
        place = np.multiply.outer(np.arange(self.highest + 1), np.arange(nodes)) % m
        first, second = (
            wave.take(place, mode="clip") for wave in (cosine, np.roll(cosine, m // 4))
        )
        return first, second

    @property
    def matrix(self) -> Array:
        """C, as doubles, shape (2 J + 1, nodes)."""
        cosine, sine = self.waves(self.nodes)
        return np.concatenate([cosine, sine[1:]])

    @property
    def squares(self) -> Array:
        """cos^2 + sin^2 in units of 1, shape (J + 1, M / 8 + 1); other nodes have equal values."""
        cosine, sine = self.waves(self.circle_nodes // 8 + 1)
        return (cosine**2 + sine**2) * 2.0 ** (-2 * BITS)

    def products(self, numbers: IntArray, shift: int) -> IntArray:
        """Return floor((C X + 2^(shift - 1)) / 2^shift) exactly, shape (columns, rows).

        The cosines of even j and the sines of odd j are equal at k and M/2 - k, so their numbers
        are added; the others are opposite, so theirs are subtracted.
        """
        quarter = self.circle_nodes // 4
        found = np.empty((numbers.shape[1], 2 * self.highest + 1), np.int64)
        same, opposite = self._reflected(numbers)
        cosine, sine = self.waves(quarter + 1)
        first, second = found[:, : self.highest + 1], found[:, self.highest + 1 :]
        for parity, (even, odd) in enumerate(zip(_halves(same), _halves(opposite), strict=True)):
            first[:, parity::2] = fixed_product(cosine[parity::2], even, shift)
            second[:, parity::2] = fixed_product(sine[1 + parity :: 2], odd, shift)
        return found

    def _reflected(self, numbers: IntArray) -> tuple[IntArray, IntArray]:
        """Return numbers at nodes 0 ... M / 2: those at -k are added to, or subtracted from, k."""
        half = self.circle_nodes // 2
        if self.nodes == half + 1:
            return numbers, numbers
        same, opposite = numbers[: half + 1].copy(), numbers[: half + 1].copy()
        same[1:half] += numbers[:half:-1]
        opposite[1:half] -= numbers[:half:-1]
        return same, opposite


class FieldFeatures(Protocol):
    """Products of waves on the axes of a torus, with an amplitude for each."""

    @property
    def axes(self) -> tuple[Nodes, ...]: ...
    @property
    def circle_nodes(self) -> tuple[int, ...]: ...
    @property
    def highest(self) -> tuple[int, ...]: ...
    @property
    def lattice(self) -> IntArray: ...
    @property
    def parts(self) -> Array: ...
    @property
    def size(self) -> int: ...


def field_sums(basis: FieldFeatures, counts: IntArray) -> IntArray:
    """Return V = round(A X / 2^26), X the sums of products of features in fixed point.

    The sums are exact for any number of records, and clamped to [-2^62, 2^62]. So the number of
    records, which is private, causes no error, and clamping does not increase a difference.

    Args:
        basis: the features and A.
        counts: records at each node, at least 0.
    """
    places = counts.reshape([axis.number for axis in basis.axes])
    amplitudes = spread(basis.lattice)
    kept = amplitudes > 0
    if float(counts.sum(dtype=np.float64)) < MOST_RECORDS:
        return scaled(amplitudes[kept], separable_sums(axes_of(basis), places)[kept])
    shift = BITS + AMPLITUDE_BITS
    products = amplitudes[kept].astype(np.object_) * long_sums(axes_of(basis), places)[kept]
    rounded = (products + (1 << (shift - 1))) >> shift
    return np.clip(rounded, -CLAMP, CLAMP).astype(np.int64)


def field_sensitivity(basis: FieldFeatures, neighbors: Neighbors) -> Sensitivity:
    """Return the sensitivity of the sums; a record is at one node, or at none.

        add_remove    l2 <= max_x ||A C_x|| / 2^(20 (d-1) + 26) + (d - 1) ||A|| / 2^26 + sqrt(size)
        replace_one   l2 <= max_t sqrt(2 sum_j a_j^2 (1 - prod_k cos w_jk t_k))
                            + 2 ((1 + sqrt(2) e)^d - 1) sqrt(sum_j a_j^2)
                            + 2 (d - 1) ||A|| / 2^26 + sqrt(size),    e = 2^-21 (1 + 2^-20)

    C_x has the products of the integer features at node x, from sums of non-negative doubles. The
    first term of each line is the difference before rounding. The other terms are the rounding of
    the features (for replace_one), of the sums and of the integers (docs/theory/functions.md).

    Error: never too small; too large by about 3e-5 (relative) for 3 10^4 integers.
    """
    d = len(basis.axes)
    a = basis.lattice.astype(np.float64)
    slack = 1 + 2.0**-52 * (sum(basis.highest) + 4 * d)
    length, norm, longest = (
        (Interval.exactly(square) * slack).sqrt() / 2**AMPLITUDE_BITS
        for square in ((a * a).sum(), (a * a * basis.parts).sum(), _longest(basis, a * a))
    )
    lost = norm / 2**BITS * (d - 1)
    rounding = lost + Interval.of(basis.size).sqrt()
    bound = longest + rounding
    entry = math.ceil(float(a.max()) * (2.0**-AMPLITUDE_BITS + d * 2.0**-BITS)) + 1
    if neighbors == "replace_one":
        features = expm1(log1p(Interval.of(2).sqrt() * (2.0**-21 * (1 + 2.0**-20))) * d)
        apart = _farthest(basis, a * a, slack) + 2 * features * length + lost + rounding
        bound, entry = bound.larger(apart), 2 * entry
    return Sensitivity(
        neighbors=neighbors,
        l2_squared=Fraction(math.ceil(Fraction(float(bound.upper)) ** 2)),
        coordinates=basis.size,
        largest=entry,
    )


def _longest(basis: FieldFeatures, squares: Array) -> float:
    """Return the largest squared norm of a column.

    Error: relative error below the slack, because every term is non-negative.
    """
    return float(contracted(squares, (axis.squares for axis in axes_of(basis))).max())


def _farthest(basis: FieldFeatures, squares: Array, slack: float) -> Interval:
    """Return the largest distance of two columns before rounding, over all lags."""
    tables = [
        np.cos(2 * np.pi / m * (np.multiply.outer(np.arange(j + 1), np.arange(m // 2 + 1)) % m))
        for m, j in zip(basis.circle_nodes, basis.highest, strict=True)
    ]
    total = Interval.exactly(squares.sum()) * slack
    error = total * (slack - 1 + len(tables) * _WAVE_ERROR)
    least = float(contracted(squares, tables).min())
    return ((total - least + error) * 2).sqrt() / 2**AMPLITUDE_BITS


def axes_of(basis: FieldFeatures) -> Iterator[AxisFeatures]:
    """Yield the features along each axis."""
    for m, j, axis in zip(basis.circle_nodes, basis.highest, basis.axes, strict=True):
        yield AxisFeatures(m, j, axis.number)


def _halves(numbers: IntArray) -> tuple[IntArray, IntArray]:
    """Return numbers at k = 0 ... M / 4, with those at M / 2 - k added, and subtracted."""
    quarter = len(numbers) // 2
    near, far = numbers[: quarter + 1], numbers[:quarter:-1]
    added, subtracted = near.copy(), near.copy()
    added[:quarter] += far
    subtracted[:quarter] -= far
    return added, subtracted
