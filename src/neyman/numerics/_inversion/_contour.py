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
from typing import final

import numpy as np

from neyman.numerics._bracket import ULP, Array, Bracket
from neyman.numerics._complex import ComplexArray
from neyman.numerics._inversion._steady_pieces import SteadyTail

__all__ = ["DELTA", "P_ABOVE", "Q_ABOVE", "Contour", "Functional"]

# Thresholds times roots of the nodes taken at once: half a megabyte.
_BLOCK = 2**15
# So many terms are quicker summed as they stand.
_FEW = 2**8


@final
@dataclass(frozen=True, slots=True)
class Functional:
    """One of the three tails: `shift` is a, `double` says whether both poles divide."""

    shift: float
    double: bool

    def log_denominator(self, s: Array) -> Array:
        """Log d on the real line."""
        return np.log(s) + np.log(s - 1) if self.double else np.log(s - self.shift)

    def log_chernoff(self, x: Array) -> Array:
        """Return log C <= 0, rounded up, with F(t) <= C e^(K(x) - (x - a) t) right of a."""
        if not self.double:
            return np.zeros(x.shape)
        return ((x - 1) * np.log1p(-1 / x) - np.log(x)) * (1 - 4 * ULP)


DELTA = Functional(1.0, True)
Q_ABOVE = Functional(1.0, False)
P_ABOVE = Functional(0.0, False)


@final
@dataclass(frozen=True, slots=True)
class Contour:
    """The values on one line: answers for every threshold near its saddle."""

    functional: Functional
    c: float
    step: float
    u: Array
    weight: ComplexArray  # e^(K(s_j) - K(c)) / d(s_j), the first one halved
    fuzz: float  # what rounding may add to the sum of the weights, whatever the threshold
    sway: float  # and per ULP and |t|
    base: float  # K(c)
    base_error: float
    log_rest: float  # log of what the rest of the line may add to the sum, per e^(K(c) - (c-a) t)
    points: Array  # other points x of the strip, for the aliases
    values: Array  # F(t) <= e^(value - (x - a) t)
    steady: SteadyTail | None  # what the weights leave out ...
    left: float  # ... and 0 where that is everything, else 1

    def _sum(self, t: Array) -> Array:
        """The trapezoidal sum over e^(K(c) - (c - a) t)."""
        if t.size * self.u.size <= _FEW:
            return (np.exp(-1j * np.outer(t, self.u)) @ self.weight).real * self.unit
        width = math.isqrt(self.u.size - 1) + 1
        weight = np.zeros((-(-self.u.size // width), width), dtype=np.complex128)
        weight.flat[: self.u.size] = self.weight
        if t.size * width <= _BLOCK:
            return self._part(t, weight)
        parts = np.array_split(t, t.size * width // _BLOCK + 1)
        return np.concatenate([self._part(part, weight) for part in parts])

    def _part(self, t: Array, weight: ComplexArray) -> Array:
        """e^(-i (u_a + u_b) t) factors: a product of two short matrices serves all heights."""
        rows, width = weight.shape
        inner = np.exp(-1j * np.outer(t, self.step * np.arange(float(width))))
        outer = np.exp(-1j * np.outer(t, self.step * width * np.arange(float(rows))))
        return np.sum((inner @ weight.T) * outer, axis=1).real * self.unit

    @property
    def unit(self) -> float:
        """Both halves of the line."""
        return self.step / math.pi

    def middle(self, t: Array) -> Array:
        """Return about the logarithm of the functional."""
        log_scale = self.base - (self.c - self.functional.shift) * t
        total = self._sum(t)
        if self.steady is not None:
            total = total + self.steady.middle(t)
        with np.errstate(divide="ignore", invalid="ignore"):
            return log_scale + np.log(total)

    def log_bracket(self, t: Array) -> Bracket:
        """Bracket the logarithm of the functional at thresholds t."""
        shift = self.functional.shift
        total = self._sum(t)
        wrong = (self.fuzz + ULP * self.sway * np.abs(t)) * self.unit
        log_scale = self.base - (self.c - shift) * t
        rest = math.exp(min(self.log_rest, 700.0))
        apart = Bracket(np.zeros(()), np.zeros(()))
        if self.steady is not None:
            apart = self.steady.scaled(t)
        upper = total + wrong + rest + apart.upper
        alias = np.exp(np.minimum(self._log_alias(t) - log_scale, 700.0)) * self.left
        lower = total - wrong - rest - alias + apart.lower
        slack = self.base_error + ULP * (4 + abs(self.base) + np.abs((self.c - shift) * t))
        with np.errstate(divide="ignore", invalid="ignore"):
            high = log_scale + np.log(np.maximum(upper, 0.0)) + slack
            low = log_scale + np.log(np.maximum(lower, 0.0)) - slack
        return Bracket(low, np.minimum(np.minimum(high, self._chernoff(t)), 0.0))

    def _chernoff(self, t: Array) -> Array:
        bounds = self.values - (self.points - self.functional.shift) * t[:, None]
        size = np.max(np.abs(self.values)) + np.abs(t) * np.max(np.abs(self.points))
        return bounds.min(axis=1) + ULP * (4 + size)

    def _log_alias(self, t: Array) -> Array:
        """Bound log of the sum over k != 0 of e^((c - a) kR) F(t + kR)."""
        period, shift = 2 * math.pi / self.step, self.functional.shift
        gap = self.points - self.c
        here = self.values - (self.points - shift) * t[:, None]
        decay = np.abs(gap) * period
        with np.errstate(divide="ignore"):
            geometric = -decay - np.log(-np.expm1(-decay))
        bound = np.where(gap == 0, np.inf, here + geometric)
        above = np.where(gap > 0, bound, np.inf).min(axis=1)
        below = np.where(gap < 0, bound, np.inf).min(axis=1)
        plain = -(self.c - shift) * period
        trivial = plain - math.log(-math.expm1(plain))
        size = np.max(np.abs(self.values)) + np.abs(t) * np.max(np.abs(self.points))
        return np.logaddexp(above, np.minimum(below, trivial)) + ULP * (8 + size + period)
