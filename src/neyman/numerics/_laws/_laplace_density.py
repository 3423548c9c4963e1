"""The density part of the loss of Lap(0, 1) against (1 - q) Lap(0, 1) + q Lap(b, 1).

The loss l of the whole pair, q = 1, has P-density e^(-(l + b)/2)/4 on (-b, b); sampled, it is
L = log(1 - q + q e^l). With y = e^L, z = y - (1 - q) = q e^l and f = z^(-3/2),

    D(s) = E_P[e^(sL); density] = C ∫ y^s f dz,    C = e^(-b/2) q^(1/2) / 4,

in closed form for q = 1; else, for large s, integrated by parts,

    D(s) = C Σ_(m<M) (3/2)_m / (s+1)_(m+1) [y^(s+m+1) z^(-3/2-m)]
           + at most (3/2)_M / |(s+1)_M| (y-/z-)^M D(Re s).
"""

import math
from dataclasses import dataclass
from typing import TypeAlias, final

import numpy as np
import numpy.typing as npt

from neyman.numerics._bracket import Array
from neyman.numerics._complex import ComplexArray
from neyman.numerics._disc import Disc
from neyman.numerics._interval import Interval
from neyman.numerics._laws._split import Above, Density
from neyman.numerics._primitives import exp, log
from neyman.overriding import override

__all__ = ["LaplaceDensity"]

Mask: TypeAlias = npt.NDArray[np.bool_]

_TERMS = 24
_LOG_RISING = sum(math.log(1.5 + m) for m in range(_TERMS))
# Where |s| is far: the M-th remainder is below 2^-53 there, and sinh(x)/x is no series.
_FAR, _FAR_WHOLE = 50.0, 8.0
# sinh(x)/x is 1 up to it, within 2^-54.
_CLOSE = 1e-8
# What the series of terms loses: each is at most half the one before, and known within 13 units.
_SERIES = 2.0**-48
# What a sum of exponentials of numbers up to 700 is off by, and more.
_LOOSE = 1 + 2.0**-40


