"""Finite sums of waves, evaluated so that the same point always gives the same bits."""

import math
from dataclasses import dataclass
from typing import Final, final

import numpy as np

from neyman.numerics import Array, ComplexArray

__all__ = ["Series"]

# |d| <= 1/2 lattice steps and 16 steps a wave: the remainder is below (pi/16)^12 / 12! = 7e-18.
_TERMS: Final = 12
_STEPS_A_WAVE: Final = 16


@final
@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """g(t) = c_0 + 2 Re sum_{j=1}^J c_j exp(2 pi i j t / L), for distances t from the lower end.

    Values come from a public lattice: one transform for each of 12 derivatives, then a Taylor
    polynomial from the nearest lattice point. All that depends on t is elementwise basic
    arithmetic, so a value does not depend on which other points are asked with it, or in which
    order.

    Attributes:
        period: L.
        coefficients: c_0 ... c_J, shape (J + 1,).

    Error: an estimate: about 2^-50 times the sum of |c_j|, for each derivative and each integral
        with its own coefficients.
    """

    period: float
    coefficients: ComplexArray

    def at(self, t: Array, derivative: int = 0) -> Array:
        """Return the derivative of this order at t in [0, L], elementwise.

        Order -1 is the integral of the waves without that of c_0, up to a constant.
        """
        m = self._lattice
        table = self._derivatives(m, derivative)
        step = self.period / m
        place = t / step
        nearest = np.rint(place)
        rest = place - nearest
        index = nearest.astype(np.int64) & (m - 1)
        value = table[-1][index]
        for coefficient in table[-2::-1]:
            value *= rest
            value += coefficient[index]
        value *= step ** float(-derivative)
        return value

    def integral(self, t: Array) -> Array:
        """Return the integral from 0 to t, elementwise."""
        start = self.at(np.zeros(1), -1)[0]
        return self.at(t, -1) - start + t * float(self.coefficients[0].real)

    @property
    def _lattice(self) -> int:
        highest = len(self.coefficients) - 1
        return 1 << math.ceil(math.log2(_STEPS_A_WAVE * max(highest, 1)))

    def _derivatives(self, m: int, order: int) -> Array:
        """Return derivatives order, order + 1, ... over k!, at m lattice points, in its steps."""
        waves = 2j * math.pi * np.arange(len(self.coefficients)) / m
        terms = np.empty((_TERMS, len(waves)), np.complex128)
        terms[0] = self.coefficients
        if order < 0:
            waves[0] = 1.0
            terms[0] /= waves
            waves[0] = terms[0, 0] = 0.0
        else:
            terms[0] *= waves**order
        for k in range(1, _TERMS):
            terms[k] = terms[k - 1] * waves / k
        return m * np.fft.irfft(terms, m)
