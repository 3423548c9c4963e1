"""Noisy integers become columns in the declared order and the column's units."""

import math
from dataclasses import dataclass

import numpy as np
import pytest

from neyman.tables import Bounds, Count, Mean, Measured, Sum

BOUNDS = Bounds(-1, 3, grid=0.5)
COLUMN = Measured("x", BOUNDS)


@dataclass(frozen=True)
class Fixed:
    stddev: float = 2.0

    def half_width(self, confidence):
        return {0.95: 4, 0.5: 1}[confidence]

    def ratio_interval(self, numerator, denominator, confidence):
        if denominator <= 0:
            return -math.inf, math.inf
        width = self.half_width(confidence) / denominator
        return numerator / denominator - width, numerator / denominator + width


def test_counts():
    found = Count().reading(unit_rows=1).columns(np.array([3, -1]), Fixed(), 0.95)
    assert found == {
        "count": [3, -1],
        "stddev": [2.0, 2.0],
        "lower": [-1, -5],
        "upper": [7, 3],
    }
    assert Count().reading(unit_rows=1).columns(np.array([3]), Fixed(), 0.5)["upper"] == [4]


def test_sums_are_in_the_columns_units():
    found = Sum(COLUMN).reading(unit_rows=1).columns(np.array([3, -1]), Fixed(), 0.95)
    assert found == {
        "sum": [1.5, -0.5],
        "stddev": [1.0, 1.0],
        "lower": [-0.5, -2.5],
        "upper": [3.5, 1.5],
    }


def test_sums_beyond_double_precision_do_not_overflow():
    bounds = Bounds(-(10.0**250), 10.0**250, grid=10.0**250)
    found = (
        Sum(Measured("x", bounds)).reading(unit_rows=1).columns(np.array([2**62]), Fixed(), 0.95)
    )
    assert found["sum"] == [2**62 * 1e250]


@pytest.mark.shows("noise-interval")
def test_means():
    # Steps -2..6, centre 2 (1.0), weight 4; n = 10, s = 5 steps: mean (2 + .5) / 2.
    mean = Mean(COLUMN)
    assert (mean.centre, mean.weight) == (2, 4)
    found = mean.reading(unit_rows=1).columns(np.array([40, 5, -4, 3]), Fixed(), 0.95)
    assert found["mean"][0] == 1.25
    assert math.isnan(found["mean"][1])
    assert found["count"] == [10.0, -1.0]
    assert found["lower"][0] == pytest.approx((2 + 4 * (1 / 8 - 4 / 40)) / 2)
    assert found["upper"][0] == pytest.approx((2 + 4 * (1 / 8 + 4 / 40)) / 2)
    # Undefined: anything within the bounds.
    assert (found["lower"][1], found["upper"][1]) == (-1.0, 3.0)
    assert "stddev" not in found


def test_means_stay_inside_the_bounds():
    found = Mean(COLUMN).reading(unit_rows=1).columns(np.array([4, 400]), Fixed(), 0.95)
    assert (found["mean"], found["upper"]) == ([3.0], [3.0])


@pytest.mark.parametrize("statistic", [Count(), Sum(COLUMN), Mean(COLUMN)], ids=str)
def test_a_reading_has_the_promised_columns(statistic):
    width = len(statistic.components)
    noisy = np.ones(2 * width, dtype=np.int64)
    found = statistic.reading(unit_rows=1).columns(noisy, Fixed(), 0.95)
    assert list(found) == [*statistic.names]
    assert {len(column) for column in found.values()} == {2}


def test_the_weight_is_best_at_the_worst_mean():
    """var = sigma^2 (1 + (m/a)^2) / n^2, sigma^2 ~ a^2 + w^2, at m = w: smallest at a = w."""
    w = 120.0

    def worst(a):
        return (a**2 + w**2) * (1 + (w / a) ** 2)

    assert all(worst(w) <= worst(a) for a in np.linspace(1, 1000, 5000))
    assert worst(1) > 900 * worst(w) > 0
