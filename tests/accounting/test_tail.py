"""The price of a tail: G_mu ⊗ f_{0,t} is below the curve, and no release is charged too little."""

from fractions import Fraction
from random import Random

import mpmath as mp
import numpy as np
import pytest

from neyman.accounting import (
    Amount,
    BudgetSpending,
    budget_for,
    dp_sgd,
    steps_within,
    without_replacement,
)
from neyman.accounting._tail import failure_within
from neyman.curves import TradeOff, approx_dp, gdp, laplace, poisson, pure_dp, rdp, zcdp
from neyman.errors import BudgetExceeded, UnsupportedComposition
from neyman.numerics import exact

BUDGET = budget_for(approx_dp(8, 1e-5))
# Noise, probability, steps; the largest share of both accounts; how many copies fit.
RUNS = {
    "small": ((1, 0.01, 1000), 0.0817, 12),
    "mnist": ((1.1, Fraction(256, 60000), 14063), 0.1249, 8),
    "cifar": ((3, Fraction(4096, 50000), 2500), 0.7250, 1),
    "tuning": ((0.7, 2e-4, 5000), 0.0076, 132),
    "full": ((10, 0.25, 500), 0.1152, 8),
    "federated": ((0.8, 0.001, 4000), 0.0171, 58),
}
BOTH = pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])


def assert_below(amount, curve):
    """Check G_mu ⊗ f_{0,t} against the library's brackets at 1,000 epsilons, both ways.

    Beyond the last of them the curve itself has fallen to t, and so lies below f_{0,t}.
    """
    bound, end = BUDGET.spent_curve(amount), curve.epsilon(failure_within(amount.delta))
    at = np.linspace(0, end, 1000)
    for side in (curve.remove, curve.add):
        assert np.all(side.delta_bracket(at).lower <= bound.delta(at) * (1 + 1e-9))


@BOTH
@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=[pytest.mark.soak] * (n in ("tuning", "federated"))) for n in RUNS],
)
def test_a_training_is_charged_two_numbers(name, neighbors):
    parameters, share, copies = RUNS[name]
    run = dp_sgd(*parameters, neighbors=neighbors)
    amount = BUDGET.cost(run)
    assert amount.delta > 0
    assert_below(amount, run)
    if neighbors == "add_remove":
        assert 0.97 * share < BUDGET.share(amount) <= share
        assert amount.times(copies).fits(BUDGET.capacity)
        assert not amount.times(copies + 1).fits(BUDGET.capacity)
        # Without a tail it would not fit once.
        assert budget_for(gdp(squared=BUDGET.filter.capacity)).cost(run).cost > 5 * (share < 0.1)


def test_a_step_against_thirty_digits():
    """The sampled Gaussian has a closed form: both directions, 1,000 epsilons, and by how much."""
    noise, q = mp.mpf("0.8"), mp.mpf("0.001")
    amount = BUDGET.cost(dp_sgd(0.8, 0.001, 1))
    with mp.workdps(30):
        mu = mp.sqrt(mp.mpf(amount.cost.numerator) / amount.cost.denominator)
        t = mp.mpf(amount.delta.numerator) / amount.delta.denominator

        def gaussian(e, m):
            return mp.ncdf(-e / m + m / 2) - mp.exp(e) * mp.ncdf(-e / m - m / 2)

        def removed(e):
            """Of the mixture from the Gaussian at 0: the threshold is where the ratio is e^e."""
            x = noise**2 * mp.log((mp.exp(e) - 1 + q) / q) + mp.mpf(1) / 2
            tail, moved = mp.ncdf(-x / noise), mp.ncdf(-(x - 1) / noise)
            return (1 - q) * tail + q * moved - mp.exp(e) * tail

        def added(e):
            """Of the Gaussian at 0 from the mixture."""
            inside = (mp.exp(-e) - 1 + q) / q
            if inside <= 0:
                return mp.mpf(0)
            x = noise**2 * mp.log(inside) + mp.mpf(1) / 2
            low, moved = mp.ncdf(x / noise), mp.ncdf((x - 1) / noise)
            return low - mp.exp(e) * ((1 - q) * low + q * moved)

        slacks = [
            t + (1 - t) * gaussian(e, mu) - max(removed(e), added(e))
            for e in map(mp.mpf, np.linspace(1e-6, 3, 1000).tolist())
        ]
        assert min(slacks) >= 0
        # And touches it: a smaller mu would not do.
        assert min(slacks) < mp.mpf(10) ** -9


@pytest.mark.parametrize(
    "curve",
    [
        gdp(0.1),
        laplace(0.3),
        laplace(0.1) ** 10,
        zcdp(0.05),
        pure_dp(0.2) ** 3,
        laplace(0.3) @ gdp(0.2),
    ],
    ids=str,
)
def test_what_needs_no_tail_costs_what_it_did(curve):
    assert BUDGET.cost(curve) == Amount(curve.tight_gaussian())


@pytest.mark.parametrize(
    "curve",
    [
        rdp([(2, 0.1), (8, 0.5)]),
        pytest.param(dp_sgd(1, 0.01, 500) @ dp_sgd(2, 0.02, 300), marks=pytest.mark.soak),
        pytest.param(
            without_replacement(gdp(1), records=1000, batch=10).curve, marks=pytest.mark.soak
        ),
        dp_sgd(1, 0.01, 500) @ gdp(0.2) @ laplace(0.1),
    ],
    ids=["statement", "phases", "without replacement", "mixed"],
)
def test_other_curves_with_tails(curve):
    amount = BUDGET.cost(curve)
    assert amount.delta > 0
    assert BUDGET.share(amount) < 0.2
    assert_below(amount, curve)


