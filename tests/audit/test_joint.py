"""The exact joint test: its law, its certified supremum, its level."""

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import binom

import neyman as ny
from neyman.audit._joint import p_value
from neyman.audit._null import Null
from neyman.audit._rule import Rule
from neyman.audit._scores import Scores
from neyman.audit._statistic import Counts, Statistic

CLAIMS = (
    ny.gdp(0.0),
    ny.gdp(0.3),
    ny.gdp(1),
    ny.gdp(3),
    ny.laplace(1),
    ny.randomized_response(1),
    ny.approx_dp(1, 1e-3),
    ny.poisson(ny.gdp(1), 0.1).remove,
    ny.poisson(ny.gdp(1), 0.1).add,
)


def statistic(fp: int, n0: int, fn: int, n1: int, weight: float) -> Statistic:
    counts = Counts(false_positives=fp, outside=n0, false_negatives=fn, inside=n1)
    return Statistic(counts, weight)


@pytest.mark.parametrize(
    ("n0", "n1", "weight"), [(20, 30, 1.0), (100, 7, 2.3), (300, 1000, 0.125), (1, 1, 1.0)]
)
def test_the_law_is_the_sum_over_both_binomials(n0, n1, weight):
    rates = np.array([0.0, 1e-9, 0.01, 0.3, 0.5, 0.97, 1.0])
    for fp, fn in ((0, 0), (n0 // 3, n1 // 2), (n0, 0), (0, n1), (n0, n1)):
        found = statistic(fp, n0, fn, n1, weight)
        x, y = (grid.ravel() for grid in np.meshgrid(rates, rates))
        k = np.arange(n0 + 1)
        most = np.floor(n1 * (found.observed - weight * k / n0) + 1e-9)
        exact = [
            np.sum(binom.pmf(k, n0, a) * binom.cdf(most, n1, b)) for a, b in zip(x, y, strict=True)
        ]
        chance = found.chance(x, y)
        assert np.all(chance >= np.array(exact) - 1e-15)
        np.testing.assert_allclose(chance, np.minimum(exact, 1), rtol=1e-8, atol=1e-12)


def test_the_windows_leave_out_less_than_is_added():
    for n in (5, 100, 10_000, 1_000_000):
        for rate in (1e-12, 1e-6, 1e-3, 0.1, 0.5):
            sd = np.sqrt(n * rate * (1 - rate))
            out = binom.cdf(np.floor(n * rate - 7.5 * sd - 20) - 1, n, rate)
            out += binom.sf(np.ceil(n * rate + 7.5 * sd + 19), n, rate)
            assert out < 1e-13, (n, rate)


def test_derivatives_are_those_of_the_law():
    found, h = statistic(30, 100, 40, 150, 1.3), 1e-6
    x, y = np.array([0.3]), np.array([0.35])
    tail = found.tail(x, y)
    assert tail.along_x == pytest.approx((found.chance(x + h, y) - found.chance(x - h, y)) / 2 / h)
    assert tail.along_y == pytest.approx((found.chance(x, y + h) - found.chance(x, y - h)) / 2 / h)


@pytest.mark.parametrize("claim", CLAIMS, ids=str)
def test_the_certified_supremum_is_above_every_point_of_the_null(claim):
    draw = np.random.default_rng(7)
    null = Null(claim)
    grid = np.concatenate([[0.0], ndtr(np.linspace(-6, 6, 3001)), [1.0]])
    heights = null.ends(grid)[1]
    for _ in range(5):
        n0, n1 = (int(n) for n in draw.integers(5, 600, 2))
        weight, x = 2.0 ** draw.uniform(-3, 3), draw.uniform(0, 0.6)
        y = min(float(null.ends(np.array([x]))[0][0]) * draw.uniform(0.5, 1.1), 1.0)
        found = statistic(int(draw.binomial(n0, x)), n0, int(draw.binomial(n1, y)), n1, weight)
        p = p_value(found, null)
        searched = found.chance(grid, np.minimum(heights, 1)).max()
        assert p.upper >= searched * (1 - 1e-9) - 1e-12
        assert p.upper - p.lower <= 2.01e-4
        assert p_value(found, null, level=0.05).upper in (p.upper, 1.0)


def test_a_p_value_of_a_few_nodes_alone_would_fall_short():
    """A twin without refinement is caught, so that the search above can fail."""
    null, missed = Null(ny.gdp(1)), 0
    nodes = np.concatenate([[0.0], ndtr(np.linspace(-5, 5, 8)), [1.0]])
    for errors in range(560, 660, 10):
        found = statistic(0, 1000, errors, 1000, 1.0)
        twin = found.chance(nodes, null.ends(nodes)[1]).max()
        missed += twin < p_value(found, null).lower - 1e-9
    assert missed > 3


@pytest.mark.parametrize(
    ("claim", "n"),
    [(c, n) for c in (ny.gdp(0.0), ny.gdp(0.3), ny.gdp(1), ny.gdp(3)) for n in (50, 1000)],
)
def test_the_level_is_exact_where_the_null_is_tight(claim, n):
    """P(p <= .05) for the fixed rule at the middle of the claim: computed, not drawn."""
    mu = float(claim.mu())
    x = float(ndtr(-mu / 2))
    null, low, high = Null(claim), -1, 2 * n
    while high - low > 1:
        middle = (low + high) // 2
        refuted = p_value(statistic(0, n, middle, n, 1.0), null).upper <= 0.05
        low, high = (middle, high) if refuted else (low, middle)
    level = statistic(0, n, low, n, 1.0).chance(np.array([x]), np.array([x]))[0] if low >= 0 else 0
    assert level <= 0.05
    if n == 1000:
        assert level > 0.035


def test_a_rule_counts_strictly_above_its_threshold_in_its_direction():
    scores = Scores(inside=np.array([1.0, 2.0, 3.0]), outside=np.array([0.0, 1.0, 2.0, np.inf]))
    up = Rule(threshold=1.0, direction=1).statistic(scores).counts
    assert (up.false_positives, up.false_negatives) == (2, 1)
    down = Rule(threshold=1.0, direction=-1).statistic(scores).counts
    assert (down.false_positives, down.false_negatives) == (1, 3)
