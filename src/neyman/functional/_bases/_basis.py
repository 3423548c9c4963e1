"""The kernel as a finite sum of waves, and the division of the budget between them."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar, Final, cast, final

import numpy as np

from neyman.aggregate import Columns, IntArray
from neyman.arguments import check_type
from neyman.errors import InvalidParameter
from neyman.functional._arguments import number
from neyman.functional._bases._abstract_basis import AbstractBasis
from neyman.functional._bases._domain import Interval, ScaledInterval, Side, side_of
from neyman.functional._bases._features import clamped, feature_sensitivity, whole_sums
from neyman.functional._bases._symmetric_waves import eighth_features, eighth_norms, eighth_products
from neyman.functional._bases._target import Target, target_of
from neyman.functional._bases._waves import (
    FINE,
    Lattice,
    WaveBasis,
    Waves,
    lattice_of,
    multipliers,
)
from neyman.nodes import OUTSIDE, Nodes
from neyman.numerics import Array, ComplexArray, text
from neyman.overriding import override
from neyman.sensitivity import Neighbors, Sensitivity

__all__ = ["BITS", "Basis"]

# A column of features has about this squared norm: 2^(2 BITS).
BITS: Final = 24
# Waves whose multiplier is smaller than this are no part of the estimator.
_SMALLEST_MULTIPLIER: Final = 1e-8
_SMALLEST_FINE: Final = 1e-2
# At most 2^16 nodes, and a stretch of 96 bandwidths is empty.
_MOST_BANDWIDTHS: Final = 8000
# Rounding the features moves the norm of a column by less than 2^this.
_SPARED: Final = 8


@final
@dataclass(frozen=True, slots=True)
class Basis(WaveBasis, AbstractBasis):
    """A truncated Gaussian kernel on a circle of length L, and public nodes on it.

        K_J(x) = (1/L) (1 + 2 sum_{j=1}^J lambda_j cos w_j x),   w_j = 2 pi j / L,
        lambda_j = exp(-(h w_j)^2 / 2),   J the first with lambda_J < 1e-8

    The estimator *is* this kernel. It is within 1e-7 (of its peak) of a Gaussian, but privacy does
    not depend on that. A value counts at the nearest of M public nodes, at most h/16 apart. For h
    below T / 1024 there are fewer waves (J is the first with lambda_J < 0.01) on a shorter circle
    (`lattice_of`), with nodes h/8 apart; the budget is divided as for h/2.

    The column of a node x has, for each j, the integers nearest to 2^24 r_j cos w_j x and 2^24 r_j
    sin w_j x, with r_0^2 + ... + r_J^2 = 1 and r_j^2 proportional to m_j lambda_j q_j (m_0 = 1, m_j
    = 2, q the target's weights): so each column has a squared norm near 2^48.

    Attributes:
        domain: the domain of the values.
        bandwidth: h, the standard deviation of the kernel, exact; the smallest bandwidth available
            after the release.
        target: the weight of errors at each frequency.
        counted: whether j = 0, the number of records, is released.
    """

    statistic: ClassVar[str] = "density"
    rules: ClassVar[int] = 4

    domain: Side
    bandwidth: Fraction
    target: Target
    counted: bool

    def __post_init__(self) -> None:
        """Check the bandwidth against the domain.

        Raises:
            InvalidParameter: if the bandwidth is below an 8000th of the length or above the
                largest, or another field has a wrong class.
        """
        check_type(
            "domain", self.domain, Side, 'Interval(lower, upper, outside="clip") or Circle(period)'
        )
        check_type("bandwidth", self.bandwidth, Fraction | int, "an exact one, a Fraction")
        check_type(
            "target", self.target, Target, "Density(), Cumulative(), Scales() or Weights(...)"
        )
        least = self.domain.length / _MOST_BANDWIDTHS
        most = self.domain.largest_bandwidth
        if not least <= self.bandwidth <= most:
            raise InvalidParameter(
                f"bandwidth must be in [{float(least):.6g}, {float(most):.6g}] on a domain of "
                f"length {text(self.domain.length)}; got {text(self.bandwidth)}. Write such a "
                "bandwidth or another domain"
            )

    @property
    def inside(self) -> "Basis":
        """The same basis where values outside count for nothing."""
        inner = self.domain.inner
        return self if inner == self.domain else replace(self, domain=inner)

    @property
    @override
    def outside(self) -> int:
        """The integer of one record outside the domain; 0 if such records are not counted.

        It is slightly below the longest column of a value inside, so it needs no more noise.
        """
        return 0 if self.inside is self else (1 << BITS) - (1 << _SPARED)

    @property
    @override
    def bandwidths(self) -> tuple[Fraction]:
        return (self.bandwidth,)

    @property
    @override
    def waves(self) -> Waves:
        return Waves((self.domain.line,), self.bandwidths, self.amplitudes)

    @property
    def lattice(self) -> Lattice:
        """The circle and the nodes on it."""
        return lattice_of(self.domain, self.bandwidth)

    @property
    def period(self) -> float:
        """The length of the circle."""
        return float(self.lattice.period)

    @property
    def fine(self) -> bool:
        """Whether the domain is longer than 1024 bandwidths."""
        return self.bandwidth < FINE * self.domain.length

    @property
    def highest(self) -> int:
        """J, the highest frequency kept."""
        least = _SMALLEST_FINE if self.fine else _SMALLEST_MULTIPLIER
        reach = math.sqrt(-math.log(least) / 2) / math.pi
        return math.ceil(reach * self.period / float(self.bandwidth))

    @property
    @override
    def size(self) -> int:
        return 2 * self.highest + self.counted + OUTSIDE * (self.inside is not self)

    @property
    def circle_nodes(self) -> int:
        """M, the number of nodes on the whole circle, a power of two."""
        return self.lattice.nodes

    @property
    def nodes(self) -> int:
        """The number of nodes in the domain; they are the first of the circle."""
        return self.lattice.steps + (not self.domain.closed)

    @property
    def amplitudes(self) -> Array:
        """The scale of the features of j = 0 ... J, shape (J + 1,); 0 at j = 0 if not released."""
        j, h = self.highest, float(self.bandwidth / (2 if self.fine else 1))
        squares = 2 * multipliers(self.period, j, h)
        squares[0] = 1.0 if self.counted else 0.0
        frequencies = 2 * math.pi / self.period * np.arange(j + 1, dtype=np.float64)
        squares *= self.target.weights(frequencies, h)
        return 2.0**BITS * np.sqrt(squares / squares.sum())

    @property
    @override
    def axes(self) -> tuple[Nodes]:
        step = self.period / self.circle_nodes
        domain = self.domain
        if self.outside and isinstance(domain, Interval | ScaledInterval):
            return (domain.whole(step, self.nodes),)
        return (domain.places(step, self.nodes),)

    def transform(self, integers: Array) -> ComplexArray:
        """Return the sums over records of exp(-i w_j x), with noise; 0 at j = 0 if not released."""
        j, amplitudes = self.highest, self.amplitudes
        found = np.zeros(j + 1, np.complex128)
        waves = integers[self.counted :]
        found[1:] = (waves[:j] - 1j * waves[j:]) / amplitudes[1:]
        if self.counted:
            found[0] = integers[0] / amplitudes[0]
        return found

    @override
    def sums(self, counts: IntArray) -> IntArray:
        if self.inside is self:
            return whole_sums(self, counts)
        places, apart = np.split(counts, [self.nodes], axis=-1)
        found = whole_sums(self.inside, places)
        return np.concatenate([found, clamped(apart, self.outside) * self.outside], axis=-1)

    @override
    def sensitivity(self, neighbors: Neighbors) -> Sensitivity:
        """Return the sensitivity of the integers to one record.

        A record is inside, or in one of the three counts outside, which it moves by at most the
        longest column b. Under replace_one it can go from one to the other, which adds both
        squares.
        """
        found = feature_sensitivity(self.inside, neighbors)
        if (b := self.outside) == 0:
            return found
        squared = found.l2_squared or Fraction(0)
        if neighbors == "replace_one":
            norms, _ = self.inside.norms()
            squared = max(squared, Fraction(int(norms.max()) + b * b), Fraction(2 * b * b))
        return replace(
            found, l2_squared=squared, coordinates=self.size, largest=max(found.largest or 0, b)
        )

    @property
    @override
    def label_names(self) -> tuple[str, ...]:
        return "frequency", "part"

    @override
    def labels(self) -> Columns:
        harmonics = list(range(1, self.highest + 1))
        count = [0] if self.counted else []
        parts = ["count"] * len(count) + ["cos"] * self.highest + ["sin"] * self.highest
        apart = ["below", "above", "nowhere"] if self.inside is not self else []
        frequencies = count + harmonics * 2 + [0] * len(apart)
        return {"frequency": frequencies, "part": parts + apart}

    @property
    def count_feature(self) -> int:
        """The feature of the count, equal at every node; 0 if the count is not released."""
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
        around = self.lattice.period
        own = around == self.domain.length * (1 if self.domain.closed else 2)
        return {
            "domain": self.domain.record(),
            "bandwidth": text(self.bandwidth),
            **({} if own else {"circle": text(around)}),
            "target": self.target.record(),
            "counted": self.counted,
        }

    @classmethod
    def of_record(cls, record: Mapping[str, object]) -> "Basis":
        """Return the basis that `record` wrote.

        Raises:
            InvalidParameter: if the fields are not valid.
            KeyError, TypeError, ValueError: if the record is malformed.
        """
        found = cls(
            side_of(cast("Mapping[str, object]", record["domain"])),
            number(record["bandwidth"]),
            target_of(cast("Mapping[str, object]", record["target"])),
            record["counted"] is True,
        )
        if found.record().get("circle") != record.get("circle"):
            raise ValueError("another circle")
        return found
