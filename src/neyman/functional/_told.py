"""When a released number of records says that there are any: the one rule for all that is read."""

from dataclasses import dataclass
from statistics import NormalDist
from typing import final

__all__ = ["NoisyCount", "told"]


def told(count: float, half_width: float) -> bool:
    """Return whether a number of records is told from 0: its whole noise interval is above.

    Args:
        count: as released, in records.
        half_width: of its noise interval, at the confidence of the release.
    """
    return count > half_width


@final
@dataclass(frozen=True, slots=True)
class NoisyCount:
    """A released number of records.

    Attributes:
        count: in records.
        stddev: of its noise; 0 where the number is public.
    """

    count: float
    stddev: float

    def half_width(self, confidence: float) -> float:
        """Return half of its noise interval, in records; of Gaussian noise."""
        return NormalDist().inv_cdf((1 + confidence) / 2) * self.stddev

    def told(self, confidence: float) -> bool:
        """Return whether it is told from 0.

        Error: it is of no records with probability (1 - confidence) / 2.
        """
        return told(self.count, self.half_width(confidence))
