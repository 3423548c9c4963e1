"""Two lists of scores: an attack's, without a record and with it."""

from dataclasses import dataclass
from typing import final

import numpy as np
import numpy.typing as npt

from neyman.errors import InvalidParameter
from neyman.numerics import Array

__all__ = ["Scores", "read_scores"]


@final
@dataclass(frozen=True, slots=True)
class Scores:
    """Scores of independent runs; large ones speak for the record, or small ones.

    Attributes:
        inside: of runs with the record.
        outside: of runs without it.
    """

    inside: Array
    outside: Array

    def split(self, share: float, seed: int) -> "tuple[Scores, Scores]":
        """Return a random part to learn from, and the rest to test."""
        draw = np.random.default_rng(seed)
        parts = [_split(side, share, draw) for side in (self.inside, self.outside)]
        return Scores(parts[0][0], parts[1][0]), Scores(parts[0][1], parts[1][1])


def read_scores(inside: npt.ArrayLike, outside: npt.ArrayLike, *, least: int) -> Scores:
    """Return the scores as arrays.

    Raises:
        InvalidParameter: if a list is too short, has another shape, or holds NaN.
    """
    return Scores(_side(inside, "inside", least), _side(outside, "outside", least))


def _side(scores: npt.ArrayLike, name: str, least: int) -> Array:
    try:
        found = np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError):
        found = None
    if found is None or found.ndim != 1:
        raise InvalidParameter(
            f"{name} must be a list of numbers, one score for each run; something else was given. "
            "Write a one-dimensional array"
        )
    if found.size < least:
        raise InvalidParameter(
            f"{name} must hold at least {least} scores; {found.size} were given. Run the mechanism "
            "more often"
        )
    if np.isnan(found).any():
        raise InvalidParameter(
            f"{name} must hold numbers; NaN stands at index {int(np.argmax(np.isnan(found)))}. "
            "Give such runs a score of their own, such as -inf: an output that is no number is "
            "evidence too"
        )
    return found


def _split(scores: Array, share: float, draw: np.random.Generator) -> tuple[Array, Array]:
    order = draw.permutation(scores.size)
    first = max(1, round(share * scores.size))
    return scores[order[:first]], scores[np.sort(order[first:])]
