"""The part of a composition that a contour cannot invert, for its transform does not decay.

Where every factor has atoms, e^K(s) = Π (A_i + D_i)^(n_i), A_i of the atoms and D_i of the density.
The terms with at most m densities are left out of the contour and composed exactly, by binomials
and closed forms: with x_i = D_i e^(-K_i) and y_i = x_i/(1 - x_i) they are the share

    Π (1 - x_i)^(n_i) (1 + Σ n_i y_i + ((Σ n_i y_i)² - Σ n_i y_i²)/2)

of e^K (without its last term for m = 1), and what remains is at most, with a_i and V_i/u bounds of
|A_i| and |D_i| over e^K_i(c), and p = Σ n_i V_i / (a_i u),

    Π a_i^(n_i) e^p p^(m+1) / (m+1)!.
"""

import math
import operator
from dataclasses import dataclass, replace
from functools import reduce
from typing import final

import numpy as np

from neyman.numerics._disc import Disc
from neyman.numerics._interval import Array, Interval
from neyman.numerics._inversion._steady_pieces import (
    WIDEST,
    Factor,
    Piece,
    SteadyTail,
    composed_pieces,
)
from neyman.numerics._laws._loss_law import LossNodes, SumNodes
from neyman.numerics._primitives import exp

__all__ = ["Removed", "SteadyRest", "line_without", "steady_part"]

# Below it the part is nothing beside a bracket.
_NOTHING = -40.0


@final
@dataclass(frozen=True, slots=True)
class Steady:
    """The terms with at most `order` densities, for a line through c."""

    factors: tuple[Factor, ...]
    order: int
    c: float

    @property
    def whole(self) -> bool:
        """Whether the part is the whole law."""
        copies = sum(f.count for f in self.factors if f.split.density is not None)
        return copies <= self.order

    @property
    def negligible(self) -> bool:
        """Whether the part may stay in the line: its mass bounds the difference."""
        return self.log_mass < _NOTHING

    @property
    def log_mass(self) -> float:
        """A bound of the logarithm of the part's tilted mass, over e^K(c)."""
        log_atoms = sum(f.count * math.log(f.atoms) for f in self.factors)
        mean = sum(f.count * max(1 - f.atoms, 0.0) / f.atoms for f in self.factors)
        return min(log_atoms + math.log(1 + mean + mean * mean / 2) + 1e-6, 0.0)

    def line(self, nodes: SumNodes, u: Array) -> tuple[Disc, Disc]:
        """Return K, and the part over e^K(c)."""
        counts: list[float] = []
        shares: list[Disc] = []
        logs: list[Disc] = []
        for part, count, reversed_ in nodes.terms:
            value, x = part.parted(1 - self.c if reversed_ else self.c, u)
            value, x = (value.conj, x.conj) if reversed_ else (value, x)
            counts.append(count)
            logs.append(value * count)
            shares.append(x)
        total = reduce(operator.add, logs)
        if self.whole or self.negligible:
            lost = 0.0 if self.whole else math.exp(self.log_mass)
            return total, Disc(np.zeros_like(total.value), np.full(u.shape, lost))
        lift = total - total.value[0].real
        for x, count in zip(shares, counts, strict=True):
            lift = lift + (-x).log1p() * count
        odds = [x / (1 - x) for x in shares]
        first = reduce(operator.add, map(operator.mul, odds, counts))
        factor = first + 1
        if self.order == 2:
            squares = (y * y * count for y, count in zip(odds, counts, strict=True))
            factor = factor + (first * first - reduce(operator.add, squares)) / 2
        return total, lift.exp() * factor

    def pieces(self, base: float) -> tuple[tuple[Piece, ...], float] | None:
        """Compose the part exactly, or bound it where it is negligible; base is K(c)."""
        if self.negligible and not self.whole:
            return (), math.exp(self.log_mass)
        return composed_pieces(self.factors, self.order, self.c, base)

    def reversed(self) -> "Steady":
        """P and Q exchanged: the line goes to 1 - c."""
        factors = tuple(replace(f, split=f.split.reversed()) for f in self.factors)
        return Steady(factors, self.order, 1 - self.c)


