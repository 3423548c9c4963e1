"""The second direction is asked no more than what it takes."""

import numpy as np
import pytest

from neyman.accounting import dp_sgd
from neyman.curves import gdp, laplace, poisson
from neyman.curves._solvers._exact import contour_of
from neyman.curves._solvers._read import read
from neyman.curves._solvers._view import LOG_DELTA


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 5.0])
def test_what_is_proved_to_be_enough_is_above_the_truth(epsilon: float) -> None:
    pair = (poisson(gdp(1), 0.01) ** 1000 @ laplace(0.2)).add
    at = np.asarray([epsilon])
    truth = pair.log_delta_bracket(at)
    for margin in (-1.0, -1e-3, 0.5, 3.0, 30.0):
        enough = truth.upper + margin
        found = read(pair, LOG_DELTA, at, enough)
        assert found.upper[0] >= truth.lower[0]
        if margin < 0:
            np.testing.assert_allclose(found.upper, truth.upper, rtol=1e-12)
        if margin > 10:
            assert found.upper[0] <= enough[0]


def test_both_directions_together_are_the_larger_of_each_by_itself() -> None:
    for f in (
        dp_sgd(noise_multiplier=1, sampling_probability=0.01, steps=1000),
        dp_sgd(noise_multiplier=20, sampling_probability=0.2, steps=100_000).swap(),
    ):
        delta = np.asarray([1e-5])
        both = f.epsilon_bracket(delta)
        each = [pair.epsilon_bracket(delta) for pair in (f.remove, f.add)]
        assert both.upper[0] >= max(part.lower[0] for part in each)
        assert both.lower[0] <= max(part.upper[0] for part in each)
        assert both.upper[0] - both.lower[0] < 1e-9


def test_the_first_tail_alone() -> None:
    pair, t = (poisson(gdp(1), 0.01) ** 1000).remove, np.asarray([0.0, 0.7])
    first, known = contour_of(pair).p_above_bracket(t), np.exp(pair.log_tails(t).p_above)
    assert np.all(first.lower <= known)
    assert np.all(known <= first.upper)
    np.testing.assert_allclose(first.upper, first.lower, rtol=1e-9)
