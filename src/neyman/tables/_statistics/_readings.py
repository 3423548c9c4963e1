"""The columns of an answer, from public noisy integers. Post-processing, free."""

from dataclasses import dataclass
from fractions import Fraction
from math import nan, nextafter
from typing import ClassVar, final

import numpy as np

from neyman.aggregate import Columns, IntArray, Noise, SumsReading, Term
from neyman.overriding import override
from neyman.tables._bounds import Bounds
from neyman.tables._statistics._cone import Ends, Floats
from neyman.tables._statistics._sampling import poisson_ends, share_reach, widened

__all__ = ["CountReading", "MeanReading", "PoissonReading", "SumReading"]


@final
@dataclass(frozen=True, slots=True)
class CountReading(SumsReading):
    """Noisy counts with their noise interval; negative ones stay, so all are unbiased.

    Attributes:
        weight: the factor of the integers; if it is not 1, counts with noise have fractions.
    """

    names: ClassVar = ("count", "stddev", "lower", "upper")
    weight: int = 1

    @property
    @override
    def terms(self) -> tuple[Term, ...]:
        return (Term(self.weight),)

    @override
    def columns(self, noisy: IntArray, noise: Noise, confidence: float) -> Columns:
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
class PoissonReading(SumsReading):
    """Noisy counts or sums, with an interval for the mean of a Poisson number of units.

    Half of the error probability is for the noise, half for the Poisson law. So the coverage of the
    total interval is at least the confidence, for every mean.

    Attributes:
        plain: the reading of the counts or sums.
        step: the value of an integer of 1.
        largest: the largest contribution of one unit, above 0; the smallest is at least 0.
    """

    more: ClassVar = ("total_lower", "total_upper")
    plain: "CountReading | SumReading"
    step: Fraction
    largest: int | Fraction

    @property
    @override
    def terms(self) -> tuple[Term | None, ...]:
        return self.plain.terms

    @override
    def columns(self, noisy: IntArray, noise: Noise, confidence: float) -> Columns:
        each = nextafter(1 - (1 - confidence) / 2, 1)
        width = noise.half_width(each)
        exact = [int(value) for value in noisy.tolist()]
        low, high = (
            np.array([float((value + end) * self.step) for value in exact])
            for end in (-width, width)
        )
        ends = poisson_ends(low, high, float(self.largest), each)
        more = {name: end.tolist() for name, end in zip(self.more, ends, strict=True)}
        return self.plain.columns(noisy, noise, confidence) | more


@final
@dataclass(frozen=True, slots=True)
class SumReading(SumsReading):
    """Noisy sums in the column's units with their noise interval."""

    names: ClassVar = ("sum", "stddev", "lower", "upper")
    bounds: Bounds
    weight: int = 1

    @property
    @override
    def terms(self) -> tuple[Term, ...]:
        return (Term(self.weight * (sum(self.bounds.steps) // 2), self.weight),)

    @override
    def columns(self, noisy: IntArray, noise: Noise, confidence: float) -> Columns:
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
class MeanReading(SumsReading):
    """Noisy means with Fieller's interval, both inside the bounds of the column.

    mean = grid (c + a s / n_a), with n_a the noisy weighted count; NaN if n_a <= 0. The ratio has
    no standard deviation, so there is no such column.

    The release has no spread. So the total interval uses the largest variance that the bounds
    allow, at the end of the noise interval nearest to their middle (`share_reach`).

    Attributes:
        bounds: the bounds of the column.
        centre: c, in grid steps.
        weight: a, in grid steps.
        factor: the factor of both integers.
        unit_rows: r, the most rows of one unit.
    """

    names: ClassVar = ("mean", "lower", "upper", "total_lower", "total_upper", "count")
    bounds: Bounds
    centre: int
    weight: int
    factor: int
    unit_rows: int

    @property
    @override
    def terms(self) -> tuple[Term, ...]:
        return (Term(self.weight * self.factor), Term(0, self.factor))

    @override
    def columns(self, noisy: IntArray, noise: Noise, confidence: float) -> Columns:
        pairs = [(int(n), int(s)) for n, s in noisy.reshape(-1, 2).tolist()]
        ends = [noise.ratio_interval(s, n, confidence) for n, s in pairs]
        means = [self._units(Fraction(s, n)) if n > 0 else nan for n, s in pairs]
        lower, upper = ([self._end(end[side]) for end in ends] for side in (0, 1))
        one, width = self.weight * self.factor, noise.half_width(confidence)
        fewest = np.array([(n - width) / one for n, _ in pairs])
        total = self._totals(np.array([means, lower, upper]), fewest, confidence)
        return {
            "mean": means,
            "lower": lower,
            "upper": upper,
            "total_lower": total[0].tolist(),
            "total_upper": total[1].tolist(),
            "count": [n / one for n, _ in pairs],
        }

    def _totals(self, values: Floats, fewest: Floats, confidence: float) -> Ends:
        """Return the total interval of means with their noise intervals, shape (3, groups)."""
        lower, upper = float(self.bounds.lower), float(self.bounds.upper)
        mean, *ends = np.clip((values - lower) / (upper - lower), 0.0, 1.0)
        reach = share_reach(np.clip(0.5, *ends), fewest / self.unit_rows, confidence)
        total = widened(mean, (ends[0], ends[1]), reach)
        low, high = (lower + (upper - lower) * end for end in total)
        return np.clip(low, lower, values[1]), np.clip(high, values[2], upper)

    def _end(self, ratio: float) -> float:
        # Beyond 2 the end is outside the bounds anyway; infinity has no fraction.
        return self._units(Fraction(min(max(ratio, -2.0), 2.0)))

    def _units(self, ratio: Fraction) -> float:
        value = (self.centre + self.weight * ratio) * self.bounds.grid
        return float(min(max(value, self.bounds.lower), self.bounds.upper))


def _part(value: int, weight: int) -> int | float:
    return value if weight == 1 else value / weight
