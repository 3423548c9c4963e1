"""The profile of laws with atoms on one grid, composed exactly, to the last digits of the tails.

The lattice of `numerics._lattice_sums` reads such laws too. But it answers one question by one
tilt, on laws that it moves: brackets of epsilon are 1e-8 to 1e-2 wide, here 1e-13 to 1e-10, in
the same 0.01 s. A ladder of tilts gives one table of all tails, relatively accurate down to 1e-300,
from which delta, epsilon, both errors and the tails of the loss come at many places at once.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from neyman.curves._pair import Tails, middles
from neyman.errors import InvalidParameter
from neyman.numerics import ULP, Array, Bracket, exp_outward
from neyman.numerics._atomic._atoms import Atoms
from neyman.numerics._atomic._lattice import compose, fits
from neyman.numerics._atomic._tail_table import TailTable, tail_table
from neyman.numerics._atomic._tail_views import (
    least_errors,
    log_excess,
    log_tails,
    places_of_excess,
    powers,
)

__all__ = ["AtomicProfile", "TailBrackets"]

# Cells of a table: about 100 bytes each.
_MOST_CELLS = 2**18
# From here on down the union of rare events is their sum, to all digits.
_UNION = -40.0


@final
@dataclass(frozen=True, slots=True)
class TailBrackets:
    """Brackets of log P(L > t), log P(L <= t), log Q(L > t), log Q(L <= t)."""

    p_above: Bracket
    p_below: Bracket
    q_above: Bracket
    q_below: Bracket


@final
@dataclass(frozen=True, slots=True, eq=False)
class AtomicProfile:
    """What an ordered pair of laws with atoms gives away, by the table of its tails.

    A float stands for the decimal that it prints as.
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
        table = _composed(parts)
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

    def log_delta_bracket(self, epsilon: Array) -> Bracket:
        """Return a bracket of log delta at any real epsilon, any shape."""
        at = np.asarray(epsilon, dtype=np.float64)
        upper = log_excess(self.table, at, up=True)
        return Bracket(np.minimum(log_excess(self.table, at, up=False), upper), upper)

    def delta_bracket(self, epsilon: Array) -> Bracket:
        """Return a bracket of delta."""
        return exp_outward(self.log_delta_bracket(epsilon))

    def epsilon_bracket(self, delta: Array) -> Bracket:
        """Return a bracket of the smallest epsilon >= 0 with delta(epsilon) <= delta.

        In closed form, delta being linear in e^epsilon between atoms.
        """
        at = np.asarray(delta, dtype=np.float64)
        upper = np.maximum(places_of_excess(self.table, at, up=True), 0.0)
        lower = np.maximum(places_of_excess(self.table, at, up=False), 0.0)
        return Bracket(np.minimum(lower, upper), upper)

    def beta_bracket(self, alpha: Array) -> Bracket:
        """Return a bracket of f(alpha), relative down to 1e-300."""
        at = np.asarray(alpha, dtype=np.float64)
        upper = least_errors(self.table, at, up=True)
        return Bracket(np.minimum(least_errors(self.table, at, up=False), upper), upper)

    def tpr_bracket(self, alpha: Array) -> Bracket:
        """Return a bracket of 1 - f(alpha), relative down to 1e-300."""
        at = np.asarray(alpha, dtype=np.float64)
        upper = powers(self.table, at, up=True)
        return Bracket(np.minimum(powers(self.table, at, up=False), upper), upper)

    def log_tails(self, t: Array, *, closed: bool = False) -> Tails:
        """Return the middles of the brackets of the tails."""
        tails = self.log_tails_bracket(t, closed=closed)
        return middles((tails.p_above, tails.p_below, tails.q_above, tails.q_below))

    def log_tails_bracket(self, t: Array, *, closed: bool = False) -> TailBrackets:
        """Return brackets of the log tails of the loss."""
        at = np.asarray(t, dtype=np.float64)
        return TailBrackets(*log_tails(self.table, at, closed=closed))


