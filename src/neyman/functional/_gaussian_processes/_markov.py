"""Matern processes on the line as processes without memory, exact over steps of any length."""

import math
from typing import Final

import numpy as np

from neyman.functional._gaussian_processes._kernels import Matern
from neyman.numerics import Array

__all__ = ["stationary_root", "step_noise", "transition"]

_SERIES_TO: Final = 1.5
_TERMS: Final = 40


def transition(kernel: Matern, steps: Array) -> Array:
    """Return A with E[x(t + step) | x(t)] = A x(t), shape (..., q, q).

    x = (f, f'/b, ..., f^(q-1)/b^(q-1)). b step = u is the unit of time, in which x' = F x + noise,
    F + I = N nilpotent, and A = e^-u sum_j N^j u^j / j!.
    """
    u = np.asarray(steps * kernel.rate)[..., None, None]
    with np.errstate(under="ignore"):
        total = np.zeros((*u.shape[:-2], kernel.states, kernel.states))
        for j, power in enumerate(_powers(kernel.states)):
            total += power * (u**j / math.factorial(j))
        return total * np.exp(-u)


def step_noise(kernel: Matern, steps: Array) -> Array:
    """Return Q^(1/2), lower triangular, Q the covariance of x(t + step) given x(t).

        Q = c integral_0^u g(s) g(s)^T ds,   g(s) = A(s) e_q

    and not P - A P A^T, in which nothing is left for small steps: entries of Q are of orders
    u^(2q-1) to u. Integrals of s^k e^(-2s) come from a series of positive terms, and the root is
    taken of the correlations.
    """
    u = np.asarray(steps * kernel.rate, np.float64)
    q = kernel.states
    integrals = [_integral(k, u) for k in range(2 * q - 1)]
    columns = [p[:, -1] / math.factorial(j) for j, p in enumerate(_powers(q))]
    total = np.zeros((*u.shape, q, q))
    for i, left in enumerate(columns):
        for j, right in enumerate(columns):
            total += np.outer(left, right) * integrals[i + j][..., None, None]
    total *= (2.0, 4.0, 16 / 3)[q - 1]
    sizes = np.sqrt(np.einsum("...ii->...i", total))
    safe = np.where(sizes > 0, sizes, 1.0)
    correlations = total / safe[..., :, None] / safe[..., None, :]
    # A step of no length has no noise: any root will do, times nothing.
    correlations = np.where((sizes > 0).all(axis=-1)[..., None, None], correlations, np.eye(q))
    return np.asarray(np.linalg.cholesky(correlations) * sizes[..., :, None], np.float64)


def stationary_root(kernel: Matern) -> Array:
    """Return P^(1/2), P the covariance of x(t)."""
    return step_noise(kernel, np.array(1e6 / kernel.rate))


def _powers(q: int) -> list[Array]:
    """Return I, N, ... N^(q-1)."""
    matrix = np.eye(q) + np.diag(np.ones(q - 1), 1)
    matrix[-1] -= [math.comb(q, j) for j in range(q)]
    return [np.linalg.matrix_power(matrix, j) for j in range(q)]


def _integral(k: int, u: Array) -> Array:
    """Return the integral of s^k e^(-2s) from 0 to u, to full relative accuracy."""
    with np.errstate(under="ignore"):
        short = np.minimum(u, _SERIES_TO)
        term = short ** (k + 1) / (k + 1)
        series = term.copy()
        for j in range(_TERMS):
            term = term * (2 * short / (k + 2 + j))
            series += term
        long = np.clip(2 * u, 0.0, 1400.0)
        rest = sum((long**i / math.factorial(i) for i in range(k + 1)), start=np.zeros_like(u))
        closed = math.factorial(k) / 2.0 ** (k + 1) * (1 - np.exp(-long) * rest)
        return np.where(u < _SERIES_TO, np.exp(-2 * short) * series, closed)
