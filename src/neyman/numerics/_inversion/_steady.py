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
from dataclasses import dataclass, replace
from typing import NamedTuple, final

import numpy as np

from neyman.numerics._bracket import ULP, Array
from neyman.numerics._complex import ComplexArray, complex_log1p
from neyman.numerics._disc import Disc
from neyman.numerics._interval import Interval
from neyman.numerics._inversion._steady_pieces import (
    WIDEST,
    Factor,
    Piece,
    SteadyTail,
    composed_pieces,
)
from neyman.numerics._laws._loss_law import LossNodes, LossSum, SumNodes
from neyman.numerics._primitives import exp

__all__ = ["Removed", "SteadyRest", "line_without", "steady_part"]

# For what would be divided by.
_TINY = 1e-300
# Below it the part is nothing beside a bracket.
_NOTHING = -40.0


class SteadyLine(NamedTuple):
    """K on a line and its error, the part over e^K(c), and its error."""

    value: ComplexArray
    error: Array
    part: ComplexArray
    lost: Array


@final
@dataclass(frozen=True, slots=True)
class Steady:
    """The terms with at most `order` densities, for a line through c."""

    factors: tuple[Factor, ...]
    order: int
    c: float

    @property
    def whole(self) -> bool:
        """Whether it is all there is."""
        copies = sum(f.count for f in self.factors if f.split.density is not None)
        return copies <= self.order

    @property
    def negligible(self) -> bool:
        """Whether it may as well be left in the line: what that changes is below its mass."""
        return self.log_mass < _NOTHING

    @property
    def log_mass(self) -> float:
        """A bound of the logarithm of the part's tilted mass, over e^K(c)."""
        log_atoms = sum(f.count * math.log(f.atoms) for f in self.factors)
        mean = sum(f.count * max(1 - f.atoms, 0.0) / f.atoms for f in self.factors)
        return min(log_atoms + math.log(1 + mean + mean * mean / 2) + 1e-6, 0.0)

    def line(self, nodes: SumNodes, u: Array) -> SteadyLine:
        """Return K and its error, and the part over e^K(c) with its error."""
        total, error = np.zeros(u.shape, dtype=np.complex128), np.zeros(u.shape)
        log, first, second = total.copy(), total.copy(), total.copy()
        wrong, loose = error.copy(), error.copy()
        for part, count, reversed_ in nodes.terms:
            at = 1 - self.c if reversed_ else self.c
            value, off = part.line(at, u)
            x, dx = part.density(at, u, value, off)
            if reversed_:
                value, x = np.conj(value), np.conj(x)
            total += count * value
            error += count * (off + ULP * np.abs(value))
            kept = np.where(np.abs(1 - x) < _TINY, _TINY, 1 - x)
            y, size = x / kept, np.abs(kept)
            log += count * complex_log1p(-x)
            wrong += count * (dx / size + ULP * np.abs(x))
            first += count * y
            second += count * y * y
            loose += count * (dx / (size * size) + 4 * ULP * np.abs(y))
        if self.whole or self.negligible:
            lost = 0.0 if self.whole else math.exp(self.log_mass)
            return SteadyLine(total, error, np.zeros_like(total), np.full(u.shape, lost))
        factor = 1 + first + ((first * first - second) / 2 if self.order == 2 else 0)
        size = 1 + np.abs(first) + (np.abs(first) ** 2 + np.abs(second)) / 2
        lift = np.exp(total - total[0].real + log)
        wrong = np.expm1(np.minimum(wrong + error, 40.0)) * size + (1 + np.abs(first)) * loose
        return SteadyLine(total, error, lift * factor, np.abs(lift) * (wrong + 8 * ULP * size))

    def pieces(self, base: float) -> tuple[tuple[Piece, ...], float] | None:
        """Compose the part exactly, or bound it where it is negligible; base is K(c)."""
        if self.negligible and not self.whole:
            return (), math.exp(self.log_mass)
        return composed_pieces(self.factors, self.order, self.c, base)

    def reversed(self) -> "Steady":
        """P and Q exchanged: the line goes to 1 - c."""
        factors = tuple(replace(f, split=f.split.reversed()) for f in self.factors)
        return Steady(factors, self.order, 1 - self.c)


def steady_part(law: LossSum, nodes: SumNodes, c: float) -> Steady | None:
    """Return the part of a sum of losses, or None where some factor decays by itself."""
    factors: list[Factor] = []
    for (term, count, reversed_), (part, _, _) in zip(law.terms, nodes.terms, strict=True):
        split = term.split()
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
    """How fast the contour decays once the part is left out."""

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
        """Return the decay of what remains."""
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


def line_without(
    law: LossSum, nodes: SumNodes, c: float, u: Array
) -> tuple[ComplexArray, Array, Removed | None]:
    """Return K on a line, its error, and the steady part where there is one to take out.

    Args:
        law: the sum of the losses.
        nodes: prepared from it for c and u.
        c: real part.
        u: increasing from 0.
    """
    part = steady_part(law, nodes, c)
    if part is not None:
        line = part.line(nodes, u)
        found = part.pieces(float(line.value[0].real))
        if found is not None:
            return line.value, line.error, Removed(part, Disc(line.part, line.lost), *found)
    return *nodes.line(c, u), None
