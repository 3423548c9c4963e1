"""Bounds from one run: figures of the papers, levels, ties, ceilings."""

import numpy as np
import pytest
from scipy.special import ndtri
from scipy.stats import binom

import neyman as ny
from neyman.audit import Guesses, _one_run, one_run
from neyman.errors import InvalidParameter


def test_the_figures_of_the_two_theorems():
    """5.80907 is logit(.05^(1/1000)); the others were computed with jax_privacy's functions."""
    right = Guesses(made=1000, right=1000, of=1000)
    found = _one_run._largest(lambda e: _one_run._pure_p(right, e, 0.0) <= 0.05, 60.0)
    assert found == pytest.approx(5.80907, abs=2e-5)
    most = Guesses(made=1000, right=800, of=1000)
    found = _one_run._largest(lambda e: _one_run._pure_p(most, e, 1e-5) <= 0.05, 60.0)
    assert found == pytest.approx(1.253984, abs=2e-5)
    mu = _one_run._largest(lambda m: _one_run._refutes(most, _one_run._gaussian(m), 0.05), 40.0)
    assert ny.gdp(mu).epsilon(1e-5) == pytest.approx(2.333243, abs=2e-4)


@pytest.mark.parametrize(
    ("shift", "epsilon", "by_mu"), [(1, 2.3, 3.0), (2, 4.5, 6.5), (4, 7.0, 11.9)]
)
def test_normal_scores_give_more_than_a_choice_of_thresholds(shift, epsilon, by_mu):
    z = ndtri((np.arange(10_000) + 0.5) / 10_000)
    scores, included = np.concatenate([z + shift, z]), np.repeat([1, 0], 10_000)
    found = one_run(scores=scores, included=included, delta=1e-6, seed=0)
    assert found.epsilon > epsilon
    assert ny.gdp(found.mu).epsilon(1e-6) > by_mu
    assert found.epsilon < found.most_epsilon
    assert found.mu < found.most_mu


def test_a_table_of_a_curve_is_below_it():
    for claim, near in ((ny.gdp(1), 0.95), (ny.laplace(1), 0.93), (ny.approx_dp(1, 1e-3), 0)):
        table = _one_run._tabled(claim)
        at = np.concatenate([np.geomspace(1e-12, 0.5, 997), 1 - np.geomspace(1e-9, 0.5, 499)])
        truth = claim.beta(1 - at)
        found = np.array([table(y) for y in at])
        assert np.all(found <= truth * (1 + 1e-12) + 1e-15)
        assert np.all(found >= truth * near - 1e-11)


def null_run(seed: int, m: int) -> bool:
    draw = np.random.default_rng(seed)
    found = one_run(scores=draw.normal(size=m), included=draw.integers(0, 2, m), delta=0, seed=seed)
    return found.epsilon > 0 or found.mu > 0


def test_canaries_that_do_nothing_show_nothing():
    alarms = sum(null_run(seed, 200) for seed in range(200))
    # Two bounds, each at 5 %; exceeded once in 10^6 suites.
    assert alarms <= binom.isf(1e-6, 200, 0.1)


def test_the_best_number_of_guesses_at_the_whole_level_is_caught():
    """The twin: coins are guessed, and the luckiest of the numbers is tested as if alone."""
    draw, runs, m = np.random.default_rng(4), 400, 200
    coins = draw.integers(0, 2, (runs, m)) == 1
    halves = np.arange(8, m // 2)
    right = np.cumsum(coins, axis=1) + np.cumsum(~coins[:, ::-1], axis=1)
    p = binom.sf(right[:, halves - 1] - 1, 2 * halves, 0.5)
    assert np.sum(p.min(axis=1) <= 0.05) > binom.isf(1e-6, runs, 0.05)


def test_a_true_bound_is_kept_where_scores_are_as_good_as_the_claim():
    over = 0
    for seed in range(60):
        draw = np.random.default_rng(seed)
        coins = draw.integers(0, 2, 1000)
        found = one_run(scores=draw.normal(size=1000) + coins, included=coins, delta=1e-5, seed=1)
        over += found.mu > 1
        assert found.epsilon <= ny.gdp(1).epsilon(1e-5)
    assert over <= binom.isf(1e-6, 60, 0.05)


def test_equal_scores_show_nothing_though_the_list_is_in_order():
    """A stable sort would find every canary: the twin is what the list's order would give."""
    included = np.repeat([0, 1], 500)
    assert one_run(scores=np.zeros(1000), included=included, delta=0, seed=2).epsilon == 0
    twin = one_run(scores=np.arange(1000) * 1e-9, included=included, delta=0, seed=2)
    assert twin.epsilon > 5


def test_a_claim_is_refuted_and_one_that_holds_is_not():
    draw = np.random.default_rng(5)
    coins = draw.integers(0, 2, 2000)
    scores = draw.normal(size=2000) + 2 * coins
    broken = one_run(scores=scores, included=coins, delta=1e-5, claim=ny.gdp(0.3), seed=1)
    kept = one_run(scores=scores, included=coins, delta=1e-5, claim=ny.gdp(2), seed=1)
    assert broken.refuted
    assert not kept.refuted
    assert broken.mu > 0.3
    assert "gdp(mu=0.3) is refuted at level 0.05: p = " in str(broken)
    assert "gdp(mu=2) is not refuted at level 0.05: p = " in str(kept)


def test_one_canary_and_bad_lists():
    assert one_run(scores=[3.0], included=[1], delta=0).epsilon == 0
    for scores, coins, why in (
        ([1.0], [1, 0], "of one length"),
        ([np.nan], [1], "scores must be a list of real numbers"),
        ([1.0, 2.0], [1, 2], "included must be the canaries"),
        ([], [], "scores must be a list of real numbers"),
    ):
        with pytest.raises(InvalidParameter, match=why):
            one_run(scores=scores, included=coins, delta=0)
    with pytest.raises(InvalidParameter, match="delta must"):
        one_run(scores=[1.0], included=[1], delta=1)
