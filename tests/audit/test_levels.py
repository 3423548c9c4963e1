"""Soaks: false alarms of every test, misses of every bound, and how much they prove.

Levels that can be computed are computed. The rest is drawn: 5 % and 3.6 standard errors are
allowed, which one cell of a hundred tables exceeds by chance.
"""

from dataclasses import replace
from functools import lru_cache, partial

import numpy as np
import pytest
from scipy.special import betaincinv, ndtri

import neyman as ny
from attacks import LAWS, Law, gaussian
from bets import pairs_until
from neyman.audit import Counts, curve_band, mu, one_run
from neyman.audit._berk_jones import tail_bound
from neyman.audit._choice import Choice
from neyman.audit._joint import p_value
from neyman.audit._lower_bound import largest_refuted
from neyman.audit._massart import joint_deviation
from neyman.audit._null import Null
from neyman.audit._rule import learnt_for
from neyman.audit._scores import Scores
from neyman.audit._statistic import Statistic

SIZES = (50, 100, 1000, 10_000, 100_000)


def bar(runs: int, level: float = 0.05) -> float:
    return level + 3.6 * np.sqrt(level * (1 - level) / runs)


def errors(n: int, both: int) -> Statistic:
    """S of so many errors of n runs a side, whatever their kind, at the weight 1."""
    return Statistic(Counts(false_positives=0, outside=n, false_negatives=both, inside=n), 1.0)


def most_refuting(law: Law, n: int, level: float = 0.05) -> int:
    """Return the most errors, of both kinds together, that refute the claim; -1 for none."""
    null, low, high = Null(law.claim), -1, 2 * n
    while high - low > 1:
        middle = (low + high) // 2
        refuted = p_value(errors(n, middle), null, level).upper <= level
        low, high = (middle, high) if refuted else (low, middle)
    return low


@pytest.mark.soak
def test_the_level_of_a_fixed_rule_is_kept_exactly():
    """The law of FP + FN is a convolution: these are no estimates, and the bar is .05 itself."""
    for law in LAWS:
        x, y = (np.array([rate]) for rate in law.rates)
        row = []
        for n in SIZES:
            most = most_refuting(law, n)
            row.append(float(errors(n, most).chance(x, y)[0]) if most >= 0 else 0.0)
        print(f"exact {law.name}", *(f"{level:.4f}" for level in row), flush=True)
        assert max(row) <= 0.05
        assert row[3] > 0.04


@pytest.mark.soak
@pytest.mark.parametrize(("n", "runs"), [(100, 10_000), (1000, 3000)])
@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
def test_the_level_of_a_learnt_rule_is_kept(law, n, runs):
    null, choice = Null(law.claim), Choice(None, 1.0, None, 0)

    @lru_cache
    def refuted(statistic: Statistic) -> bool:
        return p_value(statistic, null, 0.05).upper <= 0.05

    alarms = 0
    for seed in range(runs):
        draw = np.random.default_rng(seed)
        scores = Scores(law.inside(draw, n), law.outside(draw, n))
        chosen = replace(choice, seed=seed).of(scores, partial(learnt_for, Null(law.claim)))
        alarms += refuted(chosen.rule.statistic(chosen.test))
    print(f"learnt {law.name} n={n}: {alarms / runs:.4f}", flush=True)
    assert alarms / runs <= bar(runs)


@pytest.mark.soak
@pytest.mark.parametrize("n", [50, 1000])
@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
def test_the_band_keeps_its_level_for_every_law(law, n):
    runs, x = 2000, np.linspace(0, 1, 201)
    low, alarms, under = Null(law.claim).ends(x)[1], 0, 0
    for seed in range(runs):
        draw = np.random.default_rng(seed)
        band = curve_band(law.inside(draw, n), law.outside(draw, n))
        alarms += band.refutes(law.claim)
        under += bool(np.any(np.interp(x, *band.lower) > low + 1e-9))
    print(f"band {law.name} n={n}: {alarms / runs:.4f} {under / runs:.4f}", flush=True)
    assert max(alarms, under) / runs <= bar(runs)


