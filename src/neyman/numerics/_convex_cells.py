"""A convex curve that does not increase, known by brackets at points: what lies between them.

On a cell between neighbouring points the curve is below its chord, and above the chords of the two
cells beside, extended; behind the last point nothing is known but that it does not increase. So
integrals and largest differences have brackets, with an error of second order in the width of the
cells, and of none where the curve is straight.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias, final

import numpy as np
import numpy.typing as npt

from neyman.numerics._interval import Array, Interval

__all__ = ["Ask", "Cells", "Ends", "area_under", "most_above"]

Ask: TypeAlias = Callable[[Array], Interval]
_MOST_POINTS, _ROUNDS = 3_000, 80
# Of what is found, and by itself: less is not worth another point.
_ENOUGH, _TINY, _AREA_ENOUGH = 1e-10, 1e-12, 1e-6
# A cell with right/left above this ratio is divided on a logarithmic scale.
_WIDE, _NEXT_TO_ZERO = 4.0, 1e-3
_LEAST_PLACE = 1e-300
# What rounding makes of a line's value, or of its quotient by at least 1, as a share of the largest
# value at the ends of its cell, which no number on the way exceeds: a slope, a product, a sum and a
# quotient are eight roundings, here sixteen.
_ROUNDING = 16 * 2.0**-53


class Ends(NamedTuple):
    """Bounds of the curve about each cell."""

    first: Interval
    second: Interval
    before: Array
    behind: Array


@final
@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Lines on cells, by the distance s from the left end of each.

    Above: `top` - `top_fall` s. Below: `start` - `fall` s up to `split`, then
    `end` + `rise` (`width` - s).
    """

    width: Array
    top: Array
    top_fall: Array
    start: Array
    fall: Array
    end: Array
    rise: Array
    split: Array

    @classmethod
    def between(cls, ends: Ends, width: Array, width_before: Array, width_behind: Array) -> "Cells":
        """Draw the lines.

        Args:
            ends: brackets at the ends of the cells, and upper bounds at the left end of the cell
                before, infinite where there is none, and the right end of the cell behind.
            width: of the cells.
            width_before: of the cell before.
            width_behind: of the cell behind.
        """
        (low, high), (next_low, next_high) = ends.first, ends.second
        steepest = (ends.before - low) / width_before
        rise = np.maximum(next_low - ends.behind, 0.0) / width_behind
        over = low - next_low - rise * width
        with np.errstate(divide="ignore", invalid="ignore"):
            crossing = np.minimum(over / (steepest - rise), width)
        split = np.where(over <= 0, 0.0, np.where(steepest > rise, crossing, width))
        known = np.isfinite(steepest)
        return cls(
            width,
            high,
            (high - next_high) / width,
            low,
            np.where(known, steepest, 0.0),
            next_low,
            rise,
            np.where(known, split, 0.0),
        )

    @classmethod
    def of(cls, at: Array, values: Interval) -> "Cells":
        """Draw the lines between neighbouring points."""
        low, high = values
        widths = np.diff(at)
        none, one = np.asarray([np.inf]), np.ones(1)
        ends = Ends(
            Interval(low[:-1], high[:-1]),
            Interval(low[1:], high[1:]),
            np.concatenate([none, high[:-2]]),
            np.concatenate([high[2:], none]),
        )
        return cls.between(
            ends, widths, np.concatenate([one, widths[:-1]]), np.concatenate([widths[1:], one])
        )

    @property
    def rounding(self) -> Array:
        """A bound of the rounding error of the lines."""
        return _ROUNDING * np.maximum(self.top, self.top - self.top_fall * self.width)

    def below(self) -> tuple[Array, Array, Array]:
        """Return the lower lines: the first at the split, the second at the split and the end."""
        rest = self.width - self.split
        return self.start - self.fall * self.split, self.end + self.rise * rest, self.end

    def areas(self) -> Interval:
        """Bracket the integral over each cell."""
        rest, split = self.width - self.split, self.split
        lower = split * (self.start - self.fall * split / 2) + rest * (
            self.end + self.rise * rest / 2
        )
        upper = self.width * (self.top - self.top_fall * self.width / 2)
        room = self.width * self.rounding
        return Interval(np.maximum(lower - room, 0.0), upper + room)


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Known:
    """A curve at increasing places."""

    ask: Ask
    at: Array
    lower: Array
    upper: Array

    @classmethod
    def first(cls, ask: Ask, at: Array) -> "_Known":
        values = ask(at)
        return cls(ask, at, values.lower, values.upper)

    def also(self, places: Array) -> "_Known":
        """Return it at more places, sorted and between the others."""
        new = self.ask(places)
        into = np.searchsorted(self.at, places)
        return _Known(
            self.ask,
            np.insert(self.at, into, places),
            np.insert(self.lower, into, new.lower),
            np.insert(self.upper, into, new.upper),
        )

    def cells(self) -> Cells:
        return Cells.of(self.at, Interval(self.lower, self.upper))

    def blur(self) -> Array:
        """Return how little is known of the ends of each cell."""
        width = self.upper - self.lower
        return np.maximum(width[1:], width[:-1])


