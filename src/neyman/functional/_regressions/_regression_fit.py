"""One fit of a released regression curve: its values, its noise, its bands."""

from dataclasses import dataclass, field
from typing import Self, final

import numpy as np
import numpy.typing as npt

from neyman.arguments import whole
from neyman.displayed import Displayed
from neyman.errors import InvalidParameter
from neyman.functional._arguments import check_level
from neyman.functional._bases._basis import Basis
from neyman.functional._densities._band import Band, BandKind, check_band_kind
from neyman.functional._generator import Generator, check_generator
from neyman.functional._regressions._processes import GaussianProcess
from neyman.functional._regressions._smoother import Smoother, Sums, Table, deblurred
from neyman.numerics import Array, ComplexArray

__all__ = ["RegressionFit"]


@final
@dataclass(frozen=True, slots=True, eq=False)
class RegressionFit(Displayed):
    """A curve of mean responses, linear between public nodes.

    A moving mean or a ridge is NaN where the released number of records in the window is below four
    standard deviations of its noise, because nothing is known there. A Gaussian process is NaN only
    where the release shows that there is hardly anybody. `stretches` has the rest.

    Attributes:
        smoother: the method of the fit, with all its choices.
        table: the nodes.
        sums: the released sums.
        known: whether a node has enough records, shape (nodes,).
        values: the curve at the nodes, in the units of y, shape (nodes,).
        deviations: standard deviations of the noise of these, shape (nodes,).
    """

    smoother: Smoother
    table: Table = field(repr=False)
    sums: Sums = field(repr=False)
    known: npt.NDArray[np.bool_] = field(repr=False)
    values: Array = field(repr=False)
    deviations: Array = field(repr=False)

    @classmethod
    def of(cls, table: Table, sums: Sums, smoother: Smoother) -> Self:
        """Return the fit of a curve.

        Raises:
            InvalidParameter: if every number of records may be noise.
        """
        known = smoother.known(table, sums)
        if not known.any():
            raise InvalidParameter(
                "the noise hides the number of records everywhere, so there is no curve; spend "
                "more, or write a larger bandwidth"
            )
        channels = table.channels
        values, deviations = smoother.read(table, sums)
        values = np.where(known, channels.response.middle + channels.response.half * values, np.nan)
        deviations = np.where(known, channels.response.half * deviations, np.nan)
        for array in (known, values, deviations):
            array.setflags(write=False)
        return cls(smoother, table, sums, known, values, deviations)

    def __call__(self, x: npt.ArrayLike) -> Array:
        """Return the mean response at each x, in the shape of x; NaN where too few records are.

        Equal points give equal bits, in any call.

        Raises:
            InvalidParameter: if a point is outside the domain.
        """
        return self._between(x, self.values)

    def grid(self, points: int) -> tuple[Array, Array]:
        """Return `points` equally spaced places over the whole domain, and the curve there."""
        x = self._basis.domain.grid(points)
        return x, self(x)

    @property
    def stretches(self) -> list[tuple[float, float]]:
        """The lower and upper end of each stretch where the curve is known."""
        edges = np.diff(np.concatenate([[0], self.known.astype(np.int8), [0]]))
        places = self._places
        return [
            (float(places[first]), float(places[last - 1]))
            for first, last in zip(
                np.flatnonzero(edges == 1), np.flatnonzero(edges == -1), strict=True
            )
        ]

    def noise_sd(self, x: npt.ArrayLike) -> Array:
        """Return the standard deviation of the noise at each x.

        For windows and ridges it has the noise alone, without sampling of records and smoothing.
        For a Gaussian process it is the posterior standard deviation: noise, sampling of records
        and smoothing.

        Error: first order in the noise, with all choices fixed.
        """
        return self._between(x, self.deviations)

    def band(
        self, level: float, kind: BandKind, *, generator: Generator, repetitions: int = 300
    ) -> Band:
        """Return a simultaneous band for the whole curve, from simulated releases.

            sup over all stretches of |m* - m'| / sd

        m' is a curve drawn from the likeliest Gaussian process given the release. m* is the same
        kind of fit to a simulated release of records drawn about m'. So the band includes the bias
        of smoothing.

        Args:
            level: the confidence level, in (0, 1).
            kind: "noise", for this fit to these records without noise; or "total", with sampling
                error, for the mean of the population.
            generator: the generator of the simulation; its seed need not be secret.
            repetitions: number of simulated releases.

        Raises:
            InvalidParameter: if the level is outside (0, 1), the kind is another word, or
                `repetitions` is below 2.

        Error: an estimate.
        """
        share, sampling = check_level(level), check_band_kind(kind) == "total"
        check_generator(generator)
        times = whole("repetitions", repetitions, 2, 10**6)
        channels = self.table.channels
        moves = (
            channels.response.half * self._moves(generator, times, sampling=sampling)[:, self.known]
        )
        spread = np.sqrt(np.mean(moves**2, axis=0))
        # A reading at a bound may not move at all.
        scale = np.maximum(spread, 1e-9 * channels.response.half)
        width = float(np.quantile(np.max(np.abs(moves) / scale, axis=1), share))
        reach = np.full(self.values.size, np.nan)
        reach[self.known] = width * scale
        low, high = float(channels.response.lower), float(channels.response.upper)
        return Band(
            (self._places,),
            self.values,
            np.maximum(self.values - reach, low),
            np.minimum(self.values + reach, high),
            width,
        )

    # -- how ----------------------------------------------------------------------------------

    @property
    def _basis(self) -> Basis:
        return self.table.channels.responses

    @property
    def _places(self) -> Array:
        domain = self.table.channels.domain
        return domain.start + np.minimum(self.table.places, float(domain.length))

    def _between(self, x: npt.ArrayLike, values: Array) -> Array:
        """Return values at points by straight lines between nodes, elementwise."""
        place = self._basis.domain.located(x) / self.table.step
        below = np.floor(place)
        cell, last = below.astype(np.int64), values.size
        part = place - below
        left, right = (
            values[(cell + k) % last if self.table.closed else np.minimum(cell + k, last - 1)]
            for k in (0, 1)
        )
        # Not 0 times NaN: a node is known if its neighbour is not.
        return np.where(part == 0, left, left + (right - left) * part)

    def _moves(self, generator: Generator, repetitions: int, *, sampling: bool) -> Array:
        """Return the errors of simulated fits, one row each."""
        table, sums = self.table, self.sums
        process = GaussianProcess.likeliest(table, sums)
        masses = deblurred(table, sums.counts)
        people = max(round(float(masses.sum())), 1)
        shares = masses / masses.sum()
        found = np.empty((repetitions, masses.size))
        if sampling:
            draws = process.draws(table, sums, generator, repetitions)
            # As many units as there are at least, the records of each at one place.
            r = table.unit_records
            units = max(round(people / r), 1)
            for row, (curve, residual) in zip(found, draws, strict=True):
                counts = r * generator.multinomial(units, shares).astype(np.float64)
                rest = np.sqrt(r * residual * counts)
                totals = counts * curve + rest * generator.standard_normal(masses.size)
                row[:] = self._simulated(counts, totals, generator) - curve
            return found
        totals = masses * process.values(table, sums)
        still = self.smoother.values(table, self._exact(masses, totals))
        for row in found:
            row[:] = self._simulated(masses, totals, generator) - still
        return found

    def _simulated(self, counts: Array, totals: Array, generator: Generator) -> Array:
        """Return the fit at the nodes to a simulated release of these counts and sums."""
        table = self.table
        exact = self._exact(counts, totals)
        noisy = [
            sums + self._noise(deviation, generator)
            for sums, deviation in zip(exact, table.deviations, strict=True)
        ]
        if not table.channels.counted:
            noisy[0][0] = exact.counts[0]
        return self.smoother.values(table, Sums(*noisy))

    def _exact(self, counts: Array, totals: Array) -> Sums:
        padded = np.zeros((2, self.table.size))
        padded[:, : counts.size] = counts, totals
        return Sums(*np.fft.rfft(padded)[:, : self.table.frequencies.size])

    def _noise(self, deviation: float, generator: Generator) -> ComplexArray:
        number = self.table.shares.size
        drawn = generator.standard_normal((2, number))
        drawn[1, 0] = 0.0
        return (drawn[0] - 1j * drawn[1]) * (deviation / self.table.shares)
