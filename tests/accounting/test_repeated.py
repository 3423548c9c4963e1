"""The best of a random number of runs, against its law written out."""

import math
from collections import namedtuple
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import logsumexp

from neyman.accounting import from_dp_event, repeat_and_select
from neyman.accounting._repeated import log_inverse_gamma
from neyman.curves import approx_dp, discrete, gdp, identity, laplace, pure_dp, zcdp
from neyman.errors import InvalidParameter, UnsupportedComposition

SHAPES = [0.0, 0.5, 1.0, 3.0, math.inf]
RepeatAndSelect = namedtuple("RepeatAndSelectDpEvent", "event mean shape")
Gaussian = namedtuple("GaussianDpEvent", "noise_multiplier")


def generating(x, mean, shape):
    """Return E[x^K] by the definitions of the laws of K."""
    if shape == math.inf:
        return np.exp(mean * (x - 1))
    gamma = math.exp(-log_inverse_gamma(mean, shape))
    if shape == 0:
        return np.log(1 - (1 - gamma) * x) / math.log(gamma)
    return ((1 - (1 - gamma) * x) ** -shape - 1) / (gamma**-shape - 1)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("mean", [1.5, 4, 50])
def test_no_selection_loses_more_than_is_said(shape, mean):
    """Runs with three scores; the best of K, and nothing where K = 0, written out."""
    p, q = np.array([0.5, 0.3, 0.2]), np.array([0.3, 0.3, 0.4])
    run = discrete([Fraction(1, 2), Fraction(3, 10), Fraction(1, 5)], [0.3, 0.3, 0.4])
    bound = repeat_and_select(run, mean=mean, shape=shape)
    best = [
        np.diff(generating(np.append(0.0, np.minimum(np.cumsum(law), 1.0)), mean, shape))
        for law in (p, q)
    ]
    if shape == math.inf:
        best = [np.append(law, math.exp(-mean)) for law in best]
    assert best[0].sum() == pytest.approx(1)
    for order in (1.2, 2.0, 5.0, 40.0, 500.0):
        for one, other in (best, best[::-1]):
            logs = order * np.log(one) + (1 - order) * np.log(other)
            truth = logsumexp(logs) / (order - 1)
            assert truth <= bound.renyi(order) * (1 + 1e-12)


@pytest.mark.parametrize("shape", SHAPES[:-1])
@pytest.mark.parametrize("mean", [1.0, 1.001, 7.0, 1e6])
def test_the_halting_chance_gives_the_mean(mean, shape):
    x = log_inverse_gamma(mean, shape)
    spread = -math.expm1(-shape * x) / shape if shape else x
    assert mean <= math.expm1(x) / spread <= mean * (1 + 1e-11) + 1e-12


@pytest.mark.parametrize(
    ("shape", "rdp_accountant"),
    [(1.0, 4.3150722993888255), (0.0, 3.638537753049733), (0.5, 3.9977212299531684)],
)
def test_selection_agrees_with_the_accountant_of_the_authors(shape, rdp_accountant):
    """dp_accounting 0.6.0: the best of 10 runs of noise 2 on average, at delta = 1e-5."""
    found = from_dp_event(RepeatAndSelect(Gaussian(2.0), 10, shape), neighbors="add_remove")
    assert found == repeat_and_select(gdp(0.5), mean=10, shape=shape)
    answer = found.epsilon(1e-5, bracket=True)
    assert answer.of == "class"
    assert answer.upper == pytest.approx(rdp_accountant, rel=1e-3)


def test_poisson_repetitions_use_the_exact_profile():
    """Less than dp_accounting, whose delta comes from the divergences."""
    found = repeat_and_select(gdp(0.5), mean=10, shape=math.inf).epsilon(1e-5)
    assert 3.5 < found < 4.908152109911617
    assert repeat_and_select(zcdp(0.125), mean=10, shape=math.inf).epsilon(1e-5) > found


def test_one_run_is_itself_and_nothing_stays_nothing():
    assert repeat_and_select(identity(), mean=9, shape=1) == identity()
    once = repeat_and_select(laplace(1), mean=1, shape=1)
    for order in (1.5, 3.0, 20.0):
        extra = 2 * min(1.0, laplace(1).renyi(1 + 2.0**-5) / 33)
        assert laplace(1).renyi(order) <= once.renyi(order)
        assert once.renyi(order) <= laplace(1).renyi(order) * 1.05 + extra
    pure = repeat_and_select(pure_dp(1), mean=10, shape=1)
    assert pure.renyi(2000) <= 3.0 + 0.01


@pytest.mark.parametrize(
    "change", [{"mean": 0.5}, {"mean": math.nan}, {"shape": -1}, {"shape": "geometric"}]
)
def test_senseless_selections_are_refused(change):
    with pytest.raises(InvalidParameter):
        repeat_and_select(gdp(1), **{"mean": 3, "shape": 1, **change})


def test_a_run_that_may_fail_is_refused():
    with pytest.raises(UnsupportedComposition, match="cannot fail"):
        repeat_and_select(approx_dp(1, 1e-6), mean=3, shape=1)
