"""Values outside of a domain are counted apart, for no more noise."""

import math

import numpy as np
import pytest

import neyman as ny
from neyman import functional
from neyman.errors import InvalidParameter
from neyman.functional import Box, DensityFunction, Interval, NoisyCount
from neyman.testing import SeededBits

ODD = [math.nan, math.inf, -math.inf, 1e308, -1e308, 5e-324, -0.0, 1.5, -1.5, 1.6, -1.6]


def ask(values, outside, neighbors="add_remove", **declared):
    declared = {"bandwidth": 0.1, "unit": "one row", "name": "x"} | declared
    domain = Interval(-1.5, 1.5, outside=outside)
    return functional.density(
        np.asarray(values, float), domain=domain, neighbors=neighbors, **declared
    )


def read(question, mu, seed=1):
    noise = ny.Gaussian(scale=1)
    if mu is not None:
        noise = ny.Gaussian.calibrate(question.sensitivity, mu=mu)
    noisy = noise.add_noise(question.compute(), SeededBits(seed))

    class Answer:
        query = question.query
        columns = question.reading.columns(noisy, noise, 0.95)

    return functional.function(Answer(), DensityFunction)


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
def test_counting_what_is_outside_takes_no_more_noise(neighbors):
    counted, dropped = (ask([0.0], outside, neighbors) for outside in ("count", "drop"))
    assert counted.sensitivity.l2_squared == dropped.sensitivity.l2_squared
    assert counted.size == dropped.size + 3


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
def test_no_record_moves_the_integers_further_wherever_it_is(neighbors):
    random = np.random.default_rng(0)
    places = np.concatenate([ODD, random.uniform(-1.5, 1.5, 40)])
    base = random.normal(size=30)
    one = ask(base, "count", neighbors)
    whole, moved = one.compute().astype(float), []
    for value in places:
        if neighbors == "add_remove":
            others = [np.append(base, value)]
        else:
            others = [np.append(base[1:], value)]
        for other in others:
            difference = ask(other, "count", neighbors).compute() - whole
            moved.append(float(difference @ difference))
    bound = float(one.sensitivity.l2_squared)
    assert max(moved) <= bound
    # One as far as it can be; the broken twin counts twice as much outside.
    if neighbors == "add_remove":
        assert max(moved) > 0.9999 * bound
        apart = ask(np.append(base, 9.0), "count", neighbors).compute() - whole
        assert 4 * float(apart[-3:] @ apart[-3:]) > bound


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
def test_what_is_outside_is_told_and_the_density_is_that_of_the_rest(neighbors):
    values = np.random.default_rng(1).normal(size=20_000)
    values[:7] = math.nan
    f = read(ask(values, "count", neighbors), 1.0)
    exact = [(values < -1.5).sum(), (values > 1.5).sum(), 7]
    assert len(f.outside) == 3
    for found, number in zip(f.outside, exact, strict=True):
        # Noise of a count that has the whole budget to itself.
        assert found.stddev == pytest.approx(1 if neighbors == "add_remove" else 2**0.5, rel=0.05)
        assert abs(found.count - number) < 7 * found.stddev
    inside = (np.abs(values) <= 1.5).sum()
    assert abs(f.count - inside) < 7 * max(f.count_sd, 2.5)
    share = math.erf(1.5 / math.sqrt(2))
    x = np.linspace(-1.5, 1.5, 31)
    truth = np.exp(-x * x / 2) / math.sqrt(2 * math.pi) / share
    # An atom at an end, which clipping makes, would be ten times as high.
    np.testing.assert_allclose(f(x), truth, atol=0.05)
    assert functional.read(f.to_json()) == f
    assert f.outside[0] == NoisyCount(f.outside[0].count, f.outside[0].stddev)


def test_values_that_are_dropped_or_clipped_are_not_told():
    for outside in ("drop", "clip"):
        assert read(ask([0.0, 9.0], outside), None).outside == ()


def test_only_a_density_of_one_column_counts_them():
    side = Interval(0, 1, outside="count")
    rows = np.zeros((3, 2))
    asked = {"neighbors": "add_remove", "unit": "one row", "name": "x", "bandwidth": 0.1}
    with pytest.raises(InvalidParameter, match='got "count"'):
        functional.density(rows, domain=Box(side, side), **asked | {"bandwidth": (0.1, 0.1)})
    with pytest.raises(InvalidParameter, match='got "count"'):
        functional.regression(rows[:, 0], rows[:, 1], domain=side, response=side, **asked)
    with pytest.raises(InvalidParameter, match="outside must be the rule"):
        Interval(0, 1, outside="refuse")