@pytest.mark.soak
@pytest.mark.parametrize("n", [50, 100, 1000, 10_000])
def test_both_parts_of_the_band_fail_as_often_as_they_may(n):
    """Of continuous scores, for which every part is at its worst, whatever the claim."""
    runs = 100_000 if n < 1000 else 10_000
    q, tails = joint_deviation(n, n, 0.04), tail_bound(n, 1 - np.sqrt(0.99))
    draw, missed = np.random.default_rng(n), np.zeros(3)
    k = np.arange(n) / n
    step = max(1, 2_000_000 // n)
    for start in range(0, runs, step):
        sides = [np.sort(draw.random((min(step, runs - start), n)), axis=1) for _ in range(2)]
        far = sum((side - k).max(axis=1) for side in sides) > q
        steep = np.any([(s[:, tails.counts] > tails.rates).any(axis=1) for s in sides], axis=0)
        missed += far.sum(), steep.sum(), (far | steep).sum()
    print(f"parts n={n}:", *(f"{one:.4f}" for one in missed / runs), flush=True)
    for found, level in zip(missed / runs, (0.04, 0.01, 0.05), strict=True):
        assert found <= bar(runs, level)
    assert missed[1] / runs > 0.0097 - 3.6 * np.sqrt(0.01 / runs)


@pytest.mark.soak
@pytest.mark.parametrize(("noise", "most"), [(0.5, 40), (0.8, 340), (0.9, 1700)])
def test_bets_refute_too_little_noise_after_few_pairs(noise, most):
    runs, pairs = 1000, 12 * most
    draw = np.random.default_rng(11)
    inside, outside = (draw.normal(shift, noise, (runs, pairs)) for shift in (1.0, 0.0))
    found = pairs_until(ny.gdp(1), inside, outside)
    spread = np.quantile(np.where(found > 0, found, pairs + 1), [0.5, 0.9])
    print(f"bets noise x{noise}: median {spread[0]:.0f}, 90 % {spread[1]:.0f}", flush=True)
    assert spread[0] <= most


@pytest.mark.soak
@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
def test_bets_keep_the_level_at_any_time(law):
    runs, pairs = 2000, 5000
    draw = np.random.default_rng(12)
    inside, outside = law.inside(draw, runs * pairs), law.outside(draw, runs * pairs)
    found = pairs_until(law.claim, inside.reshape(runs, pairs), outside.reshape(runs, pairs))
    print(f"bets {law.name}: {np.mean(found > 0):.4f}", flush=True)
    assert np.mean(found > 0) <= 0.055


def clopper_pearson_mu(n: int, fp: int, fn: int, level: float = 0.05) -> float:
    """Return the bound of two Clopper-Pearson bounds at half the level each."""
    x, y = (1.0 if k == n else betaincinv(k + 1, n - k, 1 - level / 2) for k in (fp, fn))
    return max(0.0, float(ndtri(1 - x) - ndtri(y)))


@pytest.mark.soak
@pytest.mark.parametrize(
    ("n", "size", "given", "learnt"),
    [(100, 1.0, 0.67, 0.6), (1000, 0.3, 0.2, 0.19), (1000, 1.0, 0.89, 0.88),
     (1000, 3.0, 2.82, 2.8), (10_000, 0.1, 0.068, 0.06), (10_000, 1.0, 0.96, 0.955)],
)  # fmt: skip
def test_bounds_prove_what_needs_two_and_a_half_times_the_runs_otherwise(n, size, given, learnt):
    runs, learns, law = 300, 100, gaussian(size)

    @lru_cache
    def joint(both: int) -> float:
        near = 0.02 / np.sqrt(n)
        return largest_refuted(errors(n, both), ny.gdp, level=0.05, most=40.0, tolerance=near)

    joints, pairs, by_learning, bands = [], [], [], []
    for seed in range(runs):
        draw = np.random.default_rng(seed)
        inside, outside = law.inside(draw, n), law.outside(draw, n)
        fp, fn = int(np.sum(outside > size / 2)), int(np.sum(inside <= size / 2))
        joints.append(joint(fp + fn))
        pairs.append(clopper_pearson_mu(n, fp, fn))
        if seed < learns:
            by_learning.append(float(mu(inside, outside, seed=seed)))
            bands.append(float(curve_band(inside, outside).mu()))
    means = [float(np.mean(column)) for column in (joints, pairs, by_learning, bands)]
    saved = ((size - means[1]) / (size - means[0])) ** 2
    print(
        f"mean n={n} mu={size}: given {means[0]:.4f}, pair {means[1]:.4f}, saved {saved:.2f}, "
        f"learnt {means[2]:.4f}, band {means[3]:.4f}; misses "
        f"{np.mean(np.array(joints) > size):.3f} {np.mean(np.array(by_learning) > size):.3f} "
        f"{np.mean(np.array(bands) > size):.3f}",
        flush=True,
    )
    assert means[0] >= given
    assert means[2] >= learnt
    assert saved >= 2.5
    assert np.mean(np.array(joints) > size) <= bar(runs)


@pytest.mark.soak
@pytest.mark.parametrize("size", [0.0, 0.5, 1.0])
def test_one_run_keeps_its_level_when_coins_are_thrown(size):
    runs, m, over = 1000, 1000, np.zeros(2)
    truth = ny.gdp(size).epsilon(1e-5) if size else 0.0
    for seed in range(runs):
        draw = np.random.default_rng(seed)
        coins = draw.integers(0, 2, m)
        found = one_run(
            scores=draw.normal(size=m) + size * coins, included=coins, delta=1e-5, seed=seed
        )
        over += found.epsilon > truth, found.mu > size
    print(f"one run mu={size}: {over[0] / runs:.4f} {over[1] / runs:.4f}", flush=True)
    assert max(over) / runs <= bar(runs)
