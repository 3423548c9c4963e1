"""The loss between two mixtures of normals of one variance, shifted to opposite sides.

P has density φ(z) A(z) and Q density φ(z) B(z), with

    A = Σ p_j e^(t_j z - t_j²/2), t_j <= 0,    B = Σ q_j e^(t_j z - t_j²/2), t_j >= 0,

so that the loss l(z) = log B - log A increases. Expectations under P are trapezoidal sums over z.
Both certificates come from shifting the line of integration, z -> z + id
(docs/theory/contour.md):

    quadrature   the nodes of a line lie above the real one, where e^(iul) only shrinks, and so
                 do both paths that bound the aliases of the sum, whatever the height u;
    truncation   |e^K(c+iv)| <= e^(d²/2) E_φ[|A|^(1-c) |B|^c e^(-v (arg B - arg A))] at z + id,
                 which decreases in v: one number bounds the rest of the contour.
"""

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from neyman.numerics._bracket import Array
from neyman.numerics._complex import ComplexArray
from neyman.numerics._disc import Disc, sum_units
from neyman.numerics._laws._loss_law import LossLaw, LossNodes, RealCumulant, Span
from neyman.numerics._laws._mixture_cells import HIGHEST, LOG_SQRT_2PI, Cells, Grid, first_step
from neyman.numerics._laws._shifts import Rows, Shifts
from neyman.numerics._laws._weighted import TILT, PointRows, WeightedLosses
from neyman.overriding import override

__all__ = [
    "BULK",
    "FINER",
    "MOST",
    "MOST_NODES",
    "QUADRATURE",
    "SHIFTS",
    "WINDOW",
    "GaussianMixtureLaw",
    "Shifts",
]

# Nodes whose weight is below e^-44 of the largest are left out, and counted.
WINDOW, BULK = 44.0, 8.5
MOST_NODES = 2**13
# Share of the rounding that the quadrature may be off.
QUADRATURE = 2.0**-5
FINER = 1.15
# Exponents above it tell nothing.
MOST = 300.0
# Means of the tilted law, in deviations, and tilts that are still followed.
_FARTHEST, _STEEPEST = 600.0, 1e6
# What turned logarithms, angles and their exponentials are off by.
_TURNED = 2.0**-46
# A grid reaches so many deviations beyond the tilted mean.
_WITHIN = 16.0
SHIFTS = 1.6 ** -np.arange(5.0)


