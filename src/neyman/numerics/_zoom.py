"""The least value of a smooth score over a box, many questions at once, by zooming on a grid."""

from collections.abc import Callable

import numpy as np

from neyman.numerics._bracket import Array

__all__ = ["least"]


def least(
    score: Callable[[Array], Array], low: Array, high: Array, first: tuple[int, ...]
) -> Array:
    """Return the least score found on a grid that narrows around the best point, per question.

    Every value of the score must be a bound: a missed minimum costs tightness, never validity.

    Args:
        score: takes points of shape (questions, points, dimensions) and the questions' own data by
            closure, returns (questions, points); infinite where a point says nothing.
        low: lower corners, shape (questions, dimensions).
        high: upper corners.
        first: how many points of the first grid along each dimension.

    Returns:
        The least score, shape (questions,).
    """
    dimensions = len(first)
    spacing = (high - low) / (np.asarray(first) - 1.0)
    points = low[:, None, :] + spacing[:, None, :] * _lattice(first)[None]
    best, at = _best(score(points), points)
    side = 9 if dimensions == 1 else 7
    window = _lattice((side,) * dimensions) / ((side - 1) / 2) - 1.0
    # In two dimensions a valley may lie aslant, and the window narrows more slowly.
    shrink, rounds = ((side - 1) / 2, 9) if dimensions == 1 else (1.5, 22)
    for _ in range(rounds):
        points = at[:, None, :] + spacing[:, None, :] * window[None]
        points = np.clip(points, low[:, None, :], high[:, None, :])
        found, where = _best(score(points), points)
        better = found < best
        best, at = np.where(better, found, best), np.where(better[:, None], where, at)
        spacing = spacing / shrink
    return best


def _lattice(counts: tuple[int, ...]) -> Array:
    grids = np.meshgrid(*(np.arange(count, dtype=np.float64) for count in counts), indexing="ij")
    return np.stack([grid.ravel() for grid in grids], axis=-1)


def _best(values: Array, points: Array) -> tuple[Array, Array]:
    at = np.argmin(values, axis=1)
    found = np.take_along_axis(values, at[:, None], axis=1)[:, 0]
    return found, np.take_along_axis(points, at[:, None, None], axis=1)[:, 0]
