"""Groups of pure DP tend to the Laplace curve (Dong, Roth and Su, 2022, proposition 2.15)."""

from fractions import Fraction

import numpy as np
import pytest

from neyman.curves import chain, compare, gdp, group, laplace, pure_dp, sup_distance

ALPHA = np.linspace(0, 1, 200_001)


def power_of_group(curve, size):
    """Return 1 minus the curve of groups of `size`: (1 - f) iterated."""
    rate = ALPHA
    for _ in range(size):
        rate = curve.tpr(rate)
    return rate


@pytest.mark.shows("S1.17", "e1.11")
@pytest.mark.parametrize(
    ("size", "distance"), [(1, 0.073), (2, 0.0241), (4, 0.0069), (10, 0.00119), (100, 1.24e-5)]
)
def test_groups_approach_laplace_from_below(size, distance):
    gap = power_of_group(pure_dp(Fraction(1, size)), size) - laplace(1).tpr(ALPHA)
    assert np.min(gap) >= -1e-12
    assert np.max(gap) == pytest.approx(distance, rel=0.01)


@pytest.mark.parametrize(
    ("size", "distance"),
    [
        (1, 0.073),
        (10, 0.00119),
        (100, 1.24e-5),
        *(pytest.param(*at, marks=pytest.mark.soak) for at in ((2, 0.0241), (4, 0.00688))),
    ],
)
def test_the_distance_of_chains_from_laplace_is_certified(size, distance):
    links = chain(*[pure_dp(Fraction(1, size))] * size)
    found = sup_distance(links, laplace(1))
    assert found.upper - found.lower <= 1e-9
    assert found.value == pytest.approx(distance, rel=0.005)
    if size <= 4:
        # The chain lies below: nowhere above by more than a shift of 1e-11.
        order = compare(links, laplace(1))
        assert order.above.value <= 1e-11
        assert 0 < order.below.lower < found.value
        assert not order.crossing


def test_the_rate_of_the_limit_is_quadratic():
    four, eight = (
        sup_distance(chain(*[pure_dp(Fraction(1, k))] * k), laplace(1)).value for k in (4, 8)
    )
    assert four / eight == pytest.approx(4, rel=0.1)


def test_unlike_links_make_a_group_and_do_not_commute():
    """T(P, R) >= g(1 - f), one link after the other."""
    f, g = gdp(1), pure_dp(1)
    at = np.linspace(0, 1, 11)
    one, other = chain(f, g).remove, chain(g, f).remove
    assert one.beta_bracket(at).lower == pytest.approx(g.beta(1 - f.beta(at)), abs=1e-12)
    assert other.beta_bracket(at).lower == pytest.approx(f.beta(1 - g.beta(at)), abs=1e-12)
    assert np.max(np.abs(one.beta_bracket(at).lower - other.beta_bracket(at).lower)) > 1e-3


@pytest.mark.shows("S0.14")
@pytest.mark.parametrize("size", [2, 5])
def test_groups_of_gaussians_are_gaussian(size):
    """mu-GDP is (k mu)-GDP for groups of k."""
    assert group(gdp(Fraction(1, 3)), size) == gdp(Fraction(size, 3))
    rate = power_of_group(gdp(Fraction(1, 3)), size)
    assert np.allclose(rate, gdp(Fraction(size, 3)).tpr(ALPHA), rtol=1e-10, atol=1e-12)
    assert np.all(rate >= gdp(Fraction(size, 3)).tpr_bracket(ALPHA).lower)
