"""Verdicts and lower bounds from scores: levels, power, refusals."""

import numpy as np
import pytest
from scipy.special import betaincinv, ndtr, ndtri
from scipy.stats import binom

import neyman as ny
from neyman.audit import Counts, epsilon, mu, plan, refute
from neyman.audit._joint import p_value
from neyman.audit._null import Null
from neyman.audit._power import detected
from neyman.audit._statistic import Statistic
from neyman.errors import InvalidParameter, NotCertified


def normal(seed: int, n: int, shift: float, sd: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(seed)
    return draw.normal(shift, sd, n), draw.normal(0, sd, n)


def most_alarms(runs: int, level: float) -> int:
    """Alarms that a test of this level exceeds once in 10^6 suites."""
    return int(binom.isf(1e-6, runs, level))


@pytest.mark.shows("audit")
@pytest.mark.parametrize(("n", "size"), [(50, 1.0), (400, 1.0)])
def test_a_learnt_rule_keeps_the_level(n, size):
    runs = 120
    alarms = sum(
        refute(*normal(run, n, size), ny.gdp(size), seed=run).refuted for run in range(runs)
    )
    assert alarms <= most_alarms(runs, 0.05)


def test_a_learnt_rule_keeps_the_level_where_its_twin_that_tests_what_it_learnt_does_not():
    runs, alarms, twin = 200, 0, 0
    for run in range(runs):
        inside, outside = normal(run, 100, 0)
        alarms += refute(inside, outside, ny.gdp(0), seed=run).refuted
        # The twin learns from all the scores, by the empirical best threshold, and tests them.
        both = np.concatenate([inside, outside])
        above = [np.mean(inside > t) - np.mean(outside > t) for t in both]
        threshold = both[int(np.argmax(above))]
        twin += refute(inside, outside, ny.gdp(0), threshold=threshold).refuted
    assert alarms <= most_alarms(runs, 0.05)
    assert twin > most_alarms(runs, 0.05)


@pytest.mark.parametrize("noise", [0.5, 0.8])
def test_planned_runs_refute_too_little_noise_as_often_as_planned(noise):
    runs, n = 60, plan(ny.gdp(1), ny.gdp(1 / noise))
    found = sum(
        refute(*normal(run, n, 1, noise), ny.gdp(1), threshold=0.5).refuted for run in range(runs)
    )
    assert found >= binom.ppf(1e-6, runs, 0.85)


def test_more_runs_than_planned_are_needed_for_less_power():
    assert plan(ny.gdp(1), ny.gdp(2), power=0.5) < plan(ny.gdp(1), ny.gdp(2)) < 60
    assert 450 < plan(ny.gdp(1), ny.gdp(1.25)) < 800
    with pytest.raises(InvalidParameter, match="claim that holds"):
        plan(ny.gdp(1), ny.gdp(0.9))


@pytest.mark.parametrize(
    ("claim", "n"), [(ny.gdp(1), 200), (ny.gdp(0.5), 1000), (ny.laplace(1), 400)], ids=str
)
def test_the_mu_that_a_verdict_could_have_seen_is_refuted_four_times_in_five(claim, n):
    null = Null(claim)

    def errors(both):
        counts = Counts(false_positives=0, outside=n, false_negatives=both, inside=n)
        return Statistic(counts, 1.0)

    low, high = 0, n
    while high - low > 1:
        middle = (low + high) // 2
        refuted = p_value(errors(middle), null, 0.05).upper <= 0.05
        low, high = (middle, high) if refuted else (low, middle)
    seen, claimed = detected(errors(0), null, 0.05)
    assert claimed == pytest.approx(2 * ndtri((1 + claim.advantage()) / 2), abs=1e-3)
    rate = np.array([ndtr(-seen / 2)])
    assert 0.75 < float(errors(low).chance(rate, rate)[0]) < 0.85
    assert detected(Statistic(Counts(false_positives=0, outside=2, false_negatives=0, inside=2), 1),
                    null, 0.05)[0] is None  # fmt: skip


def test_a_verdict_and_the_bounds_of_its_rule_agree():
    inside, outside = normal(2, 500, 1.4)
    verdict = refute(inside, outside, ny.gdp(1), seed=3)
    bound = verdict.mu()
    assert verdict.refuted == (bound.value > 1)
    assert (bound.rule, bound.seed) == (verdict.rule, 3)
    assert 0 < verdict.epsilon(1e-3).value < ny.gdp(1.4).epsilon(1e-3)
    with pytest.raises(InvalidParameter, match="delta must be in"):
        verdict.epsilon(-1)


@pytest.mark.soak
def test_bounds_keep_their_level_and_are_near():
    bounds = np.array([float(mu(*normal(s, 1000, 1), seed=s)) for s in range(40)])
    assert np.sum(bounds > 1) <= most_alarms(40, 0.05)
    assert bounds.mean() > 0.85
    losses = [float(epsilon(*normal(s, 500, 1), delta=1e-5, seed=s)) for s in range(10)]
    assert 0.3 < np.mean(losses) < ny.gdp(1).epsilon(1e-5)


def test_the_loss_that_the_counts_suggest_is_no_bound():
    """The twin without an interval: it exceeds the truth in half of all audits."""
    draw, runs, rate = np.random.default_rng(6), 400, float(ndtr(-0.5))
    fp, fn = draw.binomial(1000, rate, (2, runs)) / 1000
    over = np.sum(ndtri(1 - fp) - ndtri(fn) > 1)
    assert over > most_alarms(runs, 0.05)


@pytest.mark.parametrize(("n", "size"), [(100, 1.0), (1000, 0.3), (1000, 1.0), (1000, 3.0)])
def test_two_separate_bounds_need_two_and_a_half_times_the_runs(n, size):
    """At the counts that are expected; an error shrinks like one over the root of the runs."""
    errors = round(n * float(ndtr(-size / 2)))
    scores = np.repeat([0.0, 1.0], [errors, n - errors])
    joint = float(mu(scores, 1 - scores, threshold=0.5))
    each = betaincinv(errors + 1, n - errors, 1 - 0.05 / 2)
    assert (size + 2 * ndtri(each)) ** 2 > 2.5 * (size - joint) ** 2


def test_a_bound_is_the_parameter_that_the_same_test_refutes():
    inside, outside = normal(3, 800, 1.5)
    bound = mu(inside, outside, threshold=0.75)
    refuted = refute(inside, outside, ny.gdp(bound.value), threshold=0.75)
    missed = refute(inside, outside, ny.gdp(bound.value + 0.01), threshold=0.75)
    assert refuted.refuted
    assert not missed.refuted


def test_any_monotone_function_of_the_scores_gives_the_same_verdict():
    inside, outside = normal(5, 600, 1, 0.7)
    plain = refute(inside, outside, ny.gdp(1), seed=4)
    assert refute(np.exp(inside), np.exp(outside), ny.gdp(1), seed=4).counts == plain.counts
    turned = refute(-inside, -outside, ny.gdp(1), seed=4)
    assert turned.rule.direction == -1
    assert turned.refuted == plain.refuted


def test_equal_scores_refute_nothing():
    verdict = refute(np.zeros(100), np.zeros(100), ny.gdp(0), seed=0)
    assert not verdict.refuted
    assert float(mu(np.zeros(100), np.zeros(100), seed=0)) == 0


def test_a_rare_certain_event_refutes_a_small_claim():
    draw = np.random.default_rng(0)
    inside = (draw.random(20_000) < 0.02).astype(float)
    verdict = refute(inside, np.zeros(20_000), ny.gdp(0.1), seed=3)
    assert verdict.p_value < 1e-5
    assert verdict.counts.false_positives == 0


def test_what_a_verdict_says():
    said = str(refute(*normal(1, 900, 1), ny.gdp(1), seed=2))
    assert "is not refuted at level 0.05" in said
    assert "in about four of five audits if the truth is mu = 1." in said
    assert 'The rule "score > ' in said
    assert "by this rule, mu >= 0." in said
    few = str(refute([1.0, 2.0], [0.0, 1.0], ny.gdp(1), seed=2))
    assert "With this number of runs, the test can refute no mechanism." in few


@pytest.mark.parametrize(
    ("inside", "words"),
    [([1.0], "at least 2 scores"), ([1.0, np.nan], "index 1"), ("ab", "list of real numbers"),
     (np.zeros((2, 2)), "list of real numbers")],
)  # fmt: skip
def test_what_is_no_list_of_scores_is_refused(inside, words):
    with pytest.raises(InvalidParameter, match=words):
        refute(inside, [0.0, 1.0], ny.gdp(1))


def test_claims_and_levels_are_checked():
    with pytest.raises(InvalidParameter, match="must be a guarantee"):
        refute([0.0, 1.0], [0.0, 1.0], 1.0)
    with pytest.raises(InvalidParameter, match="level must be in"):
        refute([0.0, 1.0], [0.0, 1.0], ny.gdp(1), level=0.7)
    with pytest.raises(InvalidParameter, match="delta must be in"):
        epsilon([0.0, 1.0], [0.0, 1.0], delta=2)
    half = np.log(2 * np.pi) / 2
    estimate = ny.curves.densities(
        lambda x: -(x**2) / 2 - half, lambda x: -((x - 1) ** 2) / 2 - half, low=-9, high=9
    )
    assert not estimate.certified
    with pytest.raises(NotCertified, match="proved bounds"):
        refute([0.0, 1.0], [0.0, 1.0], estimate)
