"""Views of a table of tails: the profile, its inverse, the errors of the best test, a Gaussian.

An argument is a double and means the decimal that it prints as. Each bound comes from the safe side
of the argument. Both sides are evaluated at once, in a row each.
"""

from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from neyman.numerics._atomic._tail_table import TailTable
from neyman.numerics._interval import Array, Interval, quiet
from neyman.numerics._primitives import exp, log, log1mexp, log1p, log_sum, normal_quantile

__all__ = [
    "largest_vertex",
    "least_errors",
    "log_excess",
    "log_tails",
    "places_of_excess",
    "powers",
]

_Index: TypeAlias = npt.NDArray[np.int64]
_NOTHING = Interval.exactly(-np.inf)
# Logarithms of what is beyond the doubles, and of the middle.
_TINY, _HALF = -700.0, -np.log(2.0)


def _at(table: Interval, index: _Index | int) -> Interval:
    """Return the rows of a table at indices, which are moved into it."""
    return table.at(np.asarray(np.clip(index, 0, table.lower.size - 1)))


def _count(values: Array, x: Array, side: Literal["left", "right"]) -> _Index:
    """Return how many of increasing values are below x; on the right side, those at x too."""
    return np.asarray(np.searchsorted(values, x, side=side), dtype=np.int64)


def _both(table: Interval, upper: _Index, lower: _Index) -> Interval:
    """Return the upper bounds at some indices, and the lower ones at others, as exact rows."""
    rows = _at(table, upper).upper, _at(table, lower).lower
    return Interval.exactly(np.stack(rows))


def _log_minus(first: Interval, second: Interval) -> Interval:
    """Return log(e^first - e^second), where that is at least 0."""
    return Interval.where(
        np.isneginf(second.upper), first, first + log1mexp((second - first).smaller(0))
    )


def log_excess(table: TailTable, x: Array) -> Interval:
    """Return log E(x): E(l_j) + (e^{l_j} - e^x) P(L >= l_j), with l_j the nearest atom above."""
    near, size = Interval.decimal(x), table.places.lower.size
    if not size:
        return _at(table.excess, np.zeros(x.shape, dtype=np.int64))
    # An atom that may be below x too is none above for the lower bound, and one for the upper.
    above = (
        _count(table.places.upper, near.lower, "right"),
        _count(table.places.lower, near.upper, "right"),
    )
    place, at = _at(table.places, np.stack(above)), Interval.exactly(np.stack(tuple(near)))
    part = _log_minus(place, at.smaller(place)) + _both(table.p_above, *above)
    part = Interval.where(np.stack(above) < size, part, _NOTHING)
    found = log_sum(_both(table.excess, *above), part).smaller(0)
    return Interval(found.lower[1], found.upper[0])


def places_of_excess(table: TailTable, value: Array) -> Interval:
    """Return the smallest x with E(x) <= value; inf where there is none.

    On the cell below the atom l_j the equation E(x) = value is linear in e^x:
    x = l_j + log(1 - y), y = (value - E(l_j)) / (e^{l_j} P(L >= l_j)).
    """
    goal, size, excess = log(Interval.decimal(value)), table.places.lower.size, table.excess
    if not size:
        ends = zip((excess.lower, excess.upper), (goal.upper, goal.lower), strict=True)
        return Interval(*(np.where(end[0] <= most, -np.inf, np.inf) for end, most in ends))
    # The table falls along the atoms: the first atom at which it is low enough.
    low = tuple(
        end.size - _count(end[::-1], most, "right")
        for end, most in ((excess.upper, goal.lower), (excess.lower, goal.upper))
    )
    index = np.stack(low)
    place, target = _at(table.places, index), Interval.exactly(np.stack(tuple(goal)))
    rest = _log_minus(target, _both(excess, *low).smaller(target))
    y = exp(rest - place - _both(table.p_above, *low)).smaller(1)
    found = place + log1p(-y)
    before = np.where(index[1] > 0, _at(table.places, index[1] - 1).lower, -np.inf)
    return Interval(
        np.where(index[1] >= size, np.inf, np.maximum(found.lower[1], before)),
        np.where(index[0] >= size, np.inf, np.minimum(found.upper[0], place.upper[0])),
    )


def _cells(p_above: Array, alpha: Array) -> _Index:
    """Return j with p_above[j+1] <= alpha < p_above[j]; -1 from p_above[0] on, w below the last."""
    return p_above.size - 1 - _count(p_above[::-1], alpha, "right")


