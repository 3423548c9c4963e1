"""Sums of many sampled Gaussian losses: the cumulants of all of them at once.

What `MixtureNodes` does for one law, with a row for each, and added with the counts as weights.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias, final

import numpy as np

from neyman.numerics._bracket import ULP, Array
from neyman.numerics._complex import ComplexArray, expm1_minus, log1p_minus
from neyman.numerics._disc import Disc
from neyman.numerics._inversion._stacked_grid import Stack, StackedGrid, Turned
from neyman.numerics._laws._loss_law import (
    LossLaw,
    LossNodes,
    LossSum,
    RealCumulant,
    Span,
    SumNodes,
)
from neyman.numerics._laws._mixture_cells import Cells
from neyman.numerics._laws._mixture_law import MOST, SHIFTS
from neyman.numerics._laws._weighted import PointRows, turned_at
from neyman.overriding import override

__all__ = ["StackedNodes", "prepared_sum"]

Term: TypeAlias = tuple[LossLaw, float, bool]

# Fewer are not worth a stack; more would leave the processor's cache.
_FEWEST, _MOST_LAWS = 4, 32
# Means that share a grid: up to so much larger, from where a grid is as coarse as it may be.
_WIDER, _COARSE = 1.5, 0.6
# Beyond it e^y is not formed.
_HUGE = 600.0


def prepared_sum(law: LossSum, span: Span) -> SumNodes:
    """Prepare a sum of losses; sampled Gaussians in stacks."""
    if len(law.terms) < _FEWEST:
        return law.prepared(span)
    terms: list[tuple[LossNodes, float, bool]] = []
    back = Span(1 - span.high, 1 - span.low, span.height)
    alike: dict[bool, list[tuple[float, float, float, float, LossLaw]]] = {False: [], True: []}
    for one, count, reversed_ in law.terms:
        q = one.from_one_normal(reversed_=False)
        if q is not None and len(q.means) == 2 and q.means[0] == 0 < q.means[1]:
            alike[reversed_].append((q.means[1], q.weights[1], q.weights[0], count, one))
        else:
            terms.append((one.prepared(back if reversed_ else span), count, reversed_))
    for reversed_, found in alike.items():
        here = back if reversed_ else span
        for chunk in _chunks(sorted(found, key=lambda row: row[:4])):
            if len(chunk) < _FEWEST:
                terms += [(one.prepared(here), n, reversed_) for *_, n, one in chunk]
            else:
                columns = np.asarray([row[:4] for row in chunk], np.float64)
                stack = Stack(*(columns[:, i : i + 1].copy() for i in range(4)))
                nodes = StackedNodes.of(stack, here, chunk[-1][-1])
                terms.append((nodes, 1.0, reversed_))
    return SumNodes(tuple(terms))


def _chunks(
    rows: list[tuple[float, float, float, float, LossLaw]],
) -> Iterator[list[tuple[float, float, float, float, LossLaw]]]:
    """Yield runs of rows, ascending in their means, that may share a grid."""
    start = 0
    for stop in range(1, len(rows) + 1):
        wide = stop < len(rows) and rows[stop][0] > _WIDER * max(rows[start][0], _COARSE)
        if stop == len(rows) or wide or stop - start == _MOST_LAWS:
            yield rows[start:stop]
            start = stop


@final
@dataclass(frozen=True, slots=True)
class Left:
    """Bounds over the cells of the nodes that were left out, as `Outside` with A = 1."""

    base: Array
    log_b: tuple[Array, Array]

    @classmethod
    def of(cls, grid: StackedGrid, loss: Array, missing: Array, flat: Array) -> "Left":
        """Take the cells where something is missing; `missing` counts it."""
        left, right, out = grid.x[:-1], grid.x[1:], missing > 0
        nearest = np.where(left * right < 0, 0.0, np.minimum(np.abs(left), np.abs(right)))
        base = flat - nearest * nearest / 2
        base[[0, -1]] += np.where(grid.cut, np.inf, 0.0)
        base = base[out] + np.log(missing[out]) + 1e-9
        return cls(base, (loss[:, :-1][:, out], loss[:, 1:][:, out]))

    def log_total(self, c: float) -> Array:
        """Return the logs of the sums at c."""
        total = self.base + max(c, 0.0) * self.log_b[1] + min(c, 0.0) * self.log_b[0]
        return np.logaddexp.reduce(total, axis=1)


@final
@dataclass(frozen=True, slots=True)
class StackedNodes(LossNodes):
    """The nodes of all laws, and cells that bound the errors of each."""

    stack: Stack
    z: Array
    step: float
    log_weight: Array
    loss: Array
    drift: Array
    share: Array  # of the moved mean in B
    lifted: Turned
    rounded: Cells
    wrong: Cells
    left: Left
    last: LossLaw  # that of the largest mean
    span: Span

    @property
    @override
    def copies(self) -> float:
        return float(np.sum(self.stack.counts))

    @classmethod
    def of(cls, stack: Stack, span: Span, last: LossLaw) -> "StackedNodes":
        """Take the nodes that matter to any of the laws."""
        with np.errstate(over="ignore"):
            grid, loss, r, rounded, cells = StackedGrid.fine(stack, span)
            part = grid.kept(rounded, loss, span)
        log_weight = grid.log_weight
        missing = np.ones(grid.x.size - 1)
        missing[part] = 0
        missing[[0, -1]] += 1 / grid.step
        wrong = cells.plus(grid.log_alias()).joined(grid.left_out(cells, missing))
        left = Left.of(grid, loss, missing, np.full(grid.x.size - 1, grid.log_height))
        loss, weight = loss[:, part], np.exp(log_weight[part])
        return cls(
            stack,
            grid.x[part],
            grid.step,
            log_weight[part],
            loss,
            np.asarray(log1p_minus(r[:, part], loss) @ weight, np.float64),
            stack.w * grid.grown[:, part] / grid.value[:, part],
            grid.turned(part),
            rounded,
            wrong,
            left,
            last,
            span,
        )

    def _wrong(self, c: float, rounded: Cells) -> Array:
        return rounded.at(c) + self.wrong.at(c)

    @override
    def real(self, c: Array) -> RealCumulant:
        far = max(float(np.max(np.multiply.outer(c, self.loss[:, [0, -1]]))), 0.0)
        ask = self._precisely if c.size == 1 or far > _HUGE else self._about
        rows = np.stack([ask(float(at)) for at in np.ravel(c)], axis=-1)
        value, error, slope, curvature = (np.asarray(row).reshape(c.shape) for row in rows)
        return RealCumulant(value, error, slope, curvature)

    def _precisely(self, c: float) -> Array:
        """K, its error and its derivatives: as for the points of one law, row by row."""
        weight, y = np.exp(self.log_weight), c * self.loss
        with np.errstate(over="ignore", invalid="ignore"):
            near = np.minimum(y, _HUGE)
            far = y > _HUGE
            lifted = np.where(far, np.exp(self.log_weight + y), weight * np.exp(near))
            curved = np.where(far, lifted, weight * expm1_minus(near))
            size = curved.sum(axis=1)
            error = 4 * size
            return self._row(c, lifted - weight, size, error, 12.0)

    def _about(self, c: float) -> Array:
        """The same by e^y - 1 less the sum of y, of which each term is within ULP (1 + 2 |y|).

        So that what is lost is ULP of E|e^y - 1| + E|y| and not of K.
        """
        weight, y = np.exp(self.log_weight), c * self.loss
        with np.errstate(over="ignore", invalid="ignore"):
            lifted = weight * np.expm1(y)
            most = weight * np.abs(y)
            terms = np.abs(lifted) * (1 + 2 * np.abs(y)) + 4 * most
            size = lifted.sum(axis=1) - c * (self.loss @ weight)
            error = (10 + self.z.size / 64) * terms.sum(axis=1)
            return self._row(c, lifted, size, error, 0.0)

    def _row(self, c: float, moved: Array, size: Array, error: Array, bent: float) -> Array:
        """Add the drift, take logarithms, and sum over the laws."""
        drift = c * self.drift
        total = size + drift
        rise = (moved * self.loss).sum(axis=1)
        sums = 10 + self.z.size / 64
        error = error + sums * np.abs(drift) + bent * np.abs(c * rise)
        wrong = abs(c * (c - 1)) * self._wrong(c, self.rounded) + ULP * error + 1e-40
        slope = (rise + self.drift) / (1 + total)
        weight = np.exp(self.log_weight)
        square = ((moved + weight) * self.loss * self.loss).sum(axis=1)
        value = np.log1p(total)
        loose = Disc.of(total, wrong).log1p().error
        curvature = square / (1 + total) - slope * slope
        return np.stack([value, loose, slope, curvature]) @ self.stack.counts[:, 0]

    @override
    def line(self, c: float, u: Array) -> Disc:
        s, above = c + 1j * u, self.lifted
        each = self._wrong(c, above.rounded)
        wrong = np.abs(s * (s - 1)) * each[:, None]
        found = PointRows.of(above.log_weight, above.loss, above.r).line(c, u, wrong)
        rows = Disc(found.value.T, found.error.T) * self.stack.counts[:, 0]
        return rows.sum()

    @override
    def at(self, s: ComplexArray) -> ComplexArray:
        above, up = self.lifted, np.where(s.imag < 0, np.conj(s), s)
        drift = log1p_minus(above.r, above.loss) @ above.weight
        total = np.zeros(s.shape, dtype=np.complex128)
        for loss, lost, n in zip(above.loss, drift, self.stack.counts[:, 0], strict=True):
            total += n * turned_at(above.log_weight, above.weight, loss, complex(lost), up)
        return np.where(s.imag < 0, np.conj(total), total)

    @override
    def decay(self, c: float, u: Array, count: float) -> Array:
        return self._decays(c, u, count).sum(axis=0)

    def _decays(self, c: float, u: Array, count: float) -> Array:
        """Return n log |e^(K - K(c))| for each law: where it has decayed, or all together."""
        own = self._decay(c, u, self.stack.counts * count)
        return np.minimum(
            own, self._decay(c, u, np.full_like(self.stack.counts, self.copies * count))
        )

    def _decay(self, c: float, u: Array, copies: Array) -> Array:
        """Return the best of a few shifts, for so many copies of each."""
        stack, reach = self.stack, self.stack.reach
        copies = np.maximum(copies, 1.0)
        widest = np.minimum(np.sqrt(80 / copies), np.minimum(0.6 * reach, 6.0))
        log = self.log_weight + c * self.loss
        total = np.logaddexp.reduce(log, axis=1)
        share = np.exp(log - total[:, None])
        missing = self.left.log_total(c) - total
        far = stack.t[:, 0]
        largest = np.max(np.abs(self.log_weight)) + abs(c) * np.max(np.abs(self.loss), axis=1)
        wrong = 4 * ULP * (16 + largest + far * (float(np.max(np.abs(self.z))) + far))
        best = np.full((far.size, u.size), np.inf)
        for shift in SHIFTS.tolist():
            d = shift * widest
            added = self._added(c, d, missing)
            size, angle = self._turned(c, d, wrong)
            for j, height in enumerate(u.tolist()):
                with np.errstate(over="ignore", invalid="ignore"):
                    part = (np.expm1(size - height * angle) * share).sum(axis=1)
                part = np.where(np.isnan(part), np.inf, part)
                part = part + wrong * (1 + part) + added
                best[:, j] = np.fmin(best[:, j], d[:, 0] ** 2 / 2 * (1 + ULP) + np.log1p(part))
        return stack.counts * np.minimum(best, 0.0)

    def _turned(self, c: float, d: Array, wrong: Array) -> tuple[Array, Array]:
        """Return log |B|^c and arg B at z + id less z's, rounded up and down."""
        angle = self.stack.t * d
        real = -2 * np.sin(angle / 2) ** 2 * self.share
        imag = np.sin(angle) * self.share
        size = c * np.log1p(real * (2 + real) + imag * imag) / 2
        size = size + wrong[:, None] * abs(c) * angle**2
        return size, np.arctan2(imag, 1 + real) * (1 - wrong)[:, None]

    def _added(self, c: float, d: Array, missing: Array) -> Array:
        """Bound what the sums round, what they alias and what they leave out, over e^K(c)."""

        def lift(angle: Array) -> Array:
            half = np.minimum(self.stack.t * angle, 3.0) / 2
            return -max(-c, 0.0) * np.log(np.cos(half))

        e = np.asarray([0.1, 0.2, 0.4]) * self.stack.reach
        exponent = 2 * math.pi * e / self.step
        damping = exponent + np.log(-np.expm1(-exponent))
        alias = np.min(e * e / 2 + lift(d + e) - damping + math.log(4), axis=1)
        up = lift(d)[:, 0]
        floor = ULP * (4 + self.z.size / 64) * np.exp(np.minimum(up, MOST))
        left = np.exp(np.minimum(missing + up, MOST))
        return floor + np.exp(np.minimum(alias, MOST)) + left

    @override
    def decay_integral(self, c: float, u: Array, count: float) -> Array:
        decays = self._decays(c, u, count)
        n = float(self.stack.counts[-1, 0])
        one = self.last.prepared(self.span).decay_integral(c, u, n * count)
        return decays.sum(axis=0) - decays[-1] * (1 / n) + one
