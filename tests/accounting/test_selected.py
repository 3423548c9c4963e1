"""The best of a random number of runs by its profile, against its law written out."""

import math
from itertools import permutations, product

import numpy as np
import pytest

from neyman.accounting import dp_sgd, repeat_and_select, repeat_and_select_profile
from neyman.accounting._repeated import log_inverse_gamma
from neyman.curves import approx_dp, discrete, gdp, identity, laplace, pure_dp, zcdp
from neyman.errors import InvalidParameter

SHAPES = [0.0, 0.5, 1.0, 3.0, math.inf]
EPSILONS = [0.0, 0.2, 0.7, 1.3, 2.0, 3.5]
TRAINING = dp_sgd(1, 0.01, 1000)


def generating(s, mean, shape):
    """Return E s^K by the definitions of the laws of K."""
    if shape == math.inf:
        return np.exp(mean * (s - 1))
    gamma = math.exp(-log_inverse_gamma(mean, shape))
    if shape == 0:
        return np.log(1 - (1 - gamma) * s) / math.log(gamma)
    return ((1 - (1 - gamma) * s) ** -shape - 1) / (gamma**-shape - 1)


def selected(law, mean, shape):
    """Return the law of the best: outcomes from the lowest to the highest."""
    below = np.append(0.0, np.minimum(np.cumsum(law), 1.0))
    return np.append(np.diff(generating(below, mean, shape)), generating(0.0, mean, shape))


def lost(one, other, epsilon):
    return max(
        np.sum(np.maximum(a - np.exp(epsilon) * b, 0)) for a, b in ((one, other), (other, one))
    )


RUNS = [([32, 20, 11, 1], [20, 15, 25, 4]), ([50, 13, 1, 0], [32, 16, 16, 0]), ([63, 1], [56, 8])]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("mean", [1.25, 2, 6, 60])
@pytest.mark.parametrize("runs", RUNS, ids=str)
def test_no_order_of_the_outcomes_loses_more(runs, mean, shape):
    p, q = (np.asarray(law) / 64 for law in runs)
    kept = (p + q) > 0
    bound = repeat_and_select_profile(
        discrete(p[kept].tolist(), q[kept].tolist()), mean=mean, shape=shape
    )
    deltas = bound.delta(EPSILONS)
    for order in permutations(np.flatnonzero(kept)):
        best = [selected(law[list(order)], mean, shape) for law in (p, q)]
        for epsilon, delta in zip(EPSILONS, deltas, strict=True):
            assert lost(*best, epsilon) <= delta + 1e-13


def gaussian_selection(mu, mean, shape, epsilon, sign):
    """Return delta of the best of normal scores, by the midpoint rule."""
    z = np.linspace(-12, 16, 400_001)
    one, other = (np.exp(-((z - m) ** 2) / 2) for m in (0.0, sign * mu))
    one, other = (law / law.sum() for law in (one, other))
    return lost(selected(one, mean, shape), selected(other, mean, shape), epsilon)


@pytest.mark.parametrize("shape", SHAPES)
def test_normal_scores_lose_no_more(shape):
    bound = repeat_and_select_profile(gdp(0.5), mean=10, shape=shape)
    for epsilon in (0.0, 0.5, 1.0, 2.0, 3.0):
        truth = max(gaussian_selection(0.5, 10, shape, epsilon, sign) for sign in (1, -1))
        assert truth <= bound.delta(epsilon)


def test_the_integral_is_needed():
    """The twin: mean delta_f(epsilon) alone is less than what is lost."""
    p, q = np.asarray([32, 20, 11, 1]) / 64, np.asarray([20, 15, 25, 4]) / 64
    best = [selected(law, 60, math.inf) for law in (p, q)]
    assert lost(*best, 1.4) > 60 * discrete(p.tolist(), q.tolist()).delta(1.4)


@pytest.mark.parametrize("shape", [0, 0.5, 1, 3])
@pytest.mark.parametrize("mean", [2, 10, 1000])
def test_pure_runs_are_selected_at_two_and_shape_times_epsilon(mean, shape):
    found = repeat_and_select_profile(pure_dp(0.5), mean=mean, shape=shape).epsilon(0)
    assert found <= (2 + shape) * 0.5 * 1.01
    gamma = math.exp(-log_inverse_gamma(mean, shape))
    # Between: 1 - t = 0 is worst where gamma is 0; here by the formula at its best t.
    t = np.linspace(0, 1, 200_001)
    f = np.maximum(0, np.maximum(1 - math.exp(0.5) * t, math.exp(-0.5) * (1 - t)))
    ratio = ((gamma + (1 - gamma) * (1 - t)) / (gamma + (1 - gamma) * f)) ** (shape + 1)
    assert found == pytest.approx(0.5 + math.log(ratio.max()), rel=5e-3)
    assert found >= 0.5 + math.log(ratio.max()) - 1e-9


# Each mean and each shape with each Gaussian; a training, which takes longest, with one of them.
@pytest.mark.parametrize(
    ("run", "shape", "mean"),
    [
        *product([gdp(0.5), gdp(2)], [0, 1], [3, 100]),
        (TRAINING, 1, 100),
        *(pytest.param(TRAINING, *at, marks=pytest.mark.soak) for at in ((0, 3), (0, 100), (1, 3))),
    ],
    ids=str,
)
def test_it_is_less_than_by_divergences(run, shape, mean):
    by_profile = repeat_and_select_profile(run, mean=mean, shape=shape)
    by_moments = repeat_and_select(run, mean=mean, shape=shape)
    assert by_profile.epsilon(1e-5) < by_moments.epsilon(1e-5) - 0.2
    assert (by_profile**3).epsilon(1e-5) < (by_moments**3).epsilon(1e-5)
    assert by_profile.epsilon(1e-5) > run.epsilon(1e-5)


def test_runs_that_may_fail_do_so_mean_times_as_often():
    found = repeat_and_select_profile(approx_dp(0.5, 1e-9), mean=10, shape=1)
    assert found.delta(1.5) == pytest.approx(1e-8, rel=1e-6)
    assert found.epsilon(1e-9) == math.inf


def test_one_run_is_nearly_itself_and_nothing_stays_nothing():
    assert repeat_and_select_profile(identity(), mean=9, shape=1) == identity()
    once = repeat_and_select_profile(laplace(1), mean=1, shape=1)
    for epsilon in (0.0, 0.3, 0.9):
        assert laplace(1).delta(epsilon) <= once.delta(epsilon) <= laplace(1).delta(epsilon) + 1e-2
    answer = once.epsilon(1e-5, bracket=True)
    assert (answer.of, answer.lower) == ("class", 0)
    assert repeat_and_select_profile(zcdp(0.1), mean=3, shape=1).epsilon(1e-5) < 10


@pytest.mark.parametrize(
    "change", [{"mean": 0.5}, {"mean": 1e9}, {"mean": math.nan}, {"shape": -1}, {"shape": 200}]
)
def test_senseless_selections_are_refused(change):
    with pytest.raises(InvalidParameter):
        repeat_and_select_profile(gdp(1), **{"mean": 3, "shape": 1, **change})
