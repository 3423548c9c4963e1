"""The Gaussian below an exact composition: proved below, and hardly lower than need be."""

from fractions import Fraction

import numpy as np
import pytest

from neyman.tradeoff import approx_dp, gdp, laplace, poisson, pure_dp, tight_gaussian

BOUNDED = [
    laplace(0.1) ** 10,
    laplace(1) ** 2,
    laplace(1) ** 5,
    laplace(0.1) ** 4 @ laplace(0.5) @ laplace(Fraction(1, 3)),
    pure_dp(0.5) ** 4,
]


@pytest.mark.parametrize("curve", BOUNDED, ids=str)
def test_no_test_does_better_than_on_the_gaussian(curve):
    square = tight_gaussian(curve)
    assert square < curve.outer_gaussian() * Fraction(9, 10)
    most = float(curve.outer_pure())
    epsilon = np.linspace(-most * 1.01, most * 1.01, 801)
    above = gdp(squared=square).delta(epsilon, bracket=True).upper
    assert np.all(curve.delta(epsilon, bracket=True).lower <= above)
    # And a Gaussian of 1e-6 less is somewhere above.
    finer = np.linspace(0, most, 2001)
    less = gdp(squared=square * (1 - Fraction(1, 10**6))).delta(finer, bracket=True).upper
    assert np.any(curve.delta(finer, bracket=True).lower > less)


def test_gaussians_add_their_squares_beside():
    alone = tight_gaussian(laplace(0.1) ** 10)
    assert tight_gaussian(gdp(2) @ laplace(0.1) ** 10) == 4 + alone


@pytest.mark.parametrize(
    "curve", [gdp(1), gdp(0.5) ** 3, laplace(0.5), gdp(1) @ laplace(0.5)], ids=str
)
def test_what_has_one_bounded_factor_at_most_is_what_it_was(curve):
    assert tight_gaussian(curve) == curve.outer_gaussian()


@pytest.mark.parametrize("curve", [approx_dp(1, 1e-6) @ laplace(1) ** 2], ids=str)
def test_what_can_fail_has_none(curve):
    assert tight_gaussian(curve) is None


def test_sampled_gaussians_are_left_as_they_are():
    curve = poisson(gdp(1), 0.1) ** 10
    assert tight_gaussian(curve) == curve.outer_gaussian()
