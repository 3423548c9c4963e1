"""Compositions of unlike factors: what no one solver reads by itself has a useful answer."""

import warnings
from fractions import Fraction

import numpy as np
import pytest

from leaves import cauchy
from neyman.curves import (
    Auto,
    approx_dp,
    discrete,
    gdp,
    laplace,
    poisson,
    pure_dp,
    rdp,
    tcdp,
    zcdp,
)
from neyman.curves._solvers._statements import _by_lattice

SAMPLED = poisson(gdp(0.75) @ laplace(0.75), 0.1)
# Read by the lattice alone: its atoms lie on no common grid.
UNEVEN = discrete(
    [Fraction(1, 3), Fraction(1, 3), Fraction(1, 3)],
    [Fraction(3, 10), Fraction(9, 25), Fraction(17, 50)],
)
STATEMENTS = [zcdp(0.1), rdp([(2, 0.2), (8, 0.8), (32, 3.2)]), tcdp(0.1, 20)]


def width(found):
    return (found.upper - found.lower) / found.upper


# -- beside a statement ------------------------------------------------------------------------


@pytest.mark.parametrize("statement", STATEMENTS, ids=str)
@pytest.mark.parametrize("other", [SAMPLED, UNEVEN**5, cauchy(0.2)], ids=["a", "b", "c"])
def test_beside_a_statement_every_law_has_an_answer_from_both_sides(statement, other):
    found = (statement @ other).delta(1, bracket=True)
    alone = other.delta(1, bracket=True)
    assert found.of == "class"
    assert found.lower >= alone.lower * (1 - 1e-4)
    assert max(alone.upper, statement.delta(1)) <= found.upper * (1 + 1e-4)
    # The divergences are those of neither alone, but they are small.
    assert found.upper < 0.1


@pytest.mark.parametrize(
    ("curve", "times"), [(gdp(0.3), 4), (laplace(0.5), 3), (pure_dp(0.2), 7)], ids=str
)
def test_divergences_by_the_lattice_are_above_the_formula_and_near_it(curve, times):
    # At far higher ones what is cut off would count.
    orders = np.array([1.01, 1.5, 2.0, 4.0, 8.0])
    found = _by_lattice(((curve.remove, times),), orders, -80.0)
    truth = times * curve.remove.renyi_bracket(orders).lower
    assert found.cut < 1e-30
    assert np.all((truth <= found.values) & (found.values <= truth * (1 + 2e-3)))


def test_a_member_of_the_class_loses_no_more_beside_another_law():
    member = gdp(squared=Fraction(1, 5)) @ SAMPLED
    for epsilon in (0.0, 0.5, 1.0, 2.0):
        assert member.delta(epsilon, bracket=True).lower <= (zcdp(0.1) @ SAMPLED).delta(epsilon)


@pytest.mark.parametrize("other", [laplace(0.3), SAMPLED], ids=["laplace", "sampled"])
def test_a_class_beside_a_failure_is_read_as_without(other):
    without = (zcdp(0.1) @ other).delta(1, bracket=True)
    found = (zcdp(0.1) @ other @ approx_dp(0, 1e-6)).delta(1, bracket=True)
    for side in ("lower", "upper"):
        alone = getattr(without, side)
        assert getattr(found, side) == pytest.approx(1e-6 + (1 - 1e-6) * alone, rel=1e-4)


def test_a_class_loses_no_more_than_the_sum_of_the_squares_of_enclosing_gaussians():
    curve = zcdp(0.01) @ pure_dp(0.1) ** 4
    square = sum(f.outer_gaussian() for f in (zcdp(0.01), pure_dp(0.1) ** 4))
    assert curve.delta(0) <= gdp(squared=square).delta(0) * (1 + 1e-12)


# -- many steps beside what has atoms ------------------------------------------------------------


@pytest.mark.parametrize(
    ("phase", "most"),
    [
        pytest.param(poisson(gdp(0.53), 1.4e-3) ** 10**4, 1e-3, marks=pytest.mark.soak),
        pytest.param(poisson(gdp(0.53), 1.4e-4) ** 10**6, 1e-3, marks=pytest.mark.soak),
        (poisson(gdp(0.2), 1.5e-6) ** 10**6 @ pure_dp(0.0123) ** 283, 1e-2),
    ],
    ids=["often", "more often", "seldom"],
)
def test_many_steps_beside_a_law_with_atoms(phase, most):
    solver = Auto(tolerance=most)
    curve = phase @ SAMPLED**3
    found = curve.epsilon(1e-5, solver=solver, bracket=True)
    assert width(found) <= most
    assert found.lower >= max(f.epsilon(1e-5, bracket=True).lower for f in (SAMPLED, phase)) * 0.9


# -- sampled compositions ------------------------------------------------------------------------


def test_a_sampled_composition_does_not_ask_where_nothing_can_be_lost():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # The largest loss of a record that is left out is -log(1 - 0.1).
        assert SAMPLED.add.delta(0.11) == 0
        assert width(SAMPLED.delta([0.05, 1.0], bracket=True))[0] < 1e-9


@pytest.mark.soak
@pytest.mark.parametrize("epsilon", [1e10, 1e200, 1.7e308])
def test_far_beyond_every_loss_nothing_is_left(epsilon):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = (gdp(1) @ laplace(1)).delta(epsilon, bracket=True)
    assert (found.lower, found.upper) == (0, 5e-324)


def test_sampling_a_composition_loses_no_more_at_any_order():
    orders = [0.5, 1.0, 2.0, 8.0]
    assert np.all(SAMPLED.renyi(orders) <= (gdp(0.75) @ laplace(0.75)).renyi(orders))


def test_the_answer_may_lie_before_the_window_that_the_saddle_proposes():
    curve = poisson(gdp(0.75) @ pure_dp(0.75), 0.0362231)
    lower, upper = (curve**2).remove.epsilon(5.4e-7, solver=Auto(tolerance=1e-3), bracket=True)
    assert curve.remove.epsilon(5.4e-7, bracket=True).lower <= lower <= upper <= lower * 1.001
