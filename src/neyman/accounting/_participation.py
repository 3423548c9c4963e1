"""In which steps one record may take part, and the pattern that moves a measurement furthest.

Contributions to different steps may point in any directions. For non-negative C the move
||sum_i C_i u_i^T||^2 = sum_ij <C_i, C_j> <u_i, u_j> is largest where all u are equal, so it is
max over patterns of ||sum of columns||^2.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

import numpy as np

from neyman.errors import InvalidParameter
from neyman.numerics import Array
from neyman.overriding import override

__all__ = ["FixedEpochs", "MinimumSeparation", "Once", "Participation", "toeplitz"]

_MOST_PATTERNS = 200_000


class Participation(ABC):
    """A set of patterns; a pattern is a set of steps."""

    __slots__ = ()

    @abstractmethod
    def largest(self, matrix: Array) -> float:
        """Return the largest squared norm of the sum of a pattern's columns, about."""


@final
@dataclass(frozen=True, slots=True)
class Once(Participation):
    """Each record contributes to one step at most."""

    @override
    def largest(self, matrix: Array) -> float:
        return float(np.max(np.sum(matrix * matrix, axis=0)))


@final
@dataclass(frozen=True, slots=True)
class FixedEpochs(Participation):
    """Each record contributes to the steps p, p + period, p + 2 period, ..., for a p of its own.

    Attributes:
        period: steps in an epoch.
    """

    period: int

    def __post_init__(self) -> None:
        """Refuse what is no period."""
        _check(self.period, "period")

    @override
    def largest(self, matrix: Array) -> float:
        sums = [matrix[:, p :: self.period].sum(axis=1) for p in range(self.period)]
        return max(float(total @ total) for total in sums if total.size)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class MinimumSeparation(Participation):
    """Each record contributes at most so many times, any two at least so many steps apart.

    Attributes:
        separation: b.
        times: k.
    """

    separation: int
    times: int

    def __post_init__(self) -> None:
        """Refuse what is no count."""
        _check(self.separation, "separation")
        _check(self.times, "times")

    def largest(self, matrix: Array) -> float:
        """In closed form, by dynamic programming or by enumeration, whichever is exact.

        Toeplitz with falling coefficients: the earliest pattern, 1, 1 + b, ... (Kalinin and
        Lampert, 2024, theorem 2). Columns that are orthogonal b apart: squared norms add.
        """
        if _falling_toeplitz(matrix):
            total = matrix[:, : self.separation * self.times : self.separation].sum(axis=1)
            return float(total @ total)
        gram = matrix.T @ matrix
        if not np.any(np.triu(gram, self.separation)):
            return self._orthogonal(np.diag(gram))
        return max(float(gram[np.ix_(rows, rows)].sum()) for rows in self._patterns(len(gram)))

    def _orthogonal(self, norms: Array) -> float:
        """Return the largest sum of `times` norms, `separation` apart."""
        steps = norms.size
        best = np.zeros(steps + 1)
        for _ in range(min(self.times, steps)):
            taken = norms + best[np.minimum(np.arange(steps) + self.separation, steps)]
            best = np.append(np.maximum.accumulate(taken[::-1])[::-1], 0.0)
        return float(best[0])

    def _patterns(self, steps: int) -> Iterator[list[int]]:
        """Yield all patterns that no step can be added to at the end."""
        seen = 0
        stack: list[list[int]] = [[i] for i in range(steps)]
        while stack:
            seen += 1
            if seen > _MOST_PATTERNS:
                raise InvalidParameter(
                    f"times={self.times}, separation={self.separation} leave more than "
                    f"{_MOST_PATTERNS} patterns in {steps} steps, and this matrix has no closed "
                    "form; write a banded or square-root strategy, or FixedEpochs(period)"
                )
            pattern = stack.pop()
            later = range(pattern[-1] + self.separation, steps)
            if len(pattern) == self.times or not later:
                yield pattern
            else:
                stack.extend([*pattern, i] for i in later)


def _falling_toeplitz(matrix: Array) -> bool:
    rows, steps = matrix.shape
    if rows != steps:
        return False
    first = matrix[:, 0]
    same = np.array_equal(matrix, toeplitz(first))
    return bool(same and np.all(np.diff(first) <= 0))


def toeplitz(first: Array) -> Array:
    """Return the lower triangular Toeplitz matrix with this first column."""
    place = np.arange(first.size)
    gaps = place[:, None] - place
    return np.where(gaps >= 0, first[np.maximum(gaps, 0)], 0.0)


def _check(value: int, name: str) -> None:
    if type(value) is not int or value < 1:
        raise InvalidParameter(f"{name}={value!r} was given; write an int of at least 1")
