"""The density that is handed over: proper, nearer to the truth, with SciPy's methods."""

import json
import math

import numpy as np
import pytest

from neyman import functional
from neyman.errors import InvalidParameter
from neyman.functional import Box, Circle, DensityFunction, Interval, TabulatedDensity
from neyman.functional._densities._nearest import Table, nearest_masses


def test_the_projection_is_the_nearest_vector():
    random = np.random.default_rng(0)
    for _ in range(20):
        values = random.normal(size=30)
        found = nearest_masses(values, 2.0)
        assert found.min() >= 0
        assert found.sum() == pytest.approx(2, abs=1e-12)
        # Moving mass between two places, where there is some, only leads away.
        for i, j in random.integers(0, 30, (200, 2)):
            other = found.copy()
            step = min(0.01, other[i])
            other[i] -= step
            other[j] += step
            assert ((other - values) ** 2).sum() >= ((found - values) ** 2).sum() - 1e-12


def test_it_is_a_density_and_nearer_to_the_truth(released, normal_values):
    values = normal_values[:300]
    exact = DensityFunction(released(np.repeat(values, 10_000), mu=None)).smooth(0.25)
    for seed in range(10):
        f = released(values, seed=seed)
        g = DensityFunction(f).smooth(0.25)
        x = np.linspace(-5, 5, 1001)
        assert g(x).min() >= 0
        assert np.trapezoid(g(g.points), g.points) == pytest.approx(1, abs=1e-12)
        waves = g.reading.coefficients.on_places(g.shares)
        truth = exact(g.points)
        near, far = ((part - truth) ** 2 for part in (g.values, waves))
        # An end stands for half of what another place does.
        assert near.sum() - near[[0, -1]].sum() / 2 < far.sum() - far[[0, -1]].sum() / 2


def test_an_end_where_the_density_is_not_0_is_no_jump(released):
    values = np.random.default_rng(1).uniform(0, 1, 200_000)
    f = released(values, domain=Interval(0, 1, outside="clip"), bandwidth=0.05, mu=None)
    assert f(0.0) == pytest.approx(0.5, rel=0.05)
    x = np.linspace(0, 1, 51)
    np.testing.assert_allclose(DensityFunction(f).smooth(0.05)(x), 1, atol=0.03)
    np.testing.assert_allclose(DensityFunction(f)(x), 1, atol=0.01)


def test_quantiles_invert_the_distribution_function(released, normal_values):
    for domain in (Interval(-5, 5, outside="clip"), Circle(10)):
        g = DensityFunction(released(normal_values, domain=domain))
        q = np.linspace(0.001, 0.999, 997)
        x = g.ppf(q)
        assert (np.diff(x) >= 0).all()
        np.testing.assert_allclose(g.cdf(x), q, atol=1e-9)
    assert g.cdf([0.0, 10.0]).tolist() == [0, 1]
    assert g.ppf([0.0])[0] >= 0
    assert g.ppf([1.0])[0] <= 10
    with pytest.raises(InvalidParameter):
        g.ppf([1.1])
    with pytest.raises(InvalidParameter):
        g(float("nan"))
    assert g(11.0) == g(1.0)
    assert DensityFunction(released(normal_values))([-5.01, 5.01]).tolist() == [0, 0]


@pytest.mark.shows("synthetic")
def test_samples_have_the_density_and_repeat_by_their_seed(released, normal_values):
    g = DensityFunction(released(normal_values))
    draws = g.rvs(100_000, generator=np.random.default_rng(5))
    assert (draws == g.rvs(100_000, generator=np.random.default_rng(5))).all()
    # Kolmogorov's distance: above 0.01 has probability 2 exp(-2 n 0.01^2) = 4e-9.
    ordered = g.cdf(np.sort(draws))
    assert np.abs(ordered - (np.arange(100_000) + 0.5) / 100_000).max() < 0.01


def test_it_cannot_be_changed(released):
    g = DensityFunction(released([0.0] * 1000))
    with pytest.raises(ValueError, match="read-only"):
        g.values[0] = 1


