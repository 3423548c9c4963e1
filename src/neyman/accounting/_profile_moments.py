"""Moments of a privacy loss, computed only from the profiles of its two directions.

For g with g' e^-l -> 0 at infinity, L = log dQ/dP under P, delta and delta' the profiles both ways:

    E g(L) = g(0) + ∫_0^∞ (g'' - g')(t) e^-t delta(t) dt + ∫_0^∞ (g'' - g')(-t) delta'(t) dt,

by Taylor's formula for x -> g(log x) at 1. The formula also accounts for the part of delta that
remains at infinity. A profile is convex in e^t, so chords bound it from above, and chords of the
neighbouring cells bound it from below. The weights are polynomials with known integrals over a
cell.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias, final

import numpy as np
import numpy.typing as npt

from neyman.numerics import ULP, Array, Interval, exp
from neyman.numerics._convex_cells import Cells, Ends

__all__ = ["Side", "Sides", "Weights", "first_places", "tail_of"]

# From the left ends of cells to the coefficients of 1, t, t^2 there: (moments, 3, cells).
Weights: TypeAlias = Callable[[Array], Array]
_MOST_POINTS, _ROUNDS = 3_000, 60
_ENOUGH, _WIDEST, _NARROWEST = 1e-7, 32.0, 1e-13
_TERMS = 24


def first_places(scale: float, stop: float) -> Array:
    """Return the first places, from 0 to `stop`, fine below `scale`."""
    fine = np.geomspace(min(scale, stop) * 1e-3, stop, 48)
    wide = np.arange(_WIDEST, stop, _WIDEST)
    return np.unique(np.concatenate([[0.0], fine, wide]))


@final
@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """A profile at places t >= 0, and the factor of its weights.

    Attributes:
        ask: a function that returns brackets of the profile.
        rising: whether the integral is that of w(t) delta(t), instead of w(t) e^-t delta(t).
        at: places, increasing from 0.
        lower: lower bounds of the profile there.
        upper: upper bounds of the profile there.
    """

    ask: Callable[[Array], Interval]
    rising: bool
    at: Array
    lower: Array
    upper: Array

    @classmethod
    def first(cls, ask: Callable[[Array], Interval], at: Array, *, rising: bool) -> "Side":
        """Return the profile at the first places."""
        values = ask(at)
        return cls(ask, rising, at, values.lower, values.upper)

    def also(self, places: Array) -> "Side":
        """Return this with more places."""
        places = np.setdiff1d(places, self.at)
        if not places.size:
            return self
        new, into = self.ask(places), np.searchsorted(self.at, places)
        return Side(
            self.ask,
            self.rising,
            np.insert(self.at, into, places),
            np.insert(self.lower, into, new.lower),
            np.insert(self.upper, into, new.upper),
        )

    def within(self, places: list[float]) -> "Side":
        """Return this with those of the places that are inside the range."""
        return self.also(np.asarray([x for x in places if 0 < x < self.at[-1]]))

    def divided(self, chosen: npt.NDArray[np.bool_]) -> "Side":
        """Return this with the chosen cells halved, as far as doubles allow."""
        left, right = self.at[:-1], self.at[1:]
        wide = right - left > _NARROWEST * (right + 1e-3 * self.at[1])
        return self.also((left + (right - left) / 2)[chosen & wide])

    def _cells(self) -> Cells:
        """Return lines around the profile on the cell from t, by y = e^s - 1."""
        gap = np.diff(self.at)
        width, one, none = np.expm1(gap), np.ones(1), np.asarray([np.inf])
        ends = Ends(
            Interval(self.lower[:-1], self.upper[:-1]),
            Interval(self.lower[1:], self.upper[1:]),
            np.concatenate([none, self.upper[:-2]]),
            np.concatenate([self.upper[2:], none]),
        )
        before = np.concatenate([one, -np.expm1(-gap[:-1]) * (1 - 2 * ULP)])
        behind = np.concatenate([np.exp(gap[:-1]) * width[1:] * (1 + 4 * ULP), one])
        return Cells.between(ends, width, before, behind)

    def integrals(self, weights: Weights) -> tuple[Array, Array, Array]:
        """Return lower and upper bounds of the integrals over each cell, and their uncertainty.

        Args:
            weights: functions of one sign on each cell.

        Returns:
            Three arrays with one row for each moment and one column for each cell.
        """
        cells, left, gap = self._cells(), self.at[:-1], np.diff(self.at)
        a, b, c = np.moveaxis(weights(left), 1, 0)
        local = a + left * (b + left * c), b + 2 * c * left, c
        size = np.abs(a) + left * (np.abs(b) + left * np.abs(c)), np.abs(b) + 2 * left * np.abs(c)
        size = *size, np.abs(c)
        factor = 1.0 if self.rising else np.exp(-left)
        whole = _powers(gap, self.rising)
        part = _powers(np.minimum(np.log1p(cells.split), gap), self.rising)
        rest = whole[0] - part[0], whole[1] - part[1]
        above = _product(local, cells.top, -cells.top_fall, whole)
        below = _product(local, cells.start, -cells.fall, part)
        far = cells.end + cells.rise * cells.width
        below = below + _product(local, far, -cells.rise, rest)
        steep = np.maximum(np.abs(cells.top_fall), cells.rise)
        room = 16 * ULP * _product(size, np.maximum(cells.top, far), steep, whole)
        room = room + 16 * ULP * _product(size, cells.start, cells.fall, part)
        blur = (self.upper - self.lower)[:-1] + (self.upper - self.lower)[1:]
        blurred = _product(size, blur, 0 * blur, whole) + room
        lower, upper = np.minimum(above, below) - room, np.maximum(above, below) + room
        return lower * factor, upper * factor, blurred * factor

    def beyond(self, weights: Weights) -> Array:
        """Return a bound of e^-t w(t) delta(t) beyond the last place, where delta is constant."""
        height = exp(-self.at[-1]) * self.upper[-1]
        return (height * tail_of(weights, float(self.at[-1]), 1.0)).upper


def tail_of(weights: Weights, end: float, rate: float) -> Array:
    """Return a bound of the integral of |w(end + s)| e^(-rate s) over s >= 0, for each moment."""
    a, b, c = map(Interval.exactly, np.abs(weights(np.asarray([end]))[:, :, 0]).T)
    value, slope, bend = a + (b + c * end) * end, b + c * (2 * end), c * 2
    return ((value + (slope + bend / rate) / rate) / rate).upper


@final
@dataclass(frozen=True, slots=True, eq=False)
class Sides:
    """Both directions: delta with e^-t, and delta of the other direction."""

    right: Side
    left: Side

    def moments(
        self, constants: Array, right: Weights, left: Weights, beyond: Array
    ) -> "tuple[Sides, Interval]":
        """Return brackets of constants + the two integrals, and the places that were needed.

        Args:
            constants: g(0) of each moment.
            right: g'' - g' at t, of one sign on each cell.
            left: g'' - g' at -t, likewise.
            beyond: bounds of the part beyond the last place on the left.

        Error: 1e-7 relative, and more if the profile is expensive or not known precisely.
        """
        sides, tail = self, self.right.beyond(right) + beyond
        lower, upper, scale = constants, constants, constants
        for _ in range(_ROUNDS):
            found = sides.right.integrals(right), sides.left.integrals(left)
            lower = constants + sum(part[0].sum(axis=1) for part in found) - tail
            upper = constants + sum(part[1].sum(axis=1) for part in found) + tail
            scale = np.maximum(np.abs(lower), np.abs(upper))
            count = sides.right.at.size + sides.left.at.size
            if np.all(upper - lower <= _ENOUGH * scale) or count > _MOST_POINTS:
                break
            worth = (_ENOUGH / (4 * count) * scale)[:, None]
            chosen = [np.any(p[1] - p[0] > np.maximum(worth, 2 * p[2]), axis=0) for p in found]
            new = Sides(sides.right.divided(chosen[0]), sides.left.divided(chosen[1]))
            if new.right.at.size + new.left.at.size == count:
                break
            sides = new
        room = ULP * (np.abs(constants) + scale) * 4
        return sides, Interval(lower - room, upper + room)


def _powers(reach: Array, rising: bool) -> tuple[Array, Array]:
    """Return the integrals of s^j k(s) and of s^j (e^s - 1) k(s) over [0, reach], j = 0, 1, 2.

    k is 1 if the integral is rising, and e^-s otherwise.
    """
    j, sign = np.arange(3)[:, None], 1.0 if rising else -1.0
    small = np.minimum(reach, 1.0)
    straight = reach ** (j + 1) / (j + 1)
    # The integral of s^j (e^(sign s) - 1): a series up to 1, by parts beyond.
    term, bent = small ** (j + 1), np.zeros((3, reach.size))
    for n in range(1, _TERMS):
        term = term * (sign * small / n)
        bent = bent + term / (n + j + 1)
    rows = [sign * np.expm1(sign * reach)]
    for k in (1, 2):
        rows.append(sign * (reach**k * np.exp(sign * reach) - k * rows[-1]))
    bent = np.where(reach > 1, np.stack(rows) - straight, bent)
    return (straight, bent) if rising else (straight + bent, -bent)


def _product(
    local: tuple[Array, Array, Array], value: Array, slope: Array, over: tuple[Array, Array]
) -> Array:
    """Return the integrals of (value + slope (e^s - 1)) times a quadratic."""
    return sum(
        (local[k] * (value * over[0][k] + slope * over[1][k]) for k in range(3)),
        start=np.zeros(()),
    )
