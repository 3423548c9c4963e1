"""Noise and sampling error together, for independent units with dependent rows.

Let e be a row's deviation from the estimated value, and T its sum over the rows of one unit. For at
most r rows, Cauchy and Schwarz give T^2 <= r sum e^2, so

    variance of a mean <= r var / n,

for any dependence within a unit: n rows have at least the information of N = n / r independent
ones. If e is in [-s, 1 - s], the bound holds for all moments, not only for the second: by convexity
E exp(t T / r) is at most that of n_u / r whole Bernoulli trials of probability s.

The half widths of a noise interval and of a sampling interval, each with the given confidence, are
added as sqrt(a^2 + b^2). That is exact for normal errors, and otherwise an estimate whose coverage
is measured (docs/measured.md).

Source: Bhatia, Davis, *A better bound on the variance*, American Mathematical Monthly 2000;
    Hoeffding, *Probability inequalities for sums of bounded random variables*, JASA 1963.
"""

from typing import Final

import numpy as np

from neyman.numerics import beta_quantile, poisson_mean, student
from neyman.tables._statistics._cone import Ends, Floats

__all__ = ["mean_reach", "poisson_ends", "share_reach", "widened"]

# Beyond so many trials the quantile is not found exactly, and the law is normal.
_TRIALS: Final = 2.0**20


def widened(value: Floats, ends: Ends, reach: Ends) -> Ends:
    """Return value - sqrt(noise^2 + sampling^2), and value + the same for the upper side.

    Args:
        value: the value from the noisy sums; NaN if there is none.
        ends: the ends of its noise interval.
        reach: the half width of the sampling interval, down and up.
    """
    (low, high), (down, up) = ends, reach
    value = np.nan_to_num(value, nan=0.0)
    return value - np.hypot(value - low, down), value + np.hypot(high - value, up)


def share_reach(share: Floats, trials: Floats, confidence: float) -> Ends:
    """Return the sampling half widths, down and up, for a mean of values in [0, 1].

    It is exact for the values 0 and 1, which have the largest variance for a given mean: the
    variance is at most (1 - mean) mean / N (Bhatia and Davis), and the tails are those of N trials.

    Args:
        share: the mean, in [0, 1].
        trials: N, usually not whole; if it is not above 0, every mean is possible.
        confidence: the confidence, in (0, 1).

    Source: Clopper, Pearson, *The use of confidence or fiducial limits illustrated in the case of
        the binomial*, Biometrika 1934.
    """
    some = trials > 0
    number = np.where(some, np.minimum(trials, _TRIALS), 1.0)
    hits = share * number
    misses, half = number - hits, np.full_like(number, (1 - confidence) / 2)
    low = np.where(hits > 0, beta_quantile(np.where(hits > 0, hits, 1.0), misses + 1, half), 0.0)
    left = np.where(misses > 0, misses, 1.0)
    high = np.where(misses > 0, 1 - beta_quantile(left, hits + 1, half), 1.0)
    down, up = np.maximum(share - low, 0.0), np.maximum(high - share, 0.0)
    many = np.sqrt(np.minimum(_TRIALS / np.where(some, trials, 1.0), 1.0))
    wider = np.where(many < 1, np.maximum(down, up) * many, 0.0)
    down, up = (np.where(many < 1, wider, part) for part in (down, up))
    return np.where(some, down, share), np.where(some, up, 1 - share)


def mean_reach(variance: Floats, room: Ends, trials: Floats, confidence: float) -> Ends:
    """Return the sampling half widths, down and up, for a mean with a known variance.

    A part p of the population at a distance b that is not in the sample moves the mean by d = p b
    and adds b d to the variance. So d^2 <= t^2 (variance + b d) / (N - 1), that is,

        d <= h + sqrt(h^2 + t^2 variance / (N - 1)),   h = t^2 b / (2 (N - 1)).

    Args:
        variance: the variance of the rows.
        room: b, the distances to the lower and the upper bound.
        trials: N; below 2 every mean is possible.
        confidence: the confidence, in (0, 1); t is Student's quantile with N - 1 degrees of
            freedom.
    """
    enough = trials >= 2
    degrees = np.where(enough, trials - 1, 1.0)
    squared = student(degrees, np.full_like(degrees, (1 + confidence) / 2)) ** 2 / degrees
    down, up = (
        np.where(enough, half + np.sqrt(half**2 + squared * variance), np.inf)
        for half in (squared * each / 2 for each in room)
    )
    return down, up


def poisson_ends(low: Floats, high: Floats, largest: float, confidence: float) -> Ends:
    """Return the ends of an interval for the mean of sums over a Poisson number of units.

    Args:
        low: the smallest sum before noise.
        high: the largest sum before noise; below 0 it counts as 0.
        largest: the largest contribution of one unit; the smallest is at least 0. A sum varies at
            most like `largest` times a Poisson number.
        confidence: the confidence of both ends together.

    Source: Garwood, *Fiducial limits for the Poisson distribution*, Biometrika 1936.
    """
    least, most = (np.maximum(end, 0.0) / largest for end in (low, high))
    half = np.full_like(least, (1 - confidence) / 2)
    lower = np.where(least > 0, poisson_mean(np.where(least > 0, least, 1.0), half), 0.0)
    return largest * lower, largest * poisson_mean(most + 1, 1 - half)
