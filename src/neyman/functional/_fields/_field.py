"""A released field: a density of two or three coordinates, made of public integers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import ClassVar, Self, cast, final

import numpy as np
import numpy.typing as npt

from neyman.arguments import whole
from neyman.errors import InvalidParameter
from neyman.functional._abstract import FORMAT, Function, Released
from neyman.functional._bases._fixed_point import contracted
from neyman.functional._curves._band import BandKind, check_band_kind
from neyman.functional._curves._function import ReleasedFunction
from neyman.functional._curves._sampling import limits
from neyman.functional._curves._spectrum import Spectrum
from neyman.functional._fields._band import FieldBand, FieldNoise
from neyman.functional._fields._basis import FieldBasis
from neyman.functional._fields._margin import FieldMargin, Margin, along, field_of
from neyman.functional._fields._projected_field import ProjectedField, projected
from neyman.functional._fields._reading import FieldReading
from neyman.functional._fields._sampling import FieldSampling
from neyman.functional._fields._waves import integrals, same_bits, waves
from neyman.functional._generator import Generator, check_generator
from neyman.functional._noisy import Noisy
from neyman.functional._public import check_level, each, numbers
from neyman.functional._told import NoisyCount
from neyman.functional._written import number
from neyman.numerics import Array, Real, text
from neyman.overriding import override

__all__ = ["ReleasedField"]

VERSION = 1


@final
@dataclass(frozen=True, slots=True)
class ReleasedField(Function):
    """A private density of two or three coordinates, to be called and read as often as one likes.

        f(x) = (1/n) (1/V) sum_e m_e lambda_e(h) (y_e / a_e) prod_k wave_ek(x_k)

    y_e are the released integers, a_e the amplitudes of their features, V the volume of the torus,
    n the number of records: public, or the released noisy one. Everything here is post-processing
    of y.

    Attributes:
        basis: what the integers are coefficients of.
        integers: as released.
        stddev: of the noise on each integer.
        records: n where it is public, else None.
        unit_records: most records of one unit, r.
        bandwidth: h_1, ..., h_d of the kernel as read, each at least that of the basis.
    """

    kind: ClassVar[str] = "field"
    statistics: ClassVar[tuple[str, ...]] = (FieldBasis.statistic,)

    basis: FieldReading
    integers: tuple[int, ...] = field(repr=False)
    stddev: float
    records: int | None
    unit_records: int
    bandwidth: tuple[Fraction, ...]

    @classmethod
    @override
    def of_release(cls, release: Released) -> Self:
        basis = field_of(cast("Mapping[str, object]", release.query["basis"]))
        return cls(basis, *Noisy.of_release(release), basis.bandwidth)

    @classmethod
    @override
    def of_record(cls, record: Mapping[str, object]) -> Self:
        return cls(
            field_of(cast("Mapping[str, object]", record["basis"])),
            *Noisy.of_record(record),
            tuple(number(h) for h in cast("list[object]", record["bandwidth"])),
        )

    def __post_init__(self) -> None:
        """Refuse what does not fit together.

        Raises:
            InvalidParameter: if a bandwidth is out of reach, or the integers are not those of the
                basis.
        """
        reach = self.bandwidths
        if len(self.bandwidth) != len(reach) or not all(
            low <= h <= high for h, (low, high) in zip(self.bandwidth, self._reach, strict=True)
        ):
            raise InvalidParameter(
                f"bandwidth=({', '.join(text(h) for h in self.bandwidth)}) was asked of a field; "
                "write one for each axis, within "
                + " and ".join(f"[{low:.6g}, {high:.6g}]" for low, high in reach)
            )
        if not Noisy(self.integers, self.stddev, self.records, self.unit_records).fits(
            self.basis.size, counted=self.basis.counted
        ):
            raise InvalidParameter(
                f"{len(self.integers)} integers of stddev={self.stddev} with records="
                f"{self.records} are no release of this basis, which has {self.basis.size}"
            )

    @property
    def count(self) -> float:
        """Number of records n: the public one, or the released one, which has noise."""
        if self.records is not None:
            return float(self.records)
        return self.integers[0] / float(self.basis.amplitudes.flat[0])

    @property
    def count_sd(self) -> float:
        """Standard deviation of the noise of `count`."""
        if self.records is not None:
            return 0.0
        return self.stddev / float(self.basis.amplitudes.flat[0])

    @property
    def noisy_count(self) -> NoisyCount:
        return NoisyCount(self.count, self.count_sd)

    def __call__(self, x: npt.ArrayLike) -> Array:
        """Return f at each point; shape (..., d) to shape (...).

        The same point gives the same bits, whatever else is asked with it (on one machine with
        one version of NumPy). Of many points on a grid `grid` is faster.

        Raises:
            InvalidParameter: if a point is outside the box, or the released count is not positive.
        """
        points = numbers("x", x)
        sides = self.basis.sides
        if points.ndim < 1 or points.shape[-1] != len(sides):
            raise InvalidParameter(
                f"x of shape {points.shape} was given; write shape (..., {len(sides)})"
            )
        columns = points.reshape(-1, len(sides)).T
        turns = [
            side.located(column) / side.period for side, column in zip(sides, columns, strict=True)
        ]
        return same_bits(self.terms, turns).reshape(points.shape[:-1])

    def grid(self, points: int | Sequence[int]) -> tuple[tuple[Array, ...], Array]:
        """Return equally spaced places on each axis over the whole box, and f at all of them.

        Args:
            points: on each axis.

        Returns:
            The places on each axis, and f, of shape (points, ...). Within rounding of a call.

        Raises:
            InvalidParameter: if there are not as many numbers as axes, or one is below 2.
        """
        sides = self.basis.sides
        asked = list(points) if isinstance(points, list | tuple) else [points] * len(sides)
        if len(asked) != len(sides):
            raise InvalidParameter(f"points={points!r} was given; write {len(sides)} numbers")
        axes = tuple(side.grid(cast("int", n)) for side, n in zip(sides, asked, strict=True))
        return axes, contracted(self.terms, self.tables(axes))

    def tables(self, axes: Sequence[Array]) -> list[Array]:
        """Return the waves of each axis at places on it, shape (2 J + 1, places)."""
        return [
            waves(side.located(x) / side.period, j)
            for side, x, j in zip(self.basis.sides, axes, self.basis.highest, strict=True)
        ]

    def integral(self, lower: Sequence[Real], upper: Sequence[Real]) -> float:
        """Return the integral of f over the box between two corners.

        May be a little outside [0, 1], as f may; over the whole of an interval less than 1, for
        kernels of values near its ends reach beyond.

        Raises:
            InvalidParameter: if a corner is outside the box.
        """
        sides = self.basis.sides
        corners = [
            [float(v) for v in each(name, corner, len(sides))]
            for name, corner in (("lower", lower), ("upper", upper))
        ]
        tables = [
            integrals(side, j, a, b)[:, None]
            for side, j, a, b in zip(sides, self.basis.highest, *corners, strict=True)
        ]
        return float(contracted(self.terms, tables).item())

    def marginal(self, axis: int) -> ReleasedFunction:
        """Return the density of one coordinate, all others integrated out: free.

        It is the curve that these waves would give on that side alone; with all its views.

        Raises:
            InvalidParameter: if there is no such axis.
        """
        axis = whole("axis", axis, 0, self.basis.dimensions - 1)
        integers = along(self.basis, (axis,), self.integers)
        margin = Margin(self.basis.whole, self.basis.coordinates[axis])
        noisy = Noisy(integers, self.stddev, self.records, self.unit_records)
        return ReleasedFunction(margin, *noisy, self.bandwidth[axis])

    def plane(self, first: int, second: int) -> "ReleasedField":
        """Return the density of two of three coordinates, the other integrated out: free.

        Raises:
            InvalidParameter: if there are no two such axes, in this order.
        """
        d = self.basis.dimensions
        first = whole("first", first, 0, d - 2)
        second = whole("second", second, first + 1, d - 1)
        pair = first, second
        integers = along(self.basis, pair, self.integers)
        margin = FieldMargin(
            self.basis.whole, (self.basis.coordinates[first], self.basis.coordinates[second])
        )
        bandwidth = self.bandwidth[first], self.bandwidth[second]
        return replace(self, basis=margin, integers=integers, bandwidth=bandwidth)

    def smooth(self, bandwidth: Sequence[Real]) -> "ReleasedField":
        """Return the same release read with larger bandwidths, one for each axis: free.

        Raises:
            InvalidParameter: if one is below that of the release, or too large for its side.
        """
        return replace(self, bandwidth=each("bandwidth", bandwidth, self.basis.dimensions))

    @property
    def bandwidths(self) -> tuple[tuple[float, float], ...]:
        """The least and the largest bandwidth of each axis that `smooth` takes."""
        return tuple((float(low), float(high)) for low, high in self._reach)

    def noise_sd(self, x: npt.ArrayLike) -> Array:
        """Return the standard deviation of the noise of f at each point; no sampling error in it.

            under replace_one   (sigma / n V) sqrt(sum_j (m_j lambda_j / a_j)^2), the same for all x
            under add_remove    the first-order term of numerator and count together

        Error: exact to rounding under replace_one; first order in the count's relative noise
            under add_remove.
        """
        return self.noise_sd_of(self(x))

    def noise_sd_of(self, estimate: Array) -> Array:
        """Return the standard deviation of the noise where f has these values."""
        own = float((self.noise_spectrum).sum())
        common = (self.count_sd / self.positive_count) ** 2
        return np.asarray(np.sqrt(own + common * (1 / self.basis.volume - estimate) ** 2))

    @property
    def noise_spectrum(self) -> Array:
        """Variance that each wave adds to f at a point, shape (J_1 + 1, ...); 0 for the count."""
        basis = self.basis
        a = basis.amplitudes
        a.flat[0] = np.inf
        scale = self.stddev / (self.positive_count * basis.volume)
        waves_of = basis.parts * basis.multipliers(self.bandwidth)
        return np.where(basis.kept, scale * waves_of / np.where(a > 0, a, np.inf), 0.0) ** 2

    @property
    def spectrum(self) -> Spectrum:
        """What is known of its waves, at the bandwidths of the release."""
        basis, n = self.basis, max(self.count, 2.0)
        waves_of = basis.kept
        waves_of.flat[0] = False
        parts = basis.parts[waves_of]
        return Spectrum(
            count=n,
            power=basis.gathered(self.transform**2)[waves_of],
            noise=parts * (self.stddev / (basis.amplitudes[waves_of] * n)) ** 2,
            parts=parts,
            most=min(high / low for low, high in self.bandwidths),
            multipliers=lambda by: basis.multipliers(self.bandwidth_at(by))[waves_of],
        )

    def bandwidth_at(self, factor: float) -> tuple[float, ...]:
        """Return so many times the bandwidths of the release, or the largest."""
        return tuple(min(low * factor, high) for low, high in self.bandwidths)

    def band(
        self,
        level: float,
        kind: BandKind = "noise",
        *,
        generator: Generator,
        points: int = 65,
        repetitions: int = 400,
    ) -> FieldBand:
        """Return a band that holds at all points of a grid at once, by simulation.

            sup over the grid of |noise| / its sd, simulated; its ceil(level (repetitions + 1))-th
            smallest value is the width

        Under replace_one the noise has a known law, so the band covers the whole grid with at least
        this probability, over release and simulation together; under add_remove that is so to
        first order in the noise of the count. Sampling error and bias are not in it, and nothing is
        said between the points. If the bandwidth was chosen from the release, it is an estimate.

        Args:
            level: in (0, 1).
            kind: "noise", for what the field would be without noise; or "total", for what it is
                expected to be, with the sampling of the records: an estimate, by Gaussian draws of
                the released density, and limits as of curves. Coverage was measured of 500
                records only, at a level of 0.95 and two of four settings: 0.96 and 0.965 of 200
                releases each (standard error 0.014).
            generator: for the simulation; public, its seed need not be secret.
            points: on each axis.
            repetitions: simulated fields of noise.

        Raises:
            InvalidParameter: if the level is outside (0, 1), the kind is another word, or there are
                too few repetitions for the level, or the count is not positive.
        """
        level, total = check_level(level), check_band_kind(kind) == "total"
        check_generator(generator)
        axes, estimate = self.grid(points)
        noise = FieldNoise(
            np.sqrt(self.basis.spread(self.noise_spectrum)),
            self.count_sd / self.positive_count,
            self.tables(axes),
        )
        lift, own = 1 / self.basis.volume - estimate, self.noise_sd_of(estimate)
        if not total:
            width = noise.width(lift, own, level, generator, repetitions)
            return FieldBand(axes, estimate, estimate - width * own, estimate + width * own, width)
        units = self.count / self.unit_records
        sampling = FieldSampling.of(self.project(), axes, self.bandwidth, units)
        moments = sampling.moments
        spread = np.sqrt(own**2 + moments.spread.value)
        width = noise.width(lift, spread, level, generator, repetitions, sampling)
        return FieldBand(axes, estimate, *limits(estimate, own**2, moments, width), width)

    def project(self) -> ProjectedField:
        """Return the nearest density: non-negative, of integral 1, on the box.

        On public lattices of at least 8 places a bandwidth in two dimensions and 4 in three.
        Kernels reach five bandwidths beyond the ends of an interval: the field on the box and there
        is replaced by the nearest one that is nowhere negative and has integral 1, which in the
        mean square over the lattice is never farther from the truth; then what lies beyond an end
        is folded back inside.
        """
        return projected(self.basis, self.terms, self.bandwidth)

    @property
    def terms(self) -> Array:
        """The coefficients of products of waves, shape (2 J_1 + 1, ..., 2 J_d + 1)."""
        basis = self.basis
        found = basis.spread(basis.parts * basis.multipliers(self.bandwidth) / basis.volume)
        found *= self.transform
        return found

    @property
    def transform(self) -> Array:
        """Noisy means of the products of waves over records, before the kernel; 1 for the first."""
        released = self._released
        found = np.zeros(released.shape)
        found[released] = np.array(self.integers, dtype=np.float64)
        found[released] /= self.basis.spread(self.basis.amplitudes)[released] * self.positive_count
        found.flat[0] = 1.0
        return found

    @property
    def positive_count(self) -> float:
        """The number of records.

        Raises:
            InvalidParameter: if the released one is not positive.
        """
        if (count := self.count) <= 0:
            raise InvalidParameter(
                f"the released number of records is {count:.6g}, so there is no density: the "
                "noise is larger than the data; spend more, on larger bandwidths"
            )
        return count

    @override
    def to_json(self) -> dict[str, object]:
        return {
            "format": FORMAT,
            "version": VERSION,
            "kind": self.kind,
            "basis": self.basis.record(),
            "bandwidth": [text(h) for h in self.bandwidth],
            **Noisy(self.integers, self.stddev, self.records, self.unit_records).record(),
        }

    @property
    def _released(self) -> npt.NDArray[np.bool_]:
        return self.basis.released

    @property
    def _reach(self) -> tuple[tuple[Fraction, Fraction], ...]:
        basis = self.basis
        return tuple(
            (h, side.largest_bandwidth)
            for h, side in zip(basis.bandwidth, basis.sides, strict=True)
        )
