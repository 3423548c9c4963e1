"""Intervals hold what they say: of the noise always, of noise and sampling nearly.

Thousands of groups have the same rows, or rows of the same law, and noise of their own. Generators
are seeded, so that nothing here fails by chance; were they not, an interval that holds would be
refused once in 1e9 times.
"""

import math

import numpy as np
import pyarrow as pa
import pytest

import neyman as ny
from neyman.errors import InvalidParameter
from neyman.tables import (
    Bounds,
    Correlation,
    Count,
    Covariance,
    Keys,
    LinearRegression,
    Rows,
    Sum,
    Variance,
    open_table,
)
from neyman.testing import SeededBits

GROUPS = 3000
BOUNDS = {"x": Bounds(-60, 180, grid=1), "y": Bounds(-60, 180, grid=1)}
NOISES = ["gaussian", "laplace"]


def rows(n, seed=0):
    """Flights' delays, more or less: skewed, and of two correlated columns."""
    rng = np.random.default_rng(seed)
    x = np.clip(np.round(rng.gamma(0.7, 45, n) - 15), -60, 180)
    return x, np.clip(np.round(0.9 * x - 3 + rng.normal(0, 17, n)), -60, 180)


def opened(x, y, group=None):
    group = np.zeros(len(x), np.int64) if group is None else group
    return open_table(pa.table({"x": x, "y": y, "g": group}), unit=Rows(), bounds=BOUNDS, name="t")


def calibrated(noise, aggregate):
    if noise == "gaussian":
        return ny.Gaussian.calibrate(aggregate.sensitivity, mu=1)
    return ny.Laplace.calibrate(aggregate.sensitivity, epsilon=2)


def noisy(exact, noise, seed):
    return noise.add_noise(exact, SeededBits(seed))


def missed(low, high, truth):
    low, high = np.array(low), np.array(high)
    return int(np.sum((low > truth) | (high < truth)))


def allowed(chance, trials=GROUPS):
    return trials * chance + 6 * math.sqrt(trials * chance * (1 - chance))


def asked(table, which):
    x, y = table.measured("x"), table.measured("y")
    return {
        "variance": Variance(x),
        "covariance": Covariance(x, y),
        "correlation": Correlation(x, y),
        "regression": LinearRegression(y, (x,)),
    }[which]


def truths(x, y):
    slope, intercept = np.polyfit(x, y, 1)
    return {
        "variance": np.var(x),
        "covariance": np.cov(x, y, bias=True)[0, 1],
        "correlation": np.corrcoef(x, y)[0, 1],
        "intercept": intercept,
        "slope": slope,
    }


def repeated(which, noise, x, y, groups, seed=11):
    """Return the columns of one answer under fresh noise for each of so many groups."""
    table = opened(x, y)
    aggregate = table.aggregate(asked(table, which))
    law = calibrated(noise, aggregate)
    exact = np.tile(aggregate.compute(), groups)
    return aggregate.reading, law, noisy(exact, law, seed)


@pytest.mark.shows("noise-interval")
@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("n", [12, 60, 3000])
@pytest.mark.parametrize("which", ["variance", "covariance", "correlation"])
def test_noise_intervals_hold(which, noise, n):
    x, y = rows(n)
    reading, law, given = repeated(which, noise, x, y, GROUPS)
    found = reading.columns(given, law, 0.95)
    assert missed(found["lower"], found["upper"], truths(x, y)[which]) <= allowed(0.05)
    if which == "variance":
        ends = found["mean_lower"], found["mean_upper"]
        assert missed(*ends, np.mean(x)) <= allowed(0.05)
        ends = found["standard_deviation_lower"], found["standard_deviation_upper"]
        assert missed(*ends, np.std(x)) <= allowed(0.05)


@pytest.mark.parametrize("which", ["variance", "covariance", "correlation"])
def test_the_twin_that_thinks_of_a_third_of_the_noise_misses(which):
    x, y = rows(3000)
    reading, law, given = repeated(which, "gaussian", x, y, GROUPS)
    twin = ny.Gaussian(variance=law.variance / 9)
    found = reading.columns(given, twin, 0.95)
    assert missed(found["lower"], found["upper"], truths(x, y)[which]) > allowed(0.05)


