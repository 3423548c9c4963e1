"""What holds in spite of a fault, beside computations of another kind."""

import math

import numpy as np
import pytest
from scipy.stats import chi2

from neyman.accounting import dp_sgd, from_dp_event
from neyman.curves import gdp
from neyman.training._faults import Plan, _scale_advantage

PLAN = Plan(noise_multiplier=1.0, rate=0.04, steps=75, passes=3, delta=1e-5)


@pytest.mark.parametrize(("divisor", "draws"), [(1, 1), (10, 100), (62, 87_120)])
def test_the_scale_of_noise_tells_by_the_largest_gap_of_two_laws(divisor, draws):
    x = np.linspace(0, draws * 4 + 40, 400_001)
    gap = chi2.cdf(x * ((divisor + 1) / divisor) ** 2, draws) - chi2.cdf(x, draws)
    assert _scale_advantage(divisor, draws) == pytest.approx(gap.max(), abs=1e-5)


class MixtureOfGaussiansDpEvent:
    def __init__(self, standard_deviation, sensitivities, sampling_probs):
        self.standard_deviation = standard_deviation
        self.sensitivities, self.sampling_probs = sensitivities, sampling_probs


@pytest.mark.parametrize("batches", [1, 2, 3])
def test_a_record_is_in_merged_batches_a_binomial_number_of_times(batches):
    chances = [math.comb(batches, k) * 0.04**k * 0.96 ** (batches - k) for k in range(batches + 1)]
    merged = from_dp_event(
        MixtureOfGaussiansDpEvent(1.0, list(range(batches + 1)), chances), neighbors="add_remove"
    )
    held = PLAN.several_batches(batches).curve
    assert held.epsilon(1e-5) == pytest.approx((merged**75).epsilon(1e-5), rel=1e-6)
    once = PLAN.left_batch(batches, 1).curve
    mixed = merged @ dp_sgd(1.0, 0.04, 74)
    assert once.epsilon(1e-5) == pytest.approx(mixed.epsilon(1e-5), rel=1e-6)


def test_weaker_noise_is_less_noise():
    assert PLAN.weaker_noise(2.0, 1.0, "It").curve == dp_sgd(0.5, 0.04, 75)


def test_without_sampling_each_pass_is_a_step():
    assert PLAN.not_sampled("shuffled").curve == gdp(1) ** 3


def test_known_batches_lie_between_sampling_and_none():
    known = PLAN.same_seed((0, 1)).curve.epsilon(1e-5)
    assert PLAN.curve.epsilon(1e-5) < known < (gdp(1) ** 75).epsilon(1e-5)
