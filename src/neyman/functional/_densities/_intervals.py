"""Confidence intervals for the mean and the quantiles of a population, from a release.

Both use the released kernel estimate g on its circle, not the final density, because no interval
would cover the bias of smoothing and of the step to a non-negative function. The circle is longer
than the interval. On the stretch B, which no kernel reaches, g is noise only. The regression of
another integral on the noise there is subtracted.

**The mean**, with c the middle of the interval, b the middle of B, T the length of the interval and
r = 5 bandwidths, the reach of kernels of values at an end:

    E x = c + integral over [-r, T + r] of (x - c) g + beta * integral over B of (x - b) g

**A quantile** is the place where the distribution function passes p:

    F(x) = integral of g from -r to x + beta * integral of g over B

For x < r the integral starts at -x, which folds back the part beyond the end. Above the middle, the
same is done from the upper end. N_k is the contribution of wave k to the variance of g at a point.
So the integral of the noise over a stretch of length d has the variance

    V(d) = sum_k N_k (2 - 2 cos w_k d) / w_k^2

and V gives all covariances. beta is minus the covariance over the variance.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, final

import numpy as np
import numpy.typing as npt

from neyman.functional._densities._function import ReleasedFunction
from neyman.functional._densities._proper import ProperDensity
from neyman.functional._isotonic import isotonic
from neyman.numerics import Array, ndtri

__all__ = ["mean_interval", "quantile_interval"]

_MOST_KEPT: Final = 16
# Kernels reach so many bandwidths.
_REACH: Final = 5
# Places for each wave of the highest frequency.
_PLACES: Final = 8
# The integral of (step - Phi)^2: what a Gaussian kernel hides of steps, in bandwidths.
_HIDDEN: Final = (math.sqrt(2) - 1) / math.sqrt(math.pi)
# Heaps nearer to each other than so many bandwidths are not told apart.
_UNTOLD: Final = 2.0


def mean_interval(
    raw: ReleasedFunction, density: ProperDensity, level: float, *, sampling: bool
) -> tuple[float, float]:
    """Return an interval for the mean; with sampling, its variance includes r var(x) / n.

    Args:
        raw: the release at its smallest bandwidth.
        density: the estimate; it gives the variance of a record, and its mean is inside.
        level: the confidence level, in (0, 1).
        sampling: True for the mean of the population, False for the mean of these records.
    """
    series, length = raw.series, float(raw.side.length)
    noise, reach = raw.noise_spectrum[1:], _reach(raw)
    w = 2 * math.pi / series.period * np.arange(1, noise.size + 1)
    waves = series.coefficients[1:] * np.exp(0.5j * w * length)

    def steep(half: float) -> Array:
        """Return the integrals of (x - c) sin w (x - c) up to a distance on both sides."""
        return np.asarray(2 * (np.sin(w * half) / w - half * np.cos(w * half)) / w)

    def moment(by: Array) -> float:
        return -2 * float(by @ waves.imag)

    own, half = steep(length / 2 + reach), (series.period - length) / 2 - reach
    if half > 0:
        # The middle of the empty stretch is half a turn away.
        rest = steep(half) * (-1.0) ** np.arange(1, w.size + 1)
        own = own - float(noise @ (own * rest)) / float(noise @ rest**2) * rest
    variance, apart = float(noise @ own**2), moment(own)
    if sampling:
        variance += raw.unit_records * density.var() / raw.positive_count
    middle = raw.side.start + length / 2
    ends = [middle + end for end in _ratio(apart, variance, raw.count_variance, _normal(level))]
    lower, upper = _holding(raw, density.mean(), *ends)
    return float(lower), float(upper)


def _ratio(found: float, variance: float, count_variance: float, z: float) -> tuple[float, float]:
    """Return the m with (found - m)^2 <= z^2 (variance + m^2 count_variance).

    Source: Fieller (1954), "Some problems in interval estimation".
    """
    square = 1 - z * z * count_variance
    if square <= 0:
        return -math.inf, math.inf
    root = z * math.sqrt(variance * square + count_variance * found**2)
    return (found - root) / square, (found + root) / square


def quantile_interval(
    raw: ReleasedFunction,
    density: ProperDensity,
    q: Array,
    level: float,
    *,
    sampling: bool,
    bandwidths: float,
) -> tuple[Array, Array]:
    """Return an interval for each quantile: the places where a test accepts F(x) = q.

    The variance is that of the noise; with sampling, plus r q (1 - q) / n.

    Args:
        raw: the release at its smallest bandwidth.
        density: the estimate; its quantiles are inside.
        q: probabilities in [0, 1].
        level: the confidence level, in (0, 1).
        sampling: True for quantiles of the population, False for those of these records.
        bandwidths: the bandwidth of the estimate, in units of the release's.
    """
    shown, found = density.ppf(q), _distribution(raw)
    z, n, r = _normal(level), raw.positive_count, raw.unit_records
    h, places = float(raw.bandwidth), raw.side.start + found.x
    noise = found.variance if sampling else found.variance + _HIDDEN * h * density(places) / n
    last = places.size - 1
    middle = np.interp(q, found.value, places)
    # Where the reading keeps waves that the kernel hides, values may be heaped.
    heaped = _UNTOLD * h * min(1.0, bandwidths**-2)
    own = 0.0 if sampling else _UNTOLD * h
    lower, upper = np.empty(q.shape), np.empty(q.shape)
    for at, p in np.ndenumerate(q):
        drawn = z * math.sqrt(r * p * (1 - p) / n) if sampling else 0.0
        count = raw.count_variance * (p - found.level) ** 2
        wide = np.hypot(z * np.sqrt(noise + count), drawn + r / (2 * n))
        above = np.flatnonzero(found.value + wide >= p)
        below = np.flatnonzero(found.value - wide <= p)
        first = places[max(int(above[0]) - 1, 0)] if above.size else places[last]
        end = places[min(int(below[-1]) + 1, last)] if below.size else places[0]
        lower[at] = middle[at] - math.hypot(max(middle[at] - first, 0.0), own) - heaped
        upper[at] = middle[at] + math.hypot(max(end - middle[at], 0.0), own) + heaped
    return _holding(raw, shown, lower, upper)


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Distribution:
    """The distribution function at places.

    Attributes:
        x: the places, from the lower end.
        value: F, monotone, from 0 to 1.
        variance: variance of the noise of F, without that of the count.
        level: F if all waves are 0; a relative error of the count moves the rest.
    """

    x: Array
    value: Array
    variance: Array
    level: Array


@lru_cache(maxsize=_MOST_KEPT)
def _distribution(raw: ReleasedFunction) -> _Distribution:
    """Return F at places from end to end of an interval."""
    series, noise = raw.series, _Integrals.of(raw)
    length, period = float(raw.side.length), series.period
    reach = _reach(raw)
    places = _PLACES * len(series.coefficients)
    x = length / places * np.arange(places + 1)

    def mass(lower: Array, upper: Array) -> Array:
        waves = series.at(upper, -1) - series.at(lower, -1)
        return waves + (upper - lower) * float(series.coefficients[0].real)

    low = 2 * x <= length
    lower = np.where(low, -np.minimum(x, reach), x)
    upper = np.where(low, x, length + np.minimum(length - x, reach))
    rest = np.array([length + reach]), np.array([period - reach])
    own = mass(lower, upper)
    variance, base = noise.variance(upper - lower), (upper - lower) / period
    if float(rest[1][0] - rest[0][0]) > 0:
        empty = float(noise.variance(rest[1] - rest[0])[0])
        common = noise.covariance(lower, upper, *rest)
        by = -common / empty
        own = own + by * mass(*rest)
        variance = variance - common**2 / empty
        base = base + by * (rest[1] - rest[0]) / period
    value = np.clip(isotonic(np.where(low, own, 1 - own)), 0.0, 1.0)
    level = np.where(low, base, 1 - base)
    return _Distribution(np.asarray(x, np.float64), value, np.maximum(variance, 0.0), level)


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Integrals:
    """Covariances of the integrals of the noise over stretches of the circle."""

    step: float
    table: Array

    @classmethod
    def of(cls, raw: ReleasedFunction) -> "_Integrals":
        """Tabulate V."""
        noise, period = raw.noise_spectrum, raw.series.period
        frequencies = 2 * math.pi / period * np.arange(1, noise.size)
        m = _PLACES << math.ceil(math.log2(noise.size))
        terms = np.zeros(m // 2 + 1, np.complex128)
        terms[1 : noise.size] = -noise[1:] / frequencies**2
        table = m * np.fft.irfft(terms, m)
        table -= table[0]
        return cls(period / m, np.append(table, table[:1]))

    def variance(self, length: Array) -> Array:
        """Return V(d)."""
        period = self.step * (self.table.size - 1)
        place = np.mod(length, period) / self.step
        return np.interp(place, np.arange(self.table.size), self.table)

    def covariance(self, p: Array, q: Array, r: Array, s: Array) -> Array:
        """Return the covariance of the integrals from p to q and from r to s."""
        v = self.variance
        return (v(q - r) + v(p - s) - v(q - s) - v(p - r)) / 2


def _normal(level: float) -> float:
    return float(ndtri(np.array((1 + level) / 2)))


def _reach(raw: ReleasedFunction) -> float:
    """Return how far kernels reach beyond an end, limited by the circle."""
    return min(_REACH * float(raw.bandwidth), (raw.series.period - float(raw.side.length)) / 2)


def _holding(
    raw: ReleasedFunction, middle: npt.ArrayLike, lower: npt.ArrayLike, upper: npt.ArrayLike
) -> tuple[Array, Array]:
    """Return ends in the domain that include the estimate."""
    start, end = raw.side.start, raw.side.start + float(raw.side.length)
    low, high = np.minimum(lower, middle), np.maximum(upper, middle)
    return np.clip(low, start, end), np.clip(high, start, end)
