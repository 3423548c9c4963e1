"""Elementary functions of complex numbers that keep their digits near 0."""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from neyman.numerics._interval import Array

__all__ = ["ComplexArray", "complex_expm1", "complex_log1p", "log1p_minus"]

ComplexArray: TypeAlias = npt.NDArray[np.complex128]
# Below it log(1 + r) - r is summed as a series; above, the subtraction loses two digits at most.
_SERIES_BELOW = 0.05
_COEFFICIENTS = tuple((-1) ** (k + 1) / k for k in range(2, 15))


def complex_expm1(z: ComplexArray) -> ComplexArray:
    """Return e^z - 1 = expm1(x) - 2 e^x sin^2(y/2) + i e^x sin y, z = x + iy."""
    size = np.exp(z.real)
    half = np.sin(z.imag / 2)
    return (np.expm1(z.real) - 2 * size * half * half) + 1j * (size * np.sin(z.imag))


def complex_log1p(z: ComplexArray) -> ComplexArray:
    """Return log(1 + z), principal branch; error within ULP |z| for small z.

    NumPy's own takes the logarithm of |1 + z|, and gives 0 for small z.
    """
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        gain = z.real * (2 + z.real) + z.imag * z.imag
        far = np.log(np.hypot(1 + z.real, z.imag))
        real = np.where((gain > -0.5) & (gain < 1), np.log1p(gain) / 2, far)
    return real + 1j * np.arctan2(z.imag, 1 + z.real)


def log1p_minus(r: Array) -> Array:
    """Return log(1 + r) - r for r > -1; relative error within 8 ULP."""
    small = np.where(np.abs(r) < _SERIES_BELOW, r, 0.0)
    series = np.zeros_like(small)
    for coefficient in reversed(_COEFFICIENTS):
        series = series * small + coefficient
    return np.where(np.abs(r) < _SERIES_BELOW, series * small * small, np.log1p(r) - r)
