"""Simulated losses: bounds that hold as often as they say, and a pair that dominates."""

import functools
import math

import numpy as np
import pytest
from scipy.stats import binom

from neyman.accounting import (
    BudgetSpending,
    FixedEpochs,
    Strategy,
    ToeplitzStrategy,
    banded_strategy,
    budget_for,
    random_allocation,
    square_root_strategy,
    tree_strategy,
)
from neyman.curves import approx_dp, gdp
from neyman.errors import InvalidParameter, NotCertified
from neyman.ledger import Ledger
from neyman.training import SimulatedLosses, simulate_balls_in_bins
from neyman.training._simulated import _upper

TRIALS, DRAWS, SURE = 400, 4_000, 0.9
# A bound that holds with 0.9 each time misses more often than this once in 10^6.
MOST_MISSES = int(binom.isf(1e-6, TRIALS, 1 - SURE))


def simulated(bins=8, samples=DRAWS, seed=0, strategy=None, noise=1.0, confidence=SURE):
    return simulate_balls_in_bins(
        strategy or banded_strategy(bins, 1),
        noise_multiplier=noise,
        bins=bins,
        samples=samples,
        confidence=confidence,
        rng=np.random.default_rng(seed),
    )


@functools.cache
def answered():
    """Return what each trial answers: a bound and its twin are of the same draws."""
    trials = (simulated(seed=seed) for seed in range(TRIALS))
    return [{"delta": trial.delta(0.05), "epsilon": trial.epsilon(0.05)} for trial in trials]


@functools.cache
def truth(of):
    """Return what one epoch of uncorrelated noise loses, from below."""
    exact = random_allocation(noise_multiplier=1, steps=8)
    known = getattr(exact, of)(0.05, bracket=True)
    assert known.upper - known.lower < 1e-6
    return known.lower


def misses(bound, of):
    """Count the trials whose bound is below the truth."""
    return sum(bound(answers[of]) < truth(of) for answers in answered())


@pytest.mark.parametrize("of", ["delta", "epsilon"])
def test_bounds_hold_as_often_as_they_say(of):
    assert misses(lambda answer: answer.value, of) <= MOST_MISSES


@pytest.mark.parametrize("of", ["delta", "epsilon"])
def test_an_estimate_is_no_bound(of):
    """The twin: the same without its margin."""
    assert misses(lambda answer: answer.estimate, of) > MOST_MISSES


@pytest.mark.parametrize("mean", [0.0, 1e-6, 0.01, 0.5, 1.0])
@pytest.mark.parametrize("count", [10, 10_000, 10**7])
def test_the_mean_is_bounded_by_its_divergence(mean, count):
    found = _upper(mean, count, 7.0)
    assert mean <= found <= 1
    if mean == 0:
        assert found == pytest.approx(-math.expm1(-7 / count), rel=1e-6)
    if 0 < mean < 1:
        p = found
        far = mean * math.log(mean / p) + (1 - mean) * math.log((1 - mean) / (1 - p))
        assert count * far == pytest.approx(7.0, rel=1e-3)


def test_uncorrelated_epochs_are_one_of_less_noise():
    """The same bin in each of 4 epochs: sigma / 2, of which all is known."""
    found = simulated(6, 200_000, strategy=banded_strategy(24, 1), noise=3, confidence=0.999)
    exact = random_allocation(noise_multiplier=1.5, steps=6)
    for epsilon in (0.0, 0.2, 0.5):
        answer, truth = found.delta(epsilon), exact.delta(epsilon)
        assert truth <= answer.value <= truth * 1.15
        assert answer.estimate == pytest.approx(truth, rel=0.05)


def test_one_bin_is_no_sample():
    strategy = square_root_strategy(5)
    found = simulated(1, 200_000, strategy=strategy, noise=4, confidence=0.999)
    whole = strategy.tradeoff(noise_multiplier=4, participation=FixedEpochs(1))
    assert whole.delta(0.5) <= found.delta(0.5).value <= whole.delta(0.5) * 1.05


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0])
def test_no_contributions_lose_more_than_equal_ones(epsilon):
    """Two bins of two epochs, contributions of any direction and of norm 1 or less, on a grid."""
    matrix = ToeplitzStrategy([1, 0.7, 0.5, 0.3]).matrix
    rng = np.random.default_rng(2)

    def lost(contributions):
        moves = [(matrix[:, j::2] @ contributions[j::2]).ravel() for j in (0, 1)]
        gram = np.asarray([[a @ b for b in moves] for a in moves]) / 1.5**2
        root = np.linalg.cholesky(gram + 1e-12 * np.eye(2))
        x = np.stack(np.meshgrid(*[np.linspace(-8, 10, 500)] * 2, indexing="ij"), axis=-1)
        cell = (18 / 499) ** 2

        def density(mean):
            return np.exp(-np.sum((x - mean) ** 2, axis=-1) / 2) / (2 * np.pi)

        with_record = sum(density(row) for row in root) / 2
        without = density(np.zeros(2))
        return tuple(
            cell * np.sum(np.maximum(a - np.exp(epsilon) * b, 0))
            for a, b in ((with_record, without), (without, with_record))
        )

    worst = lost(np.ones((4, 1)))
    for _ in range(40):
        any_way = rng.normal(size=(4, 3))
        any_way *= rng.random((4, 1)) ** 0.2 / np.linalg.norm(any_way, axis=1)[:, None]
        assert np.all(np.asarray(lost(any_way)) <= np.asarray(worst) + 1e-9)
    found = simulated(2, 100_000, strategy=Strategy(matrix), noise=1.5, confidence=0.999)
    assert max(worst) <= found.delta(epsilon).value <= max(worst) * 1.1


def test_a_bound_with_confidence_is_not_charged(tmp_path):
    bound = simulated().epsilon(0.05)
    assert (bound.is_bound, bound.certified, bound.confidence) == (False, False, SURE)
    assert bound.estimate < bound.value
    assert "90 % confidence (4000 draws" in str(bound)
    account = BudgetSpending(budget_for(approx_dp(8, 1e-5)))
    with pytest.raises(NotCertified):
        account.charge(bound)
    with pytest.raises(InvalidParameter):
        Ledger.open(
            str(tmp_path / "ledger.sqlite"), cap=gdp(1), unit="example", neighbors="add_remove"
        ).reserve(
            entry="run",
            request={},
            source="data",
            curve=bound,
            unit="example",
            neighbors="add_remove",
        )
    assert account.fits(gdp(0.1))


def test_too_few_draws_for_a_delta_are_refused():
    with pytest.raises(InvalidParameter, match="needs at least") as refused:
        simulated().epsilon(1e-6)
    fewest = int(str(refused.value).split("needs at least ")[1].split()[0])
    none = np.zeros(0)
    assert SimulatedLosses(none, none, fewest, SURE).epsilon(1e-6).value == 0
    with pytest.raises(InvalidParameter):
        SimulatedLosses(none, none, fewest - 5, SURE).epsilon(1e-6)


@pytest.mark.parametrize(
    "change",
    [
        {"bins": 0},
        {"bins": 9, "strategy": banded_strategy(8, 1)},
        {"noise": 0},
        {"confidence": 1},
        {"samples": 0},
        {"strategy": tree_strategy(8)},
    ],
)
def test_what_makes_no_sense_is_refused(change):
    with pytest.raises(InvalidParameter):
        simulated(**change)
    with pytest.raises(InvalidParameter):
        simulated().delta(-1)
    with pytest.raises(InvalidParameter):
        simulated().epsilon(0)
