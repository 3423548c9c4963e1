"""Pairs that are slow to read, and what composes of them."""

import math
from fractions import Fraction

import numpy as np
import pytest

from neyman.accounting import dp_sgd, shuffled
from neyman.curves import (
    TradeOff,
    approx_dp,
    best,
    bounded_range,
    gdp,
    laplace,
    mixture,
    piecewise,
    poisson,
    pure_dp,
    subsample,
    worst,
    zcdp,
)
from neyman.curves._algebra._factors import factors_of
from neyman.numerics import Span
from neyman.numerics._atomic._rounding import _end
from neyman.numerics._laws._laplace_law import LaplaceLaw

SLOW = [
    bounded_range(1, times=20) @ gdp(1),
    shuffled(2, reports=1000).curve.dominating() @ pure_dp(1),
    best(zcdp(0.1), gdp(1)) ** 2,
    poisson(best(zcdp(0.1), gdp(1)), Fraction(1, 10)) ** 2,
    # Some mass is at infinity on one side.
    piecewise([0, 0.3, 1], [0.9, 0.4, 0]) @ gdp(1),
]


@pytest.mark.parametrize("curve", SLOW, ids=str)
def test_what_is_slow_to_read_composes_all_the_same(curve):
    delta = curve.delta([0.0, 1.0], bracket=True)
    assert np.all((delta.lower <= delta.upper) & (delta.upper < 0.95))
    epsilon = curve.epsilon(1e-4, bracket=True)
    assert epsilon.lower <= epsilon.upper
    if curve.remove.of_class:
        return
    assert np.all(delta.upper - delta.lower <= 1e-3 * delta.upper)
    beta = curve.beta(0.05, bracket=True)
    assert beta.upper - beta.lower < 1e-3
    # No more is lost in the first factor alone, which has a formula.
    assert np.all(
        factors_of(curve.remove)[0][0].delta_bracket(np.array([0.0, 1.0])).lower <= delta.upper
    )


def test_a_best_within_another_pair_is_left_as_it_is():
    lone = TradeOff(gdp(1).remove, laplace(2).remove)
    curve = subsample(worst(lone, pure_dp(1)), 0.25) ** 2
    lower, upper = curve.delta(0.5, bracket=True)
    assert 0 < lower <= upper < 1


@pytest.mark.soak
def test_what_is_to_be_written_instead():
    together = best(bounded_range(1) ** 20 @ gdp(1), zcdp(2.5) @ gdp(1))
    assert together.delta(4) <= (gdp(bounded_range(1).mu()) ** 20 @ gdp(1)).delta(4)
    report = shuffled(2, reports=1000).curve.dominating()
    assert (approx_dp(report.epsilon(1e-6), 1e-6) @ gdp(1)).delta(1) >= gdp(1).delta(1)


def test_failures_still_factor_out():
    curve = shuffled(2, reports=1000).curve.dominating()
    failed = curve @ approx_dp(0, 1e-3)
    assert failed.delta(0.4) == pytest.approx(1e-3 + 0.999 * curve.delta(0.4), rel=1e-12)


@pytest.mark.parametrize("end", [1e-9, 0.3, 1.0, 1.5, 37.0, 799.0, 5000.0])
@pytest.mark.parametrize("reach", [800.0, 10.0, 1e-3])
def test_the_end_of_a_profile(end, reach):
    found = _end(lambda x: np.where(x < end, 0.0, -np.inf), reach, -760.0)
    assert min(end, reach) <= found <= 1.07 * min(end, reach)


def test_a_phase_that_no_panels_follow_is_not_known():
    law = LaplaceLaw(20.0, 0.5)
    nodes = law.prepared(Span(1.1, 2.0, 1e5))
    assert nodes.panels == 1
    _, error = nodes.line(1.5, np.linspace(0.0, 1e5, 9))
    assert np.all(np.isinf(error[1:]))
    assert (
        law.prepared(Span(1.1, 2.0, 30.0)).line(1.5, np.linspace(0.0, 30.0, 9)).error.max() < 1e-9
    )


def test_a_mixture_that_holds_a_training_is_sampled_and_composed():
    training = dp_sgd(noise_multiplier=1, sampling_probability=0.01, steps=1000)
    mixed = mixture([0.5, 0.5], [training, gdp(0.5)])
    sampled = poisson(mixed, 0.1)
    many = sampled**20
    lower, upper = many.epsilon(1e-5, bracket=True)
    assert 0 < upper <= lower * 1.001
    # Of either part alone less, or more, is lost.
    ends = [(poisson(f, 0.1) ** 20).epsilon(1e-5) for f in (training, gdp(0.5))]
    assert min(ends) <= upper
    assert lower <= max(ends)
    # Two of it are the same mixture of what is composed.
    pairs = [training**2, training @ gdp(0.5), gdp(0.5) ** 2]
    twice = mixture([0.25, 0.5, 0.25], pairs).epsilon(1e-5, bracket=True)
    found = (mixed**2).epsilon(1e-5, bracket=True)
    assert max(twice.lower, found.lower) <= min(twice.upper, found.upper)


@pytest.mark.parametrize(
    "curve",
    [
        pytest.param(
            mixture([0.5, 0.5], [gdp(0.5), poisson(gdp(1), 0.01) ** 100]), marks=pytest.mark.soak
        ),
        poisson(poisson(gdp(1), 0.01) ** 100, 0.1),
        pytest.param(best(poisson(gdp(1), 0.1), approx_dp(0.3, 1e-6)), marks=pytest.mark.soak),
        poisson(zcdp(0.1), 0.1),
    ],
    ids=str,
)
def test_few_questions_find_the_epsilon_of_what_is_slow_to_read(curve):
    delta = 1e-5
    found = curve.epsilon(delta, bracket=True)
    assert curve.delta(found.upper, bracket=True).upper <= delta * (1 + 1e-9)
    if found.of == "mechanism":
        assert found.upper <= found.lower * (1 + 1e-6) + 1e-9
        assert curve.delta(found.lower * (1 - 1e-9) - 1e-12, bracket=True).upper >= delta
    else:
        assert curve.delta(found.upper * (1 - 1e-6)) > delta
    assert list(curve.epsilon([0.0, 1.0])) == [math.inf, 0.0]


@pytest.mark.parametrize("size", [1e-12, 1e-3, 0.3, 0.999999])
def test_the_power_of_a_sample_seen_from_with_the_record_is_on_its_curve(size):
    base = mixture([0.5, 0.5], [gdp(0.5), laplace(0.5)])
    pair = poisson(base, 0.1).add
    lower, upper = pair.tpr(size, bracket=True)
    assert lower <= upper <= lower * (1 + 1e-9)
    # Seen from without it: the errors change places.
    back = poisson(base, 0.1).remove.beta(1 - lower, bracket=True)
    assert back.lower * (1 - 1e-9) - 1e-15 <= size <= back.upper * (1 + 1e-6) + 1e-9
