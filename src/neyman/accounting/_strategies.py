"""Correlated noise for prefix sums: what is measured, and how far one record moves it."""

from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np
import numpy.typing as npt

from neyman.accounting._participation import FixedEpochs, MinimumSeparation, Once, toeplitz
from neyman.curves import TradeOff, gdp
from neyman.errors import InvalidParameter
from neyman.numerics import Array, Real, exact, text

__all__ = ["Strategy", "banded_strategy", "square_root_strategy", "tree_strategy"]

_MOST_STEPS = 8192


@final
@dataclass(frozen=True, slots=True, eq=False)
class Strategy:
    """C, of which C G + Z is released, Z independent N(0, sigma^2): the matrix mechanism.

    Row t of G is the contribution of step t, a vector of norm at most 1 for each record in it.
    Prefix sums A G, A lower triangular ones, are read off as B (C G + Z) with B C = A, so that
    their noise is B Z. The entries of C are the doubles in `matrix`, exactly: what is measured must
    be measured with these.

    Guarantee: for G chosen adaptively, row after row, from what was released, if each row of C is
        measured after the last step in it (row t at step t, where C is lower triangular). The moves
        of the measurements have squares that add up to at most sensitivity^2, whatever is chosen,
        and the Gaussian filter does the rest.
    Source: Li, Miklau, Hay, McGregor and Rastogi (2015); Denisov, McMahan, Rush, Smith and
        Thakurta (2022), for adaptive streams.

    Attributes:
        matrix: C, shape (rows, steps), finite, non-negative.

    >>> square_root_strategy(4).matrix[:, 0].tolist()
    [1.0, 0.5, 0.375, 0.3125]
    >>> f = square_root_strategy(1024).tradeoff(noise_multiplier=2, participation=Once())
    >>> f"{f.mu():.4f}"
    '0.9045'
    """

    matrix: Array

    def __post_init__(self) -> None:
        """Take a copy that cannot be changed, and refuse what is no strategy."""
        matrix: Array = np.array(self.matrix, dtype=np.float64)
        if matrix.ndim != 2 or not 0 < matrix.shape[1] <= _MOST_STEPS or not matrix.size:
            raise InvalidParameter(
                f"a matrix of shape {matrix.shape} was given; write (rows, steps) with 1 to "
                f"{_MOST_STEPS} steps"
            )
        if not np.all(np.isfinite(matrix)) or np.any(matrix < 0) or not np.all(matrix.sum(axis=0)):
            raise InvalidParameter(
                "a matrix with a negative or infinite entry, or a column of zeros, was given; the "
                "sensitivity of several participations is known here for non-negative ones"
            )
        if np.max(matrix) > 2.0**100 or np.min(matrix[matrix > 0]) < 2.0**-100:
            raise InvalidParameter("entries outside [2^-100, 2^100] were given; scale the matrix")
        matrix.flags.writeable = False
        object.__setattr__(self, "matrix", matrix)

    @property
    def steps(self) -> int:
        """How many."""
        return self.matrix.shape[1]

    def sensitivity_squared(
        self, participation: "Once | FixedEpochs | MinimumSeparation"
    ) -> Fraction:
        """Return max over patterns of ||sum of the columns of a pattern||^2, rounded up.

        One record replaced moves each of its rows by 2 at most, added or removed by 1: this is for
        a move of 1.

        Raises:
            InvalidParameter: where the patterns are too many, and no closed form is known.

        Error: relative, below 2^-52 (rows + steps + 8), for sums of non-negative terms.
        """
        found = participation.largest(self.matrix)
        return Fraction(found) * (1 + Fraction(sum(self.matrix.shape) + 8, 2**52))

    def tradeoff(
        self,
        *,
        noise_multiplier: Real,
        participation: "Once | FixedEpochs | MinimumSeparation",
    ) -> TradeOff:
        """Return the exact guarantee, mu = sensitivity / noise_multiplier.

        Args:
            noise_multiplier: standard deviation of Z, over the norm of a contribution.
            participation: how often, and how far apart, a record may contribute.

        Raises:
            InvalidParameter: if the noise is not positive, or as `sensitivity_squared`.
        """
        sigma = exact(noise_multiplier, "noise_multiplier")
        if sigma <= 0:
            raise InvalidParameter(
                f"noise_multiplier={text(sigma)} adds no noise; write a positive number"
            )
        return gdp(squared=self.sensitivity_squared(participation) / sigma**2)

    def error(self) -> tuple[float, float]:
        """Return the root mean square error of a prefix sum per unit of noise: worst and average.

        The largest row norm of B, and its root mean square; B is the least-squares decoder, which
        for a tree reads measurements of later steps too.

        Error: of rounding, not bounded; about 1e-10.
        """
        prefix = np.tril(np.ones((self.steps, self.steps)))
        decoder = np.linalg.lstsq(self.matrix.T, prefix.T, rcond=None)[0].T
        if not np.allclose(decoder @ self.matrix, prefix, atol=1e-6):
            raise InvalidParameter(
                "prefix sums cannot be read off this matrix; write one whose rows span them"
            )
        norms: Array = np.einsum("ij,ij->i", decoder, decoder)
        return float(np.sqrt(np.max(norms))), float(np.sqrt(np.mean(norms)))


