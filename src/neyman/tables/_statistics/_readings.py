"""Public noisy integers -> the columns that a person reads. Post-processing, free."""

from dataclasses import dataclass
from fractions import Fraction
from math import nan, nextafter
from typing import ClassVar, final

import numpy as np

from neyman.aggregate import Columns, IntArray, Noise
from neyman.tables._bounds import Bounds
from neyman.tables._statistics._sampling import poisson_ends

__all__ = ["CountReading", "MeanReading", "PoissonReading", "SumReading"]


@final
@dataclass(frozen=True, slots=True)
class CountReading:
    """Noisy counts with their noise interval; negative ones stay, so that all are unbiased.

    Attributes:
        weight: that the integers were multiplied by; where it is not 1, noise makes fractions.
    """

    names: ClassVar = ("count", "stddev", "lower", "upper")
    weight: int = 1

    def columns(self, noisy: IntArray, noise: Noise, confidence: float) -> Columns:
        """Return the columns."""
        width = noise.half_width(confidence)
        counts = [int(value) for value in noisy.tolist()]
        return {
            "count": [_part(count, self.weight) for count in counts],
            "stddev": [noise.stddev / self.weight] * len(counts),
            "lower": [_part(count - width, self.weight) for count in counts],
            "upper": [_part(count + width, self.weight) for count in counts],
        }


@final
@dataclass(frozen=True, slots=True)
class PoissonReading:
    """Noisy counts, and the means of Poisson numbers of rows that they do not reject.

    Half of what the confidence leaves is for the noise, half for the Poisson law, so that the
    total interval holds with the confidence at least, for every mean.
    """

    names: ClassVar = (*CountReading.names, "total_lower", "total_upper")
    weight: int = 1

    def columns(self, noisy: IntArray, noise: Noise, confidence: float) -> Columns:
        """Return the columns."""
        each = nextafter(1 - (1 - confidence) / 2, 1)
        width = noise.half_width(each)
        exact = [int(value) for value in noisy.tolist()]
        low, high = (
            np.array([(value + end) / self.weight for value in exact]) for end in (-width, width)
        )
        lower, upper = poisson_ends(low, high, each)
        return CountReading(self.weight).columns(noisy, noise, confidence) | {
            "total_lower": lower.tolist(),
            "total_upper": upper.tolist(),
        }


@final
@dataclass(frozen=True, slots=True)
class SumReading:
    """Noisy sums in the column's units with their noise interval."""

    names: ClassVar = ("sum", "stddev", "lower", "upper")
    bounds: Bounds
    weight: int = 1

    def columns(self, noisy: IntArray, noise: Noise, confidence: float) -> Columns:
        """Return the columns."""
        width, grid = noise.half_width(confidence), self.bounds.grid / self.weight
        steps = [int(value) for value in noisy.tolist()]
        return {
            "sum": [float(step * grid) for step in steps],
            "stddev": [noise.stddev * float(grid)] * len(steps),
            "lower": [float((step - width) * grid) for step in steps],
            "upper": [float((step + width) * grid) for step in steps],
        }


@final
@dataclass(frozen=True, slots=True)
class MeanReading:
    """Noisy means with Fieller's interval, both inside the bounds of the column.

    mean = grid (c + a s / n_a), with n_a the noisy weighted count; NaN where n_a <= 0. The ratio
    has no standard deviation, so none is given.

    Attributes:
        bounds: of the column.
        centre: c, in grid steps.
        weight: a, in grid steps.
        factor: that both integers were multiplied by.
    """

    names: ClassVar = ("mean", "lower", "upper", "count")
    bounds: Bounds
    centre: int
    weight: int
    factor: int = 1

    def columns(self, noisy: IntArray, noise: Noise, confidence: float) -> Columns:
        """Return the columns."""
        pairs = [(int(n), int(s)) for n, s in noisy.reshape(-1, 2).tolist()]
        ends = [noise.ratio_interval(s, n, confidence) for n, s in pairs]
        means = [self._units(Fraction(s, n)) if n > 0 else nan for n, s in pairs]
        return {
            "mean": means,
            "lower": [self._end(low) for low, _ in ends],
            "upper": [self._end(high) for _, high in ends],
            "count": [n / (self.weight * self.factor) for n, _ in pairs],
        }

    def _end(self, ratio: float) -> float:
        # Beyond 2 the end is outside the bounds anyway; infinity has no fraction.
        return self._units(Fraction(min(max(ratio, -2.0), 2.0)))

    def _units(self, ratio: Fraction) -> float:
        value = (self.centre + self.weight * ratio) * self.bounds.grid
        return float(min(max(value, self.bounds.lower), self.bounds.upper))


def _part(value: int, weight: int) -> int | float:
    return value if weight == 1 else value / weight
