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
from neyman.curves._profiles._profile import LatticeProfile
from neyman.curves._solvers._solver import Effort, Lattice
from neyman.curves._solvers._sources import atom_source
from neyman.curves._solvers._view import EPSILON, LOG_DELTA, TPR, View
from neyman.errors import InvalidParameter
from neyman.numerics import ULP, Array, Bracket, Interval, exact, exp_outward, text
from neyman.numerics._atomic._rounding import sampled_atoms
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
# A delta from which on losses count as infinite from above, and as none from below.
_CUT = 1e-30
# Losses of which one is the end of a grid: finely spaced, and not beyond 100.
_ENDS = 100.0 * 2.0 ** (-np.arange(0, 240)[::-1] / 8)
# More points than that are read from one profile, at these levels.
_MANY, _WHOLE = 4, (1, 2)
# The level of a composition within a factor.
_NESTED = 2
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
    known = [loss_part(pair, n) for pair, n in parts]
    read = tuple(part for part in known if part is not None)
    return LatticeSum(read) if len(read) == len(known) else None


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
    known = [loss_part(part, n) for part, n in pair.factors()]
    read = tuple(part for part in known if part is not None)
    if len(read) < len(known):
        return None
    part = LatticeSum(read).part(_NESTED, math.log(_CUT))
    return part.upper, part.lower


@lru_cache(maxsize=16)
def _by_profile(pair: Pair) -> tuple[LossSource, LossSource] | None:
    """Return laws on a grid that give away at least, and at most, what the pair does.

    Of a class, a member may give away nothing.
    """

    def read(losses: Array) -> tuple[Bracket, Bracket]:
        # Right of 0 the one is asked, left of it the other.
        if pair.symmetric:
            sizes, places = np.unique(np.abs(losses), return_inverse=True)
            found = pair.log_delta_bracket(sizes)
            both = Bracket(found.lower[places], found.upper[places])
            return both, both
        right = losses >= 0
        return _where(right, losses, pair), _where(~right | (losses == 0), -losses, pair.swap())

    points = _FEW_POINTS if pair.costly or pair.of_class else _POINTS
    end = max(_end(side) for side in {pair: None, pair.swap(): None})
    step = max(Fraction(end) / points, Fraction(1, 2**40))
    floors = (math.log(_CUT), math.log(_CUT))
    found = sampled_atoms(read, step, 2 * end, floors)
    if found is None:
        return None
    inner = AtomSource(_NOTHING) if pair.of_class else atom_source(found.inner)
    return atom_source(found.outer), inner


def _end(pair: Pair) -> float:
    """Return a loss, one of a few, beyond which hardly any delta is left; the last of them else."""
    past = np.asarray(pair.log_delta_bracket(_ENDS).upper) <= math.log(_CUT)
    return float(_ENDS[np.argmax(past)] if np.any(past) else _ENDS[-1])


def _where(asked: npt.NDArray[np.bool_], losses: Array, pair: Pair) -> Bracket:
    found = pair.log_delta_bracket(losses[asked])
    lower, upper = np.full(losses.shape, -np.inf), np.zeros(losses.shape)
    lower[asked], upper[asked] = found.lower, found.upper
    return Bracket(lower, upper)
