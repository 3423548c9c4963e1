"""Upper bounds of a rate at all thresholds at once that are sharp where the rate is small.

Each count k of n has its Clopper-Pearson bound U_k, all of them at one local level. They fail
where some U_k lies below the place of the (k + 1)-th of n uniform points. The chance of that is
computed: a Poisson process, conditioned on n points, moves from each U_k to the next one.
"""

import math
from dataclasses import dataclass, field
from functools import lru_cache
from typing import final

import numpy as np
from numpy.typing import NDArray

from neyman.numerics import Array, beta_quantile
from neyman.numerics._special import log_gamma

__all__ = ["TailBound", "tail_bound"]

# Counts with a bound of their own lie at most this many standard deviations apart ...
_APART = 0.25
# ... or further, so that there are not more than these, about.
_MOST_COUNTS = 2000
# What a window leaves out is added to the chance of a failure.
_DEVIATIONS, _MORE = 6.5, 20.0
_NEAR = 0.01
_MOST_STEPS = 40


@final
@dataclass(frozen=True, slots=True)
class TailBound:
    """Upper bounds of a rate, by the count that was observed.

    Attributes:
        counts: that have a bound of their own, increasing.
        rates: the bounds.
        size: n.
        failing: the probability that some bound is below its rate, at most.
    """

    counts: NDArray[np.intp] = field(repr=False)
    rates: Array = field(repr=False)
    size: int
    failing: float

    def upper(self, observed: NDArray[np.intp]) -> Array:
        """Bound the rates of events with these counts; a count between two has the larger's."""
        place = np.searchsorted(self.counts, observed)
        return np.append(self.rates, 1.0)[place]


@lru_cache(maxsize=32)
def tail_bound(n: int, level: float) -> TailBound:
    """Return bounds that hold at once, for all thresholds, with probability 1 - level at least.

    Args:
        n: the size of the sample.
        level: in (0, 1).

    Error: `failing` is computed and lies between .97 level and level.

    Source: Berk and Jones (1979), one-sided; Moscovich and Nadler (2017) for the Poisson process.

    >>> 0.097 <= tail_bound(200, 0.1).failing <= 0.1
    True
    """
    counts = _counts(n)
    # The chance of a failure is nearly a power of the local level.
    low, high = math.log(level / (2 * counts.size)), math.log(level)
    best = _bound(n, counts, math.exp(low))
    below = math.log(max(best.failing, 1e-12) / level)
    above = math.inf
    guess = low + 0.5 * (high - low)
    for _ in range(_MOST_STEPS):
        found = _bound(n, counts, math.exp(guess))
        gap = math.log(max(found.failing, 1e-12) / level)
        if gap <= 0:
            low, below, best = guess, gap, found
        else:
            high, above = guess, gap
        if below > -2 * _NEAR or high - low < 1e-9:
            break
        # Aimed a little below the level, where the bounds are valid.
        line = low + (high - low) * (-below - _NEAR) / (above - below)
        guess = line if math.isfinite(above) and low < line < high else (low + high) / 2
    return best


def _counts(n: int) -> NDArray[np.intp]:
    """Return 0, ..., n - 1, or some of them: by the angle, in which all have one deviation."""
    apart = max(_APART, math.pi * math.sqrt(n) / _MOST_COUNTS)
    angles = np.linspace(0, math.pi / 2, max(2, math.ceil(math.pi * math.sqrt(n) / apart)))
    return np.unique(np.minimum(np.floor(n * np.sin(angles) ** 2), n - 1).astype(np.intp))


def _bound(n: int, counts: NDArray[np.intp], local: float) -> TailBound:
    """Return the bounds at a local level, with the chance that one of them fails, rounded up."""
    k = counts.astype(np.float64)
    rates = np.minimum(beta_quantile(k + 1, n - k, np.array(1 - local)), 1.0)
    # Of equal places the strictest one is asked for.
    rates = np.maximum.accumulate(rates)
    first, chances, at = 0, np.ones(1), 0.0
    for count, rate in zip(counts.tolist(), rates.tolist(), strict=True):
        if rate >= 1.0:
            break
        first, chances = _moved(n, first, chances, (at, rate), count + 1)
        at = rate
    kept = _arrived(n, first, chances, 1 - at)
    return TailBound(counts, rates, n, min(1.0, max(0.0, 1 - kept) + 1e-9))


def _moved(
    n: int, first: int, chances: Array, step: tuple[float, float], least: int
) -> tuple[int, Array]:
    """Take the law of the number of points to the next place, and drop numbers below the least."""
    start, end = step
    fewest, masses = _poisson(n, n * (end - start))
    moved = np.convolve(chances, masses)
    low = first + fewest
    # Of n points, so many lie left of here but for a chance that is added.
    sd = math.sqrt(n * end * (1 - end))
    left = max(least, math.floor(n * end - _DEVIATIONS * sd - _MORE), low)
    right = min(n, math.ceil(n * end + _DEVIATIONS * sd + _MORE), low + moved.size - 1)
    return left, moved[left - low : max(right + 1 - low, left - low)]


def _poisson(n: int, mean: float) -> tuple[int, Array]:
    """Return the numbers of points that are likely, from the fewest, with their chances."""
    if mean == 0:
        return 0, np.ones(1)
    reach = _DEVIATIONS * math.sqrt(mean) + _MORE
    fewest = max(0, math.floor(mean - reach))
    points = np.arange(fewest, min(n, math.ceil(mean + reach)) + 1.0)
    return fewest, np.exp(points * math.log(mean) - mean - log_gamma(points + 1))


def _arrived(n: int, first: int, chances: Array, rest: float) -> float:
    """Return the chance of all that, given n points in [0, 1]; `rest` > 0 is still to come."""
    left = n - (first + np.arange(float(chances.size)))
    logs = left * math.log(n * rest) - n * rest - log_gamma(left + 1)
    of_all = n * math.log(n) - n - float(log_gamma(np.array(n + 1.0)))
    return float(np.sum(chances * np.exp(logs - of_all)))
