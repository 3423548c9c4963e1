"""The kernel as a finite sum of waves, and how the budget is divided among them."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Final, final

import numpy as np

from neyman.aggregate import Columns, IntArray
from neyman.arguments import check_type
from neyman.errors import InvalidParameter
from neyman.functional._bases._abstract_basis import AbstractBasis
from neyman.functional._bases._eighths import eighth_features, eighth_norms, eighth_products
from neyman.functional._bases._features import feature_sensitivity, whole_sums
from neyman.functional._bases._line_basis import LineBasis, multipliers
from neyman.functional._bases._side import Side, check_domain
from neyman.functional._bases._target import Target
from neyman.nodes import Nodes
from neyman.numerics import Array, text
from neyman.overriding import override
from neyman.sensitivity import Neighbors, Sensitivity

__all__ = ["BITS", "Basis"]

# A column of features has about this squared norm: 2^(2 BITS).
BITS: Final = 24
# Waves whose multiplier is smaller than this are no part of the estimator.
_SMALLEST_MULTIPLIER: Final = 1e-8
_MOST_BANDWIDTHS: Final = 1024


@final
@dataclass(frozen=True, slots=True)
class Basis(LineBasis, AbstractBasis):
    """A truncated Gaussian kernel on a circle of length L, and public nodes on it.

        K_J(x) = (1/L) (1 + 2 sum_{j=1}^J lambda_j cos w_j x),   w_j = 2 pi j / L,
        lambda_j = exp(-(h w_j)^2 / 2),   J the first with lambda_J < 1e-8

    The estimator *is* this kernel: nothing about privacy rests on how near it is to a Gaussian
    (within 1e-7 of its peak). A value counts at the nearest of M public nodes, at most h/16 apart.

    The column of a node x holds, for each j, the integers nearest to 2^24 r_j cos w_j x and
    2^24 r_j sin w_j x, with r_0^2 + ... + r_J^2 = 1 and r_j^2 proportional to m_j lambda_j q_j
    (m_0 = 1, m_j = 2, q the target's weights): so each column has squared norm 2^48, nearly.

    Attributes:
        domain: where values lie.
        bandwidth: h, the standard deviation of the kernel, exact; the least that can be read.
        target: what errors at each frequency weigh.
        counted: whether j = 0, the number of records, is released.
    """

    statistic: ClassVar[str] = "density"
    rules: ClassVar[int] = 4

    domain: Side
    bandwidth: Fraction
    target: Target
    counted: bool

    def __post_init__(self) -> None:
        """Refuse a bandwidth that the domain cannot carry.

        Raises:
            InvalidParameter: if it is below a 1024th of the length or above the largest, or one
                of the rest is of another class.
        """
        check_domain(self.domain)
        check_type("bandwidth", self.bandwidth, Fraction | int, "an exact one, a Fraction")
        check_type(
            "target", self.target, Target, "Density(), Cumulative(), Scales() or Weights(...)"
        )
        least = self.domain.length / _MOST_BANDWIDTHS
        most = self.domain.largest_bandwidth
        if not least <= self.bandwidth <= most:
            raise InvalidParameter(
                f"bandwidth={text(self.bandwidth)} was asked for on a domain of length "
                f"{text(self.domain.length)}; write one in [{float(least):.6g}, {float(most):.6g}],"
                " or another domain"
            )

    @property
    @override
    def highest(self) -> int:
        reach = math.sqrt(-math.log(_SMALLEST_MULTIPLIER) / 2) / math.pi
        return math.ceil(reach * self.period / float(self.bandwidth))

    @property
    @override
    def amplitudes(self) -> Array:
        j = self.highest
        squares = 2 * multipliers(self.period, j, float(self.bandwidth))
        squares[0] = 1.0 if self.counted else 0.0
        frequencies = 2 * math.pi / self.period * np.arange(j + 1, dtype=np.float64)
        squares *= self.target.weights(frequencies, float(self.bandwidth))
        return 2.0**BITS * np.sqrt(squares / squares.sum())

    @property
    @override
    def axes(self) -> tuple[Nodes]:
        return (self.domain.places(self.period / self.circle_nodes, self.nodes),)

    @override
    def sums(self, counts: IntArray) -> IntArray:
        return whole_sums(self, counts)

    @override
    def sensitivity(self, neighbors: Neighbors) -> Sensitivity:
        return feature_sensitivity(self, neighbors)

    @property
    @override
    def label_names(self) -> tuple[str, ...]:
        return "frequency", "part"

    @override
    def labels(self) -> Columns:
        harmonics = list(range(1, self.highest + 1))
        count = [0] if self.counted else []
        parts = ["count"] * len(count) + ["cos"] * self.highest + ["sin"] * self.highest
        return {"frequency": count + harmonics * 2, "part": parts}

    @property
    def count_feature(self) -> int:
        """Of the count, at every node; 0 if that is not released."""
        return round(self.amplitudes[0])

    def eighths(self) -> Iterator[tuple[slice, Array, Array]]:
        """Yield harmonics, and their features at the nodes of an eighth of the circle."""
        return eighth_features(self.circle_nodes, self.amplitudes)

    def products(self, numbers: Array) -> IntArray:
        """Return the product of the matrix of features with columns of numbers."""
        return eighth_products(self, numbers)

    def norms(self) -> tuple[IntArray, int]:
        """Return the squared norms of its columns, and its largest entry."""
        return eighth_norms(self)

    @override
    def record(self) -> dict[str, object]:
        return {
            "domain": self.domain.record(),
            "bandwidth": text(self.bandwidth),
            "target": self.target.record(),
            "counted": self.counted,
        }
