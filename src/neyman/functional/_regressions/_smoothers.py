"""Curves read from released sums: Nadaraya and Watson, kernel ridge, Gaussian processes."""

# scipy carries no types of its own.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Self, final

import numpy as np
import numpy.typing as npt

from neyman.functional._generator import Generator
from neyman.functional._regressions._model import RESIDUALS, VARIANCES, Model, chances_of, spectrum
from neyman.functional._regressions._roots import products, whitened
from neyman.functional._regressions._smoother import Smoother, Sums, Table, deblurred, deviation_of
from neyman.numerics import Array
from neyman.overriding import override

__all__ = ["GaussianProcess", "NadarayaWatson", "Ridge"]

# Waves of a kernel below this, relatively, are left out.
_SMALLEST: Final = 1e-10
_LEVEL: Final = 0.25
# What the release may leave open of a curve that is shown, in units of B.
_MOST_LEFT: Final = 0.125
_BEYOND: Final = 4.0


@final
@dataclass(frozen=True, slots=True)
class NadarayaWatson(Smoother):
    """A mean of the responses nearby: sum_i K_h(x - x_i) y_i / sum_i K_h(x - x_i)."""

    bandwidth: float

    @property
    @override
    def window(self) -> float:
        return self.bandwidth

    @property
    @override
    def words(self) -> str:
        return f"Nadaraya and Watson, bandwidth {self.bandwidth:.3g}"

    @override
    def values(self, table: Table, sums: Sums) -> Array:
        found = table.values(sums.responses, self.bandwidth) / self._below(table, sums)
        return np.clip(found, -1.0, 1.0)

    @override
    def read(self, table: Table, sums: Sums) -> tuple[Array, Array]:
        values = self.values(table, sums)
        spread = table.sd(table.rows(self.bandwidth)) / self._below(table, sums)
        return values, deviation_of(table, values, spread)

    def _below(self, table: Table, sums: Sums) -> Array:
        density = table.values(sums.counts, self.bandwidth)
        # Where there is less than this, nothing is told.
        least = 1e-3 * table.deviations[0] * float(table.sd(table.rows(self.bandwidth)).max())
        return np.maximum(density, least)


