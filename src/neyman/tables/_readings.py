"""Public noisy integers -> the columns that a person reads. Post-processing, free."""

from dataclasses import dataclass
from fractions import Fraction
from math import nan
from typing import ClassVar, final

from neyman.aggregate import Columns, IntArray, Noise
from neyman.tables._bounds import Bounds

__all__ = ["CountReading", "MeanReading", "SumReading"]


@final
@dataclass(frozen=True, slots=True)
class CountReading:
    """Noisy counts with their noise interval; negative ones stay, so that all are unbiased."""

    names: ClassVar = ("count", "stddev", "lower", "upper")

    def columns(self, noisy: IntArray, noise: Noise, confidence: float) -> Columns:
        """Return the columns."""
        width = noise.half_width(confidence)
        counts = [int(value) for value in noisy.tolist()]
        return {
            "count": counts,
            "stddev": [noise.stddev] * len(counts),
            "lower": [count - width for count in counts],
            "upper": [count + width for count in counts],
        }


@final
@dataclass(frozen=True, slots=True)
class SumReading:
    """Noisy sums in the column's units with their noise interval."""

    names: ClassVar = ("sum", "stddev", "lower", "upper")
    bounds: Bounds

    def columns(self, noisy: IntArray, noise: Noise, confidence: float) -> Columns:
        """Return the columns."""
        width, grid = noise.half_width(confidence), self.bounds.grid
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
    """

    names: ClassVar = ("mean", "lower", "upper", "count")
    bounds: Bounds
    centre: int
    weight: int

    def columns(self, noisy: IntArray, noise: Noise, confidence: float) -> Columns:
        """Return the columns."""
        pairs = [(int(n), int(s)) for n, s in noisy.reshape(-1, 2).tolist()]
        ends = [noise.ratio_interval(s, n, confidence) for n, s in pairs]
        means = [self._units(Fraction(s, n)) if n > 0 else nan for n, s in pairs]
        return {
            "mean": means,
            "lower": [self._end(low) for low, _ in ends],
            "upper": [self._end(high) for _, high in ends],
            "count": [n / self.weight for n, _ in pairs],
        }

    def _end(self, ratio: float) -> float:
        # Beyond 2 the end is outside the bounds anyway; infinity has no fraction.
        return self._units(Fraction(min(max(ratio, -2.0), 2.0)))

    def _units(self, ratio: Fraction) -> float:
        value = (self.centre + self.weight * ratio) * self.bounds.grid
        return float(min(max(value, self.bounds.lower), self.bounds.upper))
