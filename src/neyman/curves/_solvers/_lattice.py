"""Compositions by sums over a lattice of losses."""

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache, reduce
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from neyman.curves._algebra._factors import Factors, ProductPair, factors_of
from neyman.curves._algebra._lattice_algebra import MixturePair, count_of_choices
from neyman.curves._pair import Pair
from neyman.curves._pairs._sampled import SampledPair, SampledSwapPair
from neyman.curves._profiles._conjugate import powers_of_profile
from neyman.curves._solvers._contour import ContourProfile, loss_law
from neyman.curves._solvers._exact import has_exact_profile
from neyman.curves._solvers._solver import Auto, using
from neyman.curves._solvers._sources import MixedSource, law_above, law_below
from neyman.curves._solvers._view import BETA, EPSILON, LOG_DELTA, TPR, View
from neyman.numerics import Array, Interval, Ladder, LossSum, exp_outward
from neyman.numerics._atomic._rounding import Rounded, sampled_atoms
from neyman.numerics._lattice_sums._hits import CountedHits
from neyman.numerics._lattice_sums._plan import Part
from neyman.numerics._lattice_sums._source import (
    AtomSource,
    LossSource,
    Masses,
    SampledSource,
    SampledSwapSource,
    SwappedSource,
)
from neyman.numerics._lattice_sums._sum import LatticeSum, WholeProfile
from neyman.numerics._primitives import exp, log

__all__ = ["counted_brackets", "lattice_brackets", "lattice_powers", "lattice_sum"]

# The fewest points of a profile on each side of 0, if it is slow and if it is fast.
_FEW_POINTS, _POINTS = 300, 2000
# The same for a profile whose contours are precomputed.
_CONTOUR_POINTS = 2**13
# A delta from which on losses count as infinite from above, and as none from below.
_CUT = 1e-30
# A log delta that exceeds the log mass of infinite losses by less than this is that mass.
_ABOVE = 1e-9
_LEAST_LOGS = (math.log(_CUT), -50.0, -35.0)
# Candidates for the end of a grid: finely spaced, at most 100.
_ENDS = 100.0 * 2.0 ** (-np.arange(0, 240)[::-1] / 8)
# Questions with more points than this are read from one profile, at these levels.
_MANY, _WHOLE = 4, (1, 2)
# Refinement ends after two levels in a row that move neither end by this share of the width.
_IN_VAIN, _SHARE, _MOVED = 2, 0.1, 1e-3
# The level for a composition inside a factor.
_NESTED = 2
# The largest expected number of steps with a record for which those steps are counted.
_SELDOM = Fraction(1, 4)
# From this many losses on, the contour composes those that it reads fast.
_MANY_LOSSES = 64
_LogDelta: TypeAlias = Callable[[Array], Interval]
_BothWays: TypeAlias = tuple[WholeProfile, WholeProfile]
_ONE = Interval(np.ones(1), np.ones(1))
_NOTHING = Masses(_ONE, _ONE)


def lattice_brackets(
    pair: Pair, view: View, at: Array, step: Fraction | None = None
) -> Iterator[Interval]:
    """Yield brackets by finer and finer lattices, or one by the lattice of a step."""
    if view in (LOG_DELTA, EPSILON) and _count(at) <= _MANY:
        sums = lattice_sum(factors_of(pair), step)
        if sums is not None:
            yield from _while_closer(sums.log_delta(at) if view is LOG_DELTA else sums.epsilon(at))
        return
    if view in (BETA, TPR):
        for power in lattice_powers((pair,), at, step):
            yield view.of_power(power)
        return
    for ((whole, swapped),) in _profiles((pair,), step):
        if view is EPSILON:
            yield whole.epsilon(at)
        else:
            found = Interval.where(at < 0, log(_left(swapped, at)), whole.log_delta(at))
            yield found.smaller(0)


def lattice_powers(
    pairs: Sequence[Pair], alpha: Array, step: Fraction | None = None
) -> Iterator[Interval]:
    """Yield brackets of the power against the worst of some pairs, from their profiles."""
    for known in _profiles(pairs, step):

        def delta(epsilon: Array, known: Sequence[_BothWays] = known) -> Interval:
            return reduce(Interval.larger, (_delta(*sides, epsilon) for sides in known))

        yield powers_of_profile(delta, alpha)


def _profiles(pairs: Sequence[Pair], step: Fraction | None) -> Iterator[Sequence[_BothWays]]:
    """Yield the profiles of pairs and of their reverses, on finer and finer grids."""
    for level in _WHOLE if step is None else _WHOLE[-1:]:
        read = [
            tuple(_profile(factors_of(side), level, step) for side in (pair, pair.swap()))
            for pair in pairs
        ]
        known = [(one, other) for one, other in read if one is not None and other is not None]
        if len(known) < len(read):
            return
        yield known