@final
@dataclass(frozen=True, slots=True)
class GaussianMixtureLaw(LossLaw):
    """See the module; `p` has means <= 0, `q` means >= 0."""

    p: Shifts
    q: Shifts

    @property
    @override
    def strip(self) -> tuple[float, float]:
        return -math.inf, math.inf

    @property
    @override
    def usable(self) -> tuple[float, float]:
        most = min(_FARTHEST, self._held - _WITHIN)
        high = most / self.q.far if self.q.far else math.inf
        low = 1 - most / self.p.far if self.p.far else -math.inf
        return max(low, -_STEEPEST), min(high, _STEEPEST)

    @property
    def _held(self) -> float:
        """How far out the doubles hold e^(tz)."""
        return HIGHEST / max(self.p.far, self.q.far)

    @property
    @override
    def range(self) -> tuple[float, float]:
        low = self.q.log_unmoved if self.p.far == 0 else -math.inf
        high = -self.p.log_unmoved if self.q.far == 0 else math.inf
        return math.nextafter(low, -math.inf), math.nextafter(high, math.inf)

    @override
    def from_one_normal(self, *, reversed_: bool) -> Shifts | None:
        one, other = (self.q, self.p) if reversed_ else (self.p, self.q)
        if one.means != (0.0,):
            return None
        return Shifts(tuple(-t for t in other.means), other.weights) if reversed_ else other

    @property
    @override
    def wide(self) -> bool:
        return True

    @property
    @override
    def likeness(self) -> tuple[float, float]:
        means = np.asarray(self.q.means + self.p.means)
        weights = np.asarray([*self.q.weights, *(-w for w in self.p.weights)])
        growth = np.expm1(np.minimum(np.outer(means, means), MOST))
        return self.p.far + self.q.far, max(float(weights @ growth @ weights), 1e-300)

    @property
    def reach(self) -> float:
        """A quarter turn of all angles together: the most that a line may be shifted."""
        return math.pi / 2 / (self.p.far + self.q.far)

    @override
    def prepared(self, span: Span) -> "MixtureNodes":
        finer, ends = 1.0, _ends(span)
        while True:
            grid = Grid.over(self, span, finer)
            values, cells = grid.loss(), grid.cells()
            rounded = grid.rounding(0.0, *values[:2])
            aliased = cells.plus(grid.log_alias()).total(ends)
            enough = np.all(aliased <= QUADRATURE * rounded.total(ends))
            if enough or grid.x.size > MOST_NODES:
                # Where the step does not do, the error says so.
                return _nodes(self, grid, values, rounded, cells, span)
            finer *= FINER

    @override
    def sketched(self, span: Span) -> "MixtureNodes":
        step = min(0.25, self.reach / 6)
        low = max(-9.0 - max(1 - span.low, 1.0) * self.p.far, -self._held)
        high = min(9.0 + max(span.high, 1.0) * self.q.far, self._held)
        z = np.arange(low, high, step)
        grid = Grid(self, step, 0.0, (False, False), z, self.p.on(z), self.q.on(z))
        log_a, loss, r = grid.loss()
        log_weight = -z * z / 2 - LOG_SQRT_2PI + math.log(step) + log_a
        none = Cells(*(np.zeros(0) for _ in range(5)))
        points = WeightedLosses.of(log_weight, r, loss)
        lifted = Lifted(points.row, none)
        # The bounds are those of the grid that it stands for.
        finer = first_step(self)[1]
        return MixtureNodes(self, grid.p, grid.q, points, lifted, finer, none, Outside.none())


def _ends(span: Span) -> Array:
    return np.asarray([span.low] if span.low == span.high else [span.low, span.high])


def _nodes(
    law: GaussianMixtureLaw,
    grid: Grid,
    values: tuple[Array, Array, Array],
    rounded: Cells,
    cells: Cells,
    span: Span,
) -> "MixtureNodes":
    log_a, loss, r = values
    ends = _ends(span)
    log_weight = -grid.x * grid.x / 2 - LOG_SQRT_2PI + math.log(grid.step) + log_a
    # The bulk of the tilted laws is kept too: the bounds on the decay need it.
    weights = np.vstack([rounded.log_size(ends), log_weight + ends[:, None] * loss])
    kept = (weights > weights.max(axis=1, keepdims=True) - WINDOW).any(axis=0)
    kept |= np.abs(grid.x) < BULK
    first, last = np.flatnonzero(kept)[[0, -1]].tolist()
    part = slice(first, last + 1)
    # The end cells stand for all that lies beyond, where the weights fall by e^(-13 x).
    missing = np.ones(grid.x.size - 1)
    missing[part] = 0
    missing[[0, -1]] += 1 / grid.step
    points = WeightedLosses.of(log_weight[part], r[part], loss[part])
    outside = Outside.of(grid, (log_a, loss), missing)
    between = cells.plus(grid.log_alias()).joined(grid.left_out(cells, missing))
    wrong = rounded.joined(between)
    lifted = Lifted(points.row, wrong) if span.height == 0 else Lifted.of(grid, part, between)
    rows = grid.p.part(part), grid.q.part(part)
    return MixtureNodes(law, *rows, points, lifted, grid.step, wrong, outside)


@final
@dataclass(frozen=True, slots=True)
class Lifted:
    """The points on a line above the real one, where e^(iul) only shrinks."""

    points: PointRows
    wrong: Cells

    @classmethod
    def of(cls, grid: Grid, part: slice, between: Cells) -> "Lifted":
        """Take the kept nodes of the grid; `between` is what goes wrong besides the rounding."""
        log_a, loss, r = grid.turned()
        wrong = grid.rounding(grid.shift, log_a, loss).joined(between)
        log_a, loss, r, z = log_a[part], loss[part], r[part], grid.x[part] + 1j * grid.shift
        log_weight = -z * z / 2 - LOG_SQRT_2PI + math.log(grid.step) + log_a
        return cls(PointRows.of(log_weight, loss[None], r[None]), wrong)


