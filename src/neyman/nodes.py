"""Public nodes on a line or circle: the places at which tables and arrays count values."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, final

import numpy as np
import numpy.typing as npt

__all__ = ["Nodes", "histogram"]

_PIECE: Final = 1 << 16


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Nodes:
    """Equally spaced nodes start + k step, k = 0 ... number - 1, and the one that a value is at.

        line      t = min(max(x, start), end) - start
        circle    t = min(max(x - floor(x / end) end, 0), end),   start = 0, end the period
        k = floor(t / step + 1/2);   on a circle node `number` is node 0

    A total function of doubles by basic operations alone, so that one value has one node in NumPy
    and in every SQL engine. NaN is at none, nor is an infinity on a circle, nor, where what is
    outside is dropped, a value outside.

    Attributes:
        start: the first node.
        end: of the values, the last node on a line.
        step: between nodes.
        number: how many.
        closed: whether they lie on a circle.
        dropped: whether values outside are at none; else they are at the nearer end.
    """

    start: float
    end: float
    step: float
    number: int
    closed: bool
    dropped: bool

    def index(self, values: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
        """Return the node of each value; `number` for a value at none."""
        if self.closed:
            with np.errstate(invalid="ignore"):
                turned = values - np.floor(values / self.end) * self.end
            inside = np.clip(turned, 0.0, self.end)
        else:
            kept = np.clip(values, self.start, self.end)
            inside = (np.where(kept == values, kept, np.nan) if self.dropped else kept) - self.start
        place = np.floor(inside / self.step + 0.5)
        lost = np.isnan(place)
        nodes = np.where(lost, 0.0, place).astype(np.int64)
        nodes = np.where(nodes < self.number, nodes, 0 if self.closed else self.number - 1)
        nodes[lost] = self.number
        return nodes


def histogram(axes: Sequence[Nodes], rows: npt.NDArray[np.generic]) -> npt.NDArray[np.int64]:
    """Count rows at the nodes of all axes, the last axis running fastest.

    A row at no node of some axis counts for nothing.

    Args:
        axes: one for each column.
        rows: shape (n, axes).
    """
    nodes = math.prod(axis.number for axis in axes)
    counts = np.zeros(nodes + 1, np.int64)
    # Places in pieces that fit the cache, counts for as many rows as there are nodes.
    height = max(_PIECE, nodes)
    for first in range(0, len(rows), height):
        part = rows[first : first + height]
        pieces = range(0, len(part), _PIECE)
        places = [_places(axes, part[start : start + _PIECE]) for start in pieces]
        counts += np.bincount(np.concatenate(places), minlength=nodes + 1)
    return counts[:nodes]


def _places(axes: Sequence[Nodes], rows: npt.NDArray[np.generic]) -> npt.NDArray[np.int64]:
    """Return the node of each row among those of all axes; their number for a row at none."""
    place = np.zeros(len(rows), np.int64)
    lost = np.zeros(len(rows), np.bool_)
    for axis, column in zip(axes, rows.astype(np.float64).T, strict=True):
        index = axis.index(column)
        lost |= index == axis.number
        place = place * axis.number + index
    place[lost] = math.prod(axis.number for axis in axes)
    return place
