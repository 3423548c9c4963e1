"""What a table of tails answers: profile, its inverse, and the errors of the best test."""

import numpy as np
import numpy.typing as npt

from neyman.numerics._atomic._tail_table import TailTable
from neyman.numerics._bracket import ULP, Array, Bracket, around, exp_outward

__all__ = ["least_errors", "log_excess", "log_tails", "places_of_excess", "powers"]

_Index = npt.NDArray[np.int64]


def _at(table: Array, index: _Index) -> Array:
    return table[np.clip(index, 0, table.size - 1)]


def _log_minus(first: Array, second: Array) -> Array:
    """Return log(e^first - e^second) for first >= second."""
    with np.errstate(invalid="ignore", divide="ignore"):
        log = first + np.log(-np.expm1(np.minimum(second - first, 0.0)))
    return np.where(np.isneginf(second), first, log)


def log_excess(table: TailTable, x: Array, *, up: bool) -> Array:
    """Return a bound of log E(x), upper or lower; x stands for the decimal that it prints as.

    Error: the table's; the nearest atom above is moved by its rounding.
    """
    if not table.places.size:
        return np.full(x.shape, (table.excess.upper if up else table.excess.lower)[0])
    sign, near = (1, around(x).lower) if up else (-1, around(x).upper)
    p_above, excess = _side(table.p_above, up), _side(table.excess, up)
    index = np.searchsorted(table.places, near, side="right").astype(np.int64)
    place = _at(table.places, index)
    moved = table.place_error + ULP * np.abs(place) / 4
    with np.errstate(invalid="ignore", over="ignore"):
        part = _log_minus(place, np.minimum(near - sign * moved, place)) + _at(p_above, index)
        part = part + sign * ULP * (2 + np.abs(place) + np.abs(part) / 2)
    inside = index < table.places.size
    part = np.where(inside & ~np.isnan(part), part, -np.inf)
    rest = np.where(inside, _at(excess, index), excess[-1])
    log = np.logaddexp(rest, part)
    error = np.where(np.isneginf(part), 0.0, ULP * (1 + np.abs(log) / 2))
    log = np.where(np.isneginf(part), rest, log + sign * np.where(np.isfinite(log), error, 0.0))
    return np.minimum(log, 0.0)


def _side(bracket: Bracket, up: bool) -> Array:
    return bracket.upper if up else bracket.lower


def places_of_excess(table: TailTable, value: Array, *, up: bool) -> Array:
    """Return a bound of the smallest x with E(x) <= value; inf where there is none.

    On the cell below the atom l_j the equation E(x) = value is linear in e^x:
    x = l_j + log(1 - y), y = (value - E(l_j)) / (e^{l_j} P(L >= l_j)).

    Error: the table's, and y within ULP (4 + its logarithms) relatively.
    """
    near = around(value).lower if up else around(value).upper
    with np.errstate(divide="ignore"):
        target = np.log(np.maximum(near, 0.0))
    target = target - (1 if up else -1) * ULP * np.where(np.isfinite(target), 1 - target, 0.0)
    excess, p_above = _side(table.excess, up), _side(table.p_above, up)
    if not table.places.size:
        return np.where(excess[0] <= target, -np.inf, np.inf)
    # The table falls along the atoms: the first atom at which it is low enough.
    index = excess.size - np.searchsorted(excess[::-1], target, side="right").astype(np.int64)
    place = _at(table.places, index)
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        scale = place + _at(p_above, index)
        y = np.exp(_log_minus(target, np.minimum(_at(excess, index), target)) - scale)
        y = np.where(np.isnan(y), 0.0, y)
        size = 4 + np.abs(place) + np.abs(scale) + np.where(np.isfinite(target), -target, 0.0)
        error = ULP * size * (y + np.where(np.isfinite(target), np.exp(target - scale), 0.0))
        moved = np.clip(y - error if up else y + error, 0.0, 1.0)
        x = place + np.log1p(-moved)
    slack = table.place_error + ULP * np.abs(place)
    if up:
        x = np.minimum(x, place) + slack
    else:
        below = np.where(index > 0, _at(table.places, index - 1), -np.inf)
        x = np.maximum(x, below) - slack
    return np.where(index > table.places.size - 1, np.inf, x)


def _cells(p_above: Array, alpha: Array) -> _Index:
    """Return j with p_above[j+1] <= alpha < p_above[j]; -1 from p_above[0] on, w below the last."""
    return p_above.size - 1 - np.searchsorted(p_above[::-1], alpha, side="right").astype(np.int64)