def least_errors(table: TailTable, alpha: Array) -> Interval:
    """Return f(alpha) = inf Q(accept) over tests with P(reject) <= alpha.

    Lower: f(alpha) >= Q(L < l_j) + e^{l_j} (P(L >= l_j) - alpha) for every j, by duality.
    Upper: a coin between the thresholds l_j and l_{j+1}, whose level is proved.
    """
    near, size = Interval.decimal(alpha), table.places.lower.size
    chord = _chord(table.p_above, table.q_below, near.lower).upper
    upper = np.where(alpha >= 1, 0.0, np.minimum(chord, (1 - near).upper))
    levels, most = exp(table.p_above).lower, near.upper
    index = _cells(levels, most)
    value = exp(_at(table.q_below, size)).lower
    if size:
        left = (Interval.exactly(levels[np.clip(index, 0, size)]) - most).larger(0)
        line = exp(_at(table.q_below, index)) + exp(_at(table.places, index) + log(left))
        value = np.where(index < size, line.lower, value)
    lower = np.where(index < 0, 0.0, value)
    return Interval(np.minimum(lower, upper), upper).clip(0.0, 1.0)


def powers(table: TailTable, alpha: Array) -> Interval:
    """Return 1 - f(alpha), with its own relative accuracy; the same two proofs."""
    near, size = Interval.decimal(alpha), table.places.lower.size
    chord = _chord(table.p_above, table.q_above, near.lower).lower
    lower = np.where(alpha >= 1, 1.0, np.maximum(chord, near.lower))
    levels, most = exp(table.p_above).lower, near.upper
    if not size:
        upper = (exp(_at(table.q_above, 0)) + most).upper
        return Interval(np.minimum(lower, upper), upper).clip(0.0, 1.0)
    # Below the last level the line of the last atom holds; from the first on, that of the first.
    index = _cells(levels, most)
    after = np.where(index < 0, 0, np.minimum(index, size - 1) + 1)
    spent = (Interval.exactly(most) - levels[after]).larger(0)
    upper = (exp(_at(table.q_above, after)) + exp(_at(table.places, index) + log(spent))).upper
    # At level 0: what P never does.
    upper = np.where(alpha <= 0, exp(_at(table.q_above, size)).upper, upper)
    return Interval(np.minimum(lower, upper), upper).clip(0.0, 1.0)


@quiet
def _chord(log_levels: Interval, log_errors: Interval, alpha: Array) -> Interval:
    """Return the value at alpha of the chord between thresholds whose levels are bounded above.

    A coin that shows the lower threshold with the share that is left of the level keeps to it.
    """
    level, errors = exp(log_levels).smaller(1).upper, exp(log_errors).smaller(1)
    index, last = _cells(level, alpha), level.size - 1
    j = np.clip(index, 0, max(last - 1, 0))
    after = np.minimum(j + 1, last)
    wide = (Interval.exactly(level[j]) - level[after]).larger(5e-324)
    share = ((Interval.exactly(alpha) - level[after]).larger(0) / wide).smaller(1)
    inner = errors.at(j) * share + errors.at(after) * (1 - share)
    inside = (index >= 0) & (index < last)
    return Interval.where(inside, inner, _at(errors, index)).clip(0.0, 1.0)


def log_tails(table: TailTable, t: Array, *, closed: bool) -> tuple[Interval, ...]:
    """Return log P(L > t), log P(L <= t), log Q(L > t), log Q(L <= t).

    An atom within its rounding of t counts as not known to lie on either side.

    Args:
        table: of the law.
        t: thresholds, any shape.
        closed: count L = t as above.
    """
    near, side = Interval.decimal(t), "left" if closed else "right"
    # Where a place is exact both are the same index.
    early = _count(table.places.upper, near.lower, side)
    late = _count(table.places.lower, near.upper, side)
    return tuple(
        Interval(tail.lower[first], tail.upper[second])
        for tail, first, second in (
            (table.p_above, late, early),
            (table.p_below, early, late),
            (table.q_above, late, early),
            (table.q_below, early, late),
        )
    )


def largest_vertex(table: TailTable) -> tuple[float, float]:
    """Bracket max over j of Phi^-1(P(L < l_j)) - Phi^-1(Q(L < l_j)).

    Vertices at which a probability is beyond the doubles are left out.
    """
    inside = slice(1, -1)
    p_below, p_above, q_below, q_above = (
        each.at(inside) for each in (table.p_below, table.p_above, table.q_below, table.q_above)
    )
    gap = _quantile(p_below, p_above) - _quantile(q_below, q_above)
    least = [each.lower for each in (p_below, p_above, q_below, q_above)]
    known = gap.at(np.min(least, axis=0) > _TINY)
    lower, upper = (float(np.max(end, initial=0.0)) for end in known)
    return lower, upper


def _quantile(below: Interval, above: Interval) -> Interval:
    """Return Phi^-1 of a probability that is known with its complement."""
    left, right = normal_quantile(exp(below)), -normal_quantile(exp(above))
    return Interval.where(below < _HALF, left, right)
