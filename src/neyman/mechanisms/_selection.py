"""The interface of a selection: one of several candidates, chosen by noisy scores."""

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
    """Releases the index of a candidate with about the largest score, and nothing else.

    Scores u_i are integers on a public grid. Between neighbours each moves by at most
    `sensitivity`; if `monotone`, all that move do so in the same direction. The noise is scaled by

        rate = epsilon / (2 sensitivity),   epsilon / sensitivity if monotone

    A choice depends on the data only through the scores, and only through their differences.

    Attributes:
        epsilon: the largest privacy loss, exact.
        sensitivity: of every score, exact, in grid units.
        monotone: whether neighbouring data move all scores in one direction.
    """

    epsilon: Fraction
    sensitivity: Fraction
    monotone: bool

    def __init__(self, *, epsilon: Real, sensitivity: Real, monotone: bool = False) -> None:
        """Create the selection; a float means the decimal that it prints as.

        Args:
            epsilon: the largest privacy loss, in [2^-40, 700].
            sensitivity: the most that one unit moves a score, in grid units; positive.
            monotone: whether neighbouring data move all scores in one direction.

        Raises:
            InvalidParameter: if epsilon is out of range, the sensitivity is not positive, or the
                rate is outside [2^-80, 2^20].
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
        """Noise units per grid unit of the score."""
        return self.epsilon / self.sensitivity / (1 if self.monotone else 2)

    @property
    @abstractmethod
    def tradeoff(self) -> TradeOff:
        """The guarantee of one choice."""

    @abstractmethod
    def describe(self) -> dict[str, object]:
        """Return the public record for JSON: the name of the mechanism and its parameters."""

    @abstractmethod
    def probabilities(self, scores: IntArray) -> FloatArray:
        """Return the probability of every candidate; SENSITIVE, for checks on public scores only.

        Args:
            scores: int64, shape (n,), grid units.

        Error: an estimate; rounding is about 1e-12, and not bounded.
        """

    @abstractmethod
    def _choose(self, gaps: npt.NDArray[np.uint64], source: BitSource) -> int:
        """Return an index, given how far each score is below the largest."""

    @final
    def select(self, scores: IntArray, source: BitSource = OPERATING_SYSTEM) -> int:
        """Return the index of the chosen candidate, counted from 0.

        Args:
            scores: int64, shape (n,), grid units, n from 1 to 2^20 and public. You guarantee
                |scores| <= 2^62 and the sensitivity: neither is checked on private data.
            source: of fair bits.

        Raises:
            MissingExtra: if python-flint is not installed.
            BrokenRandomness: if the bits are visibly not random.
            InvalidParameter: if `scores` is not such an array.

        Guarantee: exactly the law of the mechanism, given fair bits and float64 functions within
            the band of its module. So `tradeoff` holds for scores that are neighbours. Time is
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
        """Refuse if choices cannot be drawn here; call this before anything is charged.

        Raises:
            MissingExtra: if python-flint is not installed.
            BrokenRandomness: if the operating system's random bits are visibly not random.
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
