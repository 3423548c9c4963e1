"""Bands that hold everywhere at once."""

import math
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from neyman.arguments import given
from neyman.errors import InvalidParameter
from neyman.functional._curves._sampling import Smoothed, Spread, limits, sampled
from neyman.numerics import Array

__all__ = ["Band", "BandKind", "check_band_kind", "noise_band", "total_band"]

BandKind: TypeAlias = Literal["noise", "total"]


class Band(NamedTuple):
    """A released function between two curves, at points of its domain.

    Attributes:
        x: places, shape (points,).
        estimate: the function there.
        lower: the lower curve.
        upper: the upper curve.
        width: by how many standard deviations they are apart from the estimate, everywhere.
    """

    x: Array
    estimate: Array
    lower: Array
    upper: Array
    width: float


def check_band_kind(kind: str) -> BandKind:
    """Return `kind` if it names a band.

    Raises:
        InvalidParameter: if it is neither "noise" nor "total".
    """
    for known in get_args(BandKind):
        if type(kind) is str and kind == known:
            return known
    raise InvalidParameter(
        f'{given("kind", kind)} is no kind of band; write "noise" (for the function of these '
        'records) or "total" (noise and sampling, for that of the population)'
    )


def noise_band(function: Smoothed, level: float) -> Band:
    """Return a band for what the function would be without noise, everywhere at once.

        P(sup |Z| > u) <= 2 Phi(-u) + (1/pi) e^(-u^2/2) integral of sd(Z'),   Z = noise / its sd

    By Rice's formula the second term counts how often the noise is expected to cross the width:
    the bound holds on the whole continuum, not at grid points, and nothing is simulated.

    Args:
        function: at the bandwidth that it shall be read with; chosen from the release itself it
            makes the level an estimate.
        level: in (0, 1), the least probability that the band covers everywhere.

    Raises:
        InvalidParameter: if the count is not positive.

    Guarantee: coverage at least `level` under replace_one, up to the quadrature; under add_remove
        to first order in the noise of the count.
    Source: Rice, *Mathematical analysis of random noise*, Bell System Technical Journal 1945;
        Davies, *Hypothesis testing when a nuisance parameter is present only under the
        alternative*, Biometrika 1977.
    """
    x, estimate, slope = _curve(function)
    noise = _noise(function, estimate, slope)
    width = _width(_arc(function, noise), level)
    reach = width * np.sqrt(noise.value)
    return Band(x, estimate, estimate - reach, estimate + reach, width)


def total_band(function: Smoothed, level: float) -> Band:
    """Return a band for the expected value of the kernel estimate, noise and sampling together.

    As `noise_band`, with the variance of a mean of n kernels added. At each point the band holds
    the values m that are within `width` standard deviations of the estimate, by the variance that
    m itself would have: wider upwards, where a variance estimated along would be too small. Its
    lower curve makes room for the skewness of sums of kernels too. The bias of smoothing is not in
    it: choose a bandwidth below the best one where the density itself is to be covered.

    Error: an estimate. Coverage measured at a level of 0.95, of four densities, mu from 0.25 to 4
        and n from 300 on: from 0.94 to 0.98.
    """
    x, estimate, slope = _curve(function)
    noise, sampling = _noise(function, estimate, slope), sampled(function, len(x))
    both = Spread(*(a + b for a, b in zip(noise, sampling.spread, strict=True)))
    width = _width(_arc(function, both), level)
    return Band(x, estimate, *limits(estimate, noise.value, sampling, width), width)


def _curve(function: Smoothed) -> tuple[Array, Array, Array]:
    basis = function.basis
    step = basis.period / basis.circle_nodes
    domain = basis.domain
    ends = domain.start, domain.start + float(domain.length)
    x = np.minimum(ends[0] + step * np.arange(basis.nodes), ends[1])
    return x, function(x), function(x, derivative=1)


def _noise(function: Smoothed, estimate: Array, slope: Array) -> Spread:
    (values, common), (slopes, _) = function.noise_parts(0), function.noise_parts(1)
    level = 1 / function.basis.period - estimate
    return Spread(values + common * level**2, slopes + common * slope**2, -common * level * slope)


def _arc(function: Smoothed, spread: Spread) -> float:
    """Return the integral of the standard deviation of the slope of a process over its own."""
    speed = spread.slope / spread.value - (spread.both / spread.value) ** 2
    step = function.basis.period / function.basis.circle_nodes
    rates = np.sqrt(np.maximum(speed, 0.0))
    # Trapezoids; on a circle the first point closes the last cell.
    ends = 0.0 if function.basis.domain.closed else float(rates[0] + rates[-1]) / 2
    return step * (float(rates.sum()) - ends)


def _width(arc: float, level: float) -> float:
    """Return the least u whose bound is at most 1 - level, from above."""
    if not 0 < level < 1:
        raise InvalidParameter(f"level={level!r} is not in (0, 1); write one, such as 0.95")
    low, high = 0.0, 40.0
    for _ in range(60):
        middle = (low + high) / 2
        outside = math.erfc(middle / math.sqrt(2)) + arc / math.pi * math.exp(-middle * middle / 2)
        low, high = (low, middle) if outside <= 1 - level else (middle, high)
    return high
