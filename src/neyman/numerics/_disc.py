"""Disc arithmetic over arrays: complex numbers, each known within an error.

A `Disc` holds a value and a bound of its error for each number of an array, complex or real, and
every operation adds its own rounding error: no formula over discs counts its own rounding.
docs/theory/rounding.md proves the bound of each operation, or states it as an assumption about the
library. tests/numerics/test_disc.py checks all of them against ball arithmetic.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Self, TypeAlias, cast, final

import numpy as np
import numpy.typing as npt

from neyman.numerics._complex import (
    ComplexArray,
    Numbers,
    complex_expm1,
    complex_log,
    complex_log1p,
    complex_sinh,
    expm1_minus,
    log1p_minus,
)
from neyman.numerics._interval import Array, Interval, quiet

__all__ = ["Disc", "Term", "decimal", "matmul_in_blocks", "sum_units"]

Mask: TypeAlias = npt.NDArray[np.bool_]
# What indexes an array.
Places: TypeAlias = Any

_UNIT = 2.0**-53
# What bounds of errors lose themselves: a modulus and some operations, or a sum.
_OUT, _IN = np.asarray(1 + 2.0**-47), np.asarray(1 - 2.0**-47)
# The largest absolute error of products whose parts are subnormal.
_TINY = np.asarray(2.0**-1071)
_ZERO, _NOTHING, _ALL = np.asarray(0.0), np.asarray(-np.inf), np.asarray(np.inf)
# e^d - 1 is below d (1 + d), and that below d times a constant, up to it.
_SLIGHT = 2.0**-20
# So many terms of a product of matrices are added in the library's order.
_BLOCK = 32


@final
@dataclass(frozen=True, slots=True, eq=False)
class Disc:
    """A number, or each number of an array: its distance from `value` is at most `error`.

    Arithmetic takes other discs, and doubles, real or complex, as exact. Nothing is known where the
    error is infinite or nan. Real numbers are stored, and computed with, as real.

    Unpacks as the pair of both.

    >>> value, error = (Disc.exactly(np.asarray([1 + 2j])) / 3).exp()
    >>> bool(error[0] < 1e-14)
    True

    Attributes:
        value: complex, or real.
        error: at least 0; of the same shape, or one for all.

    Error: each operation loses a few units of 2^-53 of its value.
    """

    value: ComplexArray
    error: Array

    # NumPy hands `array + disc` over to the disc.
    __array_ufunc__: ClassVar[None] = None

    # -- what numbers enter ---------------------------------------------------------------------

    @classmethod
    def exactly(cls, value: Numbers | complex) -> Self:
        """Return doubles, taken as exact."""
        return cls(_held(value), _ZERO)

    @classmethod
    def of(cls, value: Numbers, error: Array) -> Self:
        """Return values with a bound of the error of each."""
        return cls(_held(value), error)

    @classmethod
    @quiet
    def within(cls, value: Numbers, relative: float, absolute: Array | float = 0.0) -> Self:
        """Return values that are off by at most `relative` |value| + `absolute`.

        For a value whose error somebody proved; the error need not count this rounding.
        """
        return cls(_held(value), (np.abs(value) * relative + absolute) * _OUT)

    @classmethod
    @quiet
    def over(cls, interval: Interval) -> Self:
        """Return the discs around intervals."""
        value = interval.middle
        error = np.maximum(interval.upper - value, value - interval.lower) * _OUT
        return cls(_held(value), error + _TINY * (error > 0))

    @classmethod
    def where(cls, condition: Mask, first: Self, second: Self) -> Self:
        """Return the first disc where a condition holds, else the second."""
        return cls(
            np.where(condition, first.value, second.value),
            np.where(condition, first.error, second.error),
        )

    # -- what they are --------------------------------------------------------------------------

    def __iter__(self) -> Iterator[Any]:
        """Give the value, then the error."""
        return iter((self.value, self.error))

    def at(self, places: Places) -> Self:
        """Return the discs at some places of the array."""
        error = self.error[places] if self.error.ndim else self.error
        return type(self)(self.value[places], error)

    @property
    def size(self) -> Array:
        """At least the modulus."""
        return (np.abs(self.value) + self.error) * _OUT

    @property
    def least(self) -> Array:
        """At most the modulus."""
        return np.maximum(np.abs(self.value) * _IN - self.error, _ZERO) * _IN

    @property
    def lower(self) -> Array:
        """At most the real part."""
        return self.value.real - self._room

    @property
    def upper(self) -> Array:
        """At least the real part."""
        return self.value.real + self._room

    @property
    def _room(self) -> Array:
        return (np.abs(self.value.real) * (2 * _UNIT) + self.error) * _OUT

    @property
    def conj(self) -> Self:
        """The conjugates."""
        return type(self)(np.conj(self.value), self.error)

    # -- arithmetic -----------------------------------------------------------------------------

    def __neg__(self) -> Self:
        return type(self)(-self.value, self.error)

    @quiet
    def __add__(self, other: "Term") -> Self:
        value, error = _pair(other)
        return self._found(self.value + value, self.error + error, 1)

    @quiet
    def __sub__(self, other: "Term") -> Self:
        value, error = _pair(other)
        return self._found(self.value - value, self.error + error, 1)

    @quiet
    def __rsub__(self, other: "Numbers | complex") -> Self:
        return self._found(_held(other) - self.value, self.error, 1)

    @quiet
    def __mul__(self, other: "Term") -> Self:
        value, error = _pair(other)
        if error is _ZERO:
            lost = self.error * np.abs(value)
        elif self.error is _ZERO:
            lost = np.abs(self.value) * error
        else:
            lost = (np.abs(self.value) + self.error) * error + self.error * np.abs(value)
        return self._found(self.value * value, lost + _TINY, 3)

    @quiet
    def __truediv__(self, other: "Term") -> Self:
        value, error = _pair(other)
        return self._quotient(self.value, self.error, value, error)

    @quiet
    def __rtruediv__(self, other: "Numbers | complex") -> Self:
        return self._quotient(_held(other), _ZERO, self.value, self.error)

    __radd__ = __add__
    __rmul__ = __mul__

    @classmethod
    def _found(cls, value: ComplexArray, lost: Array, units: float) -> Self:
        """Take a value that is off by `lost`, and by some units of 2^-53 of itself."""
        error = np.abs(value) * (units * _UNIT)
        error += lost
        error *= _OUT
        return cls(value, error)

    @classmethod
    def _quotient(cls, above: ComplexArray, over: Array, below: ComplexArray, under: Array) -> Self:
        value = above / below
        # (a + d)/(b + e) - a/b = (d - e a/b)/(b + e).
        size = np.abs(below)
        if under is _ZERO:
            lost = over / (size * _IN)
        else:
            room = size * _IN - under
            lost = np.where(room > 0, (over + under * np.abs(value)) / room, _ALL)
        return cls._found(value, lost + _TINY, 8)

    # -- functions ------------------------------------------------------------------------------

    @quiet
    def exp(self) -> Self:
        """Return e^z; the library's is within 8 units, and e^(z + d) within |e^z| (e^|d| - 1)."""
        value, lost = np.exp(self.value), _TINY
        if self.error is not _ZERO:
            lost = np.abs(value) * _growth(self.error) + _TINY
        return self._found(value, lost, 8)

    @quiet
    def expm1(self) -> Self:
        """Return e^z - 1; within 16 units of itself."""
        value = complex_expm1(self.value) if np.iscomplexobj(self.value) else np.expm1(self.value)
        lost = _TINY
        if self.error is not _ZERO:
            # |e^z| is |1 + value|, but for what both round.
            lost = (np.abs(1 + value) + 32 * _UNIT) * _growth(self.error) + _TINY
        return self._found(value, lost, 16)

    @quiet
    def expm1_minus(self) -> Self:
        """Return e^z - 1 - z; within 32 units of itself, and 16 of z once |z| is 0.1."""
        value, size = expm1_minus(self.value), np.abs(self.value)
        lost = (16 * _UNIT) * np.minimum(size, 10 * size * size)
        if self.error is not _ZERO:
            # Its derivative is e^z - 1, of modulus at most that of the value and |z| ...
            slope = np.abs(value) + size
            # ... and along the way to the truth at most e^|d| times as much and e^|d| - 1.
            grown = _growth(self.error)
            lost = lost + self.error * (slope * (1 + grown) + grown)
        return self._found(value, lost + _TINY, 32)

    @quiet
    def sinh(self) -> Self:
        """Return sinh z; within 8 units of itself. d moves it by cosh(Re z) (e^|d| - 1) at most."""
        value = complex_sinh(self.value) if np.iscomplexobj(self.value) else np.sinh(self.value)
        lost = _ZERO
        if self.error is not _ZERO:
            lost = np.cosh(self.value.real) * _growth(self.error)
        return self._found(value, lost + _TINY, 8)

    @quiet
    def log(self) -> Self:
        """Return log z; within 8 units of itself and 4 of 1.

        The principal one, or its neighbour where the disc crosses the negative axis. Where 0 is in
        the disc nothing is known; else log(1 + d/z) is within |d|/(|z| - |d|) of 0.
        """
        known = complex_log(self.value) if np.iscomplexobj(self.value) else np.log(self.value)
        return self._log(known, np.abs(self.value), 8, 4 * _UNIT)

    @quiet
    def log1p(self) -> Self:
        """Return log(1 + z); within 16 units of itself. Branches and 0 are as for `log`."""
        known = complex_log1p(self.value) if np.iscomplexobj(self.value) else np.log1p(self.value)
        return self._log(known, np.abs(1 + self.value), 16, 0.0)

    @quiet
    def log1p_minus(self) -> Self:
        """Return log(1 + z) - z; within 32 units of itself. Its derivative is -z/(1 + z)."""
        value, size = log1p_minus(self.value), np.abs(self.value) + self.error
        room = np.abs(1 + self.value) * _IN - self.error
        lost = np.where(room > 0, self.error * size / room, _ALL)
        return self._found(value, lost + _TINY, 32)

    def _log(self, value: ComplexArray, size: Array, units: float, absolute: float) -> Self:
        # One operation more for the argument.
        room = size * _IN - self.error
        lost = np.where(room > 0, self.error / room, _ALL) + absolute
        return self._found(value, lost + _TINY, units)

    # -- sums -----------------------------------------------------------------------------------

    @quiet
    def sum(self) -> Self:
        """Return the sums along the last axis.

        NumPy adds in pairs, within blocks of 64 complex numbers, or 128 real, in rows: a number
        passes through at most 20 + log2(size / 64) additions.
        """
        value = np.ascontiguousarray(self.value)
        lost = np.ascontiguousarray(np.abs(value) * (_depth(value) * _UNIT) + self.error)
        return type(self)(value.sum(axis=-1), lost.sum(axis=-1) * _OUT)

    @quiet
    def dot(self, weights: "Term") -> Self:
        """Return the sums of products along the last axis, as by `sum`."""
        weight, off = _pair(weights)
        value = np.ascontiguousarray(self.value * weight)
        lost = np.ascontiguousarray(np.abs(value) * ((4 + _depth(value)) * _UNIT))
        if self.error is not _ZERO:
            lost += self.error * np.abs(weight)
        if off is not _ZERO:
            lost += self.size * off
        return type(self)(value.sum(axis=-1), lost.sum(axis=-1) * _OUT + lost.shape[-1] * _TINY)


