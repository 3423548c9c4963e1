"""Heaps keep their masses."""

import numpy as np
import pytest

from neyman.functional import Circle, DensityFunction, Interval, TabulatedDensity
from neyman.functional._densities._monotone import monotone_density

PLACES = np.arange(0, 41)
MASSES = np.exp(-0.5 * ((PLACES - 15) / 8) ** 2) * np.where(PLACES % 5, 1.0, 3.0)
MASSES /= MASSES.sum()
EDGES = np.clip(np.arange(-0.5, 41), 0, 40)


def of_heaps(released, **declared):
    values = np.random.default_rng(4).choice(PLACES, 20_000, p=MASSES).astype(float)
    declared = {"domain": Interval(0, 40, outside="clip"), "bandwidth": 0.1} | declared
    return values, DensityFunction(released(values, **declared))


@pytest.mark.shows("functions")
def test_a_heap_has_the_mass_of_its_records(released):
    """Noise of a mass at mu = 1 is some 4 records of 20,000; 0.002 is ten of its deviations."""
    values, f = of_heaps(released)
    assert f.unresolved is not None
    shares = np.bincount(values.astype(int), minlength=41) / values.size
    found = np.diff(f.cdf(EDGES))
    assert np.abs(found - shares).max() < 0.002
    middles = np.cumsum(shares) - shares / 2
    assert np.abs(f.ppf(middles[1:30]) - PLACES[1:30]).max() < 0.25


def test_the_nearest_density_moves_mass_between_heaps(released):
    """The twin: what is nearest in the mean square over the domain fails the first test."""
    values, f = of_heaps(released)
    shares = np.bincount(values.astype(int), minlength=41) / values.size
    nearest = TabulatedDensity(f.reading.proper(f.shares))
    assert np.abs(np.diff(nearest.cdf(EDGES)) - shares).max() > 0.004


def test_a_smooth_column_is_read_as_the_nearest_density(released, normal_values):
    f = DensityFunction(released(normal_values))
    assert f.unresolved is None
    other = monotone_density(f.sides[0], f.reading.coefficients.on_places(f.shares))
    assert not np.array_equal(f.values, other.values)


@pytest.mark.parametrize(
    "side", [Interval(0, 40, outside="clip"), Circle(40)], ids=["line", "circle"]
)
def test_it_is_a_density_and_nothing_changes_what_is_one(side):
    x = np.linspace(0, 40, 401)
    proper = 1 + np.cos(np.pi * x / 20)
    proper /= 40
    table = monotone_density(side, proper)
    np.testing.assert_allclose(table.values, proper, atol=1e-4)
    wild = proper + np.sin(np.pi * x) / 10
    table = monotone_density(side, wild)
    assert (table.values >= 0).all()
    assert np.trapezoid(table.values, x) == pytest.approx(1, abs=1e-12)
    if side.closed:
        assert table.values[0] == table.values[-1]


def test_heaps_around_a_circle_keep_their_masses_too(released):
    values = np.random.default_rng(5).choice(24, 20_000).astype(float)
    f = DensityFunction(released(values, domain=Circle(24), bandwidth=0.1))
    assert f.unresolved is not None
    shares = np.bincount(values.astype(int), minlength=24) / values.size
    found = np.diff(f.cdf(np.arange(24) + 0.5))
    assert np.abs(found - shares[1:]).max() < 0.002


@pytest.mark.parametrize("kind", ["density", "total", "noise"])
def test_bands_hold_what_is_handed_over(released, kind):
    for seed in range(5):
        _, f = of_heaps(released, seed=seed)
        band = f.band(0.95, kind)
        assert np.array_equal(band.estimate, f(band.x))
        assert (band.lower <= f(band.x)).all()
        assert (f(band.x) <= band.upper).all()
