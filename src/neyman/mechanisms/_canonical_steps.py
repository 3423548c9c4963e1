# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
"""The curves whose canonical noise has a formula: the iterates of phi(g) = f(1 - g).

For a symmetric f with fixed point c the upper tail of the canonical noise is

    G(n + u) = phi^n(1/2 - (1 - 2c) u),  n = 0, 1, ..., u in [-1/2, 1/2).

If f = T(X, X + shift) for a log-concave X with survival function S, a test by a threshold is the
best, so phi(g) = S(S^-1(g) + shift). Then phi^n(g) = S(S^-1(g) + n shift) and c = S(shift / 2).

Source: Awan and Vadhan, *Canonical noise distributions and private hypothesis tests*, Annals of
    Statistics 2023, definition 3.7 and theorem 3.9.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, final

import numpy as np

from neyman.mechanisms._law import ball
from neyman.numerics import Array
from neyman.overriding import override

__all__ = ["GaussianSteps", "LaplaceSteps", "LogisticSteps", "Steps", "TulapSteps"]

if TYPE_CHECKING:
    from flint import arb


class Steps(ABC):
    """The tails of the canonical noise of one curve."""

    __slots__ = ()

    @property
    @abstractmethod
    def gap(self) -> float:
        """1 - 2c, with a relative error of at most 2^-48."""

    @property
    @abstractmethod
    def coarse(self) -> bool:
        """Whether the inverse in float64 is precise enough to draw."""

    @abstractmethod
    def exact_gap(self) -> "arb":
        """Return a ball that contains 1 - 2c."""

    @abstractmethod
    def iterate(self, g: "arb", n: int, *, low: bool) -> "arb":
        """Return phi^n(g), n >= 1, g in [c, 1 - c]; `low` says whether g <= 1/2."""

    @abstractmethod
    def inverse(self, upper: Array) -> tuple[Array, Array]:
        """Return n >= 0 and g in [c, 1 - c] with phi^n(g) = upper in (0, 1/2].

        Error: that of z = n (1 - 2c) + 1/2 - g is at most 2^-48 (z + 1); tests measure it.
        """

    @abstractmethod
    def forward(self, g: Array, n: int) -> Array:
        """Return phi^n(g) in doubles; the relative error is 1e-13."""


class _Shifted(Steps):
    """T(X, X + shift), X log-concave and symmetric."""

    __slots__ = ()

    @property
    @abstractmethod
    def shift(self) -> float:
        """The shift in units of X."""

    @abstractmethod
    def survival(self, s: Array) -> Array:
        """Return S(s)."""

    @abstractmethod
    def quantile(self, g: Array) -> Array:
        """Return S^-1(g)."""

    @property
    @override
    def coarse(self) -> bool:
        return 2.0**-10 <= self.shift <= 8

    @final
    @override
    def inverse(self, upper: Array) -> tuple[Array, Array]:
        s = self.quantile(upper)
        n = np.rint(s / self.shift)
        g = self.survival(s - n * self.shift)
        return n, np.where(n == 0, upper, g)

    @final
    @override
    def forward(self, g: Array, n: int) -> Array:
        return self.survival(self.quantile(g) + n * self.shift) if n else g


@final
@dataclass(frozen=True, slots=True)
class GaussianSteps(_Shifted):
    """G_mu: X normal."""

    mu_squared: Fraction

    @property
    @override
    def shift(self) -> float:
        return math.sqrt(self.mu_squared)

    @override
    def survival(self, s: Array) -> Array:
        from scipy.special import ndtr

        return np.asarray(ndtr(-s))

    @override
    def quantile(self, g: Array) -> Array:
        from scipy.special import ndtri

        return -np.asarray(ndtri(g))

    @property
    @override
    def gap(self) -> float:
        return math.erf(self.shift / math.sqrt(8))

    @override
    def exact_gap(self) -> "arb":
        return ball(self.mu_squared / 8).sqrt().erf()

    @override
    def iterate(self, g: "arb", n: int, *, low: bool) -> "arb":  # noqa: ARG002
        return ((2 * g).erfcinv() + n * ball(self.mu_squared / 2).sqrt()).erfc() / 2


@final
@dataclass(frozen=True, slots=True)
class LaplaceSteps(_Shifted):
    """The Laplace curve: X Laplace."""

    epsilon: Fraction

    @property
    @override
    def shift(self) -> float:
        return float(self.epsilon)

    @override
    def survival(self, s: Array) -> Array:
        small = np.exp(-np.abs(s)) / 2
        return np.where(s >= 0, small, 1 - small)

    @override
    def quantile(self, g: Array) -> Array:
        small = np.log(2 * np.minimum(g, 1 - g))
        return np.where(g <= 0.5, -small, small)

    @property
    @override
    def gap(self) -> float:
        return -math.expm1(-self.shift / 2)

    @override
    def exact_gap(self) -> "arb":
        return -ball(-self.epsilon / 2).expm1()

    @override
    def iterate(self, g: "arb", n: int, *, low: bool) -> "arb":
        fall = ball(-n * self.epsilon).exp()
        return g * fall if low else fall / (4 * (1 - g))


@final
@dataclass(frozen=True, slots=True)
class LogisticSteps(_Shifted):
    """(1 - alpha) / (1 + (e^eta - 1) alpha): X logistic."""

    eta: Fraction

    @property
    @override
    def shift(self) -> float:
        return float(self.eta)

    @override
    def survival(self, s: Array) -> Array:
        return 1 / (1 + np.exp(np.minimum(s, 709.0)))

    @override
    def quantile(self, g: Array) -> Array:
        return np.log1p(-g) - np.log(g)

    @property
    @override
    def gap(self) -> float:
        return math.tanh(self.shift / 4)

    @override
    def exact_gap(self) -> "arb":
        return ball(self.eta / 4).tanh()

    @override
    def iterate(self, g: "arb", n: int, *, low: bool) -> "arb":  # noqa: ARG002
        return g / (g + (1 - g) * ball(n * self.eta).exp())


@final
@dataclass(frozen=True, slots=True)
class TulapSteps(Steps):
    """f_{epsilon,delta}: phi(g) = e^-epsilon (g - delta) if positive, on [0, 1 - c].

    phi^n(g) = e^(-n epsilon) (g + k) - k if positive, k = delta / (e^epsilon - 1).
    """

    epsilon: Fraction
    delta: Fraction

    @property
    @override
    def coarse(self) -> bool:
        return Fraction(1, 2**10) <= self.epsilon <= 8 and self._rest <= 4 and self.delta < 1

    @property
    def _rest(self) -> float:
        return float(self.delta) / math.expm1(float(self.epsilon))

    @property
    @override
    def gap(self) -> float:
        delta = float(self.delta)
        return math.tanh(float(self.epsilon) / 2) * (1 - delta) + delta

    @override
    def exact_gap(self) -> "arb":
        return ball(self.epsilon / 2).tanh() * ball(1 - self.delta) + ball(self.delta)

    @override
    def iterate(self, g: "arb", n: int, *, low: bool) -> "arb":  # noqa: ARG002
        from flint import arb

        fall = ball(-n * self.epsilon).exp()
        if not self.delta:
            return g * fall
        k = ball(self.delta) / ball(self.epsilon).expm1()
        return (fall * (g + k) - k).max(arb(0))

    @override
    def inverse(self, upper: Array) -> tuple[Array, Array]:
        epsilon, k = float(self.epsilon), self._rest
        c = (1 - self.gap) / 2
        n = np.maximum(np.ceil((math.log(c + k) - np.log(upper + k)) / epsilon), 0.0)
        return n, np.where(n == 0, upper, np.exp(n * epsilon) * (upper + k) - k)

    @override
    def forward(self, g: Array, n: int) -> Array:
        k = self._rest
        fall = math.exp(-n * float(self.epsilon))
        return np.maximum(fall * g - k * -math.expm1(-n * float(self.epsilon)), 0.0)
