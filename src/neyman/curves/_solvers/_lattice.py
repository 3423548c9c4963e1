"""Compositions by sums over a lattice of losses."""

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from neyman.curves._algebra._factors import Factors
from neyman.curves._algebra._lattice_algebra import count_of_choices
from neyman.curves._pair import Pair
from neyman.curves._pairs._sampled import SampledPair, SampledSwapPair
from neyman.curves._profiles._conjugate import powers_of_profile
from neyman.curves._solvers._sources import atom_source
from neyman.curves._solvers._view import EPSILON, LOG_DELTA, TPR, View
from neyman.numerics import Array, Bracket, Interval, exp_outward
from neyman.numerics._atomic._rounding import sampled_atoms
from neyman.numerics._lattice_sums._hits import CountedHits
from neyman.numerics._lattice_sums._plan import Part
from neyman.numerics._lattice_sums._source import (
    AtomSource,
    LossSource,
    Masses,
    SampledSource,
    SwappedSource,
)
from neyman.numerics._lattice_sums._sum import LatticeSum, WholeProfile
from neyman.numerics._primitives import exp, log

__all__ = ["counted_brackets", "lattice_brackets", "lattice_sum"]

# The least points of a profile on each side of 0, where one takes long and where it does not.
_FEW_POINTS, _POINTS = 300, 2000
# A delta from which on losses count as infinite from above, and as none from below.
_CUT = 1e-30
# Losses of which one is the end of a grid: finely spaced, and not beyond 100.
_ENDS = 100.0 * 2.0 ** (-np.arange(0, 240)[::-1] / 8)
# More points than that are read from one profile, at these levels.
_MANY, _WHOLE = 4, (1, 2)
# The level of a composition within a factor.
_NESTED = 2
# The expected number of steps that see a record, up to which they are counted.
_SELDOM = Fraction(1, 4)
_ONE = Bracket(np.ones(1), np.ones(1))
_NOTHING = Masses(_ONE, _ONE)


def lattice_brackets(
    pair: Pair, view: View, at: Array, step: Fraction | None = None
) -> Iterator[Bracket]:
    """Yield brackets by finer and finer lattices, or one by the lattice of a step."""
    if view in (LOG_DELTA, EPSILON) and at.size <= _MANY:
        sums = lattice_sum(pair.factors(), step)
        if sums is not None:
            yield from sums.log_delta(at) if view is LOG_DELTA else sums.epsilon(at)
        return
    for level in _WHOLE if step is None else _WHOLE[-1:]:
        both = [_profile(side.factors(), level, step) for side in (pair, pair.swap())]
        if both[0] is None or both[1] is None:
            return
        yield _of_whole(both[0], both[1], view, at)


def counted_brackets(parts: Factors, view: View, at: Array) -> Iterator[Bracket]:
    """Yield brackets by counting the steps that see a record, where few ever do.

    Such losses are rarely large, and one grid serves the small and the large ones badly. What sees
    a record with a small chance loses little in the other direction, which one grid serves well.
    """
    rates = [pair.unsampled()[1] * n for pair, n in parts]
    if sum(rates) > _SELDOM or view not in (LOG_DELTA, EPSILON) or at.size > _MANY:
        return
    sums = lattice_sum(parts)
    if sums is not None:
        hits = CountedHits(sums.parts)
        yield from hits.log_delta(at) if view is LOG_DELTA else hits.epsilon(at)


def lattice_sum(parts: Factors, step: Fraction | None = None) -> LatticeSum | None:
    """Return the sum of the losses of the factors; None where the lattice cannot read one."""
    sides = [_sides(pair, step) if pair.certified else None for pair, _ in parts]
    known = [side for side in sides if side is not None]
    if len(known) < len(sides):
        return None
    read = (Part(*side, n) for side, (_, n) in zip(known, parts, strict=True))
    return LatticeSum(tuple(read), None if step is None else float(step))


# Two levels, of both directions of both pairs of a guarantee.
@lru_cache(maxsize=8)
def _profile(parts: Factors, level: int, step: Fraction | None) -> WholeProfile | None:
    sums = lattice_sum(parts, step)
    return None if sums is None else sums.profile(level)


