"""The best test: no test of its size has more power."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neyman.curves import (
    discrete,
    discrete_gaussian,
    errors_of_test,
    gdp,
    laplace,
    likelihood_ratio_test,
    poisson,
)
from neyman.errors import InvalidParameter

masses = st.lists(st.integers(1, 50), min_size=3, max_size=5)


@pytest.mark.shows("S0.4", "S1.4")
@pytest.mark.parametrize("f", [gdp(1), laplace(1), discrete_gaussian(2), poisson(gdp(1), 0.1)])
@pytest.mark.parametrize("size", [1e-6, 0.05, 0.6])
def test_power_is_that_of_the_curve(f, size):
    test = likelihood_ratio_test(f.remove, size=size)
    assert test.power == pytest.approx(f.remove.tpr(size), rel=1e-9)
    assert test.beta == pytest.approx(1 - test.power, abs=1e-12)


@pytest.mark.parametrize("size", [1e-6, 0.05, 0.6])
def test_the_gaussian_threshold_is_known(size):
    test = likelihood_ratio_test(gdp(1).remove, size=size)
    # L = z - 1/2, and rejection is z > Phi^-1(1 - size).
    assert gdp(1).remove.log_tails(np.asarray(test.threshold)).p_above == pytest.approx(
        np.log(size)
    )
    assert test.coin == 0
    assert test.p_value(test.threshold) == pytest.approx(size, rel=1e-9)


@pytest.mark.shows("S0.4")
@given(masses, masses, st.fractions(Fraction(1, 50), Fraction(49, 50)))
def test_a_coin_at_the_atom_makes_the_size_exact_and_nothing_beats_it(p, q, size):
    n = min(len(p), len(q))
    p = [Fraction(m, sum(p[:n])) for m in p[:n]]
    q = [Fraction(m, sum(q[:n])) for m in q[:n]]
    test = likelihood_ratio_test(discrete(p, q).remove, size=float(size))
    loss = np.log([float(b / a) for a, b in zip(p, q, strict=True)])
    phi = test.rejection(loss)
    weights = np.asarray([[float(m) for m in row] for row in (p, q)])
    assert weights[0] @ phi == pytest.approx(float(size), rel=1e-8)
    assert weights[1] @ phi == pytest.approx(test.power, rel=1e-8)
    rng = np.random.default_rng(n)
    other = rng.uniform(size=(200, n))
    other *= np.minimum(1.0, float(size) / (other @ weights[0]))[:, None]
    assert np.all(other @ weights[1] <= test.power + 1e-9)


def test_p_values_of_outcomes():
    f = discrete([0.5, 0.3, 0.2], [0.2, 0.3, 0.5])
    test = likelihood_ratio_test(f.remove, size=0.05)
    loss = np.log([0.4, 1.0, 2.5])
    assert test.p_value(loss) == pytest.approx([1.0, 0.5, 0.2], rel=1e-9)


@pytest.mark.shows("S0.2")
def test_errors_of_a_given_test_are_exact():
    found = errors_of_test([0.5, 0.3, 0.2], [0.2, 0.3, 0.5], [0, 0.5, 1])
    assert found == (Fraction(7, 20), Fraction(7, 20))
    # The two are told apart.
    found = errors_of_test([0.8, 0.2], [0.5, 0.5], [0, 0.25])
    assert found == (Fraction(1, 20), Fraction(7, 8))


@pytest.mark.parametrize(
    ("p", "q", "phi", "match"),
    [
        ([0.5, 0.5], [1], [0, 1], "must have the same length; got 2, 1 and 2"),
        ([0.5, 0.4], [0.5, 0.5], [0, 1], "adds up"),
        ([1.5, -0.5], [0.5, 0.5], [0, 1], "adds up"),
        ([0.5, 0.5], [0.5, 0.5], [0, 1.5], "leaves"),
    ],
)
def test_what_is_no_test_is_refused(p, q, phi, match):
    with pytest.raises(InvalidParameter, match=match):
        errors_of_test(p, q, phi)


@pytest.mark.parametrize("size", [0, 1, -0.1, float("nan")])
def test_sizes_outside_are_refused(size):
    with pytest.raises(InvalidParameter, match="size"):
        likelihood_ratio_test(gdp(1).remove, size=size)


def test_a_two_way_guarantee_has_no_one_test():
    with pytest.raises(InvalidParameter, match=r"f\.remove"):
        likelihood_ratio_test(gdp(1), size=0.05)