def test_tails_and_outright_failure_share_one_sum():
    run, failing = dp_sgd(1, 0.01, 500), approx_dp(0, 1e-8)
    alone, both = BUDGET.cost(run), BUDGET.cost(run @ failing)
    assert both.delta >= Fraction("1e-8")
    assert_below(both, run @ failing)
    assert alone.cost <= both.cost <= alone.cost * Fraction(11, 10)
    assert BUDGET.cost(gdp(0.1) @ failing) == Amount(Fraction(1, 100), Fraction("1e-8"))


def test_more_steps_cost_more():
    shares = [BUDGET.share(BUDGET.cost(dp_sgd(1, 0.01, n))) for n in (200, 400, 700, 701, 1000)]
    assert shares == sorted(shares)
    assert shares[0] < shares[-1]


def test_the_price_depends_on_the_opening_alone():
    """So an entry that is asked again is found, whatever was spent meanwhile."""
    assert BUDGET.cost(dp_sgd(1, 0.01, 300)) == BUDGET.cost(dp_sgd(1, 0.01, 300))
    other = budget_for(approx_dp(3, 1e-6))
    assert other.cost(dp_sgd(1, 0.01, 300)) != BUDGET.cost(dp_sgd(1, 0.01, 300))


def test_a_pure_account_charges_no_tail():
    pure = budget_for(approx_dp(8, 1e-5), 1e-5)
    assert pure.cost(laplace(0.5)) == Amount(Fraction(1, 2))
    with pytest.raises(UnsupportedComposition, match="epsilons"):
        pure.cost(dp_sgd(1, 0.01, 10))


@pytest.mark.parametrize("charges", [10_000, pytest.param(100_000, marks=pytest.mark.soak)])
def test_sums_of_charges_are_exact_and_never_less(charges):
    """Charges of random doubles: each pair is rounded up, and the sums are theirs, exactly."""
    random, total, least = Random(7), Amount(Fraction(0)), [Fraction(0), Fraction(0)]
    for _ in range(charges):
        mu, t = random.uniform(1e-3, 2), random.uniform(1e-12, 1e-6)
        used = failure_within(Fraction(t))
        charge = Amount(_charged(mu), Fraction(t))
        least[0] += Fraction(mu) ** 2
        least[1] += max(Fraction(used), exact(used, "t"))
        total += charge
    assert total.cost >= least[0]
    assert total.delta >= least[1]
    assert float(total.cost / least[0]) < 1 + 1e-11
    assert float(total.delta / least[1]) < 1 + 1e-15 * 1e3


class _Known:
    """A curve of which only mu beside a tail is known."""

    def __init__(self, mu):
        self.mu = mu

    def mu_bracket(self, slack):  # noqa: ARG002
        return self.mu, self.mu


def _charged(mu):
    return BUDGET.filter.cost_beside(_Known(mu), 1e-9)


def test_the_decimals_of_a_charge_are_twelve_rounded_up():
    for mu in (0.1, 1 / 3, 2.0**-20, 1e-160):
        cost = _charged(mu)
        assert cost >= max(Fraction(mu), exact(mu, "mu")) ** 2
        assert cost <= max(Fraction(mu) ** 2 * (1 + Fraction(1, 10**11)), Fraction(1, 10**30))


@pytest.mark.parametrize("probability", [Fraction("1e-7"), Fraction(1, 3), Fraction("8.105e-8")])
def test_a_tail_is_never_more_than_what_it_is_charged(probability):
    used = failure_within(probability)
    assert max(Fraction(used), exact(used, "t")) <= probability
    assert used > float(probability) * (1 - 1e-15)


def test_how_many_steps_fit():
    step = dp_sgd(10, 0.25, 1)
    found = steps_within(BUDGET, step, BUDGET.capacity)
    assert BUDGET.cost(step**found).fits(BUDGET.capacity)
    assert not BUDGET.cost(step ** (found + 1)).fits(BUDGET.capacity)
    # 99.5 % of what fits in one plan under the cap itself.
    assert 0.99 * 4400 < found < 4400
    assert steps_within(BUDGET, step, BUDGET.capacity, most=300) == 300
    assert steps_within(BUDGET, step, Amount(Fraction(0)), most=300) == 0
    half = Amount(BUDGET.filter.capacity / 2, BUDGET.delta)
    less = steps_within(BUDGET, step, half, most=4000)
    assert 0.45 * found < less < 0.55 * found
    assert BUDGET.cost(step**less).fits(half)


def test_the_account_in_memory_charges_what_a_ledger_does():
    account, run = BudgetSpending(BUDGET), dp_sgd(1, 0.01, 1000)
    for _ in range(12):
        account.charge(run)
    with pytest.raises(BudgetExceeded):
        account.charge(run)
    assert account.spent == (12 * BUDGET.cost(run).cost, 12 * BUDGET.cost(run).delta)
    assert account.total().implies(approx_dp(8, 1e-5))


def test_no_tail_is_charged_that_saves_little(monkeypatch):
    """A release with a tight Gaussian is asked for at most one tail."""
    asked = []
    whole = type(BUDGET.filter).cost_beside
    monkeypatch.setattr(
        type(BUDGET.filter),
        "cost_beside",
        lambda self, *rest: asked.append(rest) or whole(self, *rest),
    )
    BUDGET.cost(gdp(0.1))
    BUDGET.cost(laplace(0.1))
    assert asked == []
    # Of a curve that no other test prices, for prices are kept.
    BUDGET.cost(laplace(0.1) ** 12)
    assert len(asked) == 1


def test_an_estimate_has_no_price(monkeypatch):
    from neyman.errors import NotCertified

    monkeypatch.setattr(TradeOff, "certified", False)
    with pytest.raises(NotCertified):
        BUDGET.cost(poisson(gdp(1), 0.01))
