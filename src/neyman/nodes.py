"""Public nodes on a line or circle: the places at which tables and arrays count values."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, final

import numpy as np
import numpy.typing as npt

from neyman.errors import InvalidParameter
from neyman.overriding import override

__all__ = ["OUTSIDE", "Nodes", "WholeNodes", "beyond", "histogram"]

_PIECE: Final = 1 << 15
_MOST: Final = 2**28
_LARGEST: Final = 1e200
# Periods beyond which doubles are further apart than half of one.
_FAR: Final = 2.0**52
# Nodes of values that are at no place of a line: below, above, and those that are no number.
OUTSIDE: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Nodes:
    """Equally spaced nodes start + k step, k = 0 ... number - 1, and the one that a value is at.

        line      k = floor((min(max(x, start), end) - start) / step + 1/2)
        circle    k = floor((x - floor(x / end) end) / step + 1/2) mod number,   end the period

    A total function of doubles by basic operations alone, in this order, so that one value has one
    node in NumPy and in every SQL engine; no operation overflows. NaN is at none, nor is, on a
    circle, a value 2^52 periods away, whose double does not say where it is, nor, where what is
    outside is dropped, a value outside.

    Attributes:
        start: the first node.
        end: of the values, the last node on a line.
        step: between nodes.
        number: how many.
        closed: whether they lie on a circle.
        dropped: whether values outside are at none; else they are at the nearer end.
    """

    # Whether values outside have nodes of their own: of `WholeNodes`.
    counted: ClassVar[bool] = False

    start: float
    end: float
    step: float
    number: int
    closed: bool
    dropped: bool

    def __post_init__(self) -> None:
        """Refuse nodes beyond which a value could round, or on which an operation could overflow.

        Raises:
            InvalidParameter: if they are no nodes.
        """
        shown = f"Nodes(start={self.start}, end={self.end}, step={self.step}, number={self.number})"
        sound = abs(self.start) <= _LARGEST and abs(self.end) <= _LARGEST and self.start < self.end
        if not sound or not 0 < self.step < math.inf or (self.closed and self.start != 0):
            raise InvalidParameter(
                "nodes must have start < end within 1e200 (0 and the period on a circle) and a "
                f"positive step; got {shown}"
            )
        # On a circle the last place is that of the first node.
        last = (self.end - self.start) / self.step + 0.5
        if not 1 <= self.number <= _MOST or not last < self.inside + self.closed:
            raise InvalidParameter(
                f"nodes must be as many as reach the end, at most 2^28; got {shown}"
            )

    @property
    def inside(self) -> int:
        """How many nodes lie on the line or circle; they are the first."""
        return self.number - OUTSIDE * self.counted

    @property
    def range(self) -> tuple[float, float]:
        """The least and the largest value at some node."""
        if self.closed:
            return -_FAR * self.end, _FAR * self.end
        return (self.start, self.end) if self.dropped else (-math.inf, math.inf)

    def index(self, values: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
        """Return the node of each value; `number` for a value at none."""
        if self.closed or self.dropped:
            low, high = self.range
            # Of NaN every comparison is false.
            lost = ~((values >= low) & (values <= high))
        else:
            lost = np.isnan(values)
        inside = self._turned(values, lost) if self.closed else self._clipped(values)
        inside /= self.step
        inside += 0.5
        # Never negative, so that cutting off is rounding down; what NaN becomes is replaced.
        with np.errstate(invalid="ignore"):
            nodes = inside.astype(np.int64)
        if self.closed:
            nodes %= self.number
        nodes[lost] = self.number
        return nodes

    def spread(self, mean: float, stddev: float) -> tuple[float, float]:
        """Return the mean and the deviation of values where the nodes are equally spaced."""
        return mean, stddev

    def _clipped(self, values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return distances from the start; of NaN NaN."""
        inside = np.clip(values, self.start, self.end)
        inside -= self.start
        return inside

    def _turned(
        self, values: npt.NDArray[np.float64], lost: npt.NDArray[np.bool_]
    ) -> npt.NDArray[np.float64]:
        """Return distances from the last multiple of the period, of those that are lost 0."""
        known = np.where(lost, 0.0, values)
        # Far away the product is rounded, and this is out by a period or two.
        periods = known / self.end
        np.floor(periods, out=periods)
        periods *= self.end
        known -= periods
        return known

    def record(self) -> dict[str, object]:
        """Return the public record, JSON-able."""
        return {
            "start": self.start.hex(),
            "end": self.end.hex(),
            "step": self.step.hex(),
            "number": self.number,
            "closed": self.closed,
            "dropped": self.dropped,
        }


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class WholeNodes(Nodes):
    """Nodes on a line, and three more: of values below it, of those above, and of all others.

    So every value is at one of them, NaN too.
    """

    counted: ClassVar[bool] = True

    @override
    def index(self, values: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
        nodes = Nodes(
            start=self.start,
            end=self.end,
            step=self.step,
            number=self.inside,
            closed=False,
            dropped=False,
        ).index(values)
        # NaN is behind the last node, and so at the first of the three.
        nodes[nodes == self.inside] = self.number - 1
        nodes[values < self.start] = self.inside
        nodes[values > self.end] = self.inside + 1
        return nodes

    @override
    def record(self) -> dict[str, object]:
        return {**Nodes.record(self), "counted": True}


def beyond(limit: float) -> Nodes:
    """Return two nodes: of values up to a limit, and of those beyond it."""
    after = math.nextafter(limit, math.inf)
    return Nodes(start=limit, end=after, step=after - limit, number=2, closed=False, dropped=False)


def histogram(
    axes: Sequence[Nodes], columns: Sequence[npt.NDArray[np.generic]]
) -> npt.NDArray[np.int64]:
    """Count rows at the nodes of all axes, the last axis running fastest.

    A row at no node of some axis counts for nothing.

    Args:
        axes: one for each column.
        columns: shape (n,) each; of a matrix of rows, its transpose.
    """
    nodes = math.prod(axis.number for axis in axes)
    counts = np.zeros(nodes + 1, np.int64)
    # Places in pieces that fit the cache, counts for as many rows as there are nodes.
    height = max(_PIECE, nodes)
    places = np.empty(min(height, len(columns[0])), np.int64)
    for first in range(0, len(columns[0]), height):
        parts = [column[first : first + height] for column in columns]
        for at in range(0, len(parts[0]), _PIECE):
            piece = [part[at : at + _PIECE] for part in parts]
            places[at : at + len(piece[0])] = _places(axes, piece)
        counts += np.bincount(places[: len(parts[0])], minlength=nodes + 1)
    return counts[:nodes]


def _places(
    axes: Sequence[Nodes], columns: Sequence[npt.NDArray[np.generic]]
) -> npt.NDArray[np.int64]:
    """Return the node of each row among those of all axes; their number for a row at none."""
    place, *others = (
        axis.index(column.astype(np.float64, copy=False))
        for axis, column in zip(axes, columns, strict=True)
    )
    if not others:
        return place
    lost = place == axes[0].number
    for axis, index in zip(axes[1:], others, strict=True):
        lost |= index == axis.number
        place *= axis.number
        place += index
    place[lost] = math.prod(axis.number for axis in axes)
    return place
