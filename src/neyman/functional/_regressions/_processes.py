"""Regression curves from released sums, as Gaussian processes plus polynomials."""

# scipy carries no types of its own.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple, Self, final

import numpy as np
import numpy.typing as npt

from neyman.errors import InvalidParameter
from neyman.functional._abstract import NoisyCount
from neyman.functional._generator import Generator
from neyman.functional._regressions._likelihoods import RESIDUALS, VARIANCES, Chances
from neyman.functional._regressions._model import Model, polynomial_variances, spectrum
from neyman.functional._regressions._roots import products, whitened
from neyman.functional._regressions._smoother import Smoother, Sums, Table, deblurred
from neyman.numerics import Array
from neyman.overriding import override

__all__ = ["GaussianProcess", "Process"]

_LEVEL: Final = 0.25
# Processes of a smaller chance than this are left out.
_LEAST_CHANCE: Final = 0.01
# A number of records nearby is more than its noise from so many standard deviations on.
_BEYOND: Final = 4.0
# Nearby is a quarter of the length-scale, but at least this share of the domain.
_NEARBY: Final = 1 / 32
# And a number nearby is small if, with twice its noise, it is below this share of an even one.
_SPARSE: Final = 0.05
_SHAPES: Final = {0: "a constant", 1: "a line", 3: "a cubic"}


class Process(NamedTuple):
    """A Gaussian process plus a polynomial, and the residuals of responses.

        m = polynomial + f,   f of covariance  variance exp(-(d / length_scale)^2 / 2)
        sums of responses = sum_i (m(x_i) + e_i) phi(x_i) + noise,   e_i of variance `residual`

    Without noise it is kernel ridge regression with r = residual / variance. All variances are in
    units of B^2, where B is half the distance of the bounds.

    Attributes:
        degree: the degree of the polynomial, 0, 1 or 3.
        length_scale: the length-scale of f, in the units of x.
        variance: the variance of f.
        residual: the variance of responses about the curve.
    """

    degree: int
    length_scale: float
    variance: float
    residual: float

    def guesses(self, table: Table, model: Model, data: Array) -> Array:
        """Return posterior means minus the center, given whitened sums; shape (number, nodes)."""
        from scipy.linalg import solve_triangular

        root, white = whitened(self._covariance(model), data)
        solved = np.asarray(solve_triangular(root, white.T, lower=True, trans=1)).T
        found = self.variance * model.correlated(model.powers(self.length_scale), solved)
        found += (solved @ model.totals)[:, None]
        bends = (solved @ model.bent[: self.degree].T) * polynomial_variances(self.degree)
        return found + bends @ table.polynomials[: self.degree]

    def read(self, table: Table, model: Model) -> tuple[Array, Array]:
        """Return the posterior mean minus the center, and the posterior variance."""
        both = np.concatenate([self._shared(table, model).T, model.data[None]])
        white = whitened(self._covariance(model), both)[1]
        known = np.einsum("ij,ij->i", white[:-1], white[:-1])
        bends = polynomial_variances(self.degree) @ table.polynomials[: self.degree] ** 2
        left = np.maximum(1.0 + self.variance + bends - known, 0.0)
        return white[:-1] @ white[-1], left

    def conditioned(
        self, table: Table, model: Model, masses: Array, generator: Generator, number: int
    ) -> Array:
        """Return draws of this process given the released sums, shape (number, nodes).

        Source: Journel and Huijbregts, *Mining geostatistics*, 1978 (conditioning by kriging).
        """
        nodes = table.places.size
        powers = spectrum(table, self.length_scale)
        size = 2 * powers.size - 2
        waves = np.fft.rfft(generator.standard_normal((number, size)))
        waves *= np.sqrt(self.variance * size * powers)
        curves = np.fft.irfft(waves, size)[:, :nodes] + generator.standard_normal((number, 1))
        bends = generator.standard_normal((number, self.degree))
        bends *= np.sqrt(polynomial_variances(self.degree))
        curves += bends @ table.polynomials[: self.degree]
        rest = generator.standard_normal((number, nodes))
        rest *= np.sqrt(self.residual * masses)
        data = (curves * masses + rest) @ model.waves(table).T
        data += generator.standard_normal((number, model.data.size))
        missed = self.guesses(table, model, model.data - data)
        return np.clip(model.center + curves + missed, -1.0, 1.0)

    def _covariance(self, model: Model) -> Array:
        """Return the covariance of the whitened sums."""
        weights = model.weights(model.powers(self.length_scale))
        total = model.fixed + self.residual * model.sampling + model.polynomial(self.degree)
        return total + self.variance * products(model.columns[:, : weights.size] * weights)

    def _shared(self, table: Table, model: Model) -> Array:
        """Return covariances of the whitened sums with the curve, shape (k, nodes)."""
        shared = self.variance * model.correlated(model.powers(self.length_scale))
        # The constant has variance 1.
        shared += model.totals[:, None]
        bends = model.bent[: self.degree].T * polynomial_variances(self.degree)
        return shared + bends @ table.polynomials[: self.degree]


