# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false, reportUnknownMemberType=false
"""Quantiles of many groups from noisy counts up to each value, and their intervals."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple, cast, final

import numpy as np
import numpy.typing as npt

from neyman.aggregate import Columns, IntArray, Noise
from neyman.functional._abstract import is_significant
from neyman.functional._quantiles._step_basis import StepBasis
from neyman.functional._quantiles._step_counts import StepCounts
from neyman.numerics import Array, ndtri

__all__ = ["QuantileReading"]


class _Ends(NamedTuple):
    """Places of the first and the last value of an interval, one for each probability."""

    lower: IntArray
    upper: IntArray


@final
@dataclass(frozen=True, slots=True)
class QuantileReading:
    """The least value x of the grid with F(x) >= p n, for each p, group by group.

    With G(x) = F(x) - p n and its noise of deviation s(x), the noise interval is from the first x
    with G(x) + z s(x) >= 0 to the last with G(x - 1) - z s(x - 1) <= 0. Without noise G is not
    negative at the quantile and not positive one step before, so each end can only fail where the
    noise at one place known beforehand is beyond z: the level holds for any data.

    The total interval is for the quantile of what the units are drawn from. With at most r records
    of a unit, all of which may be alike, it adds (z sqrt(r n p (1 - p)) + r / 2)^2 to (z s)^2: the
    variance of r times a binomial count of n / r trials, and half of its step. At p = 0 and 1 it is
    open to the bound.

    Where values were rounded to coarser steps than were asked for, both intervals are half a step
    wider at each end, within the bounds: a quantile of rounded values is the rounded quantile.

    A group whose number of rows is not told from 0 has no quantile: NaN, in whole bounds.

    Attributes:
        basis: the grid.
        probabilities: p, each in [0, 1].
        unit_records: most records of one unit, r.
        coarser: whether the steps of the basis are larger than were asked for.
    """

    basis: StepBasis
    probabilities: tuple[Fraction, ...]
    unit_records: int
    coarser: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """What its columns are called."""
        return (
            "probability",
            "quantile",
            "lower",
            "upper",
            "total_lower",
            "total_upper",
            "count",
        )

    @property
    def rows(self) -> int:
        """One for each probability."""
        return len(self.probabilities)

    def columns(self, noisy: IntArray, noise: Noise, confidence: float) -> Columns:
        """Return the columns."""
        solved = StepCounts.of(self.basis, noisy.reshape(-1, self.basis.size))
        width = float(noise.half_width(confidence))
        shares = [float(p) for p in self.probabilities]
        reach = np.stack([width * solved.length(p) for p in shares])
        hidden = width * math.sqrt(solved.variance[-1])
        z = float(ndtri(np.array((1 + confidence) / 2)))
        values = self.basis.values
        found: list[Array] = []
        for counts in solved.up_to:
            # A group whose number of rows is not told from 0 has no quantile.
            shown = is_significant(float(counts[-1]), hidden)
            row = self._places(counts, reach, z) if shown else self._nowhere()
            quantile = np.where(shown, values[row[0]], math.nan)
            ends = self._widened(values[row[1:]])
            found.append(np.vstack([quantile, ends, np.full(self.rows, counts[-1])]))
        table = np.concatenate(found, axis=1)
        columns: Columns = {"probability": shares * len(found)}
        return columns | {
            name: part.tolist() for name, part in zip(self.names[1:], table, strict=True)
        }

    def _widened(self, ends: Array) -> Array:
        """Return ends of intervals that hold what was rounded to them; lower and upper by turns."""
        if not self.coarser:
            return ends
        half = np.array([-0.5, 0.5, -0.5, 0.5])[:, None] * float(self.basis.grid)
        return np.clip(ends + half, float(self.basis.lower), float(self.basis.upper))

    def _nowhere(self) -> IntArray:
        ends = np.array([0, 0, self.basis.nodes - 1, 0, self.basis.nodes - 1])
        return np.repeat(ends[:, None], self.rows, axis=1)

    def _places(self, counts: Array, reach: Array, z: float) -> IntArray:
        """Return quantiles and both intervals of one group, shape (5, probabilities)."""
        last, n = len(counts) - 1, float(counts[-1])
        p = np.array([float(share) for share in self.probabilities])
        # The least is where there is one, the largest where there is none beyond.
        ranks = p * n + np.where(p == 0, 0.5, 0.0) - np.where(p == 1, 0.5, 0.0)
        place = np.minimum(np.searchsorted(_monotone(counts), ranks), last)
        apart = counts - ranks[:, None]
        own = _ends(apart, reach, place)
        between, r = p * (1 - p), self.unit_records
        sampling = np.where(between > 0, z * np.sqrt(r * n * between) + r / 2, 0.0)
        both = _ends(apart, np.hypot(reach, sampling[:, None]), place)
        lower = np.where(p == 0, 0, both.lower)
        upper = np.where(p == 1, last, both.upper)
        return np.stack([place, own.lower, own.upper, lower, upper])


def _ends(apart: Array, reach: Array, place: IntArray) -> _Ends:
    """Return the first and last place that the noise allows; the estimate is within."""
    last = apart.shape[1] - 1
    above: npt.NDArray[np.bool_] = apart + reach >= 0
    below: npt.NDArray[np.bool_] = apart - reach <= 0
    first = cast("IntArray", np.where(above.any(axis=1), above.argmax(axis=1), last))
    after = last - below[:, ::-1].argmax(axis=1) + 1
    end = np.minimum(cast("IntArray", np.where(below.any(axis=1), after, 0)), last)
    return _Ends(np.minimum(first, place), np.maximum(end, place))


def _monotone(counts: Array) -> Array:
    """Return the nearest non-decreasing counts that end with the same number."""
    from scipy.optimize import isotonic_regression

    weights = np.ones(len(counts))
    weights[-1] = 1e9
    return np.asarray(cast("Array", isotonic_regression(counts, weights=weights).x))
