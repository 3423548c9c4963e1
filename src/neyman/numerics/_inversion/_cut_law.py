"""One step of a mixture law, between two smooth cuts of the place z where it lands.

P is N(0, 1), Q = φ B, B = Σ q_j e^(t_j z - t_j²/2) with t_j >= 0, l = log B. A cut at a is

    χ_a(z) = Φ((1 - v)/κ),    v = e^(θ (z - a)),

which is entire, increases with a, and falls faster than any e^(cl) rises. The sums compute

    I_g(s) = ∫ φ g B^s dz,    g = χ_b or g = χ_b - χ_a,  -inf <= a < b <= inf.

On z = x + iy, |B^s| <= B(x)^c e^(-u arg B), and |Φ(X + iY)| <= e^(Y²/2) Φ(X), so that every error
is bounded by upper Riemann sums of products of monotone functions (`CutGrid.log_cells`;
docs/theory/steps.md).
"""

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from neyman.numerics._disc import Disc
from neyman.numerics._interval import Array, quiet
from neyman.numerics._inversion._contour import TWO_PI
from neyman.numerics._laws._shifts import Shifts
from neyman.numerics._primitives import log
from neyman.numerics._special import faddeeva, log_ndtr, ndtr

__all__ = ["CutGrid", "Lifted", "complex_cut"]

_UNIT = 2.0**-53

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
_TINY, _NOTHING = -700.0, 1e-290


@quiet
def complex_cut(zeta: Disc) -> tuple[Disc, Disc]:
    """Return Φ(ζ) and Φ(-ζ): the smaller by the function of Faddeeva, the other as the rest.

    The smaller is within 2^-42 (1 + |ζ|²/8) of itself, and |d log Φ/dζ| is at most 2 (|ζ| + 1).
    """
    at, off = zeta.value, zeta.error
    right = np.where(at.real > 0, -at, at)
    v = -right / math.sqrt(2)
    square = -v * v
    scale = np.where(square.real > _TINY, np.exp(np.maximum(square.real, _TINY)), 0.0)
    near = np.where(square.real > _TINY, v, 0.0)
    phase = np.exp(1j * np.where(square.real > _TINY, square.imag, 0.0))
    small = 0.5 * scale * phase * faddeeva(1j * near)
    moved = np.expm1(2 * (np.abs(at) + off + 1) * off)
    relative = _PHI_ERROR * (1 + np.abs(at) ** 2 / 8) + moved
    # Beyond, both it and what it stands for are below the doubles, about.
    lost = np.where(square.real > _TINY, np.abs(small) * relative, _NOTHING)
    least = Disc.within(small, 0.0, lost)
    rest = 1 - least
    return Disc.where(at.real > 0, rest, least), Disc.where(at.real > 0, least, rest)


def log_ratio(q: Shifts, z: Disc) -> Disc:
    """Return log B, by B - 1 where that is small."""
    terms = [(z * t - Disc.exactly(t) * t / 2, w) for t, w in zip(q.means, q.weights, strict=True)]
    zero = Disc.exactly(np.zeros_like(z.value))
    value = sum((power.exp() * w for power, w in terms), zero)
    excess = sum((power.expm1() * w for power, w in terms), zero)
    near = np.abs(excess.value) < 0.5
    return Disc.where(near, Disc.where(near, excess, zero).log1p(), value.log())


@final
@dataclass(frozen=True, slots=True)
class Lifted:
    """Summands of I_g on x + iy at one c, over e^`scale`, for both g."""

    loss: Disc
    terms: Disc  # χ_b in the first row, χ_b - χ_a in the second


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
        loss, wrong = log_ratio(q, Disc.exactly(x))
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

        The end cells include everything beyond them.
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
        """Bound the relative error of sums of φ B^c and cuts on the nodes, as doubles add them.

        In units of 2^-53: Φ is within 6,000 where it is not 0, an exponent within 8 of itself, and
        a sum of N terms within N.
        """
        exponent = self.x[-1] ** 2 + np.abs(c) * np.max(np.abs(self.loss))
        return _UNIT * (6000 + self.x.size + 8 * exponent) + 2 * np.abs(c) * np.max(self.wrong)

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
        z = Disc.exactly(np.asarray(x + 1j * self.rise, np.complex128))
        loss = log_ratio(self.q, z)
        constant = log(np.asarray(self.step)) - log(TWO_PI) / 2 - scale
        plain = (loss * c - z * z / 2 + Disc.over(constant)).exp()
        above, beyond = self._lifted_cut(z, high)
        whole = inner = plain * above
        if not math.isinf(low):
            over, under = self._lifted_cut(z, low)
            # The difference is of two small numbers on one side of the cut, or on the other.
            inner = plain * Disc.where(x < low, under - beyond, above - over)
        values, errors = zip(whole, inner, strict=True)
        return Lifted(loss, Disc(np.stack(values), np.stack(errors)))

    def _lifted_cut(self, z: Disc, a: float) -> tuple[Disc, Disc]:
        """Return χ_a and 1 - χ_a."""
        if math.isinf(a):
            one = Disc.exactly(np.ones_like(z.value))
            return one, one - one
        turn = (z - a) * self.rate
        # Beyond it χ_a is below the doubles, and so is what it stands for.
        near = np.minimum(turn.value.real, _FARTHEST) + 1j * turn.value.imag
        v = Disc.of(np.asarray(near, np.complex128), turn.error).exp()
        return complex_cut((1 - v) / self.sharp)