@pytest.mark.shows("regression")
@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("n", [60, 3000])
def test_noise_intervals_of_a_regression_hold_together(noise, n):
    x, y = rows(n)
    groups, truth = 800, truths(x, y)
    reading, law, given = repeated("regression", noise, x, y, groups)
    found = reading.columns(given, law, 0.95)
    low, high = (np.array(found[end]).reshape(-1, 2) for end in ("lower", "upper"))
    exact = np.array([truth["intercept"], truth["slope"]])
    wrong = np.any((low > exact) | (high < exact), axis=1)
    assert np.sum(wrong) <= allowed(0.05, groups)
    if noise == "gaussian" and n == 3000:
        # To first order the noise is what `stddev` says, and half of it would not do.
        spread = np.std(np.array(found["estimate"]).reshape(-1, 2) - exact, axis=0)
        assert spread == pytest.approx(np.median(np.reshape(found["stddev"], (-1, 2)), 0), rel=0.1)
        twin = reading.columns(given, ny.Gaussian(variance=law.variance / 4), 0.95)
        low, high = (np.array(twin[end]).reshape(-1, 2) for end in ("lower", "upper"))
        assert np.sum(np.any((low > exact) | (high < exact), axis=1)) > allowed(0.05, groups)


def sampled(which, n, groups, seed=2):
    """Return an answer where each group is a sample of n rows of one law, and its noise."""
    x, y = rows(n * groups, seed)
    table = opened(x, y, np.repeat(np.arange(groups), n))
    aggregate = table.aggregate(asked(table, which), Keys({"g": list(range(groups))}))
    law = calibrated("gaussian", aggregate)
    return aggregate.reading.columns(noisy(aggregate.compute(), law, 12), law, 0.95)


@pytest.mark.shows("total-interval")
@pytest.mark.parametrize("n", [8, 40, 400])
def test_total_intervals_of_moments_hold_the_laws_own(n):
    groups = 20_000 // n + 300
    found = sampled("variance", n, groups)
    x, _ = rows(10**6, 99)
    for name, truth in (("", np.var(x)), ("mean_", np.mean(x))):
        ends = found[f"{name}total_lower"], found[f"{name}total_upper"]
        assert missed(*ends, truth) <= 0.06 * groups, name
        # Noise alone says nothing of the law.
        alone = missed(found[f"{name}lower"], found[f"{name}upper"], truth)
        assert alone > (0.2 * groups if n == 400 else 0), name


def test_a_regression_has_no_interval_for_a_population():
    """Such an interval needs residuals of one variance, or products of four columns."""
    assert not any("total" in name for name in asked(opened(*rows(40)), "regression").names)


@pytest.mark.parametrize("mean", [0.0, 0.7, 5.0, 300.0])
def test_total_intervals_of_poisson_counts_hold(mean):
    counts = np.random.default_rng(6).poisson(mean, GROUPS)
    for noise in (ny.Gaussian(scale=1), ny.Laplace(scale=2)):
        found = (
            Count(poisson=True).reading(unit_rows=1).columns(noisy(counts, noise, 4), noise, 0.95)
        )
        misses = missed(found["total_lower"], found["total_upper"], mean)
        assert misses <= allowed(0.05)
        if mean == 300:
            assert missed(found["lower"], found["upper"], mean) > GROUPS / 2


def test_a_poisson_count_is_the_same_question():
    assert Count(poisson=True).describe() == Count().describe()
    assert Count(poisson=True).names == (*Count().names, "total_lower", "total_upper")
    column = opened(*rows(3)).measured("x")
    with pytest.raises(InvalidParameter, match="Write bounds from 0"):
        Sum(column, poisson=True)


@pytest.mark.parametrize("which", ["variance", "covariance", "correlation", "regression"])
def test_integers_that_no_table_has_are_read_without_a_word(which):
    """Negative and huge counts, squares without sums, nothing at all: no warning, no crossing."""
    table = opened(*rows(3))
    statistic = asked(table, which)
    limits = np.array([component.limit for component in statistic.components])
    rng = np.random.default_rng(8)
    near = np.int64(limits * rng.integers(0, 40, (60, 1)) * rng.uniform(-1, 1, (60, len(limits))))
    near[:, 0] = np.abs(near[:, 0])
    wild = rng.integers(-(2**62), 2**62, (20, len(limits)))
    ends = np.array([[0], [2**62], [-(2**62)]]) * np.ones(len(limits), np.int64)
    given = np.concatenate([near, wild, ends]).reshape(-1)
    for law in (ny.Gaussian(scale=0.125), ny.Laplace(scale=1000), ny.Gaussian(scale=2**40)):
        found = statistic.reading(unit_rows=1).columns(given, law, 0.95)
        assert tuple(found) == statistic.names
        for name in ("", "total_", "mean_", "mean_total_", "standard_deviation_"):
            if f"{name}lower" in found:
                assert (np.array(found[f"{name}lower"]) <= found[f"{name}upper"]).all()