def _of_whole(whole: WholeProfile, swapped: WholeProfile, view: View, at: Array) -> Bracket:
    """Bracket a view at many points, or the errors of the best test by the conjugate."""
    if view is EPSILON:
        return whole.epsilon(at)
    if view is LOG_DELTA:
        return Interval.where(at < 0, log(_left(swapped, at)), whole.log_delta(at)).smaller(0)

    def delta(epsilon: Array) -> Bracket:
        right = exp_outward(whole.log_delta(epsilon))
        return Interval.where(epsilon < 0, _left(swapped, epsilon), right)

    power = powers_of_profile(delta, at)
    return power if view is TPR else (1 - power).clip(0.0, 1.0)


def _left(swapped: WholeProfile, epsilon: Array) -> Interval:
    """Bracket delta left of 0: delta(-x) = 1 - e^-x (1 - delta_swapped(x))."""
    x = np.maximum(-epsilon, 0.0)
    rest = 1 - exp(swapped.log_delta(x))
    return (1 - exp(Interval.exactly(-x)) * rest).clip(0.0, 1.0)


def _sides(pair: Pair, step: Fraction | None) -> tuple[LossSource, LossSource] | None:
    """Return laws that give away at least, and at most, what a pair does.

    By its tails; a composition by those of its factors; else by its profile on a grid.
    """
    if pair.of_class:
        return None if count_of_choices(pair) else _by_profile(pair, step)
    source = pair.loss_source()
    if source is not None:
        return source, source
    factors = pair.factors()
    if factors != ((pair, 1),):
        return _of_composition(pair, step)
    if isinstance(pair, SampledPair):
        share = pair.probability
        return _wrapped(pair.base, step, lambda source: SampledSource(source, share))
    if isinstance(pair, SampledSwapPair):
        return _wrapped(pair.forward, step, SwappedSource)
    return _by_profile(pair, step)


def _wrapped(
    pair: Pair, step: Fraction | None, wrap: Callable[[LossSource], LossSource]
) -> tuple[LossSource, LossSource] | None:
    inner = _sides(pair, step)
    return None if inner is None else (wrap(inner[0]), wrap(inner[1]))


@lru_cache(maxsize=16)
def _of_composition(pair: Pair, step: Fraction | None) -> tuple[LossSource, LossSource] | None:
    sums = lattice_sum(pair.factors(), step)
    if sums is None:
        return None
    part = sums.part(_NESTED, math.log(_CUT))
    return part.upper, part.lower


def _by_profile(pair: Pair, step: Fraction | None) -> tuple[LossSource, LossSource] | None:
    """Return laws on a grid that give away at least, and at most, what the pair does.

    Of a class, a member may give away nothing. Both directions are read once.
    """
    back = pair.swap()
    if str(back) >= str(pair):
        return _of_profile(pair, step)
    found = _of_profile(back, step)
    return None if found is None else (SwappedSource(found[0]), SwappedSource(found[1]))


@lru_cache(maxsize=16)
def _of_profile(pair: Pair, step: Fraction | None) -> tuple[LossSource, LossSource] | None:

    def read(losses: Array) -> tuple[Bracket, Bracket]:
        # Right of 0 the one is asked, left of it the other.
        right = losses >= 0
        return _where(right, losses, pair), _where(~right | (losses == 0), -losses, pair.swap())

    points = _FEW_POINTS if pair.costly or pair.of_class else _POINTS
    end = max(_end(side) for side in {pair: None, pair.swap(): None})
    # A power of two, of which every multiple is a double.
    step = step or Fraction(2) ** max(math.floor(math.log2(end / points)), -40)
    floors = _floor(pair), _floor(pair.swap())
    found = sampled_atoms(read, step, 2 * end, floors)
    if found is None:
        return None
    inner = AtomSource(_NOTHING) if pair.of_class else atom_source(found.inner)
    return atom_source(found.outer), inner


def _floor(pair: Pair) -> float:
    """Return the log of a delta from which on a table sees nothing."""
    return max(math.log(_CUT), pair.log_floors[0])


def _end(pair: Pair) -> float:
    """Return a loss, one of a few, beyond which hardly any delta is left; the last of them else."""
    past = np.asarray(pair.log_delta_bracket(_ENDS).upper) <= _floor(pair)
    return float(_ENDS[np.argmax(past)] if np.any(past) else _ENDS[-1])


def _where(asked: npt.NDArray[np.bool_], losses: Array, pair: Pair) -> Bracket:
    found = pair.log_delta_bracket(losses[asked])
    lower, upper = np.full(losses.shape, -np.inf), np.zeros(losses.shape)
    lower[asked], upper[asked] = found.lower, found.upper
    return Bracket(lower, upper)
