"""Compositions by sums over a lattice of losses."""

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from neyman.curves._algebra._factors import Factors
from neyman.curves._profiles._profile import LatticeProfile
from neyman.curves._solvers._solver import Effort, Lattice
from neyman.curves._solvers._view import View
from neyman.errors import InvalidParameter
from neyman.numerics import Array, Bracket, exact, text

__all__ = ["lattice_brackets"]

_STEPS = tuple(Fraction(1, n) for n in (500, 200, 50, 20))


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
    if any(pair.costly or max(pair.log_singular) > -np.inf for pair, _ in parts):
        return
    for step in _STEPS:
        found = LatticeProfile.sampled(parts, step)
        if found is not None:
            yield view.ask(found, at)
            return
