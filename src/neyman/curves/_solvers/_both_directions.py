"""A guarantee read both ways: the larger loss, the smaller error, of two ordered pairs.

Where one pair is the other swapped, as for neighbours by adding and removing a record, the contour
serves both at once, and otherwise the second direction is only asked where it may be larger.
"""

import numpy as np

from neyman.curves._algebra._composed import composed
from neyman.curves._algebra._factors import ProductPair
from neyman.curves._algebra._lattice_algebra import BestPair, count_of_choices
from neyman.curves._pair import Pair
from neyman.curves._pairs._between import enclosed, ends_of
from neyman.curves._pairs._sampled import SampledPair, SampledSwapPair, sampled
from neyman.curves._profiles._conjugate import powers_of_profile
from neyman.curves._profiles._hull import hull_test
from neyman.curves._solvers._exact import contour_of
from neyman.curves._solvers._lattice import lattice_powers
from neyman.curves._solvers._read import read
from neyman.curves._solvers._solver import Auto, Contour, in_use
from neyman.curves._solvers._statements import stands_beside, statement_bound, without_statements
from neyman.curves._solvers._trivial import one_side, trivial_bounds
from neyman.curves._solvers._view import BETA, EPSILON, LOG_DELTA, TPR, View, meet
from neyman.numerics import Array, BothWays, Interval, exp_outward
from neyman.numerics._primitives import log

__all__ = ["delta_of_both", "larger", "read_both"]

# A best test that is closer than this is the answer; else the profiles of both directions are read.
_CLOSE = 1e-3
# Where a bracket of log delta, or of epsilon relative to 1 + epsilon, is wider, each direction
# is read alone.
_WIDE = 1e-7


def larger(first: Interval, second: Interval) -> Interval:
    """Return the larger of two losses."""
    return Interval(np.maximum(first.lower, second.lower), np.maximum(first.upper, second.upper))


def read_both(remove: Pair, add: Pair, view: View, at: Array) -> Interval:
    """Bracket a view of the guarantee of both directions."""
    if remove.of_class or add.of_class:
        bound, attained = _ends_of_both(remove, add)
        if bound != attained:
            found = (read_both(*end, view, at) for end in (bound, attained))
            return enclosed(*found, loss=view.loss)
    found = _at_once(remove, add, view, at)
    if found is not None:
        return found
    found = _read_both(remove, add, view, at)
    if not isinstance(remove, ProductPair):
        return found
    for i in range(count_of_choices(remove)):
        if np.all(view.narrow(found, in_use().tolerance)):
            break
        first, second = _chosen(remove, i), _chosen(add, i)
        # For a class the statement's bound is enough, without the other factors.
        stated = stands_beside(first) or stands_beside(second)
        below = (_stated if stated else read_both)(first, second, view, at)
        found = meet(found, one_side(view, view.vacuous(at), below, above=True))
    return found


def _ends_of_both(remove: Pair, add: Pair) -> tuple[tuple[Pair, Pair], tuple[Pair, Pair]]:
    """Return the bounds of both directions, and the attained pairs of both."""
    (first, second), (third, fourth) = ends_of(remove), ends_of(add)
    return (first, third), (second, fourth)


def _chosen(pair: Pair, i: int) -> Pair:
    """Return a pair that the best is above: the i-th of several in the place of the best."""
    if isinstance(pair, BestPair):
        return pair.parts[i % len(pair.parts)]
    if isinstance(pair, SampledPair):
        return sampled(_chosen(pair.base, i), pair.probability)
    if isinstance(pair, SampledSwapPair):
        return _chosen(pair.forward, i).swap()
    if isinstance(pair, ProductPair):
        return composed([(_chosen(part, i), n) for part, n in pair.parts])
    return pair


def _read_both(remove: Pair, add: Pair, view: View, at: Array) -> Interval:
    if (stands_beside(remove) or stands_beside(add)) and in_use().step is None:
        return _of_class(remove, add, view, at)
    if remove == add:
        return read(remove, view, at)
    if view in (BETA, TPR):
        return _hull(remove, add, view, at)
    return (_log_delta if view is LOG_DELTA else _epsilon)(remove, add, at)


def _of_class(remove: Pair, add: Pair, view: View, at: Array) -> Interval:
    """Bracket a composition with a statement; the other factors alone give the lower bound."""
    in_use().methods.add("class")
    found = _stated(remove, add, view, at)
    first, second = (composed(without_statements(pair)) for pair in (remove, add))
    least = read_both(first, second, view, at)
    return enclosed(found, least, loss=view.loss)


def _stated(remove: Pair, add: Pair, view: View, at: Array) -> Interval:
    """Bracket what statements prove of both directions: it holds of a pair and its reverse."""
    if add == remove.swap():
        return statement_bound(remove, view, at)
    if view in (LOG_DELTA, EPSILON):
        return larger(statement_bound(remove, view, at), statement_bound(add, view, at))
    return view.of_power(
        powers_of_profile(lambda x: exp_outward(_stated(remove, add, LOG_DELTA, x)), at)
    )