@final
@dataclass(frozen=True, slots=True)
class LaplaceDensity(Density):
    """See the module; `back` for P and Q exchanged."""

    bound: float
    probability: float
    back: bool = False

    @property
    def mass(self) -> float:
        """P and Q have (1 - e^-b)/2 each."""
        return -math.expm1(-self.bound) / 2

    @property
    def _ends(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """(y, z) at both ends."""
        q = self.probability
        low, high = q * math.exp(-self.bound), q * math.exp(self.bound)
        return (1 - q + low, low), (1 - q + high, high)

    @property
    def parameters(self) -> tuple[Interval, Interval]:
        """The largest loss and the probability, as they were written."""
        return Interval.decimal(self.bound), Interval.decimal(self.probability)

    @property
    def far(self) -> float:
        """The height from which `transform` is accurate."""
        if self.probability == 1:
            return _FAR_WHOLE / self.bound
        y, z = self._ends[0]
        return _FAR * y / z

    @property
    def near(self) -> float:
        """The height from which `transform` is accurate enough to tell the density's share."""
        return 0.0 if self.probability == 1 else self.far

    def transform(self, s: ComplexArray) -> Disc:
        """Return D(s) for |Im s| >= near."""
        if self.back:
            s = 1 - s
        return self._whole(s) if self.probability == 1 else self._by_parts(s)

    def _whole(self, s: ComplexArray) -> Disc:
        """e^(-b/2) sinh((s - 1/2) b) / (2s - 1)."""
        bound = self.parameters[0]
        x = (Disc.exactly(s) - 0.5) * Disc.over(bound)
        close = np.abs(x.value) < _CLOSE
        if np.any(close):
            x = Disc.where(close, Disc.exactly(_CLOSE), x)
        return x.sinh() / x * Disc.over(exp(-bound / 2) * bound / 2)

    def _by_parts(self, s: ComplexArray) -> Disc:
        bound, q = self.parameters
        log_c = -bound / 2 + log(q) / 2 - log(Interval.of(4))
        after = Disc.exactly(s) + 1
        total = Disc.exactly(np.zeros(s.shape, dtype=np.complex128))
        for (y, z), side in zip(self._ends, (-1, 1), strict=True):
            z_here = q * exp(bound * side)
            level = Disc.over(log_c - log(z_here) * 1.5)
            lead = (after * Disc.over(log(z_here + (1 - q))) + level).exp() / after
            series = np.ones_like(s)
            for m in range(_TERMS - 1, 0, -1):
                series = 1 + series * ((m + 0.5) * (y / z)) / (s + m + 1)
            total = total + lead * Disc.within(series, _SERIES) * side
        y, z = self._ends[0]
        left = _LOG_RISING + _TERMS * (math.log(y / z) - np.log(np.abs(s.imag)))
        tilts = [float(np.max(s.real)) * math.log(end[0]) for end in self._ends]
        whole = self.mass * math.exp(max(tilts)) * _LOOSE
        return total + Disc(np.zeros_like(s), np.exp(left) * whole)

    def variation(self, c: float) -> float:
        """The total variation V of the tilted density on the line: |D(c + iu)| <= V/u.

        C y^(c+1) z^(-3/2) has one stationary point at most, z (c - 1/2) = 3/2 (1 - q).
        """
        if self.back:
            c = 1 - c
        (_, low), (_, high) = self._ends
        q = self.probability
        turn = 1.5 * (1 - q) / (c - 0.5) if c > 0.5 else high
        log_c = -self.bound / 2 + math.log(q) / 2 - math.log(4)
        first, middle, last = (
            math.exp(min(log_c + (c + 1) * math.log(1 - q + z) - 1.5 * math.log(z), 700.0))
            for z in (low, min(max(turn, low), high), high)
        )
        return (first + abs(middle - first) + abs(last - middle) + last) * _LOOSE

    @override
    def above(self, x: Array) -> Above:
        if self.back:
            return self._below(x)
        y, all_, none = self._inner(x)
        b, q = self.bound, self.probability
        part = -np.expm1(-(b - y) / 2)
        p = np.exp(-(b + y) / 2) * part / 2
        over = np.where(all_, -self.mass * np.expm1(np.minimum(x, 0.0)), q * part * part / 2)
        return Above(
            np.where(none, 0.0, p),
            np.where(none, 0.0, (1 - q) * p + q * part / 2),
            np.where(none, 0.0, over),
        )

    def _below(self, x: Array) -> Above:
        """The same below -x, with P and Q exchanged."""
        y, none, all_ = self._inner(-x)
        b, q = self.bound, self.probability
        part = -np.expm1(-(b + y) / 2)
        p = (1 - q) * part / 2 + q * np.exp((y - b) / 2) * part / 2
        with np.errstate(over="ignore"):
            inside = q * np.exp(np.minimum(x, 700.0) + y) * part * part / 2
        over = np.where(all_, -self.mass * np.expm1(np.minimum(x, 0.0)), inside)
        return Above(
            np.where(none, 0.0, p), np.where(none, 0.0, part / 2), np.where(none, 0.0, over)
        )

    def _inner(self, x: Array) -> tuple[Array, Mask, Mask]:
        """Return l within [-b, b], and whether x is below or above all of the part."""
        b, q = self.bound, self.probability
        if q == 1:
            y = x
        else:
            with np.errstate(divide="ignore", invalid="ignore"):
                y = np.log1p(np.expm1(np.minimum(x, 2 * b)) / q)
            y = np.where(np.isnan(y), -np.inf, y)
        return np.clip(y, -b, b), y <= -b, y >= b

    @override
    def box(self) -> float | None:
        return self.bound if self.probability == 1 else None

    @override
    def reversed(self) -> "LaplaceDensity":
        return (
            self
            if self.probability == 1
            else LaplaceDensity(self.bound, self.probability, not self.back)
        )
