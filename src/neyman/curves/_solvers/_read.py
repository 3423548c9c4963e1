"""The choice of a solver: the one place that decides.

If a pair has formulas of its own, these give the answer. A composition goes to every solver that
can evaluate it, the cheapest first. Their brackets are intersected until the result is narrow
enough, the work is done, or the time is up:

    exact       copies of one pair, or atoms on one grid: sums of positive terms
    contour     the cumulant of each factor is known in the complex plane
    trivial     what always holds: `_trivial`
    known       copies of one sampled Gaussian, if the attacker knows in which steps a record was
    hits        sampled factors with few steps that ever see a record, by their number
    lattice     any other certified factors
    class       a statement is among the factors: Rényi orders

An answer depends on the question alone, unless the caller limits the seconds.
"""

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from neyman.curves._algebra._factors import Factors, factors_of
from neyman.curves._pair import Pair
from neyman.curves._solvers._contour import ContourProfile, contour_profile
from neyman.curves._solvers._exact import exact_profile
from neyman.curves._solvers._known_samples import known_samples
from neyman.curves._solvers._lattice import counted_brackets, lattice_brackets
from neyman.curves._solvers._solver import Contour, Effort, in_use
from neyman.curves._solvers._statements import statement_bound, without_statements
from neyman.curves._solvers._trivial import one_side, trivial_bounds
from neyman.curves._solvers._view import EPSILON, LOG_DELTA, View, meet
from neyman.errors import UnsupportedComposition
from neyman.numerics import Array, Interval

__all__ = ["read"]


def read(pair: Pair, view: View, at: Array, enough: Array | None = None) -> Interval:
    """Bracket a view of a pair, by the solver in use.

    Args:
        pair: with or without formulas of its own.
        view: which.
        at: where, any shape.
        enough: for log delta: where it is proved to be at most this, no more work is done.

    Raises:
        UnsupportedComposition: if no solver can read it.
    """
    effort = in_use()
    parts = factors_of(pair)
    if len(parts) == 1 and parts[0][1] == 1:
        return view.ask(pair, at)
    best, by = view.vacuous(at), ["", ""]
    for name, found in _answers(pair, parts, view, at, enough, effort):
        closer = meet(best, found)
        by[0] = name if np.any(closer.lower > best.lower) else by[0]
        by[1] = name if np.any(closer.upper < best.upper) else by[1]
        best = closer
        settled = view.narrow(best, effort.tolerance)
        if enough is not None:
            settled |= best.upper <= enough
        if np.all(settled) or effort.late:
            break
    effort.methods.update(name for name in by if name)
    return best


def _answers(
    pair: Pair, parts: Factors, view: View, at: Array, enough: Array | None, effort: Effort
) -> Iterator[tuple[str, Interval]]:
    """Yield brackets with the names of their methods, the cheapest first."""
    if effort.step is not None:
        yield from _by_lattice(pair, view, at, effort.step)
        return
    contour = contour_profile(parts)
    if isinstance(effort.solver, Contour):
        if contour is None:
            raise UnsupportedComposition(
                f"solver=Contour() reads compositions of laws with a known cumulant; got {pair}. "
                "Leave solver out, or write solver=Lattice(0.001)"
            )
        yield "contour", _by_contour(contour, view, at, enough)
        return
    if pair.of_class:
        yield from _of_class(pair, view, at)
        return
    yield from _of_laws(pair, parts, contour, view, at, enough)


def _of_laws(
    pair: Pair,
    parts: Factors,
    contour: ContourProfile | None,
    view: View,
    at: Array,
    enough: Array | None,
) -> Iterator[tuple[str, Interval]]:
    exact = exact_profile(parts)
    if exact is not None:
        yield exact.method, view.ask(exact, at)
        return
    # Where nothing may be exceeded, the largest loss is the answer, and an exact one.
    if view is EPSILON and np.any(at == 0):
        yield from (("trivial bounds", found) for found in trivial_bounds(parts, view, at))
    if contour is not None:
        yield "contour", _by_contour(contour, view, at, enough)
    for found in trivial_bounds(parts, view, at):
        yield "trivial bounds", found
    known = known_samples(parts)
    if known is not None and view.name in ("log_delta", "epsilon"):
        yield "known samples", known.bracket(view, at)
    counted = False
    for found in counted_brackets(parts, view, at):
        counted = True
        yield "counted hits", found
    # One grid is closer for the smallest deltas, counted hits for epsilon.
    if not (counted and view is EPSILON):
        for found in lattice_brackets(pair, view, at):
            yield "lattice", found


def _of_class(pair: Pair, view: View, at: Array) -> Iterator[tuple[str, Interval]]:
    yield "class", statement_bound(pair, view, at)
    for found in lattice_brackets(pair, view, at):
        yield "lattice", one_side(view, view.vacuous(at), found, above=True)
    for found in trivial_bounds(without_statements(pair), view, at):
        yield "class", one_side(view, view.vacuous(at), found, above=False)


def _by_lattice(
    pair: Pair, view: View, at: Array, step: Fraction
) -> Iterator[tuple[str, Interval]]:
    """Yield the bracket of the lattice of one step, and what holds anyway."""
    found = next(lattice_brackets(pair, view, at, step), None)
    if found is None:
        raise UnsupportedComposition(
            f"solver=Lattice(step) reads compositions of pairs with proved brackets; got {pair}. "
            "Leave solver out"
        )
    yield "lattice", found
    for known in trivial_bounds(without_statements(pair), view, at):
        # The other factors of a statement bound the whole from below only.
        kept = one_side(view, view.vacuous(at), known, above=False) if pair.of_class else known
        yield "trivial bounds", kept


def _by_contour(contour: ContourProfile, view: View, at: Array, enough: Array | None) -> Interval:
    if view is LOG_DELTA:
        return contour.log_delta_bracket(at, enough)
    return view.ask(contour, at)
