# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false
"""Noisy numbers of records up to each value of a grid, by exact least squares, and their noise."""

from dataclasses import dataclass, field
from typing import Self, cast, final

import numpy as np

from neyman.aggregate import IntArray
from neyman.functional._quantiles._step_basis import StepBasis
from neyman.numerics import Array

__all__ = ["StepCounts"]


@final
@dataclass(frozen=True, slots=True, eq=False)
class StepCounts:
    """F(x) of every group, and the variances of F(x) - p n under noise of variance 1.

        c = (A'A)^-1 A'y,   F = running sums of c,   A the features before they are rounded

    A'A is a symmetric Toeplitz matrix, so one solution u of A'A u = e_0 gives its inverse,

        (A'A)^-1 = (L(u) L(u)' - L(v) L(v)') / u_0,   v = (0, u_{N-1}, ..., u_1)

    and with running sums U, V of u and v

        var F(x) = (sum_{m <= x} U_m^2 - V_m^2) / u_0,
        cov(F(x), n) = (sum_{m <= x} U_m U_{m+N-1-x} - V_m V_{m+N-1-x}) / u_0

    One further step by the rounded features takes out what rounding moved: F is unbiased.

    Attributes:
        up_to: F, shape (groups, N); n is the last.
        variance: of F(x), shape (N,).
        shared: its covariance with n, shape (N,).

    Source: Gohberg and Semencul, *On the inversion of finite Toeplitz matrices and their continuous
        analogs*, 1972.
    """

    up_to: Array = field(repr=False)
    variance: Array = field(repr=False)
    shared: Array = field(repr=False)

    @classmethod
    def of(cls, basis: StepBasis, noisy: IntArray) -> Self:
        """Solve.

        Args:
            basis: what the integers are sums of.
            noisy: as released, shape (groups, size).
        """
        u, v = _inverse(basis)
        released = noisy.astype(np.float64)
        counts = _solved(u, v, _transposed(basis, released))
        rest = released.copy()
        for rows, features in basis.blocks():
            rest[:, rows] -= counts @ features.T
        counts += _solved(u, v, _transposed(basis, rest))
        sums, others = np.cumsum(u), np.cumsum(v)
        variance = np.cumsum(sums**2 - others**2) / u[0]
        shared = (_overlaps(sums) - _overlaps(others)) / u[0]
        return cls(np.cumsum(counts, axis=1), variance, shared)

    def length(self, probability: float) -> Array:
        """Return the standard deviation of F(x) - p n at each x, shape (N,)."""
        p = probability
        return np.sqrt(
            np.maximum(self.variance - 2 * p * self.shared + p * p * self.variance[-1], 0.0)
        )


def _inverse(basis: StepBasis) -> tuple[Array, Array]:
    """Return the first column of (A'A)^-1, and v."""
    from scipy.linalg import solve_toeplitz

    m, n = basis.circle_nodes, basis.nodes
    squares = basis.amplitudes**2
    squares[1:] /= 2
    products = m * np.fft.irfft(squares.astype(np.complex128), m)[:n]
    first = np.zeros(n)
    first[0] = 1.0
    u = np.asarray(cast("Array", solve_toeplitz(products, first)))
    return u, np.concatenate([[0.0], u[:0:-1]])


def _transposed(basis: StepBasis, released: Array) -> Array:
    """Return A'y of each group, shape (groups, N)."""
    m, amplitudes = basis.circle_nodes, basis.amplitudes
    last = len(amplitudes)
    terms = np.zeros((len(released), last), np.complex128)
    terms[:, 0] = amplitudes[0] * released[:, 0]
    terms[:, 1:] = amplitudes[1:] / 2 * (released[:, 1:last] - 1j * released[:, last:])
    return m * np.fft.irfft(terms, m, axis=1)[:, : basis.nodes]


def _solved(u: Array, v: Array, right: Array) -> Array:
    """Return (A'A)^-1 b for each row b: products with triangular Toeplitz matrices, by FFT."""
    n = len(u)
    length = 1 << (2 * n - 1).bit_length()

    def square(w: Array) -> Array:
        wave = np.fft.rfft(w, length)
        inner = np.fft.irfft(np.fft.rfft(right, length, axis=1) * wave.conj(), length, axis=1)
        return np.fft.irfft(np.fft.rfft(inner[:, :n], length, axis=1) * wave, length, axis=1)[:, :n]

    return (square(u) - square(v)) / u[0]


def _overlaps(sums: Array) -> Array:
    """Return sum_{m <= x} s_m s_{m + N - 1 - x} at each x."""
    n = len(sums)
    length = 1 << (2 * n - 1).bit_length()
    wave = np.fft.rfft(sums, length)
    lags = np.fft.irfft(wave * wave.conj(), length)[:n]
    return lags[::-1]
