"""The epsilon of a delta, with few questions to a profile that takes long to answer."""

from collections.abc import Callable

import numpy as np

from neyman.numerics import Array, Interval
from neyman.numerics._primitives import log
from neyman.numerics._root import proved_root

__all__ = ["epsilon_of_profile"]

# Losses at which the profile is read first, to start the search nearby.
_PLACES = np.append(0.0, np.geomspace(2.0**-30, 700.0, 160))


def epsilon_of_profile(log_delta: Callable[[Array], Interval], delta: Array) -> Interval:
    """Bracket the least epsilon >= 0 with delta(epsilon) <= delta.

    Error: that of the profile, and a relative 1e-14. As wide as two of the first places where
    nothing closer was proved.
    """
    flat = np.ravel(np.asarray(delta, dtype=np.float64))
    seen = log_delta(np.append(_PLACES, np.inf))
    with np.errstate(divide="ignore"):
        target = np.log(flat)
    least, most = log(Interval.decimal(flat))
    lower, upper = np.zeros(flat.shape), np.full(flat.shape, np.inf)
    for place, low, high in zip(_PLACES, *(side[:-1] for side in seen), strict=True):
        lower = np.where((low > most) & (lower <= place), place, lower)
        upper = np.where((high <= least) & (upper > place), place, upper)
    lower = np.where(seen.lower[-1] > most, np.inf, lower)
    upper = np.where((flat >= 1) | np.isinf(lower), np.where(flat >= 1, 0.0, upper), upper)
    lower = np.minimum(lower, upper)
    open_ = np.flatnonzero((flat > 0) & (lower < upper) & np.isfinite(upper))
    if open_.size:
        left, right = lower[open_], upper[open_]
        at = np.searchsorted(_PLACES, left)
        logs = seen.upper[:-1]
        with np.errstate(divide="ignore", invalid="ignore"):
            slope = (logs[np.minimum(at + 1, _PLACES.size - 1)] - logs[at]) / (right - left)
        slope = np.where(np.isfinite(slope) & (slope < 0), slope, -1 / (right - left))
        # Without a lower bound, only the upper end is searched for.
        blind = not np.any(np.isfinite(seen.lower))

        def bounds(t: Array) -> Interval:
            found = log_delta(t)
            return Interval(found.upper, found.upper) if blind else found

        def middle(t: Array) -> Array:
            found = log_delta(t)
            return np.where(np.isfinite(found.lower), found.middle, found.upper)

        found = proved_root(bounds, middle, target[open_], (left + right) / 2, slope)
        lower[open_] = left if blind else np.maximum(left, found.lower)
        upper[open_] = np.minimum(right, found.upper)
    return Interval(lower.reshape(np.shape(delta)), upper.reshape(np.shape(delta)))
