"""Whitened sums of responses, and the contribution of a smooth curve to them."""

import math
from typing import Final, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from neyman.functional._regressions._smoother import Sums, Table
from neyman.numerics import Array, ComplexArray

__all__ = ["DEGREES", "Model", "polynomial_variances", "spectrum"]

# Waves whose signal can be no more than this share of their noise are not looked at.
_USELESS: Final = 0.05
# Nor are waves faster than this over the bandwidth, for there the density is blurred away.
_FASTEST: Final = 2.0
# Noise is taken to be at least this share of the records: else nothing is positive definite.
_LEAST_NOISE: Final = 1e-6
# So many variances of noise may masses miss by chance.
_BY_CHANCE: Final = 8.0
_LEAST_SHARE: Final = 0.1
# Waves of the kernel end here over its length-scale: the powers beyond are below 1e-17.
_END: Final = 8.9
# Degrees of the polynomial that a curve is about; on a circle a constant alone.
DEGREES: Final = (0, 1, 3)
# Of the coefficients of Legendre's polynomials of degree 1, 2, 3: lines run from bound to bound.
_VARIANCES: Final = np.array([1 / 3, 0.1, 0.1])


class Model(NamedTuple):
    """Whitened sums of responses, with noise of variance 1, and the contributions of waves.

    The waves of a curve are those of the kernel's circle. Unless the domain is a circle, it is
    twice as long as that of the sums. So products of waves are entries of one transform of the
    records.

    Attributes:
        data: the sums of responses minus `center`, shape (k,).
        scale: the factors of the sums, shape (k,).
        moved: the contribution of exp(-i u x) of the kernel's circle, for its first u; shape (k,
            waves).
        bent: the contribution of Legendre's polynomials of degree 1, 2, 3, shape (3, k); none on a
            circle.
        sampling: covariance of the sums for residuals of variance 1.
        center: the mean response, in units of B.
        circle: the number of nodes on the kernel's circle.
        nodes: the number of those that are in the table.
        step: the distance between the u.
    """

    data: Array
    scale: Array
    moved: ComplexArray
    bent: Array
    sampling: Array
    center: float
    circle: int
    nodes: int
    step: float

    @classmethod
    def of(cls, table: Table, sums: Sums, masses: Array, level: float, shortest: float) -> Self:
        """Return the whitened sums minus their mean, for length-scales of at least `shortest`.

        The noise of the counts adds to the variance, times the level. The misfit between masses and
        counts, beyond noise, also counts as noise: waves that do not show where records are do not
        show the curve.
        """
        h = float(table.channels.bandwidth)
        center = float(np.clip(sums.responses[0].real / sums.counts[0].real, -1.0, 1.0))
        noise = _noise(table, sums, masses, level, center)
        heard = (float(masses.sum()) >= _USELESS * noise) & (table.frequencies <= _FASTEST / h)
        used = max(int(np.max(np.flatnonzero(heard), initial=1)) + 1, 2)
        scale = 1 / np.concatenate([noise[:used], noise[1:used]])
        turns = 1 if table.closed else 2
        circle = turns * table.size
        step = 2 * math.pi / (turns * table.period)
        waves = min(math.ceil(_END / (shortest * step)) + 1, circle // 2 + 1)
        moved = _products(np.fft.fft(masses, circle), turns * np.arange(used), np.arange(waves))
        own = turns * np.arange(used)
        both = _products(np.fft.fft(masses, circle), own, own)
        sampling = np.concatenate([both.real, -both.imag[:, 1:]], axis=1)
        sampling *= scale[:, None]
        sampling *= scale
        bent = [table.waves_of(masses * bend)[:used] for bend in table.polynomials]
        data = table.parts(sums.responses[:used] - center * sums.counts[:used])
        return cls(
            data * scale,
            scale,
            moved * scale[:, None],
            np.array([table.parts(one) * scale for one in bent]).reshape(-1, scale.size),
            sampling,
            center,
            circle,
            table.places.size,
            step,
        )

    @property
    def totals(self) -> Array:
        """The contribution of a response of 1 everywhere, shape (k,)."""
        return self.moved[:, 0].real

    def polynomial(self, degree: int) -> Array:
        """Return the covariance from the terms of a polynomial above its constant."""
        bent = self.bent[:degree]
        return (bent.T * polynomial_variances(degree)) @ bent

    @property
    def fixed(self) -> Array:
        """Covariance of the noise and of the constant, whose variance is 1."""
        fixed = np.outer(self.totals, self.totals)
        fixed[np.diag_indices_from(fixed)] += 1.0
        return fixed

    def powers(self, length_scale: float) -> Array:
        """Return the powers of the kernel that are not negligible, for one sign of each wave."""
        count = min(math.ceil(_END / (length_scale * self.step)) + 1, self.circle // 2 + 1)
        return _powers(self.circle, self.step, length_scale)[:count]

    @property
    def columns(self) -> Array:
        """The contributions of the real and imaginary part of each wave, shape (k, 2 waves)."""
        return np.ascontiguousarray(self.moved).view(np.float64)

    def weights(self, powers: Array) -> Array:
        """Return the factors of the columns with which F F' is the covariance of curves."""
        twice = np.full(powers.size, 2.0)
        twice[0] = 1.0
        if powers.size == self.circle // 2 + 1:
            twice[-1] = 1.0
        return np.repeat(np.sqrt(twice * powers), 2)

    def correlated(self, powers: Array, shares: Array | None = None) -> Array:
        """Return covariances of the sums with a curve, shape (k, nodes), or with shares of it."""
        moved = self.moved[:, : powers.size]
        waves = (moved if shares is None else shares @ moved) * (powers * self.circle)
        return np.fft.irfft(waves, self.circle)[..., : self.nodes]

    def waves(self, table: Table) -> Array:
        """Return the contribution of a response at each node, shape (k, nodes)."""
        used = (self.data.size + 1) // 2
        angles = np.multiply.outer(table.frequencies[:used], table.places)
        return np.concatenate([np.cos(angles), np.sin(angles[1:])]) * self.scale[:, None]


def polynomial_variances(degree: int) -> Array:
    """Return the prior variances of Legendre coefficients from degree 1 to this degree."""
    return _VARIANCES[:degree]


def spectrum(table: Table, length_scale: float) -> Array:
    """Return the powers of the kernel on a circle, twice as long unless the domain is one."""
    turns = 1 if table.closed else 2
    return _powers(turns * table.size, 2 * math.pi / (turns * table.period), length_scale)


def _powers(circle: int, step: float, length_scale: float) -> Array:
    waves = step * np.arange(circle // 2 + 1)
    with np.errstate(under="ignore"):
        powers = np.exp(-0.5 * (length_scale * waves) ** 2)
    return powers / (2 * powers.sum() - powers[0] - powers[-1])


def _noise(table: Table, sums: Sums, masses: Array, level: float, center: float) -> Array:
    """Return the standard deviation of the noise in each sum, shape (J + 1,)."""
    first, second = table.deviations
    missed = np.abs(table.waves_of(masses) - sums.counts) ** 2
    missed = np.maximum(missed - _BY_CHANCE * (first / table.shares) ** 2, 0.0)
    variance = (second**2 + level * first**2) / table.shares**2
    variance += max(level - center**2, _LEAST_SHARE * level) * missed
    least = _LEAST_NOISE * float(masses.sum()) / table.shares
    return np.sqrt(np.maximum(variance, least**2))


def _products(
    transform: ComplexArray, own: npt.NDArray[np.int64], others: npt.NDArray[np.int64]
) -> ComplexArray:
    """Return sums of masses cos(w x) exp(-i u x), then with sin(w x), from those of exp(-i w x).

    2 cos(w x) exp(-i u x) = exp(-i (u - w) x) + exp(-i (u + w) x), and likewise the sine.
    """
    below = transform[(others - own[:, None]) % transform.size]
    above = transform[(others + own[:, None]) % transform.size]
    return np.concatenate([(below + above) / 2, (below[1:] - above[1:]) / 2j])
