"""The masses of values on a declared grid, from released counts of each value.

Values with a known step have no density: they are on the points of a grid, and the counts of the
points have the least possible noise, 1 / mu. The counts have cosines over the K points, c_j = sum_k
y_k cos(pi j (k + 1/2) / K) / n. A smooth column has only slow cosines, so their shares are chosen
as for a density. A heaped column has all of them, so the counts themselves are better. The
estimated error

    R(m) = |m - y / n|^2 + 2 sum_k v_k n dm_k / dy_k,    v_k = s^2 / n^2 + p_k (1 - p_k) / n

decides between the two. m are the nearest masses that are nowhere negative and have sum 1.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from statistics import NormalDist
from typing import Any, ClassVar, Final, Protocol, Self, cast, final, runtime_checkable

import numpy as np
import numpy.typing as npt

from neyman.arguments import check_type, whole
from neyman.errors import InvalidParameter
from neyman.functional._abstract import FORMAT, Function, NoisyCount, Released
from neyman.functional._arguments import check_level, numbers
from neyman.functional._bases._domain import Interval
from neyman.functional._bases._features import MOST_RECORDS
from neyman.functional._densities._band import Band, check_band_kind
from neyman.functional._densities._coefficients import Coefficients
from neyman.functional._densities._nearest import nearest_masses
from neyman.functional._densities._reading import Reading
from neyman.functional._densities._sampling import Sampled, Spread, limits
from neyman.functional._generator import Generator, check_generator
from neyman.numerics import Array
from neyman.overriding import override

__all__ = ["MassFunction", "masses"]

_FEWEST: Final = 3
_MOST: Final = 1 << 20
# A place is a point of the grid if it is nearer to it than this, in steps.
_SAME: Final = 1e-9
_RELEASE: Final = "a release of table.count(Keys({column: Bins.uniform(...)}))"
# Bandwidths from an eighth of a step on are tried: the least keeps all waves.
_TRIED: Final = 4


@final
@dataclass(frozen=True, slots=True)
class MassFunction(Function):
    """Shares of values at the points of a grid, with the methods of SciPy's discrete distributions.

    They are nowhere negative and have sum 1. All of it is post-processing of released counts.

    Attributes:
        first: the smallest point of the grid.
        step: the distance between points.
        counts: the released count of values at each point.
        stddev: standard deviation of the noise of each count.

    Error: an estimate of the shares of the population; `band` bounds the error. Values between
        points count at the point of their bin.
    """

    kind: ClassVar[str] = "mass_function"
    statistics: ClassVar[tuple[str, ...]] = ()
    version: ClassVar[int] = 1

    first: float
    step: float
    counts: tuple[int, ...] = field(repr=False)
    stddev: float

    def __post_init__(self) -> None:
        """Check the fields.

        Raises:
            InvalidParameter: if it has fewer than 3 points or more than 2^20, or a number is not
                finite.
        """
        instead = "functional.masses(release), which makes it"
        check_type("counts", self.counts, tuple, instead)
        sound = all(map(math.isfinite, (self.first, self.step, self.stddev)))
        whole_numbers = set(map(type, self.counts)) == {int}
        if not (sound and self.step > 0 and self.stddev > 0 and whole_numbers):
            raise InvalidParameter(
                "first, step, stddev and counts of a mass function must be finite numbers, whole "
                f"numbers, and a step and a stddev above 0; write {instead}"
            )
        if not _FEWEST <= len(self.counts) <= _MOST:
            raise InvalidParameter(
                f"a grid must have {_FEWEST} to {_MOST} points; got {len(self.counts)}. Write "
                "other bins"
            )

    @classmethod
    @override
    def of_release(cls, release: Released) -> Self:
        if release.query.get("statistic") != "count" or release.query.get("keys") is None:
            raise InvalidParameter(
                f"release must be {_RELEASE}; got a release of {release.query.get('statistic')!r}"
            )
        keys = cast("Mapping[str, Sequence[str]]", release.query["keys"])
        names, columns = keys["columns"], release.columns
        points = _middles(columns, names[0]) if len(names) == 1 else np.zeros(0)
        if points.size < _FEWEST:
            raise InvalidParameter(
                f"release must be {_RELEASE}, of one column of numbers with at least {_FEWEST} "
                f"values or bins; got counts by {', '.join(names)}"
            )
        step = float(points[-1] - points[0]) / (points.size - 1)
        off = np.abs(points - points[0] - step * np.arange(points.size))
        if not step > 0 or off.max() > _SAME * points.size * step:
            raise InvalidParameter(
                "the counted values or bins must be equally spaced and in order. Write "
                "Bins.uniform(lower, upper, number, outside=...), with edges half a step from the "
                "points of the grid"
            )
        counts = cast("Sequence[int]", columns["count"])
        return cls(float(points[0]), step, tuple(counts), cast("float", columns["stddev"][0]))

    @classmethod
    @override
    def of_record(cls, record: Mapping[str, object]) -> Self:
        return cls(
            float.fromhex(str(record["first"])),
            float.fromhex(str(record["step"])),
            tuple(cast("list[int]", record["counts"])),
            float.fromhex(str(record["stddev"])),
        )

    @override
    def to_json(self) -> dict[str, object]:
        return {
            "format": FORMAT,
            "version": self.version,
            "kind": self.kind,
            "first": self.first.hex(),
            "step": self.step.hex(),
            "stddev": self.stddev.hex(),
            "counts": list(self.counts),
        }

    # -- the masses -----------------------------------------------------------------------------

    @property
    def points(self) -> Array:
        """The points of the grid."""
        return self.first + self.step * np.arange(len(self.counts), dtype=np.float64)

    @property
    def count(self) -> float:
        """The number of values, the sum of the counts."""
        return float(sum(self.counts))

    @property
    def count_sd(self) -> float:
        """Standard deviation of the noise of `count`."""
        return self.stddev * math.sqrt(len(self.counts))

    @property
    @override
    def noisy_count(self) -> NoisyCount:
        return NoisyCount(self.count, self.count_sd)

    @property
    def masses(self) -> Array:
        """The share of the values at each point; read-only.

        Raises:
            InvalidParameter: if the released number of values is not positive.
        """
        return _masses(self)

    def __call__(self, x: npt.ArrayLike) -> Array:
        """Return the mass at each x, 0 between the points of the grid."""
        place = (numbers("x", x) - self.first) / self.step
        near = np.rint(np.clip(place, -1.0, float(len(self.counts))))
        inside = (np.abs(place - near) <= _SAME) & (near >= 0) & (near < len(self.counts))
        at = np.where(inside, near, 0).astype(np.int64)
        return np.asarray(np.where(inside, self.masses[at], 0.0))

    def pmf(self, x: npt.ArrayLike) -> Array:
        """Return the mass at each x, as a call does."""
        return self(x)

    def cdf(self, x: npt.ArrayLike) -> Array:
        """Return the share of values up to each x; it jumps at the points of the grid."""
        below = np.concatenate([[0.0], np.minimum(np.cumsum(self.masses), 1.0)])
        below[-1] = 1.0
        place = np.floor((numbers("x", x) - self.first) / self.step + _SAME)
        return below[1 + np.clip(place, -1.0, len(self.counts) - 1.0).astype(np.int64)]

    def sf(self, x: npt.ArrayLike) -> Array:
        """Return 1 - cdf(x)."""
        return np.asarray(1 - self.cdf(x))

    def ppf(self, q: npt.ArrayLike) -> Array:
        """Return the smallest point with cdf at least q, for each q in [0, 1].

        Raises:
            InvalidParameter: if a q is outside [0, 1].
        """
        shares = numbers("q", q)
        if not ((shares >= 0) & (shares <= 1)).all():
            raise InvalidParameter(f"q must be shares in [0, 1], such as 0.5; got {q!r}")
        at = np.searchsorted(self.cdf(self.points), shares - _SAME)
        return self.points[np.minimum(at, len(self.counts) - 1)]

    def median(self) -> float:
        """Return the smallest point with cdf at least 1/2."""
        return float(self.ppf(0.5))

    def mean(self) -> float:
        """Return the mean of the masses."""
        return float(self.masses @ self.points)

    def var(self) -> float:
        """Return the variance of the masses."""
        return float(self.masses @ (self.points - self.mean()) ** 2)

    def std(self) -> float:
        """Return the standard deviation of the masses."""
        return math.sqrt(self.var())

    def mode(self) -> float:
        """Return the point with the largest mass; the first of several."""
        return float(self.points[int(np.argmax(self.masses))])

    def rvs(self, size: int, *, generator: Generator) -> Array:
        """Return `size` independent draws: synthetic values on the grid, free.

        Args:
            size: number of draws.
            generator: a NumPy Generator. It need not be secret, because the masses are public.

        Raises:
            InvalidParameter: if the size is not a whole number from 0 to 2^36, or the generator is
                not one.
        """
        check_generator(generator)
        return self.ppf(generator.random(whole("size", size, 0, MOST_RECORDS)))

    def band(self, level: float, kind: str = "total") -> Band:
        """Return simultaneous limits of the masses at all points.

        Each point has an equal share of the error probability (Bonferroni). The limits use the
        counts without smoothing, and include the returned masses.

        Args:
            level: the confidence level, in (0, 1).
            kind: "total", for the shares of the population that the values were drawn from, one
                from each unit; "noise", for the shares of these values.

        Raises:
            InvalidParameter: if the level is outside (0, 1), the kind is another word, or the
                released number of values is not positive.

        Error: an estimate to first order in the noise of the number of values.
        """
        share, known = check_level(level), check_band_kind(kind)
        n, held = _positive(self), self.masses
        width = NormalDist().inv_cdf(1 - (1 - share) / (2 * held.size))
        found = np.array(self.counts, np.float64) / n
        above = np.maximum(found, held)
        noise = (self.stddev / n) ** 2 * np.maximum(1 - 2 * held + held.size * held**2, 0.0)
        if known == "noise":
            reach = width * np.sqrt(noise)
            ends = found - reach, above + reach
        else:
            one = np.ones(held.size)
            spread = Spread(held * (1 - held) / n, 0 * one, 0 * one)
            sampled = Sampled(spread, one, one, n)
            low, high = (limits(f, noise, sampled, width) for f in (found, above))
            ends = low[0], high[1]
        # Counts are whole, and so is their noise: half of one may be rounding.
        half = 1 / (2 * n)
        lower = np.clip(ends[0] - half, 0.0, held)
        return Band((self.points,), held, lower, ends[1] + half, width)


def masses(release: Released) -> MassFunction:
    """Return the masses of values on a grid, from a release of counts by value: free.

    Release the counts of bins of one step around the points of the grid, such as
    `table.count(Keys({"age": Bins.uniform(-0.5, 99.5, 100, outside="drop")}))` for whole years, or
    the counts of whole numbers as keys. The noise of each count does not depend on the number of
    bins.

    Args:
        release: the release of the counts.

    Raises:
        InvalidParameter: if the release is of another statistic, of other groups, or of bins with
            different widths.

    Error: measured (docs/measured.md): the squared error is 0.1 to 1.1 times that of the masses
        nearest to the counts.
    Source: Stein, *Estimation of the mean of a multivariate normal distribution*, Annals of
        Statistics 1981 (the estimate of the error).
    """
    check_type("release", release, Released, "what release(query, noise, ledger, entry=) returned")
    if isinstance(release, _WithMechanism) and release.mechanism.get("mechanism") != "gaussian":
        raise InvalidParameter(
            "masses must be read from counts with Gaussian noise, for which the band and the "
            f"estimated error are; got {release.mechanism.get('mechanism')!r} noise. Write "
            "ny.Gaussian.calibrate(...)"
        )
    return MassFunction.of_release(release)


@runtime_checkable
class _WithMechanism(Protocol):
    """A release that states its noise."""

    @property
    def mechanism(self) -> Mapping[str, object]: ...


def _middles(columns: Mapping[str, Sequence[object]], name: str) -> Array:
    """Return the middles of bins, or the values of keys; refuse keys that are not numbers."""
    ends = [columns.get(f"{name}{end}", columns.get(name, ())) for end in ("_from", "_to")]
    if not all(type(end) in (int, float) for side in ends for end in side):
        return np.zeros(0)
    lower, upper = (np.array(side, np.float64) for side in ends)
    return (lower + upper) / 2


def _positive(function: MassFunction) -> float:
    if (count := function.count) <= 0:
        raise InvalidParameter(
            f"the released number of values must be positive to have shares; it is {count:g}. "
            "Spend more, or count more of them"
        )
    return max(count, 2.0)


@lru_cache(maxsize=64)
def _masses(function: MassFunction) -> Array:
    """Return the masses nearest to the counts or to smoothed counts, by estimated error."""
    from scipy import fft  # pyright: ignore[reportMissingTypeStubs]

    n, k = _positive(function), len(function.counts)
    shares = np.array(function.counts, np.float64) / n
    noise = (function.stddev / n) ** 2
    cosines: Any = fft
    waves: Array = cosines.dct(shares, type=2) / 2
    waves[0] = 1.0
    kept = _kept(waves, noise, n, function.step)
    smoothed: Array = cosines.idct(2 * kept * waves, type=2)
    plain, smooth = nearest_masses(shares, 1.0), nearest_masses(smoothed, 1.0)
    # How far each smoothed share moves with its own count.
    own = _own(kept) / k
    variances = noise + smooth * (1 - smooth) / n
    drawn = [
        (plain, np.where(plain > 0, 1 - 1 / np.count_nonzero(plain), 0.0)),
        (smooth, np.where(smooth > 0, own, 0.0)),
    ]
    risks = [float(((m - shares) ** 2).sum() + 2 * (variances @ moved)) for m, moved in drawn]
    found = drawn[int(np.argmin(risks))][0]
    found.setflags(write=False)
    return found


def _own(kept: Array) -> Array:
    """Return 1 + 2 sum_j l_j cos^2(pi j (k + 1/2) / K) for each k."""
    k = kept.size
    # cos^2 = (1 + cos of twice) / 2, and twice the waves beyond K / 2 are lower ones, negative.
    doubled = np.zeros(2 * k)
    doubled[2 * np.arange(1, k)] = kept[1:]
    folded = doubled[:k].copy()
    folded[1:] -= doubled[:k:-1]
    phase = np.exp(1j * math.pi * np.arange(k) / (2 * k))
    terms = np.zeros(2 * k, np.complex128)
    terms[:k] = folded * phase
    found = 2 * k * np.fft.ifft(terms).real[:k]
    return 1 + float(kept[1:].sum()) + found


def _kept(waves: Array, noise: float, n: float, step: float) -> Array:
    """Return the share of each wave, chosen as for a density."""
    k = waves.size
    weight = np.full(k, 2.0)
    weight[0] = 0.0
    side = Interval(0, k * step, outside="drop")
    frequencies = math.pi / (_TRIED * k) * np.arange(k, dtype=np.float64)
    variances = np.full(k, k * noise / 2)
    variances[0] = 0.0
    found = Coefficients(
        (side,), (step / _TRIED,), True, (frequencies,), waves, variances, weight, n
    )
    return Reading.of(found, np.eye(1)).shares
