"""The band over all thresholds: coverage, sharpness, what it refutes."""

import numpy as np
import pytest
from scipy.special import ndtri
from scipy.stats import beta, binom

import neyman as ny
from attacks import LAWS, gaussian, subsampled
from neyman.audit import curve_band, mu
from neyman.audit._berk_jones import tail_bound
from neyman.audit._massart import joint_deviation
from neyman.errors import InvalidParameter, NotCertified


def draws(law, seed: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(seed)
    return law.inside(draw, n), law.outside(draw, n)


def uniform(draw: np.random.Generator, runs: int, n: int) -> np.ndarray:
    return np.sort(draw.random((runs, n)), axis=1)


def deviation(points: np.ndarray) -> np.ndarray:
    """sup F - F_n of sorted uniform points, row by row."""
    n = points.shape[1]
    return (points - np.arange(n) / n).max(axis=1)


def failures(bound, points: np.ndarray) -> float:
    return float(np.mean((points[:, bound.counts] > bound.rates).any(axis=1)))


@pytest.mark.parametrize("sizes", [(30, 30), (100, 40), (200, 200)])
def test_the_two_deviations_together_keep_the_level(sizes):
    runs, level = 20_000, 0.05
    draw = np.random.default_rng(1)
    both = sum(deviation(uniform(draw, runs, n)) for n in sizes)
    missed = int(np.sum(both > joint_deviation(*sizes, level)))
    assert missed <= binom.isf(1e-6, runs, level)
    # It is sharp: two bounds of half the level each would lie a quarter further.
    assert missed >= binom.ppf(1e-6, runs, 0.7 * level)


def test_the_deviations_at_a_level_for_each_alone_are_caught():
    runs, n = 4000, 200
    draw = np.random.default_rng(2)
    both = deviation(uniform(draw, runs, n)) + deviation(uniform(draw, runs, n))
    one = np.sqrt(np.log(1 / 0.05) / (2 * n))
    assert np.sum(both > one) > binom.isf(1e-6, runs, 0.05)


def test_the_chance_that_a_sharp_bound_fails_is_computed_exactly():
    # n = 1: the only bound, of the count 0, is 1 - level.
    assert tail_bound(1, 0.05).rates == pytest.approx([0.95], abs=0.002)
    # n = 2, by hand: P(V_(1) <= a, V_(2) <= b) = 2 a b - a^2 for a <= b.
    two = tail_bound(2, 0.1)
    a, b = two.rates
    assert two.failing == pytest.approx(1 - (2 * a * b - a * a), abs=1e-8)
    for n in (7, 60, 900):
        bound, runs = tail_bound(n, 0.05), 20_000
        draw = np.random.default_rng(n)
        found = np.mean([failures(bound, uniform(draw, 2000, n)) for _ in range(runs // 2000)])
        assert abs(found - bound.failing) < 5 * np.sqrt(0.05 / runs)
        assert 0.0485 <= bound.failing <= 0.05


def test_bounds_at_the_level_for_each_threshold_alone_are_caught():
    n, runs = 200, 2000
    points = uniform(np.random.default_rng(3), runs, n)
    k = np.arange(n)
    twin = beta.ppf(0.95, k + 1, n - k)
    assert np.mean((points > twin).any(axis=1)) > 0.3


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
def test_claims_that_hold_are_refuted_at_most_at_the_level(law):
    runs = 60
    alarms = sum(curve_band(*draws(law, seed, 120)).refutes(law.claim) for seed in range(runs))
    assert alarms <= binom.isf(1e-6, runs, 0.05)


def test_the_curve_of_the_attack_lies_in_the_band():
    law, x = gaussian(1), np.linspace(0.001, 0.999, 301)
    truth = law.claim.beta(x)
    over = under = 0
    for seed in range(100):
        band = curve_band(*draws(law, seed, 300))
        over += bool(np.any(truth > np.interp(x, *band.upper) + 1e-12))
        under += bool(np.any(truth < np.interp(x, *band.lower) - 1e-12))
        assert np.all(np.interp(x, *band.lower) <= np.interp(x, *band.upper))
    assert max(over, under) <= binom.isf(1e-6, 100, 0.05)


def test_both_ends_are_convex_and_fall():
    band = curve_band(*draws(subsampled(2, 0.3, 1), 1, 500))
    for line in (band.upper, band.lower):
        slopes = np.diff(line.beta) / np.diff(line.alpha)
        assert np.all(slopes <= 1e-12)
        assert np.all(np.diff(slopes) >= -1e-9 * (1 + np.abs(slopes[1:])))
    assert (band.upper.alpha[0], band.upper.beta[-1]) == (0, 0)


@pytest.mark.parametrize("claim", [ny.gdp, lambda e: ny.approx_dp(e, 0.01)], ids=["mu", "epsilon"])
def test_a_bound_is_the_parameter_that_the_band_refutes(claim):
    band = curve_band(*draws(gaussian(2), 4, 800))
    bound = band.mu() if claim is ny.gdp else band.epsilon(0.01)
    assert bound.value > 1
    assert band.refutes(claim(bound.value - 1e-6))
    assert not band.refutes(claim(bound.value + 1e-6))


def test_bounds_are_near_those_of_one_threshold_and_sharp_in_the_tails():
    values = [float(curve_band(*draws(gaussian(1), seed, 1000)).mu()) for seed in range(30)]
    assert np.mean(values) > 0.82
    # Nothing false in 2,000, and 2 % found: Massart's bound alone shows nothing.
    draw = np.random.default_rng(0)
    inside = (draw.random(20_000) < 0.02) + 0.0
    band = curve_band(inside, np.zeros(20_000))
    assert band.epsilon(1e-5).value > 2.5
    assert float(band.mu()) > 0.5 * float(mu(inside, np.zeros(20_000), seed=1)) > 0


def test_ties_infinite_scores_and_few_scores():
    assert float(curve_band([0.0] * 50, [0.0] * 50).mu()) == 0
    assert float(curve_band([1.0, 1.0], [0.0, 0.0]).mu()) == 0
    far = curve_band([np.inf] * 200, [-np.inf] * 300)
    assert 3 < float(far.mu()) < -2 * ndtri(1 / 300)
    same = curve_band([1.0] * 200, [-1.0] * 300)
    assert far.mu() == same.mu()
    assert (far.inside, far.outside) == (200, 300)


def test_a_monotone_function_of_the_scores_changes_nothing():
    inside, outside = draws(gaussian(1), 9, 200)
    assert curve_band(inside, outside).mu() == curve_band(np.exp(inside), np.exp(outside)).mu()
    assert float(curve_band(-inside, -outside).mu()) == 0


def test_what_is_no_claim_no_level_and_no_delta_is_refused():
    band = curve_band([1.0, 2.0], [0.0, 1.0])
    with pytest.raises(InvalidParameter, match="must be a guarantee"):
        band.refutes(1.0)
    with pytest.raises(InvalidParameter, match="delta must be in"):
        band.epsilon(1)
    with pytest.raises(InvalidParameter, match="level must be in"):
        curve_band([1.0, 2.0], [0.0, 1.0], level=0.6)
    with pytest.raises(InvalidParameter, match="at least 2 scores"):
        curve_band([], [0.0, 1.0])
    half = np.log(2 * np.pi) / 2
    estimate = ny.curves.densities(
        lambda x: -(x**2) / 2 - half, lambda x: -((x - 1) ** 2) / 2 - half, low=-9, high=9
    )
    with pytest.raises(NotCertified, match="proved bounds"):
        band.refutes(estimate)
    assert "at all thresholds at once: mu >= 0, at confidence 0.95" in str(band)
