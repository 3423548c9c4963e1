"""The conjugate of an increasing concave function that is known by brackets at points.

    sup over x of h(x) - s x,  s >= 0

Any point bounds it from below. From above: a chord of a concave function, extended beyond its two
points, lies above it. So on each cell between neighbouring points the function is below the chord
of the cell before and below the chord of the cell behind, and the crossing of the two is a bound.

*A few s*: the cells next to the largest value are divided again; the others keep their bounds,
and parts have at most the bound of the whole. *Many s*: from a table. Where a chord's slope is at
most s, all x beyond lose to its end, and where it is at least s, all x before; so only the cells
between two such chords matter.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np
import numpy.typing as npt

from neyman.numerics._interval import Array, Interval, quiet

__all__ = ["Concave"]

# Points put between the neighbours of the largest one, an even number, so that none is met twice.
_POINTS = 12
_LEVELS = 6
_ROWS = 256
# From this many slopes on, one table of all of them is cheaper.
_MANY = 512
# Cells on either side of the chosen one.
_ASIDE = 4


@final
@dataclass(frozen=True, slots=True)
class Concave:
    """A function h that is concave and increasing in x = x(u).

    Attributes:
        height: brackets of h at codes u, any shape.
        place: brackets of x(u) >= 0, increasing in u.
        few: increasing codes to begin with; the first and the last are the ends of the domain.
        many: codes of the table.
    """

    height: Callable[[Array], Interval]
    place: Callable[[Array], Interval]
    few: Array
    many: Array

    def conjugate(self, slope: Interval) -> Interval:
        """Bracket sup h(x) - s x, one dimension of s >= 0.

        Error: the width of the brackets of h, and of second order in the last spacing, about 1e-5
            in u for the codes that are 1/2 apart in `few` and 1/400 in `many`.
        """
        lower, upper = np.empty(slope.lower.shape), np.empty(slope.lower.shape)
        open_ = np.arange(lower.size)
        if lower.size > _MANY:
            places, sure = self._tabled(slope)
            heights, x = self.height(self.many), self.place(self.many)
            for rows in _chunks(np.flatnonzero(sure), 8 * _ROWS):
                k, part = places[rows], _columns(slope.at(rows))
                points = self.many[k], heights.at(k) - part * x.at(k)
                lower[rows], upper[rows] = self._divided(points, part, _LEVELS // 2)
            open_ = np.flatnonzero(~sure)
        for rows in _chunks(open_, _ROWS):
            part = _columns(slope.at(rows))
            points = self.few[None, :], self._value(self.few[None, :], part)
            lower[rows], upper[rows] = self._divided(points, part, _LEVELS)
        return Interval(lower, upper)

    def _value(self, u: Array, slope: Interval) -> Interval:
        return self.height(u) - slope * self.place(u)

    # -- a few ----------------------------------------------------------------------------------

    def _divided(
        self, points: tuple[Array, Interval], slope: Interval, levels: int
    ) -> tuple[Array, Array]:
        u, low, high = np.broadcast_arrays(points[0], *points[1])
        edge, best, most = 0, np.max(low, axis=1), np.full(low.shape[0], -np.inf)
        known = np.full((low.shape[0], 1), np.inf)
        for level in range(levels + 1):
            bounds, share = _cells(self.place(u), low, high)
            bounds = np.minimum(bounds, known)
            core = np.ones(bounds.shape, dtype=bool)
            core[:, :edge] = core[:, bounds.shape[1] - edge :] = False
            at = np.clip(np.argmax(low + high, axis=1), 1 + edge, u.shape[1] - 2 - edge)[:, None]
            chosen = np.concatenate([at - 1, at], axis=1)
            if level < levels:
                np.put_along_axis(core, chosen, False, axis=1)
            most = np.maximum(most, np.max(np.where(core, bounds, -np.inf), axis=1))
            if level == levels:
                # Where the chords cross: at a kink that is the place of the largest value.
                top = np.argmax(np.where(core, bounds, -np.inf), axis=1)[:, None]
                left, right = (np.take_along_axis(u, top + k, axis=1) for k in (0, 1))
                kink = left + (right - left) * np.take_along_axis(share, top, axis=1)
                best = np.maximum(best, self._value(kink, slope).lower[:, 0])
                break
            known = np.max(np.take_along_axis(bounds, chosen, axis=1), axis=1, keepdims=True)
            u, low, high = self._between(at, (u, low, high), slope)
            best, edge = np.maximum(best, np.max(low, axis=1)), 1
        return best, np.maximum(most, best)

    def _between(
        self, at: npt.NDArray[np.intp], points: tuple[Array, Array, Array], slope: Interval
    ) -> tuple[Array, Array, Array]:
        """Return the points between the neighbours of the largest, with two on either side."""
        last = points[0].shape[1] - 1
        left = np.concatenate([np.maximum(at - 2, 0), at - 1], axis=1)
        right = np.concatenate([at + 1, np.minimum(at + 2, last)], axis=1)
        before = [np.take_along_axis(p, left, axis=1) for p in points]
        after = [np.take_along_axis(p, right, axis=1) for p in points]
        share = np.arange(1, _POINTS + 1) / (_POINTS + 1)
        inner = before[0][:, 1:] + (after[0][:, :1] - before[0][:, 1:]) * share
        new = (inner, *self._value(inner, slope))
        u, low, high = (
            np.concatenate(parts, axis=1) for parts in zip(before, new, after, strict=True)
        )
        return u, low, high

    # -- many -----------------------------------------------------------------------------------

    @quiet
    def _tabled(self, slope: Interval) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.bool_]]:
        """Return the points about the largest value, and where all beyond are proved to lose."""
        x, values = self.place(self.many), self.height(self.many)
        after, before = slice(1, None), slice(-1)
        # The steepest and the least steep chords; they rise.
        rise = (values.at(after) - values.at(before)) / (x.at(after) - x.at(before))
        most, least = rise.upper, np.maximum(rise.lower, 0.0)
        steep = np.minimum.accumulate(np.where(np.isfinite(most), (most + least) / 2, np.inf))
        at, last = np.searchsorted(-steep, -slope.lower), self.many.size - 1
        left, right = np.maximum(at - _ASIDE, 0), np.minimum(at + _ASIDE, last)
        sure = (left == 0) | (least[np.minimum(left, last - 1)] >= slope.upper)
        sure &= (right == last) | (most[np.maximum(right - 1, 0)] <= slope.lower)
        return np.clip(at[:, None] + np.arange(-_ASIDE, _ASIDE + 1), 0, last), sure


def _chunks(rows: npt.NDArray[np.intp], size: int) -> list[npt.NDArray[np.intp]]:
    return [rows[first : first + size] for first in range(0, rows.size, size)]


def _columns(x: Interval) -> Interval:
    return Interval(x.lower[:, None], x.upper[:, None])


@quiet
def _cells(x: Interval, low: Array, high: Array) -> tuple[Array, Array]:
    """Return an upper bound on each cell, and the share of it that is left of the crossing.

    Slopes are outward, and there are none where points coincide.
    """
    before, after = (..., slice(-1)), (..., slice(1, None))
    gap = Interval(x.lower[after], x.upper[after]) - Interval(x.lower[before], x.upper[before])
    rise = (Interval.exactly(high[after]) - low[before]) / gap
    fall = (Interval.exactly(high[before]) - low[after]) / gap
    width = np.maximum(gap.upper, 0.0)
    none = np.full((*low.shape[:-1], 1), np.inf)
    up = np.maximum(np.concatenate([none, rise.upper[before]], axis=-1), 0.0)
    down = np.maximum(np.concatenate([fall.upper[after], none], axis=-1), 0.0)
    first, second = high[before], high[after]
    # The chord of the cell before, from the left end, and that of the cell behind, from the right.
    left, right = Interval.exactly(up) * width + first, Interval.exactly(down) * width + second
    far = ((right - first) / (Interval.exactly(up) + down)).clip(0.0, np.inf).smaller(width)
    crossing = (Interval.exactly(up) * far + first).upper
    # Where one of the chords is missing, or falls away from the cell at once.
    bound = np.where(np.isfinite(up) & np.isfinite(down), crossing, np.inf)
    bound = np.fmin(bound, np.minimum(left.upper, right.upper))
    bound = np.where(up == 0, np.fmin(bound, first), bound)
    bound = np.where(down == 0, np.fmin(bound, second), bound)
    bound = np.where(np.isnan(bound), np.inf, bound)
    bound = np.where(width > 0, bound, np.maximum(first, second))
    return bound, np.clip(np.nan_to_num(far.middle / width, nan=0.5), 0.0, 1.0)
