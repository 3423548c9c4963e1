"""The steepest vertex of a trade-off polygon on the scale of normal quantiles."""

# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false

from typing import cast

import numpy as np

from neyman.numerics._atomic._tail_table import TailTable
from neyman.numerics._bracket import ULP, Array, Bracket

__all__ = ["largest_vertex"]


def _quantile(log: Array) -> Array:
    """Return Phi^-1(e^log)."""
    from scipy.special import ndtri_exp

    return np.asarray(cast("Array", ndtri_exp(log)))


def _score(below: Bracket, above: Bracket, *, low: bool) -> Array:
    """Return Phi^-1 of a probability known by its logarithm and its complement's, bounded."""
    first, second = (below.lower, above.upper) if low else (below.upper, above.lower)
    small = _quantile(np.minimum(first, -0.5))
    large = -_quantile(np.minimum(second, -0.5))
    return np.where(first < np.log(0.5), small, large)


def largest_vertex(table: TailTable, *, low: bool = False) -> float:
    """Return an upper bound of max over j of Phi^-1(P(L < l_j)) - Phi^-1(Q(L < l_j)).

    Vertices at which a probability is beyond the doubles are left out.

    Args:
        table: of the loss.
        low: return a lower bound instead.

    Error: 64 ULP of the quantiles, and the table's.
    """
    inside = slice(1, -1)

    def cut(bracket: Bracket) -> Bracket:
        return Bracket(bracket.lower[inside], bracket.upper[inside])

    first = _score(cut(table.p_below), cut(table.p_above), low=low)
    second = _score(cut(table.q_below), cut(table.q_above), low=not low)
    side = -1 if low else 1
    with np.errstate(invalid="ignore"):
        gap = first - second + side * 64 * ULP * (np.abs(first) + np.abs(second))
    logs = [cut(x).lower for x in (table.p_below, table.p_above, table.q_below, table.q_above)]
    known = np.min(np.stack(logs), axis=0) > -700 if logs[0].size else np.zeros(0, dtype=bool)
    return float(np.max(np.where(known, gap, 0.0), initial=0.0))
