"""Laws of a loss with a closed form, or with finitely many values."""

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from neyman.numerics._bracket import ULP, Array
from neyman.numerics._complex import ComplexArray
from neyman.numerics._laws._loss_law import LossLaw, LossNodes, RealCumulant, Span
from neyman.numerics._laws._split import Split
from neyman.numerics._laws._weighted import WeightedLosses
from neyman.overriding import override

__all__ = ["AtomicLaw", "NormalLaw"]


@final
@dataclass(frozen=True, slots=True)
class NormalLaw(LossLaw, LossNodes):
    """L is N(-m/2, m) under P, m = mu^2: K(s) = m s (s - 1) / 2, and |phi(u)| = e^(-m u^2/2)."""

    mu_squared: float

    @property
    @override
    def wide(self) -> bool:
        return True

    @property
    @override
    def strip(self) -> tuple[float, float]:
        return -math.inf, math.inf

    @property
    @override
    def range(self) -> tuple[float, float]:
        return -math.inf, math.inf

    @override
    def prepared(self, span: Span) -> "NormalLaw":  # noqa: ARG002
        return self

    @override
    def sketched(self, span: Span) -> "NormalLaw":  # noqa: ARG002
        return self

    @override
    def real(self, c: Array) -> RealCumulant:
        m = self.mu_squared
        value = m * c * (c - 1) / 2
        return RealCumulant(value, ULP * np.abs(value), m * (c - 0.5), np.full(c.shape, m))

    @override
    def line(self, c: float, u: Array) -> tuple[ComplexArray, Array]:
        s = c + 1j * u
        value = self.mu_squared * s * (s - 1) / 2
        return value, ULP * self.mu_squared * np.abs(s) * np.abs(s - 1)

    @override
    def at(self, s: ComplexArray) -> ComplexArray:
        return self.mu_squared * s * (s - 1) / 2

    @override
    def decay(self, c: float, u: Array, count: float) -> Array:  # noqa: ARG002
        return -self.mu_squared * u * u / 2 * (1 - ULP)

    @override
    def decay_integral(self, c: float, u: Array, count: float) -> Array:  # noqa: ARG002
        x = np.maximum(self.mu_squared * u * u / 2 * (1 - ULP), 1e-300)
        return -x + np.log(np.log1p(1 / x) / 2 * (1 + 8 * ULP))


@final
@dataclass(frozen=True, slots=True)
class AtomicLaw(LossLaw, LossNodes):
    """Finitely many values, with no mass of Q where P has none nor the reverse."""

    points: WeightedLosses

    @property
    @override
    def strip(self) -> tuple[float, float]:
        return -math.inf, math.inf

    @property
    @override
    def range(self) -> tuple[float, float]:
        low, high = float(np.min(self.points.loss)), float(np.max(self.points.loss))
        return low - ULP * abs(low), high + ULP * abs(high)

    @override
    def prepared(self, span: Span) -> "AtomicLaw":  # noqa: ARG002
        return self

    @override
    def sketched(self, span: Span) -> "AtomicLaw":  # noqa: ARG002
        return self

    def _wrong(self, c: Array) -> Array:
        """Bound the error of e^K over |s (s - 1)| from 16 ULP in each r and each weight."""
        points, above, below = self.points, np.maximum(c - 2, 0.0), np.minimum(c - 2, 0.0)
        rise, fall = np.maximum(points.loss, 0.0), np.minimum(points.loss, 0.0)
        with np.errstate(divide="ignore", over="ignore"):
            size = points.log_weight + 2 * np.log(np.abs(points.r))
            log = size + above[:, None] * rise + below[:, None] * fall
            return 16 * ULP * np.exp(log).sum(axis=1)

    @override
    def real(self, c: Array) -> RealCumulant:
        with np.errstate(over="ignore"):
            return self.points.real(c, np.abs(c * (c - 1)) * self._wrong(c))

    @override
    def line(self, c: float, u: Array) -> tuple[ComplexArray, Array]:
        s = c + 1j * u
        wrong = float(self._wrong(np.asarray([c]))[0])
        return self.points.line(c, u, np.abs(s * (s - 1)) * wrong)

    @override
    def at(self, s: ComplexArray) -> ComplexArray:
        return self.points.at(s)

    @override
    def decay(self, c: float, u: Array, count: float) -> Array:  # noqa: ARG002
        return np.zeros(u.shape)

    @override
    def decay_integral(self, c: float, u: Array, count: float) -> Array:  # noqa: ARG002
        return np.full(u.shape, math.inf)

    @override
    def split(self) -> Split:
        order = np.argsort(self.points.loss)
        return Split(self.points.log_weight[order], self.points.loss[order], None)

    @override
    def density(
        self,
        c: float,  # noqa: ARG002
        u: Array,
        value: ComplexArray,  # noqa: ARG002
        error: Array,  # noqa: ARG002
    ) -> tuple[ComplexArray, Array]:
        return np.zeros(u.shape, dtype=np.complex128), np.zeros(u.shape)

    @override
    def shares(self, c: float) -> tuple[float, float]:  # noqa: ARG002
        return 1.0, 0.0
