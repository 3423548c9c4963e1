"""One step of a mixture law, between two smooth cuts of the place z where it lands.

P is N(0, 1), Q = φ B, B = Σ q_j e^(t_j z - t_j²/2) with t_j >= 0, l = log B. A cut at a is

    χ_a(z) = Φ((1 - v)/κ),    v = e^(θ (z - a)),

which is entire, increases with a, and falls faster than any e^(cl) rises. What is summed are

    I_g(s) = ∫ φ g B^s dz,    g = χ_b or g = χ_b - χ_a,  -inf <= a < b <= inf.

On z = x + iy, |B^s| <= B(x)^c e^(-u arg B), and |Φ(X + iY)| <= e^(Y²/2) Φ(X), so that every error
is bounded by upper Riemann sums of products of monotone functions (`CutGrid.log_cells`;
docs/theory/steps.md).
"""

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from neyman.numerics._bracket import ULP, Array
from neyman.numerics._complex import ComplexArray, complex_log1p
from neyman.numerics._laws._shifts import Shifts
from neyman.numerics._special import faddeeva, log_ndtr, ndtr

__all__ = ["CutGrid", "Lifted"]

_LOG_SQRT_2PI = 0.5 * math.log(2 * math.pi)
# The relative error that is granted to Φ of complex numbers.
_PHI_ERROR = 2.0**-42
# κ/θ: how wide a cut is, in deviations of the noise, or in units of z if that is less.
_WIDTH = 0.16
# Left of a cut 1 - χ falls to Φ(-1/κ), so far below the least that matters.
_BELOW = 45.0
# How far a path is moved, in widths; the nodes of a line lie half as high.
_RISE = 4.5
_MARGIN = 48.0
_FIRST = -9.0
_STEEP = 3.0
_FARTHER = 1.25
_FARTHEST = 60.0
# Beyond it e^(tz) is not formed.
_HIGHEST = 680.0
_TINY = -700.0


def _complex_cut(zeta: ComplexArray) -> tuple[ComplexArray, ComplexArray]:
    """Return Φ(ζ) and Φ(-ζ): the smaller by the function of Faddeeva, the other as the rest."""
    right = np.where(zeta.real > 0, -zeta, zeta)
    v = -right / math.sqrt(2)
    square = -v * v
    scale = np.where(square.real > _TINY, np.exp(np.maximum(square.real, _TINY)), 0.0)
    near = np.where(square.real > _TINY, v, 0.0)
    phase = np.exp(1j * np.where(square.real > _TINY, square.imag, 0.0))
    small = 0.5 * scale * phase * faddeeva(1j * near)
    return np.where(zeta.real > 0, 1 - small, small), np.where(zeta.real > 0, small, 1 - small)


@final
@dataclass(frozen=True, slots=True)
class Lifted:
    """Summands of I_g on x + iy at one c, over e^`scale`, for both g."""

    loss: ComplexArray
    terms: ComplexArray  # χ_b in the first row, χ_b - χ_a in the second
    flat: Array  # bounds of the errors of both sums ...
    steep: Array  # ... and of what they grow by, times u


