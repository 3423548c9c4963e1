"""The estimate of a released density that users get."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, Final, Self, TypeAlias, cast, final

import numpy as np
import numpy.typing as npt

from neyman.arguments import check_type, whole
from neyman.errors import InvalidParameter
from neyman.functional._abstract import FORMAT, NoisyCount, Released
from neyman.functional._arguments import check_level, each, number, numbers
from neyman.functional._bases._basis import Basis
from neyman.functional._bases._domain import Interval, ScaledInterval
from neyman.functional._densities._band import Band, check_band_kind, curve_band, noise_of
from neyman.functional._densities._conditional import conditioned
from neyman.functional._densities._field import ReleasedField
from neyman.functional._densities._focus import focused_interval
from neyman.functional._densities._function import ReleasedFunction
from neyman.functional._densities._intervals import mean_interval, quantile_interval
from neyman.functional._densities._monotone import holding, monotone_density
from neyman.functional._densities._nearest import Table
from neyman.functional._densities._proper import ProperDensity, TabulatedDensity
from neyman.functional._densities._reading import Reading, reading_of
from neyman.functional._densities._released import OutsideCounts
from neyman.functional._densities._unresolved import unresolved
from neyman.numerics import Array, Real, text
from neyman.overriding import override

__all__ = ["DensityFunction"]

Raw: TypeAlias = ReleasedFunction | ReleasedField

_MOST_KEPT: Final = 64


@final
@dataclass(frozen=True, slots=True)
class DensityFunction(ProperDensity):
    """A private density with the best estimate that its release allows; post-processing only.

    The noise of each wave is known, so the estimate keeps the share of each wave with the least
    estimated error. For one coordinate it also keeps wavelets that are more than chance, which show
    narrow peaks beside wide ones. The result is the nearest function that is nowhere negative and
    has integral 1. Values can be anywhere in the domain: an end where the density is not 0 does not
    count as a jump.

    The methods are those of SciPy's distributions. For several coordinates, `marginal` gives the
    density of one.

    Attributes:
        raw: the released kernel estimate at the smallest bandwidth, which can be negative; for an
            interval on a scale, it is on the line of the scale.
        bandwidth: bandwidth of the Gaussian kernel of `smooth`, on a box one for each side; None
            for the shares of least estimated error.

    Error: an estimate of the density of the records, with the noise of the release; `band` bounds
        the error.
    """

    kind: ClassVar[str] = "density_function"
    statistics: ClassVar[tuple[str, ...]] = (
        *ReleasedFunction.statistics,
        *ReleasedField.statistics,
    )
    version: ClassVar[int] = 1

    raw: Raw
    bandwidth: tuple[Fraction, ...] | None = None

    def __post_init__(self) -> None:
        """Check the bandwidth against the release.

        Raises:
            InvalidParameter: if a bandwidth is below half of the release's, or too large for its
                side.
        """
        check_type("raw", self.raw, Raw, "functional.function(release), which makes it")
        if self.bandwidth is None:
            return
        own = self.raw.waves
        for h, least, side in zip(self.bandwidth, own.bandwidths, own.sides, strict=True):
            low, high = least / 2, side.largest_bandwidth
            if not low <= h <= high:
                raise InvalidParameter(
                    f"bandwidth must be in [{float(low):.6g}, {float(high):.6g}], from half of "
                    f"that of the release; got {text(h)}"
                )

    @classmethod
    @override
    def of_release(cls, release: Released) -> Self:
        kind = ReleasedFunction if release.query["statistic"] == "density" else ReleasedField
        return cls(kind.of_release(release))

    @classmethod
    @override
    def of_record(cls, record: Mapping[str, object]) -> Self:
        raw = cast("Mapping[str, object]", record["raw"])
        kind = ReleasedFunction if raw["kind"] == ReleasedFunction.kind else ReleasedField
        written = cast("list[object] | None", record["bandwidth"])
        found = None if written is None else tuple(number(h) for h in written)
        return cls(kind.of_record(raw), found)

    @override
    def to_json(self) -> dict[str, object]:
        return {
            "format": FORMAT,
            "version": self.version,
            "kind": self.kind,
            "bandwidth": None if self.bandwidth is None else [text(h) for h in self.bandwidth],
            "raw": self.raw.to_json(),
        }

    # -- what it is ---------------------------------------------------------------------------

    def __repr__(self) -> str:
        found = f"{type(self).__name__}({self.raw!r}, bandwidth={self.bandwidth!r})"
        return found if self.unresolved is None else f"{found}  # {self.unresolved}"

    @property
    @override
    def table(self) -> Table:
        return _table(self)

    @property
    @override
    def noisy_count(self) -> NoisyCount:
        return self.raw.noisy_count

    @property
    def count(self) -> float:
        """The number of records: public, or released with noise."""
        return self.raw.count

    @property
    def count_sd(self) -> float:
        """Standard deviation of the noise of `count`."""
        return self.raw.count_sd

    @property
    def outside(self) -> OutsideCounts | tuple[()]:
        """The numbers of records below the domain, above it and at no place, if they were counted.

        The density is that of the records inside.
        """
        return self.raw.outside

    @property
    def reading(self) -> Reading:
        """The share of each wave that is kept, and the estimates behind it.

        Raises:
            InvalidParameter: if the released number of records is not positive.
        """
        return reading_of(self.raw)

    @property
    def shares(self) -> Array:
        """The share of each wave that is kept, the same at all places."""
        if self.bandwidth is None:
            return self.reading.shares
        own = self.raw.waves.bandwidths
        return self.reading.smoothed(
            [float(h / low) for h, low in zip(self.bandwidth, own, strict=True)]
        )

    @property
    def unresolved(self) -> str | None:
        """The reason, in a sentence, why the release does not resolve the density; None if it does.

        The values are heaped on places, or clipped at an end, or the domain is too wide: then the
        fastest waves have more signal than those of a density. Use `smooth(h)` for a larger
        bandwidth. Another reason is a number of records that may be noise alone; it is the only one
        for several coordinates.
        """
        count = self.noisy_count
        if not count.exceeds_noise:
            return (
                f"not resolved: the released number of records is {count.count:.4g} ± "
                f"{count.stddev:.3g}, which may be noise alone; spend more, or ask for more records"
            )
        return _cause(self)

    # -- other readings -----------------------------------------------------------------------

    def smooth(self, bandwidth: Real | Sequence[Real]) -> Self:
        """Return the estimate of the same release with a Gaussian kernel of a bandwidth: free.

        Args:
            bandwidth: the bandwidth in the units of the values, on a box one for each side.

        Raises:
            InvalidParameter: if a bandwidth is below half of the release's, or too large for its
                side.
        """
        return replace(self, bandwidth=each("bandwidth", bandwidth, len(self.sides)))

    @override
    def marginal(self, axis: int) -> ProperDensity:
        """Return the density of one coordinate, estimated from its own waves.

        Raises:
            InvalidParameter: if there is no such axis.
        """
        if isinstance(self.raw, ReleasedFunction):
            whole("axis", axis, 0, 0)
            return self
        found = self.raw.marginal(axis)
        return DensityFunction(found, None if self.bandwidth is None else (self.bandwidth[axis],))

    def plane(self, first: int, second: int) -> "DensityFunction":
        """Return the density of two of three coordinates, estimated from its own waves.

        Raises:
            InvalidParameter: if there are no such axes, or they are not in order.
        """
        if isinstance(self.raw, ReleasedFunction):
            raise InvalidParameter(
                "plane must be that of a density of several coordinates; this one has 1"
            )
        found = self.raw.plane(first, second)
        widths = self.bandwidth
        return DensityFunction(found, None if widths is None else (widths[first], widths[second]))

    def focused(self) -> Interval:
        """Return an interval around the mass, as the domain of a second release.

        Use it on a first release with a small budget, the target `Cumulative()`, and a domain that
        you choose without looking at the data. It is post-processing, so it is public and free.

            c = max(0.005, 3 s),   s the standard deviation of the noise of the cdf
            [ppf(c) - 0.6 d, ppf(1 - c) + 0.6 d],   d = ppf(1 - c) - ppf(c)

        within the domain, rounded outwards. If c is above 1/4, it is the whole domain, because the
        noise then hides the mass.

        Raises:
            InvalidParameter: if it is not a density on one interval.
        """
        return focused_interval(self, self.reading, self.shares)

    def conditional(self, axis: int, value: Real) -> TabulatedDensity:
        """Return the density of the other coordinates given the value of one, f(y | x = value).

        It is smoothed along x until the density of x, the divisor, has a relative error of at most
        15 %. If many records are near the value, that needs no smoothing.

        Args:
            axis: the axis of the known coordinate.
            value: its value.

        Raises:
            InvalidParameter: if there is only one coordinate, there is no such axis, the value is
                outside its domain, or too few records are near.

        Error: an estimate, like the density of all coordinates.
        """
        if isinstance(self.raw, ReleasedFunction):
            raise InvalidParameter(
                "conditional must be that of a density of several coordinates; this one has 1. "
                "Write it of a Box, or GroupedDensity(curves).conditional(key) of groups"
            )
        axis = whole("axis", axis, 0, len(self.sides) - 1)
        (known,) = each("value", value, 1)
        if self.bandwidth is None:
            factor = self.reading.bandwidth * math.sqrt(float(self.reading.shape[axis, axis]))
            read = factor * float(self.raw.waves.bandwidths[axis])
        else:
            read = float(self.bandwidth[axis])
        return conditioned(self.table, axis, float(known), self.raw.marginal(axis), read)

    # -- how far off it is --------------------------------------------------------------------

    def band(self, level: float, kind: str = "density") -> Band:
        """Return a simultaneous band over the whole domain, ends included, for one coordinate.

        Args:
            level: the confidence level, in (0, 1).
            kind: "density", for the density that the records were drawn from. It uses more waves
                than the estimate, so that the omitted part is small beside the width, and it
                contains the estimate. "total", for the expected value of the estimate, with noise
                and sampling but without its bias. "noise", for the estimate without noise.

        Raises:
            InvalidParameter: if the level is outside (0, 1), the kind is another word, there are
                several coordinates, or the released number of records is not positive.

        Error: an estimate, because the shares are chosen from the release. The coverage of
            "density" is measured (docs/measured.md). A band does not show features that n records
            do not show.
        """
        share, known = check_level(level), check_band_kind(kind, ("density", "total", "noise"))
        self._require_one("band")
        line, resolved = self.on_line, _cause(self) is None
        found = curve_band(
            self.reading,
            self.shares,
            line if resolved else TabulatedDensity(_nearest(self)),
            share,
            known,
            count_variance=self.raw.count_variance,
            unit_records=self.raw.unit_records,
            resolved=resolved,
        )
        return self._off_line(found if resolved else holding(found, line))

    def _off_line(self, found: Band) -> Band:
        (side,) = self.sides
        x = side.off_line(found.x)
        slope = side.slope(x)
        return Band(
            (x,), found.estimate * slope, found.lower * slope, found.upper * slope, found.width
        )

    @property
    def on_line(self) -> TabulatedDensity:
        """The same density on the line of its scale, where its places are equally spaced."""
        found = self.table
        return TabulatedDensity(Table(tuple(s.line for s in self.sides), found.steps, found.values))

    def mean_interval(self, level: float, kind: str = "total") -> tuple[float, float]:
        """Return a confidence interval for the mean, for one coordinate on an interval.

        Args:
            level: the confidence level, in (0, 1).
            kind: "total", for the mean of the population from which the records in the domain are
                drawn; "noise", for the mean of these records.

        Returns:
            The lower and the upper end, in the domain; `mean()` is between them.

        Raises:
            InvalidParameter: if the level is outside (0, 1), the kind is another word, there are
                several coordinates, the side is a circle or has a scale, or the released number of
                records is not positive.

        Error: an estimate, because the sum is only nearly Gaussian (docs/measured.md).
        """
        share, known = check_level(level), check_band_kind(kind, ("total", "noise"))
        self._require_line("mean_interval")
        if isinstance(self.sides[0], ScaledInterval):
            raise InvalidParameter(
                "mean_interval must be that of a density without a scale: the release is of values "
                "on the line of the scale. Write quantile_interval(0.5, level), or release the "
                "values on an Interval"
            )
        return mean_interval(self._least, self, share, sampling=known == "total")

    def quantile_interval(
        self, q: npt.ArrayLike, level: float, kind: str = "total"
    ) -> tuple[Array, Array]:
        """Return a confidence interval for the quantile of each q, for one coordinate.

        Args:
            q: probabilities in [0, 1].
            level: the confidence level of each interval alone, in (0, 1).
            kind: as for `mean_interval`.

        Returns:
            The lower and the upper ends, each in the shape of q; `ppf(q)` is between them.

        Raises:
            InvalidParameter: if a q is outside [0, 1], or as for `mean_interval`.

        Error: an estimate, as for `mean_interval`.
        """
        share, known = check_level(level), check_band_kind(kind, ("total", "noise"))
        self._require_line("quantile_interval")
        bandwidths, sampling = self.reading.bandwidth, known == "total"
        ends = quantile_interval(
            self._least,
            self.on_line,
            numbers("q", q),
            share,
            sampling=sampling,
            bandwidths=bandwidths,
        )
        lower, upper = (self.sides[0].off_line(end) for end in ends)
        return lower, upper

    @property
    def _least(self) -> ReleasedFunction:
        return cast("ReleasedFunction", self.raw.smooth([low for low, _ in self.raw.reach]))

    def noise_sd(self, x: npt.ArrayLike) -> Array:
        """Return the standard deviation of the noise at each x, for one coordinate.

        It is that of the sum of the waves, before the step to the nearest density, which reduces
        the error.
        """
        self._require_one("noise_sd")
        places, variance = noise_of(self.reading, self.shares, self.raw.count_variance)
        (side,), points = self.sides, numbers("x", x)
        found = np.interp(side.on_line(points), places, np.sqrt(variance))
        return np.asarray(found * side.slope(points), np.float64)


@lru_cache(maxsize=_MOST_KEPT)
def _table(function: DensityFunction) -> Table:
    reading = function.reading
    found = _nearest(function)
    if function.bandwidth is None and _cause(function) is not None:
        (side,) = reading.coefficients.sides
        found = monotone_density(side, reading.coefficients.on_places(reading.shares))
    match function.raw.basis:
        case Basis(domain=ScaledInterval() as side):
            return Table((side,), found.steps, found.values)
        case _:
            return found


def _cause(function: DensityFunction) -> str | None:
    """Return why the release does not resolve the density of one coordinate; None if it does."""
    if len(function.raw.waves.sides) > 1 or function.count <= 0:
        return None
    return unresolved(function.reading, function.shares, _nearest(function))


@lru_cache(maxsize=_MOST_KEPT)
def _nearest(function: DensityFunction) -> Table:
    reading = function.reading
    return reading.best() if function.bandwidth is None else reading.proper(function.shares)
