"""Intervals of the mean and of quantiles hold as often as they say.

A share of draws is known to five standard deviations, passed by chance with probability 3e-7.
"""

import math

import numpy as np
import pytest

from neyman.errors import InvalidParameter
from neyman.functional import Circle, DensityFunction, Interval
from neyman.functional._densities._intervals import _distribution, _ratio, mean_interval

LEVEL = 0.9
DRAWS = pytest.mark.parametrize("draws", [60, pytest.param(400, marks=pytest.mark.soak)])
Q = np.array([0.02, 0.25, 0.5, 0.9])


def least(draws):
    return LEVEL - 5 * math.sqrt(LEVEL * (1 - LEVEL) / draws)


def rounded(n, random):
    return np.rint(random.normal(0, 3, n))


CASES = {
    "normal": (lambda n, r: r.normal(0, 1, n), Interval(-5, 5, outside="drop"), 0.1),
    "exponential": (lambda n, r: r.exponential(size=n), Interval(0, 8, outside="count"), 0.1),
    "uniform": (lambda n, r: r.random(n), Interval(0, 1, outside="clip"), 0.01),
    "whole numbers": (rounded, Interval(-12, 12, outside="clip"), 0.2),
}


def held(ends, truth):
    lower, upper = ends
    # A quantile that is an end of the domain, and rounding.
    return (np.asarray(lower) - 1e-9 <= truth) & (truth <= np.asarray(upper) + 1e-9)


def inside_of(domain, values):
    # As floats: a million comparisons of fractions take seconds.
    return values[(values >= float(domain.lower)) & (values <= float(domain.upper))]


def quantiles(values):
    return np.quantile(values, Q, method="inverted_cdf")


@pytest.mark.shows("functions")
@DRAWS
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_total_intervals_hold_what_records_are_drawn_from(released, case, draws):
    draw, domain, h = case
    everyone = inside_of(domain, draw(1_000_000, np.random.default_rng(0)))
    truth = np.append(everyone.mean(), quantiles(everyone))
    inside = np.zeros(truth.size)
    for seed in range(draws):
        values = draw(1000, np.random.default_rng([1, seed]))
        f = DensityFunction(released(values, seed=seed, domain=domain, bandwidth=h))
        inside[0] += held(f.mean_interval(LEVEL), truth[0])
        inside[1:] += held(f.quantile_interval(Q, LEVEL), truth[1:])
    assert (inside / draws >= least(draws)).all()


@DRAWS
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_noise_intervals_hold_what_these_records_have(released, case, draws):
    draw, domain, h = case
    values = draw(300, np.random.default_rng(2))
    kept = inside_of(domain, values)
    truth = np.append(kept.mean(), quantiles(kept))
    inside = np.zeros(truth.size)
    for seed in range(draws):
        f = DensityFunction(released(values, seed=seed, domain=domain, bandwidth=h))
        inside[0] += held(f.mean_interval(LEVEL, "noise"), truth[0])
        inside[1:] += held(f.quantile_interval(Q, LEVEL, "noise"), truth[1:])
    assert (inside / draws >= least(draws)).all()


@pytest.mark.soak
def test_intervals_without_sampling_are_caught(released):
    """The twin of the first test: noise intervals, taken for those of the population."""
    inside, draws = np.zeros(2), 40
    for seed in range(draws):
        values = np.random.default_rng([1, seed]).normal(0, 1, 1000)
        f = DensityFunction(released(values, seed=seed, mu=8.0, bandwidth=0.01))
        inside[0] += held(f.mean_interval(LEVEL, "noise"), 0.0)
        inside[1] += held(f.quantile_interval(0.5, LEVEL, "noise"), 0.0)
    assert (inside / draws < least(draws)).all()


