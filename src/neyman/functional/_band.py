"""Bands that hold everywhere at once."""

import math
from typing import NamedTuple

import numpy as np

from neyman.errors import InvalidParameter
from neyman.functional._function import ReleasedFunction
from neyman.functional._line_basis import multipliers
from neyman.numerics import Array

__all__ = ["Band", "noise_band", "total_band"]


class Band(NamedTuple):
    """A released function between two curves, at points of its domain.

    Attributes:
        x: places, shape (points,).
        estimate: the function there.
        lower: the lower curve.
        upper: the upper curve.
        width: half the distance of the curves in standard deviations, the same everywhere.
    """

    x: Array
    estimate: Array
    lower: Array
    upper: Array
    width: float


class _Spread(NamedTuple):
    """Variances of a process and of its slope, and their covariance, at each point."""

    value: Array
    slope: Array
    both: Array


def noise_band(function: ReleasedFunction, level: float) -> Band:
    """Return a band for what the function would be without noise, everywhere at once.

        P(sup |Z| > u) <= 2 Phi(-u) + (1/pi) e^(-u^2/2) integral of sd(Z'),   Z = noise / its sd

    By Rice's formula the second term counts how often the noise is expected to cross the width:
    the bound holds on the whole continuum, not at grid points, and nothing is simulated.

    Args:
        function: at the bandwidth that it shall be read with; chosen from the release itself it
            makes the level an estimate.
        level: in (0, 1), the least probability that the band covers everywhere.

    Raises:
        InvalidParameter: if the level is outside (0, 1), or the count is not positive.

    Guarantee: coverage at least `level` under replace_one, up to the quadrature; under add_remove
        to first order in the noise of the count.
    Source: Rice, *Mathematical analysis of random noise*, Bell System Technical Journal 1945;
        Davies, *Hypothesis testing when a nuisance parameter is present only under the
        alternative*, Biometrika 1977.
    """
    x, estimate, slope = _curve(function)
    return _band(function, level, x, estimate, _noise(function, estimate, slope))


def total_band(function: ReleasedFunction, level: float) -> Band:
    """Return a band for the expected value of the kernel estimate, noise and sampling together.

    As `noise_band`, with the variance of a mean of n kernels added, the density in it replaced
    by the nearest proper one to the released function. The bias of smoothing is not in it:
    choose a bandwidth below the best one where the density itself is to be covered.

    Error: an estimate, good where n times the bandwidth's share of the domain is large.
    """
    x, estimate, slope = _curve(function)
    noise, sampling = _noise(function, estimate, slope), _sampling(function, len(x))
    both = _Spread(*(a + b for a, b in zip(noise, sampling, strict=True)))
    return _band(function, level, x, estimate, both)


def _curve(function: ReleasedFunction) -> tuple[Array, Array, Array]:
    basis = function.basis
    step = basis.period / basis.circle_nodes
    domain = basis.domain
    ends = domain.start, domain.start + float(domain.length)
    x = np.minimum(ends[0] + step * np.arange(basis.nodes), ends[1])
    return x, function(x), function(x, derivative=1)


def _noise(function: ReleasedFunction, estimate: Array, slope: Array) -> _Spread:
    (values, common), (slopes, _) = function.noise_parts(0), function.noise_parts(1)
    level = 1 / function.basis.period - estimate
    return _Spread(values + common * level**2, slopes + common * slope**2, -common * level * slope)


def _sampling(function: ReleasedFunction, points: int) -> _Spread:
    """Return the spread of a mean of n kernels at values with the nearest proper density."""
    basis, n = function.basis, function.count
    m, length = basis.circle_nodes, basis.period
    terms = np.zeros(m // 2 + 1, np.complex128)
    found = multipliers(length, basis.highest, float(function.bandwidth))
    terms[: found.size] = found / length
    waves = 2j * math.pi / length * np.arange(terms.size)
    kernel, slope = (m * np.fft.irfft(part, m) for part in (terms, terms * waves))
    masses = np.fft.rfft(function.circle_density() * (length / m))

    def mean(weights: Array) -> Array:
        return np.fft.irfft(np.fft.rfft(weights) * masses, m)[:points]

    value, gradient = mean(kernel), mean(slope)
    return _Spread(
        np.maximum(mean(kernel * kernel) - value**2, 0.0) / n,
        np.maximum(mean(slope * slope) - gradient**2, 0.0) / n,
        (mean(kernel * slope) - value * gradient) / n,
    )


def _band(
    function: ReleasedFunction, level: float, x: Array, estimate: Array, spread: _Spread
) -> Band:
    if not 0 < level < 1:
        raise InvalidParameter(f"level={level!r} is not in (0, 1); write one, such as 0.95")
    speed = spread.slope / spread.value - (spread.both / spread.value) ** 2
    step = function.basis.period / function.basis.circle_nodes
    rates = np.sqrt(np.maximum(speed, 0.0))
    # Trapezoids; on a circle the first point closes the last cell.
    ends = 0.0 if function.basis.domain.closed else float(rates[0] + rates[-1]) / 2
    width = _width(step * (float(rates.sum()) - ends), level)
    reach = width * np.sqrt(spread.value)
    return Band(x, estimate, estimate - reach, estimate + reach, width)


def _width(arc: float, level: float) -> float:
    """Return the least u whose bound is at most 1 - level, from above."""
    low, high = 0.0, 40.0
    for _ in range(60):
        middle = (low + high) / 2
        outside = math.erfc(middle / math.sqrt(2)) + arc / math.pi * math.exp(-middle * middle / 2)
        low, high = (low, middle) if outside <= 1 - level else (middle, high)
    return high
