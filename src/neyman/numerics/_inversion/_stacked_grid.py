"""The trapezoidal sums of many laws N(0, 1) against (1 - w) N(0, 1) + w N(t, 1) on one grid.

The bounds are those of `_mixture_law` and `_mixture_cells` with A = 1, a row for each law: on one
grid, as wide and as fine as the law with the largest t asks.
"""

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from neyman.numerics._bracket import ULP, Array
from neyman.numerics._complex import ComplexArray, complex_log1p
from neyman.numerics._laws._loss_law import Span
from neyman.numerics._laws._mixture_cells import (
    HIGHEST,
    LOG_SQRT_2PI,
    REACH,
    Cells,
    log_alias,
    step_of,
)
from neyman.numerics._laws._mixture_law import BULK, FINER, MOST_NODES, QUADRATURE, WINDOW

__all__ = ["Stack", "StackedGrid", "Turned"]


@final
@dataclass(frozen=True, slots=True)
class Stack:
    """Means t > 0, weights w and 1 - w and counts, columns."""

    t: Array
    w: Array
    rest: Array
    counts: Array

    @property
    def reach(self) -> Array:
        """A quarter turn."""
        return math.pi / 2 / self.t


@final
@dataclass(frozen=True, slots=True)
class Turned:
    """The points on the line above the real one; weights are those of all laws."""

    log_weight: ComplexArray
    weight: ComplexArray
    loss: ComplexArray
    r: ComplexArray
    rounded: Cells


