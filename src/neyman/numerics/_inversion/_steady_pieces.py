"""Atoms of several laws together, each followed by at most two densities, composed exactly.

Copies of a law with two atoms are binomial; two boxes e^(-(l + b)/2)/4 on [-b, b] are put together
by Gauss's rule between the kinks.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np

from neyman.numerics._disc import Disc
from neyman.numerics._distributions._binomial import log_binomial_mass
from neyman.numerics._interval import Array, Interval
from neyman.numerics._laws._laplace_law import LaplaceDensity
from neyman.numerics._laws._split import Above, Split
from neyman.numerics._legendre import legendre
from neyman.numerics._primitives import exp, log, log1p, logistic

__all__ = ["WIDEST", "Factor", "Piece", "SteadyTail", "composed_pieces"]

_NODES, _WEIGHTS = legendre(32)
# Boxes wider than it are not put together: 32 nodes would not do.
WIDEST = 8.0
_MOST_POINTS = 2**18
# Weights below e^-45 of the largest are left out, and their sum is bounded.
_WINDOW = 45.0
# The errors of a split: relative of losses and absolute of log masses; relative of densities.
_ATOM, _DENSITY = 2.0**-48, 2.0**-46


@final
@dataclass(frozen=True, slots=True)
class Factor:
    """One law's split, how many copies, the tilted mass of its atoms and V, over e^K(c)."""

    split: Split
    count: int
    atoms: float
    variation: float


@final
@dataclass(frozen=True, slots=True)
class Piece:
    """Atoms a with logarithmic P-masses, each followed by the same few densities."""

    log_mass: Interval
    place: Interval
    densities: tuple[LaplaceDensity, ...]

    def reversed(self) -> "Piece":
        """P and Q exchanged, L -> -L."""
        densities = tuple(d.reversed() for d in self.densities)
        return Piece(self.log_mass + self.place, -self.place, densities)

    def above(self, x: Array) -> Above:
        """Return the masses above x, and the excess over it, of the sum of the densities."""
        if not self.densities:
            over = x < 0
            whole = np.where(over, 1.0, 0.0)
            return Above(whole, whole, np.where(over, -np.expm1(np.minimum(x, 0.0)), 0.0))
        if len(self.densities) == 1:
            return self.densities[0].above(x)
        first, second = (d.box() or 0.0 for d in self.densities)
        return _two_boxes(first, second, x)


@final
@dataclass(frozen=True, slots=True)
class SteadyTail:
    """A functional of the part, over e^(base - (c - a) t)."""

    pieces: tuple[Piece, ...]
    double: bool
    shift: float
    c: float
    base: Interval
    lost: Interval  # a bound of the rest

    def scaled(self, t: Array) -> Interval:
        """Return the functional at thresholds t, scaled."""
        total = Interval(np.zeros(t.shape), np.broadcast_to(self.lost.upper, t.shape))
        at = Interval.exactly(t[:, None])
        for piece in self.pieces:
            x = at - piece.place
            ends = Interval.within(self._of(piece, np.stack((x.upper, x.lower))), _DENSITY)
            value = Interval(ends.lower[0], ends.upper[1])
            log = piece.log_mass + piece.place if self.shift else piece.log_mass
            lift = (Interval.exactly(self.c) - self.shift) * at
            terms = Disc.over(exp(log + lift - self.base) * value).sum()
            total = total + Interval(np.maximum(terms.lower, 0.0), terms.upper)
        return total

    def middle(self, t: Array) -> Array:
        """Return about the functional, scaled."""
        total = np.zeros(t.shape)
        lift = (self.c - self.shift) * t[:, None] - self.base.upper
        for piece in self.pieces:
            place = piece.place.upper
            log = piece.log_mass.upper + self.shift * place + lift
            value = self._of(piece, t[:, None] - place)
            total = total + np.sum(np.exp(np.minimum(log, 700.0)) * value, axis=1)
        return total

    def _of(self, piece: Piece, x: Array) -> Array:
        """Return what the densities have above x, by the functional; it falls."""
        above = piece.above(x)
        return above.excess if self.double else above.q if self.shift else above.p


def composed_pieces(
    factors: tuple[Factor, ...], order: int, c: float, base: float
) -> tuple[tuple[Piece, ...], float] | None:
    """Compose the terms with at most `order` densities; None where that takes too many points.

    Args:
        factors: the laws.
        order: 1 or 2.
        c: the mass left out is measured under the tilt e^(cL) ...
        base: ... over e^base.

    Returns:
        atoms with their densities, and a bound of the mass left out.
    """
    pieces: list[Piece] = []
    # The grids leave out less than e^-80 of the whole.
    lost = math.exp(-80)
    for removed, densities, ways in _terms(factors, order):
        grid = _grid(factors, removed, c)
        if grid is None:
            return None
        log_mass, place = grid
        log_mass = log_mass + log(Fraction(ways))
        lift = sum(_log_most(d, factors, c) for d in densities)
        tilted = (log_mass + place * c + lift - base).upper
        kept = tilted > float(np.max(tilted, initial=-math.inf)) - _WINDOW
        lost += float(np.sum(np.exp(tilted[~kept]))) * 4
        pieces.append(Piece(log_mass.at(kept), place.at(kept), densities))
    return tuple(pieces), lost


