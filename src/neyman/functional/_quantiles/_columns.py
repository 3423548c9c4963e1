"""The columns of an answer about quantiles."""

import math
from fractions import Fraction
from typing import Final

import numpy as np

from neyman.aggregate import Columns, IntArray
from neyman.functional._abstract import is_significant
from neyman.functional._quantiles._step_basis import StepBasis
from neyman.numerics import Array

__all__ = ["NAMES", "columns_of", "half_rank"]

NAMES: Final = (
    "probability",
    "quantile",
    "lower",
    "upper",
    "total_lower",
    "total_upper",
    "count",
)


def half_rank(p: Array) -> Array:
    """Return 1/2 for p = 0, -1/2 for p = 1, else 0: the quantiles there are the extreme values."""
    return np.where(p == 0, 0.5, 0.0) - np.where(p == 1, 0.5, 0.0)


def columns_of(
    basis: StepBasis,
    probabilities: tuple[Fraction, ...],
    places: IntArray,
    counts: Array,
    hidden: float,
    *,
    coarser: bool,
) -> Columns:
    """Return the columns, group by group.

    If values were rounded to coarser steps than the grid, the intervals are half a step wider at
    each end, within the bounds, because a quantile of rounded values is the rounded quantile.

    Args:
        basis: the grid.
        probabilities: p, each in [0, 1].
        places: nodes of the quantile, lower, upper, total_lower and total_upper, shape (groups, 5,
            probabilities).
        counts: the noisy number of rows of each group.
        hidden: half the length of the noise interval of a count. A group whose count is not above
            it has no quantile, and its intervals are the bounds.
        coarser: whether the steps of the basis are larger than the declared grid.
    """
    shown = np.array([is_significant(float(n), hidden) for n in counts], bool)
    values, last = basis.values, basis.nodes - 1
    nowhere = np.array([0, 0, last, 0, last])[:, None]
    found = values[np.where(shown[:, None, None], places, nowhere)]
    found[:, 0] = np.where(shown[:, None], found[:, 0], math.nan)
    if coarser:
        half = np.array([-0.5, 0.5, -0.5, 0.5])[:, None] * float(basis.grid)
        found[:, 1:] = np.clip(found[:, 1:] + half, float(basis.lower), float(basis.upper))
    columns: Columns = {"probability": [float(p) for p in probabilities] * len(found)}
    for number, name in enumerate(NAMES[1:-1]):
        columns[name] = found[:, number].reshape(-1).tolist()
    columns["count"] = np.repeat(counts, len(probabilities)).tolist()
    return columns
