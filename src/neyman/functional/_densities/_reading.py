"""The best estimate of a released density: how much of each wave to keep, by estimated error.

A kernel keeps a smaller share of the waves that are mostly noise; its bandwidth sets the shares.
This module compares three families of shares by one estimate of the error of the whole curve,

    R(l) = sum_j m_j [(l^2 - 2 l) t_j + l^2 (b_j - t_j / n + a v_j)]
    t_j  = u_j (|c_j|^2 - b_j - v_j) n / (n - 1),      a = 1 / max(1, 1 + sum_j m_j t_j)

and returns the weighted mean of their best shares. The families are the Gaussian kernel;
exp(-|h w|^(2p) / 2) with p = 1, 2, 4 or 8; and all shares that do not grow with the frequency. The
weight of each family is exp(-n R / 16). If the release cannot show which family is best, the
weights are nearly equal; if it can, the best family has nearly all the weight.

c_j is the noisy mean of a wave, v_j the variance of its noise, b_j the second moment of one
record's wave over n. If u_j = a = 1, R is unbiased, up to a constant, for the integrated squared
error. u_j leaves out frequencies that are noise alone. The nearest density is 0 on a part of the
domain, where the noise does not count; a is the share of the rest.

In a plane or in space a kernel can be longer in some direction: along the axes, or oblique if the
release is not folded (`_shape`).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Final, Self, final

import numpy as np
import numpy.typing as npt

from neyman.functional._densities._coefficients import Coefficients
from neyman.functional._densities._nearest import Table, nearest_density
from neyman.functional._densities._released import ReleasedDensity
from neyman.functional._densities._shape import fitted_shape, half_as_long
from neyman.functional._densities._wavelets import kept_wavelets
from neyman.functional._isotonic import isotonic
from neyman.numerics import Array

__all__ = ["Reading", "reading_of", "round_reading_of"]

_MOST_KEPT: Final = 64
# Powers of the frequency in the exponent, and how many bandwidths are tried.
_POWERS: Final = (1, 2, 4, 8)
_BANDWIDTHS: Final = 80
# Waves whose frequencies differ by less, relatively, are tried together.
_SHELL: Final = 0.01
_ROUNDING: Final = 1e-12
# How far estimated errors may be apart, times n, for both readings to count.
_TEMPERATURE: Final = 16.0
# Beyond it, a reading does not count.
_FAR: Final = 100.0
# Of the noise over the domain, what counts at least for kernels that lie askew: they can be so
# narrow that the sum of what is estimated is uncertain by more than the noise where the density is.
_LEAST_OF_NOISE: Final = 0.4


@final
@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """The share of each wave that is kept.

    Attributes:
        coefficients: the waves estimated from the release.
        shape: the covariance of the tried kernels, up to a factor, in units of the release's
            bandwidths.
        signal: t, the estimated squared means.
        variance: b - t / n + a v, the error of a wave that is kept whole.
        bandwidth: bandwidth of the Gaussian kernel of least estimated error, in units of the
            release's.
        shares: l, the share of each wave, the same at all places; 1 for the constant one.
    """

    coefficients: Coefficients = field(repr=False)
    shape: Array = field(repr=False)
    signal: Array = field(repr=False)
    variance: Array = field(repr=False)
    bandwidth: float
    shares: Array = field(repr=False)

    @classmethod
    def of(cls, coefficients: Coefficients, shape: Array) -> Self:
        """Choose the shares of the waves of a release among kernels of one shape."""
        c, n = coefficients, coefficients.count
        constant = np.zeros(c.values.shape)
        constant.flat[0] = 1.0
        # Twice a wave's frequency says what its variance is, where it is told.
        probability = c.signal_probability(c.sampling(constant), shape)
        probability.flat[0] = 1.0
        sampling = c.sampling(probability)
        square = np.asarray(np.abs(c.values), np.float64) ** 2
        signal = (
            c.signal_probability(sampling, shape) * (square - sampling - c.noise) * (n / (n - 1))
        )
        return cls.chosen(c, shape, signal, sampling - signal / n + _lies(c, signal) * c.noise)

    @classmethod
    def chosen(cls, c: Coefficients, shape: Array, signal: Array, variance: Array) -> Self:
        """Choose the shares of least R, from the signal of the waves and their variances."""
        n = c.count
        waves = _Waves.of(c, shape, signal, variance)
        factor, gaussian = waves.best_power((1,))
        _, power = waves.best_power(_POWERS)
        kept = (gaussian, power, waves.falling())
        risks = np.array([waves.risk(one) for one in kept])
        trust = np.exp(-(risks - risks.min()) * n / _TEMPERATURE)
        shares = sum(by * one for by, one in zip(trust / trust.sum(), kept, strict=True))
        return cls(c, shape, signal, variance, factor, waves.whole(np.asarray(shares)))

    @property
    def risk(self) -> float:
        """R, the estimated error of these shares, up to the integral of the squared density."""
        shares = self.shares
        rest = (shares * shares - 2 * shares) * self.signal + shares * shares * self.variance
        return (float((self.coefficients.weight * rest).sum()) - 1) / self.coefficients.volume

    def smoothed(self, factors: Sequence[float]) -> Array:
        """Return the shares of a Gaussian kernel of these multiples of the release's bandwidths."""
        lengths = self.coefficients.lengths(np.diag(np.square(factors)))
        with np.errstate(under="ignore"):
            found = np.exp(-(lengths**2) / 2)
        return np.where(self.coefficients.weight > 0, found, lengths == 0)

    def best(self) -> Table:
        """Return the final density: the nearest one to `means`."""
        c = self.coefficients
        if len(c.sides) > 1:
            return self.proper(self.shares)
        told = np.asarray(self.means != 0, np.float64)
        return nearest_density(c.sides, replace(c, values=self.means).on_places(told))

    @property
    def means(self) -> Array:
        """The estimated means of the waves of one coordinate.

        It is the mean of two curves: that of these shares, and that of the wavelets that are more
        than chance. The weight of each is exp(-n R / 16), as between shares. In the R of the
        shares, a is the part of the domain where their density is not 0.
        """
        return _means(self)

    def proper(self, shares: Array) -> Table:
        """Return the density nearest to the sum of the waves with these shares."""
        return nearest_density(self.coefficients.sides, self.coefficients.on_places(shares))


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Waves:
    """The visible waves, from low frequencies to high ones.

    Attributes:
        places: their indices.
        lengths: their frequencies.
        weight: m.
        signal: t.
        square: t + b - t / n + a v.
    """

    places: tuple[npt.NDArray[np.int64], ...]
    lengths: Array
    weight: Array
    signal: Array
    square: Array
    all: npt.NDArray[Any]

    @classmethod
    def of(cls, c: Coefficients, shape: Array, signal: Array, variance: Array) -> Self:
        """Sort the waves by their frequencies, relative to kernels of a shape."""
        lengths = c.lengths(shape)
        found = np.nonzero(c.weight > 0)
        order = np.argsort(lengths[found], kind="stable")
        places = tuple(axis[order] for axis in found)
        one = np.zeros(c.values.shape)
        one.flat[0] = 1.0
        both = (signal + variance)[places]
        return cls(places, lengths[places], c.weight[places], signal[places], both, one)

    def whole(self, shares: Array) -> Array:
        """Return the shares of all waves: 1 for the constant one, 0 for hidden ones."""
        found = self.all.copy()
        found[self.places] = shares
        return found

    def risk(self, shares: Array) -> float:
        """Return R of these shares, times the volume."""
        return float(self.weight @ (shares * shares * self.square - 2 * shares * self.signal))

    def best_power(self, powers: tuple[int, ...]) -> tuple[float, Array]:
        """Return the bandwidth and the shares of least R among kernels of these powers."""
        shortest = float(self.lengths[0])
        shells = np.floor(np.log(self.lengths / shortest) / _SHELL)
        first = np.flatnonzero(np.diff(shells, prepend=-1.0))
        middle = np.sqrt(
            self.lengths[first] * self.lengths[np.append(first[1:], self.lengths.size) - 1]
        )
        signal, square = (
            np.add.reduceat(self.weight * part, first) for part in (self.signal, self.square)
        )
        factors = np.geomspace(0.5, max(np.pi / shortest, 1.0), _BANDWIDTHS)
        least, found = np.inf, (1.0, 1)
        for power in powers:
            rows = _kernels(np.multiply.outer(factors, middle), power)
            risks = rows**2 @ square - 2 * (rows @ signal)
            k = int(np.argmin(risks))
            if risks[k] < least:
                least, found = float(risks[k]), (float(factors[k]), power)
        factor, power = found
        return factor, _kernels(factor * self.lengths, power)

    def falling(self) -> Array:
        """Return the shares of least R among all in [0, 1] that do not grow with the frequency.

        Source: Beran (2000), "REACT scatterplot smoothers: superefficiency through basis economy".
        """
        square = np.maximum(self.square, _ROUNDING * float(self.square.max(initial=1e-300)))
        best = self.signal / square
        return np.clip(isotonic(best, self.weight * square, increasing=False), 0.0, 1.0)


