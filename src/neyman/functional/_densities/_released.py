"""A released density of one or several coordinates: a function of public integers."""

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, Final, Generic, NamedTuple, Self, TypeVar, cast

import numpy as np
import numpy.typing as npt

from neyman.arguments import check_type
from neyman.errors import InvalidParameter
from neyman.functional._abstract import FORMAT, Function, Noisy, NoisyCount, Released
from neyman.functional._arguments import each, number
from neyman.functional._bases._field_basis import basis_of
from neyman.functional._bases._waves import WaveBasis, Waves, spread
from neyman.nodes import OUTSIDE
from neyman.numerics import Array, Real, text
from neyman.overriding import override

__all__ = ["OutsideCounts", "ReleasedDensity"]

_MOST_KEPT: Final = 16

_Bandwidth = TypeVar("_Bandwidth", Fraction, tuple[Fraction, ...])


class OutsideCounts(NamedTuple):
    """Released numbers of records that are not in the domain.

    Attributes:
        below: number of values below the domain.
        above: number of values above the domain.
        nowhere: number of values that are NaN.
    """

    below: NoisyCount
    above: NoisyCount
    nowhere: NoisyCount


@dataclass(frozen=True, slots=True)
class ReleasedDensity(Function, Generic[_Bandwidth]):
    """A private density; call, integrate, smooth and store it as often as you like.

        f(x) = (1/n) (1/V) sum_e m_e lambda_e(h) (y_e / a_e) prod_k wave_ek(x_k)

    y_e are the released integers, a_e the amplitudes of their features, V the length of the circle
    or the volume of the torus, n the number of records, public or released with noise. Everything
    here is post-processing of y. A curve is the case of one side.

    Attributes:
        basis: the basis of the integers.
        integers: the released integers.
        stddev: standard deviation of the noise on each integer.
        records: n if it is public, else None.
        unit_records: r, the most records of one unit.
        bandwidth: h of the kernel, at least that of the basis; on a box one for each side.
        waves: the waves of the basis, with their amplitudes.
    """

    version: ClassVar[int]
    coordinates: ClassVar[range]

    basis: WaveBasis
    integers: tuple[int, ...] = field(repr=False)
    stddev: float
    records: int | None
    unit_records: int
    bandwidth: _Bandwidth
    waves: Waves = field(init=False, repr=False, compare=False)

    @classmethod
    @override
    def of_release(cls, release: Released) -> Self:
        basis = basis_of(cast("Mapping[str, object]", release.query["basis"]))
        return cls(basis, *Noisy.of_release(release), cls._bandwidth_of(basis.bandwidths))

    @classmethod
    @override
    def of_record(cls, record: Mapping[str, object]) -> Self:
        written = record["bandwidth"]
        several = cast("list[object]", written if isinstance(written, list) else [written])
        return cls(
            basis_of(cast("Mapping[str, object]", record["basis"])),
            *Noisy.of_record(record),
            cls._bandwidth_of(tuple(number(h) for h in several)),
        )

    def __post_init__(self) -> None:
        """Check that the fields fit together.

        Raises:
            InvalidParameter: if a bandwidth is out of range, or the integers are not those of the
                basis.
        """
        instead = "functional.function(release), which makes it"
        check_type("basis", self.basis, WaveBasis, instead)
        check_type("integers", self.integers, tuple, instead)
        check_type("stddev", self.stddev, float, instead)
        object.__setattr__(self, "waves", _waves_of(self.basis))
        found, reach = self.each_bandwidth, self.reach
        for h in found:
            check_type("bandwidth", h, Fraction | int, instead)
        fits = len(found) == len(reach) and len(found) in self.coordinates
        if not fits or not all(
            low <= h <= high for h, (low, high) in zip(found, reach, strict=True)
        ):
            within = " and ".join(f"[{float(low):.6g}, {float(high):.6g}]" for low, high in reach)
            raise InvalidParameter(
                f"bandwidth must be {'one for each side, within' if len(reach) > 1 else 'in'} "
                f"{within} for a density released at {', '.join(text(low) for low, _ in reach)} on "
                f"this domain; got {', '.join(map(text, found))}"
            )
        if not Noisy(self.integers, self.stddev, self.records, self.unit_records).fits(
            self.waves.size + OUTSIDE * (self.basis.outside > 0), counted=self.waves.counted
        ):
            raise InvalidParameter(
                f"{len(self.integers)} integers of stddev={self.stddev} with records="
                f"{self.records} are no release of this basis, which has {self.waves.size}"
            )

    # -- the number of records ----------------------------------------------------------------

    @property
    def count(self) -> float:
        """The number of records n: public, or that in the domain, released with noise."""
        if self.records is not None:
            return self.records - sum(part.count for part in self.outside)
        return self.integers[0] / float(self.waves.amplitudes.flat[0])

    @property
    def count_sd(self) -> float:
        """Standard deviation of the noise of `count`."""
        if self.records is not None:
            return math.sqrt(sum(part.stddev**2 for part in self.outside))
        return self.stddev / float(self.waves.amplitudes.flat[0])

    @property
    def outside(self) -> "OutsideCounts | tuple[()]":
        """The numbers of records outside the domain, if they were counted."""
        if (b := self.basis.outside) == 0:
            return ()
        return OutsideCounts(
            *(NoisyCount(k / b, self.stddev / b) for k in self.integers[-OUTSIDE:])
        )

    @property
    @override
    def noisy_count(self) -> NoisyCount:
        return NoisyCount(self.count, self.count_sd)

    @property
    def positive_count(self) -> float:
        """The number of records.

        Raises:
            InvalidParameter: if the released number is not positive.
        """
        if (count := self.count) <= 0:
            raise InvalidParameter(
                f"the released number of records is {count:.6g}, so there is no density: the "
                "noise is larger than the data; spend more, on a larger bandwidth"
            )
        return count

    # -- the waves ----------------------------------------------------------------------------

    @property
    def transform(self) -> Array:
        """Noisy means of the products of waves over records, without the kernel; 1 for the first.

        The shape is (2 J_1 + 1, ..., 2 J_d + 1): on each side cosines of j = 0 ... J, then sines.
        """
        scales = spread(self.waves.amplitudes)
        released = scales > 0
        integers = np.array(self.integers[: self.waves.size], dtype=np.float64)
        found = np.zeros(scales.shape)
        found[released] = integers * (1 / (scales[released] * self.positive_count))
        found.flat[0] = 1.0
        return found

    @property
    def noise_spectrum(self) -> Array:
        """The variance of f at a point from each wave, shape (J_1 + 1, ...); 0 for the count."""
        amplitudes = self.waves.amplitudes.copy()
        amplitudes.flat[0] = 0.0
        scale = self.stddev / (self.positive_count * self.waves.volume)
        waves_of = scale * (self.waves.parts * self.waves.multipliers(self.each_bandwidth))
        return (
            np.divide(waves_of, amplitudes, out=np.zeros_like(amplitudes), where=amplitudes > 0)
            ** 2
        )

    @property
    def count_variance(self) -> float:
        """The relative variance of the noise of the count."""
        return (self.count_sd / self.positive_count) ** 2

    def noise_sd(self, x: npt.ArrayLike) -> Array:
        """Return the standard deviation of the noise of f at each x, without sampling error.

            under replace_one   (sigma / n V) sqrt(sum_j (m_j lambda_j / a_j)^2), the same for all x
            under add_remove    the first-order term of numerator and count together

        Error: exact to rounding under replace_one; first order in the count's relative noise
            under add_remove.
        """
        return self.noise_sd_of(self(x))

    def noise_sd_of(self, estimate: Array) -> Array:
        """Return the standard deviation of the noise at places where f has these values."""
        own = float(self.noise_spectrum.sum())
        level = 1 / self.waves.volume - estimate
        return np.asarray(np.sqrt(own + self.count_variance * level**2))

    # -- bandwidths ---------------------------------------------------------------------------

    def smooth(self, bandwidth: Real | Sequence[Real]) -> Self:
        """Return the same release with a larger bandwidth, on a box one for each side: free.

        Raises:
            InvalidParameter: if a bandwidth is below that of the release, or too large for its
                side.
        """
        found = each("bandwidth", bandwidth, len(self.waves.sides))
        return replace(self, bandwidth=self._bandwidth_of(found))

    def times(self, factor: float) -> tuple[float, ...]:
        """Return the release's bandwidths times a factor, at most the largest of each side."""
        return tuple(min(float(low) * factor, float(high)) for low, high in self.reach)

    @property
    def reach(self) -> tuple[tuple[Fraction, Fraction], ...]:
        """The smallest and the largest bandwidth of each side for `smooth`.

        The largest is limited because the tail of a kernel must end in the circle's empty stretch.
        """
        own = self.waves
        found = [side.largest_bandwidth for side in own.sides]
        match own.sides:
            case (side,) if not side.closed:
                found = [min(side.largest_bandwidth, (own.lattices[0].period - side.length) / 10)]
            case _:
                pass
        return tuple(zip(own.bandwidths, found, strict=True))

    @property
    @abstractmethod
    def each_bandwidth(self) -> tuple[Fraction, ...]:
        """The bandwidth of each side."""

    @staticmethod
    @abstractmethod
    def _bandwidth_of(found: tuple[Fraction, ...]) -> _Bandwidth:
        """Return the `bandwidth` field for the bandwidths of the sides."""

    @override
    def to_json(self) -> dict[str, object]:
        found = [text(h) for h in self.each_bandwidth]
        return {
            "format": FORMAT,
            "version": self.version,
            "kind": self.kind,
            "basis": self.basis.record(),
            "bandwidth": found[0] if len(found) == 1 else found,
            **Noisy(self.integers, self.stddev, self.records, self.unit_records).record(),
        }


@lru_cache(maxsize=_MOST_KEPT)
def _waves_of(basis: WaveBasis) -> Waves:
    """Return the waves of a basis, cached for all groups and bandwidths of a release."""
    found = basis.waves
    found.amplitudes.setflags(write=False)
    return found