@final
@dataclass(frozen=True, slots=True)
class Ridge(Smoother):
    """Kernel ridge regression: argmin sum_i (y_i - c - f(x_i))^2 + r ||f||_H^2, k(0) = 1.

    With f = sum_j u_j psi_j, psi_j = sqrt(s_j) times a cosine or sine, s_j the spectrum of k, and
    the records where the released density, nowhere negative, has them,

        (A + r) u = b,   A_jk = sum_g n_g psi_j(g) psi_k(g),   b_j = sum_g t_g psi_j(g)

    A is the Gram matrix of the waves, Toeplitz in the coefficients of the density, and positive
    semidefinite however it is rounded, for it is formed as Psi' diag(n) Psi.
    """

    bandwidth: float
    regularization: float

    @property
    @override
    def window(self) -> float:
        return self.bandwidth / 2

    @property
    @override
    def words(self) -> str:
        return f"kernel ridge, bandwidth {self.bandwidth:.3g}, r = {self.regularization:.3g}"

    @override
    def values(self, table: Table, sums: Sums) -> Array:
        waves = self._waves(table)
        h = float(table.channels.bandwidth)
        totals = table.values(sums.responses, h) * table.step * table.weights
        found = self._solved(table, sums, waves, (waves.T @ totals)[:, None])[:, 0]
        return np.clip(waves @ found, -1.0, 1.0)

    @override
    def read(self, table: Table, sums: Sums) -> tuple[Array, Array]:
        values = self.values(table, sums)
        waves = self._waves(table)
        rows = table.rows(float(table.channels.bandwidth))
        rows *= (table.step * table.weights)[:, None]
        spread = table.sd(waves @ self._solved(table, sums, waves, waves.T @ rows))
        return values, deviation_of(table, values, spread)

    def _solved(self, table: Table, sums: Sums, waves: Array, right: Array) -> Array:
        from scipy.linalg import cho_factor, cho_solve

        gram = waves.T @ (table.masses(sums.counts)[:, None] * waves)
        gram[np.diag_indices_from(gram)] += self.regularization
        return np.asarray(cho_solve(cho_factor(gram, lower=True), right))

    def _waves(self, table: Table) -> Array:
        """Return psi at the nodes, shape (nodes, 2 J' + 1), with sum_j psi_j^2 = 1 everywhere."""
        reach = math.sqrt(-2 * math.log(_SMALLEST)) / (2 * math.pi)
        highest = min(math.ceil(reach * table.period / self.bandwidth), table.size // 4)
        frequencies = 2 * math.pi / table.period * np.arange(highest + 1)
        squares = 2 * np.exp(-0.5 * (self.bandwidth * frequencies) ** 2)
        squares[0] = 1.0
        scale = np.sqrt(squares / squares.sum())
        angles = np.multiply.outer(table.places, frequencies)
        return np.concatenate([np.cos(angles) * scale, np.sin(angles[:, 1:]) * scale[1:]], axis=1)


@final
@dataclass(frozen=True, slots=True)
class GaussianProcess(Smoother):
    """The best linear guess of a curve that is a Gaussian process, from sums of known noise.

        m = constant + f,   f of covariance  variance exp(-(d / length_scale)^2 / 2)
        sums of responses = sum_i (m(x_i) + e_i) phi(x_i) + noise,   e_i of variance `residual`

    Without noise it is kernel ridge regression with r = residual / variance. All variances in
    units of B^2, B half the distance of the bounds.

    Attributes:
        length_scale: of the curve.
        variance: of the curve.
        residual: of responses about it.
        level: mean square of the curve, which the noise of the counts is multiplied by.
    """

    length_scale: float
    variance: float
    residual: float
    level: float

    @classmethod
    def likeliest(cls, table: Table, sums: Sums) -> Self:
        """Return the process that the released sums make most likely.

        The length-scale of the largest marginal likelihood, and the means of both variances given
        it: where noise hides the residuals, their likeliest variance would be far too small. Twice,
        for the noise of the counts is known when the curve is.
        """
        masses = deblurred(table, sums.counts)
        first = cls._given(table, sums, masses, _LEVEL)
        level = float(masses @ first.given(table, sums, masses) ** 2 / masses.sum())
        return cls._given(table, sums, masses, level)

    @classmethod
    def _given(cls, table: Table, sums: Sums, masses: Array, level: float) -> Self:
        scales, chances = chances_of(table, sums, masses, level)
        best = int(np.argmax(chances.sum(axis=(1, 2))))
        given = chances[best] / chances[best].sum()
        variance = float(given.sum(axis=1) @ VARIANCES)
        residual = float(given.sum(axis=0) @ RESIDUALS)
        return cls(float(scales[best]), variance, residual, level)

    @property
    @override
    def window(self) -> float:
        return self.length_scale / 2

    @property
    @override
    def words(self) -> str:
        return f"a Gaussian process, length-scale {self.length_scale:.3g} from the release"

    @override
    def values(self, table: Table, sums: Sums) -> Array:
        return self.given(table, sums, deblurred(table, sums.counts))

    def read(self, table: Table, sums: Sums) -> tuple[Array, Array]:
        """Return the curve and its deviation given the release: noise, drawing and smoothing.

        The curve is NaN where no records are within a quarter of the length-scale, or where this
        is above an eighth of B: a sixteenth of the distance of the bounds.
        """
        masses = deblurred(table, sums.counts)
        model = self._model(table, sums, masses)
        both = np.concatenate([self._shared(model).T, model.data[None]])
        white = whitened(self._covariance(model), both)[1]
        values = model.center + white[:-1] @ white[-1]
        known = np.einsum("ij,ij->i", white[:-1], white[:-1])
        left = np.sqrt(np.maximum(1.0 + self.variance - known, 0.0))
        told = self._near(table, masses) & (left <= _MOST_LEFT)
        return np.where(told, np.clip(values, -1.0, 1.0), np.nan), left

    def _near(self, table: Table, masses: Array) -> npt.NDArray[np.bool_]:
        """Return where more records are within half the window than noise makes of none.

        The tails of a smooth window reach far beyond the last of many records.
        """
        reach = max(int(self.window / 2 / table.step), 1)
        circle = np.zeros(table.size)
        circle[: masses.size] = masses
        below = np.concatenate([[0.0], np.cumsum(np.tile(circle, 3))])
        at = table.size + np.arange(masses.size)
        number = below[at + reach + 1] - below[at - reach]
        most = float(table.channels.domain.largest_bandwidth)
        wide = min(max(self.window, float(table.channels.bandwidth)), most)
        noise = table.deviations[0] * float(table.sd(table.rows(wide)).max())
        return number >= _BEYOND * noise * reach * table.step

    def draws(
        self, table: Table, sums: Sums, generator: Generator, number: int
    ) -> Iterator[tuple[Array, float]]:
        """Yield curves drawn given the released sums, each with its variance of residuals.

        Length-scale and variances are drawn by their likelihood first. Then a curve of the process
        and sums of it are drawn, and what the fit to these sums misses of that curve is added to
        the fit to the released ones.

        Source: Journel and Huijbregts, *Mining geostatistics*, 1978 (conditioning by kriging).
        """
        masses = deblurred(table, sums.counts)
        scales, chances = chances_of(table, sums, masses, self.level)
        drawn = generator.multinomial(number, chances.ravel()).reshape(chances.shape)
        for length, variance, residual in zip(*np.nonzero(drawn), strict=True):
            process = GaussianProcess(
                float(scales[length]),
                float(VARIANCES[variance]),
                float(RESIDUALS[residual]),
                self.level,
            )
            number = int(drawn[length, variance, residual])
            for curve in process.conditioned(table, sums, masses, generator, number):
                yield curve, process.residual

    def conditioned(
        self, table: Table, sums: Sums, masses: Array, generator: Generator, number: int
    ) -> Array:
        """Return curves of this process, given the released sums; shape (number, nodes)."""
        model = self._model(table, sums, masses)
        nodes = table.places.size
        powers = spectrum(table, self.length_scale)
        size = 2 * powers.size - 2
        waves = np.fft.rfft(generator.standard_normal((number, size)))
        waves *= np.sqrt(self.variance * size * powers)
        curves = np.fft.irfft(waves, size)[:, :nodes] + generator.standard_normal((number, 1))
        rest = generator.standard_normal((number, nodes))
        rest *= np.sqrt(self.residual * masses)
        data = (curves * masses + rest) @ model.waves(table).T
        data += generator.standard_normal((number, model.data.size))
        missed = self._guesses(model, model.data - data)
        return np.clip(model.center + curves + missed, -1.0, 1.0)

    def given(self, table: Table, sums: Sums, masses: Array) -> Array:
        """Return the curve within the bounds, given where records are."""
        model = self._model(table, sums, masses)
        guess = self._guesses(model, model.data[None])[0]
        return np.clip(model.center + guess, -1.0, 1.0)

    def _guesses(self, model: Model, data: Array) -> Array:
        """Return the best guesses, less the center, given whitened sums; shape (number, nodes)."""
        from scipy.linalg import solve_triangular

        root, white = whitened(self._covariance(model), data)
        solved = np.asarray(solve_triangular(root, white.T, lower=True, trans=1)).T
        bent = model.correlated(model.powers(self.length_scale), solved)
        return self.variance * bent + (solved @ model.totals)[:, None]

    def _model(self, table: Table, sums: Sums, masses: Array) -> Model:
        return Model.of(table, sums, masses, self.level, self.length_scale)

    def _covariance(self, model: Model) -> Array:
        """Return the covariance of the whitened sums."""
        weights = model.weights(model.powers(self.length_scale))
        total = model.fixed + self.residual * model.sampling
        return total + self.variance * products(model.columns[:, : weights.size] * weights)

    def _shared(self, model: Model) -> Array:
        """Return covariances of the whitened sums with the curve, shape (k, nodes)."""
        shared = self.variance * model.correlated(model.powers(self.length_scale))
        # The constant has variance 1.
        shared += model.totals[:, None]
        return shared
