"""Waves along one axis of a field: at half of the nodes, and those of the others from them."""

from dataclasses import dataclass
from typing import final

import numpy as np

from neyman.aggregate import IntArray
from neyman.functional._bases._eighths import cosines
from neyman.functional._bases._fixed_point import BITS, fixed_product
from neyman.numerics import Array

__all__ = ["AxisFeatures"]


@final
@dataclass(frozen=True, slots=True)
class AxisFeatures:
    """C: the integers nearest to 2^20 cos w_j x and 2^20 sin w_j x, w_j = 2 pi j / M.

    Rows: cosines of j = 0 ... J, sines of j = 1 ... J.

    Attributes:
        circle_nodes: M, a multiple of 8.
        highest: J.
        nodes: of the domain, the first on the circle: all, or M / 2 + 1.
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
        """cos^2 + sin^2 in units of 1, shape (J + 1, M / 8 + 1): at the others they are these."""
        cosine, sine = self.waves(self.circle_nodes // 8 + 1)
        return (cosine**2 + sine**2) * 2.0 ** (-2 * BITS)

    def products(self, numbers: IntArray, shift: int) -> IntArray:
        """Return floor((C X + 2^(shift - 1)) / 2^shift) exactly, shape (columns, rows).

        What is at k and at M/2 - k is added for the cosines of even j and the sines of odd j,
        which are the same at both, and subtracted for the others, which are opposite.
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
        """Return numbers at nodes 0 ... M / 2, those at -k added to, or subtracted from, k."""
        half = self.circle_nodes // 2
        if self.nodes == half + 1:
            return numbers, numbers
        same, opposite = numbers[: half + 1].copy(), numbers[: half + 1].copy()
        same[1:half] += numbers[:half:-1]
        opposite[1:half] -= numbers[:half:-1]
        return same, opposite


def _halves(numbers: IntArray) -> tuple[IntArray, IntArray]:
    """Return numbers at k = 0 ... M / 4, those at M / 2 - k added, and subtracted."""
    quarter = len(numbers) // 2
    near, far = numbers[: quarter + 1], numbers[:quarter:-1]
    added, subtracted = near.copy(), near.copy()
    added[:quarter] += far
    subtracted[:quarter] -= far
    return added, subtracted