def _composed(parts: Sequence[tuple[Atoms, int]]) -> TailTable | None:
    """Return the table of the composition, each law counted once."""
    if not parts or any(times < 1 for _, times in parts):
        raise InvalidParameter(
            f"{[times for _, times in parts]} copies were asked; write at least one law, and "
            "counts of at least 1"
        )
    only_q = _log_some([(atoms.log_only_q, times) for atoms, times in parts])
    only_p = _log_some([(atoms.log_only_p, times) for atoms, times in parts])
    if any(not atoms.steps.size for atoms, _ in parts):
        return _nothing(only_q, only_p)
    if len(parts) == 1 and parts[0][1] == 1:
        return _single(parts[0][0], only_q, only_p)
    moved = sum(times * atoms.place_error for atoms, times in parts)
    if moved > 0 and len(parts) > 1:
        # Rounded places of different laws share a grid only by accident.
        return None
    found = compose([(atoms.reduced, times) for atoms, times in parts], _MOST_CELLS)
    if found is None:
        return None
    places = Atoms(
        found.offset, found.unit, found.steps, found.log_p.lower, found.log_p.lower
    ).places
    off = moved + ULP * (np.abs(places) + np.abs(found.log_p.upper))
    log_q = Bracket(found.log_p.lower + places - off, found.log_p.upper + places + off)
    gaps = np.full(places.size - 1, float(found.unit))
    return tail_table(
        places,
        gaps,
        moved,
        found.log_p,
        log_q,
        (found.log_lost_p, found.log_lost_q),
        (only_q, only_p),
    )


def _single(atoms: Atoms, only_q: Bracket, only_p: Bracket) -> TailTable:
    def near(log: Array) -> Bracket:
        relative = np.minimum(atoms.relative_error, 1.0)
        rounding = ULP * np.where(np.isfinite(log), 1 - log, 0.0)
        with np.errstate(divide="ignore"):
            return Bracket(log + np.log1p(-relative) - rounding, log + relative + rounding)

    gaps = float(atoms.unit) * np.diff(atoms.steps)
    return tail_table(
        atoms.places,
        gaps,
        atoms.place_error,
        near(atoms.log_p),
        near(atoms.log_q),
        (atoms.log_lost_p, atoms.log_lost_q),
        (only_q, only_p),
    )


def _log_some(parts: Sequence[tuple[float, int]]) -> Bracket:
    """Return a bracket of log(1 - prod (1 - e^log)^times), accurate for the smallest masses too."""
    counts: Counter[float] = Counter()
    for log, times in parts:
        if log > -np.inf:
            counts[log] += times
    if not counts:
        return Bracket(np.full(1, -np.inf), np.full(1, -np.inf))
    logs, times = np.asarray([*counts]), np.asarray([*counts.values()], dtype=np.float64)
    some = float(np.logaddexp.reduce(logs + np.log(times)))
    if some > _UNION:
        tiny, near = np.minimum(logs, -0.5), np.maximum(logs, -0.5)
        with np.errstate(divide="ignore"):
            kept = np.where(logs < -0.5, np.log1p(-np.exp(tiny)), np.log(-np.expm1(near)))
        some = float(np.log(-np.expm1(times @ kept)))
    # Where the sum is taken, it is too large by less than the square of itself.
    error = 32 * ULP * (1 + abs(some)) + 2 * ULP * float(np.max(np.abs(logs)))
    return Bracket(np.full(1, some - error), np.full(1, min(some + error, 0.0)))


def _nothing(only_q: Bracket, only_p: Bracket) -> TailTable:
    """Return the table of a pair that share no outcome."""
    empty, zero = np.empty(0), Bracket(np.full(1, -np.inf), np.full(1, -np.inf))
    return TailTable(empty, 0.0, zero, only_p, only_q, zero, only_q)
