"""Rounds of noisy counts at a few places: the integers of least noise, and their noise."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Final, Self, final

import numpy as np

from neyman.aggregate import IntArray
from neyman.functional._bases._features import CLAMP
from neyman.numerics import Array
from neyman.sensitivity import Neighbors, Sensitivity

__all__ = ["PAIRS", "Round", "rounds_of", "sensitivity_of_rounds"]

# Rounds that ask left and right of each quantile, and what they take of the budget. Measured, with
# the other numbers here: rank error of 1, 3 and 8 quantiles, and the width of their intervals.
PAIRS: Final = 4
_SHARE: Final = 0.4
# Rounds before them: so many beyond log2(nodes), each with _GROWTH times the budget of the one
# before.
_MORE: Final = 2
_GROWTH: Final = 1.25
# How far from a quantile they ask, in standard deviations of the noise of all of them together.
_REACH: Final = 4.0
# Of the number of records, beside the counts up to each place.
_COUNT_WEIGHT: Final = 0.05
_STEPS: Final = 200
# Entries of a matrix and scales of a round, each rounded to so many bits: far from what the
# floating point of another machine could change.
_MATRIX_BITS: Final = 10
_SCALE_BITS: Final = 14


@final
@dataclass(frozen=True, slots=True, eq=False)
class Round:
    """One round: sums of counts between public places, and the estimates from its noisy answer.

    c has the numbers of records up to the first place, between the places and beyond the last. The
    round releases the integers y = `matrix` @ c with noise. Running sums of matrix^-1 y are the
    estimates F~ at the places, and n~.

    Attributes:
        targets: the places for each probability: 0 at the quantile, -1 left and 1 right of it.
        matrix: integers, square, with a column for each cell of records.
        read: running sums of the rows of matrix^-1; the last is for n~.
        deviations: standard deviation of F~ - p n~ for noise of deviation 1, shape (places,
            probabilities).
        apart: the distance from the quantile to left and right, in records for noise of deviation
            1.
    """

    targets: tuple[int, ...]
    matrix: IntArray = field(repr=False)
    read: Array = field(repr=False)
    deviations: Array = field(repr=False)
    apart: Array = field(repr=False)

    @classmethod
    def of(
        cls, probabilities: tuple[Fraction, ...], targets: tuple[int, ...], share: float
    ) -> Self:
        """Return a round with a share of the budget."""
        matrix = _least_noise(probabilities, len(targets))
        scaled = round(2**_SCALE_BITS * math.sqrt(share)) * matrix
        rows = len(scaled)
        solved = np.linalg.solve(scaled.astype(np.float64).T, np.tri(rows).T).T
        read = np.asarray(solved, dtype=np.float64)
        p = np.array([float(one) for one in probabilities])
        above = read[:-1, None] - p[:, None] * read[-1]
        deviations = np.linalg.norm(above, axis=2)
        # Where places are in the order of the probabilities, each asks at its own.
        own = deviations[np.arange(rows - 1), np.repeat(np.arange(p.size), len(targets))]
        far = _REACH / math.sqrt(PAIRS) * own.reshape(p.size, -1).max(axis=1)
        return cls(targets, scaled, read, deviations, far)

    @property
    def places(self) -> int:
        """The number of its places."""
        return len(self.matrix) - 1

    @property
    def size(self) -> int:
        """The number of stored integers: its places and the noisy sums."""
        return self.places + len(self.matrix)

    @property
    def records_sd(self) -> float:
        """The standard deviation of n~ for noise of deviation 1."""
        return float(np.linalg.norm(self.read[-1]))

    def sums(self, up_to: IntArray, places: IntArray) -> IntArray:
        """Return the exact integers, shape (groups, places + 1).

        Places are sorted first, because otherwise a record could be in several cells and move the
        integers by more. Each sum is clamped to [-2^62, 2^62]. That does not increase a difference,
        and the private number of records causes no error.

        Args:
            up_to: F at every node, shape (groups, nodes).
            places: nodes, shape (groups, places).
        """
        places, rows = np.sort(places, axis=1), np.arange(len(up_to))[:, None]
        ends = np.zeros((len(up_to), 1), np.int64), up_to[rows, places], up_to[:, -1:]
        cells = np.diff(np.concatenate(ends, axis=1), axis=1)
        largest = float(up_to[:, -1].max(initial=0)) * float(np.abs(self.matrix).max())
        if largest < CLAMP:
            return cells @ self.matrix.T
        exactly = cells.astype(np.object_) @ self.matrix.T.astype(np.object_)
        return np.clip(exactly, -CLAMP, CLAMP).astype(np.int64)

    def squares(self, neighbors: Neighbors) -> int:
        """Return the largest squared distance that one record moves the integers, exactly."""
        columns: list[list[int]] = self.matrix.T.tolist()
        moves = columns
        if neighbors == "replace_one":
            moves = columns + [
                [a - b for a, b in zip(one, other, strict=True)]
                for one in columns
                for other in columns
            ]
        return max(sum(part * part for part in move) for move in moves)


@lru_cache(maxsize=64)
def rounds_of(probabilities: tuple[Fraction, ...], nodes: int) -> tuple[Round, ...]:
    """Return all rounds; their shares of the budget have sum 1.

    The first rounds have one place for each probability, later ones with more of the budget. The
    last rounds have a place on the left and on the right.
    """
    halvings = math.ceil(math.log2(nodes)) + _MORE
    grown = [_GROWTH**step for step in range(halvings)]
    first = [(1 - _SHARE) * one / math.fsum(grown) for one in grown]
    return (
        *(Round.of(probabilities, (0,), share) for share in first),
        *(Round.of(probabilities, (-1, 1), _SHARE / PAIRS) for _ in range(PAIRS)),
    )


def sensitivity_of_rounds(rounds: Sequence[Round], neighbors: Neighbors) -> Sensitivity:
    """Return the sensitivity of the integers of all rounds, for any places.

    l2^2 is the sum over rounds of the largest squared move by one record. With Gaussian noise this
    also holds if earlier answers determine the places of each round (adaptive composition).
    """
    twice = 2 if neighbors == "replace_one" else 1
    return Sensitivity(
        neighbors=neighbors,
        l2_squared=Fraction(sum(one.squares(neighbors) for one in rounds)),
        coordinates=sum(len(one.matrix) for one in rounds),
        largest=twice * max(int(np.abs(one.matrix).max()) for one in rounds),
    )


@lru_cache(maxsize=64)
def _least_noise(probabilities: tuple[Fraction, ...], targets: int) -> IntArray:
    """Return the integer matrix with nearly the least noise for equal privacy.

    Let V c = (F(x) - p n at the place x of each p, n), with columns v. The least sum of their
    variances has noise of covariance S,

        S = tr(P^1/2) P^1/2,   P = sum_c p_c v_c v_c',

    for the p that makes v' S^-1 v equal where p_c > 0. The iteration p_c <- p_c sqrt(v' S^-1 v)
    finds it. The matrix is S^-1/2 V, scaled to a longest column of 2^10 and rounded.
    """
    at = np.repeat([float(p) for p in probabilities], targets)
    places = len(at)
    centred = np.vstack([np.tri(places, places + 1) - at[:, None], np.ones(places + 1)])
    weighted = centred.copy()
    weighted[-1] *= _COUNT_WEIGHT
    p = np.full(places + 1, 1 / (places + 1))
    root = np.eye(places + 1)
    for _ in range(_STEPS):
        length, axes = np.linalg.eigh((weighted * p) @ weighted.T)
        length = np.sqrt(np.sqrt(np.maximum(length, 1e-30)))
        # P^-1/4, so that columns of its product with V have squared lengths v' P^-1/2 v.
        root = (axes / length) @ axes.T
        p = p * np.linalg.norm(root @ weighted, axis=0)
        p /= p.sum()
    found = root @ weighted
    longest = np.linalg.norm(found, axis=0).max()
    return np.rint(2**_MATRIX_BITS / longest * found).astype(np.int64)
