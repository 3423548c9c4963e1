"""What always holds of a composition: more than any factor loses, less than curves below it.

    f_1 ⊗ ... ⊗ f_n <= f_i                         each factor alone
    power(1 - (1 - a)^n) >= 1 - Π (1 - power_i(a))   the test that rejects where one of theirs does
    f_i >= G_(mu_i)      for all i   =>   f >= G_mu,  mu^2 the sum
    |L_i| <= e_i         for all i   =>   f >= f_(e, 0),  e the sum
    f_i >= f_(0, d_i)    for some i  =>   f >= f_(0, d) ⊗ the rest,  1 - d the product of 1 - d_i

The last is of factors that see the record with probability d_i only: unless it is sampled once, it
changes nothing, Poisson sampling or a sample of fixed size alike.

Source: Dong, Roth and Su (2022), section 3; the total variation of a sampled mechanism, folklore.
"""

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from neyman.curves._algebra._factors import Factors, gathered
from neyman.curves._pair import Pair
from neyman.curves._pairs._erased import erased
from neyman.curves._pairs._gaussian import GaussianPair
from neyman.curves._pairs._identity import IdentityPair
from neyman.curves._pairs._randomized_response import RandomizedResponsePair
from neyman.curves._pairs._sampled import sampling_of
from neyman.curves._pairs._symmetrised import SymmetrisedPair
from neyman.curves._solvers._view import EPSILON, LOG_DELTA, View
from neyman.errors import NeymanError
from neyman.numerics import Array, Interval
from neyman.numerics._interval import quiet
from neyman.numerics._primitives import exp, expm1, log, log1p

__all__ = ["chance_of_sample", "curves_below", "one_side", "trivial_bounds"]

# Limits of mu^2 and of the largest loss, beyond which the bound overflows.
_MOST_SQUARE, _MOST_LOSS = Fraction(2) ** 1000, Fraction(700)
_LEAST_LOSS = Fraction(2) ** -500
# The most factors that are read one by one.
_MOST_ASKED = 16
# Sizes of the tests that are combined into one.
_SIZES = 10.0 ** -np.asarray([0.5, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144])


def trivial_bounds(parts: Factors, view: View, at: Array) -> Iterator[Interval]:
    """Yield brackets that hold of the composition of the parts, one after the other."""
    for pair in curves_below(parts):
        found = view.ask(pair, at)
        yield one_side(view, view.vacuous(at), found, above=True)
    # A class has no lower bound, and other solvers read a nested composition.
    known = [
        (pair, n)
        for pair, n in parts[:_MOST_ASKED]
        if pair.certified and pair.method == "closed form" and not pair.of_class
    ]
    for pair, _ in known:
        yield one_side(view, view.vacuous(at), view.ask(pair, at), above=False)
    if known:
        yield one_side(view, view.vacuous(at), _any_of_theirs(known, view, at), above=False)


@quiet
def _any_of_theirs(parts: list[tuple[Pair, int]], view: View, at: Array) -> Interval:
    """Bracket a view, vacuously above, by the test that rejects where one of all the tests does."""
    total = sum(n for _, n in parts)

    def power(size: Array) -> Interval:
        rest = Interval.exactly(np.zeros(size.shape))
        for pair, n in parts:
            rest = rest + log1p(-Interval.exactly(pair.tpr_bracket(size).lower)) * n
        return -expm1(rest)

    if view not in (EPSILON, LOG_DELTA):
        size = -expm1(log1p(-Interval.decimal(at)) / total)
        found = view.of_power(power(np.clip(size.lower, 0.0, 1.0)))
        return Interval(np.where(at < 1, found.lower, 0.0), np.where(at < 1, found.upper, 1.0))
    false, true = -expm1(log1p(-Interval.exactly(_SIZES)) * Fraction(total)), power(_SIZES)
    here = Interval.decimal(at[..., None])
    if view is LOG_DELTA:
        told = log(true - exp(here) * false)
    else:
        told = log((true - here) / false).larger(0.0)
    lower = told.lower.max(axis=-1, where=~np.isnan(told.lower), initial=-np.inf)
    return Interval(lower, view.vacuous(at).upper)


def one_side(view: View, vacuous: Interval, found: Interval, *, above: bool) -> Interval:
    """Keep the end that a curve below bounds, losses from above and errors from below."""
    if above == view.loss:
        return Interval(vacuous.lower, found.upper)
    return Interval(found.lower, vacuous.upper)


def curves_below(parts: Factors) -> Iterator[Pair]:
    """Yield curves that are proved to be below the composition."""
    square = _total([(pair.outer_gaussian(), n) for pair, n in parts])
    if square and square <= _MOST_SQUARE:
        yield GaussianPair(square)
    largest = _total([(pair.outer_pure(), n) for pair, n in parts])
    if largest and _LEAST_LOSS <= largest <= _MOST_LOSS:
        yield RandomizedResponsePair(largest)
    seldom = [(chance, n) for pair, n in parts if (chance := chance_of_sample(pair)) is not None]
    if not seldom:
        return
    rest = gathered((pair, n) for pair, n in parts if chance_of_sample(pair) is None)
    if not rest:
        yield erased(IdentityPair(), seldom)
    elif len(rest) == 1 and rest[0][1] == 1 and not rest[0][0].of_class:
        try:
            yield erased(rest[0][0], seldom)
        except NeymanError:
            return


def chance_of_sample(pair: Pair) -> Fraction | None:
    """Return the probability with which the record is seen at all; None where that is 1."""
    if isinstance(pair, SymmetrisedPair):
        return pair.probability
    sampled = sampling_of(pair)
    return None if sampled is None else sampled.probability


def _total(bounds: list[tuple[Fraction | None, int]]) -> Fraction | None:
    known = [n * bound for bound, n in bounds if bound is not None]
    return sum(known, Fraction(0)) if len(known) == len(bounds) else None
