"""Noise and sampling together, where units are an independent sample and their rows are not.

Let e be a row's deviation from what is estimated, and T the sum of it over the rows of one unit.
Of at most r rows Cauchy and Schwarz give T^2 <= r sum e^2, so that

    variance of a mean <= r var / n,

whatever ties the rows of a unit together: n rows tell as much as N = n / r independent ones at
least. Where e lies in [-s, 1 - s] the bound holds for all moments, not for the second alone: by
convexity E exp(t T / r) is at most that of n_u / r whole Bernoulli trials of chance s.

An interval of the noise and one of the sampling, each with the confidence asked for, are added as
sqrt(a^2 + b^2): exact for normal errors, an estimate otherwise, whose coverage is measured
(docs/measured.md).

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
    """Return value - sqrt(noise^2 + sampling^2) and value + the same of the other side.

    Args:
        value: read from the noisy sums; NaN where there is none.
        ends: of its noise interval.
        reach: how far sampling can move it, down and up.
    """
    (low, high), (down, up) = ends, reach
    value = np.nan_to_num(value, nan=0.0)
    return value - np.hypot(value - low, down), value + np.hypot(high - value, up)


def share_reach(share: Floats, trials: Floats, confidence: float) -> Ends:
    """Return how far below and above a mean of values in [0, 1] that of the population may be.

    Exact for 0 and 1, which vary most of all values with their mean: the variance is
    (1 - mean) mean / N at most (Bhatia and Davis), and the tails are those of N trials.

    Args:
        share: the mean, in [0, 1].
        trials: N, not a whole number as a rule; everything is possible where it is not above 0.
        confidence: in (0, 1).

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
    """Return how far below and above a mean that of the population may be, by a known variance.

    A part p of the population at a distance b, of which the sample has nothing, moves the mean by
    d = p b and adds b d to the variance. So d^2 <= t^2 (variance + b d) / (N - 1), that is

        d <= h + sqrt(h^2 + t^2 variance / (N - 1)),   h = t^2 b / (2 (N - 1)).

    Args:
        variance: of the rows.
        room: b, how far the bounds are below and above.
        trials: N; nothing is known of fewer than 2.
        confidence: in (0, 1); t is Student's quantile of N - 1 degrees of freedom.
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
    """Return the means at which sums over a Poisson number of units are not too large or small.

    Args:
        low: least sum before noise.
        high: largest; below 0 it is taken for 0.
        largest: what one unit adds at most; it adds nothing below 0. Sums of less than that vary
            less than so many times a Poisson number.
        confidence: of the two ends together.

    Source: Garwood, *Fiducial limits for the Poisson distribution*, Biometrika 1936.
    """
    least, most = (np.maximum(end, 0.0) / largest for end in (low, high))
    half = np.full_like(least, (1 - confidence) / 2)
    lower = np.where(least > 0, poisson_mean(np.where(least > 0, least, 1.0), half), 0.0)
    return largest * lower, largest * poisson_mean(most + 1, 1 - half)
