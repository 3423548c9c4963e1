"""A released density as it is read best: what people are handed."""

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
    """A private density, read as well as its release allows. All that it does is post-processing.

    The release tells how large the noise of each wave is, and so which share of it is worth
    keeping: the one of least estimated error. Of one coordinate wavelets are kept besides, where
    they are more than chance: narrow peaks beside wide ones. What is kept is replaced by the
    nearest function that is nowhere negative and has integral 1. Values may be anywhere in the
    domain: an end where the density is not 0 is no jump.

    The methods are those of SciPy's distributions, of the one density that was read. Of several
    coordinates `marginal` gives that of one.

    Attributes:
        raw: the kernel estimate as it was released, at the least bandwidth, which may be negative;
            of an interval on a scale, on the line of the scale.
        bandwidth: of the Gaussian kernel that it is read by, on a box one for each side; None, as
            it is handed over, for the shares of least estimated error.

    Error: an estimate of the records' density. Its noise is that of the release; `band` says how
        far off it may be.
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
        """Refuse bandwidths that the release does not hold.

        Raises:
            InvalidParameter: if one is below a half of the release's, or too large for its side.
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
        """The number of records: the public one, or the released one, which has noise."""
        return self.raw.count

    @property
    def count_sd(self) -> float:
        """Standard deviation of the noise of `count`."""
        return self.raw.count_sd

    @property
    def outside(self) -> OutsideCounts | tuple[()]:
        """How many records lie below the domain, above it and nowhere, where they were counted.

        The density is that of those inside.
        """
        return self.raw.outside

    @property
    def reading(self) -> Reading:
        """Which share of each wave is kept, and by which estimates.

        Raises:
            InvalidParameter: if the released number of records is not positive.
        """
        return reading_of(self.raw)

    @property
    def shares(self) -> Array:
        """The share of each wave that is kept, at all places alike."""
        if self.bandwidth is None:
            return self.reading.shares
        own = self.raw.waves.bandwidths
        return self.reading.smoothed(
            [float(h / low) for h, low in zip(self.bandwidth, own, strict=True)]
        )

    @property
    def unresolved(self) -> str | None:
        """Why the release does not show the density of its values, in a sentence; None if it does.

        They are heaped on places, or clipped at an end, or the domain is too wide: then more is
        worth keeping of the fastest waves than a density would have. Use `smooth(h)` to see it at a
        larger bandwidth. A number of records that may be noise alone is said, too. Of several
        coordinates it is None but for that.
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
        """Return the same release read by a Gaussian kernel of a bandwidth: free.

        Args:
            bandwidth: in the units of the values, on a box one for each side.

        Raises:
            InvalidParameter: if one is below half of that of the release, or too large for its
                side.
        """
        return replace(self, bandwidth=each("bandwidth", bandwidth, len(self.sides)))

    @override
    def marginal(self, axis: int) -> ProperDensity:
        """Return the density of one coordinate, read from its own waves.

        Raises:
            InvalidParameter: if there is no such axis.
        """
        if isinstance(self.raw, ReleasedFunction):
            whole("axis", axis, 0, 0)
            return self
        found = self.raw.marginal(axis)
        return DensityFunction(found, None if self.bandwidth is None else (self.bandwidth[axis],))

    def plane(self, first: int, second: int) -> "DensityFunction":
        """Return the density of two of three coordinates, read from its own waves.

        Raises:
            InvalidParameter: if there are no two such axes, in this order.
        """
        if isinstance(self.raw, ReleasedFunction):
            raise InvalidParameter(
                "plane must be that of a density of several coordinates; this one has 1"
            )
        found = self.raw.plane(first, second)
        widths = self.bandwidth
        return DensityFunction(found, None if widths is None else (widths[first], widths[second]))

    def focused(self) -> Interval:
        """Return where the mass is, as a domain for a second release.

        Of a first release at a small budget, with the target `Cumulative()`, on a domain that is
        chosen without looking. It is post-processing: public, and free.

            c = max(0.005, 3 s),   s the deviation of the noise of the distribution function
            [ppf(c) - 0.6 d, ppf(1 - c) + 0.6 d],   d = ppf(1 - c) - ppf(c)

        within the domain, rounded outwards; all of the domain where c is above 1/4, for then the
        noise hides where the mass is.

        Raises:
            InvalidParameter: if it is no density on one interval.
        """
        return focused_interval(self, self.reading, self.shares)

    def conditional(self, axis: int, value: Real) -> TabulatedDensity:
        """Return the density of the other coordinates where one has a value, f(y | x = value).

        It is smoothed along x as far as the records near the value are few beside the noise: until
        the density of x, the divisor, has a relative error of 15 %.

        Args:
            axis: of the coordinate that is known.
            value: of it.

        Raises:
            InvalidParameter: if there is one coordinate only, there is no such axis, the value is
                outside of its domain, or too few records are near.

        Error: an estimate, as the density of all coordinates is.
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
        """Return a band that holds everywhere at once, ends included, of one coordinate.

        Args:
            level: in (0, 1).
            kind: "density", for the density that the records were drawn from. It is read with more
                waves than the density itself, so that what they leave out is small beside the
                width, and holds the density that is handed over; "total", for what the reading by
                shares is expected to be, with noise and sampling, but without what it leaves out;
                "noise", for what it would be without noise.

        Raises:
            InvalidParameter: if the level is outside (0, 1), the kind is another word, there are
                several coordinates, or the released number of records is not positive.

        Error: an estimate, for shares are chosen from the release. Coverage of "density" was
            measured (docs/measured.md); features that n records do not show are in no band.
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
        """The same density where its places are equally spaced: on the line of its scale."""
        found = self.table
        return TabulatedDensity(Table(tuple(s.line for s in self.sides), found.steps, found.values))

    def mean_interval(self, level: float, kind: str = "total") -> tuple[float, float]:
        """Return an interval for the mean, of one coordinate on an interval.

        Args:
            level: in (0, 1).
            kind: "total", for the mean of what the records in the domain are drawn from; "noise",
                for the mean of these records.

        Returns:
            Both ends, in the domain; `mean()` is between them.

        Raises:
            InvalidParameter: if the level is outside (0, 1), the kind is another word, there are
                several coordinates, the side is a circle or has a scale, or the released number of
                records is not positive.

        Error: an estimate, of a sum that is nearly Gaussian (docs/measured.md).
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
        """Return an interval for the quantile of each q, of one coordinate on an interval.

        Args:
            q: shares in [0, 1].
            level: in (0, 1), of each interval alone.
            kind: as of `mean_interval`.

        Returns:
            Both ends, of the shape of q; `ppf(q)` is between them.

        Raises:
            InvalidParameter: if a q is outside [0, 1], or as `mean_interval`.

        Error: an estimate, as `mean_interval`.
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
        """Return the standard deviation of the noise of the reading at each x, of one coordinate.

        Before the nearest density is taken, which brings it nearer to the truth.
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
    """Return why the release does not show the density of its values, of one coordinate."""
    if len(function.raw.waves.sides) > 1 or function.count <= 0:
        return None
    return unresolved(function.reading, function.shares, _nearest(function))


@lru_cache(maxsize=_MOST_KEPT)
def _nearest(function: DensityFunction) -> Table:
    reading = function.reading
    return reading.best() if function.bandwidth is None else reading.proper(function.shares)