@final
@dataclass(frozen=True, slots=True)
class GaussianProcess(Smoother):
    """The posterior mean of a curve from sums of known noise, over several Gaussian processes.

    The curve is a constant, a line or a cubic, plus a Gaussian process of some length-scale. The
    result is the mean over all of them, by their probabilities.

    Attributes:
        processes: one for each degree and length-scale that is not negligible.
        chances: the probabilities of these, with sum 1.
        level: mean square of the curve, the factor of the noise of the counts.
    """

    processes: tuple[Process, ...]
    chances: tuple[float, ...]
    level: float

    @classmethod
    def likeliest(cls, table: Table, sums: Sums) -> Self:
        """Return the processes with the largest posterior probability.

        Each degree and length-scale has the posterior means of both variances; if noise hides the
        residuals, the likeliest variance would be far too small. It runs twice, because the noise
        of the counts depends on the curve.
        """
        masses = deblurred(table, sums.counts)
        first = cls._given(table, sums, masses, _LEVEL)
        level = float(masses @ first.given(table, sums, masses) ** 2 / masses.sum())
        return cls._given(table, sums, masses, level)

    @classmethod
    def _given(cls, table: Table, sums: Sums, masses: Array, level: float) -> Self:
        degrees, scales, chances = Chances.of(table, sums, masses, level)
        total = chances.sum(axis=(2, 3))
        kept = total >= min(_LEAST_CHANCE, float(total.max()))
        processes: list[Process] = []
        for degree, length in zip(*np.nonzero(kept), strict=True):
            given = chances[degree, length] / total[degree, length]
            variance = float(given.sum(axis=1) @ VARIANCES)
            residual = float(given.sum(axis=0) @ RESIDUALS)
            found = Process(degrees[int(degree)], float(scales[length]), variance, residual)
            processes.append(found)
        shares = total[kept] / total[kept].sum()
        return cls(tuple(processes), tuple(shares.tolist()), level)

    @property
    def likely(self) -> Process:
        """The most probable process."""
        return self.processes[int(np.argmax(self.chances))]

    @property
    @override
    def window(self) -> float:
        return self.likely.length_scale / 2

    @property
    @override
    def words(self) -> str:
        degree, length_scale = self.likely[:2]
        return (
            f"a Gaussian process about {_SHAPES[degree]}, length-scale {length_scale:.3g} from the "
            "release"
        )

    @override
    def known(self, table: Table, sums: Sums) -> npt.NDArray[np.bool_]:
        """Return where the curve is known: everywhere except where the release shows nobody.

        There, the number of records within a quarter of the length-scale, or a 32nd of the domain,
        is below four standard deviations of its noise, and this number plus two standard deviations
        is below a 20th of a uniform one.

        Raises:
            InvalidParameter: if the number of all records may be noise.
        """
        stddev = float(table.deviations[0] / table.shares[0])
        total = NoisyCount(float(sums.counts[0].real), stddev)
        if table.channels.counted and not total.exceeds_noise:
            raise InvalidParameter(
                f"the released number of records is {total.count:.6g}, and the standard deviation "
                f"of its noise is {stddev:.3g}. It may be 0, so there is no curve; spend more"
            )
        masses = deblurred(table, sums.counts)
        reach = int(max(self.window / 2, table.places[-1] * _NEARBY) / table.step)
        number = _moving(table, masses, reach)
        even = _moving(table, table.weights * masses.sum() / table.weights.sum(), reach)
        h, most = float(table.channels.bandwidth), float(table.channels.domain.largest_bandwidth)
        wide = min(max(self.window, h), most)
        spread = table.deviations[0] * float(table.sd(table.rows(wide)).max()) * reach * table.step
        occupied = (number >= _BEYOND * spread) & table.has_records(sums, wide)
        return occupied | (number + 2 * spread >= _SPARSE * even)

    @override
    def values(self, table: Table, sums: Sums) -> Array:
        return self.given(table, sums, deblurred(table, sums.counts))

    @override
    def read(self, table: Table, sums: Sums) -> tuple[Array, Array]:
        """Return the curve and its posterior standard deviation: noise, sampling and smoothing."""
        model = self._model(table, sums, deblurred(table, sums.counts))
        read = [process.read(table, model) for process in self.processes]
        guesses, left = (np.array(part) for part in zip(*read, strict=True))
        mean = self.chances @ guesses
        left += (guesses - mean) ** 2
        return np.clip(model.center + mean, -1.0, 1.0), np.sqrt(self.chances @ left)

    def draws(
        self, table: Table, sums: Sums, generator: Generator, number: int
    ) -> Iterator[tuple[Array, float]]:
        """Yield draws of the curve given the released sums, each with its residual variance.

        First degree, length-scale and variances are drawn by their likelihood. Then a curve of the
        process and its sums are drawn. The error of the fit to these sums is added to the fit to
        the released sums.
        """
        masses = deblurred(table, sums.counts)
        degrees, scales, chances = Chances.of(table, sums, masses, self.level)
        drawn = generator.multinomial(number, chances.ravel()).reshape(chances.shape)
        model = Model.of(table, sums, masses, self.level, float(scales.min()))
        for degree, length, variance, residual in zip(*np.nonzero(drawn), strict=True):
            process = Process(
                degrees[int(degree)],
                float(scales[length]),
                float(VARIANCES[variance]),
                float(RESIDUALS[residual]),
            )
            times = int(drawn[degree, length, variance, residual])
            for curve in process.conditioned(table, model, masses, generator, times):
                yield curve, process.residual

    def given(self, table: Table, sums: Sums, masses: Array) -> Array:
        """Return the curve within the bounds, given the places of records."""
        model = self._model(table, sums, masses)
        guesses = [p.guesses(table, model, model.data[None])[0] for p in self.processes]
        return np.clip(model.center + self.chances @ np.array(guesses), -1.0, 1.0)

    def _model(self, table: Table, sums: Sums, masses: Array) -> Model:
        shortest = min(process.length_scale for process in self.processes)
        return Model.of(table, sums, masses, self.level, shortest)


def _moving(table: Table, masses: Array, reach: int) -> Array:
    """Return the number of records within `reach` nodes of each node."""
    circle = np.zeros(table.size)
    circle[: masses.size] = masses
    below = np.concatenate([[0.0], np.cumsum(np.tile(circle, 3))])
    at = table.size + np.arange(masses.size)
    return below[at + reach + 1] - below[at - reach]
