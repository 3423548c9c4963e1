"""Compositions by sums over a lattice of losses."""

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import islice

import numpy as np
import numpy.typing as npt

from neyman.curves._algebra._factors import Factors
from neyman.curves._pair import Pair
from neyman.curves._profiles._conjugate import powers_of_profile
from neyman.curves._profiles._profile import LatticeProfile
from neyman.curves._solvers._solver import Effort, Lattice
from neyman.curves._solvers._sources import atom_source
from neyman.curves._solvers._view import EPSILON, LOG_DELTA, TPR, View
from neyman.errors import InvalidParameter
from neyman.numerics import ULP, Array, Bracket, exact, exp_outward, text
from neyman.numerics._atomic._rounding import sampled_atoms
from neyman.numerics._lattice_sums._plan import Part
from neyman.numerics._lattice_sums._source import AtomSource, LossSource, Masses
from neyman.numerics._lattice_sums._sum import LatticeSum

__all__ = ["lattice_brackets", "loss_part"]

# Points of a profile on each side of 0, where one takes long and where it does not.
_FEW_POINTS, _POINTS = 400, 4000
# A delta from which on losses count as infinite from above, and as none from below.
_CUT, _FARTHEST = 1e-30, 100.0
# Levels of the lattice for the conjugate, which asks at many points.
_COARSE = 2
_ONE = Bracket(np.ones(1), np.ones(1))
_NOTHING = Masses(_ONE, _ONE)


def lattice_brackets(parts: Factors, view: View, at: Array, effort: Effort) -> Iterator[Bracket]:
    """Yield brackets by finer and finer lattices."""
    if isinstance(effort.solver, Lattice):
        step = exact(effort.solver.step, "step")
        found = LatticeProfile.sampled(parts, step)
        if found is None:
            raise InvalidParameter(
                f"step={text(step)} makes the table too long; write a larger one"
            )
        yield view.ask(found, at)
        return
    known = [loss_part(pair, n) for pair, n in parts]
    sums = LatticeSum(tuple(part for part in known if part is not None))
    if len(sums.parts) < len(known):
        return
    if view is LOG_DELTA:
        yield from sums.log_delta(at)
    elif view is EPSILON:
        yield from sums.epsilon(at)
    else:
        yield _by_conjugate(sums, view, at)


def _by_conjugate(sums: LatticeSum, view: View, alpha: Array) -> Bracket:
    """Bracket the errors of the best test by the whole profile, at a coarse level."""

    def delta(epsilon: Array) -> Bracket:
        *_, found = islice(sums.log_delta(epsilon), _COARSE)
        return exp_outward(found)

    power = powers_of_profile(delta, alpha)
    if view is TPR:
        return power
    return Bracket(
        np.clip(1 - power.upper - ULP, 0.0, 1.0), np.clip(1 - power.lower + ULP, 0.0, 1.0)
    )


def loss_part(pair: Pair, times: int) -> Part | None:
    """Return a factor as the lattice reads it: by its tails, else by its profile on a grid."""
    if not pair.certified:
        return None
    source = None if pair.of_class else pair.loss_source()
    if source is not None:
        return Part.of(source, times)
    sides = _by_profile(pair)
    return None if sides is None else Part(*sides, times)


@lru_cache(maxsize=16)
def _by_profile(pair: Pair) -> tuple[LossSource, LossSource] | None:
    """Return laws on a grid that give away at least, and at most, what the pair does.

    Of a class, a member may give away nothing.
    """

    def read(losses: Array) -> tuple[Bracket, Bracket]:
        # Right of 0 the one is asked, left of it the other.
        right = losses >= 0
        return _where(right, losses, pair), _where(~right | (losses == 0), -losses, pair.swap())

    points = _FEW_POINTS if pair.costly or pair.of_class else _POINTS
    end = max(
        float(side.epsilon_bracket(np.asarray(_CUT)).upper) for side in {pair: 0, pair.swap(): 0}
    )
    if not np.isfinite(end) or end == 0:
        end = _FARTHEST if end > 0 else 1.0
    step = max(Fraction(end) / points, Fraction(1, 2**40))
    floors = (math.log(_CUT), math.log(_CUT))
    found = sampled_atoms(read, step, 2 * end, floors)
    if found is None:
        return None
    inner = AtomSource(_NOTHING) if pair.of_class else atom_source(found.inner)
    return atom_source(found.outer), inner


def _where(asked: npt.NDArray[np.bool_], losses: Array, pair: Pair) -> Bracket:
    found = pair.log_delta_bracket(losses[asked])
    lower, upper = np.full(losses.shape, -np.inf), np.zeros(losses.shape)
    lower[asked], upper[asked] = found.lower, found.upper
    return Bracket(lower, upper)
