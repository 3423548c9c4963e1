"""Whether draws follow a law: Wald's test against a broken twin, chi-square against anything."""

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from scipy.special import chdtrc

__all__ = ["RIGHT", "UNDECIDED", "WRONG", "chi_square", "folded_cells", "verdict"]

_LEAST = 15
RIGHT, WRONG, UNDECIDED = "right", "wrong", "undecided"


def verdict(
    counts: Callable[[int], npt.NDArray[np.int64]],
    right: npt.NDArray[np.float64],
    wrong: npt.NDArray[np.float64],
    *,
    error_rate: float,
    batch: int,
    most: int,
) -> str:
    """Say which of two laws the draws follow.

    The likelihood ratio of the two is a martingale under either, so that it passes 1/error_rate
    the wrong way with a chance of at most error_rate (Ville): that bounds both errors, however
    many draws are taken. The power is the same number: each law is told from the other surely, but
    for the error rate and for what `most` cuts off, which is UNDECIDED and so fails both ways.
    It takes about log(1/error_rate) / KL(one || other) draws, where a test of one size takes tens
    of times as many for the same two errors.

    Args:
        counts: draws that many and counts them by cell.
        right: the chances of the cells under the law that is claimed.
        wrong: the same under the broken twin.
        error_rate: of either verdict.
        batch: how many are drawn between two looks.
        most: how many are drawn at most.
    """
    weight = np.log(wrong) - np.log(right)
    limit, found = math.log(1 / error_rate), 0.0
    for _ in range(0, most, batch):
        found += float(counts(batch) @ weight)
        if abs(found) >= limit:
            return WRONG if found > 0 else RIGHT
    return UNDECIDED


def folded_cells(
    tail: Callable[[int], float], edges: npt.NDArray[np.int64]
) -> npt.NDArray[np.float64]:
    """Return the chances of K < e_0, e_0 <= K < e_1, ..., of a symmetric integer K.

    Args:
        tail: of |K|: P(|K| > j), for j >= 0.
        edges: e_0 < e_1 < ..., whole numbers.
    """
    reached = [tail(e - 1) / 2 if e > 0 else 1 - tail(-e) / 2 for e in edges.tolist()]
    return -np.diff([1.0, *reached, 0.0])


def chi_square(counts: npt.NDArray[np.int64], chances: npt.NDArray[np.float64]) -> float:
    """Return the p-value of counts in cells; neighbours are pooled until 15 are expected in each.

    At 1e-12 the tails of counts that small are heavier than chi-square: some ten tests fail
    together at 2e-10.
    """
    expected = counts.sum() * chances
    starts, held = [0], 0.0
    for cell, size in enumerate(expected.tolist()):
        if held >= _LEAST <= expected[cell:].sum():
            starts.append(cell)
            held = 0.0
        held += size
    pooled, seen = np.add.reduceat(expected, starts), np.add.reduceat(counts, starts)
    return float(chdtrc(pooled.size - 1, ((seen - pooled) ** 2 / pooled).sum()))
