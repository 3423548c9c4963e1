"""A Gaussian process fitted to released sums, whose noise is known."""

# scipy carries no types of its own.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple, Self, final

import numpy as np
import numpy.typing as npt

from neyman.functional._generator import Generator
from neyman.functional._regressions._deblurred import deblurred
from neyman.functional._regressions._smoother import Smoother, Sums, Table
from neyman.numerics import Array

__all__ = ["GaussianProcess"]

# Waves whose signal can be no more than this share of their noise are not looked at.
_USELESS: Final = 0.05
# Nor are waves faster than this over the bandwidth, for there the density is blurred away.
_FASTEST: Final = 2.0
_VARIANCES: Final = np.array([0.01, 0.03, 0.1, 0.3, 1.0])
_RESIDUALS: Final = np.array([0.003, 0.01, 0.03, 0.1, 0.3, 1.0])
_LEVEL: Final = 0.25
# Noise is taken to be at least this share of the records: else nothing is positive definite.
_LEAST_NOISE: Final = 1e-6
# So many variances of noise may masses miss by chance.
_BY_CHANCE: Final = 8.0
_LEAST_SHARE: Final = 0.1
# What the release may leave open of a curve that is shown, in units of B.
_MOST_LEFT: Final = 0.125
_BEYOND: Final = 4.0


class _Model(NamedTuple):
    """Whitened sums of responses: noise of variance 1, and what nodes add to them.

    data: shape (k,), of responses less `center` each; waves: of a response at each node, shape
    (k, nodes); loads: the same times the records there.
    """

    data: Array
    waves: Array
    loads: Array
    center: float

    @property
    def sampling(self) -> Array:
        """Covariance of the sums for residuals of variance 1."""
        return self.loads @ self.waves.T


class _Fit(NamedTuple):
    values: Array
    gain: Array
    shared: Array
    model: _Model


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
        level = float(masses @ first.values(table, sums) ** 2 / masses.sum())
        return cls._given(table, sums, masses, level)

    @classmethod
    def _given(cls, table: Table, sums: Sums, masses: Array, level: float) -> Self:
        scales, chances = _chances(table, sums, masses, level)
        best = int(np.argmax(chances.sum(axis=(1, 2))))
        given = chances[best] / chances[best].sum()
        variance = float(given.sum(axis=1) @ _VARIANCES)
        residual = float(given.sum(axis=0) @ _RESIDUALS)
        return cls(float(scales[best]), variance, residual, level)

    @property
    def window(self) -> float:
        """Half the length-scale."""
        return self.length_scale / 2

    @property
    def words(self) -> str:
        """The length-scale, chosen by likelihood."""
        return f"a Gaussian process, length-scale {self.length_scale:.3g} from the release"

    def values(self, table: Table, sums: Sums) -> Array:
        """Return the curve, within the bounds."""
        return np.clip(self._fit(table, sums, deblurred(table, sums.counts)).values, -1.0, 1.0)

    def read(self, table: Table, sums: Sums) -> tuple[Array, Array]:
        """Return the curve and its deviation given the release: noise, drawing and smoothing.

        The curve is NaN where no records are within a quarter of the length-scale, or where this
        is above an eighth of B: a sixteenth of the distance of the bounds.
        """
        masses = deblurred(table, sums.counts)
        values, gain, shared, _ = self._fit(table, sums, masses)
        known = np.einsum("ij,ji->i", gain, shared)
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
        scales, chances = _chances(table, sums, deblurred(table, sums.counts), self.level)
        drawn = generator.multinomial(number, chances.ravel()).reshape(chances.shape)
        for length, variance, residual in zip(*np.nonzero(drawn), strict=True):
            process = GaussianProcess(
                float(scales[length]),
                float(_VARIANCES[variance]),
                float(_RESIDUALS[residual]),
                self.level,
            )
            for curve in process.conditioned(
                table, sums, generator, int(drawn[length, variance, residual])
            ):
                yield curve, process.residual

    def conditioned(self, table: Table, sums: Sums, generator: Generator, number: int) -> Array:
        """Return curves of this process, given the released sums; shape (number, nodes)."""
        masses = deblurred(table, sums.counts)
        values, gain, _, model = self._fit(table, sums, masses)
        nodes = table.places.size
        root = _root(table, self.length_scale) * math.sqrt(self.variance)
        size = 2 * root.size - 2
        waves = np.fft.rfft(generator.standard_normal((number, size))) * root
        curves = np.fft.irfft(waves, size)[:, :nodes] + generator.standard_normal((number, 1))
        rest = generator.standard_normal((number, nodes))
        rest *= np.sqrt(self.residual * masses)
        data = curves @ model.loads.T + rest @ model.waves.T
        data += generator.standard_normal((number, model.data.size))
        return np.clip(values + curves - data @ gain.T, -1.0, 1.0)

    def _fit(self, table: Table, sums: Sums, masses: Array) -> _Fit:
        from scipy.linalg import cho_factor, cho_solve

        model = _modelled(table, sums, masses, self.level)
        # The constant has variance 1.
        shared = self.variance * _correlated(table, model.loads, self.length_scale)
        shared += model.loads.sum(axis=1)[:, None]
        total = shared @ model.loads.T + self.residual * model.sampling
        total[np.diag_indices_from(total)] += 1.0
        gain = np.asarray(cho_solve(cho_factor(total, lower=True), shared)).T
        return _Fit(model.center + gain @ model.data, gain, shared, model)


