"""The worst and the best of two guarantees, and mixtures."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest

from neyman.curves import best, gdp, identity, laplace, mixture, poisson, pure_dp, worst
from neyman.curves._algebra._group import poisson_replace
from neyman.errors import InvalidParameter, RelationMismatch

X = np.array([-2.0, -0.5, 0.0, 0.3, 0.8, 2.0])
ALPHA = np.array([0.0, 0.01, 0.1, 0.3, 0.5, 0.9, 1.0])
F_, G = gdp(1), pure_dp(1)


def test_the_worst():
    curve = worst(F_, G)
    np.testing.assert_array_equal(curve.delta(X), np.maximum(F_.delta(X), G.delta(X)))
    found = curve.beta(ALPHA, bracket=True)
    assert np.all(found.upper <= np.minimum(F_.beta(ALPHA), G.beta(ALPHA)) + 1e-12)
    # The hull lies strictly below where the curves cross.
    below = np.minimum(F_.beta(ALPHA), G.beta(ALPHA)) - found.lower
    assert np.max(below) > 1e-3
    grid = np.linspace(0, 1, 101)
    beta = curve.beta(grid)
    assert np.all(np.diff(beta, 2) >= -1e-10)
    assert curve.epsilon(1e-5) == pytest.approx(F_.epsilon(1e-5), rel=1e-13)


def test_the_best():
    curve = best(F_, G)
    np.testing.assert_array_equal(curve.beta(ALPHA), np.maximum(F_.beta(ALPHA), G.beta(ALPHA)))
    found = curve.delta(X, bracket=True)
    assert np.all(found.upper <= np.minimum(F_.delta(X), G.delta(X)))
    assert np.all(found.lower <= found.upper)
    # By definition, on a fine grid.
    grid = np.linspace(0, 1, 20_001)
    shown = np.max(1 - curve.beta(grid) - np.exp(X)[:, None] * grid, axis=1)
    assert np.all(shown <= found.upper + 1e-12)
    # At kinks the grid misses by its spacing.
    assert np.all(found.lower <= shown + 1e-5)
    assert np.all(found.upper - found.lower <= 1e-10)
    assert curve.mu() == 1
    assert curve.delta(1) == 0


def test_laws_of_the_lattice():
    assert worst(F_, F_) == F_ == best(F_, F_)
    assert worst(F_, G) == worst(G, F_)
    assert worst(worst(F_, G), laplace(1)) == worst(F_, worst(G, laplace(1)))
    assert best(F_, G) == best(G, F_)
    assert worst(identity(), gdp(1)).delta(0.5) == gdp(1).delta(0.5)


def test_the_mixture_is_the_mean_of_deltas():
    curve = mixture([Fraction(1, 4), Fraction(3, 4)], [gdp(1), laplace(Fraction(1, 2))])
    mean = (gdp(1).delta(X) + 3 * laplace(0.5).delta(X)) / 4
    np.testing.assert_allclose(curve.delta(X), mean, rtol=1e-13)
    assert np.all(curve.delta(X, bracket=True).lower <= mean)


def test_the_mixture_has_one_slope():
    parts = (gdp(1), gdp(Fraction(1, 2)))
    curve = mixture([Fraction(1, 4), Fraction(3, 4)], parts)
    for t in (-1.0, 0.2, 1.0):
        # Levels at which both best tests have the threshold t.
        tails = [part.remove.log_tails(np.asarray(t)) for part in parts]
        level = sum(w * np.exp(x.p_above) for w, x in zip((0.25, 0.75), tails, strict=True))
        missed = sum(w * np.exp(x.q_below) for w, x in zip((0.25, 0.75), tails, strict=True))
        found = curve.beta(level, bracket=True)
        assert found.lower == pytest.approx(missed, abs=1e-9)
        assert found.lower <= missed + 1e-15
        assert missed <= found.upper + 1e-15


def test_a_mixture_composes_through_its_law():
    two = mixture([Fraction(1, 4), Fraction(3, 4)], [gdp(1), gdp(Fraction(1, 2))]) ** 20
    found = two.delta(8.0, bracket=True)
    whole = [gdp(squared=n + Fraction(20 - n, 4)) for n in range(21)]
    true = sum(_binomial(20, n, 0.25) * curve.delta(8.0) for n, curve in enumerate(whole))
    assert found.lower <= true * (1 + 1e-12)
    assert true <= found.upper * (1 + 1e-12)
    assert found.upper - found.lower < 1e-9 * true


def test_a_part_that_shows_nothing():
    curve = mixture([Fraction(1, 100), Fraction(99, 100)], [gdp(1), identity()])
    assert curve.delta(1) == pytest.approx(gdp(1).delta(1) / 100, rel=1e-12)


@pytest.mark.soak
def test_without_laws_composition_is_bracketed_on_a_grid():
    both = (worst(F_, G) ** 2).delta(1, bracket=True)
    assert both.upper >= max((F_**2).delta(1), (G**2).delta(1))
    assert both.upper - both.lower < 1e-3
    curve = mixture([Fraction(1, 100), Fraction(99, 100)], [gdp(1), identity()]) ** 50
    found = curve.delta(1, bracket=True)
    true = sum(_binomial(50, n, 0.01) * gdp(squared=n).delta(1.0) for n in range(1, 51))
    assert found.lower <= true * (1 + 1e-12)
    assert true <= found.upper * (1 + 1e-12)


def _binomial(n, k, p):
    return comb(n, k) * p**k * (1 - p) ** (n - k)


def test_swap_and_records():
    curve = mixture([Fraction(1, 3), Fraction(2, 3)], [poisson(gdp(1), 0.1), gdp(1)])
    assert curve.swap().swap() == curve
    assert curve.remove.parameters()["parts"][0][1] in {"1/3", "2/3"}
    assert mixture([Fraction(1, 2), Fraction(1, 2)], [gdp(1), gdp(1)]) == gdp(1)
    assert mixture([1], [gdp(1)]) == gdp(1)


def test_weights_may_be_floats():
    """What is missing of 1 is at the largest mu, or else at the worst of all parts."""
    third = mixture([1 / 3] * 3, [gdp(1), gdp(2), gdp(Fraction(1, 2))])
    share = Fraction("0.3333333333333333")
    shares = [share, 1 - 2 * share, share]
    assert third == mixture(shares, [gdp(1), gdp(2), gdp(Fraction(1, 2))])
    unlike = mixture([1 / 3] * 3, [gdp(1), pure_dp(1), laplace(2)])
    exactly = mixture([Fraction(1, 3)] * 3, [gdp(1), pure_dp(1), laplace(2)])
    for epsilon in (0.0, 0.5, 1.5):
        assert unlike.delta(epsilon) >= exactly.delta(epsilon) * (1 - 1e-14)
        assert unlike.delta(epsilon) == pytest.approx(exactly.delta(epsilon), rel=1e-13)


def test_what_is_refused():
    with pytest.raises(InvalidParameter, match="with the sum 1"):
        mixture([0.5, 0.4], [gdp(1), gdp(2)])
    with pytest.raises(InvalidParameter, match=r"must be 2 positive numbers .*; got \['1'\]"):
        mixture([1], [gdp(1), gdp(2)])
    pair = poisson(gdp(1), 0.1), poisson_replace(gdp(1), 0.1)
    for join in (worst, best, lambda f, g: mixture([0.5, 0.5], [f, g])):
        with pytest.raises(RelationMismatch):
            join(*pair)


# A composition is read anew at each epsilon that is tried; tests/curves/test_costly.py has one.
@pytest.mark.parametrize(
    ("first", "second"),
    [
        (gdp(1), pure_dp(2)),
        (gdp(1), laplace(1.5)),
        pytest.param(poisson(gdp(1), 0.1) ** 50, gdp(0.5), marks=pytest.mark.soak),
    ],
)
def test_the_epsilon_of_the_best_is_where_its_profile_falls_to_delta(first, second):
    f, delta = best(first, second), np.array([1e-8, 1e-5, 1e-2])
    lower, upper = f.epsilon(delta, bracket=True)
    assert np.all(upper - lower <= 1e-6 * (1 + upper))
    assert np.all(f.remove.delta(lower * (1 - 1e-9) - 1e-9, bracket=True).upper >= delta)
    assert np.all(f.delta(upper, bracket=True).lower <= delta * (1 + 1e-9))
