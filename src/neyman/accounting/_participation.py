"""The steps in which one record may take part, and the pattern that moves a measurement furthest.

Contributions to different steps may point in any directions. For non-negative C the move ||sum_i
C_i u_i^T||^2 = sum_ij <C_i, C_j> <u_i, u_j> is largest if all u are equal. So it is max over
patterns of ||sum of columns||^2.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

import numpy as np

from neyman.errors import InvalidParameter
from neyman.numerics import Array
from neyman.overriding import override

__all__ = ["FixedEpochs", "MinimumSeparation", "Once", "Participation", "shifted", "toeplitz"]

_MOST_PATTERNS = 200_000


class Participation(ABC):
    """The patterns in which a record may contribute; a pattern is a set of steps."""

    __slots__ = ()

    @abstractmethod
    def largest(self, matrix: Array) -> float:
        """Return the largest squared norm of the sum of a pattern's columns.

        Args:
            matrix: C, non-negative, its entries 0 or in [2^-100, 2^100].

        Error: relative, below 2^-52 (rows + steps + 7). The sums have non-negative terms, are
            squared and added up, and each addition and product has an error of 2^-53.
        """

    @abstractmethod
    def largest_of_shifts(self, first: Array) -> float:
        """Return the same for a lower triangular Toeplitz matrix.

        Args:
            first: its first column.
        """

    @abstractmethod
    def earliest(self, steps: int) -> range:
        """Return the pattern that starts at the first step and continues as soon as allowed.

        Args:
            steps: the number of steps.
        """


@final
@dataclass(frozen=True, slots=True)
class Once(Participation):
    """Each record contributes to at most one step."""

    @override
    def largest(self, matrix: Array) -> float:
        return float(np.max(np.sum(matrix * matrix, axis=0)))

    @override
    def largest_of_shifts(self, first: Array) -> float:
        return float(first @ first)

    @override
    def earliest(self, steps: int) -> range:
        return range(min(steps, 1))


@final
@dataclass(frozen=True, slots=True)
class FixedEpochs(Participation):
    """Each record contributes to the steps p, p + period, p + 2 period, ... with its own p.

    Attributes:
        period: steps in an epoch.
    """

    period: int

    def __post_init__(self) -> None:
        """Refuse a period that is not a positive int."""
        _check(self.period, "period")

    @override
    def largest(self, matrix: Array) -> float:
        sums = [matrix[:, p :: self.period].sum(axis=1) for p in range(self.period)]
        return max(float(total @ total) for total in sums if total.size)

    @override
    def largest_of_shifts(self, first: Array) -> float:
        # A later start gives the same sum, moved down and cut off.
        return _squared(shifted(first, self.earliest(first.size)))

    @override
    def earliest(self, steps: int) -> range:
        return range(0, steps, self.period)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class MinimumSeparation(Participation):
    """Each record contributes at most `times` times, at least `separation` steps apart.

    Attributes:
        separation: b, the least distance between two contributions, in steps.
        times: k, the largest number of contributions.
    """

    separation: int
    times: int

    def __post_init__(self) -> None:
        """Refuse values that are not positive ints."""
        _check(self.separation, "separation")
        _check(self.times, "times")

    @override
    def largest(self, matrix: Array) -> float:
        """Return it in closed form, by dynamic programming or by enumeration, whichever is exact.

        If columns b apart are orthogonal, squared norms add.
        """
        rows, steps = matrix.shape
        first = matrix[:, 0]
        if rows == steps and _falling(first) and np.array_equal(matrix, toeplitz(first)):
            return self.largest_of_shifts(first)
        if not np.any(np.triu(matrix.T @ matrix, self.separation)):
            return self._orthogonal(np.einsum("ij,ij->j", matrix, matrix))
        return max(_squared(matrix[:, rows].sum(axis=1)) for rows in self._patterns(steps))

    @override
    def largest_of_shifts(self, first: Array) -> float:
        """Return it for the earliest pattern, 1, 1 + b, ..., if that is the worst.

        It is the worst if coefficients decrease (Kalinin and Lampert, 2024, theorem 2), or if
        columns b apart share no row, because earlier columns are cut off later.
        """
        if _falling(first) or not np.any(first[self.separation :]):
            return _squared(shifted(first, self.earliest(first.size)))
        return self.largest(toeplitz(first))

    @override
    def earliest(self, steps: int) -> range:
        return range(0, steps, self.separation)[: self.times]

    def _orthogonal(self, norms: Array) -> float:
        """Return the largest sum of `times` norms that are `separation` apart."""
        steps = norms.size
        best = np.zeros(steps + 1)
        for _ in range(min(self.times, steps)):
            taken = norms + best[np.minimum(np.arange(steps) + self.separation, steps)]
            best = np.append(np.maximum.accumulate(taken[::-1])[::-1], 0.0)
        return float(best[0])

    def _patterns(self, steps: int) -> Iterator[list[int]]:
        """Yield all patterns that cannot be extended at the end."""
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


def _falling(first: Array) -> bool:
    return bool(np.all(np.diff(first) <= 0))


def _squared(total: Array) -> float:
    return float(total @ total)


def shifted(first: Array, by: range) -> Array:
    """Return the sum of a column moved down by each number of rows in `by`, cut off at the end."""
    reach = int(np.max(np.flatnonzero(first), initial=0)) + 1
    total = np.zeros(first.size)
    for start in by:
        end = min(start + reach, first.size)
        total[start:end] += first[: end - start]
    return total


def toeplitz(first: Array) -> Array:
    """Return the lower triangular Toeplitz matrix with this first column."""
    place = np.arange(first.size)
    gaps = place[:, None] - place
    return np.where(gaps >= 0, first[np.maximum(gaps, 0)], 0.0)


def _check(value: int, name: str) -> None:
    if type(value) is not int or value < 1:
        raise InvalidParameter(f"{name} must be an int of at least 1; got {value!r}")
