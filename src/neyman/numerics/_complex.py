"""Elementary functions of real and complex numbers that keep their digits near 0."""

import math
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from neyman.numerics._interval import Array

__all__ = [
    "ComplexArray",
    "Numbers",
    "complex_expm1",
    "complex_log",
    "complex_log1p",
    "complex_sinh",
    "expm1_minus",
    "log1p_minus",
]

ComplexArray: TypeAlias = npt.NDArray[np.complex128]
Numbers: TypeAlias = Array | ComplexArray

# Below it e^z - 1 - z is summed as a series; above, the subtraction loses little.
_CURVED_BELOW, _CURVED = 0.1, tuple(1 / math.factorial(k) for k in range(2, 12))
# The same for log(1 + r) - r, by powers of r/(2 + r).
_BENT_BELOW, _BENT = 0.5, tuple(1 / k for k in range(3, 34, 2))


def complex_expm1(z: ComplexArray) -> ComplexArray:
    """Return e^z - 1 = expm1(x) - 2 e^x sin^2(y/2) + i e^x sin y, z = x + iy."""
    size = np.exp(z.real)
    half = np.sin(z.imag / 2)
    return (np.expm1(z.real) - 2 * size * half * half) + 1j * (size * np.sin(z.imag))


def complex_sinh(z: ComplexArray) -> ComplexArray:
    """Return sinh z = sinh x cos y + i cosh x sin y, z = x + iy, by one exponential of iy."""
    turn: ComplexArray = np.exp(1j * z.imag)
    turn.real *= np.sinh(z.real)
    turn.imag *= np.cosh(z.real)
    return turn


def complex_log(z: ComplexArray) -> ComplexArray:
    """Return log z = log |z| + i arg z, principal branch, in a fifth of the library's time."""
    found = np.empty_like(z)
    found.real, found.imag = np.log(np.abs(z)), np.arctan2(z.imag, z.real)
    return found


def complex_log1p(z: ComplexArray) -> ComplexArray:
    """Return log(1 + z), principal branch.

    NumPy's own takes the logarithm of |1 + z|, and gives 0 for small z.
    """
    found = np.empty_like(z)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        whole, imag = 1 + z.real, z.imag
        gain = z.real * (1 + whole) + imag * imag
        near = (gain > -0.5) & (gain < 1)
        if np.all(near):
            found.real = np.log1p(gain) / 2
        else:
            found.real = np.where(near, np.log1p(gain) / 2, np.log(np.hypot(whole, imag)))
    found.imag = np.arctan2(imag, whole)
    return found


def expm1_minus(z: Numbers) -> Any:
    """Return e^z - 1 - z."""
    near = np.abs(z) < _CURVED_BELOW
    if not np.any(near):
        return _expm1(z) - z
    small: ComplexArray = np.where(near, z, 0.0)
    series = np.full_like(small, _CURVED[-1])
    for coefficient in _CURVED[-2::-1]:
        series *= small
        series += coefficient
    series *= small * small
    return series if np.all(near) else cast("Any", np.where(near, series, _expm1(z) - z))


def log1p_minus(r: Numbers, known: Numbers | None = None) -> Any:
    """Return log(1 + r) - r; `known` is log(1 + r) where it is computed already.

    For small r it is 2 artanh(x) - r = 2 x^3 (1/3 + x^2/5 + ...) - x r with x = r / (2 + r).
    """
    if known is None:
        known = complex_log1p(cast("ComplexArray", r)) if np.iscomplexobj(r) else np.log1p(r)
    near = np.abs(r) < _BENT_BELOW
    small: ComplexArray = np.where(near, r, 0.0)
    x = small / (2 + small)
    square = x * x
    series = np.full_like(x, _BENT[-1])
    for coefficient in _BENT[-2::-1]:
        series *= square
        series += coefficient
    return cast("Any", np.where(near, x * (2 * square * series - small), known - r))


def _expm1(z: Numbers) -> Any:
    return complex_expm1(cast("ComplexArray", z)) if np.iscomplexobj(z) else np.expm1(z)