def test_variances_are_those_of_the_noise(released):
    """Of 400 releases; a standard deviation is known to 3.5 %, and six and a half of these."""
    values = np.random.default_rng(3).exponential(size=2000)
    domain, z = Interval(0, 8, outside="drop"), 1.6448536269514722
    means, lengths, distributions = [], [], []
    for seed in range(400):
        raw = released(values, seed=seed, domain=domain, bandwidth=0.2)
        f = DensityFunction(raw)
        lower, upper = mean_interval(raw, f, 0.9, sampling=False)
        means.append((lower + upper) / 2)
        lengths.append((upper - lower) / (2 * z))
        distributions.append(_distribution(raw))
    assert abs(np.mean(lengths) / np.std(means) - 1) < 6.5 / math.sqrt(800)
    # Fieller's middle is a little off the estimate.
    assert abs(np.mean(means) - values[values <= 8].mean()) < 6.5 * np.std(means) / 20
    for share in (0.02, 0.1, 0.3, 0.6):
        at = int(share * distributions[0].x.size)
        one = distributions[0]
        count = raw.count_variance * (one.value[at] - one.level[at]) ** 2
        said = math.sqrt(float(one.variance[at]) + count)
        found = np.std([each.value[at] for each in distributions])
        assert abs(said / found - 1) < 6.5 / math.sqrt(800)


def test_what_is_shown_is_inside_and_ends_are_in_the_domain(released, normal_values):
    f = DensityFunction(released(normal_values[:50], mu=0.5))
    for kind in ("total", "noise"):
        lower, upper = f.mean_interval(0.5, kind)
        assert -5 <= lower <= f.mean() <= upper <= 5
        lower, upper = f.quantile_interval(np.linspace(0, 1, 21).reshape(3, 7), 0.5, kind)
        shown = f.ppf(np.linspace(0, 1, 21).reshape(3, 7))
        assert lower.shape == upper.shape == (3, 7)
        assert ((lower >= -5) & (lower <= shown) & (shown <= upper) & (upper <= 5)).all()


def test_intervals_grow_with_the_level_and_shrink_with_the_budget(released, normal_values):
    f = DensityFunction(released(normal_values))
    apart = [np.ptp(f.mean_interval(level)) for level in (0.5, 0.9, 0.99)]
    assert np.all(np.diff(apart) > 0)
    wide = [np.ptp(f.quantile_interval(0.3, level)) for level in (0.5, 0.9, 0.99)]
    assert np.all(np.diff(wide) > 0)
    costly = DensityFunction(released(normal_values, mu=8.0))
    assert np.ptp(costly.mean_interval(0.9, "noise")) < np.ptp(f.mean_interval(0.9, "noise")) / 2


def test_a_ratio_whose_count_may_be_0_is_unknown():
    assert _ratio(1.0, 1.0, 0.5, 2.0) == (-math.inf, math.inf)
    lower, upper = _ratio(2.0, 0.3, 0.01, 1.96)
    for m in (lower, upper):
        assert (2.0 - m) ** 2 == pytest.approx(1.96**2 * (0.3 + 0.01 * m * m))


def test_no_interval_is_of_an_unknown_kind_or_around_a_circle(released, normal_values):
    f = DensityFunction(released(normal_values[:100]))
    for wrong in ("density", None, 1):
        with pytest.raises(InvalidParameter, match="kind must name"):
            f.mean_interval(0.9, wrong)
        with pytest.raises(InvalidParameter, match="kind must name"):
            f.quantile_interval(0.5, 0.9, wrong)
    with pytest.raises(InvalidParameter, match="level"):
        f.mean_interval(1.0)
    with pytest.raises(InvalidParameter, match="q must be in"):
        f.quantile_interval([0.5, 1.5], 0.9)
    around = DensityFunction(released(normal_values[:100], domain=Circle(10)))
    with pytest.raises(InvalidParameter, match="on an interval"):
        around.mean_interval(0.9)
    with pytest.raises(InvalidParameter, match="on an interval"):
        around.quantile_interval(0.5, 0.9)
