"""A released survival curve: the product limit of released counts."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import ClassVar, Final, Literal, NamedTuple, TypeAlias, cast, final

import numpy as np
import numpy.typing as npt

from neyman.arguments import got, whole
from neyman.errors import InvalidParameter
from neyman.functional._abstract import NoisyCount
from neyman.functional._arguments import check_level, number, numbers
from neyman.functional._channels import ReleasedChannels
from neyman.functional._densities._band import Band, BandKind, check_band_kind
from neyman.functional._generator import Generator, check_generator
from neyman.functional._lifetimes._life_table import CELLS, LifeTable, life_table, unsmoothed
from neyman.functional._lifetimes._product_limit import (
    Errors,
    Hazards,
    hazards_of,
    incidence,
    log_survival,
    survival_of,
)
from neyman.functional._lifetimes._survival import Exits
from neyman.numerics import Array, Real, exact
from neyman.overriding import override

__all__ = ["LifeView", "SurvivalCurve", "tables_of"]

LifeView: TypeAlias = Literal["survival", "cumulative_hazard", "cumulative_incidence"]
_VIEWS: Final[tuple[LifeView, ...]] = ("survival", "cumulative_hazard", "cumulative_incidence")

# The curve is shown while the number at risk is at least so many standard deviations of its error.
_SIGNIFICANT: Final = 5.0
_MOST_POINTS: Final = 1 << 26
_MOST_KEPT: Final = 64
# An error of a curve that does not vary.
_STILL: Final = 1e-12


@final
@dataclass(frozen=True, slots=True)
class SurvivalCurve(ReleasedChannels[Exits]):
    """The private Kaplan-Meier curve; use it as often as you like.

        S(t) = prod_{s <= t} (1 - dN(s) / Y(s)),   Y(s) = n - N(s-) - C(s-)

    N and C are the posterior means of the counts: the noise is known, and hazards are assumed to
    vary smoothly. The release itself determines how smoothly, so the curve is smoothed most where
    few are at risk. Everything here is post-processing of the integers, and is computed once.

    The curve ends at `until`, where the number at risk falls below five standard deviations of its
    error.
    """

    kind: ClassVar[str] = "survival"
    statistics: ClassVar[tuple[str, ...]] = ("survival",)

    version: ClassVar[int] = 2

    @classmethod
    @override
    def channels_of(cls, record: Mapping[str, object]) -> Exits:
        horizon, bandwidth = (number(record[name]) for name in ("horizon", "bandwidth"))
        causes = whole("causes", cast("int", record.get("causes", 1)), 1, 2**62)
        return Exits(horizon, bandwidth, record["counted"] is True, causes)

    # -- curves -------------------------------------------------------------------------------

    def __call__(self, t: npt.ArrayLike) -> Array:
        """Return S(t), in [0, 1] and non-increasing, at each t in [0, until], in the shape of t.

        Raises:
            InvalidParameter: if a time is outside [0, until].
        """
        found = _found(self)
        return np.interp(self._known_times(t), found.times, found.survival)

    def cumulative_hazard(self, t: npt.ArrayLike) -> Array:
        """Return H(t) = -log S(t) at each t in [0, until]; infinite when nobody is left.

        Raises:
            InvalidParameter: if a time is outside [0, until].
        """
        with np.errstate(divide="ignore"):
            return np.asarray(-np.log(self(t)))

    def cumulative_incidence(self, t: npt.ArrayLike, cause: int = 1) -> Array:
        """Return the share that has had the event by one of several competing causes up to t.

            F(t) = sum_{s <= t} S(s-) dN_cause(s) / Y(s)

        The incidences of all causes and S(t) have sum 1.

        Args:
            t: times in [0, until].
            cause: the number of the cause, from 1 on.

        Raises:
            InvalidParameter: if a time is outside [0, until], or there is no such cause.

        Source: Aalen and Johansen (1978), "An empirical transition matrix for non-homogeneous
            Markov chains based on censored observations".
        """
        times = _found(self).times
        errors = _errors(self, "cumulative_incidence", self._cause(cause))
        return np.interp(self._known_times(t), times, errors.values[: times.size])

    @property
    @override
    def noisy_count(self) -> NoisyCount:
        if self.records is not None:
            return NoisyCount(self.records, 0.0)
        return NoisyCount(float(self.at_risk(0.0)), float(self.at_risk_sd(0.0)))

    # -- numbers ------------------------------------------------------------------------------

    @property
    def until(self) -> float:
        """The time up to which the number at risk exceeds five standard deviations of its error."""
        return float(_found(self).times[-1])

    def grid(self, points: int) -> tuple[Array, Array]:
        """Return `points` equally spaced times from 0 to `until`, and S there.

        Raises:
            InvalidParameter: if `points` is below 2 or above 2^26.
        """
        number, until = whole("points", points, 2, _MOST_POINTS), self.until
        times = np.minimum(np.arange(number) / (number - 1) * until, until)
        return times, self(times)

    def quantile(self, q: npt.ArrayLike) -> Array:
        """Return the first time by which a share q has had the event, for each q in (0, 1).

        It is infinite if that is after `until`.

        Raises:
            InvalidParameter: if a q is outside (0, 1).
        """
        found = _found(self)
        return _first_at(found.times, found.survival, 1 - _shares(q))

    @property
    def median(self) -> float:
        """The median survival time: the first time by which half have had the event."""
        return float(self.quantile(0.5))

    def restricted_mean(self, t: Real) -> float:
        """Return the mean time lived up to t, the integral of S from 0 to t."""
        end, times = float(exact(t, "t")), _found(self).times
        nodes = np.append(times[times < end], end)
        return float(np.trapezoid(self(nodes), nodes))

    def restricted_mean_interval(
        self, t: Real, level: float, kind: BandKind
    ) -> tuple[float, float]:
        """Return a confidence interval for the mean time lived up to t.

        Raises:
            InvalidParameter: if the time is outside [0, until], the level outside (0, 1), or the
                kind is another word.

        Error: an estimate, as for `interval`.
        """
        middle, end = self.restricted_mean(t), float(exact(t, "t"))
        width = NormalDist().inv_cdf((1 + check_level(level)) / 2)
        times, survival = _found(self).times, _found(self).survival
        # The area that each time stands for; d S = -S d H.
        moves = np.gradient(np.minimum(times, end)) * survival
        covariance = self._covariance(_errors(self, "survival", 0), check_band_kind(kind))
        spread = math.sqrt(max(float(moves @ covariance @ moves), 0.0))
        return max(middle - width * spread, 0.0), min(middle + width * spread, end)

    def at_risk(self, t: npt.ArrayLike) -> Array:
        """Return the estimate of Y(t) at each t in [0, horizon]."""
        return np.interp(self._times(t), self._ends, _read(self).table.at_risk)

    def at_risk_sd(self, t: npt.ArrayLike) -> Array:
        """Return the standard deviation of the error of Y(t), from noise and smoothing."""
        variance = _read(self).table.at_risk_variance
        return np.interp(self._times(t), self._ends, np.sqrt(variance))

    # -- how far they may be off --------------------------------------------------------------

    def interval(
        self,
        t: npt.ArrayLike,
        level: float,
        kind: BandKind,
        *,
        of: LifeView = "survival",
        cause: int = 1,
    ) -> tuple[Array, Array]:
        """Return a confidence interval for the curve at each time in [0, until] separately.

        Args:
            t: times in [0, until]. Each has its own interval; `band` holds for all times together.
            level: the confidence level, in (0, 1).
            kind: "noise", for the curve of these records without noise; or "total", with sampling
                error, for the population.
            of: "survival", "cumulative_hazard" or "cumulative_incidence".
            cause: the number of the cause, for the incidence.

        Returns:
            The lower and the upper ends, each in the shape of t.

        Raises:
            InvalidParameter: if a time is outside [0, until], the level outside (0, 1), or `kind`,
                `of` or `cause` is unknown.

        Error: an estimate, because errors are treated as normal, those of S on the scale of log S.
        """
        width = NormalDist().inv_cdf((1 + check_level(level)) / 2)
        times, at = _found(self).times, self._known_times(t)
        band = self._between(_check_view(of), self._cause(cause), check_band_kind(kind), width)
        return np.interp(at, times, band.lower), np.interp(at, times, band.upper)

    def quantile_interval(
        self, q: npt.ArrayLike, level: float, kind: BandKind
    ) -> tuple[Array, Array]:
        """Return a confidence interval for the time by which a share q has had the event.

        It has the times whose `interval` contains 1 - q. An upper end after `until` is infinite,
        and a lower end is at most `until`. Write quantile_interval(0.5, 0.95, "total") for the
        median.

        Args:
            q: shares in (0, 1).
            level: the confidence level of each interval, in (0, 1).
            kind: as for `interval`.

        Raises:
            InvalidParameter: if a q or the level is outside (0, 1), or the kind is another word.

        Error: an estimate, as for `interval`.
        Source: Brookmeyer and Crowley (1982), "A confidence interval for the median survival time".
        """
        levels, times = 1 - _shares(q), _found(self).times
        lower, upper = self.interval(times, level, kind)
        # An interval goes on for as long as one of a later time holds the share.
        above = np.maximum.accumulate(upper[::-1])[::-1]
        below = np.minimum.accumulate(lower)
        earliest = np.minimum(_first_at(times, below, levels), self.until)
        return earliest, _first_at(times, above, levels)

    def band(
        self,
        level: float,
        kind: BandKind,
        *,
        generator: Generator,
        repetitions: int = 500,
        of: LifeView = "survival",
        cause: int = 1,
    ) -> Band:
        """Return a simultaneous band for the whole curve, simulated from the errors of `interval`.

            sup over [0, until] of |error| / sd(error),  for -log S or for the incidence

        Args:
            level: the confidence level, in (0, 1).
            kind: as for `interval`.
            generator: the generator of the simulation; its seed need not be secret.
            repetitions: number of simulated errors.
            of: as for `interval`.
            cause: as for `interval`.

        Raises:
            InvalidParameter: if the level is outside (0, 1), `kind`, `of` or `cause` is unknown, or
                `repetitions` is below 2.

        Error: an estimate.
        """
        share, sort = check_level(level), check_band_kind(kind)
        view, which = _check_view(of), self._cause(cause)
        check_generator(generator)
        many = whole("repetitions", repetitions, 2, 10**6)
        covariance = self._covariance(_errors(self, view, which), sort)
        spread = np.sqrt(np.maximum(np.diag(covariance), 0.0))
        varies = spread > _STILL
        if not varies.any():
            return self._between(view, which, sort, 0.0)
        unit = covariance[np.ix_(varies, varies)] / np.outer(spread[varies], spread[varies])
        values, vectors = np.linalg.eigh(unit)
        roots = vectors * np.sqrt(np.maximum(values, 0.0))
        drawn = np.abs(generator.standard_normal((many, len(values))) @ roots.T)
        return self._between(view, which, sort, float(np.quantile(drawn.max(axis=1), share)))

    # -- how ----------------------------------------------------------------------------------

    @property
    def _ends(self) -> Array:
        """The ends of the cells."""
        return np.linspace(0.0, float(self.channels.horizon), CELLS + 1)

    def _times(self, t: npt.ArrayLike) -> Array:
        times, end = numbers("t", t), float(self.channels.horizon)
        if not ((times >= 0) & (times <= end)).all():
            raise InvalidParameter(f"t must be in [0, {end:g}]; write times in it")
        return times

    def _known_times(self, t: npt.ArrayLike) -> Array:
        times, until = numbers("t", t), self.until
        if not ((times >= 0) & (times <= until)).all():
            raise InvalidParameter(
                f"t must be in [0, {until:g}]: after it, the noise hides how many are at risk. "
                "Write times in it"
            )
        return times

    def _cause(self, cause: int) -> int:
        return whole("cause", cause, 1, self.channels.causes) - 1

    def _covariance(self, errors: Errors, kind: BandKind) -> Array:
        """Return the covariance of the errors at the times of the curve."""
        # Of equal records of one unit as many units fewer are drawn.
        drawn = self.unit_records * errors.sampling if kind == "total" else 0.0
        count = _found(self).times.size
        return (errors.noise + drawn)[:count, :count]

    def _between(self, of: LifeView, cause: int, kind: BandKind, width: float) -> Band:
        """Return the band of a curve with this width in standard deviations."""
        errors, times = _errors(self, of, cause), _found(self).times
        spread = np.sqrt(np.maximum(np.diag(self._covariance(errors, kind)), 0.0))
        values = errors.values[: times.size]
        lower, upper = np.maximum(values - width * spread, 0.0), values + width * spread
        if of == "survival":
            values, lower, upper = np.exp(-values), np.exp(-upper), np.exp(-lower)
        if of == "cumulative_incidence":
            upper = np.minimum(upper, 1.0)
        return Band((times,), values, lower, upper, width)


class _Found(NamedTuple):
    """The results of a release, computed once; `times` are the times of the curve."""

    table: LifeTable
    hazards: Hazards
    times: Array
    survival: Array


@lru_cache(maxsize=_MOST_KEPT)
def _read(curve: SurvivalCurve) -> _Found:
    table = life_table(curve.channels, curve.integers, curve.stddev, curve.records)
    few = np.flatnonzero(table.at_risk < _SIGNIFICANT * np.sqrt(table.at_risk_variance))
    count = int(few[0]) if few.size else CELLS + 1
    hazards = hazards_of(table)
    times = np.linspace(0.0, float(curve.channels.horizon), CELLS + 1)[:count]
    return _Found(table, hazards, times, survival_of(hazards)[:count])


@lru_cache(maxsize=_MOST_KEPT)
def _errors(curve: SurvivalCurve, of: LifeView, cause: int) -> Errors:
    hazards = _found(curve).hazards
    return incidence(hazards, cause) if of == "cumulative_incidence" else log_survival(hazards)


def _check_view(of: object) -> LifeView:
    for known in _VIEWS:
        if type(of) is str and of == known:
            return known
    raise InvalidParameter(
        f"of must name a curve of a survival release; got {got(of)}. Write "
        '"survival", "cumulative_hazard" or "cumulative_incidence"'
    )


def _found(curve: SurvivalCurve) -> _Found:
    found = _read(curve)
    if found.times.size < 2:
        raise InvalidParameter(
            "the noise hides the number at risk at the very start, so there is no curve; spend more"
        )
    return found


def tables_of(curve: SurvivalCurve) -> tuple[LifeTable, LifeTable, Array]:
    """Return the table of a curve, its table without smoothing, and its times.

    Raises:
        InvalidParameter: if there is no curve.
    """
    found = _found(curve)
    kept = curve.channels, curve.integers, curve.stddev, curve.records
    return found.table, unsmoothed(*kept, found.table), found.times


def _shares(q: npt.ArrayLike) -> Array:
    asked = numbers("q", q)
    if not ((asked > 0) & (asked < 1)).all():
        raise InvalidParameter("q must be strictly between 0 and 1; write 0.5 for the median")
    return asked


def _first_at(times: Array, falling: Array, levels: Array) -> Array:
    """Return the first times when a falling curve reaches the levels; infinite if it does not."""
    after = np.searchsorted(-falling, -levels, side="left")
    last = len(times) - 1
    before, at = np.clip(after - 1, 0, last), np.minimum(after, last)
    drop = falling[before] - falling[at]
    share = np.divide(falling[before] - levels, drop, out=np.ones_like(drop), where=drop > 0)
    reached = times[before] + np.minimum(share, 1.0) * (times[at] - times[before])
    return np.where(after > last, math.inf, np.where(after == 0, times[0], reached))
