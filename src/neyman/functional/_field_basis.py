"""The kernel of a field, in two or three dimensions, as a finite sum of products of waves."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import product
from typing import ClassVar, Final, TypeVar, cast, final

import numpy as np
import numpy.typing as npt

from neyman.aggregate import Columns, IntArray
from neyman.errors import InvalidParameter
from neyman.functional._abstract_basis import AbstractBasis
from neyman.functional._domain import side_of
from neyman.functional._field_features import field_sensitivity, field_sums
from neyman.functional._fixed_point import AMPLITUDE_BITS, MOST_NODES
from neyman.functional._line_basis import multipliers
from neyman.functional._side import Side
from neyman.functional._target import Target, target_of
from neyman.functional._written import number
from neyman.nodes import Nodes
from neyman.numerics import Array, text
from neyman.sensitivity import Neighbors, Sensitivity

__all__ = ["FieldBasis", "even_nodes"]

_Number = TypeVar("_Number", bound=np.generic)

# A column of features has about this squared norm: 2^(2 _NORM_BITS).
_NORM_BITS: Final = 24
# Waves whose multiplier is smaller than this are no part of the estimator.
_SMALLEST_MULTIPLIER: Final = 1e-6
_NODES_A_BANDWIDTH: Final = {2: 8, 3: 4}
_MOST_BANDWIDTHS: Final = 512
_MOST_INTEGERS: Final = 1 << 20
_ALL_NODES: Final = 1 << 24


@final
@dataclass(frozen=True, slots=True)
class FieldBasis(AbstractBasis):
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
        if len(self.bandwidth) != self.dimensions or self.dimensions not in _NODES_A_BANDWIDTH:
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
    def dimensions(self) -> int:
        """How many axes."""
        return len(self.sides)

    @property
    def volume(self) -> float:
        """Of the torus."""
        return math.prod(side.period for side in self.sides)

    @property
    def highest(self) -> tuple[int, ...]:
        """The highest frequency on each axis."""
        reach = math.sqrt(-2 * math.log(_SMALLEST_MULTIPLIER)) / (2 * math.pi)
        return tuple(
            math.floor(reach * side.period / float(h))
            for side, h in zip(self.sides, self.bandwidth, strict=True)
        )

    @property
    def kept(self) -> npt.NDArray[np.bool_]:
        """Whether a wave is one of the kernel's, shape (J_1 + 1, ..., J_d + 1)."""
        return np.asarray(self._scaled**2 <= -2 * math.log(_SMALLEST_MULTIPLIER))

    @property
    def parts(self) -> Array:
        """How many products of cosines and sines a wave has: 2 for each axis with j_k > 0."""
        return _outer(_twice(j) for j in self.highest)

    @property
    def size(self) -> int:
        """How many integers are released."""
        return int(self.parts[self.kept].sum()) - (not self.counted)

    @property
    def circle_nodes(self) -> tuple[int, ...]:
        """Nodes on the whole circle of each axis."""
        return even_nodes(self.sides, self.bandwidth)

    @property
    def axes(self) -> tuple[Nodes, ...]:
        """The nodes of the box, and the rules by which values are at one of them."""
        return tuple(
            side.places(side.period / m, m if side.closed else m // 2 + 1)
            for side, m in zip(self.sides, self.circle_nodes, strict=True)
        )

    @property
    def lattice(self) -> IntArray:
        """2^6 a_j as integers, shape (J_1 + 1, ..., J_d + 1); 0 for what is not released."""
        d = self.dimensions
        squares = self.parts * self.multipliers(self.bandwidth)
        squares *= self.target.radial(self._scaled, d)
        squares[~self.kept] = 0.0
        if not self.counted:
            squares[(0,) * d] = 0.0
        amplitudes: Array = 2.0 ** (_NORM_BITS + AMPLITUDE_BITS) * np.sqrt(squares / squares.sum())
        return np.where(squares > 0, np.maximum(np.rint(amplitudes), 1.0), 0.0).astype(np.int64)

    @property
    def amplitudes(self) -> Array:
        """a_j, shape (J_1 + 1, ..., J_d + 1)."""
        return self.lattice.astype(np.float64) * 2.0**-AMPLITUDE_BITS

    def multipliers(self, bandwidth: Sequence[Fraction | float]) -> Array:
        """Return the product of lambda_jk at these bandwidths."""
        return _outer(
            multipliers(side.period, j, float(h))
            for side, j, h in zip(self.sides, self.highest, bandwidth, strict=True)
        )

    def spread(self, waves: npt.NDArray[_Number]) -> npt.NDArray[_Number]:
        """Return what belongs to each wave at each of its products of cosines and sines.

        Args:
            waves: shape (J_1 + 1, ..., J_d + 1).

        Returns:
            Shape (2 J_1 + 1, ..., 2 J_d + 1): on each axis cosines of j = 0 ... J, then sines.
        """
        rows = ([*range(j + 1), *range(1, j + 1)] for j in self.highest)
        return waves[np.ix_(*rows)]

    def gathered(self, products: Array) -> Array:
        """Return the sum over all products of cosines and sines of a wave, for each wave."""
        for j in self.highest:
            # Each axis in turn is the first, and becomes the last.
            waves = products[: j + 1].copy()
            waves[1:] += products[j + 1 :]
            products = np.moveaxis(waves, 0, -1)
        return products

    def sums(self, counts: IntArray) -> IntArray:
        """Return the sums of features, rounded once at the end, of exact ones."""
        return field_sums(self, counts)

    def sensitivity(self, neighbors: Neighbors) -> Sensitivity:
        """Return how far one record moves them."""
        return field_sensitivity(self, neighbors)

    def labels(self) -> Columns:
        """Return the frequencies of each integer, and its parts."""
        rows = np.nonzero(self.spread(self.lattice))
        found: Columns = {}
        kind = np.zeros(self.size, np.int64)
        for k, (row, j) in enumerate(zip(rows, self.highest, strict=True), start=1):
            found[f"frequency_{k}"] = np.where(row > j, row - j, row).tolist()
            kind = 2 * kind + (row > j)
        names = [" ".join(each) for each in product(("cos", "sin"), repeat=self.dimensions)]
        found["part"] = np.array(names)[kind].tolist()
        return found

    def record(self) -> dict[str, object]:
        """Return the public record, JSON-able."""
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

    @property
    def _scaled(self) -> Array:
        """|h w| of each wave."""
        squares = (
            (2 * math.pi * float(h) / side.period * np.arange(j + 1)) ** 2
            for side, j, h in zip(self.sides, self.highest, self.bandwidth, strict=True)
        )
        return np.sqrt(np.asarray(reduce(np.add.outer, squares)), dtype=np.float64)


def even_nodes(sides: Sequence[Side], bandwidth: Sequence[Fraction | float]) -> tuple[int, ...]:
    """Return even numbers of nodes on circles, enough for each bandwidth: 2^a or 3 2^a."""
    per = _NODES_A_BANDWIDTH[len(sides)]
    found: list[int] = []
    for side, h in zip(sides, bandwidth, strict=True):
        least = max(32.0, per * side.period / float(h))
        power = 1 << math.ceil(math.log2(least))
        found.append(power * 3 // 4 if power * 3 // 4 >= least else power)
    # Half of them, or on a circle all, are nodes of values.
    if max(found) > MOST_NODES:
        raise ArithmeticError("more nodes on an axis than sums of doubles are exact for")
    return tuple(found)


def _twice(highest: int) -> Array:
    found = np.full(highest + 1, 2.0)
    found[0] = 1.0
    return found


def _outer(factors: Iterable[Array]) -> Array:
    return np.asarray(reduce(np.multiply.outer, factors))
