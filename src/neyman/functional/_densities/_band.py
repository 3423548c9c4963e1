"""Simultaneous bands: by a formula for curves, by simulation for several coordinates."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Final, Literal, NamedTuple, TypeAlias, final

import numpy as np
import numpy.typing as npt

from neyman.arguments import got, whole
from neyman.errors import InvalidParameter
from neyman.functional._bases._fixed_point import contracted
from neyman.functional._densities._circle import on_circle
from neyman.functional._densities._coefficients import Coefficients
from neyman.functional._densities._proper import ProperDensity, TabulatedDensity
from neyman.functional._densities._reading import Reading
from neyman.functional._densities._sampling import FieldSampling, Sampled, Spread, limits
from neyman.functional._generator import Generator
from neyman.numerics import Array

__all__ = [
    "Band",
    "BandKind",
    "Compared",
    "FieldNoise",
    "check_band_kind",
    "curve_band",
    "difference_band",
    "noise_of",
]

BandKind: TypeAlias = Literal["noise", "total", "density"]
# The band for the density keeps waves whole up to so many times the frequency of which a half is
# kept.
_UNDERSMOOTHED: Final = 1.5


class Band(NamedTuple):
    """A released function with a lower and an upper function, on a grid of its domain.

    Attributes:
        axes: places on each side; a curve has one side.
        estimate: the function at the places, one axis for each side.
        lower: the lower function, same shape.
        upper: the upper function, same shape.
        width: the distance of both from the estimate, in standard deviations, the same everywhere.
    """

    axes: tuple[Array, ...]
    estimate: Array
    lower: Array
    upper: Array
    width: float

    @property
    def x(self) -> Array:
        """The places of the band of a curve."""
        return self.axes[0]


# What a band can be for.
_FOR: Final[Mapping[BandKind, str]] = {
    "density": "for the density of the population",
    "total": "for what the function is expected to be: noise and sampling",
    "noise": "for what these records would give without noise",
}


def check_band_kind(kind: object, known: Sequence[BandKind] = ("noise", "total")) -> BandKind:
    """Return `kind` if it names a known band.

    Raises:
        InvalidParameter: if it does not.
    """
    for one in known:
        if type(kind) is str and kind == one:
            return one
    kinds = " or ".join(f'"{one}" ({_FOR[one]})' for one in known)
    raise InvalidParameter(f"kind must name a band; got {got(kind)}. Write {kinds}")


def curve_band(
    reading: Reading,
    shares: Array,
    density: ProperDensity,
    level: float,
    kind: BandKind,
    *,
    count_variance: float,
    unit_records: int,
    resolved: bool,
) -> Band:
    """Return a simultaneous band for a curve.

        P(sup |Z| > u) <= 2 Phi(-u) + (1/pi) e^(-u^2/2) integral of sd(Z'),   Z = error / its sd

    By Rice's formula, the second term is the expected number of times that the error crosses the
    width. So the bound holds on the whole continuum, without simulation. It assumes that the noise
    of neighbouring waves is independent and that sampling is Gaussian. `limits` allows for the
    skewness of sums of kernels, and takes the variance at the expected value, not at the estimated
    one.

    "density" uses a flat-top kernel. Waves are kept whole up to 1.5 times the frequency of which
    half is kept; a raised cosine then falls to 0 at twice that. The omitted part is small beside
    the width, and the effect of one record is within the width. If the release does not resolve the
    values, they have no density that it shows. Then the band covers their law as the waves of the
    release show it, and their law blurred by its kernel.

    Every band contains the returned density. That density is max(f - t, 0), where f is the sum of
    the waves and t >= 0 makes its integral 1. Without noise it would have the same form, mostly
    with a smaller t. So the lower curve is that of f - t, the upper one that of f.

    Args:
        reading: the shares of the waves of the release, and their errors.
        shares: the share of each wave that is kept.
        density: the density with these shares.
        level: in (0, 1).
        kind: "density", "total" or "noise".
        count_variance: relative variance of the noise of the number of records.
        unit_records: most records of one unit.
        resolved: whether the release resolves the density of its values.

    Source: Rice, *Mathematical analysis of random noise*, Bell System Technical Journal 1945;
        Davies, *Hypothesis testing when a nuisance parameter is present only under the
        alternative*, Biometrika 1977; Politis and Romano, *Multivariate density estimation with
        general flat-top kernels of infinite order*, Journal of Multivariate Analysis 1999.
    """
    records = reading.coefficients.count / unit_records
    drawn = [density]
    if not resolved:
        drawn.append(TabulatedDensity(reading.proper(reading.smoothed([1]))))
    if kind == "density":
        kept = [(_flat_top(reading, shares), one) for one in drawn]
        kept += [(reading.smoothed([1]), one) for one in drawn[1:]]
    else:
        kept = [(shares, one) for one in drawn[: 1 if kind == "noise" else None]]
    bands = [
        _one_band(
            _CurveWaves.of(reading.coefficients, these),
            density,
            one,
            level,
            kind,
            count_variance,
            records,
        )
        for these, one in kept
    ]
    return reduce(_joined, bands)


def _one_band(
    waves: "_CurveWaves",
    density: ProperDensity,
    drawn: ProperDensity,
    level: float,
    kind: BandKind,
    count_variance: float,
    records: float,
) -> Band:
    """Return a band for the expected waves of records that are drawn from a density."""
    handed = np.maximum(density(waves.x), 0.0)
    above = np.maximum(waves.estimate, handed)
    noise = waves.noise(count_variance)
    if kind == "noise":
        width = _width(waves.arc(noise), level)
        reach = width * np.sqrt(noise.value)
        # What is taken off is as uncertain as the mean of the noise where anything is left.
        lower = handed - np.hypot(reach, width * math.sqrt(waves.noise_of_mean(handed > 0)))
        return Band((waves.x,), handed, np.maximum(lower, 0.0), above + reach, width)
    sampling = waves.sampled(drawn, records)
    both = Spread(*(a + b for a, b in zip(noise, sampling.spread, strict=True)))
    width = _width(waves.arc(both), level)
    least = waves.estimate if kind == "density" else handed
    lower, _ = limits(least, noise.value, sampling, width)
    _, upper = limits(above, noise.value, sampling, width)
    if kind == "density":
        # One record more or less, wherever it may be, and where few are near the variance that the
        # density would have were it larger.
        reach = width * np.hypot(np.sqrt(both.value), waves.peak / sampling.records)
        lower, upper = np.minimum(lower, least - reach), np.maximum(upper, above + reach)
    return Band((waves.x,), handed, np.clip(lower, 0.0, handed), upper, width)


def noise_of(reading: Reading, shares: Array, count_variance: float) -> tuple[Array, Array]:
    """Return places from end to end, and the variance of the noise of the estimate there."""
    waves = _CurveWaves.of(reading.coefficients, shares)
    return waves.x, waves.noise(count_variance).value


def _joined(first: Band, second: Band) -> Band:
    """Return the band that contains two bands, at the places of the first."""
    lower, upper = (np.interp(first.x, second.x, ends) for ends in (second.lower, second.upper))
    return first._replace(
        lower=np.minimum(first.lower, lower),
        upper=np.maximum(first.upper, upper),
        width=max(first.width, second.width),
    )


def _flat_top(reading: Reading, shares: Array) -> Array:
    """Return shares that keep waves whole up to 1.5 times the frequency of which half is kept."""
    c = reading.coefficients
    lengths = c.lengths(np.eye(1))
    used = c.weight > 0
    order = np.argsort(lengths[used], kind="stable")
    falls = np.flatnonzero(shares[used][order] < 0.5)
    ordered = lengths[used][order]
    half = float(ordered[falls[0]] if falls.size else ordered[-1])
    place = lengths / (_UNDERSMOOTHED * half)
    found = np.where(place <= 1, 1.0, np.where(place < 2, (1 + np.cos(np.pi * (place - 1))) / 2, 0))
    return np.where(used, found, lengths == 0)


@final
@dataclass(frozen=True, slots=True, eq=False)
class _CurveWaves:
    """A curve as a sum of waves on a lattice, and the processes of its errors.

    Attributes:
        coefficients: the waves of the release.
        shares: the shares of the drawn waves; 1 for the constant one.
        nodes: number of nodes on the circle.
        estimate: the curve at the places.
    """

    coefficients: Coefficients
    shares: Array
    nodes: int
    estimate: Array

    @classmethod
    def of(cls, coefficients: Coefficients, shares: Array) -> "_CurveWaves":
        """Tabulate the sum of the waves."""
        drawn = coefficients.drawn(shares)
        (nodes,) = coefficients.nodes(drawn)
        return cls(coefficients, drawn, nodes, coefficients.on_places(shares))

    @property
    def closed(self) -> bool:
        """Whether the places are on a circle."""
        return self.coefficients.sides[0].closed

    @property
    def step(self) -> float:
        """The distance between places."""
        return self.coefficients.sides[0].period / self.nodes

    @property
    def x(self) -> Array:
        """The places, from end to end."""
        side = self.coefficients.sides[0]
        places = side.start + self.step * np.arange(self.estimate.size)
        return np.minimum(places, side.start + float(side.length))

    @property
    def frequencies(self) -> Array:
        """The frequencies, in one over the units of the values."""
        return self.coefficients.frequencies[0] / self.coefficients.bandwidths[0]

    @property
    def peak(self) -> float:
        """The kernel at its centre, far from the ends."""
        height = (
            float((self.coefficients.weight * self.shares).sum() + 1) / self.coefficients.volume
        )
        # Of the waves of a circle that are cosines of an interval, the mirrored kernel is half.
        return height if self.closed else height / 2

    def noise(self, count_variance: float) -> Spread:
        """Return the variances of the noise; the noise of the count moves the whole curve."""
        c, w = self.coefficients, self.frequencies
        parts = (c.weight * self.shares / c.volume) ** 2 * c.noise
        lift = 1 / c.volume - self.estimate
        value = self._squares(parts, 1) + count_variance * lift**2
        slope = self._squares(parts * w * w, -1)
        slope += count_variance * np.gradient(self.estimate, self.step) ** 2
        return self._spread(value, slope)

    def noise_of_mean(self, of: npt.NDArray[np.bool_]) -> float:
        """Return the variance of the mean of the noise over some places."""
        chosen = of[:-1] if self.closed else np.concatenate([of, of[-2:0:-1]])
        waves = np.fft.rfft(chosen / max(np.count_nonzero(chosen), 1))
        c = self.coefficients
        parts = (c.weight * self.shares / c.volume) ** 2 * c.noise
        cosines = parts.size // 2 + 1 if self.closed else parts.size
        even, odd = parts[:cosines][: waves.size], parts[cosines:][: waves.size - 1]
        found = even @ waves.real[: even.size] ** 2 + odd @ waves.imag[1 : odd.size + 1] ** 2
        return float(found)

    def sampled(self, density: ProperDensity, records: float) -> Sampled:
        """Return the moments of the mean of the kernels of records with a density.

        On an interval the kernel at y has mirror images, which overlap near an end. There the
        square of the sum is up to twice the sum of squares.
        """
        c, m = self.coefficients, self.nodes
        cosines = min(c.values.size // 2 + 1 if self.closed else c.values.size, m // 4)
        shares, w = self.shares[:cosines] / c.volume, self.frequencies[:cosines]
        kernel = on_circle(shares, 0, m)
        terms = np.zeros(m // 2 + 1, np.complex128)
        terms[:cosines] = 1j * w * shares
        gradient = m * np.fft.irfft(terms, m)
        masses = density(self.x)
        masses = masses[:-1] if self.closed else np.concatenate([masses, masses[-2:0:-1]])
        spectrum = np.fft.rfft(masses / masses.sum())
        ends = self.estimate.size
        power = np.where(w > 0, 2.0, 1.0) * shares**2
        own, steep = np.ones(ends), np.ones(ends)
        if not self.closed:
            own = np.clip(self._doubled(power), 0.0, 1.0)
            steep = -self._doubled(power * w * w)

        def mean(weights: Array) -> Array:
            found = np.fft.irfft(np.fft.rfft(weights) * spectrum, m)
            return np.append(found, found[:1])[:ends]

        value = mean(kernel)
        square = mean(kernel**2) * (1 + own) / 2
        third = np.maximum(mean(kernel**3), 0.0) * (1 + 3 * own) / 4
        steepness = np.maximum(mean(gradient**2) * (1 + steep) / 2, 0.0)
        slopes = np.gradient(value, self.step)
        spread = self._spread(
            np.maximum(square - value**2, 0.0) / records,
            np.maximum(steepness - slopes**2, 0.0) / records,
        )
        near = records * np.maximum(value, 0.0) + self.peak
        return Sampled(
            spread,
            (records * np.maximum(square, 0.0) + self.peak**2 / math.sqrt(2)) / near,
            (records * third + self.peak**3 / math.sqrt(3)) / near,
            records,
        )

    def arc(self, spread: Spread) -> float:
        """Return the integral of sd(slope) / sd(value) of a process."""
        least = 1e-12 * float(spread.value.max()) + 1e-300
        value = np.maximum(spread.value, least)
        rates = np.sqrt(np.maximum(spread.slope / value - (spread.both / value) ** 2, 0.0))
        return self.step * float(rates.sum() - (rates[0] + rates[-1]) / 2)

    def _spread(self, value: Array, slope: Array) -> Spread:
        # The covariance of a process and its slope is half the slope of its variance.
        return Spread(value, slope, np.gradient(value, self.step) / 2)

    def _squares(self, parts: Array, sign: int) -> Array:
        """Return sum of parts cos^2 w x, with sin^2 for sines; for slopes (-1) exchanged."""
        cosines = parts.size // 2 + 1 if self.closed else parts.size
        doubled = parts[:cosines].copy()
        doubled[1:] -= parts[cosines:] if self.closed else 0.0
        doubled[0] = 0.0
        return (float(parts.sum()) + sign * self._twice(doubled)) / 2

    def _doubled(self, power: Array) -> Array:
        """Return the sum of power cos 2 w x, divided by its value at 0."""
        return self._twice(power) / float(power.sum())

    def _twice(self, parts: Array) -> Array:
        """Return the sum of parts cos 2 w x at the places."""
        terms = np.zeros(self.nodes // 2 + 1, np.complex128)
        known = parts[: self.nodes // 4]
        terms[: 2 * known.size : 2] = known / 2
        terms[0] = parts[0]
        found = self.nodes * np.fft.irfft(terms, self.nodes)
        return np.append(found, found[:1])[: self.estimate.size]


def _width(arc: float, level: float) -> float:
    """Return the least u whose bound is at most 1 - level, rounded up."""
    if not 0 < level < 1:
        raise InvalidParameter(f"level={level!r} is not in (0, 1); write one, such as 0.95")
    low, high = 0.0, 40.0
    for _ in range(60):
        middle = (low + high) / 2
        outside = math.erfc(middle / math.sqrt(2)) + arc / math.pi * math.exp(-middle * middle / 2)
        low, high = (low, middle) if outside <= 1 - level else (middle, high)
    return high


@final
@dataclass(frozen=True, slots=True, eq=False)
class FieldNoise:
    """The law of the noise of a field on a grid.

    Attributes:
        sd: standard deviation of each product of waves, shape (2 J_1 + 1, ..., 2 J_d + 1).
        count: relative standard deviation of the number of records; 0 if it is public.
        tables: the waves of each axis at its places.
    """

    sd: Array = field(repr=False)
    count: float
    tables: list[Array] = field(repr=False)

    def width(
        self,
        lift: Array,
        spread: Array,
        level: float,
        generator: Generator,
        repetitions: int,
        sampling: FieldSampling | None = None,
    ) -> float:
        """Return the quantile of the largest |noise| / spread on the grid.

        Args:
            lift: the effect of a relative error of the count, at each point.
            spread: the standard deviation of noise and count together.
            level: in (0, 1).
            generator: the generator of the simulation.
            repetitions: number of simulations. The release's own value has the same probability for
                every rank among them.
            sampling: the sampling of the records, which is also drawn; None for the noise alone.

        Raises:
            InvalidParameter: if there are too few repetitions for the level.
        """
        repetitions = whole("repetitions", repetitions, 1, 2**20)
        place = math.ceil(level * (repetitions + 1))
        if place > repetitions:
            raise InvalidParameter(
                f"repetitions must be at least {math.ceil(level / (1 - level))} for "
                f"level={level}; got {repetitions!r}"
            )
        sd, tables = self._rows_with_noise()
        highest = np.empty(repetitions)
        for k in range(repetitions):
            waves = contracted(sd * generator.standard_normal(sd.shape), tables)
            common = self.count * float(generator.standard_normal(1)[0])
            moved = waves + common * lift
            if sampling is not None:
                moved += sampling.drawn(generator)
            highest[k] = np.abs(moved / spread).max()
        return float(np.sort(highest)[place - 1])

    def _rows_with_noise(self) -> tuple[Array, list[Array]]:
        """Leave out rows of waves that together add less than 1e-6 of the noise."""
        sd, tables = self.sd, list[Array]()
        for k, table in enumerate(self.tables):
            highest = np.moveaxis(sd, k, 0).reshape(table.shape[0], -1).max(axis=1)
            rows = np.flatnonzero(highest > 1e-9 * highest.max())
            sd = sd.take(rows, axis=k)
            tables.append(table[rows])
        return sd, tables


class Compared(NamedTuple):
    """The estimate of a curve, for the band of its difference to another curve.

    Attributes:
        reading: the shares of the waves of the release, and their errors.
        shares: the share of each wave that is kept.
        density: the density with these shares.
        count_variance: relative variance of the noise of the number of records.
        unit_records: most records of one unit.
    """

    reading: Reading
    shares: Array
    density: ProperDensity
    count_variance: float
    unit_records: int


def difference_band(first: Compared, second: Compared, level: float) -> Band:
    """Return a band for the difference of the densities of two groups of disjoint people.

    Both use the waves of both "density" bands, so the omitted part of the difference is small
    beside the width. Their errors are independent, so variances add.
    """
    both = first, second
    kept = np.maximum(*(_flat_top(one.reading, one.shares) for one in both))
    waves = [_CurveWaves.of(one.reading.coefficients, kept) for one in both]
    total, alone = np.zeros((3, waves[0].estimate.size)), 0.0
    for one, wave in zip(both, waves, strict=True):
        sampling = wave.sampled(one.density, one.reading.coefficients.count / one.unit_records)
        total += np.array(wave.noise(one.count_variance)) + np.array(sampling.spread)
        alone += (wave.peak / sampling.records) ** 2
    spread = Spread(*total)
    width = _width(waves[0].arc(spread), level)
    reach = width * np.sqrt(spread.value + alone)
    middle = waves[0].estimate - waves[1].estimate
    found = first.density(waves[0].x) - second.density(waves[0].x)
    lower, upper = np.minimum(middle - reach, found), np.maximum(middle + reach, found)
    return Band((waves[0].x,), found, lower, upper, width)