@final
@dataclass(frozen=True, slots=True)
class Outside:
    """Bounds over the cells of the nodes that were left out, and of all that lies beyond.

    φ A^(1-c) B^c is at most e^base times powers of A and B at the ends of the cell.
    """

    base: Array
    log_a: tuple[Array, Array]
    log_b: tuple[Array, Array]
    least_slope: float

    @classmethod
    def none(cls) -> "Outside":
        """Return no cells: for a sketch."""
        nothing = np.zeros(0)
        return cls(nothing, (nothing, nothing), (nothing, nothing), 1e-20)

    @classmethod
    def of(cls, grid: Grid, logs: tuple[Array, Array], missing: Array) -> "Outside":
        """Take the cells where something is missing; `missing` counts it."""
        left, right, out = grid.x[:-1], grid.x[1:], missing > 0
        log_a, log_b = logs[0], logs[0] + logs[1]
        nearest = np.where(left * right < 0, 0.0, np.minimum(np.abs(left), np.abs(right)))
        base = math.log(grid.step) - LOG_SQRT_2PI - nearest * nearest / 2
        base[[0, -1]] += np.where(grid.cut, np.inf, 0.0)
        base = base[out] + np.log(missing[out]) + 1e-9
        slopes = grid.law.q.slope_at(grid.x[0]), -grid.law.p.slope_at(grid.x[-1])
        return cls(
            base,
            (log_a[:-1][out], log_a[1:][out]),
            (log_b[:-1][out], log_b[1:][out]),
            max(*slopes, 1e-300),
        )

    def log_total(self, c: float) -> float:
        """Return the log of the sum at c."""
        if not self.base.size:
            return -math.inf
        total = self.base + max(c, 0.0) * self.log_b[1] + min(c, 0.0) * self.log_b[0]
        total = total + max(1 - c, 0.0) * self.log_a[0] + min(1 - c, 0.0) * self.log_a[1]
        return float(np.logaddexp.reduce(total))


