"""Compositions with a statement in them: Rényi divergences add, and are converted once.

A statement, such as rho-zCDP, bounds the divergences of a class of mechanisms and names no pair of
laws. Beside it the other factors count with their own divergences, order by order, which is far
better than with a statement of theirs: 1,000 sampled steps obey no useful zCDP, for at high orders
sampling does not help. Statements bound both directions, and so does the sum.

A factor whose divergences have no formula counts with those of its law on a lattice. The losses
beyond both ends of the lattice are cut off. If they have the mass m, in either law at most, the
factor loses no more than f_{0,m} ⊗ g, where g is the rest of the law, scaled to mass 1:

    D_a(g) <= D_a(lattice) - a/(a-1) log(1 - m).

Source: Mironov (2017), proposition 1; the conversion: docs/theory/zcdp.md.
"""

import math
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from neyman.curves._algebra._factors import Factors, factors_of
from neyman.curves._leaf import Leaf
from neyman.curves._pair import Pair
from neyman.curves._pairs._erased import ErasedPair, Failures, erased
from neyman.curves._pairs._gaussian import GaussianPair
from neyman.curves._pairs._identity import IdentityPair
from neyman.curves._solvers._lattice import lattice_sum
from neyman.curves._solvers._trivial import curves_below, one_side
from neyman.curves._solvers._view import EPSILON, LOG_DELTA, View, meet
from neyman.curves._statements._rdp import RdpPair
from neyman.curves._statements._real_line import RealLinePair
from neyman.errors import UnsupportedComposition
from neyman.numerics import Array, Interval
from neyman.numerics._lattice_sums._plan import Part
from neyman.numerics._lattice_sums._source import SwappedSource
from neyman.numerics._lattice_sums._sum import Divergences, LatticeSum
from neyman.numerics._primitives import log1p

__all__ = ["stands_beside", "statement_bound", "without_statements"]

# Orders less 1: a first grid, and the finer one around its best order, which is used twice.
_GRID = np.geomspace(1e-2, 1e4, 36)
_AROUND = np.linspace(-1.0, 1.0, 9)
# The most orders among which the conversion takes the best.
_MOST_ORDERS = 48
_LARGEST, _SMALLEST = 2.0**20, 2.0**-100
# Log of the mass that a lattice may cut: the most, relative to the delta in question, the least.
_CUT, _BESIDE, _LEAST_CUT = -69.0, -12.0, -690.0
# Divergences with a bracket this narrow at some order need no lattice.
_CLOSE = 0.05
# The relative change from level to level that ends the refinement, and the most levels.
_SETTLED, _LEVELS = 0.003, 3


class _Divergences(NamedTuple):
    """Upper bounds of divergences, for all but a small mass.

    Attributes:
        values: one an order.
        cut: the mass, at most.
    """

    values: Array
    cut: float


def stands_beside(pair: Pair) -> bool:
    """Return whether there is a statement among several factors."""
    factors = factors_of(_parted(pair)[0])
    return len(factors) > 1 and any(isinstance(part, RealLinePair) for part, _ in factors)


def without_statements(pair: Pair) -> Factors:
    """Return what every member of the class loses at least: the pairs of laws, and the failures."""
    core, failures = _parted(pair)
    others = tuple((part, n) for part, n in factors_of(core) if not part.of_class)
    return (*others, (erased(IdentityPair(), failures), 1)) if failures else others


def _parted(pair: Pair) -> tuple[Pair, Failures]:
    return (pair.core, pair.failures) if isinstance(pair, ErasedPair) else (pair, ())


def statement_bound(pair: Pair, view: View, at: Array) -> Interval:
    """Bracket a view of the class in both directions, vacuously on the side that proves nothing."""
    vacuous = view.vacuous(at)
    core, failures = _parted(pair)
    parts = factors_of(core)
    statement = _line(parts)
    if statement is None:
        # What is left of delta beside the failures.
        failed = float(pair.mass.lower) if isinstance(pair, ErasedPair) else 0.0
        left = np.maximum(at - failed, 0.0) if view is EPSILON else at
        statement = _statement(parts, view, left)
    best, below = vacuous, curves_below(parts)
    for curve in below if statement is None else (statement, *below):
        found = view.ask(erased(curve, failures) if failures else curve, at)
        best = meet(best, one_side(view, vacuous, found, above=True))
    return best


def _line(parts: Factors) -> RealLinePair | None:
    """Return one statement for all orders, where beside one there are Gaussians only."""
    whole: RealLinePair | None = None
    for pair, n in parts:
        if isinstance(pair, RealLinePair):
            if whole is not None:
                return None
            whole = pair.repeated(n)
        elif not isinstance(pair, GaussianPair):
            return None
    for pair, n in parts:
        if whole is not None and isinstance(pair, GaussianPair):
            whole = whole.joined(pair, n)
    return whole


