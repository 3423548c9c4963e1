"""A fixed Matern path, evaluated point by point in floating point: for simulation only.

A Matern process and its derivatives are a Markov process, so a step of any length is exact.
"""

import math
from dataclasses import dataclass, field
from typing import Final, TypeAlias, final

import numpy as np
import numpy.typing as npt

from neyman.arguments import check_type, whole
from neyman.errors import InvalidParameter
from neyman.functional._arguments import numbers
from neyman.functional._gaussian_processes._kernels import Matern
from neyman.numerics import Array, Real, exact, ndtri

__all__ = ["MaternPath", "stationary_root", "step_noise", "transition"]

_Words: TypeAlias = npt.NDArray[np.uint64]

_CELLS_A_UNIT: Final = 1024
_MOST_LEVELS: Final = 40
_SERIES_TO: Final = 1.5
_TERMS: Final = 40


@final
@dataclass(frozen=True, slots=True, eq=False)
class MaternPath:
    """A path of a Matern process on an interval. Not private: it has floats from a public seed.

    First the states at both ends are drawn, then the state half-way given both, and so on down to a
    lattice of at least 1024 steps per unit 1/b. The path is linear in between. Every draw depends
    only on `seed` and the lattice point. So a path is a function: equal points give equal bits, in
    any call and any order, without memory.

    Attributes:
        kernel: the covariance.
        lower: the lower end.
        upper: the upper end.
        seed: the seed of the path.

    Error: an estimate: at lattice points the covariance is within 1e-11. In between, the variance
        is too small by at most (1 - k(step)) / 2, which is 5e-4 for smoothness 1/2 and 5e-7 for
        larger ones.
    """

    kernel: Matern
    lower: float
    upper: float
    seed: int
    _levels: tuple[tuple[Array, Array, Array], ...] = field(init=False, repr=False)

    def __init__(self, kernel: Matern, lower: Real, upper: Real, *, seed: int) -> None:
        """Compute the coefficients of each halving, level by level.

        Raises:
            InvalidParameter: if the ends are reversed, or 2^30 units apart.
        """
        check_type("kernel", kernel, Matern, "Matern(smoothness, length_scale)")
        seed = whole("seed", seed, 0, 2**64 - 1)
        ends = float(exact(lower, "lower")), float(exact(upper, "upper"))
        cells = (ends[1] - ends[0]) * kernel.rate * _CELLS_A_UNIT
        if not 0 < cells <= 2.0**_MOST_LEVELS:
            raise InvalidParameter(
                "a path needs lower < upper, less than 10^8 length scales apart; got "
                f"lower={lower!r}, upper={upper!r}"
            )
        levels = max(0, math.ceil(math.log2(cells)))
        widths = (ends[1] - ends[0]) * 0.5 ** np.arange(1, levels + 1)
        for name, value in (
            ("kernel", kernel),
            ("lower", ends[0]),
            ("upper", ends[1]),
            ("seed", seed),
            ("_levels", tuple(_halving(kernel, half) for half in widths)),
        ):
            object.__setattr__(self, name, value)

    def __call__(self, x: npt.ArrayLike) -> Array:
        """Return f at each x, in the shape of x.

        Raises:
            InvalidParameter: if a point is outside the interval.
        """
        given = numbers("x", x)
        if not ((given >= self.lower) & (given <= self.upper)).all():
            raise InvalidParameter(
                f"x must be in [{self.lower}, {self.upper}]; write other points or a longer path"
            )
        cells = 1 << len(self._levels)
        place = (given.reshape(-1) - self.lower) / (self.upper - self.lower) * cells
        cell = np.minimum(place.astype(np.int64), cells - 1)
        left, right = self._ends(cell.size)
        for level, (from_left, from_right, root) in enumerate(self._levels):
            below = len(self._levels) - level - 1
            middle = self._drawn(root, level + 2, cell >> (below + 1))
            middle = [
                m + a + b
                for m, a, b in zip(
                    middle, _product(from_left, left), _product(from_right, right), strict=True
                )
            ]
            upper_half = ((cell >> below) & 1) == 1
            left = [np.where(upper_half, m, a) for m, a in zip(middle, left, strict=True)]
            right = [np.where(upper_half, b, m) for m, b in zip(middle, right, strict=True)]
        part = place - cell
        return (left[0] + (right[0] - left[0]) * part).reshape(given.shape)

    def _ends(self, size: int) -> tuple[list[Array], list[Array]]:
        length = np.array(self.upper - self.lower)
        zero = np.zeros(size, np.int64)
        left = self._drawn(stationary_root(self.kernel), 0, zero)
        right = self._drawn(step_noise(self.kernel, length), 1, zero)
        carried = _product(transition(self.kernel, length), left)
        return left, [a + b for a, b in zip(right, carried, strict=True)]

    def _drawn(self, root: Array, level: int, index: npt.NDArray[np.int64]) -> list[Array]:
        """Return root @ z, where z depends on the seed, the level and the index."""
        words = _mixed(np.full(index.size, self.seed, np.uint64) ^ np.uint64(level << 56))
        words = _mixed(words ^ index.view(np.uint64))
        z = [_normal(_mixed(words ^ np.uint64(k + 1))) for k in range(len(root))]
        return _product(root, z)


def _halving(kernel: Matern, half: float) -> tuple[Array, Array, Array]:
    """Return the regression of the middle state on both ends, and the root of the rest.

        S = (Q^-1 + A^T Q^-1 A)^-1,   E[x | left, right] = S Q^-1 A left + S A^T Q^-1 right

    in coordinates divided by powers of the step, where no entry is small.
    """
    u = min(half * kernel.rate, 1.0)
    scales = u ** (kernel.states - 0.5 - np.arange(kernel.states))
    step = np.array(half)
    a = transition(kernel, step) / scales[:, None] * scales
    root = step_noise(kernel, step) / scales[:, None]
    inverse = np.linalg.inv(root)
    q = inverse.T @ inverse
    rest = np.linalg.inv(q + a.T @ q @ a)
    rest = (rest + rest.T) / 2
    found = rest @ q @ a, rest @ a.T @ q
    back = [scales[:, None] * matrix / scales for matrix in found]
    return back[0], back[1], scales[:, None] * np.linalg.cholesky(rest)


def _product(matrix: Array, vector: list[Array]) -> list[Array]:
    """Multiply elementwise, in a fixed order."""
    rows: list[Array] = []
    for row in matrix.tolist():
        total = row[0] * vector[0]
        for entry, x in zip(row[1:], vector[1:], strict=True):
            total = total + entry * x
        rows.append(total)
    return rows


def _mixed(words: _Words) -> _Words:
    """Return 64 bits scrambled by a bijection.

    Source: Steele, Lea and Flood, *Fast splittable pseudorandom number generators*, OOPSLA 2014.
    """
    words = words + np.uint64(0x9E3779B97F4A7C15)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def _normal(words: _Words) -> Array:
    """Return normal numbers of 52 bits each, never infinite."""
    return ndtri(((words >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52)


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

    It is not computed as P - A P A^T, which cancels for small steps: entries of Q have orders
    u^(2q-1) to u. Integrals of s^k e^(-2s) come from a series of positive terms, and the root is
    that of the correlations.
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
