"""The kernel of a field, in two or three dimensions, as a finite sum of products of waves."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import ClassVar, Final, cast, final

import numpy as np

from neyman.aggregate import Columns, IntArray
from neyman.errors import InvalidParameter
from neyman.functional._bases._abstract_basis import AbstractBasis
from neyman.functional._bases._domain import side_of
from neyman.functional._bases._fixed_point import AMPLITUDE_BITS
from neyman.functional._bases._side import Side
from neyman.functional._bases._target import Target, target_of
from neyman.functional._fields._features import field_sensitivity, field_sums
from neyman.functional._fields._reading import NODES_A_BANDWIDTH, FieldReading, even_nodes
from neyman.functional._written import number
from neyman.nodes import Nodes
from neyman.numerics import Array, text
from neyman.overriding import override
from neyman.sensitivity import Neighbors, Sensitivity

__all__ = ["FieldBasis"]

# A column of features has about this squared norm: 2^(2 _NORM_BITS).
_NORM_BITS: Final = 24
_MOST_BANDWIDTHS: Final = 512
_MOST_INTEGERS: Final = 1 << 20
_ALL_NODES: Final = 1 << 24


@final
@dataclass(frozen=True, slots=True)
class FieldBasis(FieldReading, AbstractBasis):
    """A truncated product of Gaussian kernels on a torus, and public nodes on it.

        K(x) = sum over j of prod_k (1 / L_k) m_jk lambda_jk cos w_jk x_k,
        w_jk = 2 pi j_k / L_k,  lambda_jk = exp(-(h_k w_jk)^2 / 2),  m_0 = 1, m_j = 2 beyond,
        over the j_1, ..., j_d >= 0 with lambda_j1 ... lambda_jd >= 1e-6

    The estimator *is* this kernel: nothing about privacy rests on how near it is to a Gaussian. A
    value counts at the nearest public node on each axis, at least 8 nodes a bandwidth in two
    dimensions and 4 in three: that widens the kernel, in the mean, by 0.07 % and 0.3 %.

    Each j has the products of one cosine or sine for each axis with j_k > 0: 2^(that number) rows,
    all of the same amplitude a_j, a_j^2 proportional to prod_k m_jk lambda_jk times the target's
    weight, with sum a_j^2 = 2^48. The squares of those products add up to 1 at every x.

    Attributes:
        sides: where values lie, one for each axis.
        bandwidth: h_1, ..., h_d, exact; the least that can be read.
        target: what errors at each frequency weigh.
        counted: whether j = 0, the number of records, is released.
    """

    statistic: ClassVar[str] = "field"
    rules: ClassVar[int] = 1

    sides: tuple[Side, ...]
    bandwidth: tuple[Fraction, ...]
    target: Target
    counted: bool

    def __post_init__(self) -> None:
        """Refuse bandwidths that the sides cannot carry.

        Raises:
            InvalidParameter: if there are not as many, one is out of reach of its side, they ask
                for too many nodes or integers, or the target is one of curves alone.
        """
        if len(self.bandwidth) != self.dimensions or self.dimensions not in NODES_A_BANDWIDTH:
            raise InvalidParameter(
                f"{len(self.bandwidth)} bandwidths were given for a box of {self.dimensions} "
                "sides; write one for each of 2 or 3 sides, in its units"
            )
        for side, h in zip(self.sides, self.bandwidth, strict=True):
            least, most = side.length / _MOST_BANDWIDTHS, side.largest_bandwidth
            if not least <= h <= most:
                raise InvalidParameter(
                    f"bandwidth={text(h)} was asked for on a side of length {text(side.length)}; "
                    f"write one in [{float(least):.6g}, {float(most):.6g}], or another side"
                )
        self.target.radial(np.zeros(1), self.dimensions)
        nodes = math.prod(axis.number for axis in self.axes)
        # Few enough nodes are few enough waves to count them.
        if nodes > _ALL_NODES or self.size > _MOST_INTEGERS:
            raise InvalidParameter(
                f"bandwidths of {nodes} nodes were asked for; write larger ones: at most "
                f"{_ALL_NODES} nodes and {_MOST_INTEGERS} integers are carried"
            )

    @property
    @override
    def whole(self) -> FieldReading:
        return self

    @property
    @override
    def coordinates(self) -> tuple[int, ...]:
        return tuple(range(self.dimensions))

    @property
    def circle_nodes(self) -> tuple[int, ...]:
        """Nodes on the whole circle of each axis."""
        return even_nodes(self.sides, self.bandwidth)

    @property
    @override
    def axes(self) -> tuple[Nodes, ...]:
        return tuple(
            side.places(side.period / m, m if side.closed else m // 2 + 1)
            for side, m in zip(self.sides, self.circle_nodes, strict=True)
        )

    @property
    @override
    def lattice(self) -> IntArray:
        d = self.dimensions
        squares = self.parts * self.multipliers(self.bandwidth)
        squares *= self.target.radial(self._scaled, d)
        squares[~self.kept] = 0.0
        if not self.counted:
            squares[(0,) * d] = 0.0
        amplitudes: Array = 2.0 ** (_NORM_BITS + AMPLITUDE_BITS) * np.sqrt(squares / squares.sum())
        return np.where(squares > 0, np.maximum(np.rint(amplitudes), 1.0), 0.0).astype(np.int64)

    @override
    def sums(self, counts: IntArray) -> IntArray:
        if counts.ndim == 1:
            return field_sums(self, counts)
        return np.stack([field_sums(self, group) for group in counts])

    @override
    def sensitivity(self, neighbors: Neighbors) -> Sensitivity:
        return field_sensitivity(self, neighbors)

    @property
    @override
    def label_names(self) -> tuple[str, ...]:
        return *(f"frequency_{k}" for k in range(1, self.dimensions + 1)), "part"

    @override
    def labels(self) -> Columns:
        rows = np.nonzero(self.spread(self.lattice))
        *names, part = self.label_names
        found: Columns = {}
        kind = np.zeros(self.size, np.int64)
        for name, row, j in zip(names, rows, self.highest, strict=True):
            found[name] = np.where(row > j, row - j, row).tolist()
            kind = 2 * kind + (row > j)
        parts = [" ".join(each) for each in product(("cos", "sin"), repeat=self.dimensions)]
        # Few texts, referred to often.
        found[part] = np.array(parts, np.object_)[kind].tolist()
        return found

    @override
    def record(self) -> dict[str, object]:
        return {
            "sides": [side.record() for side in self.sides],
            "bandwidth": [text(h) for h in self.bandwidth],
            "target": self.target.record(),
            "counted": self.counted,
        }

    @classmethod
    def of_record(cls, record: Mapping[str, object]) -> "FieldBasis":
        """Rebuild a basis from what `record` returned.

        Raises:
            InvalidParameter: if what it describes is refused.
            KeyError, TypeError, ValueError: if it is no such record.
        """
        sides = cast("list[Mapping[str, object]]", record["sides"])
        return cls(
            tuple(side_of(side) for side in sides),
            tuple(number(h) for h in cast("list[object]", record["bandwidth"])),
            target_of(cast("Mapping[str, object]", record["target"])),
            record["counted"] is True,
        )
