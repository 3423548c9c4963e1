"""Betting: level at any time, power, order of arrival."""

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import binom

import neyman as ny
from bets import pairs_until
from neyman.audit import Sequential
from neyman.errors import InvalidParameter


def test_the_bets_of_many_runs_are_those_of_the_test():
    draw = np.random.default_rng(0)
    inside, outside = draw.normal(1, 0.6, (6, 80)), draw.normal(0, 0.6, (6, 80))
    found = pairs_until(ny.gdp(1), inside, outside)
    for row in range(6):
        test = Sequential(ny.gdp(1))
        for x, y in zip(inside[row], outside[row], strict=True):
            test.update(inside=x, outside=y)
            if test.refuted:
                break
        assert found[row] == (test.pairs if test.refuted else 0)


@pytest.mark.parametrize(("noise", "bar", "runs"), [(0.5, 40, 200), (0.8, 340, 100)])
def test_too_little_noise_is_refuted_soon(noise, bar, runs):
    draw, most = np.random.default_rng(1), 12 * bar
    inside, outside = (draw.normal(shift, noise, (runs, most)) for shift in (1.0, 0.0))
    found = pairs_until(ny.gdp(1), inside, outside)
    assert np.mean(found > 0) > 0.95
    # The true medians are 35 and 296.
    assert np.median(np.where(found > 0, found, most)) < 1.3 * bar


@pytest.mark.parametrize("claim", [ny.gdp(1), ny.approx_dp(0.9, 0.03)], ids=str)
def test_a_claim_that_holds_is_refuted_at_most_at_the_level_however_long_one_looks(claim):
    size = 1.0 if claim == ny.gdp(1) else 0.3
    assert ny.gdp(size).implies(claim)
    draw, runs = np.random.default_rng(2), 400
    inside, outside = (draw.normal(shift, 1, (runs, 800)) for shift in (size, 0.0))
    alarms = np.sum(pairs_until(claim, inside, outside) > 0)
    assert alarms <= binom.isf(1e-6, runs, 0.05)


def test_a_test_that_looks_at_each_p_value_is_caught():
    """The twin: a fixed-size test, looked at after each ten pairs, has many false alarms."""
    runs, alarms = 200, 0
    for seed in range(runs):
        draw = np.random.default_rng(seed)
        right = np.cumsum(draw.normal(0.5, 1, 400) > 0)
        n = np.arange(1, 401)
        p = binom.sf(right - 1, n, ndtr(0.5))
        alarms += bool(np.any(p[9::10] < 0.05))
    assert alarms > binom.isf(1e-6, runs, 0.05)


def test_batches_and_waiting_give_what_pairs_give():
    draw = np.random.default_rng(1)
    x, y = draw.normal(1, 0.6, 50), draw.normal(0, 0.6, 50)
    one, other = Sequential(ny.gdp(1)), Sequential(ny.gdp(1))
    for a, b in zip(x, y, strict=True):
        one.update(inside=a, outside=b)
    other.update(inside=x[:30])
    other.update(outside=y)
    assert other.pairs == 30
    other.update(inside=x[30:])
    assert other.e_value == one.e_value
    assert (other.pairs, other.refuted) == (one.pairs, one.refuted)


def test_what_is_no_score_changes_nothing():
    test = Sequential(ny.gdp(1))
    with pytest.raises(InvalidParameter, match="inside must be"):
        test.update(inside=[1.0, np.nan], outside=[0.0, 0.0])
    test.update(inside=[np.inf] * 5, outside=[-np.inf] * 5)
    assert test.pairs == 5
    assert "is not refuted so far" in str(test)
