"""What the trapezoidal sum over a mixture's density can miss, cell by cell.

The integrand e^(sl) - 1 - s (e^l - 1), over P's density, is bounded on cells [x, x + step] and on
lines beside them, by factors that are monotone on each cell (docs/theory/contour.md).
"""

import math
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from neyman.numerics._bracket import ULP, Array
from neyman.numerics._complex import ComplexArray, Numbers, complex_log1p
from neyman.numerics._laws._loss_law import Span
from neyman.numerics._laws._shifts import Mixtures, Rows, Stack

__all__ = ["HIGHEST", "LOG_SQRT_2PI", "Cells", "Grid", "step_of"]

# The grid ends this many deviations beyond the last mean that matters.
_REACH = 14.0
# Beyond it e^(tz) is not formed.
HIGHEST = 680.0
LOG_SQRT_2PI = math.log(2 * math.pi) / 2
_MARGIN = 39.0
_COARSEST = 0.4
# Share of a quarter turn that a line may rise, and the most: moduli grow with it.
_REACHED, _DEEPEST = 0.8, 2.0


@final
@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Logarithms of bounds of the summand over cells, divided by |s (s - 1)|.

    With r = e^l - 1 and ρ = |e^l|, the factor φ |A| |r|² ∫ (1 - t) |1 + tr|^(c-2) dt of the
    summand, without the growth of φ beside the real line, is at most e^`log_size`(c).

    Attributes:
        base: what does not depend on c, shape (laws, cells); so have the others.
        most: log ρ is at most that on the cell.
        more: log ρ is at least that, where that is positive; else 0.
        less: -log ρ is at most that.
        turn: what the angle of e^l takes from the log of |1 + tr| >= |1 - t + tρ| cos(angle/2).
    """

    base: Array
    most: Array
    more: Array
    less: Array
    turn: Array

    @classmethod
    def none(cls, laws: int) -> "Cells":
        """Return no cells."""
        return cls(*(np.zeros((laws, 0)) for _ in range(5)))

    def log_size(self, c: Array) -> Array:
        """Return the logarithms for real parts c; shape (laws, len(c), cells)."""
        c = np.reshape(c, (-1, 1))
        above, below = np.maximum(c - 2, 0.0), np.maximum(2 - c, 0.0)
        log = self.base[:, None] + above * self.most[:, None]
        if np.all(c >= 2):
            return log
        less, more, turn = self.less[:, None], self.more[:, None], self.turn[:, None]
        deep = np.clip(1 - c, 0.0, 1.0) * np.log1p(less) + np.maximum(-c, 0.0) * less
        return log + below * turn + deep + np.minimum(below, 1.0) * (np.log1p(more) - more)

    def total(self, c: Array) -> Array:
        """Return the sums over the cells; shape (laws, len(c))."""
        with np.errstate(over="ignore"):
            return np.exp(self.log_size(c)).sum(axis=2)

    def plus(self, log: Array) -> "Cells":
        """Return the bounds multiplied by e^log."""
        return replace(self, base=self.base + log)

    def joined(self, other: "Cells") -> "Cells":
        """Return the cells of both."""
        return Cells(
            np.concatenate([self.base, other.base], axis=1),
            np.concatenate([self.most, other.most], axis=1),
            np.concatenate([self.more, other.more], axis=1),
            np.concatenate([self.less, other.less], axis=1),
            np.concatenate([self.turn, other.turn], axis=1),
        )


@final
@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """Nodes for a span of s, with the terms of both mixtures on them.

    Attributes:
        stack: the laws.
        step: between two nodes.
        depth: how far beside the real line the bounds of cells hold.
        cut: whether the window goes on beyond the first, and beyond the last node.
        x: the nodes.
        p: A on the nodes.
        q: B on the nodes.
    """

    stack: Stack
    step: float
    depth: float
    cut: tuple[bool, bool]
    x: Array
    p: Rows
    q: Rows

    @classmethod
    def over(cls, stack: Stack, span: Span, finer: float) -> "Grid":
        """Lay a grid that is as wide and as fine as the farthest mean of all laws needs.

        Args:
            stack: the laws.
            span: of s.
            finer: by how much the step is finer than the one that is tried first.
        """
        depth, step = step_of(float(stack.reach.min()))
        step /= finer
        low, high = _window(stack, span)
        most = HIGHEST / stack.farthest
        first, last = math.floor(max(low, -most) / step), math.ceil(min(high, most) / step)
        x = np.asarray(np.arange(first, last + 1) * step, dtype=np.float64)
        cut = low < -most, high > most
        return cls(stack, step, depth, cut, x, stack.p.on(x), stack.q.on(x))

    @property
    def log_height(self) -> float:
        """The log of the step over sqrt(2 π): φ's factor that does not depend on x."""
        return math.log(self.step) - LOG_SQRT_2PI

    @property
    def nearest(self) -> Array:
        """The least |x| of each cell."""
        left, right = self.x[:-1], self.x[1:]
        return np.where(left * right < 0, 0.0, np.minimum(np.abs(left), np.abs(right)))

    def opened(self, log: Array) -> Array:
        """Return logarithms of bounds over cells, without bound at the ends that were cut."""
        log[..., [0, -1]] += np.where(self.cut, np.inf, 0.0)
        return log

    def cells(self) -> Cells:
        """Bound the summand over cells, on lines up to `depth` beside the real one."""
        depth, a, b = self.depth, self.p.value, self.q.value
        moved = self.q.bound(depth) + self.p.bound(depth)
        # |A| falls and |B| rises along x, and both are least where they turn most.
        a_least, b_least = self.p.least(depth)[:, 1:], self.q.least(depth)[:, :-1]
        angle = self.q.angles(depth) + np.abs(self.p.angles(depth))
        # The end cells stand for all that lies beyond, where the angles come to be full.
        angle[:, [0, -1]] = self.stack.far[:, None] * depth
        base = -self.nearest * self.nearest / 2 + 2 * np.log(moved) + np.log(self.step / a_least)
        least = np.log(b_least / a[:, :-1])
        return Cells(
            self.opened(base) - LOG_SQRT_2PI,
            np.log(np.maximum(b[:, 1:] / a_least, 1.0)),
            np.maximum(least, 0.0),
            np.maximum(-least, 0.0),
            -np.log(np.cos(angle / 2)),
        )

    @property
    def shift(self) -> float:
        """How far above the real line the nodes of a line lie: half the depth."""
        return self.depth / 2

    def log_alias(self) -> Array:
        """Return the log of each cell's contribution to the error of a sum, over its size.

        The nodes of a line lie on x + i shift. Up to x + i depth and down to x the phase only
        shrinks, so

            error <= (∫ |F(x + i depth)| dx + ∫ |F(x)| dx) / (e^(2π shift/step) - 1)

        whatever the height, by upper Riemann sums.
        """
        exponent = math.pi * self.depth / self.step
        damping = exponent + math.log(-math.expm1(-exponent))
        total = np.full(self.x.size - 1, np.logaddexp(self.depth**2 / 2, 0.0) - damping)
        total[[0, -1]] += math.log1p(1 / self.step)
        return total

    def loss(self) -> tuple[Array, Array, Array]:
        """Return log A, l and e^l - 1: by differences from 1 where they are small."""
        a, b, both = self.p.excess, self.q.excess, (self.p.value, self.q.value)
        log_a = np.where(np.abs(a) < 0.5, np.log1p(np.maximum(a, -0.5)), np.log(both[0]))
        r = (b - a) / both[0]
        near = np.abs(r) < 0.5
        loss = np.where(near, np.log1p(np.where(near, r, 0.0)), np.log(both[1]) - np.log(both[0]))
        return log_a, loss, np.where(near, r, np.expm1(loss))

    def turned(self) -> tuple[ComplexArray, ComplexArray, ComplexArray]:
        """Return log A, l and e^l - 1 on x + i shift."""
        a, b = self.p.lifted(self.shift), self.q.lifted(self.shift)
        r = (b - a) / (1 + a)
        near = np.abs(r) < 0.5
        log_a = complex_log1p(a) if self.stack.p.farthest else a
        loss = np.where(
            near,
            complex_log1p(np.where(near, r, 0.0)),
            np.log(self.q.lifted_value(self.shift)) - log_a,
        )
        return log_a, loss, r

    def left_out(self, cells: Cells, missing: Array) -> Cells:
        """Return bounds of the nodes that are left out, on the line or below it.

        Args:
            cells: of the grid.
            missing: how many nodes of each cell are left out.
        """
        out = np.flatnonzero(missing)
        # No angle exceeds the full one.
        turn = -np.log(np.cos(self.stack.far * self.shift / 2))[:, None]
        base = cells.base[:, out] + np.log(missing[out]) + self.shift**2 / 2
        turns = np.minimum(cells.turn[:, out], turn)
        return Cells(base, cells.most[:, out], cells.more[:, out], cells.less[:, out], turns)

    def rounding(self, d: float, log_a: Numbers, loss: Numbers) -> Cells:
        """Bound the error of each summand on x + id, by that of the weights and of r."""
        p, q, size = self.p.rounding(), self.q.rounding(), self.p.size(d) + self.q.size(d)
        flat = 16 + (1 + self.x * self.x) / 2 + 2 * np.abs(log_a)
        flat = flat + 4 * (p * np.exp(-log_a.real) + q * np.exp(-(log_a + loss).real))
        base = (d * d - self.x * self.x) / 2 - LOG_SQRT_2PI - log_a.real
        with np.errstate(divide="ignore"):
            base = base + np.log(size) + np.log(ULP * self.step * (flat * size + 2 * (p + q)))
        above, below = np.maximum(loss.real, 0.0), np.maximum(-loss.real, 0.0)
        return Cells(base, above, above, below, -np.log(np.cos(loss.imag / 2)))


def step_of(reach: float) -> tuple[float, float]:
    """Return how far the lines of a grid may rise, and the step that is tried first.

    Args:
        reach: the height of a quarter turn.
    """
    depth = min(_REACHED * reach, _DEEPEST)
    return depth, min(math.pi * depth / (_MARGIN + depth * depth / 2), _COARSEST)


def _window(stack: Stack, span: Span) -> tuple[float, float]:
    """Return where the sums may end: beyond, the summand falls by e^-13 a unit.

    The logarithm of its bound has the slope of -x²/2 and, outwards, at most a drift: by the
    largest mean where it grows, and by the mean at x where it grows ever more slowly.
    """

    def end(drift: float, power: float, mixtures: Mixtures, side: int) -> float:
        x = _REACH + drift
        while x - drift - power * float(np.max(np.abs(mixtures.slope_at(side * x)))) < _REACH - 1:
            x *= 1.2
        return side * x

    p, q = stack.p.farthest, stack.q.farthest
    low = end(max(1 - span.low, 2.0) * p, max(-span.low, 0.0) + 1, stack.q, -1)
    return low, end(max(span.high, 2.0) * q, max(span.high - 1, 1.0), stack.p, 1)
