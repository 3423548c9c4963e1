"""The profile of laws with atoms on one grid, composed exactly, to the last digits of the tails.

The lattice of `numerics._lattice_sums` reads such laws too. But it answers one question by one
tilt, on laws that it moves: brackets of epsilon are 1e-8 to 1e-2 wide, here 1e-13 to 1e-10, in
the same 0.01 s. A ladder of tilts gives one table of all tails, relatively accurate down to 1e-300,
from which delta, epsilon, both errors and the tails of the loss come at many places at once.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from neyman.curves._pair import Tails, middles
from neyman.errors import InvalidParameter
from neyman.numerics import Array, Interval, exp_outward, raised
from neyman.numerics._atomic._atoms import Atoms
from neyman.numerics._atomic._lattice import fits
from neyman.numerics._atomic._tail_table import TailTable, tail_table
from neyman.numerics._atomic._tail_views import (
    least_errors,
    log_excess,
    log_tails,
    places_of_excess,
    powers,
)

__all__ = ["AtomicProfile"]

# The most cells of a table, at about 100 bytes each.
_MOST_CELLS = 2**18


@final
@dataclass(frozen=True, slots=True, eq=False)
class AtomicProfile:
    """What an ordered pair of laws with atoms gives away, by the table of its tails.

    A float means the decimal that it prints as.
    """

    table: TailTable

    # -- construction -------------------------------------------------------------------------

    @staticmethod
    def of(parts: Sequence[tuple[Atoms, int]]) -> "AtomicProfile | None":
        """Compose laws whose losses share a grid; None where the grid is too fine for a table.

        Args:
            parts: laws with atoms, and how many copies of each, at least 1.

        Error: relative, of delta and of the tails, about (n log2 of the spread) ULP for n copies:
            1e-11 at n = 500, 5e-8 at n = 10^6.

        >>> from fractions import Fraction
        >>> from neyman.curves._profiles._response_profile import atoms_of_randomized_response
        >>> step = atoms_of_randomized_response(Fraction(1, 100))
        >>> profile = AtomicProfile.of([(step, 500)])
        >>> f"{float(profile.epsilon_bracket(1e-6).upper):.10f}"
        '0.9374975641'
        """
        if not parts or any(times < 1 for _, times in parts):
            raise InvalidParameter(
                "parts must have at least one law, and counts of at least 1; got counts "
                f"{[times for _, times in parts]}. Write for example [(law, 1)]"
            )
        table = tail_table(parts, _MOST_CELLS)
        return None if table is None else AtomicProfile(table)

    @staticmethod
    def fitting(parts: Sequence[tuple[Atoms, int]]) -> bool:
        """Return whether `of` has an answer, without composing."""
        if any(not atoms.steps.size for atoms, _ in parts) or (len(parts), parts[0][1]) == (1, 1):
            return True
        if len(parts) > 1 and any(atoms.place_error > 0 for atoms, _ in parts):
            return False
        return fits([(atoms.reduced, times) for atoms, times in parts], _MOST_CELLS)

    # -- views --------------------------------------------------------------------------------

    @property
    def method(self) -> str:
        """Sums over the lattice of losses."""
        return "lattice"

    def log_delta_bracket(self, epsilon: Array) -> Interval:
        """Return a bracket of log delta at any real epsilon, any shape."""
        return log_excess(self.table, np.asarray(epsilon, dtype=np.float64))

    def delta_bracket(self, epsilon: Array) -> Interval:
        """Return a bracket of delta."""
        return exp_outward(self.log_delta_bracket(epsilon))

    def epsilon_bracket(self, delta: Array) -> Interval:
        """Return a bracket of the smallest epsilon >= 0 with delta(epsilon) <= delta.

        In closed form, delta being linear in e^epsilon between atoms.
        """
        found = places_of_excess(self.table, np.asarray(delta, dtype=np.float64)).larger(0)
        # As far as delta itself is seen to be small enough, which takes some roundings.
        step = 2.0**-48 * (1 + found.upper)
        upper = raised(
            np.where(found.upper > 0, found.upper + step, 0.0),
            step,
            lambda at: (self.delta_bracket(at).upper <= delta) | np.isposinf(at),
        )
        return Interval(found.lower, upper)

    def beta_bracket(self, alpha: Array) -> Interval:
        """Return a bracket of f(alpha), relative down to 1e-300."""
        return least_errors(self.table, np.asarray(alpha, dtype=np.float64))

    def tpr_bracket(self, alpha: Array) -> Interval:
        """Return a bracket of 1 - f(alpha), relative down to 1e-300."""
        return powers(self.table, np.asarray(alpha, dtype=np.float64))

    def log_tails(self, t: Array, *, closed: bool = False) -> Tails:
        """Return the middles of the brackets of the tails."""
        return middles(log_tails(self.table, np.asarray(t, dtype=np.float64), closed=closed))
