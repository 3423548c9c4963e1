"""The Gaussian below an exact composition: proved below, and hardly lower than need be."""

import math
from fractions import Fraction

import numpy as np
import pytest

from neyman.curves import (
    Auto,
    Lattice,
    approx_dp,
    gdp,
    laplace,
    poisson,
    pure_dp,
    subsample,
)
from neyman.curves._algebra import _tight
from neyman.curves._algebra._tight import _settled
from neyman.numerics import gaussian_log_delta

BOUNDED = [
    laplace(0.1) ** 10,
    laplace(1) ** 2,
    laplace(1) ** 5,
    laplace(0.1) ** 4 @ laplace(0.5) @ laplace(Fraction(1, 3)),
    pure_dp(0.5) ** 4,
]


@pytest.mark.parametrize("curve", BOUNDED, ids=str)
def test_no_test_does_better_than_on_the_gaussian(curve):
    square = curve.tight_gaussian()
    assert square < curve.outer_gaussian() * Fraction(9, 10)
    most = float(curve.outer_pure())
    epsilon = np.linspace(-most * 1.01, most * 1.01, 801)
    above = gdp(squared=square).delta(epsilon, bracket=True).upper
    assert np.all(curve.delta(epsilon, bracket=True).lower <= above)
    # And a Gaussian of 1e-6 less is somewhere above.
    finer = np.linspace(0, most, 2001)
    less = gdp(squared=square * (1 - Fraction(1, 10**6))).delta(finer, bracket=True).upper
    assert np.any(curve.delta(finer, bracket=True).lower > less)


MIXED = [
    gdp(1) @ laplace(1),
    gdp(0.5) @ laplace(0.2) ** 10,
    gdp(0.1) @ laplace(0.1) @ laplace(0.05),
    gdp(3) @ pure_dp(1) ** 3,
]


@pytest.mark.parametrize("curve", MIXED, ids=str)
def test_noise_of_two_kinds_is_composed_exactly(curve):
    square = curve.tight_gaussian()
    assert square < curve.outer_gaussian() * Fraction(9, 10)
    # To where both are below 1e-250, on both sides.
    stop = min(30 * float(square) ** 0.5, 30.0)
    epsilon = np.linspace(-stop, stop, 1201)
    above = gdp(squared=square).delta(epsilon, bracket=True).upper
    assert np.all(curve.delta(epsilon, bracket=True).lower <= above)
    less = gdp(squared=square * (1 - Fraction(1, 10**6))).delta(epsilon, bracket=True).upper
    assert np.any(curve.delta(epsilon, bracket=True).lower > less)


MU = [
    (laplace(0.2) ** 25, 0.9722583),
    (laplace(0.1) ** 100, 0.9846196),
    (pure_dp(0.2) ** 25, 1.0092159),
    (laplace(1) @ gdp(1), 1.3520280),
    (laplace(1) ** 2, 1.3051121),
]


@pytest.mark.shows("S0.10")
@pytest.mark.parametrize(("curve", "mu"), MU, ids=lambda x: str(x)[:40])
def test_mu_of_a_composition_is_that_of_the_composition(curve, mu):
    """And the square of it is what a ledger charges; the sum of the squares is far above it."""
    lower, upper = curve.mu(bracket=True)
    assert lower <= upper <= lower * (1 + 1e-7)
    assert round(upper, 7) == mu
    assert upper**2 == pytest.approx(float(curve.tight_gaussian()), rel=1e-14)
    assert upper < 0.95 * float(curve.outer_gaussian()) ** 0.5


LATTICE = [laplace(3) ** 2, laplace(3) @ laplace(2), laplace(1) ** 2, laplace(0.1) ** 100]


