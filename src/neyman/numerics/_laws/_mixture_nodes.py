"""The cumulants of losses between mixtures of normals, by trapezoidal sums on one grid.

Arrays have a row for each law; the results are sums over laws and copies. Every bound holds for
each law by itself. The certificates are proved in docs/theory/contour.md, sections 4 to 6.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np

from neyman.numerics._bracket import Array
from neyman.numerics._complex import ComplexArray, Numbers
from neyman.numerics._disc import Disc, sum_units
from neyman.numerics._laws._loss_law import LossNodes, RealCumulant, Span
from neyman.numerics._laws._mixture_cells import HIGHEST, Cells, Grid, step_of
from neyman.numerics._laws._shifts import Rows, Stack
from neyman.numerics._laws._weighted import TILT, PointRows, WeightedLosses
from neyman.overriding import override

__all__ = ["MixtureNodes"]

# Nodes whose weight is below e^-44 of the largest are left out, and counted.
_WINDOW, _BULK = 44.0, 8.5
_MOST_NODES = 2**13
# Share of the rounding that the quadrature may be off.
_QUADRATURE = 2.0**-5
_FINER = 1.15
# An exponent above it makes a bound useless.
_MOST = 300.0
# The relative error of turned logarithms, of angles and of their exponentials.
_TURNED = 2.0**-46
# Heights of moved paths, as shares of the largest.
_SHIFTS = 1.6 ** -np.arange(5.0)
# Second shifts, by which errors of trapezoidal sums are bounded, as shares of a quarter turn.
_BESIDE = np.asarray([[0.1], [0.2], [0.4]])


@final
@dataclass(frozen=True, slots=True, eq=False)
class Lifted:
    """The points on a line above the real one, where e^(iul) only shrinks."""

    points: PointRows
    wrong: Cells

    @classmethod
    def of(cls, grid: Grid, part: slice, between: Cells) -> "Lifted":
        """Take the kept nodes of a grid.

        Args:
            grid: of all nodes.
            part: those that are kept.
            between: bounds of all errors but the rounding.
        """
        log_a, loss, r = grid.turned()
        wrong = grid.rounding(grid.shift, log_a, loss).joined(between)
        log_a, loss, r = log_a[:, part], loss[:, part], r[:, part]
        z = grid.x[part] + 1j * grid.shift
        return cls(PointRows.of(-z * z / 2 + grid.log_height + log_a, loss, r), wrong)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Outside:
    """Bounds over the cells of the nodes that are left out, and of all that lies beyond the grid.

    φ A^(1-c) B^c is at most e^base times powers of A and B at the ends of the cell.

    Attributes:
        base: shape (cells,).
        log_a: log A at the left and at the right ends, shape (laws, cells).
        log_b: log B likewise.
        least_slope: a lower bound of the derivative of the loss on the grid, shape (laws,).
    """

    base: Array
    log_a: tuple[Array, Array]
    log_b: tuple[Array, Array]
    least_slope: Array

    @classmethod
    def none(cls, laws: int) -> "Outside":
        """Return no cells: for a sketch."""
        nothing = np.zeros((laws, 0))
        pair = nothing, nothing
        return cls(np.zeros(0), pair, pair, np.full(laws, 1e-20))

    @classmethod
    def of(cls, grid: Grid, logs: tuple[Array, Array], missing: Array) -> "Outside":
        """Take the cells where nodes are missing.

        Args:
            grid: of all nodes.
            logs: log A and l on them.
            missing: how many nodes of each cell are left out.
        """
        out = np.flatnonzero(missing)
        log_a, log_b = logs[0], logs[0] + logs[1]
        base = grid.opened(grid.log_height - grid.nearest * grid.nearest / 2)
        base = base[out] + np.log(missing[out]) + 1e-9
        slopes = grid.stack.q.slope_at(grid.x[0]), -grid.stack.p.slope_at(grid.x[-1])
        return cls(
            base,
            (log_a[:, :-1][:, out], log_a[:, 1:][:, out]),
            (log_b[:, :-1][:, out], log_b[:, 1:][:, out]),
            np.maximum(np.maximum(*slopes), 1e-300),
        )

    def log_total(self, c: float) -> Array:
        """Return the logs of the sums at c, shape (laws,)."""
        total = self.base + max(c, 0.0) * self.log_b[1] + min(c, 0.0) * self.log_b[0]
        total = total + max(1 - c, 0.0) * self.log_a[0] + min(1 - c, 0.0) * self.log_a[1]
        return np.logaddexp.reduce(total, axis=1)


@final
@dataclass(frozen=True, slots=True, eq=False)
class MixtureNodes(LossNodes):
    """The nodes of the trapezoidal sums, and cells that bound their errors.

    Attributes:
        stack: the laws.
        p: A on the nodes.
        q: B on the nodes.
        points: the nodes on the real line.
        lifted: the nodes on the line above.
        step: between two nodes.
        wrong: |G_computed - G| / |s (s - 1)| on the real line, but for the rounding of sums.
        outside: the nodes left out.
    """

    stack: Stack
    p: Rows
    q: Rows
    points: WeightedLosses
    lifted: Lifted
    step: float
    wrong: Cells
    outside: Outside

    @classmethod
    def of(cls, stack: Stack, span: Span) -> "MixtureNodes":
        """Lay grids, finer and finer, until the quadrature is off by less than the rounding.

        Where no grid of so many nodes is fine enough, the error says so.
        """
        finer, ends = 1.0, _ends(span)
        while True:
            grid = Grid.over(stack, span, finer)
            values, cells = grid.loss(), grid.cells()
            rounded = grid.rounding(0.0, *values[:2])
            aliased = cells.plus(grid.log_alias()).total(ends)
            enough = np.all(aliased <= _QUADRATURE * rounded.total(ends))
            if enough or grid.x.size > _MOST_NODES:
                return cls._kept(grid, values, rounded, cells, span)
            finer *= _FINER

    @classmethod
    def _kept(
        cls,
        grid: Grid,
        values: tuple[Array, Array, Array],
        rounded: Cells,
        cells: Cells,
        span: Span,
    ) -> "MixtureNodes":
        """Keep the nodes that matter to a law at an end of the span, and bound the others."""
        (log_a, loss, r), ends = values, _ends(span)
        log_weight = -grid.x * grid.x / 2 + grid.log_height + log_a
        # The bulk of the tilted laws is kept too: the bounds on the decay need it.
        tilted = log_weight[:, None] + ends[:, None] * loss[:, None]
        weights = np.concatenate([rounded.log_size(ends), tilted]).reshape(-1, grid.x.size)
        kept = (weights > weights.max(axis=1, keepdims=True) - _WINDOW).any(axis=0)
        kept |= np.abs(grid.x) < _BULK
        first, last = np.flatnonzero(kept)[[0, -1]].tolist()
        part = slice(first, last + 1)
        # The end cells stand for all that lies beyond, where the weights fall by e^(-13 x).
        missing = np.ones(grid.x.size - 1)
        missing[part] = 0
        missing[[0, -1]] += 1 / grid.step
        points = WeightedLosses.of(log_weight[:, part], r[:, part], loss[:, part])
        outside = Outside.of(grid, (log_a, loss), missing)
        between = cells.plus(grid.log_alias()).joined(grid.left_out(cells, missing))
        wrong = rounded.joined(between)
        lifted = Lifted(points.row, wrong) if span.height == 0 else Lifted.of(grid, part, between)
        rows = grid.p.part(part), grid.q.part(part)
        return cls(grid.stack, *rows, points, lifted, grid.step, wrong, outside)

    @classmethod
    def sketched(cls, stack: Stack, span: Span) -> "MixtureNodes":
        """Lay a coarse grid, and no bounds of its errors."""
        far, p, q = HIGHEST / stack.farthest, stack.p.farthest, stack.q.farthest
        reach = float(stack.reach.min())
        step = min(0.25, reach / 6)
        low = max(-9.0 - max(1 - span.low, 1.0) * p, -far)
        high = min(9.0 + max(span.high, 1.0) * q, far)
        z = np.arange(low, high, step)
        grid = Grid(stack, step, 0.0, (False, False), z, stack.p.on(z), stack.q.on(z))
        log_a, loss, r = grid.loss()
        points = WeightedLosses.of(-z * z / 2 + grid.log_height + log_a, r, loss)
        none, laws = Cells.none(stack.counts.size), stack.counts.size
        lifted, outside = Lifted(points.row, none), Outside.none(laws)
        # The bounds on the decay are those of the grid that it stands for.
        finer = step_of(reach)[1]
        return cls(stack, grid.p, grid.q, points, lifted, finer, none, outside)

    @property
    @override
    def copies(self) -> float:
        return float(self.stack.counts.sum())

    # -- the cumulant ---------------------------------------------------------------------------

    def _wrong(self, c: Array) -> Array:
        with np.errstate(over="ignore"):
            return np.abs(c * (c - 1)) * self.wrong.total(c)

    def _added(self, value: Numbers, error: Array) -> Disc:
        """Add K of the laws, along the first axis, as often as they count."""
        if self.stack.alone:
            return Disc.of(value[0], error[0])
        return (Disc.of(value.T, error.T) * self.stack.counts).sum()

    @override
    def real(self, c: Array) -> RealCumulant:
        found = self.points.real(c, self._wrong(c))
        value, error = self._added(found.value, found.error)
        counts = self.stack.counts
        return RealCumulant(value, error, counts @ found.slope, counts @ found.curvature)

    @override
    def most(self, c: Array) -> Array:
        most = self.points.most(c, self._wrong(c))
        return most[0] if self.stack.alone else self._added(most, np.zeros(most.shape)).upper

    @override
    def sketch(self, c: Array) -> RealCumulant:
        found = self.points.sketch(c)
        if self.stack.alone:
            return RealCumulant(*(rows[0] for rows in found))
        return RealCumulant(*(self.stack.counts @ rows for rows in found))

    @override
    def line(self, c: float, u: Array) -> Disc:
        s, above = c + 1j * u, self.lifted
        wrong = np.abs(s * (s - 1)) * above.wrong.total(np.asarray([c]))
        return self._added(*above.points.line(c, u, wrong))

    @override
    def at(self, s: ComplexArray) -> ComplexArray:
        value = self.lifted.points.at(np.where(s.imag < 0, np.conj(s), s)) @ self.stack.counts
        value = np.where(s.imag < 0, np.conj(value), value)
        real = self.points.row.at(s) @ self.stack.counts
        return np.where(s.imag == 0, real, value)

    # -- the decay ------------------------------------------------------------------------------

    @override
    def decay(self, c: float, u: Array, count: float) -> Array:
        return self._decays(c, u, count).sum(axis=0)

    @override
    def decay_integral(self, c: float, u: Array, count: float) -> Array:
        counts = self.stack.counts[:, None]
        one = self._integrals(c, u, counts[:, 0] * count)
        if self.stack.alone:
            return one[0]
        # All factors at u but one, and the integral of that one.
        decays = self._decays(c, u, count)
        return np.min(decays.sum(axis=0) - decays * (1 / counts) + one, axis=0)

    def _decays(self, c: float, u: Array, count: float) -> Array:
        """Bound n log |e^(K - K(c))| for each law and all its copies; shape (laws, len(u)).

        u matters where a law's own copies have decayed, or where all together have.
        """
        counts = self.stack.counts
        found = self._decay(c, u, counts * count)
        if not self.stack.alone:
            found = np.minimum(found, self._decay(c, u, np.full(counts.shape, self.copies * count)))
        return counts[:, None] * found

    def _decay(self, c: float, u: Array, copies: Array) -> Array:
        """Bound log |e^(K - K(c))| of one copy of each law, with shifts that suit many copies."""
        wrong, share = self._rounded(c)[:, None, None], self.points.tilted(c)
        floor = sum_units(self.q.x.size)
        d, size, angle = self._turned(c, copies, wrong)
        added = floor * np.exp(np.minimum(self._lift(c, d), _MOST)) + self._slack(c, d)
        part = _sums(lambda log, x: np.expm1(log - x), size, angle, u, share)
        part = part + wrong * (1 + part) + added[:, :, None]
        bounds = (d * d / 2 + _TURNED)[:, :, None] + np.log1p(part)
        return np.minimum(np.min(bounds, axis=1), 0.0)

    def _integrals(self, c: float, u: Array, copies: Array) -> Array:
        """Bound the log of ∫ |e^(K(c + iv) - K(c))| dv/v over v >= u, for one copy of each law."""
        wrong, share = self._rounded(c)[:, None, None], self.points.tilted(c)
        d, size, angle = self._turned(c, copies, wrong)
        far = self.stack.far[:, None, None]
        quadrature = self._quadrature(c, d)[:, :, None]
        # The added errors decay as well: by a lower bound of the angle everywhere.
        slope = 0.8 * self.outside.least_slope[:, None, None]
        slowest = slope * np.sin(far * d[:, :, None]) / far
        slack = self._slack(c, d)[:, :, None] * (far + np.log1p(1 / (u * slowest)))
        total = _sums(_integral, size, angle, u, share) * (1 + 4 * wrong + quadrature) + slack
        log_total = np.log(np.maximum(total, 1e-300))
        return np.min((d * d / 2 + _TURNED)[:, :, None] + log_total, axis=1)

    def _rounded(self, c: float) -> Array:
        """Bound the relative rounding of the tilted weights, the logarithms and the angles."""
        far, points = np.maximum(self.stack.p.far, self.stack.q.far), self.points
        # Losses and exponents are largest at the ends.
        loss = np.max(np.abs(points.loss[:, [0, -1]]), axis=1)
        z = max(abs(float(self.q.x[0])), abs(float(self.q.x[-1])))
        size = abs(c) * loss + abs(float(points.log_weight.min())) + (z + far) * far
        return _TURNED + 2 * TILT * size

    def _turned(self, c: float, copies: Array, wrong: Array) -> tuple[Array, Array, Array]:
        """Return heights d, and log |A|^(1-c) |B|^c and arg B - arg A at z + id less those at z.

        The logarithm is rounded up and the angle down, both by `wrong` relatively.
        """
        stack = self.stack
        # Copies that shrink like e^(-d²/2) need no more than d²/2 = 40 together.
        largest = np.minimum(np.sqrt(80 / np.maximum(copies, 1.0)), 0.6 * stack.reach)
        d = np.minimum(largest, 6.0)[:, None] * _SHIFTS
        p, q = self.p.turned(d), self.q.turned(d)
        bend = abs(1 - c) * (stack.p.far[:, None] * d) ** 2
        bend = bend + abs(c) * (stack.q.far[:, None] * d) ** 2
        size = (1 - c) * p[0] + c * q[0] + wrong * bend[:, :, None]
        return d, size, (q[1] - p[1]) * (1 - wrong)

    def _lift(self, c: float, angle: Array) -> Array:
        """Bound log |A|^(1-c) |B|^c at z + i angle less that at z: where a power is negative."""
        lift = np.zeros(angle.shape)
        for mixtures, power in ((self.stack.p, c - 1), (self.stack.q, -c)):
            if power > 0 and not mixtures.standard:
                spread = np.reshape(mixtures.spread, (-1, *(1,) * (angle.ndim - 1)))
                lift = lift - power * np.log(np.cos(np.minimum(spread * angle, 3.0) / 2))
        return lift

    def _slack(self, c: float, d: Array) -> Array:
        """Bound both of the following together."""
        return self._quadrature(c, d) + self._missing(c, d)

    def _quadrature(self, c: float, d: Array) -> Array:
        """Bound the errors of the trapezoidal sums, relative to e^K(c), by a second shift e."""
        e = _BESIDE * self.stack.reach[:, None, None]
        exponent = 2 * math.pi * e / self.step
        damping = exponent + np.log(-np.expm1(-exponent))
        log = e * e / 2 + self._lift(c, d[:, None] + e) - damping + math.log(4)
        return np.exp(np.minimum(np.min(log, axis=1), _MOST))

    def _missing(self, c: float, d: Array) -> Array:
        """Bound what the nodes left out would have added, relative to e^K(c)."""
        log = self.points.log_weight + c * self.points.loss
        relative = self.outside.log_total(c) - np.logaddexp.reduce(log, axis=1)
        return np.exp(np.minimum(relative[:, None] + self._lift(c, d), _MOST))


def _ends(span: Span) -> Array:
    return np.asarray([span.low] if span.low == span.high else [span.low, span.high])


def _integral(log: Array, x: Array) -> Array:
    """Return e^log times a bound of the integral of e^-y dy/y over y >= x."""
    return np.exp(log - x + np.log(np.log1p(1 / np.maximum(x, 1e-300))))


def _sums(
    function: Callable[[Array, Array], Array], size: Array, angle: Array, u: Array, share: Array
) -> Array:
    """Return the sums of function(size, u angle) share over the places; infinite beyond doubles.

    Args:
        function: of arrays.
        size: shape (laws, shifts, places).
        angle: in the same shape.
        u: heights.
        share: shape (laws, places).

    Returns:
        shape (laws, shifts, heights).
    """
    # Law by law, so that the arrays stay in the processor's cache.
    rows: list[Array] = []
    with np.errstate(over="ignore", invalid="ignore"):
        for log, turn, weight in zip(size, angle, share, strict=True):
            rows.append(function(log[:, None], u[:, None] * turn[:, None]) @ weight)
    part = np.stack(rows)
    return np.where(np.isnan(part), np.inf, part)
