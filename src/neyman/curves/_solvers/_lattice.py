"""Compositions by sums over a lattice of losses."""

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from neyman.curves._algebra._factors import Factors
from neyman.curves._algebra._lattice_algebra import count_of_choices
from neyman.curves._pair import Pair
from neyman.curves._pairs._sampled import SampledPair, SampledSwapPair
from neyman.curves._profiles._conjugate import powers_of_profile
from neyman.curves._profiles._profile import LatticeProfile
from neyman.curves._solvers._contour import ContourProfile, loss_law
from neyman.curves._solvers._solver import Effort, Lattice
from neyman.curves._solvers._sources import law_above, law_below
from neyman.curves._solvers._view import EPSILON, LOG_DELTA, TPR, View
from neyman.errors import InvalidParameter
from neyman.numerics import (
    ULP,
    Array,
    Bracket,
    Interval,
    Ladder,
    LossSum,
    exact,
    exp_outward,
    text,
)
from neyman.numerics._atomic._rounding import Rounded, sampled_atoms
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

__all__ = ["lattice_brackets", "loss_part"]

# Points of a profile on each side of 0, where one takes long and where it does not.
_FEW_POINTS, _POINTS = 400, 4000
# The same of a profile that is known by contours laid once.
_CONTOUR_POINTS = 2**13
# A delta from which on losses count as infinite from above, and as none from below.
_CUT = 1e-30
_LEAST_LOGS = (math.log(_CUT), -50.0, -35.0)
# Losses of which one is the end of a grid: finely spaced, and not beyond 100.
_ENDS = 100.0 * 2.0 ** (-np.arange(0, 240)[::-1] / 8)
# More points than that are read from one profile, at these levels.
_MANY, _WHOLE = 4, (1, 2)
# The level of a composition within a factor.
_NESTED = 2
# From so many losses on, those that the contour reads fast are composed there.
_MANY_LOSSES = 64
_LogDelta: TypeAlias = Callable[[Array], Bracket]
_ONE = Bracket(np.ones(1), np.ones(1))
_NOTHING = Masses(_ONE, _ONE)


def lattice_brackets(pair: Pair, view: View, at: Array, effort: Effort) -> Iterator[Bracket]:
    """Yield brackets by finer and finer lattices."""
    parts = pair.factors()
    if isinstance(effort.solver, Lattice):
        step = exact(effort.solver.step, "step")
        found = LatticeProfile.sampled(parts, step)
        if found is None:
            raise InvalidParameter(
                f"step={text(step)} makes the table too long; write a larger one"
            )
        yield view.ask(found, at)
        return
    if view in (LOG_DELTA, EPSILON) and _count(at) <= _MANY:
        sums = _sum(parts)
        if sums is not None:
            yield from sums.log_delta(at) if view is LOG_DELTA else sums.epsilon(at)
        return
    for level in _WHOLE:
        both = [_profile(side.factors(), level) for side in (pair, pair.swap())]
        if both[0] is None or both[1] is None:
            return
        yield _of_whole(both[0], both[1], view, at)


def _count(at: Array) -> int:
    """Return how many there are; what lies within some roundings of another is the same."""
    with np.errstate(over="ignore"):
        return np.unique(at.astype(np.float32)).size


def _sum(parts: Factors) -> LatticeSum | None:
    """Return the sum of the losses, where many that the contour reads fast are one loss."""
    legible = tuple((pair, n) for pair, n in parts if _is_legible(pair))
    others = tuple(part for part in parts if part not in legible)
    found: list[Part | None] = []
    if others and sum(n for _, n in legible) > _MANY_LOSSES:
        sides = _by_contour(legible)
        if sides is not None:
            found, parts = [Part(*sides, 1)], others
    found.extend(loss_part(pair, n) for pair, n in parts)
    read = tuple(part for part in found if part is not None)
    return LatticeSum(read) if len(read) == len(found) else None


def _is_legible(pair: Pair) -> bool:
    """Return whether the contour reads a pair fast: none whose loss has atoms beside a density."""
    source = None if pair.loss_law() is None else pair.loss_source()
    if source is None:
        return False
    least, largest = source.reach
    return not (source.atoms.q.upper.size and least < largest)


# Two levels, of both directions of both pairs of a guarantee.
@lru_cache(maxsize=8)
def _profile(parts: Factors, level: int) -> WholeProfile | None:
    sums = _sum(parts)
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
    if view is TPR:
        return power
    return Bracket(
        np.clip(1 - power.upper - ULP, 0.0, 1.0), np.clip(1 - power.lower + ULP, 0.0, 1.0)
    )