def _middles(at: Array, chosen: npt.NDArray[np.bool_]) -> Array:
    """Return a place within each chosen cell that is worth dividing."""
    left, right = at[:-1][chosen], at[1:][chosen]
    wide = right > _WIDE * left
    inner = np.where(left > 0, np.sqrt(left) * np.sqrt(right), right * _NEXT_TO_ZERO)
    middle = np.where(wide, inner, left + (right - left) / 2)
    return middle[(middle > left) & (middle < right) & (right > _LEAST_PLACE)]


def area_under(ask: Ask, first: Array) -> Interval:
    """Bracket the integral of a convex curve that does not increase, over [0, 1].

    Args:
        ask: brackets of the curve.
        first: places to begin with, from 0 to 1, increasing.

    Error: relative 1e-6 to 1e-4, beyond that of the curve.
    """
    known = _Known.first(ask, first)
    areas = known.cells().areas()
    for _ in range(_ROUNDS):
        gap, least = areas.upper - areas.lower, float(np.sum(areas.lower))
        if float(np.sum(gap)) <= _AREA_ENOUGH * least or known.at.size > _MOST_POINTS:
            break
        blurred = gap <= 2 * known.blur() * np.diff(known.at)
        places = _middles(known.at, ~blurred & (gap > _AREA_ENOUGH * least / (2 * gap.size)))
        if not places.size:
            break
        known = known.also(places)
        areas = known.cells().areas()
    return areas.total()


def most_above(first: Ask, second: Ask, over: tuple[float, float], places: Array) -> Interval:
    """Bracket sup over z in [0, 1] of (f(z) - g(z)) / (a + b z), and at least 0.

    Args:
        first: brackets of f, convex and not increasing.
        second: of g, likewise.
        over: a and b, with a + b z at least 1.
        places: to begin with, from 0 to 1, increasing.

    Error: relative 1e-10 and absolute 1e-12, beyond that of the curves.
    """
    f, g = _Known.first(first, places), _Known.first(second, places)
    least, most = 0.0, np.inf
    for _ in range(_ROUNDS):
        k = int(np.argmax((f.lower - g.upper) / _scale(over, f.at)))
        apart = Interval.exactly(f.lower[k]) - g.upper[k]
        seen = apart / (Interval.exactly(f.at[k]) * over[1] + over[0])
        least = max(least, float(seen.lower))
        bounds = _bounds(f, g, over)
        most = max(float(np.max(bounds)), least)
        worth = max(_ENOUGH * least, _TINY) + 2 * (f.blur() + g.blur())
        new = _middles(f.at, bounds > least + worth)
        if not new.size or f.at.size > _MOST_POINTS:
            break
        f, g = f.also(new), g.also(new)
    return Interval(np.asarray(least), np.asarray(most))


def _scale(over: tuple[float, float], z: Array) -> Array:
    return over[0] + over[1] * z


def _bounds(f: _Known, g: _Known, over: tuple[float, float]) -> Array:
    """Bound the quotient on each cell: it is monotone where both lines are straight."""
    above, below = f.cells(), g.cells()
    left, right = f.at[:-1], f.at[1:]
    inner = left + below.split
    at_split = above.top - above.top_fall * below.split
    first, second, end = below.below()
    ends = (
        (above.top - below.start) / _scale(over, left),
        (at_split - first) / _scale(over, inner),
        (at_split - second) / _scale(over, inner),
        (above.top - above.top_fall * above.width - end) / _scale(over, right),
    )
    return np.max(ends, axis=0) + above.rounding + below.rounding
