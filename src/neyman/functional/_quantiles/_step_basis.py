"""Counts up to every value of a public grid, by waves without smoothing, and their noise."""

# scipy carries no types of its own.
# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar, Final, Self, cast, final

import numpy as np

from neyman.aggregate import Columns, IntArray
from neyman.errors import InvalidParameter
from neyman.functional._bases._abstract_basis import AbstractBasis
from neyman.functional._bases._features import (
    block_norms,
    block_products,
    feature_sensitivity,
    whole_sums,
)
from neyman.nodes import Nodes
from neyman.numerics import Array, text
from neyman.overriding import override
from neyman.sensitivity import Neighbors, Sensitivity

__all__ = ["StepBasis", "StepCounts", "distinct_step"]

_BITS: Final = 24
_MOST_STEPS: Final = 2**13
_FEWEST_OF_MANY: Final = _MOST_STEPS // 2
# Of the count, beside the slowest wave; measured: least noise of counts up to a share.
_COUNT_WEIGHT: Final = 1.5
_BLOCK: Final = 1 << 17


def distinct_step(lower: Fraction, upper: Fraction, grid: Fraction) -> Fraction:
    """Return the distance between distinct values; it is the grid if that has few steps.

    For more than 8,192 steps, it is the least multiple of the grid that divides the distance into
    at most 8,192 parts. If that gives fewer than 4,096 parts, the distance is divided into 8,192.
    It depends on the bounds and the grid only, not on rows.
    """
    steps = (upper - lower) / grid if grid > 0 else Fraction(0)
    if steps.denominator != 1 or steps <= _MOST_STEPS:
        return grid
    fitting = range(_MOST_STEPS, _FEWEST_OF_MANY - 1, -1)
    parts = next((n for n in fitting if int(steps) % n == 0), _MOST_STEPS)
    return (upper - lower) / parts


@final
@dataclass(frozen=True, slots=True)
class StepBasis(AbstractBasis):
    """All waves on a circle of M places, of which the first N are the values of a grid.

    The column of place x has, for each j = 0 ... (M - 1) / 2, the integers nearest to 2^24 r_j cos
    w_j x and 2^24 r_j sin w_j x, w_j = 2 pi j / M, with r_0^2 + ... = 1 and

        r_j^2 proportional to 2 q_j,   q_j = 1 / (2 sin(w_j / 2)),   r_0^2 to 1.5 q_1

    This division of the budget gives running sums of counts the least noise among all that treat
    the places of a circle equally. The empty part beyond the grid separates its ends. There are as
    many integers as places, so nothing is smoothed, and heaps stay where they are.

    Attributes:
        lower: the first value.
        upper: the last value.
        grid: the distance between values.
    """

    statistic: ClassVar[str] = "quantile"
    rules: ClassVar[int] = 1

    lower: Fraction
    upper: Fraction
    grid: Fraction

    def __post_init__(self) -> None:
        """Check the bounds and the grid.

        Raises:
            InvalidParameter: if there are more than 8193 values, or upper is not above lower by a
                whole number of steps.
        """
        steps = (self.upper - self.lower) / self.grid if self.grid > 0 else Fraction(0)
        if steps.denominator != 1 or steps < 1:
            raise InvalidParameter(
                "grid must be positive and divide the distance of the bounds; got "
                f"{text(self.grid)} from {text(self.lower)} to {text(self.upper)}"
            )
        if steps > _MOST_STEPS:
            raise InvalidParameter(
                f"there must be at most {_MOST_STEPS} steps; got {int(steps)} steps of "
                f"{text(self.grid)} from {text(self.lower)} to {text(self.upper)}. Write a grid of "
                f"at least {float(self.grid * steps / _MOST_STEPS):.6g}"
            )

    @property
    def nodes(self) -> int:
        """N, the number of values of the grid."""
        return int((self.upper - self.lower) / self.grid) + 1

    @property
    def circle_nodes(self) -> int:
        """M, an odd number, about 1.5 N."""
        return (self.nodes + self.nodes // 2) | 1

    @property
    @override
    def size(self) -> int:
        return self.circle_nodes

    @property
    def values(self) -> Array:
        """The values of the grid, each rounded once."""
        by = math.lcm(self.lower.denominator, self.grid.denominator)
        first, step = int(self.lower * by), int(self.grid * by)
        # Quotients of integers are rounded correctly, and a hundred times quicker than fractions.
        return np.array([(first + k * step) / by for k in range(self.nodes)])

    @property
    @override
    def axes(self) -> tuple[Nodes]:
        lower, upper = float(self.lower), float(self.upper)
        return (
            Nodes(
                start=lower,
                end=upper,
                step=float(self.grid),
                number=self.nodes,
                closed=False,
                dropped=False,
            ),
        )

    @property
    def amplitudes(self) -> Array:
        """2^24 r_j for j = 0 ... (M - 1) / 2."""
        m = self.circle_nodes
        harmonics = np.arange(1, (m + 1) // 2)
        waves = 1 / np.sin(math.pi / m * harmonics)
        squares = np.concatenate([[_COUNT_WEIGHT * waves[0] / 2], waves])
        return 2.0**_BITS * np.sqrt(squares / squares.sum())

    def blocks(self) -> Iterator[tuple[slice, Array]]:
        """Yield (rows, features) of the integer matrix: the count, the cosines, the sines."""
        m, amplitudes = self.circle_nodes, self.amplitudes
        yield slice(0, 1), np.full((1, self.nodes), np.rint(amplitudes[0]))
        turns = np.arange(m) / m
        waves = np.cos(2 * np.pi * turns), np.cos(2 * np.pi * (turns - 0.25))
        # Products below 2^31, whose remainders are found twice as fast.
        node, last = np.arange(self.nodes, dtype=np.int32), len(amplitudes)
        height = max(1, _BLOCK // self.nodes)
        for low in range(1, last, height):
            harmonic = np.arange(low, min(low + height, last), dtype=np.int32)
            place = np.multiply.outer(harmonic, node) % m
            for wave, row in zip(waves, (low, low + last - 1), strict=True):
                features = wave.take(place)
                features *= amplitudes[harmonic, None]
                yield slice(row, row + harmonic.size), np.rint(features, out=features)

    def products(self, numbers: Array) -> IntArray:
        """Return the product of the matrix of features with columns of numbers."""
        return block_products(self, numbers)

    def norms(self) -> tuple[IntArray, int]:
        """Return the squared norms of its columns, and its largest entry."""
        return block_norms(self)

    @override
    def sums(self, counts: IntArray) -> IntArray:
        return whole_sums(self, counts)

    @override
    def sensitivity(self, neighbors: Neighbors) -> Sensitivity:
        return feature_sensitivity(self, neighbors)

    @property
    @override
    def label_names(self) -> tuple[str, ...]:
        return "frequency", "part"

    @override
    def labels(self) -> Columns:
        harmonics = list(range(1, len(self.amplitudes)))
        parts = ["count"] + ["cos"] * len(harmonics) + ["sin"] * len(harmonics)
        return {"frequency": [0, *harmonics, *harmonics], "part": parts}

    @override
    def record(self) -> dict[str, object]:
        return {"lower": text(self.lower), "upper": text(self.upper), "grid": text(self.grid)}


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

    One further step with the rounded features removes the effect of rounding, so F is unbiased.

    Attributes:
        up_to: F, shape (groups, N); the last is n.
        variance: variance of F(x), shape (N,).
        shared: covariance of F(x) with n, shape (N,).

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
            basis: the basis of the integers.
            noisy: the released integers, shape (groups, size).
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
