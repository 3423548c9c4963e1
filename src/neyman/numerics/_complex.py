"""Elementary functions of complex numbers that keep their digits near 0."""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["ComplexArray", "complex_expm1", "complex_log1p"]

ComplexArray: TypeAlias = npt.NDArray[np.complex128]


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