def _coefficients(steps: int, bands: int) -> Array:
    """Return those of (1 - x)^(-1/2): c_0 = 1, c_k = c_(k-1) (2k - 1) / (2k)."""
    if type(steps) is not int or not 1 <= steps <= _MOST_STEPS:
        raise InvalidParameter(f"steps={steps!r} was given; write an int from 1 to {_MOST_STEPS}")
    if type(bands) is not int or not 1 <= bands <= steps:
        raise InvalidParameter(f"bands={bands!r} was given; write an int from 1 to the steps")
    k = np.arange(1, steps, dtype=np.float64)
    c: Array = np.ones(steps)
    c[1:] = np.cumprod((2 * k - 1) / (2 * k))
    return np.where(np.arange(steps) < bands, c, 0.0)


def square_root_strategy(steps: int) -> Strategy:
    """Return the square root of the prefix sums: Toeplitz, coefficients of (1 - x)^(-1/2).

    Source: Henzinger, Upadhyay and Upadhyay (2023), "Almost tight error bounds on differentially
        private continual counting"; Fichtenberger, Henzinger and Upadhyay (2023).

    >>> worst, average = square_root_strategy(256).error()
    >>> f"{worst:.4f}"
    '1.6826'
    """
    return Strategy(toeplitz(_coefficients(steps, steps)))


def banded_strategy(steps: int, bands: int) -> Strategy:
    """Return the same with its first bands only: steps `bands` apart do not share a measurement.

    Source: Choquette-Choo, Ganesh, McKenna, McMahan, Rush, Thakurta and Xu (2023); Kalinin and
        Lampert (2024), "Banded square root matrix factorization".

    >>> banded_strategy(4, 1).matrix.tolist() == np.eye(4).tolist()
    True
    """
    return Strategy(toeplitz(_coefficients(steps, bands)))


def tree_strategy(steps: int) -> Strategy:
    """Return tree aggregation: one row for every full binary interval [j 2^i, (j + 1) 2^i).

    A step is in at most 1 + floor(log2(steps)) of them.

    Source: Dwork, Naor, Pitassi and Rothblum (2010); Chan, Shi and Song (2011).

    >>> tree_strategy(4).matrix.shape, tree_strategy(4).sensitivity_squared(Once()) < 3.001
    ((7, 4), True)
    """
    _coefficients(steps, 1)
    rows: list[npt.NDArray[np.float64]] = []
    at, width = np.arange(steps), 1
    while width <= steps:
        rows.extend((at // width == j).astype(np.float64) for j in range(steps // width))
        width *= 2
    return Strategy(np.stack(rows))