def _left(swapped: WholeProfile, epsilon: Array) -> Interval:
    """Bracket delta left of 0: delta(-x) = 1 - e^-x (1 - delta_swapped(x))."""
    x = np.maximum(-epsilon, 0.0)
    rest = 1 - exp(swapped.log_delta(x))
    return (1 - exp(Interval.exactly(-x)) * rest).clip(0.0, 1.0)


def loss_part(pair: Pair, times: int) -> Part | None:
    """Return a factor as the lattice reads it."""
    sides = _sides(pair) if pair.certified else None
    return None if sides is None else Part(*sides, times)


def _sides(pair: Pair) -> tuple[LossSource, LossSource] | None:
    """Return laws that give away at least, and at most, what a pair does.

    By its tails; a composition by those of its factors; else by its profile on a grid.
    """
    if pair.of_class and count_of_choices(pair):
        return None
    source = pair.loss_source()
    if source is not None:
        return source, source
    factors = pair.factors()
    # A class by its profile as a whole, which knows its divergences.
    if factors != ((pair, 1),) and not pair.of_class:
        return _of_composition(pair)
    if isinstance(pair, SampledPair):
        return _wrapped(pair.base, lambda source: SampledSource(source, pair.probability))
    if isinstance(pair, SampledSwapPair):
        return _wrapped(pair.forward, SwappedSource)
    return _by_profile(pair)


def _wrapped(
    pair: Pair, wrap: Callable[[LossSource], LossSource]
) -> tuple[LossSource, LossSource] | None:
    inner = _sides(pair)
    return None if inner is None else (wrap(inner[0]), wrap(inner[1]))


@lru_cache(maxsize=16)
def _of_composition(pair: Pair) -> tuple[LossSource, LossSource] | None:
    sums = _sum(pair.factors())
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
    found = _on_grid((ahead, back), _CONTOUR_POINTS)
    return None if found is None else (law_above(found.outer), law_below(found.inner))


def _ladder(law: LossSum) -> _LogDelta | None:
    """Return the profile of a law by contours that are laid once, right of 0."""
    top = float(ContourProfile(law).log_delta_bracket(np.zeros(())).upper)
    # Some lines cannot be laid far out; those nearer bound what is beyond, less closely.
    tried = (Ladder.over(law, (top, least)) for least in _LEAST_LOGS if least < top)
    ladder = next((one for one in tried if one is not None), None)
    if ladder is None:
        return None

    def log_delta(epsilon: Array) -> Bracket:
        found = ladder.delta_bracket(epsilon)
        return log(Interval(found.lower, found.upper)).smaller(0)

    return log_delta


@lru_cache(maxsize=16)
def _by_profile(pair: Pair) -> tuple[LossSource, LossSource] | None:
    """Return laws on a grid that give away at least, and at most, what the pair does.

    Of a class, a member may give away nothing.
    """
    back = pair if pair.symmetric else pair.swap()
    points = _FEW_POINTS if pair.costly or pair.of_class else _POINTS
    found = _on_grid((pair.log_delta_bracket, back.log_delta_bracket), points)
    if found is None:
        return None
    return law_above(found.outer), AtomSource(_NOTHING) if pair.of_class else law_below(found.inner)


def _on_grid(sides: tuple[_LogDelta, _LogDelta], points: int) -> Rounded | None:
    """Return laws on a grid around the profiles of both directions of a pair."""
    ahead, back = sides

    def read(losses: Array) -> tuple[Bracket, Bracket]:
        if ahead == back:
            sizes, places = np.unique(np.abs(losses), return_inverse=True)
            found = ahead(sizes)
            both = Bracket(found.lower[places], found.upper[places])
            return both, both
        # Right of 0 the one is asked, left of it the other.
        right = losses >= 0
        return _where(right, losses, ahead), _where(~right | (losses == 0), -losses, back)

    end = max(_end(side) for side in {ahead: None, back: None})
    step = max(Fraction(end) / points, Fraction(1, 2**40))
    return sampled_atoms(read, step, 2 * end, (math.log(_CUT), math.log(_CUT)))


def _end(log_delta: _LogDelta) -> float:
    """Return a loss, one of a few, beyond which hardly any delta is left; the last of them else."""
    past = np.asarray(log_delta(_ENDS).upper) <= math.log(_CUT)
    return float(_ENDS[np.argmax(past)] if np.any(past) else _ENDS[-1])


def _where(asked: npt.NDArray[np.bool_], losses: Array, log_delta: _LogDelta) -> Bracket:
    found = log_delta(losses[asked])
    lower, upper = np.full(losses.shape, -np.inf), np.zeros(losses.shape)
    lower[asked], upper[asked] = found.lower, found.upper
    return Bracket(lower, upper)
