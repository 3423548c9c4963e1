"""Budgets: the filter's capacity and the delta set aside keep the cap together."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neyman.accounting import Amount, Budget, GaussianFilter, PureFilter, budget_for, filter_for
from neyman.curves import approx_dp, compose, gdp, laplace, pure_dp
from neyman.errors import InvalidParameter, UnsupportedComposition
from random_cases import random_cases

CAPS = [approx_dp(2, 1e-6), approx_dp(0.5, 1e-9), approx_dp(5, 1e-3), gdp(1) @ approx_dp(0, 1e-6)]


@pytest.mark.parametrize("cap", CAPS, ids=str)
@pytest.mark.parametrize("part", [Fraction(1, 1000), Fraction(1, 3), Fraction(1, 2), Fraction(1)])
def test_spending_everything_keeps_the_cap_and_wastes_nothing(cap, part):
    _, delta, _ = cap.without_failure()
    budget = budget_for(cap, part * delta)
    most = budget.capacity
    assert most.delta == part * delta
    assert budget.spent_curve(most).implies(cap)
    assert not budget.spent_curve(Amount(most.cost * Fraction(1001, 1000), most.delta)).implies(cap)


def test_all_of_delta_leaves_a_pure_account_and_less_a_gaussian_one():
    assert budget_for(approx_dp(1, 1e-6), 1e-6) == Budget(PureFilter(Fraction(1)), Fraction("1e-6"))
    assert isinstance(budget_for(approx_dp(1, 1e-6), 9e-7).filter, GaussianFilter)
    assert budget_for(gdp(1) @ approx_dp(0, 1e-6), 1e-6).filter == GaussianFilter(Fraction(1))
    assert budget_for(gdp(1)) == Budget(filter_for(gdp(1)))


@random_cases(20, soak=60)
@given(st.floats(0.1, 8), st.floats(1e-12, 0.1), st.floats(0.01, 0.99))
def test_any_share_of_any_cap(epsilon, delta, part):
    cap = approx_dp(epsilon, delta)
    try:
        budget = budget_for(cap, delta * part)
    except InvalidParameter:
        # So small a cap that no Gaussian has an ordinary square.
        return
    assert budget.spent_curve(budget.capacity).implies(cap)


@pytest.mark.parametrize(
    ("cap", "delta"),
    [(gdp(1), 1e-6), (pure_dp(1), 1e-9), (approx_dp(1, 1e-6), 2e-6), (approx_dp(1, 1e-6), -1)],
)
def test_what_the_cap_has_not_cannot_be_set_aside(cap, delta):
    with pytest.raises(InvalidParameter, match=r"delta_aside must be.* Write cap=approx_dp"):
        budget_for(cap, delta)


def test_a_release_is_charged_twice_rounded_up():
    budget = budget_for(approx_dp(2, 1e-6), 5e-7)
    assert budget.cost(gdp(0.1)) == Amount(Fraction(1, 100))
    failing = gdp(0.1) @ approx_dp(0, 1e-7)
    assert budget.cost(failing) == Amount(Fraction(1, 100), Fraction("1e-7"))
    # Of a batch the deltas are added, which is more than the failure of the whole.
    batch = compose(failing, failing @ approx_dp(0, 2e-7), laplace(0.1))
    assert budget.cost(batch).delta == Fraction("4e-7")
    pure = budget_for(approx_dp(2, 1e-6), 1e-6)
    assert pure.cost(laplace(0.5) @ approx_dp(0, 1e-7)) == Amount(Fraction(1, 2), Fraction("1e-7"))


def test_sums_of_charges_are_at_least_the_whole():
    """What the parts were charged keeps the guarantee of their composition."""
    budget = budget_for(approx_dp(8, 1e-3), 5e-4)
    parts = [gdp(0.3) @ approx_dp(0, 1e-4), laplace(0.2) @ approx_dp(0, 2e-5), gdp(0.1)]
    total = Amount(Fraction(0))
    for part in parts:
        total += budget.cost(part)
    for epsilon in (0.0, 0.5, 1.0, 2.0):
        assert float(budget.spent_curve(total).delta(epsilon)) >= float(
            compose(*parts).delta(epsilon)
        ) * (1 - 1e-9)


def test_nothing_set_aside_nothing_fails():
    budget = budget_for(gdp(1))
    with pytest.raises(UnsupportedComposition, match=r"set no delta aside .*approx_dp\(0, delta\)"):
        budget.cost(gdp(0.1) @ approx_dp(0, 1e-9))
    with pytest.raises(InvalidParameter, match="costs nothing"):
        budget_for(approx_dp(2, 1e-6), 5e-7).cost(approx_dp(0, 1e-7))
