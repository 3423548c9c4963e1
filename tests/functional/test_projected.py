"""The nearest density: proper, nearer to the truth, with samples and quantiles."""

import json

import numpy as np
import pytest

from neyman import functional
from neyman.errors import InvalidParameter
from neyman.functional import Box, Circle, Interval, ProjectedDensity
from neyman.functional._densities._proper import nearest_masses


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
    exact = np.array(released(np.repeat(values, 10_000), mu=None).circle_density())
    for seed in range(10):
        f = released(values, seed=seed)
        g = f.project()
        x = np.linspace(-5, 5, 1001)
        assert g(x).min() >= 0
        assert np.trapezoid(g(g.points), g.points) == pytest.approx(1, abs=1e-12)
        inside = slice(0, f.basis.nodes)
        near = ((f.circle_density() - exact)[inside] ** 2).sum()
        assert near < ((f(f.project().points) - exact[inside]) ** 2).sum()


def test_mass_beyond_the_ends_is_folded_back(released):
    values = np.random.default_rng(1).uniform(0, 1, 200_000)
    f = released(values, domain=Interval(0, 1, outside="clip"), bandwidth=0.05, mu=None)
    assert f(0.0) == pytest.approx(0.5, rel=0.05)
    np.testing.assert_allclose(f.project()(np.linspace(0, 1, 51)), 1, atol=0.03)


def test_quantiles_invert_the_distribution_function(released, normal_values):
    for domain in (Interval(-5, 5, outside="clip"), Circle(10)):
        g = released(normal_values, domain=domain).project()
        q = np.linspace(0.001, 0.999, 997)
        x = g.quantile(q)
        assert (np.diff(x) >= 0).all()
        np.testing.assert_allclose(g.cdf(x), q, atol=1e-9)
    assert g.cdf([0.0, 10.0]).tolist() == [0, 1]
    assert g.quantile([0.0])[0] >= 0
    assert g.quantile([1.0])[0] <= 10
    with pytest.raises(InvalidParameter):
        g.quantile([1.1])
    with pytest.raises(InvalidParameter):
        g(float("nan"))
    assert g(11.0) == g(1.0)
    assert released(normal_values).project()([-5.01, 5.01]).tolist() == [0, 0]


@pytest.mark.shows("synthetic")
def test_samples_have_the_density_and_repeat_by_their_seed(released, normal_values):
    g = released(normal_values).project()
    draws = g.sample(100_000, np.random.default_rng(5))
    assert (draws == g.sample(100_000, np.random.default_rng(5))).all()
    # Kolmogorov's distance: above 0.01 has probability 2 exp(-2 n 0.01^2) = 4e-9.
    ordered = g.cdf(np.sort(draws))
    assert np.abs(ordered - (np.arange(100_000) + 0.5) / 100_000).max() < 0.01


def test_it_cannot_be_changed(released):
    g = released([0.0] * 1000).project()
    with pytest.raises(ValueError, match="read-only"):
        g.values[0] = 1


def test_nothing_is_beyond_the_upper_end():
    """Rounding left up to 2^-53 beyond it, in two of three such densities."""
    random = np.random.default_rng(0)
    bell = np.exp(-(np.linspace(-4, 4, 4097) ** 2) / 2) * 3.2
    unit = Interval(0, 1, outside="clip")
    for _ in range(50):
        values = nearest_masses(bell + random.normal(0, 0.02, bell.size), 4096.0)
        density = ProjectedDensity((unit,), (2.0**-12,), values)
        assert density.cdf([0.0, 1.0]).tolist() == [0, 1]


def test_of_one_side_it_is_kept_and_integrated_as_of_several(released, normal_values, tmp_path):
    for domain in (Interval(-5, 5, outside="clip"), Circle(10)):
        g = released(normal_values, domain=domain).project()
        again = functional.read(json.loads(json.dumps(g.to_json())), ProjectedDensity)
        functional.save(g, tmp_path / "g.npz")
        x = np.linspace(domain.start, domain.start + 10, 301)
        for same in (again, functional.load(tmp_path / "g.npz", ProjectedDensity), g.marginal(0)):
            assert (same(x) == g(x)).all()
            assert (same.quantile([0.1, 0.5]) == g.quantile([0.1, 0.5])).all()
        assert g.integral(domain.start, domain.start + 4) == pytest.approx(g.cdf(domain.start + 4))
        axes, values = g.grid(11)
        assert (values == g(axes[0])).all()
        assert g.masses().sum() == pytest.approx(1, abs=1e-12)


def test_of_several_sides_it_has_no_quantiles(released_field):
    g = released_field(np.random.default_rng(0).normal(5, 1, (1_000, 2))).project()
    for asked in (lambda: g.quantile(0.5), lambda: g.cdf(1.0), lambda: g.points):
        with pytest.raises(InvalidParameter, match=r"write \.marginal\(axis\)\."):
            asked()
    for wrong in (1.0, [1.0, 2.0, 3.0]):
        with pytest.raises(InvalidParameter, match=r"write shape \(\.\.\., 2\)"):
            g(wrong)
    turned = released_field(
        np.random.default_rng(0).normal(5, 1, (1_000, 2)), domain=Box(Circle(10), Circle(10))
    ).project()
    assert turned([11.0, 3.0]) == turned([1.0, 13.0]) == turned([1.0, 3.0])
    assert turned([np.inf, 3.0]) == 0