def _while_closer(levels: Iterator[Interval]) -> Iterator[Interval]:
    """Yield brackets until finer grids no longer help; each grid takes four times as long."""
    vain, last = 0, None
    for found in levels:
        yield found
        if last is not None:
            vain = 0 if np.any(_closer(last, found)) else vain + 1
            if vain == _IN_VAIN:
                return
        last = found


def _closer(last: Interval, found: Interval) -> npt.NDArray[np.bool_]:
    """Return where an end has moved inwards, by a share of the width or, of no width, at all."""
    with np.errstate(invalid="ignore"):
        width = last.upper - last.lower
        least = np.where(np.isfinite(width), _SHARE * width, _MOVED)
        return (last.upper - found.upper > least) | (found.lower - last.lower > least)


def _count(at: Array) -> int:
    """Return how many there are; what lies within some roundings of another is the same."""
    with np.errstate(over="ignore"):
        return np.unique(at.astype(np.float32)).size


def counted_brackets(parts: Factors, view: View, at: Array) -> Iterator[Interval]:
    """Yield brackets by counting the steps that see a record, where few ever do.

    Such losses are rarely large, and one grid serves the small and the large ones badly. What sees
    a record with a small chance loses little in the other direction, which one grid serves well.
    """
    rates = [pair.probability * n if isinstance(pair, SampledPair) else n for pair, n in parts]
    if sum(rates) > _SELDOM or view not in (LOG_DELTA, EPSILON) or at.size > _MANY:
        return
    sums = lattice_sum(parts)
    if sums is not None:
        hits = CountedHits(sums.parts)
        yield from hits.log_delta(at) if view is LOG_DELTA else hits.epsilon(at)


def lattice_sum(parts: Factors, step: Fraction | None = None) -> LatticeSum | None:
    """Return the sum of the losses of the factors; None where the lattice cannot read one.

    Many losses that the contour reads fast are one loss, unless a step is given.
    """
    legible = tuple((pair, n) for pair, n in parts if step is None and _is_legible(pair))
    others = tuple(part for part in parts if part not in legible)
    found: list[Part] = []
    if others and sum(n for _, n in legible) > _MANY_LOSSES:
        sides = _by_contour(legible)
        if sides is not None:
            found, parts = [Part(*sides, 1)], others
    for pair, n in parts:
        sides = _sides(pair, step) if pair.certified else None
        if sides is None:
            return None
        found.append(Part(*sides, n))
    return LatticeSum(tuple(found), None if step is None else float(step))


def _is_legible(pair: Pair) -> bool:
    """Return whether the contour reads a pair fast: none whose loss has atoms beside a density."""
    source = None if pair.loss_law() is None else pair.loss_source()
    if source is None:
        return False
    least, largest = source.reach
    return not (source.atoms.q.upper.size and least < largest)


# Room for two levels of both directions of both pairs of a guarantee.
@lru_cache(maxsize=8)
def _profile(parts: Factors, level: int, step: Fraction | None) -> WholeProfile | None:
    sums = lattice_sum(parts, step)
    return None if sums is None else sums.profile(level)


def _delta(whole: WholeProfile, swapped: WholeProfile, epsilon: Array) -> Interval:
    """Bracket delta at any real epsilon."""
    right = exp_outward(whole.log_delta(epsilon))
    return Interval.where(epsilon < 0, _left(swapped, epsilon), right)


def _left(swapped: WholeProfile, epsilon: Array) -> Interval:
    """Bracket delta left of 0: delta(-x) = 1 - e^-x (1 - delta_swapped(x))."""
    x = np.maximum(-epsilon, 0.0)
    rest = 1 - exp(swapped.log_delta(x))
    return (1 - exp(Interval.exactly(-x)) * rest).clip(0.0, 1.0)


def _sides(pair: Pair, step: Fraction | None) -> tuple[LossSource, LossSource] | None:
    """Return laws that give away at least, and at most, what a pair does.

    By its tails; a composition by those of its factors; else by its profile on a grid.
    """
    if pair.of_class and count_of_choices(pair):
        return None
    source = pair.loss_source()
    if source is not None:
        return source, source
    # A class by its profile as a whole, which knows its divergences.
    if isinstance(pair, ProductPair) and not pair.of_class:
        return _of_composition(pair, step)
    if isinstance(pair, SampledPair):
        share = pair.probability
        return _wrapped(pair.base, step, lambda source: SampledSource(source, share))
    if isinstance(pair, SampledSwapPair):
        # Of the reversed base: a lower law omits mass, and reversing it would overstate the loss.
        share = pair.probability
        return _wrapped(pair.base.swap(), step, lambda source: SampledSwapSource(source, share))
    if isinstance(pair, MixturePair):
        known = [(_sides(part, step), share) for part, share in pair.parts]
        both = [(sides, share) for sides, share in known if sides is not None]
        if len(both) == len(known):
            ends = ([(sides[i], share) for sides, share in both] for i in (0, 1))
            upper, lower = map(MixedSource, ends)
            return upper, lower
    return _by_profile(pair, step)


