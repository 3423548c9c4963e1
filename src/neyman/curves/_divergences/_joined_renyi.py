"""Rényi divergences of a mixture, or the worst, of several pairs, from those of the pairs.

A mixture whose index is seen has e^K = Σ w_i e^(K_i). The worst of several has delta = max delta_i,
and e^K - 1 is an integral of delta, at all epsilon and of both directions, with a density of one
sign: so it is at most Σ (e^(K_i) - 1) for orders above 1, at least that sum for orders below. Both
are log(1 + Σ w_i (e^(K_i) - 1)) / (a - 1), with its limits Σ w_i D_i at 1 and max D_i at infinity.

Source: Liese and Vajda (2006), theorem 11, for f-divergences as integrals of delta.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import reduce

import numpy as np

from neyman.numerics import Array, Interval, exp, expm1, log, log1p

__all__ = ["joined_renyi"]


def joined_renyi(
    order: Array, weights: Sequence[Fraction | float], parts: Sequence[Interval]
) -> Interval:
    """Bracket log(1 + Σ w_i (e^((a-1) D_i) - 1)) / (a - 1), which grows with each D_i.

    Args:
        order: a > 0, any shape; infinity too.
        weights: w_i > 0.
        parts: brackets of D_i at these orders.
    """
    exact = [Fraction(weight) for weight in weights]
    shares, spare = [Interval.of(weight) for weight in exact], Interval.of(1 - sum(exact))
    found = [Interval(*part).decimals() for part in parts]
    inner = np.isfinite(order) & (order != 1)
    value = _joined(np.where(inner, order, 2.0), shares, spare, found)
    if not np.all(inner):
        value = Interval.where(order == 1, _sum(shares, found), value)
        value = Interval.where(np.isposinf(order), reduce(Interval.larger, found), value)
    endless = np.max([part.upper for part in parts], axis=0) == np.inf
    if not np.any(endless):
        return value.larger(0.0)
    sides = [np.max([part.lower for part in parts], axis=0) == np.inf, endless]
    ends = zip(sides, value, strict=True)
    return Interval(
        *(np.where(none & (order >= 1), np.inf, np.maximum(end, 0.0)) for none, end in ends)
    )


def _joined(
    order: Array, shares: list[Interval], spare: Interval, parts: list[Interval]
) -> Interval:
    """Return the formula; beside the largest term where that is large."""
    c = Interval.exactly(order) - 1
    terms = [c * part for part in parts]
    top = np.max([term.middle for term in terms], axis=0)
    small = top <= 1
    value = log1p(_sum(shares, [expm1(term.smaller(2.0)) for term in terms]))
    if not np.all(small):
        far = _sum(shares, [exp(term - top) for term in terms]) + spare * exp(-top)
        value = Interval.where(small, value, log(far) + top)
    return value / c


def _sum(shares: list[Interval], terms: list[Interval]) -> Interval:
    total = Interval.exactly(0.0)
    for share, term in zip(shares, terms, strict=True):
        total = total + share * term
    return total
