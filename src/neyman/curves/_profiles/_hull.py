"""The convex hull of the smaller of two curves, certified where it touches them.

With delta the larger of the two profiles, the hull is sup over x of 1 - delta(x) - e^x alpha. The
line of slope -e^t that touches one curve at alpha is a supporting line of the hull exactly if that
direction has the larger delta at t; then the hull is that curve there. Between the two curves
the hull is a segment, and where add is remove exchanged it has slope -1.
"""

import numpy as np
import numpy.typing as npt

from neyman.curves._pair import Pair
from neyman.curves._solvers._contour import BestTest
from neyman.curves._solvers._exact import contour_of
from neyman.curves._solvers._read import read
from neyman.curves._solvers._view import LOG_DELTA
from neyman.numerics import Array, Interval, exp, log

__all__ = ["hull_test"]


def hull_test(first: Pair, second: Pair, alpha: Array) -> tuple[Interval, Interval] | None:
    """Bracket beta and the power of the hull at sizes in (0, 1); None where a pair cannot.

    Args:
        first: one direction.
        second: the other.
        alpha: sizes, one dimension.
    """
    beta = Interval(np.zeros(alpha.shape), 1 - alpha)
    tpr = Interval(alpha.copy(), np.ones(alpha.shape))
    todo = np.ones(alpha.shape, dtype=bool)
    left = alpha <= 0.5
    for trial, (pair, other, where) in enumerate(
        (
            (first, second, left),
            (second, first, ~left),
            (second, first, left),
            (first, second, ~left),
        )
    ):
        if trial == 2 and np.any(todo):
            todo &= ~_on_segment(first, second, alpha, beta, tpr)
        chosen = np.flatnonzero(where & todo)
        if not chosen.size:
            continue
        contour = contour_of(pair)
        if contour is None:
            return None
        test = contour.best_test(alpha[chosen])
        # Every curve is above the hull, and so bounds it from that side.
        beta.upper[chosen] = np.minimum(beta.upper[chosen], test.beta.upper)
        tpr.lower[chosen] = np.maximum(tpr.lower[chosen], test.tpr.lower)
        touches = _touches(test, other, alpha[chosen])
        sure = chosen[touches]
        beta.lower[sure], tpr.upper[sure] = test.beta.lower[touches], test.tpr.upper[touches]
        todo[sure] = False
    return beta, tpr


def _touches(test: BestTest, other: Pair, alpha: Array) -> npt.NDArray[np.bool_]:
    """Return where the other direction's delta is proved to be no larger at the threshold.

    Left of 0 both are compared as seen from the other side, where neither is close to 1 - e^t.
    """
    low, high = test.threshold
    touches = np.zeros(alpha.shape, dtype=bool)
    right, left = np.isfinite(high) & (low >= 0), np.isfinite(low) & (high < 0)
    size = Interval.decimal(alpha)
    if np.any(right):
        spent = exp(Interval.exactly(high[right])) * size.at(right)
        mine = log((test.tpr.lower[right] - spent).larger(0.0)).lower
        touches[right] = _below(other, low[right], mine)
    if np.any(left):
        spent = exp(Interval.exactly(-low[left])) * test.beta.upper[left]
        mine = log((1 - size.at(left) - spent).larger(0.0)).lower
        touches[left] = _below(other.swap(), -high[left], mine)
    return touches


def _below(pair: Pair, epsilon: Array, most: Array) -> npt.NDArray[np.bool_]:
    """Return where log delta is proved to be at most `most`."""
    return read(pair, LOG_DELTA, epsilon, most).upper <= most


def _on_segment(
    first: Pair, second: Pair, alpha: Array, beta: Interval, tpr: Interval
) -> npt.NDArray[np.bool_]:
    """Mark the sizes between the two points of slope -1, and bound the hull by the line of it.

    1 - delta(0) - alpha is below the hull everywhere, and above it between the points.
    """
    zero = np.zeros(1)
    pairs = (first, second)
    # The total variation is the same both ways.
    asked = pairs[:1] if second == first.swap() else pairs
    bounds = [pair.delta_bracket(zero) for pair in asked]
    most, least = max(float(d.upper[0]) for d in bounds), max(float(d.lower[0]) for d in bounds)
    line = (Interval(np.asarray(least), np.asarray(most)) + Interval.decimal(alpha)).smaller(1.0)
    np.maximum(beta.lower, (1 - line).lower, out=beta.lower)
    np.minimum(tpr.upper, line.upper, out=tpr.upper)
    contours = (contour_of(pair) for pair in pairs)
    tails = [contour.p_above_bracket(zero) for contour in contours if contour is not None]
    left = min(float(tail.upper[0]) for tail in tails)
    right = max(float(tail.lower[0]) for tail in tails)
    inside = (alpha >= left) & (alpha <= right)
    beta.upper[inside] = np.minimum(beta.upper, (1 - line).upper)[inside]
    tpr.lower[inside] = np.maximum(tpr.lower, line.lower)[inside]
    return inside
