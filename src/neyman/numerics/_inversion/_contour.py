"""Tails of a sum of losses from its cumulant, by a vertical line and with a bracket.

For c to the right of the poles, and R = 2π/h,

    h/2π Σ_j e^(K(s_j) - (s_j - a) t) / d(s_j) = Σ_k e^((c - a) kR) F(t + kR),   s_j = c + ijh,

where F, a and d are those of one of

    delta(t) = E_P[(e^L - e^t)_+]   a = 1, d = s (s - 1), c > 1
    Q(L > t)                        a = 1, d = s - 1,     c > 1
    P(L > t)                        a = 0, d = s,         c > 0.

F >= 0, so the sum is an upper bound of the term k = 0 as it stands, and what it exceeds it by is
bounded by F(t) <= e^(K(x) - (x - a) t) at other points x of the strip, and by F <= 1. The rest of
the line is bounded by the law's decay. Proofs: docs/theory/contour.md.
"""

import math
from dataclasses import dataclass
from typing import Self, TypeAlias, final

import numpy as np
import numpy.typing as npt

from neyman.numerics._bracket import Array
from neyman.numerics._complex import ComplexArray
from neyman.numerics._disc import Disc
from neyman.numerics._interval import Interval, quiet
from neyman.numerics._inversion._steady_pieces import SteadyTail
from neyman.numerics._primitives import exp, expm1, log, log_peak

__all__ = [
    "DELTA",
    "KNOWN",
    "P_ABOVE",
    "Q_ABOVE",
    "TWO_PI",
    "Contour",
    "Functional",
    "Rows",
    "Waves",
    "based",
    "even_step",
    "line_weights",
]

# The sum that each threshold belongs to: an index for each, or a slice of all in order.
Rows: TypeAlias = npt.NDArray[np.intp] | slice

_PI = Interval(np.asarray(math.pi), np.asarray(math.nextafter(math.pi, 4.0)))
TWO_PI, _LOG_PI = _PI * 2, log(_PI)
_UNIT = 2.0**-53
# The number of thresholds times the root of the number of nodes in a block: half a megabyte.
_BLOCK = 2**15
# Up to this many terms a plain sum is quicker.
_FEW = 2**8
# An exponent with a larger error is unknown.
KNOWN = 20.0
# Indices of the three rows of `Bounds`.
_ROWS = np.arange(3)[:, None]


@final
@dataclass(frozen=True, slots=True)
class Functional:
    """One of the three tails: `shift` is a, `double` says whether both poles divide."""

    shift: float
    double: bool

    def log_denominator(self, s: Array) -> Array:
        """Estimate log d on the real line."""
        return np.log(s) + np.log(s - 1) if self.double else np.log(s - self.shift)

    def denominator(self, s: Disc) -> Disc:
        """Return d."""
        return s * (s - 1) if self.double else s - self.shift

    def about_chernoff(self, x: Array) -> Array:
        """Estimate log C of `log_chernoff`."""
        return log_peak.function(x) if self.double else np.zeros(x.shape)

    def log_chernoff(self, x: Array) -> Interval:
        """Return log C <= 0 with F(t) <= C e^(K(x) - (x - a) t) right of a."""
        return log_peak(x) if self.double else Interval.exactly(np.zeros(x.shape))


DELTA = Functional(1.0, True)
Q_ABOVE = Functional(1.0, False)
P_ABOVE = Functional(0.0, False)


