"""Atoms of several laws together, each followed by at most two densities, composed exactly.

Copies of a law with two atoms are binomial; two boxes e^(-(l + b)/2)/4 on [-b, b] are put together
by Gauss's rule between the kinks.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

import numpy as np

from neyman.numerics._bracket import ULP, Array, Bracket
from neyman.numerics._distributions._binomial import log_binomial_mass
from neyman.numerics._interval import Interval
from neyman.numerics._laws._split import Above, Density, Split
from neyman.numerics._legendre import legendre
from neyman.numerics._primitives import logistic

__all__ = ["WIDEST", "Factor", "Piece", "SteadyTail", "composed_pieces"]

_NODES, _WEIGHTS = legendre(32)
# Boxes wider than it are not put together: 32 nodes would not do.
WIDEST = 8.0
_MOST_POINTS = 2**18
# What lies e^-45 below the largest weight is left out, and counted.
_WINDOW = 45.0


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

    log_mass: Array
    place: Array
    error: Array
    densities: tuple[Density, ...]

    def reversed(self) -> "Piece":
        """P and Q exchanged, L -> -L."""
        densities = tuple(d.reversed() for d in self.densities)
        return Piece(self.log_mass + self.place, -self.place, self.error, densities)

    def above(self, x: Array) -> Above:
        """Return what the densities together have above x."""
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
    """A functional of the part, over e^(K(c) - (c - a) t)."""

    pieces: tuple[Piece, ...]
    double: bool
    shift: float
    c: float
    base: float
    lost: float  # a bound of what was left out

    def scaled(self, t: Array) -> Bracket:
        """Bracket the functional at thresholds t, scaled."""
        lower, upper = np.zeros(t.shape), np.full(t.shape, self.lost)
        for piece in self.pieces:
            far = float(np.max(np.abs(piece.place), initial=0.0))
            pad = 4 * ULP * (np.abs(t) + far)
            lower = lower + self._one(piece, t + pad, -1)
            upper = upper + self._one(piece, t - pad, 1)
        return Bracket(lower, upper)

    def middle(self, t: Array) -> Array:
        """Return about the functional, scaled."""
        total = np.zeros(t.shape)
        for piece in self.pieces:
            total = total + self._one(piece, t, 0)
        return total

    def _one(self, piece: Piece, t: Array, side: int) -> Array:
        place = piece.place
        x = t[:, None] - place
        above = piece.above(x)
        value = above.excess if self.double else above.q if self.shift else above.p
        log = piece.log_mass - self.base
        log = log + place if self.double or self.shift else log
        lift = (self.c - self.shift) * t[:, None]
        size = np.abs(log) + np.abs(lift) + np.abs(place) + abs(self.base)
        wrong = side * (piece.error + ULP * (20 + size))
        return np.sum(np.exp(np.minimum(log + lift + wrong, 700.0)) * value, axis=1)


def composed_pieces(
    factors: tuple[Factor, ...], order: int, c: float, base: float
) -> tuple[tuple[Piece, ...], float] | None:
    """Compose the terms with at most `order` densities; None where that takes too many points.

    Args:
        factors: the laws.
        order: 1 or 2.
        c: what is left out is measured under the tilt e^(cL) ...
        base: ... over e^base.

    Returns:
        atoms with their densities, and a bound of what is left out.
    """
    pieces: list[Piece] = []
    # The grids leave out less than e^-80 of the whole.
    lost = math.exp(-80)
    for removed, densities, log_ways in _terms(factors, order):
        grid = _grid(factors, removed, c)
        if grid is None:
            return None
        log_mass, place, error = grid
        lift = sum(_log_most(d, factors, c) for d in densities)
        tilted = log_mass + log_ways + c * place + lift - base
        kept = tilted > float(np.max(tilted, initial=-math.inf)) - _WINDOW
        lost += float(np.sum(np.exp(tilted[~kept]))) * 4
        pieces.append(Piece((log_mass + log_ways)[kept], place[kept], error[kept], densities))
    return tuple(pieces), lost


def _terms(
    factors: tuple[Factor, ...], order: int
) -> Iterator[tuple[tuple[int, ...], tuple[Density, ...], float]]:
    """Yield the copies whose density is taken, those densities, and log of the ways."""
    yield (), (), 0.0
    some = [
        (i, f.count, f.split.density) for i, f in enumerate(factors) if f.split.density is not None
    ]
    for i, count, density in some:
        yield (i,), (density,), math.log(count)
    if order < 2:
        return
    for at, (i, count, density) in enumerate(some):
        if count > 1:
            yield (i, i), (density, density), math.log(count * (count - 1) / 2)
        for j, other, second in some[at + 1 :]:
            yield (i, j), (density, second), math.log(count * other)


def _log_most(density: Density, factors: tuple[Factor, ...], c: float) -> float:
    """Bound log D(c) by the mass and the largest tilt."""
    losses = next(f.split.loss for f in factors if f.split.density is density)
    return float(np.max(c * losses))


def _grid(
    factors: tuple[Factor, ...], removed: tuple[int, ...], c: float
) -> tuple[Array, Array, Array] | None:
    """Return the atoms of all copies but the removed: log masses, places, errors of the logs."""
    log, place, error = np.zeros(1), np.zeros(1), np.zeros(1)
    for i, factor in enumerate(factors):
        count = factor.count - removed.count(i)
        if count == 0:
            continue
        one = _copies(factor.split, count)
        if one is None:
            return None
        tilt = one[0] + c * one[1]
        keep = tilt > float(np.max(tilt)) - 2 * _WINDOW
        if log.size * int(np.sum(keep)) > _MOST_POINTS:
            return None
        log = np.add.outer(log, one[0][keep]).ravel()
        place = np.add.outer(place, one[1][keep]).ravel()
        error = np.add.outer(error, one[2][keep]).ravel()
    return log, place, error


def _copies(split: Split, count: int) -> tuple[Array, Array, Array] | None:
    """Return the atoms of so many copies."""
    if count == 1:
        return split.log_mass, split.loss, np.full(split.loss.shape, 4 * ULP)
    if split.loss.size != 2 or count >= _MOST_POINTS:
        return None
    density = split.density
    first, second = split.log_mass.tolist()
    total = split.log_total
    if density is not None:
        # The atoms' mass by what the density leaves, which keeps its digits.
        total = math.log1p(-float(density.above(np.asarray([-1e3])).p[0]))
    gap = first - second
    j, odds = np.arange(count + 1.0), Interval.within(np.asarray(gap), 0.0, 2.0**-50)
    masses = log_binomial_mass(j, count, logistic(-odds), logistic(odds))
    log, error = masses.middle, masses.upper - masses.lower
    low, high = split.loss.tolist()
    return log + count * total, count * low + j * (high - low), error + ULP * abs(count * total)


def _two_boxes(first: float, second: float, x: Array) -> Above:
    """What two densities e^(-(l + b)/2)/4 on [-b, b] have above x together.

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