def test_nothing_is_beyond_the_upper_end():
    """Rounding left up to 2^-53 beyond it, in two of three such densities."""
    random = np.random.default_rng(0)
    bell = np.exp(-(np.linspace(-4, 4, 4097) ** 2) / 2) * 3.2
    unit = Interval(0, 1, outside="clip")
    for _ in range(50):
        values = nearest_masses(bell + random.normal(0, 0.02, bell.size), 4096.0)
        density = TabulatedDensity(Table((unit,), (2.0**-12,), values))
        assert density.cdf([0.0, 1.0]).tolist() == [0, 1]


def test_of_one_side_it_is_kept_and_integrated_as_of_several(released, normal_values, tmp_path):
    for domain in (Interval(-5, 5, outside="clip"), Circle(10)):
        g = DensityFunction(released(normal_values, domain=domain))
        again = functional.read(json.loads(json.dumps(g.to_json())), DensityFunction)
        functional.save(g, tmp_path / "g.npz")
        x = np.linspace(domain.start, domain.start + 10, 301)
        for same in (again, functional.load(tmp_path / "g.npz", DensityFunction), g.marginal(0)):
            assert (same(x) == g(x)).all()
            assert (same.ppf([0.1, 0.5]) == g.ppf([0.1, 0.5])).all()
        assert g.integral(domain.start, domain.start + 4) == pytest.approx(g.cdf(domain.start + 4))
        axes, values = g.grid(11)
        assert (values == g(axes[0])).all()
        assert g.masses().sum() == pytest.approx(1, abs=1e-12)


def test_of_several_sides_it_has_no_quantiles(released_field):
    g = DensityFunction(released_field(np.random.default_rng(0).normal(5, 1, (1_000, 2))))
    for asked in (lambda: g.ppf(0.5), lambda: g.cdf(1.0), lambda: g.points):
        with pytest.raises(InvalidParameter, match=r"Write \.marginal\(axis\)\."):
            asked()
    for wrong in (1.0, [1.0, 2.0, 3.0]):
        with pytest.raises(InvalidParameter, match=r"must have shape \(\.\.\., 2\)"):
            g(wrong)
    turned = DensityFunction(
        released_field(
            np.random.default_rng(0).normal(5, 1, (1_000, 2)), domain=Box(Circle(10), Circle(10))
        )
    )
    assert turned([11.0, 3.0]) == turned([1.0, 13.0]) == turned([1.0, 3.0])
    assert turned([np.inf, 3.0]) == 0


def test_its_moments_are_those_of_the_density(released, normal_values):
    g = DensityFunction(released(normal_values + 0.5))
    x = np.linspace(-5, 5, 200_001)
    f = g(x)
    mean = np.trapezoid(x * f, x)
    assert g.mean() == pytest.approx(mean, abs=1e-6)
    assert g.var() == pytest.approx(np.trapezoid((x - mean) ** 2 * f, x), abs=1e-6)
    assert g.std() == pytest.approx(math.sqrt(g.var()))
    logs = np.where(f > 0, np.log(np.where(f > 0, f, 1.0)), 0.0)
    assert g.entropy() == pytest.approx(-np.trapezoid(f * logs, x), abs=1e-4)
    assert g.mode() == pytest.approx(0.5, abs=0.2)
    assert g.median() == g.ppf(0.5)
    np.testing.assert_allclose(g.sf(x), 1 - g.cdf(x))
    assert (g.pdf(x) == f).all()
    np.testing.assert_allclose(np.exp(g.logpdf(x[f > 0])), f[f > 0], rtol=1e-12)


def test_a_circle_has_no_mean(released, normal_values):
    g = DensityFunction(released(normal_values, domain=Circle(10)))
    for asked in (g.mean, g.var, g.std):
        with pytest.raises(InvalidParameter, match="depends on where the circle is cut"):
            asked()
    assert g.mode() == pytest.approx(0, abs=0.5) or g.mode() == pytest.approx(10, abs=0.5)


def test_it_is_what_a_release_is_handed_over_as(released, normal_values):
    f = released(normal_values)
    again = functional.read(DensityFunction(f).to_json())
    assert again == DensityFunction(f)
    assert again.raw == f
    smooth = DensityFunction(f).smooth(0.5)
    assert functional.read(smooth.to_json()) == smooth
    with pytest.raises(InvalidParameter, match="bandwidth must be in"):
        DensityFunction(f).smooth(0.1)
