"""Two lists of scores: an attack's, without a record and with it."""

from dataclasses import dataclass
from typing import final

import numpy as np
import numpy.typing as npt

from neyman.errors import InvalidParameter
from neyman.numerics import Array

__all__ = ["Scores", "read_scores", "real_array"]


@final
@dataclass(frozen=True, slots=True)
class Scores:
    """Scores of independent runs.

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
    found = real_array(scores)
    if found is None or found.ndim != 1:
        kind = type(scores).__name__ if found is None else f"array of {found.ndim} dimensions"
        raise InvalidParameter(
            f"{name} must be a list of real numbers, one score for each run; got a {kind} that is "
            "none. Write a one-dimensional array"
        )
    if found.size < least:
        raise InvalidParameter(
            f"{name} must hold at least {least} scores; got {found.size}. Run the mechanism more "
            "often"
        )
    if np.isnan(found).any():
        raise InvalidParameter(
            f"{name} must hold numbers; got NaN at index {int(np.argmax(np.isnan(found)))}. Give "
            "such runs a score of their own, such as -inf: an output that is not a number is "
            "evidence too"
        )
    return found


def real_array(values: object) -> Array | None:
    """Return an array of real numbers; None if the values are something else."""
    try:
        found = np.asarray(values)
        return found.astype(np.float64) if found.dtype.kind in "biufO" else None
    except (TypeError, ValueError, OverflowError):
        return None


def _split(scores: Array, share: float, draw: np.random.Generator) -> tuple[Array, Array]:
    order = draw.permutation(scores.size)
    first = min(max(1, round(share * scores.size)), scores.size - 1)
    return scores[order[:first]], scores[np.sort(order[first:])]
