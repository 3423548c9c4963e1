"""What a selection is: one of several candidates, chosen by noisy scores."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np
import numpy.typing as npt

from neyman.aggregate import IntArray
from neyman.curves import TradeOff
from neyman.errors import InvalidParameter
from neyman.mechanisms._bits import OPERATING_SYSTEM, BitSource
from neyman.mechanisms._folded import FloatArray
from neyman.mechanisms._law import require_flint
from neyman.numerics import Real, exact, text

__all__ = ["Selection"]

_MOST_CANDIDATES = 2**20
_SMALLEST, _LARGEST = Fraction(1, 2**40), Fraction(700)


@dataclass(frozen=True, slots=True, init=False)
class Selection(ABC):
    """Releases the place of a candidate whose score is about the largest, and nothing else.

    Scores are integers on a public grid, u_i. Between neighbours each moves by at most
    `sensitivity`; with `monotone` all move the same way, if at all. Then the noise is measured by

        rate = epsilon / (2 sensitivity),   epsilon / sensitivity if monotone

    A choice depends on the data through the scores alone, and on differences of scores alone.

    Attributes:
        epsilon: the largest privacy loss, exact.
        sensitivity: of every score, exact, in grid units.
        monotone: whether neighbours move all scores in one direction.
    """

    epsilon: Fraction
    sensitivity: Fraction
    monotone: bool

    def __init__(self, *, epsilon: Real, sensitivity: Real, monotone: bool = False) -> None:
        """Take the parameters; a float stands for the decimal it prints as.

        Raises:
            InvalidParameter: if epsilon is outside [2^-40, 700], the sensitivity is not positive,
                or the rate is outside [2^-80, 2^20].
        """
        loss, moved = exact(epsilon, "epsilon"), exact(sensitivity, "sensitivity")
        if not _SMALLEST <= loss <= _LARGEST:
            raise InvalidParameter(
                f"epsilon={text(loss)} is outside [2^-40, {_LARGEST}]; write one in that range"
            )
        if moved <= 0 or not Fraction(1, 2**80) <= loss / moved <= 2**20:
            raise InvalidParameter(
                f"sensitivity must be positive; got {text(moved)} for epsilon={text(loss)}. Write "
                "how far one unit moves a score, in grid units"
            )
        object.__setattr__(self, "epsilon", loss)
        object.__setattr__(self, "sensitivity", moved)
        object.__setattr__(self, "monotone", bool(monotone))

    @property
    def rate(self) -> Fraction:
        """Noise units in one grid unit of the score."""
        return self.epsilon / self.sensitivity / (1 if self.monotone else 2)

    @property
    @abstractmethod
    def tradeoff(self) -> TradeOff:
        """The guarantee of one choice."""

    @abstractmethod
    def describe(self) -> dict[str, object]:
        """Return the public record, JSON-able: the name of the mechanism and its parameters."""

    @abstractmethod
    def probabilities(self, scores: IntArray) -> FloatArray:
        """Return the chance of every candidate; SENSITIVE, for checks on public scores only.

        Error: of rounding, about 1e-12, not bounded.
        """

    @abstractmethod
    def _choose(self, gaps: npt.NDArray[np.uint64], source: BitSource) -> int:
        """Return a place, given how far each score is below the largest."""

    @final
    def select(self, scores: IntArray, source: BitSource = OPERATING_SYSTEM) -> int:
        """Return the place of the chosen candidate, from 0 on.

        Args:
            scores: int64, shape (n,), grid units, n from 1 to 2^20 and public. The caller
                guarantees |scores| <= 2^62 and the sensitivity: neither is checked on private data.
            source: of fair bits.

        Raises:
            MissingExtra: if python-flint is not installed.
            BrokenRandomness: if the bits are visibly none.
            InvalidParameter: if `scores` is not such an array.

        Guarantee: exactly the law of the mechanism, given fair bits and float64 functions within
            the band of its module; so `tradeoff` holds for scores that are neighbours. Time is
            outside the guarantee: the rare close decisions take longer.
        """
        require_flint()
        if scores.dtype != np.int64 or scores.ndim != 1 or not 0 < scores.size <= _MOST_CANDIDATES:
            raise InvalidParameter(
                "scores must be int64 on a public grid, of shape (n,), for 1 to 2^20 candidates; "
                f"got {scores.dtype} of shape {scores.shape}"
            )
        # The difference of two int64 fits into a uint64, modulo 2^64.
        largest = np.max(scores)
        return self._choose(largest.astype(np.uint64) - scores.astype(np.uint64), source)

    @final
    def require_sampler(self) -> None:
        """Raise unless choices can be drawn here; call it before anything is charged.

        Raises:
            MissingExtra: if python-flint is not installed.
            BrokenRandomness: if the operating system's random bits are visibly none.
        """
        require_flint()
        OPERATING_SYSTEM.require_fair()

    def _record(self, name: str) -> dict[str, object]:
        return {
            "mechanism": name,
            "epsilon": text(self.epsilon),
            "sensitivity": text(self.sensitivity),
            "monotone": self.monotone,
        }

    def _regret(self, candidates: int, confidence: float) -> int:
        """Return ceil(log(candidates / (1 - confidence)) / rate)."""
        if not 0 < confidence < 1 or not 1 <= candidates <= _MOST_CANDIDATES:
            raise InvalidParameter(
                "confidence must be strictly between 0 and 1, for 1 to 2^20 candidates; "
                f"got confidence={confidence!r} for {candidates!r} candidates"
            )
        log = math.log(candidates) - math.log1p(-confidence)
        return math.ceil(Fraction(log) * (1 + Fraction(1, 2**48)) / self.rate)
