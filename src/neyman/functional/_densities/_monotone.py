"""The density whose distribution function is nearest, for heaped values."""

from typing import Final

import numpy as np

from neyman.functional._bases._domain import Side
from neyman.functional._densities._band import Band
from neyman.functional._densities._nearest import Table
from neyman.functional._densities._proper import ProperDensity
from neyman.functional._isotonic import isotonic
from neyman.numerics import Array

__all__ = ["holding", "monotone_density"]

# So many places, of 16 in the shortest wave.
_BESIDE: Final = 2


def monotone_density(side: Side, values: Array) -> Table:
    """Return a density whose distribution function is nearly the nearest monotone one to F.

    F is the integral of a function at places from end to end. Heaps are beside negative stretches.
    The nearest density takes the missing mass from all heaps equally, so small heaps lose their
    mass to large ones. The nearest distribution function takes it from the neighbouring heaps.

    Args:
        side: the domain of the values.
        values: the function at equally spaced places of the side, both ends included.
    """
    step = float(side.length) / (values.size - 1)
    cells = step * (values[:-1] + values[1:]) / 2
    below = np.clip(isotonic(np.cumsum(cells)[:-1]), 0.0, 1.0)
    masses = np.diff(below, prepend=0.0, append=1.0) / step
    # Half of a cell is at each of its ends; an end of an interval stands for half a place.
    first, last = (masses[-1], masses[0]) if side.closed else (masses[0], masses[-1])
    found = (np.append(first, masses) + np.append(masses, last)) / 2
    return Table((side,), (step,), found)


def holding(band: Band, density: ProperDensity) -> Band:
    """Return a band for the nearest density that also contains that of `monotone_density`.

    Both are 0 between heaps, but the heaps of the second can begin a few places earlier or later.
    So the lower curve is the minimum over these places.
    """
    there = density(band.x)
    beside = np.pad(np.minimum(band.lower, there), _BESIDE, mode="edge")
    lower = np.lib.stride_tricks.sliding_window_view(beside, 2 * _BESIDE + 1).min(axis=1)
    return band._replace(estimate=there, lower=lower, upper=np.maximum(band.upper, there))
