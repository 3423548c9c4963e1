"""Variances, covariances and correlations from noisy sums of products. Post-processing, free.

Every noise interval holds with the given confidence for any data. It has ratios of linear forms
(`_cone`) with noisy means in place of the true ones, plus the square of the largest error of that.
With dx = m_x - a and a noisy,

    sum (x - a)^2 / n       = var + dx^2
    sum (x - a)(y - b) / n  = cov + dx dy
"""

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from neyman.aggregate import Columns, IntArray, Noise, SumsReading, Term
from neyman.overriding import override
from neyman.tables._statistics._cone import Cone, Ends, Floats
from neyman.tables._statistics._moments import Layout
from neyman.tables._statistics._sampling import mean_reach, share_reach, widened

__all__ = [
    "CorrelationReading",
    "CovarianceReading",
    "MomentsReading",
    "NoisySums",
    "VarianceReading",
]


@final
@dataclass(frozen=True, slots=True)
class NoisySums:
    """Noisy sums in normalised units, and their noise.

    Attributes:
        raw: the noisy integers, shape (groups, d).
        units: `Layout.units`.
        noise: the noise on each integer.
        confidence: the confidence of intervals.
    """

    raw: Floats
    units: Floats
    noise: Noise
    confidence: float

    @staticmethod
    def of(
        noisy: IntArray, layout: Layout, weight: int, noise: Noise, confidence: float
    ) -> "NoisySums":
        """Return the integers, group by group."""
        raw = noisy.reshape(-1, len(layout.terms)).astype(np.float64)
        return NoisySums(raw, np.array(layout.units(weight)), noise, confidence)

    @property
    def sums(self) -> Floats:
        """The sums over rows of each product, shape (groups, d)."""
        return self.raw @ self.units.T

    @property
    def counts(self) -> Floats:
        """The noisy numbers of rows."""
        return self.raw[:, 0] * self.units[0, 0]

    def form(self, *parts: tuple[int, Floats | float]) -> Floats:
        """Return the coefficients of the integers in a form of the sums: (index, factor), ..."""
        total = np.zeros_like(self.raw)
        for index, factor in parts:
            total += np.multiply.outer(np.broadcast_to(factor, len(self.raw)), self.units[index])
        return total

    def cone(self) -> Cone:
        """Return the simultaneous intervals of all ratios."""
        size = len(self.units)
        return Cone(self.raw, self.noise.radius(max(1, size - 1), size, self.confidence))

    def mean_ends(self, index: int) -> Ends:
        """Return the interval of one mean alone."""
        pair = self.raw[:, [0, index]]
        units = self.units[np.ix_([0, index], [0, index])]
        top, bottom = (np.broadcast_to(units[i], pair.shape) for i in (1, 0))
        return Cone(pair, self.noise.radius(1, 2, self.confidence)).ratio(top, bottom)

    def fewest(self) -> Floats:
        """Return the lower ends of the numbers of rows."""
        return self.counts - self.noise.half_width(self.confidence) * self.units[0, 0]


class MomentsReading(SumsReading):
    """The columns of a statistic from sums of products."""

    __slots__ = ()

    layout: Layout
    weight: int

    @property
    @override
    def terms(self) -> tuple[Term | None, ...]:
        return self.layout.known_terms(self.weight)

    @property
    @override
    def joint(self) -> bool:
        return True


