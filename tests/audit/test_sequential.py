"""Betting: level at any time, power, order of arrival."""

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import binom

import neyman as ny
from neyman.audit import Sequential
from neyman.errors import InvalidParameter


def pairs_until(claim, seed: int, noise: float, most: int, size: float = 1.0) -> int | None:
    draw, test = np.random.default_rng(seed), Sequential(claim)
    for x, y in zip(draw.normal(size, noise, most), draw.normal(0, noise, most), strict=True):
        test.update(inside=x, outside=y)
        if test.refuted:
            return test.pairs
    return None


@pytest.mark.parametrize(("noise", "bar", "runs"), [(0.5, 40, 40), (0.8, 340, 30)])
def test_too_little_noise_is_refuted_soon(noise, bar, runs):
    found = [pairs_until(ny.gdp(1), seed, noise, 4000) for seed in range(runs)]
    assert None not in found
    # The true medians are 36 and 280.
    assert np.median(found) < 1.4 * bar


@pytest.mark.parametrize("claim", [ny.gdp(1), ny.approx_dp(0.9, 0.03)], ids=str)
def test_a_claim_that_holds_is_refuted_at_most_at_the_level_however_long_one_looks(claim):
    size = 1.0 if claim == ny.gdp(1) else 0.3
    assert ny.gdp(size).implies(claim)
    runs = 60
    alarms = sum(pairs_until(claim, seed, 1.0, 400, size) is not None for seed in range(runs))
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