@pytest.mark.parametrize("curve", LATTICE, ids=str)
def test_a_lattice_finds_the_same_mu(curve):
    """Few large losses are read by it alone; the others by the contour too."""
    by_lattice = curve.mu(solver=Lattice(0.001), bracket=True)
    assert by_lattice.lower <= by_lattice.upper <= by_lattice.lower * (1 + 1e-4)
    known = curve.mu(bracket=True)
    assert max(by_lattice.lower, known.lower) <= min(by_lattice.upper, known.upper)
    assert by_lattice.method == "lattice"
    epsilon = np.linspace(0, float(curve.outer_pure()), 801)
    above = gdp(squared=Fraction(by_lattice.upper) ** 2).delta(epsilon, bracket=True).upper
    assert np.all(curve.delta(epsilon, bracket=True).lower <= above)
    below = gdp(squared=Fraction(by_lattice.lower * (1 - 1e-4)) ** 2)
    assert np.any(
        curve.delta(epsilon, bracket=True).lower > below.delta(epsilon, bracket=True).upper
    )


def test_the_mu_of_few_large_losses_beside_a_gaussian_is_below_the_sum_of_all():
    curve = gdp(0.5) @ laplace(5) @ laplace(2)
    lower, upper = curve.mu(bracket=True)
    assert lower <= upper < 0.97 * float(curve.outer_gaussian()) ** 0.5


def test_a_sample_of_a_composition_has_no_larger_mu_than_the_composition():
    whole = laplace(0.5) ** 4
    assert poisson(whole, 0.1).mu() == whole.mu() < float(whole.outer_gaussian()) ** 0.5
    assert subsample(whole, 0.1).mu() == whole.mu()


def test_a_time_limit_leaves_what_a_ledger_charges_alone():
    curve = laplace(0.3) ** 7
    hurried = curve.mu(solver=Auto(seconds=0))
    assert hurried >= curve.mu() == curve.mu()
    assert curve.tight_gaussian() == Fraction(curve.mu()) ** 2


@pytest.mark.parametrize(("a", "most"), [(1.0, 1.0), (0.1, 0.5), (2.0, 3.0), (0.5, 0.05)])
def test_a_settled_tail_stays_below(a, most):
    """The inequality that is proved at one place, looked at beyond it."""
    for excess in (1.001, 1.05, 1.3, 2.0):
        mu = a * excess
        stops = (most + a * a / 2 + a) * 1.25 ** np.arange(30)
        settled = [float(stop) for stop in stops if _settled(a, most, mu, float(stop))]
        for stop in settled[:1]:
            epsilon = stop + np.geomspace(1e-6, 1e4, 2000)
            left = gaussian_log_delta(epsilon - most, np.asarray(a)).lower
            assert np.all(left <= gaussian_log_delta(epsilon, np.asarray(mu)).upper)
        assert settled or excess < 1.3
    assert not _settled(a, most, a, 600.0)


def test_where_no_tail_is_settled_the_squares_of_both_parts_are_added(monkeypatch):
    # As it is beside a Gaussian far larger than the rest; here without the search.
    monkeypatch.setattr(_tight, "_beside", lambda *_: (0.0, math.inf))
    alone = (laplace(0.1) ** 10).tight_gaussian()
    assert (gdp(2) @ laplace(0.1) ** 10).tight_gaussian() == 4 + alone


@pytest.mark.parametrize("curve", [gdp(1), gdp(0.5) ** 3, laplace(0.5), gdp(1) @ gdp(2)], ids=str)
def test_one_part_is_what_it_was(curve):
    assert curve.tight_gaussian() == curve.outer_gaussian()


@pytest.mark.parametrize("curve", [approx_dp(1, 1e-6) @ laplace(1) ** 2], ids=str)
def test_what_can_fail_has_none(curve):
    assert curve.tight_gaussian() is None


def test_sampled_gaussians_are_left_as_they_are():
    curve = poisson(gdp(1), 0.1) ** 10
    assert curve.tight_gaussian() == curve.outer_gaussian()


def test_a_mu_is_no_less_than_the_divergences_say():
    """G_mu obeys mu^2/2-zCDP, so that a training of unbounded losses has the mu of its noise."""
    f = poisson(gdp(1), 0.01) ** 1000
    lower, upper = f.mu(bracket=True)
    assert upper == pytest.approx(math.sqrt(1000))
    assert upper * (1 - 1e-9) <= lower <= upper