def least_errors(table: TailTable, alpha: Array, *, up: bool) -> Array:
    """Return a bound of f(alpha) = inf Q(accept) over tests with P(reject) <= alpha.

    Lower: f(alpha) >= Q(L < l_j) + e^{l_j} (P(L >= l_j) - alpha) for every j, by duality.
    Upper: a coin between the thresholds l_j and l_{j+1}, whose level is proved.
    """
    if up:
        chord = _chord(table.p_above, table.q_below, around(alpha).lower, up=True)
        return np.where(alpha >= 1, 0.0, np.minimum(chord, 1 - around(alpha).lower))
    near = around(alpha).upper
    levels = exp_outward(table.p_above).lower
    index = _cells(levels, near)
    inside = (index >= 0) & (index < table.places.size)
    j = np.where(inside, index, 0)
    place = table.places[j] if table.places.size else np.zeros(alpha.shape)
    slack = table.place_error + ULP * (2 + np.abs(place))
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        below = np.exp(table.q_below.lower[j])
        # The product in logarithms: either factor may leave the doubles.
        part = np.exp(place - slack + np.log(np.maximum(levels[j] - near, 5e-324)))
        part = np.where(levels[j] > near, part, 0.0)
        value = (below + part) * (1 - 4 * ULP * (2 + np.abs(place) + _size(table.q_below.lower[j])))
    whole = np.exp(table.q_below.lower[-1]) * (1 - 4 * ULP)
    value = np.where(index < 0, 0.0, np.where(inside, value, whole))
    return np.maximum(np.nextafter(value, -1.0), 0.0)


def powers(table: TailTable, alpha: Array, *, up: bool) -> Array:
    """Return a bound of 1 - f(alpha), with its own relative accuracy; the same two proofs."""
    if not up:
        chord = _chord(table.p_above, table.q_above, around(alpha).lower, up=False)
        return np.where(alpha >= 1, 1.0, np.maximum(chord, around(alpha).lower))
    near = around(alpha).upper
    levels = exp_outward(table.p_above).lower
    index = _cells(levels, near)
    if not table.places.size:
        return np.minimum(np.exp(table.q_above.upper[0]) * (1 + 4 * ULP) + near, 1.0)
    # Below the last level the line of the last atom holds; from the first on, that of the first.
    j = np.clip(index, 0, table.places.size - 1)
    after = np.where(index < 0, 0, j + 1)
    place = table.places[j]
    spent = np.where(near > levels[after], near - levels[after], 0.0)
    with np.errstate(over="ignore", divide="ignore", under="ignore"):
        slack = table.place_error + ULP * (2 + np.abs(place))
        part = np.exp(place + slack + np.log(spent))
        above = np.exp(table.q_above.upper[after])
        size = 2 + np.abs(place) + _size(table.q_above.upper[after])
        size = size + np.where(spent > 0, -np.log(np.maximum(spent, 5e-324)), 0.0)
        value = (above + part) * (1 + 4 * ULP * size)
    value = np.nextafter(value, 2.0)
    return np.where(alpha <= 0, np.minimum(_at_zero(table), 1.0), np.minimum(value, 1.0))


def _at_zero(table: TailTable) -> float:
    """Return the power at level 0: what P never does."""
    return float(np.nextafter(np.exp(table.q_above.upper[-1]) * (1 + 800 * ULP), 2.0))


def _size(log: Array) -> Array:
    return np.where(np.isfinite(log), np.abs(log), 0.0)


def _chord(levels: Bracket, errors: Bracket, alpha: Array, *, up: bool) -> Array:
    """Return the value at alpha of the chord between thresholds whose levels are bounded above.

    A coin that shows the lower threshold with a probability rounded down keeps to its level, so
    that only the rounding of sums of non-negative terms is left.
    """
    level, side = exp_outward(levels).upper, _side(exp_outward(errors), up)
    index, last = _cells(level, alpha), level.size - 1
    j = np.clip(index, 0, max(last - 1, 0))
    after = np.minimum(j + 1, last)
    wide = np.maximum(level[j] - level[after], 5e-324)
    gamma = np.clip((alpha - level[after]) / wide, 0.0, 1.0) * (1 - ULP)
    if up:
        inner = (side[j] + (1 - gamma) * np.maximum(side[after] - side[j], 0.0)) * (1 + ULP)
        inner = np.nextafter(inner, 2.0)
    else:
        inner = (side[after] + gamma * np.maximum(side[j] - side[after], 0.0)) * (1 - ULP)
        inner = np.nextafter(inner, -1.0)
    inner = np.where(index < 0, side[0], np.where(index >= last, side[last], inner))
    return np.clip(inner, 0.0, 1.0)


def log_tails(table: TailTable, t: Array, *, closed: bool) -> tuple[Bracket, ...]:
    """Return brackets of log P(L > t), log P(L <= t), log Q(L > t), log Q(L <= t).

    An atom within its rounding of t counts as not known to lie on either side.

    Args:
        table: of the law.
        t: thresholds, any shape.
        closed: count L = t as above.
    """
    moved = table.place_error + ULP * np.abs(t) / 4
    side = "left" if closed else "right"
    # Without rounding errors of the places both are the same index.
    early = np.searchsorted(table.places, t - moved, side=side)
    late = np.searchsorted(table.places, t + moved, side=side)
    return tuple(
        Bracket(tail.lower[first], tail.upper[second])
        for tail, first, second in (
            (table.p_above, late, early),
            (table.p_below, early, late),
            (table.q_above, late, early),
            (table.q_below, early, late),
        )
    )
