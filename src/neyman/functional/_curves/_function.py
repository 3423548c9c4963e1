"""A released density: a function made of public integers."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import ClassVar, Self, cast, final

import numpy as np
import numpy.typing as npt

from neyman.arguments import check_type, whole
from neyman.errors import InvalidParameter
from neyman.functional._abstract import FORMAT, Function, Released
from neyman.functional._bases._line_basis import LineBasis, multipliers
from neyman.functional._curves._band import Band, BandKind, check_band_kind, noise_band, total_band
from neyman.functional._curves._projected import ProjectedDensity, nearest_masses
from neyman.functional._curves._series import Series
from neyman.functional._curves._spectrum import Spectrum
from neyman.functional._fields._margin import line_of
from neyman.functional._noisy import Noisy
from neyman.functional._public import check_level, numbers
from neyman.functional._told import NoisyCount
from neyman.functional._written import number
from neyman.numerics import Array, ComplexArray, Real, exact, text
from neyman.overriding import override

__all__ = ["ReleasedFunction"]

VERSION = 2
_MOST_POINTS = 1 << 26


@final
@dataclass(frozen=True, slots=True)
class ReleasedFunction(Function):
    """A private density, to be called, integrated, smoothed and stored as often as one likes.

        f(x) = (1/n) (1/L) sum_j m_j lambda_j(h) Re(y_j exp(i w_j x)) / a_j

    y_j are the released integers, a_j = 2^24 r_j the scale of their features, n the number of
    records: public, or the released noisy one. Everything here is post-processing of y.

    Attributes:
        basis: what the integers are coefficients of.
        integers: as released.
        stddev: of the noise on each integer.
        records: n where it is public, else None.
        unit_records: most records of one unit, r.
        bandwidth: h of the kernel as read, at least that of the basis.
    """

    kind: ClassVar[str] = "density"
    statistics: ClassVar[tuple[str, ...]] = ("density",)

    basis: LineBasis
    integers: tuple[int, ...] = field(repr=False)
    stddev: float
    records: int | None
    unit_records: int
    bandwidth: Fraction

    @classmethod
    @override
    def of_release(cls, release: Released) -> Self:
        basis = line_of(cast("Mapping[str, object]", release.query["basis"]))
        return cls(
            basis,
            *Noisy.of_release(release),
            basis.bandwidth,
        )

    @classmethod
    @override
    def of_record(cls, record: Mapping[str, object]) -> Self:
        return cls(
            line_of(cast("Mapping[str, object]", record["basis"])),
            *Noisy.of_record(record),
            number(record["bandwidth"]),
        )

    def __post_init__(self) -> None:
        """Refuse what does not fit together.

        Raises:
            InvalidParameter: if the bandwidth is out of reach, or the integers are not those of
                the basis.
        """
        instead = "functional.function(release), which makes it"
        check_type("basis", self.basis, LineBasis, instead)
        check_type("bandwidth", self.bandwidth, Fraction | int, instead)
        check_type("integers", self.integers, tuple, instead)
        check_type("stddev", self.stddev, float, instead)
        pilot, most = self.basis.bandwidth, self.basis.domain.largest_bandwidth
        if not pilot <= self.bandwidth <= most:
            raise InvalidParameter(
                f"bandwidth={text(self.bandwidth)} was asked of a function released at "
                f"{text(pilot)} on this domain; write one in [{float(pilot):.6g}, "
                f"{float(most):.6g}]"
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
        return self.integers[0] / float(self.basis.amplitudes[0])

    @property
    def count_sd(self) -> float:
        """Standard deviation of the noise of `count`."""
        if self.records is not None:
            return 0.0
        return self.stddev / float(self.basis.amplitudes[0])

    @property
    @override
    def noisy_count(self) -> NoisyCount:
        return NoisyCount(self.count, self.count_sd)

    def __call__(self, x: npt.ArrayLike, *, derivative: int = 0) -> Array:
        """Return f, or a derivative of it, at each x; shape of x.

        The same point gives the same bits, whatever else is asked with it (on one machine with
        one version of NumPy).

        Raises:
            InvalidParameter: if a point is outside the domain, or the released count is not
                positive.
        """
        order = whole("derivative", derivative, 0, 8)
        return self.series.at(self.basis.domain.located(x), order)

    def grid(self, points: int) -> tuple[Array, Array]:
        """Return `points` equally spaced places over the whole domain, and f there."""
        x = self.basis.domain.grid(points)
        return x, self(x)

    def integral(self, a: Real, b: Real) -> float:
        """Return the integral of f from a to b; may be a little outside [0, 1], as f may.

        Kernels of values near the end of an interval reach beyond it: the integral over the
        whole interval can be less than 1, as it is for every plain kernel estimate.
        """
        ends = self.cdf([float(exact(a, "a")), float(exact(b, "b"))])
        return float(ends[1] - ends[0])

    def cdf(self, x: npt.ArrayLike) -> Array:
        """Return the integral of f from the lower end to each x.

        Not made monotone: it is unbiased given the count. `project().cdf` is monotone, from 0 to 1.
        On a circle it goes on growing by 1 with every turn.
        """
        turns = 0.0
        if self.basis.domain.closed:
            turns = np.floor(numbers("x", x) / self.basis.period)
        return np.asarray(self.series.integral(self.basis.domain.located(x)) + turns)

    def project(self) -> ProjectedDensity:
        """Return the nearest density: non-negative, of integral 1, on the domain.

        Kernels reach five bandwidths beyond the ends of an interval. The function on that stretch
        is replaced by the nearest one that is nowhere negative and has integral 1, which in the
        mean square is never farther from the truth; then what lies beyond an end is folded back
        inside.
        """
        basis = self.basis
        values = self.circle_density()
        if basis.domain.closed:
            folded = np.append(values, values[0])
        else:
            folded = (values + np.roll(values[::-1], 1))[: basis.nodes]
        return ProjectedDensity(basis.domain.start, basis.period / basis.circle_nodes, folded)

    def circle_density(self) -> Array:
        """Return the nearest density at the M nodes of the whole circle, before it is folded."""
        basis = self.basis
        m, step = basis.circle_nodes, basis.period / basis.circle_nodes
        terms = np.zeros(m // 2 + 1, np.complex128)
        coefficients = self.series.coefficients
        terms[: coefficients.size] = coefficients
        values = m * np.fft.irfft(terms, m)
        beyond = step * np.arange(m) - float(basis.domain.length)
        reach = 5 * float(self.bandwidth)
        inside = (beyond <= reach) | (beyond >= basis.period - float(basis.domain.length) - reach)
        density = np.zeros(m)
        density[inside] = nearest_masses(values[inside], 1 / step)
        return density

    def smooth(self, bandwidth: Real) -> "ReleasedFunction":
        """Return the same release read with a larger bandwidth: free.

        Raises:
            InvalidParameter: if it is below that of the release, or too large for the domain.
        """
        return replace(self, bandwidth=exact(bandwidth, "bandwidth"))

    @property
    def bandwidths(self) -> tuple[float, float]:
        """The least and the largest bandwidth that `smooth` takes."""
        return float(self.basis.bandwidth), float(self.basis.domain.largest_bandwidth)

    def band(self, level: float, kind: BandKind) -> Band:
        """Return a band that holds everywhere at once, by a formula: nothing is simulated.

            |f - g| <= u sd everywhere, with probability at least `level`

        Args:
            level: in (0, 1).
            kind: "noise": g is the kernel estimate of these records, without noise; "total": g is
                what it is expected to be, with the sampling of the records in the band. The bias
                of smoothing is in neither: choose a bandwidth below the best one where the density
                itself is to be covered.

        Raises:
            InvalidParameter: if the level is outside (0, 1), the kind is another word, or the
                count is not positive.

        Guarantee: of "noise" under replace_one, for a bandwidth that was not chosen from the
            release itself; else an estimate (docs/theory/functions.md).
        Source: Rice (1945); Davies (1977).
        """
        share = check_level(level)
        return (
            noise_band(self, share) if check_band_kind(kind) == "noise" else total_band(self, share)
        )

    def noise_sd(self, x: npt.ArrayLike, *, derivative: int = 0) -> Array:
        """Return the standard deviation of the noise of f(x); sampling error is not in it.

            under replace_one   (sigma / n L) sqrt(sum_j (m_j lambda_j / a_j)^2), the same for all x
            under add_remove    the first-order term of numerator and count together

        Error: exact to rounding under replace_one; first order in the count's relative noise
            under add_remove.
        """
        own, common = self.noise_parts(whole("derivative", derivative, 0, 8))
        level = (1 / self.basis.period if derivative == 0 else 0.0) - self(x, derivative=derivative)
        return np.asarray(np.sqrt(own + common * level**2))

    def noise_parts(self, derivative: int) -> tuple[float, float]:
        """Return the variance of the waves at a point, and the relative variance of the count."""
        spectrum = self.noise_spectrum * self._waves ** (2 * derivative)
        return float(spectrum[1:].sum()), (self.count_sd / self._positive_count) ** 2

    @property
    def noise_spectrum(self) -> Array:
        """Variance that frequency j adds to f at a point, shape (J + 1,); 0 for j = 0."""
        basis = self.basis
        amplitudes = basis.amplitudes
        scale = 2 * self.stddev / (self._positive_count * basis.period)
        spectrum = np.zeros(amplitudes.size)
        spectrum[1:] = (scale * self._multipliers[1:] / amplitudes[1:]) ** 2
        return spectrum

    @property
    def spectrum(self) -> Spectrum:
        """What is known of its waves, at the bandwidth of the release."""
        basis, n = self.basis, max(self.count, 2.0)
        low, high = self.bandwidths
        return Spectrum(
            count=n,
            power=np.abs(self.transform[1:]) ** 2,
            noise=2 * (self.stddev / (basis.amplitudes[1:] * n)) ** 2,
            parts=np.full(basis.highest, 2.0),
            most=high / low,
            multipliers=lambda by: multipliers(basis.period, basis.highest, self.bandwidth_at(by))[
                1:
            ],
        )

    def bandwidth_at(self, factor: float) -> float:
        """Return so many times the bandwidth of the release, or the largest."""
        low, high = self.bandwidths
        return min(low * factor, high)

    @property
    def series(self) -> Series:
        """The sum of waves that f is, of distances from the lower end."""
        coefficients = self.transform * self._multipliers / self.basis.period
        return Series(self.basis.period, coefficients)

    @property
    def transform(self) -> ComplexArray:
        """Noisy (1/n) sum_i exp(-i w_j x_i) for j = 0 ... J, before the kernel; 1 at j = 0."""
        j = self.basis.highest
        waves = np.array(self.integers[self.basis.counted :], dtype=np.float64)
        amplitudes = self.basis.amplitudes[1:]
        found = np.ones(j + 1, np.complex128)
        found[1:] = (waves[:j] - 1j * waves[j:]) / (amplitudes * self._positive_count)
        return found

    @override
    def to_json(self) -> dict[str, object]:
        return {
            "format": FORMAT,
            "version": VERSION,
            "kind": self.kind,
            "basis": self.basis.record(),
            "bandwidth": text(self.bandwidth),
            **Noisy(self.integers, self.stddev, self.records, self.unit_records).record(),
        }

    @property
    def _positive_count(self) -> float:
        count = self.count
        if count <= 0:
            raise InvalidParameter(
                f"the released number of records is {count:.6g}, so there is no density: the "
                "noise is larger than the data; spend more, on a larger bandwidth"
            )
        return count

    @property
    def _multipliers(self) -> Array:
        return multipliers(self.basis.period, self.basis.highest, float(self.bandwidth))

    @property
    def _waves(self) -> Array:
        step = 2 * math.pi / self.basis.period
        return np.arange(self.basis.highest + 1, dtype=np.float64) * step
