"""What the trapezoidal sum over a mixture's density can miss, cell by cell.

The integrand e^(sl) - 1 - s (e^l - 1), over P's density, is bounded on cells [x, x + step] and on
lines beside them, by factors each of which is monotone on a cell (docs/theory/contour.md).
"""

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, final

import numpy as np

from neyman.numerics._bracket import ULP, Array
from neyman.numerics._complex import ComplexArray, Numbers, complex_log1p
from neyman.numerics._laws._loss_law import Span
from neyman.numerics._laws._shifts import Rows, Shifts

if TYPE_CHECKING:
    from neyman.numerics._laws._mixture_law import GaussianMixtureLaw

__all__ = [
    "HIGHEST",
    "LOG_SQRT_2PI",
    "REACH",
    "Cells",
    "Grid",
    "first_step",
    "log_alias",
    "step_of",
]

# The grid ends so many deviations beyond the last mean that matters.
REACH = 14.0
# Beyond it e^(tz) is not formed.
HIGHEST = 680.0
LOG_SQRT_2PI = math.log(2 * math.pi) / 2
_MARGIN = 39.0
_COARSEST = 0.4
# Share of a quarter turn that a line may rise, and the most: moduli grow with it.
_REACHED, _DEEPEST = 0.8, 2.0


@final
@dataclass(frozen=True, slots=True)
class Cells:
    """Bounds over cells of what is summed, over |s (s - 1)|, in logarithms.

    With r = e^l - 1 and ρ = |e^l|, φ |A| |r|² ∫ (1 - t) |1 + tr|^(c-2) dt, less φ's own growth, is
    at most e^`log_size`(c): on the cell log ρ is at most `most` and, if positive, at least `more`;
    -log ρ is at most `less`; `turn` is what the angle of e^l takes from
    |1 + tr| >= |1 - t + tρ| cos(angle/2).
    """

    base: Array
    most: Array
    more: Array
    less: Array
    turn: Array

    def log_size(self, c: Array) -> Array:
        """A row for each real part."""
        c = np.reshape(c, (-1, 1))
        above, below = np.maximum(c - 2, 0.0), np.maximum(2 - c, 0.0)
        log = self.base + above * self.most
        if np.all(c >= 2):
            return log
        deep = np.clip(1 - c, 0.0, 1.0) * np.log1p(self.less) + np.maximum(-c, 0.0) * self.less
        flat = np.minimum(below, 1.0) * (np.log1p(self.more) - self.more)
        return log + below * self.turn + deep + flat

    def total(self, c: Array) -> Array:
        """Return the sum over the cells for each real part."""
        with np.errstate(over="ignore"):
            return np.exp(self.log_size(c)).sum(axis=1)

    def at(self, c: float) -> Array:
        """Return the sums at one real part where the cells have a row for each law."""
        return self.total(np.asarray([c]))

    def plus(self, log: Array) -> "Cells":
        """Return the bounds times e^log."""
        return replace(self, base=self.base + log)

    def joined(self, other: "Cells") -> "Cells":
        """Return the cells of both."""
        return Cells(
            np.concatenate([self.base, other.base], axis=-1),
            np.concatenate([self.most, other.most], axis=-1),
            np.concatenate([self.more, other.more], axis=-1),
            np.concatenate([self.less, other.less], axis=-1),
            np.concatenate([self.turn, other.turn], axis=-1),
        )