@lru_cache(maxsize=64)
def decimal(value: float) -> Disc:
    """Return what holds the decimal that a double prints as."""
    return Disc.over(Interval.decimal(value))


Term: TypeAlias = Disc | Numbers | complex


def matmul_in_blocks(
    first: ComplexArray, second: ComplexArray, block: int = _BLOCK
) -> tuple[ComplexArray, float]:
    """Return a product of matrices, and what it is off by, of the product of the moduli.

    Terms are added in blocks, whose sums are added one after the other.
    """
    terms = first.shape[-1]
    blocks = -(-terms // block)
    if blocks > 1:
        first = _in_blocks(first, block)
        second = np.swapaxes(_in_blocks(np.swapaxes(second, -1, -2), block), -1, -2)
    value = np.matmul(first, second)
    lost = sum_units(min(terms, block)) + blocks * _UNIT
    return value.sum(axis=-3) if blocks > 1 else value, lost


def sum_units(terms: int) -> float:
    """Return what a sum of products is off by, of that of the moduli, in whatever order."""
    return 3 * (terms + 2) * _UNIT


def _in_blocks(matrix: ComplexArray, block: int) -> ComplexArray:
    """Return the columns in blocks, along a new axis before the last two."""
    *stack, rows, columns = matrix.shape
    blocks = -(-columns // block)
    padded = np.zeros((*stack, rows, blocks * block), dtype=matrix.dtype)
    padded[..., :columns] = matrix
    return np.swapaxes(padded.reshape(*stack, rows, blocks, block), -2, -3)


def _growth(error: Array) -> Array:
    """Return at least e^error - 1."""
    if np.max(error, initial=0.0) < _SLIGHT:
        return error * (1 + _SLIGHT)
    return np.expm1(error) * _OUT


def _depth(terms: ComplexArray) -> float:
    return 20 + max(math.log2(max(terms.shape[-1], 1)) - 6, 0.0)


def _pair(other: Term) -> tuple[ComplexArray, Array]:
    return (other.value, other.error) if isinstance(other, Disc) else (_held(other), _ZERO)


def _held(value: Numbers | complex) -> ComplexArray:
    return cast("ComplexArray", np.asarray(value))
