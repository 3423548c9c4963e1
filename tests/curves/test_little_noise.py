"""Noise far below the change of a record: answers on both sides, or at least finite ones."""

from fractions import Fraction

import numpy as np
import pytest

from neyman.accounting import dp_sgd
from neyman.curves import Auto, gdp, laplace, poisson, worst

# Another accountant's, on a grid: pessimistic and optimistic agree to these digits.
_KNOWN = {0.25: 43.16276, 0.2: 75.0970}


@pytest.mark.parametrize(
    "noise",
    [0.07, 0.13, 0.2, 0.25, *(pytest.param(x, marks=pytest.mark.soak) for x in (0.1, 0.15, 0.19))],
)
def test_epsilon_has_two_sides(noise: float) -> None:
    run = dp_sgd(noise_multiplier=noise, sampling_probability=0.01, steps=100)
    lower, upper = run.remove.epsilon(1e-5, bracket=True)
    assert 0 < lower <= upper <= lower * (1 + 1e-5)
    if noise in _KNOWN:
        assert lower == pytest.approx(_KNOWN[noise], rel=1e-6)


@pytest.mark.parametrize(
    "noise", [0.05, *(pytest.param(x, marks=pytest.mark.soak) for x in (0.01, 0.03))]
)
def test_too_little_for_lines_is_still_finite(noise: float) -> None:
    step = dp_sgd(noise_multiplier=noise, sampling_probability=0.01, steps=1)
    run = dp_sgd(noise_multiplier=noise, sampling_probability=0.01, steps=100)
    lower, upper = run.epsilon(1e-5, bracket=True)
    assert step.epsilon(1e-5, bracket=True).lower <= lower
    assert upper < gdp(10 / noise).epsilon(1e-5)
    assert run.tpr(0.01) <= 1
    least = step.delta(0.0, bracket=True).lower
    assert run.delta(0.0, bracket=True).lower >= least * (1 - 1e-14)


def test_few_steps_that_show_a_record_lose_what_one_of_them_shows() -> None:
    run = dp_sgd(noise_multiplier=0.01, sampling_probability=0.01, steps=9)
    seen = 1 - 0.99**9
    lower, upper = run.delta([0.0, 1.0], bracket=True)
    assert lower == pytest.approx(seen, rel=1e-9)
    assert upper == pytest.approx(seen, rel=1e-9)
    lower, upper = (run @ laplace(0.01)).remove.delta(0.0, bracket=True)
    assert seen * (1 - 1e-9) <= lower <= upper


@pytest.mark.soak
@pytest.mark.parametrize("size", [0.01, 0.2])
def test_a_test_of_any_size_finds_what_few_loud_steps_show(size: float) -> None:
    run = dp_sgd(noise_multiplier=0.01, sampling_probability=0.01, steps=9)
    seen = 1 - 0.99**9
    lower, upper = run.tpr(size, bracket=True)
    assert lower <= seen + size * (1 - seen) <= upper
    assert upper - lower < 0.02


@pytest.mark.soak
def test_views_of_loud_steps_hold_what_a_simulation_finds() -> None:
    run = poisson(gdp(10), 0.5) ** 2
    # Both records sampled or one: sampling shows, so the mean over the steps is nearly exact.
    solver = Auto(tolerance=0.01)
    lower, upper = run.delta([0.0, 1.0, 10.0], solver=solver, bracket=True)
    assert np.all(lower <= 0.7512)
    assert np.all(upper >= 0.7491)
    assert np.all(upper - lower < 0.01)
    lower, upper = run.tpr(0.01, solver=solver, bracket=True)
    assert 0.5 < lower <= upper < 0.8


def test_no_more_than_the_largest_loss() -> None:
    run = (poisson(laplace(20), 0.5) ** 5).add
    most = 5 * np.log(2)
    assert run.epsilon(1e-9, bracket=True).upper <= most * (1 + 1e-9)
    assert run.delta(most + 1e-6) == 0


def test_epsilon_of_the_worst_is_the_largest() -> None:
    run, other = dp_sgd(noise_multiplier=1, sampling_probability=0.01, steps=1000), gdp(0.4)
    for delta in (1e-9, 1e-5, 0.1):
        found = worst(run, other).epsilon(delta, bracket=True)
        parts = [f.epsilon(delta, bracket=True) for f in (run, other)]
        assert found.lower == max(part.lower for part in parts)
        assert found.upper == max(part.upper for part in parts)


@pytest.mark.parametrize(
    ("noise", "q"),
    [
        ("0.05", "1.5e-4"),
        ("0.0755", "0.01"),
        ("0.1", "0.998"),
        *(
            pytest.param(noise, q, marks=pytest.mark.soak)
            for noise in ("0.06", "0.07", "0.083", "0.09")
            for q in ("1.5e-4", "0.01", "0.998")
        ),
    ],
)
def test_one_replaced_record_is_seen_no_more_often_than_it_is_sampled(noise: str, q: str) -> None:
    """The total variation is at most q; where the loss is flat its zero has no one place."""
    step = dp_sgd(
        noise_multiplier=Fraction(noise),
        sampling_probability=Fraction(q),
        steps=1,
        neighbors="replace_one",
    )
    lower, upper = step.delta(0.0, bracket=True)
    assert lower <= upper <= float(q) * (1 + 1e-12)
    # The records are 10 standard deviations apart, but for the largest noise.
    assert lower >= float(q) * (1 - 1e-5)
    profile = step.delta(np.linspace(-1, 3, 81))
    assert np.all(np.diff(profile) <= 0)


@pytest.mark.parametrize("q", ["8.3e-13", "1e-9", "0.3"])
def test_a_small_rate_leaves_delta_its_digits(q: str) -> None:
    small = poisson(gdp(Fraction("0.0024")), Fraction(q))
    for pair in (small.remove, small.add):
        lower, upper = pair.delta(0.0, bracket=True)
        assert lower <= upper <= lower * (1 + 1e-9)
        assert upper == pytest.approx(float(q) * gdp(Fraction("0.0024")).delta(0.0), rel=1e-9)


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 100.0, 800.0, 1e300, np.inf])
@pytest.mark.parametrize("base", [gdp(1), laplace(3), laplace(1) ** 3], ids=str)
def test_beyond_the_largest_loss_of_a_sample_nothing_is_left(epsilon: float, base) -> None:
    pair = poisson(base, Fraction("0.1")).add
    assert epsilon > -np.log(0.9)
    assert pair.delta(epsilon) == 0
    assert pair.log_delta(epsilon) == -np.inf
