"""Filters: capacity rounds down, cost rounds up, and sums are exact."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neyman.accounting import GaussianFilter, PureFilter, filter_for, filter_from
from neyman.curves import TradeOff, approx_dp, gdp, identity, laplace, pure_dp
from neyman.errors import InvalidParameter, NotCertified, UnsupportedComposition

AMOUNTS = st.fractions(min_value=Fraction(1, 10**12), max_value=30, max_denominator=10**12)
BOTH = pytest.mark.parametrize("kind", [GaussianFilter, PureFilter])
CAPS = [gdp(1), gdp(0.1), approx_dp(1, 1e-6), approx_dp(0, 1e-6), approx_dp(5, 1e-12), pure_dp(2)]


@pytest.mark.shows("S1.18")
@pytest.mark.parametrize("cap", CAPS)
def test_spending_everything_keeps_the_cap(cap):
    spending = filter_for(cap)
    assert spending.spent_curve(spending.capacity).implies(cap)


@pytest.mark.parametrize("cap", CAPS)
def test_capacity_is_not_wasted(cap):
    spending = filter_for(cap)
    assert not spending.spent_curve(spending.capacity * Fraction(1001, 1000)).implies(cap)


def test_a_gaussian_cap_is_its_own_capacity():
    assert filter_for(gdp(0.1)) == GaussianFilter(Fraction(1, 100))
    assert filter_for(pure_dp(0.1)) == PureFilter(Fraction(1, 10))


@pytest.mark.parametrize("cap", [identity(), laplace(1)])
def test_a_cap_without_an_account_is_refused(cap):
    with pytest.raises(InvalidParameter, match=r"write gdp\(mu\)"):
        filter_for(cap)


@pytest.mark.parametrize(
    "cap", [approx_dp(1, 1), approx_dp(0, 1), approx_dp(1, 1) @ approx_dp(0, 0.5)]
)
def test_a_cap_that_protects_nothing_is_refused(cap):
    with pytest.raises(InvalidParameter, match=r"protects nothing.*write a small delta"):
        filter_for(cap)
    assert filter_for(approx_dp(1, 0.999)).capacity < 100


@pytest.mark.shows("e1.4")
def test_estimates_are_neither_caps_nor_charges(monkeypatch):
    monkeypatch.setattr(TradeOff, "certified", False)
    with pytest.raises(NotCertified):
        filter_for(gdp(1))
    with pytest.raises(NotCertified):
        GaussianFilter(Fraction(1)).cost(gdp(0.1))


def test_costs_are_exact():
    spending = GaussianFilter(Fraction(1))
    assert 100 * spending.cost(gdp(0.1)) == 1
    assert 10 * PureFilter(Fraction(1)).cost(laplace(0.1)) == 1
    assert PureFilter(Fraction(1)).cost(pure_dp(0.1)) == Fraction(1, 10)


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1, 5, 30])
def test_laplace_costs_its_tight_gaussian(epsilon):
    import mpmath

    with mpmath.workdps(40):
        tail = mpmath.exp(-mpmath.mpf(epsilon) / 2) / 2
        exact = (mpmath.sqrt(2) * mpmath.erfinv(1 - 2 * tail) * 2) ** 2
        cost = GaussianFilter(Fraction(1)).cost(laplace(epsilon))
        ratio = mpmath.mpf(cost.numerator) / cost.denominator / exact
    assert 1 <= ratio < 1 + 1e-9


@pytest.mark.parametrize("curve", [approx_dp(1, 1e-9), approx_dp(0, 0.5)])
@BOTH
def test_what_has_no_bound_is_not_charged(kind, curve):
    with pytest.raises(UnsupportedComposition, match="release through"):
        kind(Fraction(1)).cost(curve)


@BOTH
def test_nothing_costs_nothing(kind):
    with pytest.raises(InvalidParameter, match="costs nothing"):
        kind(Fraction(1)).cost(identity())


@pytest.mark.parametrize("capacity", [Fraction(0), Fraction(-1)])
@BOTH
def test_a_capacity_is_positive(kind, capacity):
    with pytest.raises(InvalidParameter, match="positive"):
        kind(capacity)


@given(amount=AMOUNTS)
@settings(max_examples=200, deadline=None)
@BOTH
def test_the_largest_that_fits_fits(kind, amount):
    spending = kind(Fraction(1))
    cost = spending.cost(spending.largest(amount))
    assert amount * Fraction(99_997, 100_000) <= cost <= amount


@BOTH
def test_a_long_sum_is_rounded_up(kind):
    long = sum((Fraction(1, 10**40 + odd) for odd in range(1, 99, 2)), Fraction(0))
    assert long.denominator.bit_length() > 4096
    bound = kind(Fraction(1)).cost(kind(Fraction(1)).spent_curve(long))
    assert long < bound < long + Fraction(1, 2**2000)
    # And never above a cap that was kept.
    third = kind(Fraction(1, 3))
    almost = third.capacity - Fraction(1, 7**2000)
    assert third.spent_curve(almost) == third.spent_curve(third.capacity)


@BOTH
def test_nothing_fits_into_nothing(kind):
    assert kind(Fraction(1)).largest(Fraction(0)) == identity()


@pytest.mark.parametrize("spending", [GaussianFilter(Fraction(1, 3)), PureFilter(Fraction(2))])
def test_a_filter_is_rebuilt_from_its_account(spending):
    assert filter_from(spending.account, spending.capacity) == spending


def test_an_unknown_account_is_refused():
    with pytest.raises(InvalidParameter, match="must be one of epsilon, mu"):
        filter_from("rho", Fraction(1))