@final
@dataclass(frozen=True, slots=True)
class Grid:
    """Nodes x for a span of s, with the terms of both mixtures on them."""

    law: "GaussianMixtureLaw"
    step: float
    depth: float
    cut: tuple[bool, bool]  # whether the window goes on beyond the first and the last node
    x: Array
    p: Rows
    q: Rows

    @classmethod
    def over(cls, law: "GaussianMixtureLaw", span: Span, finer: float) -> "Grid":
        """Lay the grid; `finer` than the step that is tried first."""
        depth, step = first_step(law)
        step /= finer
        low, high = _window(law, span)
        most = HIGHEST / max(law.p.far, law.q.far)
        first, last = math.floor(max(low, -most) / step), math.ceil(min(high, most) / step)
        x = np.asarray(np.arange(first, last + 1) * step, dtype=np.float64)
        cut = low < -most, high > most
        return cls(law, step, depth, cut, x, law.p.on(x), law.q.on(x))

    def cells(self) -> Cells:
        """Bound the summand over cells, on lines up to `depth` beside the real one."""
        left, right, depth = self.x[:-1], self.x[1:], self.depth
        a, b = self.p.value, self.q.value
        nearest = np.where(left * right < 0, 0.0, np.minimum(np.abs(left), np.abs(right)))
        moved = self.q.bound(depth) + self.p.bound(depth)
        # |A| falls and |B| rises along x, and both are least where they turn most.
        a_least, b_least = self.p.least(depth)[1:], self.q.least(depth)[:-1]
        angle = self.q.angles(depth) + np.abs(self.p.angles(depth))
        # The end cells stand for all that lies beyond, where the angles come to be full ...
        angle[[0, -1]] = (self.law.p.far + self.law.q.far) * depth
        base = -nearest * nearest / 2 + 2 * np.log(moved) + np.log(self.step / a_least)
        # ... and are without bound where the window was cut.
        base[[0, -1]] += np.where(self.cut, np.inf, 0.0)
        base = base - LOG_SQRT_2PI
        most = np.log(np.maximum(b[1:] / a_least, 1.0))
        least = np.log(b_least / a[:-1])
        more, less = np.maximum(least, 0.0), np.maximum(-least, 0.0)
        return Cells(base, most, more, less, -np.log(np.cos(angle / 2)))

    @property
    def shift(self) -> float:
        """How far above the real line the nodes of a line lie: half the depth."""
        return self.depth / 2

    def log_alias(self) -> Array:
        """See the function."""
        return log_alias(self.x.size - 1, self.step, self.depth)

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
        log_a = complex_log1p(a) if self.law.p.far else a
        loss = np.where(
            near,
            complex_log1p(np.where(near, r, 0.0)),
            np.log(self.q.lifted_value(self.shift)) - log_a,
        )
        return log_a, loss, r

    def left_out(self, cells: Cells, missing: Array) -> Cells:
        """Return cells of which so many summands are missing, no higher than the nodes lie."""
        out = missing > 0
        # No angle exceeds the full one.
        turn = -math.log(math.cos((self.law.p.far + self.law.q.far) * self.shift / 2))
        base = cells.base[out] + np.log(missing[out]) + self.shift**2 / 2
        turns = np.minimum(cells.turn[out], turn)
        return Cells(base, cells.most[out], cells.more[out], cells.less[out], turns)

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


def log_alias(cells: int, step: float, depth: float) -> Array:
    """Return the log of what each cell adds to the error of a sum, over its size.

    The nodes lie on x + i shift, half the depth up. Up to x + i depth and down to x the phase only
    shrinks, so

        error <= (∫ |F(x + i depth)| dx + ∫ |F(x)| dx) / (e^(2π shift/step) - 1)

    whatever the height, by upper Riemann sums.
    """
    exponent = math.pi * depth / step
    damping = exponent + math.log(-math.expm1(-exponent))
    total = np.full(cells, np.logaddexp(depth**2 / 2, 0.0) - damping)
    total[[0, -1]] += math.log1p(1 / step)
    return total


def first_step(law: "GaussianMixtureLaw") -> tuple[float, float]:
    """Return how far the lines of a grid may rise, and the step that is tried first."""
    return step_of(law.reach)


def step_of(reach: float) -> tuple[float, float]:
    """Return the same for a quarter turn."""
    depth = min(_REACHED * reach, _DEEPEST)
    return depth, min(math.pi * depth / (_MARGIN + depth * depth / 2), _COARSEST)


def _window(law: "GaussianMixtureLaw", span: Span) -> tuple[float, float]:
    """Return where the sums may end: what is summed falls by e^-13 a unit from there on.

    The logarithm of its bound has the slope of -x²/2 and, outwards, at most a drift: by the
    largest mean where it grows, and by the mean at x where it grows ever more slowly.
    """

    def end(drift: float, power: float, shifts: Shifts, side: int) -> float:
        x = REACH + drift
        while x - drift - power * abs(shifts.slope_at(side * x)) < REACH - 1:
            x *= 1.2
        return side * x

    low = end(max(1 - span.low, 2.0) * law.p.far, max(-span.low, 0.0) + 1, law.q, -1)
    return low, end(max(span.high, 2.0) * law.q.far, max(span.high - 1, 1.0), law.p, 1)
