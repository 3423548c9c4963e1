"""The loss of Logistic(0) against Logistic(eta), for the contour: a density, and no atom."""

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from neyman.numerics._bracket import ULP, Array
from neyman.numerics._complex import ComplexArray, complex_log1p
from neyman.numerics._laws._loss_law import LossLaw, LossNodes, RealCumulant, Span
from neyman.overriding import override

__all__ = ["LogisticLaw"]

# Terms of the series below 1: the last is below 1e-30.
_TERMS = 14
# The decay is a difference of logarithms of up to 40.
_SLACK = 128 * ULP


@final
@dataclass(frozen=True, slots=True)
class LogisticLaw(LossLaw, LossNodes):
    """Density e^((eta - l)/2) / (2 (e^eta - 1)) on [-eta, eta] under P.

    K(s) = log S((2s - 1) h) - log S(h), h = eta/2, S(z) = sinh(z)/z, which is even. With
    z = x + iy, |S(z)|^2 = (sinh(x)^2 + sin(y)^2) / (x^2 + y^2).
    """

    eta: float

    @property
    @override
    def strip(self) -> tuple[float, float]:
        return -math.inf, math.inf

    @property
    @override
    def range(self) -> tuple[float, float]:
        return -self.eta * (1 + ULP), self.eta * (1 + ULP)

    @override
    def prepared(self, span: Span) -> "LogisticLaw":  # noqa: ARG002
        return self

    @override
    def sketched(self, span: Span) -> "LogisticLaw":  # noqa: ARG002
        return self

    @override
    def real(self, c: Array) -> RealCumulant:
        h = self.eta / 2
        value, error = self._cumulant(np.asarray(c, dtype=np.complex128))
        x = np.abs((2 * c - 1) * h)
        far = np.clip(x, 1e-2, 300.0)
        slope = np.where(x < 1e-2, x / 3, 1 / np.tanh(far) - 1 / np.maximum(x, 1e-2))
        bend = np.where(x < 1e-2, 1 / 3, 1 / np.maximum(x, 1e-2) ** 2 - 1 / np.sinh(far) ** 2)
        return RealCumulant(value.real, error, 2 * h * np.sign(2 * c - 1) * slope, 4 * h * h * bend)

    @override
    def line(self, c: float, u: Array) -> tuple[ComplexArray, Array]:
        return self._cumulant(np.asarray(c + 1j * u, dtype=np.complex128))

    @override
    def at(self, s: ComplexArray) -> ComplexArray:
        return self._cumulant(s)[0]

    def _cumulant(self, s: ComplexArray) -> tuple[ComplexArray, Array]:
        """Return K and a bound of its absolute error.

        Within |z| <= 1 the first order is taken out, S(z) - S(k) = (z^2 - k^2) times a series, with
        k = h where h <= 1 and z^2 - h^2 = 4 s (s - 1) h^2, and k = 0 else; the error is relative to
        it, for the terms add up to at most 1/5 and S(z) >= 4/5. Elsewhere 1 - e^(-2z) is as wrong
        as its exponent is large.
        """
        h = self.eta / 2
        z = (2 * s - 1) * h
        z = np.where(z.real < 0, -z, z)
        near = np.abs(z) <= 1.0
        inner = np.where(near, z, 0.0) ** 2
        below = h <= 1.0
        first = 4 * s * (s - 1) * h * h if below else inner
        base = 0.0 if below else _log_sinhc_real(h)
        series = complex_log1p(np.where(near, first, 0.0) * _quotient(inner, h * h * below)) - base
        far = np.where(near, 1.0, z)
        gap = -np.expm1(-2 * far)
        direct = far - _log_sinhc_real(h) + np.log(gap / (2 * far))
        value = np.where(near, series, direct)
        size = np.maximum(np.abs(gap), 1e-300)
        wrong = 8 * ULP * (2 + np.abs(far) + h + (1 + np.abs(far)) / size)
        rest = wrong + 2 * ULP * np.abs(direct)
        error = np.where(near, 8 * ULP * (np.abs(first) + base), rest)
        return value, error

    def _envelope(self, c: float, y: Array) -> Array:
        """Bound log |S(x + iy)/S(x)|, decreasing in y: cosh(x) |x| / (|x + iy| |sinh x|)."""
        return self._log_top(c) - np.log(np.hypot((2 * c - 1) * self.eta / 2, y)) + 8 * ULP

    def _log_top(self, c: float) -> float:
        """Return log of cosh(x) / S(x), that is of x coth(x)."""
        x = abs((2 * c - 1) * self.eta / 2)
        return math.log(x / math.tanh(x)) if x > 1e-4 else x * x

    def decay(self, c: float, u: Array, count: float) -> Array:  # noqa: ARG002
        """|S(x + iy)| falls in y up to pi, and is within its envelope from there on.

        It falls where sin(2y) (x^2 + y^2) <= 2y (sinh(x)^2 + sin(y)^2), which follows from
        sin(2y) <= 2y, x <= sinh(x) and y cos(y) <= sin(y).
        """
        x, y = abs((2 * c - 1) * self.eta / 2), u * self.eta
        # sinh(x)^2 + sin(y)^2 over sinh(x)^2, and x^2 + y^2 over x^2, at x well above 0.
        root = max(min(x, 300.0), 1e-8)
        top = np.log1p((np.sin(np.minimum(y, math.pi)) / math.sinh(root)) ** 2)
        here = (top - np.log1p((y / max(x, 1e-8)) ** 2)) / 2 + _SLACK
        if x <= 1e-8:
            # |S(x + iy)/S(x)| <= |sin(y)/y| + x: S is 1-Lipschitz in x there.
            with np.errstate(divide="ignore", invalid="ignore"):
                sinc = np.where(y > 0, np.abs(np.sin(y)) / y, 1.0)
            here = np.log(np.maximum(sinc, 0.0) + 2e-8)
        last = np.full(u.shape, float(self._envelope(c, np.asarray(math.pi))))
        bound = np.where(y < math.pi, np.maximum(here, last), self._envelope(c, y))
        return np.minimum(bound, 0.0)

    @override
    def decay_integral(self, c: float, u: Array, count: float) -> Array:
        y = u * self.eta
        top = math.exp(self._log_top(c)) * (1 + 8 * ULP)
        meet = np.maximum(y, top)
        return np.log(np.exp(self.decay(c, u, count)) * np.log(meet / y) + top / meet) + 8 * ULP


def _log_sinhc_real(h: float) -> float:
    """Return log S(h), h > 0."""
    if h < 1:
        return math.log(math.sinh(h) / h)
    return h + math.log1p(-math.exp(-2 * h)) - math.log(2 * h)


def _quotient(z2: ComplexArray | Array, h2: float) -> ComplexArray:
    """Return (S(z) - S(h)) / (S(h) (z^2 - h^2)), |z|, h <= 1.

    S(z) - S(h) = sum_k (z^2k - h^2k) / (2k + 1)!, each divided by z^2 - h^2.
    """
    total = np.zeros(np.shape(z2), dtype=np.complex128)
    power = np.ones(np.shape(z2), dtype=np.complex128)
    at_h, factorial, mean = 1.0, 1.0, 1.0
    for k in range(1, _TERMS):
        factorial *= (2 * k) * (2 * k + 1)
        total = total + power / factorial
        # sum_{j<=k} z^2j h^2(k-j)
        mean *= h2
        power = power * z2 + mean
        at_h += mean / factorial
    return total / at_h
