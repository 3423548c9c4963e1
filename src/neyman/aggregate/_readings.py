"""Integers, the noise on them, and their conversion to the columns of an answer."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias, final

import numpy as np
import numpy.typing as npt

__all__ = [
    "COMPANION",
    "PARTS",
    "Adaptive",
    "Columns",
    "DrawnNoise",
    "IntArray",
    "KeyText",
    "Noise",
    "Reading",
    "SumsReading",
    "Term",
]

# The number of integers of a companion.
COMPANION: Final = 4
# They are counted in units of 1 / PARTS.
PARTS: Final = 1024

IntArray: TypeAlias = npt.NDArray[np.int64]
Columns: TypeAlias = dict[str, list[str] | list[int] | list[float] | list[bool]]


KeyText: TypeAlias = tuple[str, ...]
"""The key of an undeclared group: a canonical text for each column."""


class Noise(Protocol):
    """The public properties of the noise on each integer, in lattice units."""

    @property
    def stddev(self) -> float:
        """Standard deviation of the noise on one integer."""
        ...

    @property
    def normal(self) -> bool:
        """Whether sums of it are normal, up to rounding."""
        ...

    def half_width(self, confidence: float) -> int:
        """Smallest integer h with P(|noise| <= h) >= confidence."""
        ...

    def ratio_interval(
        self, numerator: int, denominator: int, confidence: float
    ) -> tuple[float, float]:
        """Every s/n that the noisy pair does not reject at this confidence, as one interval.

        s and n are the integers before noise. The ends are infinite if the noisy denominator does
        not exclude n = 0.
        """
        ...

    def radius(self, rank: int, size: int, confidence: float) -> float:
        """R with P(|P K| <= R) >= confidence, K the noise on `size` integers.

        P is any fixed orthogonal projection of this rank.
        """
        ...


class DrawnNoise(Protocol):
    """Noise that can be drawn."""

    @property
    def stddev(self) -> float:
        """As for `Noise`."""
        ...

    def add_noise(self, values: IntArray) -> IntArray:
        """Return values plus independent noise."""
        ...


class Adaptive(Protocol):
    """Rounds of sums of the exact integers, each chosen by earlier noisy answers.

    The sensitivity of the question bounds the squared norms of all rounds together, whichever sums
    they use, because the norm of each round is fixed beforehand. Only Gaussian noise composes in
    this way.
    """

    @property
    def nodes(self) -> int:
        """How many exact integers a group has."""
        ...

    @property
    def size(self) -> int:
        """How many integers are kept for a group: the sums requested, and the noisy answers."""
        ...

    def drawn(self, exact: IntArray, noise: DrawnNoise) -> IntArray:
        """Return the kept integers of all rounds, with noise.

        Args:
            exact: int64, group by group.
            noise: the noise of each round.
        """
        ...

    def expected(self, exact: IntArray, noise: Noise) -> IntArray:
        """Return the integers to keep if all noise were 0. NOT private: for public rows."""
        ...


class Reading(Protocol):
    """A conversion of public noisy integers to the columns of an answer. It is post-processing."""

    def columns(self, noisy: IntArray, noise: Noise, confidence: float) -> Columns:
        """Return named columns of equal length: values and noise intervals, group by group."""
        ...


@final
@dataclass(frozen=True, slots=True)
class Term:
    """What a noisy integer of a group measures: its rows n, and the total T of a column.

    Before noise it is  rows * n + total * T.  T adds up k - c: k is the grid integer of a value, c
    the grid point in the middle of the bounds. If units are counted, n is their number.
    """

    rows: int
    total: int = 0


class SumsReading(ABC):
    """A conversion of integers that are sums over the rows of a group.

    Some of these sums are also known from other answers. So the integers of several answers about
    the same rows can be combined before they are converted.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def terms(self) -> tuple[Term | None, ...]:
        """What each integer of a group measures; None for one that no other answer can measure."""

    @property
    def joint(self) -> bool:
        """Whether an interval covers all integers of a group together, with equal noise on each."""
        return False

    def apart(self) -> Sequence[tuple[int, Reading]]:
        """Return the conversions side by side, each with how many integers of a group it uses."""
        return ((len(self.terms), self),)

    @abstractmethod
    def columns(self, noisy: IntArray, noise: Noise, confidence: float) -> Columns:
        """As for `Reading`."""
