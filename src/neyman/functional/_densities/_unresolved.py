"""Whether a release resolves the density of its values, and if not, the reason.

A density whose features are wider than the kernel of the release has no fast waves: the best shares
fall to 0 well before the fastest released wave. If the best share of such a wave is above one half,
the values have features that the release cannot show. The released waves and the estimated density
distinguish three causes:

    clipped    some values are at an end: c_j = p + (-1)^j q for all fast waves
    too wide   nearly all of the mass is in a few narrow stretches of the domain
    heaped     it is in many narrow stretches
"""

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from neyman.functional._bases._domain import Interval
from neyman.functional._densities._coefficients import Coefficients
from neyman.functional._densities._nearest import Table
from neyman.functional._densities._reading import Reading
from neyman.numerics import Array

__all__ = ["unresolved"]

# Of the fastest wave that is told: below this share of its frequency densities were resolved.
_FAST: Final = 0.8
# A wave is told where the variance of its mean is below this: that of a mean of 1/4.
_TOLD: Final = 1 / 16
# In one over the bandwidth of the release: slower waves are not hidden by its kernel.
_SLOWEST: Final = 1.2
# Waves from this share of the fastest on say whether values are at an end.
_ENDS: Final = 1 / 3
# The stretches that hold so much of the mass, each of them at least so much; and how many of them
# are few.
_MASS: Final = 0.9
_STRETCH: Final = 0.01
_FEW: Final = 3


def unresolved(reading: Reading, shares: Array, table: Table) -> str | None:
    """Return why the release does not resolve the density of its values; None if it does.

    Args:
        reading: the estimate of a release of one coordinate.
        shares: the share of each wave that is kept.
        table: the density with these shares.

    Error: an estimate. It called none of 2,640 releases of 22 smooth densities unresolved.
    """
    c = reading.coefficients
    used = c.weight > 0
    frequencies, kept = c.frequencies[0][used], shares[used] > 1 / 2
    told = c.noise[used] + 1 / (2 * c.count) < _TOLD
    fastest = float(frequencies[kept].max(initial=0.0))
    if not fastest > max(_SLOWEST, _FAST * float(frequencies[told].max(initial=0.0))):
        return None
    if (clipped := _at_ends(c, used)) is not None:
        return clipped
    if _stretches(table) <= _FEW:
        return (
            "not resolved: the values lie in so narrow a part of the domain that this release "
            "does not show their density; declare a narrower domain, or a smaller bandwidth"
        )
    return (
        "not resolved: the values are heaped on places, so that they have no density between "
        "them; release counts by value, or read it smoother than the heaps: .smooth(h)"
    )


def _at_ends(c: Coefficients, used: npt.NDArray[np.bool_]) -> str | None:
    """Say that values are clipped, if values at the ends make most of the fast waves."""
    if c.sides[0].closed:
        return None
    places = np.flatnonzero(used)
    places = places[c.frequencies[0][places] > _ENDS * float(c.frequencies[0][used].max())]
    values: Any = np.real(c.values[places])
    weights = 1 / (c.noise[places] + 1 / (2 * c.count))
    total = float(weights.sum())
    signs = np.where(places % 2 == 0, 1.0, -1.0)
    ends = [float(weights @ (values * sign)) / total for sign in (1.0, signs)]
    signal = float(weights @ values**2) - places.size
    if not 2 * total * sum(max(end, 0.0) ** 2 for end in ends) > signal:
        return None
    share = 100 * sum(max(end, 0.0) for end in ends)
    side = c.sides[0]
    if isinstance(side, Interval) and side.outside == "count":
        return (
            f"not resolved: about {share:.3g} % of the values lie at an end of the domain, or too "
            "near to it for this release; declare a narrower domain or a scale, and count values "
            "that are at an end by value"
        )
    return (
        f"not resolved: about {share:.3g} % of the values lie exactly at an end of the domain, "
        'as clipped values do; write outside="count", or a wider domain if they were clipped before'
    )


def _stretches(table: Table) -> int:
    """Return the number of separate stretches with most of the mass."""
    masses = table.values.copy()
    masses[[0, -1]] /= 2
    order = np.argsort(-masses)
    below = np.cumsum(masses[order])
    dense = np.zeros(masses.size + 2, np.bool_)
    enough = 1 + int((below < _MASS * below[-1]).sum())
    dense[1 + order[:enough]] = True
    turns = np.flatnonzero(dense[1:] != dense[:-1])
    first, last = turns[::2], turns[1::2]
    running = np.concatenate([[0.0], np.cumsum(masses)]) / below[-1]
    return int((running[last] - running[first] >= _STRETCH).sum())
