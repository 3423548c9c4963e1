"""Power series, for Toeplitz matrices: their inverses, and the error of prefix sums."""

import numpy as np

from neyman.numerics import Array

__all__ = ["correlation", "error_of", "inverse_series", "product"]


def product(one: Array, other: Array) -> Array:
    """Return the first coefficients of the product, as many as `one` has."""
    size = one.size
    width = 1 << (2 * size - 1).bit_length()
    found: Array = np.fft.irfft(np.fft.rfft(one, width) * np.fft.rfft(other, width), width)
    return found[:size]


def correlation(one: Array, other: Array) -> Array:
    """Return sum over s of one[s] other[s - k], for each k."""
    return product(one[::-1].copy(), other)[::-1].copy()


def inverse_series(first: Array) -> Array:
    """Return the coefficients of 1 / c(x), by Newton's method."""
    size = first.size
    found = np.asarray([1 / first[0]])
    while found.size < size:
        wide = min(2 * found.size, size)
        now = np.zeros(wide)
        now[: found.size] = found
        rest = -product(first[:wide], now)
        rest[0] += 2
        found = product(now, rest)
    return found


def error_of(first: Array) -> tuple[float, float]:
    """Return the largest row norm of A C^-1, and its root mean square; A are the prefix sums."""
    sums = np.cumsum(inverse_series(first))
    squares = np.cumsum(sums * sums)
    return float(np.sqrt(squares[-1])), float(np.sqrt(np.mean(squares)))
