"""Strategies as explicit matrices: any matrix of your own, and trees."""

# scipy carries no types of its own.
# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np
import numpy.typing as npt

from neyman.accounting._correlated_noise import CorrelatedNoise, Row, counted
from neyman.accounting._participation import Participation
from neyman.arguments import whole
from neyman.errors import InvalidParameter
from neyman.numerics import Array
from neyman.overriding import override

__all__ = ["Strategy", "tree_strategy"]

_MOST_STEPS = 8192


@final
@dataclass(frozen=True, slots=True, eq=False)
class Strategy(CorrelatedNoise):
    """A strategy C given as a matrix.

    Prefix sums are A G, A the lower triangular matrix of ones. They are computed as B (C G + Z)
    with B C = A, so that their noise is B Z. The entries of C are exactly the doubles in `matrix`;
    measure with these.

    Guarantee: for G chosen adaptively, row after row, from earlier outputs, if each row of C is
        measured after the last step in it (row t at step t if C is lower triangular). For any
        choice, the squared moves of the measurements add up to at most sensitivity^2, and the
        Gaussian filter applies.

    Attributes:
        matrix: C, shape (rows, steps), finite, non-negative.

    >>> from neyman.accounting import Once
    >>> f = Strategy(np.tril(np.ones((16, 16)))).tradeoff(noise_multiplier=2, participation=Once())
    >>> f"{f.mu():.4f}"
    '2.0000'
    """

    matrix: Array

    def __post_init__(self) -> None:
        """Take a read-only copy, and refuse a matrix that is not a strategy."""
        matrix: Array = np.array(self.matrix, dtype=np.float64)
        if matrix.ndim != 2 or not 0 < matrix.shape[1] <= _MOST_STEPS or not matrix.size:
            raise InvalidParameter(
                f"a matrix must have shape (rows, steps) with 1 to {_MOST_STEPS} steps; got "
                f"{matrix.shape}"
            )
        if not np.all(np.isfinite(matrix)) or np.any(matrix < 0) or not np.all(matrix.sum(axis=0)):
            raise InvalidParameter(
                "entries of a matrix must be finite and non-negative, without a column of zeros: "
                "the sensitivity of several participations is known for such matrices only"
            )
        if np.max(matrix) > 2.0**100 or np.min(matrix[matrix > 0]) < 2.0**-100:
            raise InvalidParameter("entries of a matrix must be in [2^-100, 2^100]; scale it")
        matrix.flags.writeable = False
        object.__setattr__(self, "matrix", matrix)

    @property
    @override
    def steps(self) -> int:
        return self.matrix.shape[1]

    @property
    @override
    def bands(self) -> int:
        self._check_triangular()
        rows, columns = np.nonzero(self.matrix)
        return int(np.max(rows - columns)) + 1

    @override
    def sensitivity_squared(self, participation: Participation) -> Fraction:
        found = participation.largest(self.matrix)
        return Fraction(found) * (1 + Fraction(sum(self.matrix.shape) + 8, 2**52))

    @override
    def column_sum(self, pattern: range) -> Array:
        return self.matrix[:, pattern].sum(axis=1)

    @override
    def error(self) -> tuple[float, float]:
        """Return the root mean square error of a prefix sum per unit of noise: worst and average.

        These are the largest row norm of B, and its root mean square. B is the least-squares
        decoder, which for a tree also uses measurements of later steps.

        Raises:
            InvalidParameter: if prefix sums cannot be computed from the measurements.
        """
        prefix = np.tril(np.ones((self.steps, self.steps)))
        if self._triangular():
            decoder = _solved(self.matrix, prefix)
        else:
            decoder = np.linalg.lstsq(self.matrix.T, prefix.T, rcond=None)[0].T
        if not np.allclose(decoder @ self.matrix, prefix, atol=1e-6):
            raise InvalidParameter(
                "prefix sums cannot be read off this matrix; write one whose rows span them"
            )
        norms: Array = np.einsum("ij,ij->i", decoder, decoder)
        return float(np.sqrt(np.max(norms))), float(np.sqrt(np.mean(norms)))

    @override
    def correlated(self, noise: Iterable[Row]) -> Iterator[Row]:
        """Yield the rows of C^-1 Z; keeps one row fewer than there are bands."""
        bands, past = self.bands, list[Row]()
        for step, fresh in enumerate(counted(noise, self.steps)):
            row = fresh
            for back, earlier in enumerate(past, 1):
                row = row - earlier * float(self.matrix[step, step - back])
            row = row * (1 / float(self.matrix[step, step]))
            past = [row, *past][: bands - 1]
            yield row

    def _triangular(self) -> bool:
        rows, steps = self.matrix.shape
        return (
            rows == steps
            and not np.any(np.triu(self.matrix, 1))
            and bool(np.all(np.diag(self.matrix)))
        )

    def _check_triangular(self) -> None:
        if not self._triangular():
            raise InvalidParameter(
                "the matrix must be lower triangular with a positive diagonal, so that each step "
                "has its own measurement; write a banded, optimised or buffered strategy"
            )


def _solved(lower: Array, prefix: Array) -> Array:
    """Return the B with B C = A."""
    from scipy.linalg import solve_triangular

    return np.asarray(solve_triangular(lower.T, prefix.T).T, dtype=np.float64)


def tree_strategy(steps: int) -> Strategy:
    """Return tree aggregation: one row for every full binary interval [j 2^i, (j + 1) 2^i).

    A step is in at most 1 + floor(log2(steps)) of them.

    Args:
        steps: from 1 to 8192.

    Raises:
        InvalidParameter: if `steps` is out of range.

    Source: Dwork, Naor, Pitassi and Rothblum (2010); Chan, Shi and Song (2011).

    >>> from neyman.accounting import Once
    >>> tree_strategy(4).matrix.shape, tree_strategy(4).sensitivity_squared(Once()) < 3.001
    ((7, 4), True)
    """
    whole("steps", steps, 1, _MOST_STEPS)
    rows: list[npt.NDArray[np.float64]] = []
    at, width = np.arange(steps), 1
    while width <= steps:
        rows.extend((at // width == j).astype(np.float64) for j in range(steps // width))
        width *= 2
    return Strategy(np.stack(rows))
