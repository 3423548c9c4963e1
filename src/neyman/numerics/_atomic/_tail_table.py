"""Tails and profile of a law of log-likelihood ratios with finitely many atoms, from both sides.

With atoms l_0 < ... < l_{w-1}, masses p_j under P and q_j = p_j e^{l_j} under Q, everything is a
sum of non-negative terms, so that nothing cancels:

    P(L >= l_j), P(L < l_j), Q(L >= l_j), Q(L < l_j)     sums of masses
    E(x) = E_P[(e^L - e^x)_+]:   E(l_j) = sum_{i >= j} (e^{l_{i+1}} - e^{l_i}) P(L >= l_{i+1})
    E(x) = E(l_j) + (e^{l_j} - e^x) P(L >= l_j)           on [l_{j-1}, l_j]
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from neyman.numerics._atomic._atoms import OF_LOG, Atoms
from neyman.numerics._atomic._lattice import compose
from neyman.numerics._interval import Interval
from neyman.numerics._primitives import log, log1mexp, log1p, log_running, log_sum

__all__ = ["TailTable", "tail_table"]

_NONE = Interval.exactly(np.full(1, -np.inf))
# From here on down the union of rare events is their sum, to all digits.
_UNION = -40.0


@final
@dataclass(frozen=True, slots=True, eq=False)
class TailTable:
    """Logarithms at the atoms and one place past the last; shape (w + 1,).

    Attributes:
        places: the atoms l_j, increasing, shape (w,).
        p_above: log P(L >= l_j), without the mass at -inf; at w only what the atoms leave out.
        p_below: log P(L < l_j), with the mass at -inf.
        q_above: log Q(L >= l_j), with the mass at +inf.
        q_below: log Q(L < l_j).
        excess: log E(l_j), with the mass at +inf.
    """

    places: Interval
    p_above: Interval
    p_below: Interval
    q_above: Interval
    q_below: Interval
    excess: Interval


def tail_table(parts: Sequence[tuple[Atoms, int]], most_cells: int) -> TailTable | None:
    """Compose laws and sum their masses up; None where the grid is too fine for a table.

    Args:
        parts: laws with atoms, and how many copies of each, at least 1.
        most_cells: of the table.
    """
    only = log_some([(atoms.log_only_q, times) for atoms, times in parts])
    only_p = log_some([(atoms.log_only_p, times) for atoms, times in parts])
    if any(not atoms.steps.size for atoms, _ in parts):
        # The two laws share no outcome.
        return TailTable(Interval.exactly(np.empty(0)), _NONE, only_p, only, _NONE, only)
    if len(parts) == 1 and parts[0][1] == 1:
        law, lost = parts[0][0], (parts[0][0].log_lost_p, parts[0][0].log_lost_q)
        return _summed(law, law.logs, lost, (only, only_p))
    moved = sum(times * atoms.place_error for atoms, times in parts)
    if moved > 0 and len(parts) > 1:
        # Rounded places of different laws share a grid only by accident.
        return None
    found = compose([(atoms.reduced, times) for atoms, times in parts], most_cells)
    if found is None:
        return None
    log_p, middle = found.log_p, found.log_p.lower
    law = Atoms(found.offset, found.unit, found.steps, middle, middle, place_error=moved)
    lost = found.log_lost_p, found.log_lost_q
    return _summed(law, (log_p, log_p + law.places), lost, (only, only_p))


def _summed(
    law: Atoms,
    logs: tuple[Interval, Interval],
    lost: tuple[float, float],
    only: tuple[Interval, Interval],
) -> TailTable:
    """Sum the masses up.

    Args:
        law: for its places.
        logs: of the masses under P and under Q.
        lost: logs of upper bounds of the P- and Q-mass that the atoms leave out.
        only: log Q{L = inf} and log P{L = -inf}.
    """
    places, (log_p, log_q), (q_only, p_only) = law.places, logs, only
    lost_p, lost_q = (Interval(_NONE.lower, np.full(1, each)) for each in lost)
    # Beyond l, the lost mass under P is at most e^-l times that under Q.
    beyond = _join(places, places.at(slice(-1, None)))
    p_above = log_sum(_above(log_p), lost_p.smaller(lost_q - beyond))
    p_below = log_sum(_below(log_p), lost_p)
    q_above = log_sum(log_sum(_above(log_q), lost_q), q_only)
    within = lost_q.smaller(_join(places + lost_p, lost_p))
    q_below = log_sum(_below(log_q), within)
    twice = 2 * law.place_error
    gaps = Interval.of(law.unit) * np.diff(law.steps).astype(np.float64)
    gaps = (gaps + Interval(np.asarray(-twice), np.asarray(twice))).larger(0)
    above = p_above.at(slice(1, -1))
    steps = places.at(slice(-1)) + gaps + log1mexp(-gaps) + above
    steps = Interval.where(np.isneginf(above.upper), _NONE, steps)
    # From the last atom on, only the lost and the infinite mass are in excess.
    excess = log_sum(log_sum(_join(_above(steps), _NONE), lost_q), q_only)
    return TailTable(
        places,
        _falling(p_above),
        log_sum(p_below, p_only),
        _falling(q_above),
        q_below,
        _falling(excess),
    )


def _join(first: Interval, second: Interval) -> Interval:
    return Interval(*(np.append(a, b) for a, b in zip(first, second, strict=True)))


def _above(logs: Interval) -> Interval:
    """Return the logarithms of the sums from each place to the end, and of none."""
    back = slice(None, None, -1)
    return _join(log_running(logs.at(back)).at(back), _NONE)


def _below(logs: Interval) -> Interval:
    """Return the logarithms of the sums before each place, and of the whole sum."""
    return _join(_NONE, log_running(logs))


def _falling(logs: Interval) -> Interval:
    """Return falling bounds of a sequence that falls."""
    lower = np.maximum.accumulate(logs.lower[::-1])[::-1]
    return Interval(lower, np.minimum.accumulate(logs.upper))


def log_some(parts: Sequence[tuple[float, int]]) -> Interval:
    """Return log(1 - prod (1 - e^log)^times), accurate for the smallest masses too."""
    counts: Counter[float] = Counter()
    for each, times in parts:
        if each > -np.inf:
            counts[each] += times
    if not counts:
        return _NONE
    near = np.asarray([*counts])
    logs = Interval.within(near, OF_LOG, OF_LOG).smaller(0)
    times = np.asarray([*counts.values()], dtype=np.float64)
    some = log_running(logs + log(times)).at(slice(-1, None))
    if np.all(some > _UNION):
        return log1mexp(-(-log1mexp(logs) * times).total()).smaller(0) + np.zeros(1)
    # The sum is too large by less than the square of itself.
    return (some + log1p(-Interval.exactly(np.exp(some.upper)))).hull(some).smaller(0)
