"""The waves of a curve on a circle, as they are read."""

import math
from abc import ABC, abstractmethod
from fractions import Fraction
from typing import Final

import numpy as np

from neyman.functional._bases._side import Side
from neyman.numerics import Array

__all__ = ["LineBasis", "multipliers"]

_NODES_A_BANDWIDTH: Final = 16


class LineBasis(ABC):
    """Cosines and sines of j = 1 ... J on a circle of length L, and the scale of each.

    The integers are, in this order, the count if released, the cosines, the sines.

    Attributes:
        domain: where values lie.
        bandwidth: the least that can be read.
        counted: whether j = 0, the number of records, is released.
    """

    __slots__ = ()

    domain: Side
    bandwidth: Fraction
    counted: bool

    @property
    @abstractmethod
    def highest(self) -> int:
        """J, the highest frequency kept."""

    @property
    @abstractmethod
    def amplitudes(self) -> Array:
        """The scale of the features of j = 0 ... J, shape (J + 1,); zero at 0 if not released."""

    @abstractmethod
    def record(self) -> dict[str, object]:
        """Return the public record, JSON-able."""

    @property
    def period(self) -> float:
        """The length of the circle."""
        return self.domain.period

    @property
    def size(self) -> int:
        """How many integers are released: 2 J, and one more for the count."""
        return 2 * self.highest + self.counted

    @property
    def circle_nodes(self) -> int:
        """M, a power of two: nodes on the whole circle."""
        return 1 << math.ceil(
            math.log2(max(256, _NODES_A_BANDWIDTH * self.period / float(self.bandwidth)))
        )

    @property
    def nodes(self) -> int:
        """How many of them lie in the domain; they are the first."""
        return self.circle_nodes if self.domain.closed else self.circle_nodes // 2 + 1


def multipliers(period: float, highest: int, bandwidth: float) -> Array:
    """Return lambda_j = exp(-(h w_j)^2 / 2) for j = 0 ... highest."""
    scaled = (2 * math.pi * bandwidth / period) * np.arange(highest + 1)
    with np.errstate(under="ignore"):
        return np.exp(-0.5 * scaled * scaled)