@final
@dataclass(frozen=True, slots=True)
class VarianceReading(MomentsReading):
    """The variance of the rows, divided by their number; NaN if that is not positive.

    Attributes:
        layout: the layout of the sums.
        weight: the factor of the integers.
        unit_rows: r, the most rows of one unit.
    """

    names: ClassVar = (
        *("variance", "lower", "upper", "total_lower", "total_upper"),
        *("standard_deviation", "standard_deviation_lower", "standard_deviation_upper"),
        *("mean", "mean_lower", "mean_upper", "mean_total_lower", "mean_total_upper", "count"),
    )
    layout: Layout
    weight: int
    unit_rows: int

    @override
    def columns(self, noisy: IntArray, noise: Noise, confidence: float) -> Columns:
        sums = NoisySums.of(noisy, self.layout, self.weight, noise, confidence)
        (axis,) = self.layout.axes
        size, middle = float(axis.half_range), float(axis.middle)
        mean, variance = _mean(sums, 1), _clipped(_moment(sums, 2, 1, 1), 0, 1)
        ends = _variance_ends(sums.cone(), sums, 2, 1, mean)
        low, high = (_clipped(end, 0, 1) for end in ends)
        mean_ends = sums.mean_ends(1)
        whole, mean_whole = self._totals(sums, (variance, low, high), (mean, mean_ends))
        squared = size**2
        parts = [
            *(squared * part for part in (variance, low, high, *whole)),
            *(size * np.sqrt(part) for part in (variance, low, high)),
            *(middle + size * _clipped(part, -1, 1) for part in (mean, *mean_ends, *mean_whole)),
            sums.counts,
        ]
        return _named(self.names, parts)

    def _totals(
        self, sums: NoisySums, spread: tuple[Floats, Floats, Floats], means: tuple[Floats, Ends]
    ) -> tuple[Ends, Ends]:
        """Return the total intervals; that of the mean is never wider than by the bounds alone.

        The variance is a mean of squares (u - m)^2, which are between 0 and (1 + |m|)^2.
        """
        (variance, low, high), (mean, ends) = spread, means
        trials, confidence = sums.fewest() / self.unit_rows, sums.confidence
        ends = _clipped(ends[0], -1, 1), _clipped(ends[1], -1, 1)
        by_spread = mean_reach(high, (1 + ends[1], 1 - ends[0]), trials, confidence)
        by_bounds = share_reach((1 + np.clip(0.0, *ends)) / 2, trials, confidence)
        down, up = (
            np.minimum(one, 2 * other) for one, other in zip(by_spread, by_bounds, strict=True)
        )
        mean_whole = widened(mean, ends, (down, up))
        far = (1 + np.minimum(np.max(np.abs(mean_whole), axis=0), 1.0)) ** 2
        down, up = share_reach(np.clip(0.5, low / far, high / far), trials, confidence)
        lower, upper = widened(variance, (low, high), (far * down, far * up))
        # The mean of the rows is nearer to them than that of the population.
        upper = np.where(trials > 1, upper * trials / np.maximum(trials - 1, 1e-9), 1.0)
        return (_clipped(lower, 0, 1), _clipped(upper, 0, 1)), mean_whole


@final
@dataclass(frozen=True, slots=True)
class CovarianceReading(MomentsReading):
    """The covariance of the rows, divided by their number; NaN if that is not positive."""

    names: ClassVar = ("covariance", "lower", "upper", "count")
    layout: Layout
    weight: int

    @override
    def columns(self, noisy: IntArray, noise: Noise, confidence: float) -> Columns:
        sums = NoisySums.of(noisy, self.layout, self.weight, noise, confidence)
        x, y = self.layout.axes
        size = float(x.half_range * y.half_range)
        cone, a, b = sums.cone(), _mean(sums, 1), _mean(sums, 2)
        off = _offset(cone, sums, 1, a) * _offset(cone, sums, 2, b)
        top = sums.form((3, 1.0), (1, -_or_0(b)), (2, -_or_0(a)), (0, _or_0(a * b)))
        low, high = cone.ratio(top, sums.form((0, 1.0)))
        parts = [_moment(sums, 3, 1, 2), low - off, high + off]
        return _named(self.names, [*(size * _clipped(part, -1, 1) for part in parts), sums.counts])


