"""The density of one coordinate where another one has a value: near the truth, or refused."""

import math

import numpy as np
import pytest

from neyman import functional
from neyman.errors import InvalidParameter
from neyman.functional import Box, Circle, DensityFunction, Interval

LINE = Interval(-4, 4, outside="clip")
FINE = {"domain": Box(LINE, LINE), "bandwidth": (0.08, 0.08), "target": functional.Scales()}
Y = np.linspace(-4, 4, 401)


def middle(x):
    return np.sin(2 * x)


def width(x):
    return 0.25 + 0.15 * np.abs(x)


def drawn(number, seed):
    """Return rows of a curve whose spread grows to both sides."""
    generator = np.random.default_rng(seed)
    x = generator.normal(0, 1, number).clip(-4, 4)
    return np.column_stack([x, middle(x) + width(x) * generator.normal(size=number)])


def truth(x, y=Y):
    return np.exp(-(((y - middle(x)) / width(x)) ** 2) / 2) / (width(x) * math.sqrt(2 * math.pi))


def lost(density, x):
    return float(((density(Y) - truth(x)) ** 2).mean() * 8)


@pytest.fixture
def curved(released_field):
    def made(number, seed, **declared):
        return DensityFunction(released_field(drawn(number, seed), seed=seed, **FINE | declared))

    return made


def test_a_conditional_density_is_nearer_than_that_of_a_plain_estimate(curved):
    """The mean of places where records are, of 2,000 at mu = 1."""
    from scipy.stats import gaussian_kde

    places = np.array([-1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5])
    own, plain = 0.0, 0.0
    for seed in range(3):
        f = curved(2_000, seed)
        estimate = gaussian_kde(drawn(2_000, seed).T)
        for x in places:
            own += lost(f.conditional(0, x), x)
            column = estimate(np.stack([np.full(Y.size, x), Y]))
            column /= column.sum() * (Y[1] - Y[0])
            plain += float(((column - truth(x)) ** 2).mean() * 8)
    assert own < 0.6 * plain


def test_where_records_are_few_it_is_smoothed_along_the_condition(curved):
    """At the edge of what is known nearer than a cut of the plane, whose noise stands there."""
    smoothed, cut = 0.0, 0.0
    for seed in range(4):
        f = curved(2_000, seed)
        for x in (-2.4, -2.2, 2.2, 2.4):
            smoothed += lost(f.conditional(0, x), x)
            column = f(np.column_stack([np.full(Y.size, x), Y]))
            column /= column.sum() * (Y[1] - Y[0])
            cut += float(((column - truth(x)) ** 2).mean() * 8)
    assert smoothed < 0.8 * cut


def test_where_records_are_many_it_is_the_cut_of_the_plane(curved):
    f = curved(100_000, 1)
    for x in (-0.51, 0.0, 0.7):
        column = f(np.column_stack([np.full(Y.size, x), Y]))
        step = f.steps[1]
        mass = f(np.column_stack([np.full(f.axes[1].size, x), f.axes[1]])).sum() * step
        np.testing.assert_allclose(f.conditional(0, x)(Y), column / mass, rtol=1e-6, atol=2e-3)


def test_it_is_a_density_with_a_mean_and_quantiles(curved):
    g = curved(20_000, 2).conditional(0, 0.6)
    assert g.sides == (LINE,)
    assert g.integral(-4, 4) == pytest.approx(1)
    assert g.mean() == pytest.approx(middle(0.6), abs=0.06)
    assert g.std() == pytest.approx(width(0.6), rel=0.2)
    low, high = g.ppf([0.25, 0.75])
    assert high - low == pytest.approx(1.349 * width(0.6), rel=0.2)
    assert functional.read(g.to_json())(0.5) == g(0.5)
    assert g.rvs(3, generator=np.random.default_rng(1)).shape == (3,)
    other = curved(20_000, 2).conditional(1, 0.9)
    assert other.mean() == pytest.approx(0.6, abs=0.35)


def test_around_a_circle_a_turn_more_is_the_same(released_field):
    generator = np.random.default_rng(1)
    hour = generator.normal(23, 1.5, 5_000)
    rows = np.column_stack(
        [hour % 24, 5 + np.cos(2 * np.pi * hour / 24) + generator.normal(0, 1, 5_000)]
    )
    box = Box(Circle(24), Interval(0, 10, outside="clip"))
    f = DensityFunction(released_field(rows, domain=box, bandwidth=(0.7, 0.3)))
    x = np.linspace(0, 10, 11)
    for value in (0.0, 23.5):
        g = f.conditional(0, value)
        assert g.integral(0, 10) == pytest.approx(1)
        np.testing.assert_allclose(g(x), f.conditional(0, value + 24)(x), atol=1e-9)
        assert g.mean() == pytest.approx(5 + math.cos(2 * math.pi * value / 24), abs=0.2)
    with pytest.raises(InvalidParameter, match="too few records"):
        f.conditional(0, 10.0)


def test_of_space_it_is_the_density_of_a_plane(released_field):
    rows = np.random.default_rng(1).normal((4, 6, 5), 1, (5_000, 3))
    line = Interval(0, 10, outside="clip")
    f = DensityFunction(released_field(rows, domain=Box(line, line, line), bandwidth=(0.5,) * 3))
    g = f.conditional(1, 6.0)
    assert g.integral((0, 0), (10, 10)) == pytest.approx(1)
    assert g.marginal(1).mean() == pytest.approx(5, abs=0.2)
    read = f.smooth((0.5, 0.6, 0.7)).conditional(2, 5.0)
    assert read.marginal(0).mean() == pytest.approx(4, abs=0.2)


def test_what_there_is_nothing_to_divide_by_is_refused(curved, released):
    f = curved(1_000, 1)
    with pytest.raises(InvalidParameter, match=r"too few records are near; write one such as 2\."):
        f.conditional(0, 3.9)
    with pytest.raises(InvalidParameter, match=r"write one in \[-4, 4\]"):
        f.conditional(0, 5.0)
    for axis in (2, -1, True, 0.5):
        with pytest.raises(InvalidParameter, match="axis"):
            f.conditional(axis, 0.0)
    for value in ("0", None, math.nan, math.inf, (0.0, 1.0)):
        with pytest.raises(InvalidParameter, match="value"):
            f.conditional(0, value)
    little = curved(60, 1, bandwidth=(0.3, 0.3))
    with pytest.raises(InvalidParameter, match="spend more"):
        little.conditional(0, 3.5)
    one = DensityFunction(released(np.zeros(500)))
    with pytest.raises(InvalidParameter, match="GroupedDensity"):
        one.conditional(0, 0.0)
