"""Noise and sampling together: the rows are taken for an independent sample, and said so.

An estimate, by the central limit theorem, save for Poisson counts.
"""

import numpy as np

from neyman.numerics import poisson_mean, student
from neyman.tables._statistics._cone import Ends, Floats

__all__ = ["poisson_ends", "widened"]


def widened(value: Floats, ends: Ends, error: Floats, rows: Floats, confidence: float) -> Ends:
    """Return value -+ sqrt(noise^2 + (t error)^2), infinite where there is less than two rows.

    Args:
        value: read from the noisy sums.
        ends: of its noise interval.
        error: standard error of sampling.
        rows: so many at least; t is Student's quantile of one degree of freedom less.
        confidence: in (0, 1).
    """
    enough = rows > 1
    degrees = np.where(enough, rows - 1, 1.0)
    t = student(degrees, np.full_like(degrees, (1 + confidence) / 2))
    each = np.where(enough, t * error, np.inf)
    low, high = ends
    value = np.nan_to_num(value, nan=0.0)
    return value - np.hypot(value - low, each), value + np.hypot(high - value, each)


def poisson_ends(low: Floats, high: Floats, confidence: float) -> Ends:
    """Return the means at which Poisson counts between the ends are not too many or too few.

    Args:
        low: least count before noise.
        high: largest; below 0 it is taken for 0.
        confidence: of the two ends together.

    Source: Garwood, *Fiducial limits for the Poisson distribution*, Biometrika 1936.
    """
    least, most = np.floor(np.maximum(low, 0.0)), np.floor(np.maximum(high, 0.0))
    half = np.full_like(least, (1 - confidence) / 2)
    lower = np.where(least > 0, poisson_mean(np.maximum(least, 1.0), half), 0.0)
    return lower, poisson_mean(most + 1, 1 - half)