@final
@dataclass(frozen=True, slots=True)
class CorrelationReading(MomentsReading):
    """The correlation of the rows; NaN if the number or a variance is not positive.

    r = 2 cov / (l var_x + var_y / l) / sqrt(1 - w^2),  w = (l var_x - var_y/l)/(l var_x + var_y/l),

    for every l > 0. With the best noisy l, the first factor is a ratio of linear forms, and w is 0
    up to noise.
    """

    names: ClassVar = ("correlation", "lower", "upper", "count")
    layout: Layout
    weight: int

    @override
    def columns(self, noisy: IntArray, noise: Noise, confidence: float) -> Columns:
        sums = NoisySums.of(noisy, self.layout, self.weight, noise, confidence)
        spread = _moment(sums, 3, 1, 1), _moment(sums, 4, 2, 2)
        with np.errstate(invalid="ignore", divide="ignore"):
            known = (spread[0] > 0) & (spread[1] > 0)
            value = np.where(known, _moment(sums, 5, 1, 2) / np.sqrt(spread[0] * spread[1]), np.nan)
            ratio = np.where(known, np.sqrt(spread[1] / spread[0]), 1.0)
        low, high = self._ends(sums, ratio)
        parts = (_clipped(part, -1, 1) for part in (value, low, high))
        return _named(self.names, [*parts, sums.counts])

    @staticmethod
    def _ends(sums: NoisySums, ratio: Floats) -> Ends:
        cone, a, b = sums.cone(), _or_0(_mean(sums, 1)), _or_0(_mean(sums, 2))
        one = sums.form((0, 1.0))
        x = ratio[:, None] * sums.form((3, 1.0), (1, -2 * a), (0, a**2))
        y = sums.form((4, 1.0), (2, -2 * b), (0, b**2)) / ratio[:, None]
        both = 2 * sums.form((5, 1.0), (1, -b), (2, -a), (0, a * b))
        squares = ratio * _offset(cone, sums, 1, a) ** 2 + _offset(cone, sums, 2, b) ** 2 / ratio
        least, _ = cone.ratio(x + y, one)
        with np.errstate(invalid="ignore", divide="ignore"):
            # What the noisy means are wrong by, as a part of l var_x + var_y / l.
            wrong = np.where(least > squares, squares / (least - squares), np.inf)
            low, high = _spread_out(cone.ratio(both, x + y), wrong)
            w = np.max(np.abs(_spread_out(cone.ratio(x - y, x + y), wrong)), axis=0)
            shrunk = np.sqrt(np.maximum(1 - w**2, 0.0))
            low = np.where(low < 0, low / shrunk, low)
            high = np.where(high > 0, high / shrunk, high)
        return np.nan_to_num(low, nan=-1.0), np.nan_to_num(high, nan=1.0)


def _spread_out(ends: Ends, part: Floats) -> Ends:
    low, high = ends
    return low - part * (1 + np.abs(low)), high + part * (1 + np.abs(high))


def _mean(sums: NoisySums, index: int) -> Floats:
    """Return the noisy mean of one product, in [-1, 1]; NaN if the count is not positive."""
    counts = sums.counts
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.where(counts > 0, sums.sums[:, index] / counts, np.nan)
    return _clipped(means, -1, 1)


def _moment(sums: NoisySums, index: int, first: int, second: int) -> Floats:
    """Return the central moment of a product, at the noisy means."""
    a, b, counts = _mean(sums, first), _mean(sums, second), sums.counts
    parts = sums.sums
    top = parts[:, index] - a * parts[:, second] - b * parts[:, first] + a * b * parts[:, 0]
    return np.divide(top, counts, out=np.full_like(top, np.nan), where=counts > 0)


def _offset(cone: Cone, sums: NoisySums, index: int, mean: Floats) -> Floats:
    """Return the largest error |m - a| of a noisy mean, for both in [-1, 1]."""
    low, high = cone.ratio(sums.form((index, 1.0)), sums.form((0, 1.0)))
    a = _or_0(mean)
    return np.maximum(_clipped(high, -1, 1) - a, a - _clipped(low, -1, 1))


def _variance_ends(cone: Cone, sums: NoisySums, square: int, first: int, mean: Floats) -> Ends:
    a = _or_0(mean)
    top = sums.form((square, 1.0), (first, -2 * a), (0, a**2))
    low, high = cone.ratio(top, sums.form((0, 1.0)))
    return low - _offset(cone, sums, first, mean) ** 2, high


def _or_0(values: Floats) -> Floats:
    return np.nan_to_num(values, nan=0.0)


def _clipped(values: Floats, low: float, high: float) -> Floats:
    return np.clip(values, low, high)


def _named(names: tuple[str, ...], parts: list[Floats]) -> Columns:
    return {name: [float(x) for x in part] for name, part in zip(names, parts, strict=True)}
