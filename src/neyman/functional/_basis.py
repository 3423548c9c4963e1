"""The kernel as a finite sum of waves, and how the budget is divided among them."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, cast, final

import numpy as np

from neyman.arguments import check_type
from neyman.errors import InvalidParameter
from neyman.functional._domain import Domain, check_domain, domain_of
from neyman.functional._target import Target, target_of
from neyman.functional._written import number
from neyman.nodes import Nodes
from neyman.numerics import Array, text

__all__ = ["BITS", "Basis", "multipliers"]

# A column of features has about this squared norm: 2^(2 BITS).
BITS: Final = 24
# Waves whose multiplier is smaller than this are no part of the estimator.
_SMALLEST_MULTIPLIER: Final = 1e-8
_MOST_BANDWIDTHS: Final = 1024
_NODES_A_BANDWIDTH: Final = 16
_BLOCK: Final = 1 << 17


@final
@dataclass(frozen=True, slots=True)
class Basis:
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

    domain: Domain
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
    def period(self) -> float:
        """The length of the circle."""
        return self.domain.period

    @property
    def highest(self) -> int:
        """The highest frequency kept."""
        reach = math.sqrt(-math.log(_SMALLEST_MULTIPLIER) / 2) / math.pi
        return math.ceil(reach * self.period / float(self.bandwidth))

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

    @property
    def amplitudes(self) -> Array:
        """2^24 r_j for j = 0 ... J, shape (J + 1,); zero at 0 if that is not released."""
        j = self.highest
        squares = 2 * multipliers(self.period, j, float(self.bandwidth))
        squares[0] = 1.0 if self.counted else 0.0
        frequencies = 2 * math.pi / self.period * np.arange(j + 1, dtype=np.float64)
        squares *= self.target.weights(frequencies, float(self.bandwidth))
        return 2.0**BITS * np.sqrt(squares / squares.sum())

    @property
    def axes(self) -> tuple[Nodes]:
        """The nodes of the domain, and the rule by which a value is at one of them."""
        return (self.domain.places(self.period / self.circle_nodes, self.nodes),)

    def blocks(self) -> Iterator[tuple[slice, Array]]:
        """Yield (rows, features) of the integer matrix, as doubles, shape (rows, nodes).

        Rows, blocks in any order: the count if released, the cosines of j = 1 ... J, the sines.
        """
        m, j = self.circle_nodes, self.highest
        turns = np.arange(m) / m
        amplitudes, first = self.amplitudes, int(self.counted)
        if self.counted:
            yield slice(0, 1), np.full((1, self.nodes), np.rint(amplitudes[0]))
        waves = np.cos(2 * np.pi * turns), np.cos(2 * np.pi * (turns - 0.25))
        node = np.arange(self.nodes)
        height = max(1, _BLOCK // self.nodes)
        for low in range(1, j + 1, height):
            harmonic = np.arange(low, min(low + height, j + 1))
            place = np.multiply.outer(harmonic, node)
            place &= m - 1
            row = first + low - 1
            for wave, start in zip(waves, (row, row + j), strict=True):
                features = wave.take(place, mode="clip")
                features *= amplitudes[harmonic, None]
                yield slice(start, start + harmonic.size), np.rint(features, out=features)

    def record(self) -> dict[str, object]:
        """Return the public record, JSON-able."""
        return {
            "domain": self.domain.record(),
            "bandwidth": text(self.bandwidth),
            "target": self.target.record(),
            "counted": self.counted,
        }

    @classmethod
    def of_record(cls, record: Mapping[str, object]) -> "Basis":
        """Rebuild a basis from what `record` returned.

        Raises:
            InvalidParameter: if what it describes is refused.
            KeyError, TypeError, ValueError: if it is no such record.
        """
        return cls(
            domain_of(cast("Mapping[str, object]", record["domain"])),
            number(record["bandwidth"]),
            target_of(cast("Mapping[str, object]", record["target"])),
            record["counted"] is True,
        )


def multipliers(period: float, highest: int, bandwidth: float) -> Array:
    """Return lambda_j = exp(-(h w_j)^2 / 2) for j = 0 ... highest."""
    scaled = (2 * math.pi * bandwidth / period) * np.arange(highest + 1)
    with np.errstate(under="ignore"):
        return np.exp(-0.5 * scaled * scaled)