@lru_cache(maxsize=_MOST_KEPT)
def _means(reading: Reading) -> Array:
    c, shares, signal = reading.coefficients, reading.shares, reading.signal
    table = reading.proper(shares)
    without = reading.variance - _lies(c, signal) * c.noise
    kept, risk = kept_wavelets(c, shares, without + c.noise, table)
    variance = without + float(np.mean(table.values > 0)) * c.noise
    own = shares**2 * (signal + variance) - 2 * shares * signal
    apart = (risk - float((c.weight * own).sum())) * c.count / _TEMPERATURE
    trust = 1 / (1 + np.exp(min(apart, _FAR)))
    found = np.asarray(trust * kept + (1 - trust) * shares * np.real(c.values), np.float64)
    found.setflags(write=False)
    return found


def _lies(c: Coefficients, signal: Array) -> float:
    """Return a, the share of the noise at places where the density is not 0."""
    share = 1 / max(1.0, 1 + float((c.weight * signal).sum()))
    if c.folded:
        return share
    domain = math.prod(float(side.length) for side in c.sides)
    return max(share, _LEAST_OF_NOISE * domain / c.volume)


def _kernels(scaled: Array, power: int) -> Array:
    with np.errstate(under="ignore", over="ignore"):
        return np.exp(-(scaled ** (2 * power)) / 2)


