"""The loss of Logistic(0) against Logistic(eta), for the contour: a density, and no atom."""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, final

import numpy as np

from neyman.numerics._bracket import Array
from neyman.numerics._complex import ComplexArray, Numbers
from neyman.numerics._disc import Disc
from neyman.numerics._interval import Interval
from neyman.numerics._laws._loss_law import ClosedLaw, RealCumulant
from neyman.numerics._primitives import exp, log, log1p, sinh
from neyman.overriding import override

__all__ = ["LogisticLaw"]

# Terms of the series below 1: the last is below 1e-30.
_TERMS = 14
# The relative error of their quotient: a sum of positive terms at z = 1, near 1/6 elsewhere.
_QUOTIENT = 2.0**-48
# The error of the logarithms of the decay: differences of numbers up to 100.
_DECAY = 2.0**-43


@final
@dataclass(frozen=True, slots=True)
class LogisticLaw(ClosedLaw):
    """Density e^((eta - l)/2) / (2 (e^eta - 1)) on [-eta, eta] under P.

    K(s) = log S((2s - 1) h) - log S(h), h = eta/2, S(z) = sinh(z)/z, which is even. With
    z = x + iy, |S(z)|^2 = (sinh(x)^2 + sin(y)^2) / (x^2 + y^2).
    """

    eta: float

    @property
    @override
    def range(self) -> tuple[float, float]:
        most = float(Interval.decimal(self.eta).upper)
        return -most, most

    @override
    def real(self, c: Array) -> RealCumulant:
        value, error = self._cumulant(c)
        return RealCumulant(value, error, *self._derivatives(c))

    @override
    def sketch(self, c: Array) -> RealCumulant:
        h = self.eta / 2
        x, steady = np.abs((2 * c - 1) * h), _shape(self.eta).log_sinhc.value.real
        far = np.maximum(x, 1e-2)
        value = np.where(x < 1e-2, x * x / 6, far + np.log(-np.expm1(-2 * far) / (2 * far)))
        return RealCumulant(value - steady, np.zeros(c.shape), *self._derivatives(c))

    def _derivatives(self, c: Array) -> tuple[Array, Array]:
        h = self.eta / 2
        x = np.abs((2 * c - 1) * h)
        far = np.clip(x, 1e-2, 300.0)
        slope = np.where(x < 1e-2, x / 3, 1 / np.tanh(far) - 1 / np.maximum(x, 1e-2))
        bend = np.where(x < 1e-2, 1 / 3, 1 / np.maximum(x, 1e-2) ** 2 - 1 / np.sinh(far) ** 2)
        return 2 * h * np.sign(2 * c - 1) * slope, 4 * h * h * bend

    @override
    def line(self, c: float, u: Array) -> Disc:
        return self._cumulant(np.asarray(c + 1j * u, dtype=np.complex128))

    @override
    def at(self, s: ComplexArray) -> ComplexArray:
        return self._cumulant(s).value

    def _cumulant(self, s: Numbers) -> Disc:
        """Return K; S is even, so that z may be taken with Re z >= 0."""
        z = (Disc.exactly(2 * s) - 1) * _shape(self.eta).h
        z = Disc.where(z.value.real < 0, -z, z)
        near = np.abs(z.value) <= 1.0
        if np.all(near):
            return self._near(s, z)
        if not np.any(near):
            return self._far(z)
        value, error = np.empty_like(z.value), np.empty(near.shape)
        value[near], error[near] = self._near(s[near], z.at(near))
        value[~near], error[~near] = self._far(z.at(~near))
        return Disc(value, error)

    def _near(self, s: Numbers, z: Disc) -> Disc:
        """Return K where |z| <= 1, with the first order taken out.

        S(z) - S(k) = (z^2 - k^2) times a series, with k = h where h <= 1 and
        z^2 - h^2 = 4 s (s - 1) h^2, and k = 0 else.
        """
        below, shape, inner = self.eta <= 2, _shape(self.eta), z * z
        first = (Disc.exactly(s) - 1) * s * shape.square if below else inner
        quotient = _quotient(inner.value, self.eta**2 / 4 if below else 0.0)
        found = (first * Disc.within(quotient, _QUOTIENT)).log1p()
        return found if below else found - shape.log_sinhc

    def _far(self, z: Disc) -> Disc:
        gap = -(z * -2).expm1()
        return z - _shape(self.eta).log_sinhc + (gap / (z * 2)).log()

    def _envelope(self, c: float, y: Array) -> Array:
        """Bound log |S(x + iy)/S(x)|, decreasing in y: cosh(x) |x| / (|x + iy| |sinh x|)."""
        return self._log_top(c) - np.log(np.hypot((2 * c - 1) * self.eta / 2, y)) + _DECAY

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
        here = (top - np.log1p((y / max(x, 1e-8)) ** 2)) / 2 + _DECAY
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
        top = math.exp(self._log_top(c) + _DECAY)
        meet = np.maximum(y, top)
        return np.log(np.exp(self.decay(c, u, count)) * np.log(meet / y) + top / meet) + _DECAY


class _Shape(NamedTuple):
    """The constants h = eta/2, 4 h^2 and log S(h)."""

    h: Disc
    square: Disc
    log_sinhc: Disc


@lru_cache(maxsize=64)
def _shape(eta: float) -> _Shape:
    h = Interval.decimal(eta) / 2
    top = log(sinh(h) / h) if eta < 2 else h + log1p(-exp(h * -2)) - log(h * 2)
    return _Shape(Disc.over(h), Disc.over(h.squared() * 4), Disc.over(top))


def _quotient(z2: Numbers, h2: float) -> Numbers:
    """Return (S(z) - S(h)) / (S(h) (z^2 - h^2)), |z|, h <= 1.

    S(z) - S(h) = sum_k (z^2k - h^2k) / (2k + 1)!, each divided by z^2 - h^2.
    """
    total, power = np.zeros_like(z2), np.ones_like(z2)
    at_h, factorial, mean = 1.0, 1.0, 1.0
    for k in range(1, _TERMS):
        factorial *= (2 * k) * (2 * k + 1)
        total = total + power / factorial
        # sum_{j<=k} z^2j h^2(k-j)
        mean *= h2
        power = power * z2 + mean
        at_h += mean / factorial
    return total / at_h