@final
@dataclass(frozen=True, slots=True)
class MixtureNodes(LossNodes):
    """The nodes of the trapezoidal sum, and cells that bound its errors."""

    law: GaussianMixtureLaw
    p: Rows
    q: Rows
    points: WeightedLosses
    lifted: Lifted
    step: float
    wrong: Cells  # |G_computed - G| / |s (s - 1)| but for what the sums round
    outside: Outside

    @property
    def z(self) -> Array:
        """The nodes."""
        return self.q.x

    @override
    def real(self, c: Array) -> RealCumulant:
        with np.errstate(over="ignore"):
            return self.points.real(c, np.abs(c * (c - 1)) * self.wrong.total(c))

    @override
    def most(self, c: Array) -> Array:
        with np.errstate(over="ignore"):
            return self.points.most(c, np.abs(c * (c - 1)) * self.wrong.total(c))

    @override
    def sketch(self, c: Array) -> RealCumulant:
        return self.points.sketch(c)

    @override
    def line(self, c: float, u: Array) -> Disc:
        s, above = c + 1j * u, self.lifted
        wrong = np.abs(s * (s - 1)) * above.wrong.total(np.asarray([c]))
        return above.points.line(c, u, wrong).at(0)

    @override
    def at(self, s: ComplexArray) -> ComplexArray:
        value = self.lifted.points.at(np.where(s.imag < 0, np.conj(s), s))
        value = np.where(s.imag < 0, np.conj(value), value)
        return np.where(s.imag == 0, self.points.at(s), value)

    def _turned(self, c: float, count: float, wrong: float) -> tuple[Array, Array, Array]:
        """Return the shifts d, and log |A|^(1-c) |B|^c and arg B - arg A at z + id less z's.

        The logarithm is rounded up and the angle down, both by `wrong` relatively.
        """
        # Copies that shrink like e^(-d²/2) need no more than d²/2 = 40 together.
        d = min(math.sqrt(80 / max(count, 1.0)), 0.6 * self.law.reach, 6.0) * SHIFTS
        p, q = self.p.turned(d), self.q.turned(d)
        bend = abs(1 - c) * (self.law.p.far * d) ** 2 + abs(c) * (self.law.q.far * d) ** 2
        size = (1 - c) * p[0] + c * q[0] + (wrong * bend)[:, None]
        return d, size, (q[1] - p[1]) * (1 - wrong)

    def _rounded(self, c: float) -> float:
        """Bound the relative rounding of the tilted weights, the logarithms and the angles."""
        far, points = max(self.law.p.far, self.law.q.far), self.points
        # Losses and exponents are largest at the ends.
        loss, z = (max(abs(row[0]), abs(row[-1])) for row in (points.loss, self.z))
        size = abs(c) * loss + abs(points.log_weight.min()) + (z + far) * far
        return _TURNED + 2 * TILT * float(size)

    @override
    def decay(self, c: float, u: Array, count: float) -> Array:
        wrong, share = self._rounded(c), self.points.tilted(c)
        floor = sum_units(self.z.size)
        d, size, angle = self._turned(c, count, wrong)
        added = floor * np.exp(np.minimum(self._lift(c, d), MOST)) + self._slack(c, d)
        part = _all(np.expm1, size[:, None] - u[:, None] * angle[:, None], share)
        part = part + wrong * (1 + part) + added[:, None]
        bounds = (d * d / 2 + _TURNED)[:, None] + np.log1p(part)
        return np.minimum(np.min(bounds, axis=0), 0.0)

    @override
    def decay_integral(self, c: float, u: Array, count: float) -> Array:
        wrong, share = self._rounded(c), self.points.tilted(c)
        d, size, angle = self._turned(c, count, wrong)
        far = self.law.p.far + self.law.q.far
        x = u[:, None] * angle[:, None]
        log = size[:, None] - x + np.log(np.log1p(1 / np.maximum(x, 1e-300)))
        quadrature = self._quadrature(c, d)[:, None]
        # What is added turns too, if slowly: by what is proved of the angle where it is least.
        slowest = 0.8 * self.outside.least_slope * np.sin(far * d[:, None]) / far
        slack = self._slack(c, d)[:, None] * (far + np.log1p(1 / (u * slowest)))
        total = _all(np.exp, log, share) * (1 + 4 * wrong + quadrature) + slack
        log_total = np.log(np.maximum(total, 1e-300))
        return np.min((d * d / 2 + _TURNED)[:, None] + log_total, axis=0)

    def _lift(self, c: float, angle: Array) -> Array:
        """Bound log |A|^(1-c) |B|^c at z + i angle less z's: where a power is negative."""
        lift = np.zeros(angle.shape)
        for shifts, power in ((self.law.p, c - 1), (self.law.q, -c)):
            if power > 0 and shifts.spread > 0:
                lift -= power * np.log(np.cos(np.minimum(shifts.spread * angle, 3.0) / 2))
        return lift

    def _slack(self, c: float, d: Array) -> Array:
        """Bound both of the following together."""
        return self._quadrature(c, d) + self._missing(c, d)

    def _quadrature(self, c: float, d: Array) -> Array:
        """Bound the errors of the trapezoidal sums, relative to e^K(c), by a second shift e."""
        e = np.asarray([[0.1], [0.2], [0.4]]) * self.law.reach
        exponent = 2 * math.pi * e / self.step
        damping = exponent + np.log(-np.expm1(-exponent))
        best = np.min(e * e / 2 + self._lift(c, d + e) - damping + math.log(4), axis=0)
        return np.exp(np.minimum(best, MOST))

    def _missing(self, c: float, d: Array) -> Array:
        """Bound what the nodes left out would have added, relative to e^K(c)."""
        log = self.points.log_weight + c * self.points.loss
        relative = self.outside.log_total(c) - float(np.logaddexp.reduce(log))
        return np.exp(np.minimum(relative + self._lift(c, d), MOST))


def _all(function: np.ufunc, log: Array, share: Array) -> Array:
    """Return the sums of function(log) share; infinite where the doubles do not hold them."""
    with np.errstate(over="ignore", invalid="ignore"):
        part = function(log) @ share
    return np.where(np.isnan(part), np.inf, part)