def steady_part(nodes: SumNodes, c: float) -> Steady | None:
    """Return the part of a sum of losses, or None where some factor decays by itself."""
    factors: list[Factor] = []
    for part, count, reversed_ in nodes.terms:
        split = part.split
        if split is None or count != int(count):
            return None
        atoms, variation = part.shares(1 - c if reversed_ else c)
        if not (0 < atoms <= 1 and math.isfinite(variation)):
            return None
        split = split.reversed() if reversed_ else split
        factors.append(Factor(split, int(count), atoms, variation))
    if not factors:
        return None
    boxes = [f.split.density.box() for f in factors if f.split.density is not None]
    order = 2 if all(b is not None and b <= WIDEST for b in boxes) else 1
    return Steady(tuple(factors), order, c)


@final
@dataclass(frozen=True, slots=True)
class SteadyRest:
    """Bounds of the decay along a line once the part is left out."""

    part: Steady
    nodes: LossNodes

    def decay(self, c: float, u: Array, count: float) -> Array:
        """The better of both bounds."""
        return np.minimum(self.nodes.decay(c, u, count), self._power(u))

    def _power(self, u: Array) -> Array:
        """The bound of the module; it falls like u^-(m+1) at least."""
        slope = sum(f.count * f.variation / f.atoms for f in self.part.factors)
        if self.part.whole:
            return np.full(u.shape, -np.inf)
        log_atoms = sum(f.count * math.log(f.atoms) for f in self.part.factors)
        p, m = slope / u, self.part.order + 1
        return log_atoms + p + m * np.log(p) - math.lgamma(m + 1) + 1e-9

    def decay_integral(self, c: float, u: Array, count: float) -> Array:
        """The power from where it is the better, the plain bound before."""
        m = self.part.order + 1
        power = self._power(u) - math.log(m)
        slope = sum(f.count * f.variation / f.atoms for f in self.part.factors)
        best = power
        for turn in slope * np.asarray([2.0, 0.5, 0.2, 0.05]):
            far = float(self._power(np.asarray([turn]))[0]) - math.log(m) if turn > 0 else -np.inf
            with np.errstate(divide="ignore", invalid="ignore"):
                near = self.nodes.decay(c, u, count) + np.log(np.log(np.maximum(turn / u, 1.0)))
            best = np.where(u < turn, np.minimum(best, np.logaddexp(near, far)), best)
        return best


@final
@dataclass(frozen=True, slots=True)
class Removed:
    """The part that was taken out of a line."""

    part: Steady
    line: Disc  # over e^K(c)
    pieces: tuple[Piece, ...]
    lost: float  # of the tilted mass, over e^K(c)

    @property
    def left(self) -> float:
        """0 where nothing remains on the line, else 1."""
        return 0.0 if self.part.whole else 1.0

    def rest(self, nodes: LossNodes) -> SteadyRest:
        """Return the decay of the remainder."""
        return SteadyRest(self.part, nodes)

    def tail(self, *, double: bool, shift: float, base: Interval, most: float) -> SteadyTail:
        """Return a functional of the part.

        Args:
            double: whether it is E_P[(e^L - e^t)_+].
            shift: otherwise 1 for Q(L > t) and 0 for P(L > t).
            base: it is returned over e^(base - (c - a) t).
            most: K(c).
        """
        lost = exp(Interval.exactly(most) - base) * self.lost
        return SteadyTail(self.pieces, double, shift, self.part.c, base, lost)

    def reversed(self) -> "Removed":
        """P and Q exchanged, L -> -L."""
        pieces = tuple(piece.reversed() for piece in self.pieces)
        return Removed(self.part.reversed(), self.line.conj, pieces, self.lost)


def line_without(nodes: SumNodes, c: float, u: Array) -> tuple[Disc, Removed | None]:
    """Return K on a line, and the steady part where there is one to take out.

    Args:
        nodes: prepared for c and u.
        c: real part.
        u: increasing from 0.
    """
    part = steady_part(nodes, c)
    if part is not None:
        value, taken = part.line(nodes, u)
        found = part.pieces(float(value.value[0].real))
        if found is not None:
            return value, Removed(part, taken, *found)
    return nodes.line(c, u), None
