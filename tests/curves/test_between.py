"""A mechanism of which a bound is known, and what it loses at least."""

import json
from fractions import Fraction

import numpy as np
import pytest

import neyman as ny
from neyman.accounting import EpsilonDelta, budget_for, calibrate
from neyman.curves import (
    Auto,
    Contour,
    TradeOff,
    approx_dp,
    best,
    chain,
    compose,
    dominated_by,
    gdp,
    group,
    laplace,
    mixture,
    of_curve,
    poisson,
    poisson_replace,
    read,
    subsample,
    symmetric_hull,
    worst,
    zcdp,
)
from neyman.errors import InvalidParameter, RelationMismatch, UnsupportedComposition

STEP, LEAST = poisson(gdp(1), 0.01), poisson(gdp(1), 0.005)
F = dominated_by(STEP, attained=LEAST)
VIEWS = [
    lambda f: f.delta(0.5, bracket=True),
    lambda f: f.log_delta([0.1, 1.0], bracket=True),
    lambda f: f.epsilon(1e-5, bracket=True),
    lambda f: f.tpr(0.01, bracket=True),
    lambda f: f.posterior(0.1, fpr=0.01, bracket=True),
    lambda f: f.renyi([0.5, 2, 4], bracket=True),
    lambda f: f.mu(bracket=True),
    lambda f: f.mu(slack=1e-6, bracket=True),
    lambda f: f.advantage(bracket=True),
]


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("times", [1, 100])
def test_an_answer_has_the_upper_end_of_the_bound_and_the_lower_end_of_what_is_attained(
    view, times
):
    found, bound, least = (view(f**times) for f in (F, STEP, LEAST))
    assert found.of == "class"
    assert np.all(found.upper == bound.upper)
    assert np.all(found.lower == least.lower)
    assert np.all(found.value == bound.value)


@pytest.mark.parametrize(
    "view", [lambda f: f.beta(0.1, bracket=True), lambda f: f.bayes_error(0.5, bracket=True)]
)
def test_an_error_is_bounded_from_below_by_the_bound(view):
    found, bound, least = (view(f**100) for f in (F, STEP, LEAST))
    assert (found.of, found.value, found.lower, found.upper) == (
        "class",
        bound.value,
        bound.lower,
        least.upper,
    )


def test_where_nothing_is_attained_the_other_end_is_what_everybody_loses():
    for f in (gdp(1), poisson(gdp(1), 0.01) ** 100, approx_dp(1, 1e-6)):
        found = dominated_by(f).epsilon(1e-5, bracket=True)
        assert (found.lower, found.upper) == (0, f.epsilon(1e-5))


@pytest.mark.parametrize(
    "build",
    [
        lambda f: f @ gdp(0.5),
        lambda f: gdp(0.5) @ f**3 @ zcdp(0.01),
        lambda f: compose(f, approx_dp(0, 1e-6), f),
        lambda f: poisson(f, 0.5),
        lambda f: mixture([0.5, 0.5], [f, gdp(1)]),
        lambda f: worst(f, gdp(0.1)),
        lambda f: best(f, gdp(0.1)),
        lambda f: chain(f, gdp(0.1)),
        lambda f: group(f, 3),
        lambda f: f.symmetrize(),
        lambda f: f.swap(),
        symmetric_hull,
    ],
)
def test_what_is_made_of_it_is_made_of_both_ends(build):
    made = build(F)
    assert made == dominated_by(build(STEP), attained=build(LEAST))
    assert made.delta(0.1, bracket=True).of == "class"


def test_it_is_sampled_by_every_sampler():
    half = dominated_by(gdp(1), attained=gdp(Fraction(1, 2)))
    for sampler in (poisson, poisson_replace, subsample):
        assert sampler(half, 0.1) == dominated_by(
            sampler(gdp(1), 0.1), attained=sampler(gdp(Fraction(1, 2)), 0.1)
        )


def test_its_record_is_read_back():
    for f in (F, F**10 @ gdp(1), dominated_by(laplace(1)), poisson(dominated_by(gdp(1)), 0.1)):
        assert read(json.dumps(f.to_json())) == f
    nested = F.to_json()
    nested["remove"] = {"kind": "between", "bound": nested["remove"], "attained": nested["remove"]}
    with pytest.raises(InvalidParameter, match="malformed"):
        TradeOff.from_json(nested)


def test_equal_ends_are_the_curve_itself():
    assert dominated_by(gdp(1), attained=gdp(1)) == gdp(1)
    assert dominated_by(F) == dominated_by(STEP)


def test_a_solver_reads_both_ends():
    for solver in (Contour(), Auto(tolerance=0.1)):
        found = (F**100).delta(0.1, bracket=True, solver=solver)
        assert found.lower == (LEAST**100).delta(0.1, bracket=True, solver=solver).lower
        assert found.upper == (STEP**100).delta(0.1, solver=solver)


def test_a_ledger_charges_the_bound():
    for cap, times in ((gdp(3), 10), (approx_dp(3, 1e-5), 1)):
        budget = budget_for(cap)
        assert budget.cost(F**times) == budget.cost(STEP**times)
        assert budget.cost(dominated_by(laplace(1))) == budget.cost(laplace(1))
    failing = gdp(0.1) @ approx_dp(0, 1e-9)
    budget = budget_for(approx_dp(3, 1e-5), 1e-6)
    assert budget.cost(dominated_by(failing)) == budget.cost(failing)


def test_it_calibrates_as_its_bound_does():
    def family(noise):
        return dominated_by(gdp(1 / noise) @ gdp(0.1))

    target = EpsilonDelta(1, Fraction(1, 10**5))
    found = calibrate(family, target, within=(0.5, 20))
    plain = calibrate(lambda noise: gdp(1 / noise) @ gdp(0.1), target, within=(0.5, 20))
    assert (found.value, found.curve.dominating()) == (plain.value, plain.curve)


def test_as_a_target_it_stands_for_its_bound():
    assert gdp(0.5).implies(dominated_by(gdp(1)))
    assert dominated_by(gdp(0.5)).implies(gdp(1))
    assert not dominated_by(gdp(2)).implies(gdp(1))


def test_what_has_no_law_is_refused():
    with pytest.raises(UnsupportedComposition, match="of which a bound is known"):
        F.remove.log_tails(np.zeros(1))
    with pytest.raises(UnsupportedComposition, match="Ask the bound itself"):
        ny.curves.subgaussian(F)


def test_ends_that_contradict_each_other_are_refused():
    with pytest.raises(InvalidParameter, match="must lose no more than the bound"):
        dominated_by(gdp(1), attained=gdp(2))
    with pytest.raises(RelationMismatch):
        dominated_by(poisson(gdp(1), 0.1), attained=poisson_replace(gdp(0.1), 0.1))


def test_a_curve_of_ones_own_is_dominated_too():
    own = of_curve(gdp(1).beta, alphas=[k / 16 for k in range(17)], error=0)
    found = (dominated_by(own) ** 3).delta(1, bracket=True)
    assert (found.of, found.lower, found.upper) == ("class", 0, (own**3).delta(1))