def reading_of(released: ReleasedDensity[Any]) -> Reading:
    """Return the best estimate of a release; it does not depend on its `bandwidth`.

    Raises:
        InvalidParameter: if the released number of records is not positive.
    """
    return _best(released.smooth([low for low, _ in released.reach]))


def round_reading_of(released: ReleasedDensity[Any]) -> Reading:
    """Return the best estimate by kernels that are equal on all sides, in release bandwidths.

    Raises:
        InvalidParameter: if the released number of records is not positive.
    """
    return _round(released.smooth([low for low, _ in released.reach]))


@lru_cache(maxsize=_MOST_KEPT)
def _round(released: ReleasedDensity[Any]) -> Reading:
    return Reading.of(Coefficients.of(released, folded=True), np.eye(len(released.waves.sides)))


@lru_cache(maxsize=_MOST_KEPT)
def _best(released: ReleasedDensity[Any]) -> Reading:
    first = _round(released)
    d = len(released.waves.sides)
    if d == 1:
        return first
    whole = Coefficients.of(released, folded=False)
    along, askew = (fitted_shape(whole, askew=free) for free in (False, True))
    found = [Reading.of(whole, shape) for shape in (askew, half_as_long(askew))]
    slanted = min(found, key=lambda reading: reading.risk + whole.beyond(reading.shares))
    found = [first, Reading.of(first.coefficients, along), slanted]
    return min(found, key=lambda reading: reading.risk)
