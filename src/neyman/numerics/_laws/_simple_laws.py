"""Laws of a loss with a closed form, or with finitely many values."""

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from neyman.numerics._bracket import Array
from neyman.numerics._complex import ComplexArray, Numbers
from neyman.numerics._disc import Disc, decimal
from neyman.numerics._laws._loss_law import ClosedLaw, RealCumulant
from neyman.numerics._laws._split import Split
from neyman.numerics._laws._weighted import WeightedLosses
from neyman.overriding import override

__all__ = ["AtomicLaw", "NormalLaw"]

# The relative error of the weights and of r of atoms.
_GIVEN = 2.0**-46


@final
@dataclass(frozen=True, slots=True)
class NormalLaw(ClosedLaw):
    """L is N(-m/2, m) under P, m = mu^2: K(s) = m s (s - 1) / 2, and |phi(u)| = e^(-m u^2/2).

    The double means the decimal that it prints as.
    """

    mu_squared: float

    @property
    @override
    def wide(self) -> bool:
        return True

    @property
    @override
    def range(self) -> tuple[float, float]:
        return -math.inf, math.inf

    @override
    def real(self, c: Array) -> RealCumulant:
        m, (value, error) = self.mu_squared, self._cumulant(c)
        return RealCumulant(value, error, m * (c - 0.5), np.full(c.shape, m))

    @override
    def sketch(self, c: Array) -> RealCumulant:
        m = self.mu_squared
        value = m * c * (c - 1) / 2
        return RealCumulant(value, np.zeros(c.shape), m * (c - 0.5), np.full(c.shape, m))

    @override
    def line(self, c: float, u: Array) -> Disc:
        return self._cumulant(np.asarray(c + 1j * u, np.complex128))

    def _cumulant(self, s: Numbers) -> Disc:
        return (Disc.exactly(s) - 1) * (s / 2) * decimal(self.mu_squared)

    @override
    def at(self, s: ComplexArray) -> ComplexArray:
        return self.mu_squared * s * (s - 1) / 2

    @override
    def decay(self, c: float, u: Array, count: float) -> Array:  # noqa: ARG002
        return -self._damped(u)

    def _damped(self, u: Array) -> Array:
        """Return at most m u^2/2, for u > 0."""
        least = float(decimal(self.mu_squared).lower) / 2
        return np.nextafter(np.nextafter(u * u, 0.0) * least, 0.0)

    @override
    def decay_integral(self, c: float, u: Array, count: float) -> Array:  # noqa: ARG002
        x = Disc.exactly(np.maximum(self._damped(u), 1e-300))
        return (((1 / x).log1p() * 0.5).log() - x).upper


@final
@dataclass(frozen=True, slots=True)
class AtomicLaw(ClosedLaw):
    """Finitely many values, with no mass of Q where P has none nor the reverse."""

    points: WeightedLosses

    @property
    @override
    def range(self) -> tuple[float, float]:
        low, high = float(np.min(self.points.loss)), float(np.max(self.points.loss))
        return math.nextafter(low, -math.inf), math.nextafter(high, math.inf)

    def _wrong(self, c: Array) -> Array:
        """Bound the error of e^K over |s (s - 1)| from that of each r and each weight."""
        points, above, below = self.points, np.maximum(c - 2, 0.0), np.minimum(c - 2, 0.0)
        rise, fall = np.maximum(points.loss, 0.0), np.minimum(points.loss, 0.0)
        with np.errstate(divide="ignore", over="ignore"):
            size = points.log_weight + 2 * np.log(np.abs(points.r))
            log = size + above[:, None] * rise + below[:, None] * fall
            return _GIVEN * np.exp(log).sum(axis=1)

    @override
    def real(self, c: Array) -> RealCumulant:
        with np.errstate(over="ignore"):
            return self.points.real(c, np.abs(c * (c - 1)) * self._wrong(c))

    @override
    def sketch(self, c: Array) -> RealCumulant:
        return self.points.sketch(c)

    @override
    def line(self, c: float, u: Array) -> Disc:
        s = c + 1j * u
        wrong = float(self._wrong(np.asarray([c]))[0])
        return self.points.line(c, u, np.abs(s * (s - 1)) * wrong)

    @override
    def at(self, s: ComplexArray) -> ComplexArray:
        return self.points.at(s)

    @override
    def decay(self, c: float, u: Array, count: float) -> Array:  # noqa: ARG002
        return np.zeros(u.shape)

    @property
    @override
    def split(self) -> Split:
        order = np.argsort(self.points.loss)
        return Split(self.points.log_weight[order], self.points.loss[order], None)

    @override
    def parted(self, c: float, u: Array) -> tuple[Disc, Disc]:
        return self.line(c, u), Disc(np.zeros(u.shape, dtype=np.complex128), np.zeros(u.shape))

    @override
    def shares(self, c: float) -> tuple[float, float]:  # noqa: ARG002
        return 1.0, 0.0