@final
@dataclass(frozen=True, slots=True)
class StackedGrid:
    """B and B - 1 on nodes x, a row for each law."""

    stack: Stack
    step: float
    depth: float
    cut: tuple[bool, bool]
    x: Array
    grown: Array
    less_one: Array
    value: Array
    excess: Array

    @classmethod
    def over(cls, stack: Stack, span: Span, finer: float) -> "StackedGrid":
        """Lay the grid; `finer` than the step that is tried first."""
        far = float(stack.t.max())
        depth, step = step_of(math.pi / 2 / far)
        step /= finer
        low, high = _window(stack, span)
        most = HIGHEST / far
        first, last = math.floor(max(low, -most) / step), math.ceil(min(high, most) / step)
        x = np.asarray(np.arange(first, last + 1) * step, dtype=np.float64)
        cut = low < -most, high > most
        log = stack.t * x - stack.t * stack.t / 2
        with np.errstate(over="ignore", under="ignore"):
            grown, less_one = np.exp(log), np.expm1(log)
        value = stack.rest + stack.w * grown
        return cls(stack, step, depth, cut, x, grown, less_one, value, stack.w * less_one)

    @classmethod
    def fine(cls, stack: Stack, span: Span) -> tuple["StackedGrid", Array, Array, Cells, Cells]:
        """Refine as for one law: return the loss, e^l - 1, the rounding and the cells as well."""
        finer, ends = 1.0, (span.low, span.high)
        while True:
            grid = cls.over(stack, span, finer)
            loss, r = grid.loss()
            rounded, cells = grid.rounding(0.0, np.asarray(loss, np.complex128)), grid.cells()
            alias = cells.plus(grid.log_alias())
            enough = all(np.all(alias.at(c) <= QUADRATURE * rounded.at(c)) for c in ends)
            if enough or grid.x.size > MOST_NODES:
                return grid, loss, r, rounded, cells
            finer *= FINER

    @property
    def log_height(self) -> float:
        """The log of a step over sqrt(2 π)."""
        return math.log(self.step) - LOG_SQRT_2PI

    @property
    def log_weight(self) -> Array:
        """The logs of the weights of the nodes, those of all laws."""
        return self.log_height - self.x * self.x / 2

    @property
    def shift(self) -> float:
        """How far above the real line the nodes of a line lie."""
        return self.depth / 2

    def log_alias(self) -> Array:
        """As for one law."""
        return log_alias(self.x.size - 1, self.step, self.depth)

    def cells(self) -> Cells:
        """Bound the summand over cells, on lines up to `depth` beside the real one."""
        t, w, depth, left, right = self.stack.t, self.stack.w, self.depth, self.x[:-1], self.x[1:]
        b, grown = self.value, self.grown
        nearest = np.where(left * right < 0, 0.0, np.minimum(np.abs(left), np.abs(right)))
        size = np.abs(self.less_one)
        moved = w * np.maximum(size[:, :-1], size[:, 1:])
        moved = moved + w * 2 * np.abs(np.sin(t * depth / 2)) * grown[:, 1:]
        real = self.stack.rest + w * np.cos(t * depth) * grown[:, :-1]
        b_least = np.maximum(real, np.cos(t * depth / 2) * b[:, :-1])
        share = w * grown[:, 1:]
        angle = np.arctan2(share * np.sin(t * depth), self.stack.rest + share * np.cos(t * depth))
        angle[:, [0, -1]] = t * depth
        base = -nearest * nearest / 2 + 2 * np.log(moved) + math.log(self.step)
        base[:, [0, -1]] += np.where(self.cut, np.inf, 0.0)
        least = np.log(b_least)
        return Cells(
            base - LOG_SQRT_2PI,
            np.log(np.maximum(b[:, 1:], 1.0)),
            np.maximum(least, 0.0),
            np.maximum(-least, 0.0),
            -np.log(np.cos(angle / 2)),
        )

    def loss(self) -> tuple[Array, Array]:
        """Return l and e^l - 1."""
        r = self.excess
        near = np.abs(r) < 0.5
        loss = np.where(near, np.log1p(np.where(near, r, 0.0)), np.log(self.value))
        return loss, np.where(near, r, np.expm1(loss))

    def turned(self, part: slice) -> Turned:
        """Return the kept nodes moved up by `shift`."""
        t, w, d, x = self.stack.t, self.stack.w, self.shift, self.x[part]
        grown, less_one = self.grown[:, part], self.less_one[:, part]
        turn = 1j * np.sin(t * d) - 2 * np.sin(t * d / 2) ** 2
        r: ComplexArray = np.asarray(w * (less_one + grown * turn), np.complex128)
        near = np.abs(r) < 0.5
        whole = self.stack.rest + w * (grown * np.exp(1j * t * d))
        loss = np.where(near, complex_log1p(np.where(near, r, 0.0)), np.log(whole))
        z = x + 1j * d
        log_weight: ComplexArray = np.asarray(self.log_height - z * z / 2)
        rounded = self.rounding(d, loss, part)
        return Turned(log_weight, np.exp(log_weight), loss, r, rounded)

    def left_out(self, cells: Cells, missing: Array) -> Cells:
        """Return cells of which so many summands are missing, no higher than the nodes lie."""
        out = missing > 0
        turn = -np.log(np.cos(self.stack.t * self.shift / 2))
        base = cells.base[:, out] + np.log(missing[out]) + self.shift**2 / 2
        turns = np.minimum(cells.turn[:, out], turn)
        return Cells(base, cells.most[:, out], cells.more[:, out], cells.less[:, out], turns)

    def rounding(self, d: float, loss: ComplexArray, part: slice = slice(None)) -> Cells:
        """Bound the error of each summand on x + id, by that of the weights and of r."""
        t, w, x, grown = self.stack.t, self.stack.w, self.x[part], self.grown[:, part]
        off = w * (t * (np.abs(x) + t) * grown)
        size = w * np.abs(self.less_one[:, part]) + w * 2 * np.abs(np.sin(t * d / 2)) * grown
        flat = 16 + (1 + x * x) / 2 + 4 * off * np.exp(-loss.real)
        with np.errstate(divide="ignore"):
            log = np.log(size) + np.log(ULP * self.step * (flat * size + 2 * off))
        base = (d * d - x * x) / 2 - LOG_SQRT_2PI + log
        above, below = np.maximum(loss.real, 0.0), np.maximum(-loss.real, 0.0)
        return Cells(base, above, above, below, -np.log(np.cos(loss.imag / 2)))

    def kept(self, rounded: Cells, loss: Array, span: Span) -> slice:
        """Return the nodes that matter to any law at the ends of the span."""
        kept = np.abs(self.x) < BULK
        for c in (span.low, span.high):
            for log in (rounded.log_size(np.asarray([c])), self.log_weight + c * loss):
                kept |= np.any(log > log.max(axis=1, keepdims=True) - WINDOW, axis=0)
        first, last = np.flatnonzero(kept)[[0, -1]].tolist()
        return slice(first, last + 1)


def _window(stack: Stack, span: Span) -> tuple[float, float]:
    """Return where the sums of all may end: see the window of one law, P's mean being 0."""
    power, x = max(-span.low, 0.0) + 1, REACH

    def steepest(at: float) -> float:
        with np.errstate(under="ignore"):
            share = stack.w * np.exp(-stack.t * at - stack.t * stack.t / 2)
        return float(np.max(stack.t * share / (stack.rest + share)))

    while x - power * steepest(x) < REACH - 1:
        x *= 1.2
    return -x, REACH + max(span.high, 2.0) * float(stack.t.max())