@final
@dataclass(frozen=True, slots=True)
class CutGrid:
    """The nodes x, and log B on them within `wrong`."""

    q: Shifts
    sharp: float  # κ
    rate: float  # θ
    step: float
    rise: float  # y of the nodes of a line
    x: Array
    loss: Array
    wrong: Array

    @classmethod
    def over(cls, q: Shifts, last: float, steepest: float, log_least: float) -> "CutGrid":
        """Lay nodes from -9 to beyond a last cut, and to where a cut at 0 bears a tilt."""
        unit = min(1 / q.far, 1.0)
        width = _WIDTH * unit
        depth = _RISE * width
        step = math.pi * depth / (_MARGIN + _RISE**2 / 2)
        # A step of few digits makes its multiples exact.
        digits = 2.0 ** (math.floor(math.log2(step)) - 8)
        step = math.floor(step / digits) * digits
        sharp = 1 / math.sqrt(2 * (_BELOW - log_least))
        rate = sharp / width
        bearing = math.log(4 * steepest * q.far * sharp**2 / rate + 1) / (2 * rate)
        end = min(max(last + 8 * unit, bearing), _HIGHEST / q.far)
        x = step * np.arange(math.floor(_FIRST / step), math.ceil(end / step) + 1.0)
        rows = q.on(x)
        excess, value = rows.excess, rows.value
        near = np.abs(excess) < 0.5
        with np.errstate(divide="ignore"):
            loss = np.where(near, np.log1p(np.where(near, excess, 0.0)), np.log(value))
        wrong = 2 * _moved(q, x, rows.grown) / value + ULP * np.abs(loss)
        return cls(q, sharp, rate, step, depth / 2, x, loss, wrong)

    @property
    def log_base(self) -> Array:
        """Log of the step times φ."""
        return math.log(self.step) - _LOG_SQRT_2PI - self.x * self.x / 2

    def grown(self, a: Array | float, z: Array) -> Array:
        """Return v."""
        return np.exp(np.minimum(self.rate * (z - a), _FARTHEST))

    def cut(self, a: float) -> Array:
        """Return χ_a on the nodes."""
        if math.isinf(a):
            return np.ones_like(self.x)
        return ndtr((1 - self.grown(a, self.x)) / self.sharp)

    def between(self, low: float, high: float) -> Array:
        """Return χ_high - χ_low > 0, relatively accurate on either side."""
        if math.isinf(low):
            return self.cut(high)
        under = (1 - self.grown(low, self.x)) / self.sharp
        if math.isinf(high):
            return ndtr(-under)
        over = (1 - self.grown(high, self.x)) / self.sharp
        return np.where(under < 0, ndtr(over) - ndtr(under), ndtr(-under) - ndtr(-over))

    def log_cells(self, y: float, low: float, high: float) -> Array:
        """Bound log of the integral of |φ g| over each cell of x + iy; B^c, at its end, apart.

        The end cells stand for all that lies beyond them.
        """
        left, right = self.x[:-1], self.x[1:]
        nearest = np.where(left * right < 0, 0.0, np.minimum(np.abs(left), np.abs(right)))
        log = math.log(self.step) - _LOG_SQRT_2PI + (y * y - nearest * nearest) / 2
        above, beyond = self._cut_cells(y, high)
        if not math.isinf(low):
            over, under = self._cut_cells(y, low)
            above = np.minimum(np.logaddexp(above, over), np.logaddexp(under, beyond))
        log = log + above + 1e-9
        log[0] += math.log1p(1 / (self.step * -left[0]))
        log[-1] += math.log1p(1 / (self.step * _STEEP))
        return log

    def _cut_cells(self, y: float, a: float) -> tuple[Array, Array]:
        """Bound log |χ_a| and log |1 - χ_a| over the cells on x + iy."""
        if math.isinf(a):
            return np.zeros(self.x.size - 1), np.full(self.x.size - 1, -np.inf)
        turn = self.rate * y
        v = self.grown(a, self.x)
        lift = (v[1:] * math.sin(turn)) ** 2 / (2 * self.sharp**2)
        above = log_ndtr((1 - v[:-1] * math.cos(turn)) / self.sharp)
        beyond = log_ndtr((v[1:] * math.cos(turn) - 1) / self.sharp)
        return lift + above, lift + beyond

    def steepest(self, high: float) -> float:
        """Return the largest c at which what lies beyond the grid falls, by e^-3 a unit."""
        if math.isinf(high):
            return (float(self.x[-1]) - _STEEP) / self.q.far
        v = float(self.grown(high, self.x[-1:])[0])
        # As far as a path is ever moved.
        turn = 2 * _FARTHER * self.rate * self.rise
        fall = self.rate * (v * v * math.cos(2 * turn) - v) / self.sharp**2
        return (float(self.x[-1]) + fall - _STEEP) / self.q.far

    def total(self, log_cells: Array, c: Array) -> Array:
        """Bound the log of the sum of the cells at each c, by the largest."""
        log = log_cells + np.reshape(c, (-1, 1)) * (self.loss + self.wrong)[1:]
        return log.max(axis=1) + math.log(log_cells.size)

    def slack(self, c: Array) -> Array:
        """Bound the relative rounding of sums of positive terms at c, generously."""
        size = 6000 + self.x[-1] ** 2 + self.x.size + 4 * np.abs(c) * np.max(np.abs(self.loss))
        return 2 * ULP * size + 2 * np.abs(c) * np.max(self.wrong)

    def log_alias(self, low: float, high: float, c: Array) -> Array:
        """Return the log of the error of the sum of χ_high - χ_low on the real line."""
        shift = 2 * self.rise
        moved = self.total(self.log_cells(shift, low, high), c)
        return moved + math.log(2.002) - 2 * math.pi * shift / self.step

    def log_lifted_alias(self, low: float, high: float, c: Array) -> Array:
        """Return the same on the line above, whatever u: a path goes up, and one down to reals."""
        up = self.total(self.log_cells(2 * self.rise, low, high), c)
        down = self.total(self.log_cells(0.0, low, high), c)
        return np.logaddexp(up, down) + math.log(1.001) - 2 * math.pi * self.rise / self.step

    def lifted(self, c: float, low: float, high: float, scale: float, part: slice) -> Lifted:
        """Return the summands at c on the line above, of the nodes of a part."""
        x = self.x[part]
        z: ComplexArray = np.asarray(x + 1j * self.rise, np.complex128)
        rows = self.q.on(x)
        excess = rows.lifted(self.rise)
        near = np.abs(excess) < 0.5
        loss = np.where(
            near,
            complex_log1p(np.where(near, excess, 0.0)),
            np.log(rows.lifted_value(self.rise)),
        )
        wrong = 2 * _moved(self.q, x, rows.grown) / np.abs(1 + excess) + ULP * np.abs(loss)
        log = math.log(self.step) - _LOG_SQRT_2PI - z * z / 2 + c * loss - scale
        plain = np.exp(log)
        above, beyond, off = self._lifted_cut(z, high)
        terms, cuts = [plain * above, plain * above], [off, off]
        if not math.isinf(low):
            over, under, low_off = self._lifted_cut(z, low)
            inner = np.where(x < low, under - beyond, above - over)
            # The difference is of two small numbers on one side of the cut, or on the other.
            small = np.where(x < low, np.abs(under) + np.abs(beyond), np.abs(above) + np.abs(over))
            terms[1], cuts[1] = plain * inner, off + low_off + ULP * small
        stack = np.stack(terms)
        size = np.abs(stack)
        exponent = (np.abs(z) ** 2 / 2 + np.abs(c * loss) + abs(scale)) / 2
        relative = ULP * (6 + x.size / 64 + exponent) + 1.01 * abs(c) * wrong
        flat = (size * relative + np.abs(plain) * np.stack(cuts)).sum(axis=1)
        steep = (size * (wrong + ULP * np.abs(loss))).sum(axis=1)
        return Lifted(loss, stack, flat, steep)

    def _lifted_cut(self, z: ComplexArray, a: float) -> tuple[ComplexArray, ComplexArray, Array]:
        """Return χ_a, 1 - χ_a and a bound of the error of both, but for rounding 1 - x."""
        if math.isinf(a):
            return np.ones_like(z), np.zeros_like(z), np.zeros(z.size)
        turn = self.rate * (z - a)
        v = np.exp(np.minimum(turn.real, _FARTHEST) + 1j * turn.imag)
        zeta: ComplexArray = np.asarray((1 - v) / self.sharp, np.complex128)
        above, beyond = _complex_cut(zeta)
        small = np.minimum(np.abs(above), np.abs(beyond))
        moved = ULP * (1 + np.abs(v) * (1 + np.abs(turn) / 2)) / self.sharp
        # |d log Φ/dζ| is at most 2 (|ζ| + 1) on the side where Φ is small.
        return above, beyond, small * (_PHI_ERROR + 2 * (1 + np.abs(zeta)) * moved)


def _moved(q: Shifts, x: Array, grown: Array) -> Array:
    """Bound the error of B - 1."""
    means, weights = np.asarray(q.means)[:, None], np.asarray(q.weights)
    size = np.where(means > 0, 4 + (means * np.abs(x) + means * means) / 2, 0.0)
    return ULP * (weights @ (grown * size))