def _statement(parts: Factors, view: View, at: Array) -> Pair | None:
    """Return the sum of the divergences at some orders that suit the question."""
    cut = _CUT
    if view is EPSILON and np.any(at > 0):
        cut = min(cut, math.log(float(np.min(at[at > 0]))) + _BESIDE)
    b, found = _GRID, _divergences(parts, 1 + _GRID, cut)
    if not np.any(np.isfinite(found.values)):
        return None
    if view in (EPSILON, LOG_DELTA) and at.size:
        # Twice, for the second time around the best of the first.
        for ratio in (b[1] / b[0], (b[1] / b[0]) ** 0.25):
            places, log_delta = _best(b, found.values, view, at)
            cut = min(cut, log_delta + _BESIDE)
            around: Array = b[places][:, None] * ratio**_AROUND
            b = np.unique(around)
            if b.size > _MOST_ORDERS:
                b = b[np.linspace(0, b.size - 1, _MOST_ORDERS).astype(np.intp)]
            found = _divergences(parts, 1 + b, cut)
    points = [
        (Fraction(order), Fraction(max(value, _SMALLEST)))
        for order, value in zip((1 + b).tolist(), found.values.tolist(), strict=True)
        if value < _LARGEST
    ]
    return erased(RdpPair.of(points), [(Fraction(found.cut), 1)]) if points else None


def _best(
    b: Array, divergences: Array, view: View, at: Array
) -> tuple[npt.NDArray[np.intp], float]:
    """Return the places of the orders that are best by the simplest conversion.

    With it about the logarithm of the least delta in question.
    """
    flat = np.ravel(at)[:, None]
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        if view is EPSILON:
            beside = np.log(np.maximum(flat, 1e-300) * (1 + b)) / b
            score = divergences - beside + np.log(b / (b + 1))
        else:
            score = b * (divergences - flat) - np.log(1 + b) + b * np.log(b / (b + 1))
    score = np.where(np.isfinite(score), score, np.inf)
    least: npt.NDArray[np.intp] = np.argmin(score, axis=1)
    log_delta = 0.0 if view is EPSILON else float(np.min(score))
    return np.unique(least), max(log_delta, _LEAST_CUT)


def _divergences(parts: Factors, orders: Array, log_cut: float) -> _Divergences:
    """Bound the sum of the divergences, of the larger direction, from above."""
    known = unknown = Interval.exactly(np.zeros(orders.shape))
    others: list[tuple[Pair, int]] = []
    for pair, n in parts:
        own = _own(pair, orders)
        close = np.isfinite(own.upper) & (own.upper * (1 - _CLOSE) <= own.lower)
        if isinstance(pair, RealLinePair) or np.any(close):
            known = known + own * n
        else:
            unknown = unknown + own * n
            others.append((pair, n))
    found = _by_lattice(tuple(others), orders, log_cut) if others else None
    cut = 0.0
    if found is not None and np.any(found.values < unknown.upper):
        unknown, cut = unknown.smaller(found.values), found.cut
    return _Divergences((known + unknown).upper, cut)


def _own(pair: Pair, orders: Array) -> Interval:
    """Bracket the divergences of the worse direction by the pair's own formulas."""
    nothing = Interval(np.zeros(orders.shape), np.full(orders.shape, np.inf))
    # The cells of a leaf are a lattice, which is read for all orders at once.
    if isinstance(pair, Leaf) or not pair.certified:
        return nothing
    try:
        sides = [side.renyi_bracket(orders) for side in {pair: None, pair.swap(): None}]
    except UnsupportedComposition:
        return nothing
    upper = np.max([side.upper for side in sides], axis=0)
    lower = np.max([side.lower for side in sides], axis=0)
    return Interval(np.where(np.isnan(lower), 0.0, lower), np.where(np.isnan(upper), np.inf, upper))


def _by_lattice(parts: Factors, orders: Array, log_cut: float) -> _Divergences | None:
    """Bound the divergences by finer and finer lattices, until they are known well."""
    values, found = np.full(orders.shape, np.inf), None
    for level in range(_LEVELS):
        found = _both_ways(parts, max(log_cut, _LEAST_CUT), level)
        if found is None:
            return None
        before, values = values, np.maximum(*(side(orders) for side in found))
        if np.all(values >= before * (1 - _SETTLED)):
            break
    cut = float(Interval.exactly(np.asarray([x.rest for x in found or ()])).total().upper)
    if cut >= 1:
        return None
    a = Interval.exactly(orders)
    scaled = (Interval.exactly(values) - a / (a - 1) * log1p(-cut)).upper
    return _Divergences(np.where(np.isnan(scaled), np.inf, scaled), cut)


# One statement reads up to three sets of orders at a few levels.
@lru_cache(maxsize=8)
def _both_ways(
    parts: Factors, log_cut: float, level: int
) -> tuple[Divergences, Divergences] | None:
    """Return the divergences of both directions of one pair that loses more than the parts."""
    known = lattice_sum(parts)
    if known is None:
        return None
    upper = [(part.upper, part.times) for part in known.parts]
    ahead = LatticeSum(tuple(Part.of(source, n) for source, n in upper))
    back = LatticeSum(tuple(Part.of(SwappedSource(source), n) for source, n in upper))
    return ahead.divergences(level, log_cut), back.divergences(level, log_cut)
