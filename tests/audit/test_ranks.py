"""Thresholds at scores of fixed ranks: exact p-values, level, tails."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import beta, binom

import neyman as ny
from neyman.audit import epsilon
from neyman.audit._ranks import _Look, largest_by_rank
from neyman.audit._scores import Scores

DELTA = 1e-5


@pytest.mark.parametrize("eps", [0.0, 0.4, 3.0])
@pytest.mark.parametrize(
    ("rank", "size", "passed", "others"),
    [(1, 20, 15, 20), (3, 200, 30, 150), (9, 40, 40, 40), (81, 400, 200, 500), (1, 1, 1, 1)],
)
def test_a_p_value_is_the_integral_rounded_up(rank, size, passed, others, eps):
    f = ny.approx_dp(eps, DELTA)

    def chance(x):
        power = float(np.clip(f.tpr(x), 0, 1))
        return binom.sf(passed - 1, others, power) * beta.pdf(x, rank, size + 1 - rank)

    mean, sd = rank / (size + 1), beta.std(rank, size + 1 - rank)
    points = [max(mean - 4 * sd, 1e-9), mean, min(mean + 4 * sd, 1 - 1e-9)]
    exact = quad(chance, 0, 1, points=points, limit=400)[0]
    found = _Look(rank, size, passed, others, 0.0).p_value(eps, DELTA)
    assert found >= exact * (1 - 1e-6)
    assert found <= exact * 1.25 + 2e-9


def refuted(inside, outside, eps, level):
    scores = Scores(inside=inside, outside=outside)
    found = largest_by_rank(scores, 1, delta=0.0, level=level, most=eps, known=eps)
    return not np.isnan(found.threshold)


LAWS = {
    "laplace": lambda draw, n: draw.laplace(size=n),
    "ties": lambda draw, n: draw.geometric(1 - np.exp(-1), n) - draw.geometric(1 - np.exp(-1), n),
}


@pytest.mark.parametrize("name", LAWS)
def test_a_claim_that_is_tight_is_refuted_at_most_at_the_level(name):
    """Laplace noise and the discrete one, both 1-DP and tight; a test of a fifth, to see it."""
    draw, runs, alarms = np.random.default_rng(2), 120, 0
    for _ in range(runs):
        inside, outside = 1 + LAWS[name](draw, 60), LAWS[name](draw, 60)
        alarms += refuted(inside, outside, 1.0, 0.2)
    assert alarms <= binom.isf(1e-6, runs, 0.2)
    # A level that counted for each rank would be seen: the twin.
    twin = 0
    for _ in range(runs):
        inside, outside = draw.laplace(size=60), draw.laplace(size=60)
        twin += refuted(inside, outside, 0.0, 6 * 0.2)
    assert twin > binom.isf(1e-6, runs, 0.2)


def test_a_direction_that_is_turned_gives_the_same_bound():
    draw = np.random.default_rng(4)
    up = Scores(inside=draw.normal(2, 1, 90), outside=draw.normal(0, 1, 110))
    down = Scores(inside=-up.inside, outside=-up.outside)
    how = {"delta": DELTA, "level": 0.05, "most": 60.0, "known": 0.0}
    one, other = largest_by_rank(up, 1, **how), largest_by_rank(down, -1, **how)
    assert one.epsilon == other.epsilon > 1
    assert one.threshold == -other.threshold
    assert one.threshold in (*up.inside, *up.outside)


def test_tails_show_a_large_epsilon():
    """With n = 450 to test, mu = 3: the learnt rule alone shows 2.4 on average, both show 3.8."""
    found = []
    for seed in range(3):
        draw = np.random.default_rng(seed)
        found.append(float(epsilon(draw.normal(3, 1, 500), draw.normal(size=500), delta=DELTA)))
    assert 3.2 < np.mean(found) < ny.gdp(3).epsilon(DELTA)


def test_bounds_of_epsilon_keep_their_level():
    runs, over = 20, 0
    for seed in range(runs):
        draw = np.random.default_rng(seed)
        inside, outside = 1 + draw.laplace(size=50), draw.laplace(size=50)
        over += float(epsilon(inside, outside, delta=DELTA, seed=seed)) > 1
    assert over <= binom.isf(1e-6, runs, 0.05)
