"""The exact joint test of two error counts against any trade-off function.

p = sup {P(S <= s): y >= f(x)}. P falls in x and in y, so the supremum is on the curve. It is
certified on cells: on [a, b] the curve is above the line through f(b) whose slope is that of a
chord further right, and along a line P is within its tangent and a bound of its curvature.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from neyman.audit._lines import ErrorRates
from neyman.audit._null import Null
from neyman.audit._statistic import Statistic
from neyman.numerics import Array
from neyman.numerics._special import ndtr

__all__ = ["PValue", "attained", "p_value", "region"]

# The last node is only looked at: left of 1 the line is flat.
_START = np.concatenate([[0.0], ndtr(np.linspace(-5, 5, 41)), [1.0, 1.0]])
# Cells that no sum is needed for.
_NEGLIGIBLE = 1e-6
_PARTS = (8, 4)
_MOST_ROUNDS = 30
# Of the line around the error rates that are not excluded.
_POINTS, _HALVINGS = 48, 40
# Points around the best one, and how often they are moved closer.
_AROUND, _CLOSER = 17, 3


class PValue(NamedTuple):
    """A p-value, between a value that a law of the null attains and a proved upper bound."""

    lower: float
    upper: float


@final
@dataclass(frozen=True, slots=True)
class _Cells:
    """Intervals [a, b] of false positive rates.

    Attributes:
        a: left ends.
        b: right ends.
        low: a lower bound of f(b).
        high: an upper bound of f(b).
        slope: of a line through (b, low) that f is above, left of b.
    """

    a: Array
    b: Array
    low: Array
    high: Array
    slope: Array

    @staticmethod
    def between(nodes: Array, null: Null) -> "_Cells":
        """Return the cells between rows of nodes; the last of a row is only looked at."""
        low, high = (end.reshape(nodes.shape) for end in null.ends(nodes.ravel()))
        with np.errstate(divide="ignore", invalid="ignore"):
            slopes = (high[:, 2:] - low[:, 1:-1]) / (nodes[:, 2:] - nodes[:, 1:-1])
        slopes = np.minimum(np.nan_to_num(slopes, nan=0.0, posinf=0.0, neginf=0.0), 0.0)
        columns = nodes[:, :-2], nodes[:, 1:-1], low[:, 1:-1], high[:, 1:-1], slopes
        return _Cells(*(column.ravel() for column in columns))

    def kept(self, which: NDArray[np.bool_] | NDArray[np.intp]) -> "_Cells":
        """Return some of the cells."""
        return _Cells(
            self.a[which], self.b[which], self.low[which], self.high[which], self.slope[which]
        )

    def split(self, parts: int, null: Null) -> "_Cells":
        """Return the cells cut into equal parts."""
        steps = np.arange(parts + 2) / parts
        nodes = np.minimum(self.a[:, None] + (self.b - self.a)[:, None] * steps, 1.0)
        nodes[:, parts] = self.b
        found = _Cells.between(nodes, null)
        # The curve is above the line of the whole cell; so is each part's own, by this choice, and
        # the bound of the whole holds along it.
        whole = self.kept(np.repeat(np.arange(self.a.size), parts))
        line = whole.low + whole.slope * (found.b - whole.b)
        low, slope = np.maximum(found.low, line), np.minimum(found.slope, whole.slope)
        return replace(found, low=low, slope=slope)

    def ceiling(self, statistic: Statistic, at_most: Array) -> Array:
        """Bound P(S <= s) on each cell, along its line."""
        c, half = statistic.counts, (self.b - self.a) / 2
        middle = (self.a + self.b) / 2
        height = self.low - self.slope * half
        tail = statistic.tail(middle, np.clip(height, 0.0, 1.0))
        top = self.low - 2 * self.slope * half
        spread_x = np.minimum(self.a * (1 - self.a), self.b * (1 - self.b))
        spread_y = np.minimum(self.low * (1 - self.low), top * (1 - top))
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            bend = c.outside / spread_x + self.slope**2 * c.inside / spread_y
            bend = np.sqrt(2.0) * bend * np.minimum(0.5, np.sqrt(at_most))
            steep = np.abs(tail.along_x + self.slope * tail.along_y)
            found = tail.chance + steep * half * (1 + 1e-6) + bend * half**2 / 2
        usable = (spread_x > 0) & (spread_y > 0) & (top < 1) & (height < 1)
        return np.where(usable & np.isfinite(found), found, 1.0)


def p_value(statistic: Statistic, null: Null, level: float | None = None) -> PValue:
    """Return the p-value of the observed statistic, certified from above.

    Args:
        statistic: what was observed, with a rule and a weight that were fixed beforehand.
        null: the claim.
        level: stop as soon as the p-value is seen to exceed it; the upper end is then 1.

    Error: the bracket; at most 2e-4, and 1 % of the p-value where that is less.
    """
    cells = _Cells.between(_START[None, :], null)
    best, top = 1e-15, 0.0
    rough = statistic.bernstein(cells.a, cells.low)
    for rounds in range(_MOST_ROUNDS):
        bound = np.minimum(rough, 1.0)
        open_ = bound > max(_NEGLIGIBLE, best)
        if np.any(open_):
            bound[open_] = np.minimum(
                bound[open_], cells.kept(open_).ceiling(statistic, bound[open_])
            )
            largest = np.array([int(np.argmax(bound))])
            top_cell = cells.kept(largest)
            best = max(best, float(_floor(statistic, top_cell)))
        tolerance = max(1e-6, min(2e-4, 0.01 * best))
        open_ = bound > best + tolerance
        if np.any(open_):
            some = cells.kept(open_)
            bound[open_] = np.minimum(bound[open_], statistic.chance(some.a, some.low))
            open_ = bound > best + tolerance
        top = max(top, float(bound[~open_].max(initial=0.0)))
        if not np.any(open_):
            return PValue(best, min(1.0, max(best, top)))
        if level is not None and best > level:
            return PValue(best, 1.0)
        parts = _PARTS[min(rounds, 1)]
        rough = np.repeat(bound[open_], parts)
        cells = cells.kept(open_).split(parts, null)
    return PValue(best, min(1.0, max(best, top, float(rough.max()))))


def attained(statistic: Statistic, null: Null) -> float:
    """Return about the p-value, by a search that proves nothing: a law of the null has as much."""
    x: Array = _START[:-1]
    chances = statistic.chance(x, null.ends(x)[1])
    for _ in range(_CLOSER):
        best = int(np.argmax(chances))
        around = float(x[max(best - 1, 0)]), float(x[min(best + 1, x.size - 1)])
        x = np.linspace(*around, _AROUND)
        chances = statistic.chance(x, null.ends(x)[1])
    return float(np.max(chances))


def region(statistic: Statistic, level: float) -> ErrorRates:
    """Return the line below which P(S <= s) exceeds the level: x from 0, y down to 0."""
    none = np.zeros(1)
    last = float(_largest(lambda x: statistic.chance(x, none), none, level)[0])
    near = last * np.geomspace(1e-4, 0.5, _POINTS)
    # Close points where the line falls steeply, too.
    x = np.unique(np.concatenate([[0.0], near, last - near, [last]]))
    y = _largest(lambda y: statistic.chance(x, y), np.zeros(x.size), level)
    return ErrorRates(x, y)


def _largest(chance: Callable[[Array], Array], low: Array, level: float) -> Array:
    """Return the largest rate at which the chance, which falls, exceeds the level, from above."""
    high = np.ones(low.shape)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        above = chance(middle) > level
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return high


def _floor(statistic: Statistic, cell: _Cells) -> float:
    """Return about P at a point of the null, from below."""
    return float(statistic.chance(cell.b, cell.high)[0]) * (1 - 1e-7) - 3e-15
