"""Accounts refuse before they overspend; odometers hold at every moment."""

import math
import threading
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

from neyman.accounting import (
    AdvancedSpending,
    Budget,
    BudgetSpending,
    GaussianFilter,
    IndividualSpending,
    LossOdometer,
    PureFilter,
    RenyiSpending,
    ZcdpFilter,
)
from neyman.curves import (
    TradeOff,
    approx_dp,
    bounded_range,
    gdp,
    identity,
    laplace,
    pure_dp,
    zcdp,
)
from neyman.errors import BudgetExceeded, InvalidParameter, NotCertified, UnsupportedComposition

ACCOUNTS = {
    "gaussian": lambda: BudgetSpending(Budget(GaussianFilter(Fraction(1)))),
    "pure": lambda: BudgetSpending(Budget(PureFilter(Fraction(1)))),
    "zcdp": lambda: BudgetSpending(Budget(ZcdpFilter(Fraction(1, 2)))),
    "renyi": lambda: RenyiSpending([(1.5, 1), (2, 1), (16, 8)]),
    "advanced": lambda: AdvancedSpending(
        epsilon=2, concentration=1e-6, failures=Fraction(1, 10**7), each=0
    ),
}
ALL = pytest.mark.parametrize("make", ACCOUNTS.values(), ids=ACCOUNTS)


@ALL
def test_a_charge_that_does_not_fit_changes_nothing(make):
    account, step = make(), laplace(0.11)
    count = 0
    while account.fits(step):
        account.charge(step)
        count += 1
    before = account.spent
    assert count >= 5
    with pytest.raises(BudgetExceeded, match="more than what is left"):
        account.charge(step)
    assert account.spent == before
    assert all(s <= c for s, c in zip(account.spent, account.capacities, strict=True))


@ALL
def test_nothing_spent_is_nothing_told(make):
    assert make().total() == identity()


@ALL
def test_threads_take_turns(make):
    account, step = make(), laplace(Fraction(1, 10))
    cost = account._costs(step)

    def work():
        for _ in range(40):
            try:
                account.charge(step)
            except BudgetExceeded:
                return

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for spent, each, capacity in zip(account.spent, cost, account.capacities, strict=True):
        if each:
            assert spent % each == 0
            assert spent <= capacity
    assert not account.fits(step)


@ALL
def test_estimates_and_failures_are_refused(make, monkeypatch):
    with pytest.raises(UnsupportedComposition):
        make().charge(approx_dp(1, 0.1))
    monkeypatch.setattr(TradeOff, "certified", False)
    with pytest.raises(NotCertified):
        make().charge(gdp(0.1))


def test_what_was_spent_is_a_guarantee_of_the_composition():
    account = BudgetSpending(Budget(ZcdpFilter(Fraction(1))))
    for _ in range(10):
        account.charge(gdp(0.1))
    assert account.spent == (Fraction(1, 20), 0)
    assert account.total() == zcdp(Fraction(1, 20))
    renyi = ACCOUNTS["renyi"]()
    for _ in range(5):
        renyi.charge(gdp(Fraction(1, 2)) if not any(renyi.spent) else laplace(0.05))
    whole = gdp(0.5) @ laplace(0.05) ** 4
    for order in (1.5, 2.0, 16.0):
        assert whole.renyi(order) <= renyi.total().renyi(order) * (1 + 1e-12)


def test_zcdp_charges_selection_by_its_curve():
    rule = ZcdpFilter(Fraction(1))
    assert rule.cost(zcdp(0.3)) == Fraction(3, 10)
    assert float(rule.cost(bounded_range(1))) == pytest.approx(bounded_range(1).zcdp())
    assert rule.largest(Fraction(1, 3)) == zcdp(Fraction(1, 3))
    assert rule.largest(Fraction(0)) == identity()


@pytest.mark.shows("S1.2")
def test_the_capacity_of_advanced_composition_is_its_formula_rounded_down():
    with mp.workdps(50):
        for epsilon, first in ((0.01, 0.5), (1, 1e-6), (20, 1e-12), (700, 1e-300)):
            account = AdvancedSpending(epsilon=epsilon, concentration=first, failures=0, each=0)
            squares = mp.mpf(account.capacities[0].numerator) / account.capacities[0].denominator
            log = mp.log(1 / mp.mpf(repr(first)))
            used = mp.sqrt(2 * log * squares) + squares / 2
            assert used <= mp.mpf(repr(epsilon)) <= used * (1 + mp.mpf(10) ** -12)


def test_advanced_composition_holds_for_randomized_response():
    """What is allowed without choices is at least as private as what it claims, exactly."""
    account = AdvancedSpending(epsilon=2, concentration=1e-6, failures=0, each=0)
    count = 0
    while account.fits(pure_dp(0.1)):
        account.charge(pure_dp(0.1))
        count += 1
    assert (pure_dp(0.1) ** count).epsilon(1e-6) <= 2
    assert account.total() == approx_dp(2, 1e-6)
    assert math.sqrt(2 * math.log(1e6) * (count + 1) / 100) + (count + 1) / 200 > 2


