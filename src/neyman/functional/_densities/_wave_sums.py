"""Finite sums of waves, evaluated so that equal points always give equal bits.

For one coordinate by a public lattice, for several by recurrences at each point.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, final

import numpy as np

from neyman.functional._bases._domain import Side
from neyman.numerics import Array, ComplexArray

__all__ = ["Series", "integrals", "same_bits", "waves"]

# |d| <= 1/2 lattice steps and 16 steps a wave: the remainder is below (pi/16)^12 / 12! = 7e-18.
_TERMS: Final = 12
_STEPS_A_WAVE: Final = 16
_CACHED: Final = 1 << 15


@final
@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """g(t) = c_0 + 2 Re sum_{j=1}^J c_j exp(2 pi i j t / L), for distances t from the lower end.

    Values come from a public lattice: one transform for each of 12 derivatives, then a Taylor
    polynomial from the nearest lattice point. Only elementwise basic arithmetic depends on t, so a
    value does not depend on the other points of the call or their order.

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

        Order -1 is the integral of the waves without c_0, up to a constant.
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
        """Return derivatives of order `order` and up, over k!, at m lattice points, per step."""
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


def waves(turns: Array, highest: int) -> Array:
    """Return cosines of j = 0 ... J and sines of j = 1 ... J at fractions of a turn, as rows."""
    angles = 2 * np.pi * np.multiply.outer(np.arange(highest + 1), turns)
    return np.concatenate([np.cos(angles), np.sin(angles[1:])])


def integrals(side: Side, highest: int, lower: float, upper: float) -> Array:
    """Return the integrals of the waves of an axis from one place to another, without checks.

    Raises:
        InvalidParameter: if a place is outside an interval.
    """
    side.located([lower, upper])
    a, b = lower - side.start, upper - side.start
    frequencies = 2 * np.pi / side.period * np.arange(1, highest + 1)
    # Of products, not of differences of near values.
    middle, half = frequencies * ((a + b) / 2), frequencies * ((b - a) / 2)
    length = 2 * np.sin(half) / frequencies
    return np.concatenate([[b - a], length * np.cos(middle), length * np.sin(middle)])


def same_bits(terms: Array, turns: Sequence[Array]) -> Array:
    """Return the sum of terms times waves at each point, by elementwise arithmetic only.

    Elementwise additions and multiplications round each element the same way in any array; matrix
    products do not.

    Args:
        terms: shape (2 J_1 + 1, ..., 2 J_d + 1).
        turns: for each axis, the positions of the points on its circle, as fractions of a turn,
            shape (m,).

    Error: an estimate: about J 2^-52 times the sum of |terms|.
    """
    found = np.empty(len(turns[0]))
    step = max(1, _CACHED // math.prod(terms.shape[:-1]))
    for first in range(0, len(found), step):
        part = slice(first, first + step)
        sums = terms[..., None]
        for turn, rows in zip(reversed(turns), reversed(terms.shape), strict=True):
            sums = _summed(sums, _recurred(turn[part], (rows - 1) // 2))
        found[part] = sums
    return found


def _summed(terms: Array, table: Array) -> Array:
    """Return the sum over the last axis but one of terms times the table's rows."""
    total = terms[..., 0, :] * table[0]
    for row in range(1, len(table)):
        total += terms[..., row, :] * table[row]
    return total


def _recurred(turns: Array, highest: int) -> Array:
    """Return the rows of `waves`, by basic operations from one cosine and one sine a point."""
    angles = (2 * np.pi * turns).tolist()
    cosine, sine = (np.array([f(angle) for angle in angles]) for f in (math.cos, math.sin))
    table = np.empty((2 * highest + 1, len(turns)))
    table[0] = 1.0
    if highest:
        table[1], table[highest + 1] = cosine, sine
    for j in range(2, highest + 1):
        c, s = table[j - 1], table[highest + j - 1]
        table[j] = c * cosine - s * sine
        table[highest + j] = s * cosine + c * sine
    return table