def _at_once(remove: Pair, add: Pair, view: View, at: Array) -> Interval | None:
    """Bracket the larger loss of two directions that share the nodes of their cumulant.

    None if they do not share them, if another solver is in use, or if the shared lines give only
    wide bounds. Then evaluate each direction by itself.
    """
    if view in (BETA, TPR) or remove == add or add != remove.swap() or not at.size:
        return None
    if not isinstance(in_use().solver, Auto | Contour):
        return None
    inside = (at >= 0) & np.isfinite(at) if view is LOG_DELTA else (at > 0) & (at < 1)
    contour = contour_of(remove) if np.all(inside) else None
    ways = None if contour is None else BothWays.of(contour.law)
    if ways is None:
        return None
    flat = np.ravel(at)
    found = ways.log_delta(flat) if view is LOG_DELTA else ways.threshold(np.log(flat))
    if found is None:
        return None
    lower, upper = found.clip(*((-np.inf, 0.0) if view is LOG_DELTA else (0.0, np.inf)))
    size = 1.0 if view is LOG_DELTA else 1 + upper
    if not np.all((upper < np.inf) & (upper <= lower + _WIDE * size)):
        return None
    in_use().methods.add("contour")
    return Interval(lower.reshape(at.shape), upper.reshape(at.shape))


def _log_delta(remove: Pair, add: Pair, epsilon: Array) -> Interval:
    first = read(remove, LOG_DELTA, epsilon)
    return larger(first, read(add, LOG_DELTA, epsilon, first.lower))


def delta_of_both(remove: Pair, add: Pair, epsilon: Array) -> Interval:
    """Bracket delta: without a logarithm between where the pairs have formulas of their own."""
    bound, attained = _ends_of_both(remove, add)
    if bound != attained:
        return enclosed(
            delta_of_both(*bound, epsilon), delta_of_both(*attained, epsilon), loss=True
        )
    closed = {pair: pair.method == "closed form" for pair in (remove, add)}
    if not all(closed.values()) or not isinstance(in_use().solver, Auto):
        return exp_outward(read_both(remove, add, LOG_DELTA, epsilon))
    first = remove.delta_bracket(epsilon)
    return first if remove == add else larger(first, add.delta_bracket(epsilon))


def _epsilon(remove: Pair, add: Pair, delta: Array) -> Interval:
    """Ask the second direction only where its delta may be larger at the first one's epsilon."""
    first = read(remove, EPSILON, delta)
    most = np.where(delta > 0, log(Interval.exactly(delta)).lower, -np.inf)
    # The total variation is the same both ways.
    open_ = np.array(((first.upper > 0) | (add != remove.swap())) & ~np.isposinf(first.lower))
    if np.any(open_):
        beside = read(add, LOG_DELTA, first.lower[open_], most[open_])
        open_[open_] = ~(beside.upper <= most[open_])
    if not np.any(open_):
        return first
    lower, upper = np.array(first.lower), np.array(first.upper)
    second = read(add, EPSILON, delta[open_])
    lower[open_] = np.maximum(lower[open_], second.lower)
    upper[open_] = np.maximum(upper[open_], second.upper)
    return Interval(lower, upper)


def _hull(remove: Pair, add: Pair, view: View, alpha: Array) -> Interval:
    """Bracket the convex hull of the smaller errors, or the power, which is 1 less it."""
    effort = in_use()
    touching = _touching(remove, add, alpha) if isinstance(effort.solver, Auto) else None
    if touching is None:
        return _by_conjugate(remove, add, view, alpha)
    found = touching[0] if view is BETA else touching[1]
    for pair in (remove, add):
        if isinstance(pair, ProductPair) and not np.all(view.narrow(found, _CLOSE)):
            for bound in trivial_bounds(pair.parts, TPR, alpha):
                # One direction gives no upper bound of both.
                power = one_side(TPR, TPR.vacuous(alpha), bound, above=False)
                found = meet(found, view.of_power(power))
    for power in lattice_powers((remove, add), alpha):
        if np.all(view.narrow(found, max(effort.tolerance, _CLOSE))) or effort.late:
            break
        effort.methods.add("lattice")
        found = meet(found, view.of_power(power))
    return found


def _by_conjugate(remove: Pair, add: Pair, view: View, alpha: Array) -> Interval:
    """Bracket the same as the conjugate of the larger of the two profiles."""
    below = np.maximum(read(remove, TPR, alpha).lower, read(add, TPR, alpha).lower)
    power = powers_of_profile(lambda epsilon: delta_of_both(remove, add, epsilon), alpha)
    below = np.maximum(below, power.lower)
    found = view.of_power(Interval(below, np.maximum(power.upper, below)))
    if view is TPR:
        return found
    return found.smaller(np.minimum(read(remove, BETA, alpha).upper, read(add, BETA, alpha).upper))


def _touching(remove: Pair, add: Pair, alpha: Array) -> tuple[Interval, Interval] | None:
    """Bracket beta and the power where the pairs know their best tests; else None."""
    flat = np.ravel(alpha)
    inner = (flat > 0) & (flat < 1)
    ends = [pair.tpr_bracket(np.zeros(1)) for pair in (remove, add)]
    first = max(float(end.lower[0]) for end in ends), max(float(end.upper[0]) for end in ends)
    tpr = Interval(*(np.where(flat <= 0, side, 1.0) for side in first))
    beta = Interval(1 - tpr.upper, 1 - tpr.lower)
    if np.any(inner):
        found = hull_test(remove, add, flat[inner])
        if found is None:
            return None
        for whole, part in zip((beta, tpr), found, strict=True):
            whole.lower[inner], whole.upper[inner] = part.lower, part.upper
    return (
        Interval(*(side.reshape(alpha.shape) for side in beta)),
        Interval(*(side.reshape(alpha.shape) for side in tpr)),
    )
