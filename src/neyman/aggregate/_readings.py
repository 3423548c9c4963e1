"""Integers, the noise on them, and how both become columns that people read."""

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

# How many integers a companion has.
COMPANION: Final = 4
# In what parts of 1 they are counted.
PARTS: Final = 1024

IntArray: TypeAlias = npt.NDArray[np.int64]
Columns: TypeAlias = dict[str, list[str] | list[int] | list[float] | list[bool]]


KeyText: TypeAlias = tuple[str, ...]
"""The key of a group that nobody declared: a canonical text for each column."""


class Noise(Protocol):
    """What is known in public of the noise added to each integer, in lattice units."""

    @property
    def stddev(self) -> float:
        """Standard deviation of the noise on one integer."""
        ...

    @property
    def normal(self) -> bool:
        """Whether sums of it are normal, but for rounding."""
        ...

    def half_width(self, confidence: float) -> int:
        """Smallest integer h with P(|noise| <= h) >= confidence."""
        ...

    def ratio_interval(
        self, numerator: int, denominator: int, confidence: float
    ) -> tuple[float, float]:
        """Every s/n that the noisy pair does not reject at this confidence, as one interval.

        s and n are the integers before noise; the ends are infinite where the noisy
        denominator does not tell n from 0.
        """
        ...

    def radius(self, rank: int, size: int, confidence: float) -> float:
        """R with P(|P K| <= R) >= confidence, K the noise on `size` integers.

        P is any fixed orthogonal projection of this rank.
        """
        ...


class DrawnNoise(Protocol):
    """Noise that is drawn here."""

    @property
    def stddev(self) -> float:
        """As of a `Noise`."""
        ...

    def add_noise(self, values: IntArray) -> IntArray:
        """Return values plus independent noise."""
        ...


class Adaptive(Protocol):
    """Rounds of sums of the exact integers, each chosen by the noisy answers to those before.

    The sensitivity of the question bounds the squared norms of all rounds together, whatever they
    ask for: that of each round is fixed beforehand. Gaussian noise alone composes so.
    """

    @property
    def nodes(self) -> int:
        """How many exact integers a group has."""
        ...

    @property
    def size(self) -> int:
        """How many integers are kept of a group: what was asked for, and the noisy answers."""
        ...

    def drawn(self, exact: IntArray, noise: DrawnNoise) -> IntArray:
        """Return what is kept of all rounds, with noise.

        Args:
            exact: int64, group by group.
            noise: that is added in each round.
        """
        ...

    def expected(self, exact: IntArray, noise: Noise) -> IntArray:
        """Return what would be kept were each draw 0. NOT private: for rows that are public."""
        ...


class Reading(Protocol):
    """How public noisy integers become the columns that a person reads. Post-processing."""

    def columns(self, noisy: IntArray, noise: Noise, confidence: float) -> Columns:
        """Return named columns of equal length: values and noise intervals, group by group."""
        ...


@final
@dataclass(frozen=True, slots=True)
class Term:
    """What a noisy integer of a group is of: rows n of it, and the total T of a column over them.

    Before noise it is  rows * n + total * T.  T adds up k - c: k is the grid integer of a value, c
    the grid point in the middle of the bounds. Where units are counted, n is of units.
    """

    rows: int
    total: int = 0


class SumsReading(ABC):
    """A reading of integers that are sums over the rows of a group, some of them known from more.

    So the integers of several answers about the same rows can be put together before they are read.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def terms(self) -> tuple[Term | None, ...]:
        """What each integer of a group is of; None of one that nothing else can be known from."""

    @property
    def joint(self) -> bool:
        """Whether an interval is of all integers of a group, with equal noise on each."""
        return False

    def apart(self) -> Sequence[tuple[int, Reading]]:
        """Return the readings side by side, each with how many integers of a group it reads."""
        return ((len(self.terms), self),)

    @abstractmethod
    def columns(self, noisy: IntArray, noise: Noise, confidence: float) -> Columns:
        """As of a `Reading`."""
