"""The theta function that normalises a discrete Gaussian, at complex shifts."""

import math

import numpy as np
import numpy.typing as npt

__all__ = ["log_theta_ratio", "theta_error"]

_TERMS = np.arange(1, 5)
# From here on Poisson's sum needs four terms, below it the direct one a dozen.
_WIDE = 0.25


def log_theta_ratio(z: npt.NDArray[np.complex128], square: float) -> npt.NDArray[np.complex128]:
    """Return log theta(z) - log theta(0), theta(z) = sum over k of exp(-(k - z)^2 / (2 square)).

    By Poisson summation theta(z) is proportional to
    1 + 2 sum over m >= 1 of e^{-2 pi^2 square m^2} cos(2 pi m z).

    Args:
        z: complex, any shape; |imaginary part| at most pi * square where that is large.
        square: sigma^2, positive.

    Error: relative, about 1e-14 wherever Poisson's sum is used, next to the zero at z = 0 too.
    """
    x = z - np.rint(z.real)
    if square < _WIDE:
        return _direct(x, square)
    decay = -2 * math.pi**2 * square * _TERMS**2
    turn = math.pi * np.multiply.outer(x, _TERMS)
    small = np.abs(turn.imag) < 1
    near = -4 * np.exp(decay) * np.sin(np.where(small, turn, 0.0)) ** 2
    with np.errstate(over="ignore", invalid="ignore"):
        far = np.exp(decay + 2j * turn) + np.exp(decay - 2j * turn) - 2 * np.exp(decay)
    total = np.sum(np.where(small, near, far), axis=-1)
    return np.asarray(np.log1p(total / (1 + 2 * float(np.sum(np.exp(decay))))))


def theta_error(square: float) -> tuple[float, float]:
    """Return the errors of `log_theta_ratio` at real z: relative, and what the direct sum adds."""
    return 2.0**-46, 0.0 if square >= _WIDE else 2.0**-44 * (1 + 1 / square)


def _direct(x: npt.NDArray[np.complex128], square: float) -> npt.NDArray[np.complex128]:
    k = np.arange(-24, 25)
    # The factor exp(-x^2 / (2 square)) apart, for the rest is exactly 1 at x = 0.
    exponents = np.multiply.outer(x, k) / square - (k**2) / (2 * square)
    largest = np.max(exponents.real, axis=-1)
    total = np.sum(np.exp(exponents - largest[..., None]), axis=-1)
    at_zero = float(np.sum(np.exp(-(k**2) / (2 * square))))
    return -x * x / (2 * square) + np.log(total) + largest - math.log(at_zero)