def _wrapped(
    pair: Pair, step: Fraction | None, wrap: Callable[[LossSource], LossSource]
) -> tuple[LossSource, LossSource] | None:
    inner = _sides(pair, step)
    return None if inner is None else (wrap(inner[0]), wrap(inner[1]))


@lru_cache(maxsize=16)
def _of_composition(pair: Pair, step: Fraction | None) -> tuple[LossSource, LossSource] | None:
    sums = lattice_sum(factors_of(pair), step)
    if sums is None:
        return None
    part = sums.part(_NESTED, math.log(_CUT))
    return part.upper, part.lower


@lru_cache(maxsize=16)
def _by_contour(parts: Factors) -> tuple[LossSource, LossSource] | None:
    """Return laws on a grid for the composition of parts that the contour can read."""
    law = loss_law(parts)
    if law is None:
        return None
    ahead, back = _ladder(law), _ladder(law.reversed())
    if ahead is None or back is None:
        return None
    floors = math.log(_CUT), math.log(_CUT)
    found = _on_grid((ahead, back), floors, _CONTOUR_POINTS, None)
    return None if found is None else (law_above(found.outer), law_below(found.inner))


def _ladder(law: LossSum) -> _LogDelta | None:
    """Return the profile of a law by contours that are laid once, right of 0."""
    top = float(ContourProfile(law).log_delta_bracket(np.zeros(())).upper)
    # Some lines cannot be laid far out; those nearer bound what is beyond, less closely.
    tried = (Ladder.over(law, (top, least)) for least in _LEAST_LOGS if least < top)
    ladder = next((one for one in tried if one is not None), None)
    if ladder is None:
        return None

    def log_delta(epsilon: Array) -> Interval:
        found = ladder.delta_bracket(epsilon)
        return log(Interval(found.lower, found.upper)).smaller(0)

    return log_delta


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
    back = pair if pair.symmetric else pair.swap()
    points = _FEW_POINTS if _is_costly(pair) or pair.of_class else _POINTS
    sides = pair.log_delta_bracket, back.log_delta_bracket
    # What is kept must not depend on the solver, or the time, of the question that came first.
    with using(Auto()):
        found = _on_grid(sides, (_floor(pair), _floor(back)), points, step)
    if found is None:
        return None
    return law_above(found.outer), AtomSource(_NOTHING) if pair.of_class else law_below(found.inner)


def _is_costly(pair: Pair) -> bool:
    """Return whether one view takes so long that a fine grid of losses is not read from it."""
    if isinstance(pair, ProductPair):
        return not has_exact_profile(pair.parts) or loss_law(pair.parts) is None
    return pair.slow or any(_is_costly(part) for part in pair.made_of())


def _floor(pair: Pair) -> float:
    """Return the log of a delta from which on a table sees nothing but infinite losses."""
    return max(math.log(_CUT), pair.log_singular[0] + _ABOVE)


def _on_grid(
    sides: tuple[_LogDelta, _LogDelta],
    floors: tuple[float, float],
    points: int,
    step: Fraction | None,
) -> Rounded | None:
    """Return laws on a grid around the profiles of both directions of a pair."""
    ahead, back = sides

    def read(losses: Array) -> tuple[Interval, Interval]:
        if ahead == back:
            sizes, places = np.unique(np.abs(losses), return_inverse=True)
            found = ahead(sizes)
            both = Interval(found.lower[places], found.upper[places])
            return both, both
        # The one direction answers right of 0, the other left of it.
        right = losses >= 0
        return _where(right, losses, ahead), _where(~right | (losses == 0), -losses, back)

    end = max(_end(*side) for side in dict.fromkeys(zip(sides, floors, strict=True)))
    # Powers of two, of which every multiple is a double; where rounding spoils one, the next.
    finest = Fraction(2) ** max(math.floor(math.log2(end / points)), -40)
    steps = (finest, 2 * finest, 4 * finest) if step is None else (step,)
    tried = (sampled_atoms(read, each, 2 * end, floors) for each in steps)
    return next((found for found in tried if found is not None), None)


def _end(log_delta: _LogDelta, floor: float) -> float:
    """Return a loss, one of a few, beyond which hardly any delta is left; the last of them else."""
    past = np.asarray(log_delta(_ENDS).upper) <= floor
    return float(_ENDS[np.argmax(past)] if np.any(past) else _ENDS[-1])


def _where(asked: npt.NDArray[np.bool_], losses: Array, log_delta: _LogDelta) -> Interval:
    found = log_delta(losses[asked])
    lower, upper = np.full(losses.shape, -np.inf), np.zeros(losses.shape)
    lower[asked], upper[asked] = found.lower, found.upper
    return Interval(lower, upper)
