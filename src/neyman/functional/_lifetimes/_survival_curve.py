"""A released survival curve: the product limit of two released counts."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np
import numpy.typing as npt

from neyman.arguments import whole
from neyman.errors import InvalidParameter
from neyman.functional._abstract import NoisyCount
from neyman.functional._arguments import check_level, number, numbers
from neyman.functional._bases._basis import Basis
from neyman.functional._channels import ReleasedChannels
from neyman.functional._densities._band import Band, BandKind, check_band_kind
from neyman.functional._generator import Generator, check_generator
from neyman.functional._lifetimes._product_limit import (
    Counts,
    EmptyShares,
    at_risk_sd,
    counts_of,
    empty_shares,
    nodes_of,
    survival_of,
)
from neyman.functional._lifetimes._survival import TwoChannels
from neyman.numerics import Array, ComplexArray, Real, exact
from neyman.overriding import override

__all__ = ["SurvivalCurve"]

# The curve is shown while the number at risk is at least so many standard deviations of its noise.
_SIGNIFICANT = 3.0
_MOST_POINTS = 1 << 26


@final
@dataclass(frozen=True, slots=True)
class SurvivalCurve(ReleasedChannels[TwoChannels]):
    """The private Kaplan-Meier curve, to be read as often as one likes.

        S(t) = prod_{s <= t} (1 - dN(s) / Y(s)),   Y(s) = n - N(s-) - C(s-)

    N and C are the released counts, made monotone (isotonic regression, which is never farther
    from the truth), n the number of records. Everything here is post-processing of the integers.

    The curve ends at `until`: from there on the number at risk cannot be told from its noise.
    """

    kind: ClassVar[str] = "survival"
    statistics: ClassVar[tuple[str, ...]] = ("survival",)

    version: ClassVar[int] = 2

    @classmethod
    @override
    def channels_of(cls, record: Mapping[str, object]) -> TwoChannels:
        horizon, bandwidth = (number(record[name]) for name in ("horizon", "bandwidth"))
        return TwoChannels(horizon, bandwidth, record["counted"] is True)

    # -- views --------------------------------------------------------------------------------

    def __call__(self, t: npt.ArrayLike) -> Array:
        """Return S(t), in [0, 1] and non-increasing, at each t in [0, until]; shape of t.

        Raises:
            InvalidParameter: if a time is outside.
        """
        times = numbers("t", t)
        nodes, survival = self._shown()
        until = float(nodes[-1])
        if not ((times >= 0) & (times <= until)).all():
            raise InvalidParameter(
                f"the curve was asked for at a t outside [0, {until:g}], from where on too few are "
                "at risk to be told from the noise; write times in it"
            )
        return np.interp(times, nodes, survival)

    @property
    @override
    def noisy_count(self) -> NoisyCount:
        if self.records is not None:
            return NoisyCount(self.records, 0.0)
        return NoisyCount(float(self.at_risk(0.0)), float(self.at_risk_sd(0.0)))

    @property
    def until(self) -> float:
        """The last node of time before Y falls below three standard deviations of its noise."""
        return float(self._shown()[0][-1])

    def grid(self, points: int) -> tuple[Array, Array]:
        """Return `points` equally spaced times from 0 to `until`, and S there.

        Raises:
            InvalidParameter: if fewer than two are asked for, or more than 2^26.
        """
        number, until = whole("points", points, 2, _MOST_POINTS), self.until
        times = np.minimum(np.arange(number) / (number - 1) * until, until)
        return times, self(times)

    def quantile(self, q: npt.ArrayLike) -> Array:
        """Return the first time by which a share q has had the event, for each q in (0, 1).

        Infinite if that is after `until`. quantile(0.5) is the median survival time.

        Raises:
            InvalidParameter: if a q is outside (0, 1).
        """
        asked = numbers("q", q)
        if not ((asked > 0) & (asked < 1)).all():
            raise InvalidParameter("q outside (0, 1) was asked for; write 0.5 for the median")
        nodes, survival = self._shown()
        first = np.searchsorted(-survival, asked - 1, side="left")
        return np.asarray(np.append(nodes, math.inf)[first])

    def restricted_mean(self, t: Real) -> float:
        """Return the mean time lived up to t, the integral of S from 0 to t."""
        end = float(exact(t, "t"))
        nodes = np.append(self._nodes[self._nodes < end], end)
        return float(np.trapezoid(self(nodes), nodes))

    def at_risk(self, t: npt.ArrayLike) -> Array:
        """Return Y(t), released, at each t in [0, horizon]; may fall below 0 for its noise."""
        return np.interp(self._times(t), self._nodes, self._counts(self._empty()).at_risk)

    def at_risk_sd(self, t: npt.ArrayLike) -> Array:
        """Return the standard deviation of the noise of Y(t), before it is made monotone."""
        return self.stddev * at_risk_sd(self.channels, self._times(t))

    def band(
        self, level: float, kind: BandKind, *, generator: Generator, repetitions: int = 500
    ) -> Band:
        """Return a band for the whole curve, from simulated releases of the released curve.

            sup over [0, until] of |S* - S| / sd(S*),  S* a curve of new records and new noise

        Args:
            level: in (0, 1).
            kind: "noise", for the curve of these records without noise; or "total", where records
                are drawn anew, too, for the survival of the population.
            generator: for the simulation; public, its seed need not be secret.
            repetitions: simulated releases.

        Raises:
            InvalidParameter: if the level is outside (0, 1), the kind is another word, or fewer
                than 2 releases are to be simulated.

        Error: an estimate, by parametric bootstrap.
        """
        share, sampling = check_level(level), check_band_kind(kind) == "total"
        check_generator(generator)
        times = whole("repetitions", repetitions, 2, 10**6)
        nodes, shown = self._shown()
        shares = self._empty()
        people, masses = self._people(self._counts(shares))
        # As many units as there are at least, all records of each alike.
        r = self.unit_records
        units = max(round(people / r), 1)
        found = [
            self._simulated(
                r * generator.multinomial(units, masses) if sampling else people * masses,
                generator,
                shares,
            )[: nodes.size]
            for _ in range(times)
        ]
        moves = np.array(found) - shown
        spread = np.sqrt(np.mean(moves**2, axis=0))
        # Before the first event nothing varies.
        scale = np.maximum(spread, 1e-12)
        width = float(np.quantile(np.max(np.abs(moves) / scale, axis=1), share))
        lower, upper = shown - width * spread, shown + width * spread
        return Band((nodes,), shown, np.maximum(lower, 0.0), np.minimum(upper, 1.0), width)

    # -- how ----------------------------------------------------------------------------------

    @property
    def _nodes(self) -> Array:
        return nodes_of(self.channels.events)

    def _times(self, t: npt.ArrayLike) -> Array:
        times, end = numbers("t", t), float(self.channels.horizon)
        if not ((times >= 0) & (times <= end)).all():
            raise InvalidParameter(f"t outside [0, {end:g}] was asked for; write times in it")
        return times

    def _empty(self) -> EmptyShares:
        return empty_shares(self.channels)

    def _shown(self) -> tuple[Array, Array]:
        """Return the nodes up to `until`, and S there."""
        counts, nodes = self._counts(self._empty()), self._nodes
        few = np.flatnonzero(counts.at_risk < _SIGNIFICANT * self.at_risk_sd(nodes))
        count = int(few[0]) if few.size else nodes.size
        if count < 2:
            raise InvalidParameter(
                "the number at risk cannot be told from its noise at the very start, so there is "
                "no curve; spend more"
            )
        return nodes[:count], survival_of(counts)[:count]

    def _counts(self, shares: EmptyShares) -> Counts:
        bases = self.channels.events, self.channels.censored
        integers = np.array(self.integers, dtype=np.float64)
        parts = np.split(integers, [bases[0].size])
        sums = [basis.transform(part) for basis, part in zip(bases, parts, strict=True)]
        return counts_of(self.channels, self.records, sums[0], sums[1], shares)

    def _people(self, counts: Counts) -> tuple[int, Array]:
        """Return the number of records, and their shares at the nodes of both channels."""
        masses = [np.diff(part, prepend=0.0) for part in (counts.events, counts.censored)]
        # Whoever is at risk at the horizon is censored there.
        masses[1][-1] += max(float(counts.at_risk[-1]), 0.0)
        both = np.concatenate(masses)
        return max(round(float(both.sum())), 1), both / both.sum()

    def _simulated(
        self, drawn: npt.NDArray[Any], generator: Generator, shares: EmptyShares
    ) -> Array:
        """Return S of a new release of so many records at the nodes of both channels."""
        people = round(float(drawn.sum()))
        sums = [
            _sums(basis, part) + basis.transform(self._noise(generator, basis))
            for basis, part in zip(
                (self.channels.events, self.channels.censored),
                np.split(drawn.astype(np.float64), 2),
                strict=True,
            )
        ]
        records = None if self.records is None else people
        return survival_of(counts_of(self.channels, records, sums[0], sums[1], shares))

    def _noise(self, generator: Generator, basis: Basis) -> Array:
        return self.stddev * generator.standard_normal(basis.size)


def _sums(basis: Basis, counts: Array) -> ComplexArray:
    """Return the sums over records at the nodes, without noise."""
    padded = np.zeros(basis.circle_nodes)
    padded[: counts.size] = counts
    return np.fft.rfft(padded)[: basis.highest + 1]
