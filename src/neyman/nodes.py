"""Public nodes on a line or circle, at which tables and arrays count values."""

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
# Beyond this many periods, doubles are more than half a period apart.
_FAR: Final = 2.0**52
# The nodes for values that are not on a line: below, above, and NaN.
OUTSIDE: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Nodes:
    """Equally spaced nodes start + k step, k = 0 ... number - 1, and the node of each value.

        line      k = floor((min(max(x, start), end) - start) / step + 1/2)
        circle    k = floor((x - floor(x / end) end) / step + 1/2) mod number,   end the period

    This is a total function of doubles that uses only basic operations, in this order. So a value
    has the same node in NumPy and in every SQL engine, and no operation overflows. These values
    have no node: NaN; on a circle, a value 2^52 periods away, whose double does not determine its
    place; and a value outside the line, if such values are dropped.

    Attributes:
        start: the first node.
        end: on a line, the last node; on a circle, the period.
        step: between nodes.
        number: how many.
        closed: whether they are on a circle.
        dropped: whether values outside have no node; otherwise they belong to the nearer end.
    """

    # Whether values outside have their own nodes, as in `WholeNodes`.
    counted: ClassVar[bool] = False

    start: float
    end: float
    step: float
    number: int
    closed: bool
    dropped: bool

    def __post_init__(self) -> None:
        """Refuse nodes beyond which a value could round, or whose arithmetic could overflow.

        Raises:
            InvalidParameter: if they are refused.
        """
        shown = f"Nodes(start={self.start}, end={self.end}, step={self.step}, number={self.number})"
        sound = abs(self.start) <= _LARGEST and abs(self.end) <= _LARGEST and self.start < self.end
        if not sound or not 0 < self.step < math.inf or (self.closed and self.start != 0):
            raise InvalidParameter(
                "nodes must have start < end within 1e200 (0 and the period on a circle) and a "
                f"positive step; got {shown}"
            )
        # On a circle the last place is the first node.
        last = (self.end - self.start) / self.step + 0.5
        if not 1 <= self.number <= _MOST or not last < self.inside + self.closed:
            raise InvalidParameter(
                f"nodes must be as many as reach the end, at most 2^28; got {shown}"
            )

    @property
    def inside(self) -> int:
        """How many nodes are on the line or circle; they are the first."""
        return self.number - OUTSIDE * self.counted

    @property
    def range(self) -> tuple[float, float]:
        """The least and the largest value that has a node."""
        if self.closed:
            return -_FAR * self.end, _FAR * self.end
        return (self.start, self.end) if self.dropped else (-math.inf, math.inf)

    def index(self, values: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
        """Return the node of each value; `number` for a value without one."""
        if self.closed or self.dropped:
            low, high = self.range
            # Comparisons with NaN are false.
            lost = ~((values >= low) & (values <= high))
        else:
            lost = np.isnan(values)
        inside = self._turned(values, lost) if self.closed else self._clipped(values)
        inside /= self.step
        inside += 0.5
        # Never negative, so truncation rounds down; the result for NaN is replaced.
        with np.errstate(invalid="ignore"):
            nodes = inside.astype(np.int64)
        if self.closed:
            nodes %= self.number
        nodes[lost] = self.number
        return nodes

    def spread(self, mean: float, stddev: float) -> tuple[float, float]:
        """Return the mean and the deviation of values in the coordinate of equally spaced nodes."""
        return mean, stddev

    def _clipped(self, values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return distances from the start; NaN for NaN."""
        inside = np.clip(values, self.start, self.end)
        inside -= self.start
        return inside

    def _turned(
        self, values: npt.NDArray[np.float64], lost: npt.NDArray[np.bool_]
    ) -> npt.NDArray[np.float64]:
        """Return distances from the last multiple of the period; 0 for values without a node."""
        known = np.where(lost, 0.0, values)
        # Far away the product is rounded, and this can be off by a period or two.
        periods = known / self.end
        np.floor(periods, out=periods)
        periods *= self.end
        known -= periods
        return known

    def record(self) -> dict[str, object]:
        """Return the public record, for JSON."""
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
    """Nodes on a line, and three more: for values below it, values above it, and all others.

    So every value has a node, NaN too.
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
        # NaN is at `number`, which here is the first of the three.
        nodes[nodes == self.inside] = self.number - 1
        nodes[values < self.start] = self.inside
        nodes[values > self.end] = self.inside + 1
        return nodes

    @override
    def record(self) -> dict[str, object]:
        return {**Nodes.record(self), "counted": True}


def beyond(limit: float) -> Nodes:
    """Return two nodes: for values up to a limit, and for values beyond it."""
    after = math.nextafter(limit, math.inf)
    return Nodes(start=limit, end=after, step=after - limit, number=2, closed=False, dropped=False)


def histogram(
    axes: Sequence[Nodes], columns: Sequence[npt.NDArray[np.generic]]
) -> npt.NDArray[np.int64]:
    """Return the counts of rows at the nodes of all axes, the last axis fastest.

    A row without a node on an axis is not counted.

    Args:
        axes: one for each column.
        columns: shape (n,) each; for a matrix of rows, its transpose.
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
    """Return the node of each row among those of all axes; their number for a row without one."""
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
