"""The domain of a second release, from a first, coarse one."""

import math
from fractions import Fraction
from typing import Final

import numpy as np

from neyman.errors import InvalidParameter
from neyman.functional._bases._domain import Interval
from neyman.functional._densities._proper import ProperDensity
from neyman.functional._densities._reading import Reading
from neyman.numerics import Array

__all__ = ["focused_interval"]

# The share beyond each end, at least; how many deviations of the noise of a share it is, at least.
_LEAST, _DEVIATIONS = 0.005, 3
# A share that is noise says nothing of where values are.
_LARGEST: Final = 0.25
_WIDENED: Final = 0.6


def focused_interval(density: ProperDensity, reading: Reading, shares: Array) -> Interval:
    """Return the interval between two outer quantiles, widened, within the domain.

        c = max(0.005, 3 s),   s the standard deviation of the noise of the cdf
        [ppf(c) - 0.6 d, ppf(1 - c) + 0.6 d],   d = ppf(1 - c) - ppf(c)

    rounded outwards to three digits of its length; the whole domain if c is above 1/4.

    Raises:
        InvalidParameter: if it is not a density on one interval.
    """
    side = density.sides[0]
    if len(density.sides) > 1 or not isinstance(side, Interval):
        raise InvalidParameter(
            "focused must be asked of a density on one Interval; this one is on another domain. "
            "Write the domain of the second release yourself"
        )
    c = reading.coefficients
    w = c.frequencies[0] / c.bandwidths[0]
    # The distribution function has the waves (2 / T) l_j c_j sin(w_j x) / w_j.
    parts = (shares[1:] / w[1:]) ** 2 * c.noise[1:] * (c.weight[1:] > 0)
    deviation = math.sqrt(2 * float(parts.sum())) / float(side.length)
    beyond = max(_LEAST, _DEVIATIONS * deviation)
    if beyond > _LARGEST:
        return side
    low, high = density.ppf(np.array([beyond, 1 - beyond])).tolist()
    margin = _WIDENED * (high - low)
    unit = Fraction(10) ** (math.floor(math.log10(high - low + 2 * margin)) - 2)
    lower = math.floor(Fraction(low - margin) / unit) * unit
    upper = math.ceil(Fraction(high + margin) / unit) * unit
    return Interval(max(lower, side.lower), min(upper, side.upper), outside=side.outside)
