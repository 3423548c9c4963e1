"""Compositions with a statement in them: Rényi divergences add, and are converted once.

A statement, such as rho-zCDP, bounds the divergences of a class of mechanisms and names no pair of
laws. Beside it the other factors count with their own divergences, order by order, which is far
better than with a statement of theirs: 1,000 sampled steps obey no useful zCDP, for at high orders
sampling does not help. Statements bound both directions, and so does the sum.

Source: Mironov (2017), proposition 1; the conversion: docs/theory/zcdp.md.
"""

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from neyman.curves._algebra._factors import Factors
from neyman.curves._pair import Pair
from neyman.curves._pairs._gaussian import GaussianPair
from neyman.curves._solvers._view import EPSILON, LOG_DELTA, View
from neyman.curves._statements._rdp import RdpPair
from neyman.curves._statements._real_line import RealLinePair
from neyman.errors import UnsupportedComposition
from neyman.numerics import ULP, Array, Bracket

__all__ = ["statement_bound", "without_statements"]

# Orders less 1: a grid, and how finely the best of it is surrounded, twice.
_GRID = np.geomspace(1e-2, 1e4, 36)
_AROUND = np.linspace(-1.0, 1.0, 9)
# Orders of which the conversion takes the best.
_MOST_ORDERS = 48
_LARGEST, _SMALLEST = 2.0**20, 2.0**-100


def without_statements(parts: Factors) -> Factors:
    """Return the factors that are pairs of laws: what every member of the class loses at least."""
    return tuple((pair, n) for pair, n in parts if not pair.of_class)


def statement_bound(parts: Factors, view: View, at: Array) -> Bracket:
    """Bracket a view of the class in both directions, vacuously on the side that proves nothing."""
    vacuous = view.vacuous(at)
    statement = _line(parts) or _statement(parts, view, at)
    if statement is None:
        return vacuous
    found = view.ask(statement, at)
    if view.loss:
        return Bracket(vacuous.lower, np.minimum(found.upper, vacuous.upper))
    return Bracket(np.maximum(found.lower, vacuous.lower), vacuous.upper)


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


def _statement(parts: Factors, view: View, at: Array) -> RdpPair | None:
    """Return the sum of the divergences at some orders that suit the question."""
    b, divergences = _GRID, _divergences(parts, 1 + _GRID)
    if not np.any(np.isfinite(divergences)):
        return None
    if view in (EPSILON, LOG_DELTA) and at.size:
        # Twice, for the second time around the best of the first.
        for ratio in (b[1] / b[0], (b[1] / b[0]) ** 0.25):
            best: Array = b[_best(b, divergences, view, at)]
            around: Array = best[:, None] * ratio**_AROUND
            more: Array = np.unique(around)
            if more.size > _MOST_ORDERS:
                more = more[np.linspace(0, more.size - 1, _MOST_ORDERS).astype(np.intp)]
            b, divergences = more, _divergences(parts, 1 + more)
    points = [
        (Fraction(order), Fraction(max(value, _SMALLEST)))
        for order, value in zip((1 + b).tolist(), divergences.tolist(), strict=True)
        if value < _LARGEST
    ]
    return RdpPair.of(points) if points else None


def _best(b: Array, divergences: Array, view: View, at: Array) -> npt.NDArray[np.intp]:
    """Return the places of the orders that are best by the simplest conversion."""
    flat = np.ravel(at)[:, None]
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        if view is EPSILON:
            beside = np.log(np.maximum(flat, 1e-300) * (1 + b)) / b
            score = divergences - beside + np.log(b / (b + 1))
        else:
            score = b * (divergences - flat) - np.log(1 + b) + b * np.log(b / (b + 1))
    least: npt.NDArray[np.intp] = np.argmin(np.where(np.isfinite(score), score, np.inf), axis=1)
    return np.unique(least)


def _divergences(parts: Factors, orders: Array) -> Array:
    """Bound the sum of the divergences, of the larger direction, from above."""
    total = np.zeros(orders.shape)
    for pair, n in parts:
        sides = {pair: None, pair.swap(): None}
        total = total + n * np.max([_of(side, orders) for side in sides], axis=0)
    return total * (1 + ULP * (4 + 2 * len(parts)))


def _of(pair: Pair, orders: Array) -> Array:
    unknown = np.full(orders.shape, np.inf)
    try:
        upper = pair.renyi_bracket(orders).upper if pair.certified else unknown
    except UnsupportedComposition:
        # A class, sampled: it has a profile and no divergences.
        return unknown
    return np.where(np.isnan(upper), np.inf, upper)