@final
@dataclass(frozen=True, slots=True)
class Waves:
    """The real parts of Σ_j w_j e^(-i j h t) at any t, j from 0.

    The multiples of h are doubles, and so are those that phases are put together of. Then a phase
    is off by 2^-53 of itself, each of its two exponentials by 8 units of 2^-53 and their product
    by 3; a sum of n complex products in any order is off by 3 (n + 2), one in pairs by some 40.

    Attributes:
        weight: w_j.
        step: h, of at most 30 binary digits.
        flat: bounds the error of the sum, whatever t ...
        steep: ... and what comes to it per |t|.

    Weights may have a row for each of several sums: then so have the bounds.
    """

    weight: ComplexArray
    step: float
    flat: Array
    steep: Array

    @classmethod
    @quiet
    def of(cls, weight: Disc, step: float) -> Self:
        """Bound the errors."""
        size, count = weight.size, weight.value.shape[-1]
        flat = np.sum(weight.error + (3 * _width(count) + 70) * _UNIT * size, axis=-1)
        steep = 2 * _UNIT * step * (size @ np.arange(float(count)))
        # The rounding of these bounds.
        grown = 1 + (count + 8) * _UNIT
        return cls(weight.value, step, flat * grown, steep * grown)

    @quiet
    def at(self, t: Array) -> Interval:
        """Bracket the sums."""
        return Interval.within(self.about(t), 0.0, self.flat + self.steep * np.abs(t))

    @quiet
    def at_each(self, t: Array, which: Rows) -> Interval:
        """Bracket sums of several rows, at a threshold for each of those that `which` names."""
        error = self.flat[which] + self.steep[which] * np.abs(t)
        return Interval.within(self.about_each(t, which), 0.0, error)

    def about_each(self, t: Array, which: Rows) -> Array:
        """Return the same as they are computed."""
        count = self.weight.shape[-1]
        width = _width(count)
        weight = np.zeros((t.size, -(-count // width) * width), dtype=np.complex128)
        weight[:, :count] = self.weight[which]
        inner, outer = self._factors(t, width, weight.shape[1] // width)
        sums = (weight.reshape(*outer.shape, width) @ inner[:, :, None])[:, :, 0]
        return np.sum(sums * outer, axis=1).real

    def about(self, t: Array) -> Array:
        """Return the sums as they are computed."""
        count = self.weight.size
        if t.size * count <= _FEW:
            phase = np.outer(t, self.step * np.arange(float(count)))
            return np.sum(np.exp(-1j * phase) * self.weight, axis=1).real
        width = _width(count)
        weight = np.zeros((-(-count // width), width), dtype=np.complex128)
        weight.flat[:count] = self.weight
        if t.size * width <= _BLOCK:
            return self._part(t, weight)
        parts = np.array_split(t, t.size * width // _BLOCK + 1)
        return np.concatenate([self._part(part, weight) for part in parts])

    def _part(self, t: Array, weight: ComplexArray) -> Array:
        """A product of two short matrices serves all heights."""
        rows, width = weight.shape
        inner, outer = self._factors(t, width, rows)
        return np.sum((inner @ weight.T) * outer, axis=1).real

    def _factors(self, t: Array, width: int, rows: int) -> tuple[ComplexArray, ComplexArray]:
        """Return both factors of e^(-i (u_a + u_b) t)."""
        inner = np.exp(-1j * np.outer(t, self.step * np.arange(float(width))))
        outer = np.exp(-1j * np.outer(t, self.step * width * np.arange(float(rows))))
        return inner, outer


def line_weights(functional: Functional, s: ComplexArray, exponent: Disc, off: Interval) -> Disc:
    """Return e^(K(s) - b) / d(s), for one sum of losses or with a row for each.

    Where the error of an exponent is too large to tell anything, e^K(c) bounds the modulus.

    Args:
        functional: whose d divides.
        s: points of the line.
        exponent: K(s) - b.
        off: K(c) - b.
    """
    weight, known = exponent.exp(), exponent.error < KNOWN
    if not np.all(known):
        nothing = np.zeros(known.shape, np.complex128)
        bound = Disc(nothing, exp(off).upper + np.zeros(known.shape))
        weight = Disc.where(known, weight, bound)
    return weight / functional.denominator(Disc.exactly(s))


def based(value: Interval, step: float) -> Interval:
    """Return b + log h/π."""
    return value + (log(np.asarray([step])) - _LOG_PI)


def even_step(about: float) -> float:
    """Return a double near by, of at most 30 binary digits: so its multiples are doubles."""
    mantissa, exponent = math.frexp(about)
    return math.ldexp(round(mantissa * 2**30), exponent - 30)


def _width(count: int) -> int:
    return math.isqrt(max(count - 1, 0)) + 1


@final
@dataclass(frozen=True, slots=True)
class Bounds:
    """Bounds F(t) <= e^(value - (x - a) t) by points x of the strip, and of the aliases by them.

    Attributes:
        gap: x - c. The point x = a gives F <= 1.
        logs: three rows: the values less the base, the same for the sum of the aliases k > 0, and
            for the sum of the aliases k < 0. A row is infinite where x bounds no such alias.
    """

    gap: Interval
    logs: Array

    @classmethod
    @quiet
    def of(cls, line: tuple[float, float], points: Array, value: Interval) -> Self:
        """Add up the aliases of a line through c with step h.

        Args:
            line: c and h.
            points: a among them.
            value: of each, less the base.
        """
        c, step = line
        # Each alias is e^-decay of the one before it: all together 1 / (e^decay - 1) of F(t).
        gap = Interval.exactly(np.maximum(points, c)) - np.minimum(points, c)
        decay = gap * TWO_PI / step
        folded = (value - log(expm1(decay.lower).lower)).upper
        above, below = (np.where(side, folded, np.inf) for side in (points > c, points < c))
        return cls(Interval.exactly(points) - c, np.stack((value.upper, above, below)))

    def at(self, t: Array) -> Array:
        """Bound log F(t) and the logs of the sums of the aliases k > 0 and k < 0, less the base.

        Every point gives a bound, so that the choice among them need not be proved.
        """
        about = self.logs[:, :, None] - np.multiply.outer(self.gap.upper, t)
        best = about.argmin(axis=1)
        return (self.logs[_ROWS, best] - self.gap.at(best) * t).upper

    def at_each(self, t: Array, which: Rows) -> Array:
        """Bound the same of several sums, at a threshold for each of those that `which` names."""
        logs = self.logs[:, which]
        best = (logs - np.multiply.outer(t, self.gap.upper)).argmin(axis=2)
        return (logs[_ROWS, np.arange(t.size), best] - self.gap.at(best) * t).upper


@final
@dataclass(frozen=True, slots=True)
class Contour:
    """Brackets of a functional by one line, close for thresholds near its saddle.

    Attributes:
        c: real part.
        waves: of weights e^(K(s_j) - b) / d(s_j), the first one halved.
        base: b + log h/π.
        lift: c - a.
        rest: a bound of the sum over the rest of the line.
        bounds: by other points of the strip.
        steady: the part of the law that does not decay, which is added apart.
        left: 0 if that part is the whole law, else 1.
    """

    c: float
    waves: Waves
    base: Interval
    lift: Interval
    rest: Interval
    bounds: Bounds
    steady: SteadyTail | None = None
    left: float = 1.0

    @classmethod
    def of(
        cls,
        functional: Functional,
        line: tuple[float, float],
        weight: Disc,
        base: Interval,
        log_rest: Interval,
        points: tuple[Array, Array],
    ) -> Self:
        """Sum weights e^(K(s_j) - b) / d(s_j) on a line.

        Args:
            functional: F.
            line: c and h.
            weight: for j from 0; the first is halved in place.
            base: b + log h/π.
            log_rest: log of h times what the rest of the line may add.
            points: x of the strip, and values with F(t) <= e^(value - (x - a) t).
        """
        c, step = line
        weight.value[0] /= 2
        values = Interval.exactly(np.append(points[1], 0.0))
        return cls(
            c,
            Waves.of(weight, step),
            base,
            Interval.exactly(np.asarray([c])) - functional.shift,
            exp(log_rest) / step,
            Bounds.of(line, np.append(points[0], functional.shift), values - base),
        )

    def middle(self, t: Array) -> Array:
        """Estimate the logarithm of the functional at thresholds t."""
        total = self.waves.about(t)
        if self.steady is not None:
            total = total + self.steady.middle(t)
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.base.upper - self.lift.upper * t + np.log(total)

    @quiet
    def log_bracket(self, t: Array) -> Interval:
        """Bracket the logarithm of the functional at thresholds t."""
        most = self.bounds.at(t)
        lost = exp(most[1:]).total(axis=0).upper
        total = self.waves.at(t)
        if self.steady is not None:
            total, lost = total + self.steady.scaled(t), lost * self.left
        found = log(total - Interval(-self.rest.upper, (self.rest + lost).upper))
        # An unknown sum is nan.
        low = np.where(np.isnan(found.lower), -np.inf, found.lower)
        return self.base - self.lift * t + Interval(low, np.fmin(found.upper, most[0]))