@pytest.mark.parametrize(
    "wrong",
    [
        {"epsilon": 0},
        {"concentration": 0},
        {"concentration": 1},
        {"failures": 1},
        {"each": 0.5},
    ],
)
def test_advanced_refuses(wrong):
    with pytest.raises(InvalidParameter):
        AdvancedSpending(**{"epsilon": 1, "concentration": 0.1, "failures": 0.1, "each": 0} | wrong)


def test_renyi_refuses():
    for points in ([(2, 1), (2, 3)], [(2, 0)], [(0.7, 1)]):
        with pytest.raises(InvalidParameter):
            RenyiSpending(points)


# -- odometers -----------------------------------------------------------------------------------


def test_the_odometer_grows_and_costs_little_more_than_a_fixed_time():
    odometer = LossOdometer(delta=1e-6, expected_rho=1)
    assert odometer.epsilon() == 0
    last = 0.0
    for _ in range(60):
        odometer.charge(gdp(0.3))
        assert odometer.epsilon() > last
        last = odometer.epsilon()
        fixed = zcdp(odometer.spent)
        rho = float(odometer.spent)
        chernoff = rho + 2 * math.sqrt(rho * math.log(1e6))
        assert chernoff < last < 1.5 * chernoff
    assert fixed.epsilon(1e-6) < last


def test_the_odometer_holds_at_all_times_at_once():
    """Gaussian releases, the worst moment of each run: a fifth of delta is never reached by far.

    P(some run of 4000 passes) would be delta-ish per run; at delta = 0.05 about 200 may, and a
    bound without the union, that of a fixed time, is passed by more.
    """
    rng = np.random.default_rng(11)
    delta, mu, steps, runs = 0.05, 0.5, 400, 4000
    odometer = LossOdometer(delta=delta, expected_rho=1)
    bounds = []
    for _ in range(steps):
        odometer.charge(gdp(mu))
        bounds.append(odometer.epsilon())
    losses = np.cumsum(mu * rng.normal(size=(runs, steps)) + mu * mu / 2, axis=1)
    ever = np.mean(np.any(losses > np.array(bounds), axis=1))
    rho = mu * mu / 2 * np.arange(1, steps + 1)
    fixed = rho + 1.6449 * np.sqrt(2 * rho)
    assert ever < delta / 2
    assert np.mean(np.any(losses > fixed, axis=1)) > 3 * delta


def test_the_odometer_refuses():
    for wrong in ({"delta": 0}, {"delta": 1}, {"expected_rho": 0}):
        with pytest.raises(InvalidParameter):
            LossOdometer(**{"delta": 0.1, "expected_rho": 1} | wrong)
    with pytest.raises(UnsupportedComposition):
        LossOdometer(delta=0.1, expected_rho=1).charge(approx_dp(1, 0.1))


# -- one record at a time --------------------------------------------------------------------------


@pytest.mark.shows("S1.18")
def test_nobody_spends_more_than_the_budget_in_exact_arithmetic():
    rng = np.random.default_rng(5)
    mu, variance = Fraction(7, 3), Fraction(10**9, 7)
    budget = IndividualSpending(records=200, mu=mu)
    exact = [Fraction(0)] * 200
    ever_refused = 0
    for _ in range(60):
        norms = rng.integers(0, 10**8, 200)
        norms[0] = 0
        active = budget.admit(norms, variance=variance)
        for i in np.flatnonzero(active):
            exact[i] += Fraction(int(norms[i])) / variance
        ever_refused += int(np.sum(~active))
        assert active[0]
    assert all(spent <= mu**2 for spent in exact)
    assert ever_refused > 100
    assert np.allclose(budget.spent(), [float(x) for x in exact], rtol=1e-9, atol=1e-12)
    # A refused record may come back with less.
    assert np.all(budget.admit(np.zeros(200, dtype=np.int64), variance=1))


def test_exactly_the_budget_is_not_wasted_by_more_than_a_unit():
    budget = IndividualSpending(records=1, mu=1)
    taken = sum(bool(budget.admit(np.array([1]), variance=1000)[0]) for _ in range(1001))
    assert 999 <= taken <= 1000


def test_extreme_norms_and_refusals():
    budget = IndividualSpending(records=2, mu=1)
    assert budget.admit(np.array([2**62, 0]), variance=Fraction(1, 10**6)).tolist() == [False, True]
    assert budget.admit(np.array([-5, 0]), variance=1).tolist() == [False, True]
    assert "records=2" in repr(budget)
    for norms in (np.array([1.0, 2.0]), np.array([1])):
        with pytest.raises(InvalidParameter, match="one for each"):
            budget.admit(norms, variance=1)
    with pytest.raises(InvalidParameter, match="not positive"):
        budget.admit(np.array([1, 1]), variance=0)
    for wrong in ({"records": 0, "mu": 1}, {"records": 1, "mu": 0}):
        with pytest.raises(InvalidParameter):
            IndividualSpending(**wrong)