def _terms(
    factors: tuple[Factor, ...], order: int
) -> Iterator[tuple[tuple[int, ...], tuple[LaplaceDensity, ...], int]]:
    """Yield the copies whose density is taken, those densities, and the number of ways."""
    yield (), (), 1
    some = [
        (i, f.count, f.split.density) for i, f in enumerate(factors) if f.split.density is not None
    ]
    for i, count, density in some:
        yield (i,), (density,), count
    if order < 2:
        return
    for at, (i, count, density) in enumerate(some):
        if count > 1:
            yield (i, i), (density, density), count * (count - 1) // 2
        for j, other, second in some[at + 1 :]:
            yield (i, j), (density, second), count * other


def _log_most(density: LaplaceDensity, factors: tuple[Factor, ...], c: float) -> float:
    """Bound log D(c) by the mass and the largest tilt."""
    losses = next(f.split.loss for f in factors if f.split.density is density)
    return float(np.max(c * losses))


def _grid(
    factors: tuple[Factor, ...], removed: tuple[int, ...], c: float
) -> tuple[Interval, Interval] | None:
    """Return the atoms of all copies but the removed: log masses and places."""
    log_mass, place = Interval.exactly(np.zeros(1)), Interval.exactly(np.zeros(1))
    for i, factor in enumerate(factors):
        count = factor.count - removed.count(i)
        if count == 0:
            continue
        one = _copies(factor.split, count)
        if one is None:
            return None
        tilt = one[0].middle + c * one[1].middle
        keep = tilt > float(np.max(tilt)) - 2 * _WINDOW
        if log_mass.lower.size * int(np.sum(keep)) > _MOST_POINTS:
            return None
        log_mass = _outer_sum(log_mass, one[0].at(keep))
        place = _outer_sum(place, one[1].at(keep))
    return log_mass, place


def _outer_sum(first: Interval, second: Interval) -> Interval:
    found = Interval(first.lower[:, None], first.upper[:, None]) + second
    return Interval(found.lower.ravel(), found.upper.ravel())


def _copies(split: Split, count: int) -> tuple[Interval, Interval] | None:
    """Return the atoms of `count` copies; None if there are too many."""
    loss, log_mass = Interval.within(split.loss, _ATOM), Interval.within(split.log_mass, 0.0, _ATOM)
    if count == 1:
        return log_mass, loss
    if split.loss.size != 2 or count >= _MOST_POINTS:
        return None
    if split.density is None:
        total = log(exp(log_mass).total())
    else:
        # The atoms' mass by what the density leaves, which keeps its digits.
        left_out = split.density.above(np.asarray(-1e3)).p
        total = log1p(-Interval.within(left_out, _DENSITY))
    first, second = split.log_mass.tolist()
    gap = first - second
    j, odds = np.arange(count + 1.0), Interval.within(np.asarray(gap), 0.0, 2 * _ATOM)
    masses = log_binomial_mass(j, count, logistic(-odds), logistic(odds))
    low, high = loss.at(np.asarray([0])), loss.at(np.asarray([1]))
    return masses + total * count, low * count + (high - low) * j


def _two_boxes(first: float, second: float, x: Array) -> Above:
    """Return the masses above x, and the excess, of the sum of two densities e^(-(l + b)/2)/4.

    By Gauss's rule on both sides of the kinks: integrands are sums of e^(kl), |k| <= 3/2, so that
    its error is below 2^-60 of the whole mass for b <= 8.
    """
    mass = math.expm1(-first) * math.expm1(-second) / 4
    low = x <= -(first + second)
    inside = ~low & (x < first + second)
    p = np.where(low, mass, 0.0)
    q, over = p.copy(), np.where(low, -mass * np.expm1(np.minimum(x, 0.0)), 0.0)
    if np.any(inside):
        here = x[inside][:, None]
        start = np.clip(here - second, -first, first)
        stop = np.clip(here + second, -first, first)
        sums = np.zeros((3, here.size))
        for left, right in ((start, stop), (stop, np.full_like(stop, first))):
            half = (right - left) / 2
            at = (left + right) / 2 + half * _NODES
            weight = half * _WEIGHTS * np.exp(-(at + first) / 2) / 4
            y = np.clip(here - at, -second, second)
            part = -np.expm1(-(second - y) / 2)
            whole = -math.expm1(-second) / 2
            below = here - at < -second
            excess = np.where(below, -whole * np.expm1(np.minimum(here - at, 0.0)), part * part / 2)
            lifted = weight * np.exp(at)
            sums += np.stack(
                [
                    np.sum(weight * np.exp(-(second + y) / 2) * part / 2, axis=1),
                    np.sum(lifted * part / 2, axis=1),
                    np.sum(lifted * excess, axis=1),
                ]
            )
        p[inside], q[inside], over[inside] = sums
    return Above(p, q, over)