def _modelled(table: Table, sums: Sums, masses: Array, level: float) -> _Model:
    """Whiten the sums of responses, less their mean; noise of the counts adds the level times its.

    What the masses miss of the counts, beyond noise, is noise of the rest of the level, too: waves
    that say nothing sure of where records are say nothing of the curve.
    """
    first, second = table.deviations
    people = float(masses.sum())
    h = float(table.channels.bandwidth)
    center = float(np.clip(sums.responses[0].real / sums.counts[0].real, -1.0, 1.0))
    missed = np.abs(table.waves_of(masses) - sums.counts) ** 2
    missed = np.maximum(missed - _BY_CHANCE * (first / table.shares) ** 2, 0.0)
    variance = (second**2 + level * first**2) / table.shares**2
    variance += max(level - center**2, _LEAST_SHARE * level) * missed
    scale = 1 / np.sqrt(np.maximum(variance, (_LEAST_NOISE * people / table.shares) ** 2))
    heard = (scale * people >= _USELESS) & (table.frequencies <= _FASTEST / h)
    used = max(int(np.max(np.flatnonzero(heard), initial=1)) + 1, 2)
    frequencies, scale = table.frequencies[:used], scale[:used]
    angles = np.multiply.outer(frequencies, table.places)
    both = np.concatenate([scale, scale[1:]])
    waves = np.concatenate([np.cos(angles), np.sin(angles[1:])]) * both[:, None]
    data = table.parts(sums.responses[:used] - center * sums.counts[:used])
    return _Model(data * both, waves, waves * masses, center)


def _chances(table: Table, sums: Sums, masses: Array, level: float) -> tuple[Array, Array]:
    """Return length-scales, and the chances of each with each pair of variances, of sum 1.

        log p = -(z' V^-1 z + log det V) / 2,   z the whitened sums, V their covariance

    Length-scales are 1.5 h 2^(k/2), up to two thirds of an interval or a quarter of a circle; all
    of the grid are alike before.
    """
    model = _modelled(table, sums, masses, level)
    largest = table.period / (4 if table.closed else 3)
    least = min(1.5 * float(table.channels.bandwidth), largest)
    scales = least * 2 ** (np.arange(math.floor(2 * math.log2(largest / least)) + 1) / 2)
    total = model.loads.sum(axis=1)
    fixed = np.outer(total, total)
    fixed[np.diag_indices_from(fixed)] += 1.0
    sampling = model.sampling
    found = np.empty((scales.size, _VARIANCES.size, _RESIDUALS.size))
    for i, scale in enumerate(scales):
        signal = _correlated(table, model.loads, float(scale)) @ model.loads.T
        for j, variance in enumerate(_VARIANCES):
            for k, residual in enumerate(_RESIDUALS):
                covariance = fixed + variance * signal + residual * sampling
                found[i, j, k] = _log_likelihood(covariance, model.data)
    chances = np.exp(found - found.max())
    return scales, chances / chances.sum()


def _log_likelihood(covariance: Array, data: Array) -> float:
    """Return log p but for a constant."""
    from scipy.linalg import solve_triangular

    root = np.linalg.cholesky(covariance)
    white = solve_triangular(root, data, lower=True)
    return float(-0.5 * (white @ white) - np.log(np.diag(root)).sum())


def _spectrum(table: Table, length_scale: float) -> Array:
    """Return the powers of the kernel on a circle, twice as long where the domain is none."""
    turns = 1 if table.closed else 2
    count = turns * table.size // 2 + 1
    waves = 2 * math.pi / (turns * table.period) * np.arange(count)
    with np.errstate(under="ignore"):
        powers = np.exp(-0.5 * (length_scale * waves) ** 2)
    return powers / (2 * powers.sum() - powers[0] - powers[-1])


def _correlated(table: Table, rows: Array, length_scale: float) -> Array:
    """Return rows times the matrix of the kernel between nodes, 1 on the diagonal."""
    powers = _spectrum(table, length_scale)
    size = 2 * powers.size - 2
    return np.fft.irfft(np.fft.rfft(rows, size) * (powers * size), size)[:, : table.places.size]


def _root(table: Table, length_scale: float) -> Array:
    """Return what the transform of white noise is multiplied by."""
    powers = _spectrum(table, length_scale)
    return np.sqrt(powers * (2 * powers.size - 2))
