"""delta and epsilon of both directions at once, where one is the other reversed."""

from dataclasses import dataclass
from typing import final

import numpy as np

from neyman.numerics import Array, BothWays, Bracket

__all__ = ["BothProfile"]

# Wider brackets, of log delta and of epsilon over 1 + epsilon, are left to each direction.
_WIDE = 1e-7


@final
@dataclass(frozen=True, slots=True)
class BothProfile:
    """The larger of two directions that share the nodes of their cumulant.

    Where the shared lines tell little nothing is said, and each direction is to be asked.
    """

    ways: BothWays

    def log_delta_bracket(self, epsilon: Array) -> Bracket | None:
        """Bracket the larger log delta at epsilon >= 0."""
        flat = np.ravel(epsilon)
        if not flat.size or not np.all((flat >= 0) & np.isfinite(flat)):
            return None
        found = self.ways.log_delta(flat)
        if found is None or not np.all(found.upper <= found.lower + _WIDE):
            return None
        lower, upper = np.minimum(found.lower, 0.0), np.minimum(found.upper, 0.0)
        return Bracket(lower.reshape(epsilon.shape), upper.reshape(epsilon.shape))

    def epsilon_bracket(self, delta: Array) -> Bracket | None:
        """Bracket the smallest epsilon >= 0 at which the larger delta is at most this."""
        flat = np.ravel(delta)
        if not flat.size or not np.all((flat > 0) & (flat < 1)):
            return None
        found = self.ways.threshold(np.log(flat))
        if found is None:
            return None
        lower, upper = np.maximum(found.lower, 0.0), np.maximum(found.upper, 0.0)
        if not np.all(np.isfinite(upper) & (upper - lower <= _WIDE * (1 + upper))):
            return None
        return Bracket(lower.reshape(delta.shape), upper.reshape(delta.shape))
