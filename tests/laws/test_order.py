"""The order of guarantees, and the members of the named families next to a curve."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from neyman.curves import TradeOff, approx_dp, gdp, identity, laplace, pure_dp
from neyman.errors import NotCertified

ALPHA = np.unique(np.concatenate([np.linspace(0, 1, 301), np.logspace(-15, -2, 60)]))
EPSILON = np.linspace(-8, 8, 641)
SAMPLE = [
    *(family(x) for family in (gdp, pure_dp, laplace) for x in (0.1, 0.5, 1, 2)),
    identity(),
    approx_dp(0.5, 0.01),
    approx_dp(1, 0.01),
    approx_dp(1, 0.2),
    approx_dp(0, 0.2),
    gdp(0.5) @ approx_dp(0, 0.001),
    gdp(1) @ approx_dp(0, 0.01),
    laplace(1) @ approx_dp(0, 0.01),
    TradeOff(gdp(1).remove, laplace(2).remove),
]


def refuted(f, g):
    """Return whether a sampled point shows that f >= g is false."""
    loss = f.delta_bracket(EPSILON).lower > g.delta_bracket(EPSILON).upper
    error = f.beta_bracket(ALPHA).upper < g.beta_bracket(ALPHA).lower
    return bool(np.any(loss) or np.any(error))


@pytest.fixture(scope="session")
def implied():
    """Whether each curve of the sample implies each, by their places."""
    both = itertools.product(enumerate(SAMPLE), repeat=2)
    return {(i, j): f.implies(g) for (i, f), (j, g) in both}


def test_implies_is_reflexive(curve):
    assert curve.implies(curve)


@pytest.mark.shows("S0.7")
def test_implies_is_never_refuted(implied):
    wrong = [
        (SAMPLE[i], SAMPLE[j])
        for (i, j), proved in implied.items()
        if proved and refuted(SAMPLE[i], SAMPLE[j])
    ]
    assert wrong == []


def test_implies_tells_a_decimal_from_the_double_that_stands_for_it():
    """0.3 is a little more than the double that prints so."""
    failure = approx_dp(0, 1e-6)
    decimal, double = gdp(0.3) @ failure, gdp(squared=Fraction(0.3) ** 2) @ failure
    assert double.implies(decimal)
    assert not decimal.implies(double)


@pytest.mark.shows("S1.6")
def test_implies_is_transitive(implied):
    n = range(len(SAMPLE))
    broken = [
        (SAMPLE[i], SAMPLE[j], SAMPLE[k])
        for i, j, k in itertools.product(n, n, n)
        if implied[i, j] and implied[j, k] and not implied[i, k]
    ]
    assert broken == []


def test_implies_misses_little(implied):
    """What is not proved is refuted by a sampled point, for guarantees with equal directions."""
    open_questions = [
        (str(SAMPLE[i]), str(SAMPLE[j]))
        for (i, j), proved in implied.items()
        if not proved and SAMPLE[j].remove == SAMPLE[j].add and not refuted(SAMPLE[i], SAMPLE[j])
    ]
    assert open_questions == []


@pytest.mark.shows("S1.12", "e3.2")
@pytest.mark.parametrize("family", [gdp, pure_dp, laplace, lambda x: approx_dp(x, 0.01)])
def test_families_are_ordered_by_their_parameter(family):
    sizes = [0, 0.01, 0.5, Fraction(1, 2) + Fraction(1, 10**9), 1, 5]
    for x, y in itertools.product(sizes, repeat=2):
        assert family(x).implies(family(y)) == (x <= y)


def test_families_are_ordered_by_their_failure():
    for family in (lambda d: approx_dp(1, d), lambda d: gdp(1) @ approx_dp(0, d)):
        for x, y in itertools.product([1e-9, 1e-6, 0.1], repeat=2):
            assert family(x).implies(family(y)) == (x <= y)


@pytest.mark.shows("S1.6", "S4.2")
def test_known_implications():
    assert laplace(1).implies(pure_dp(1))
    assert not pure_dp(1).implies(laplace(1))
    assert gdp(1).implies(approx_dp(1, gdp(1).delta(1)))
    assert not gdp(1).implies(approx_dp(1, gdp(1).delta(1) * (1 - 1e-12)))
    assert gdp(squared=approx_dp(1, 1e-6).inner_gaussian()).implies(approx_dp(1, 1e-6))
    assert pure_dp(1).implies(gdp(squared=pure_dp(1).outer_gaussian()))
    assert not pure_dp(1).implies(gdp(1.23))
    assert gdp(1).implies(gdp(1) @ approx_dp(0, 1e-9))
    assert not gdp(1).implies(pure_dp(100))
    assert identity().implies(gdp(0.001))
    assert pure_dp(0.4).implies(laplace(1))


def test_estimates_prove_nothing(leaf):
    f = TradeOff(leaf, leaf.swap())
    assert f.implies(f)
    assert not f.implies(pure_dp(5))
    assert not identity().implies(f)
    assert f.inner_gaussian() == 0
    assert f.outer_gaussian() is f.outer_pure() is None
    for view in ("delta", "epsilon", "beta", "tpr", "renyi", "log_delta"):
        with pytest.raises(
            NotCertified, match=r"must have a curve with proved brackets; got .*Write bracket=False"
        ):
            getattr(f, view)(0.5, bracket=True)
        assert math.isfinite(getattr(f, view)(0.5))


# -- the nearest members of the families -------------------------------------------------------


def below(f, g):
    """Return whether f <= g, as far as brackets tell."""
    loss = f.delta_bracket(EPSILON).upper >= g.delta_bracket(EPSILON).lower
    error = f.beta_bracket(ALPHA).lower <= g.beta_bracket(ALPHA).upper
    return bool(np.all(loss) and np.all(error))


@pytest.mark.shows("e0.4")
def test_gaussians_enclose(certified):
    outer, inner = certified.outer_gaussian(), certified.inner_gaussian()
    assert below(certified, gdp(squared=inner))
    if outer is not None:
        assert inner <= outer
        assert below(gdp(squared=outer), certified)


def test_pure_guarantees_enclose(certified):
    outer, inner = certified.outer_pure(), certified.inner_pure()
    assert below(certified, pure_dp(inner))
    if outer is not None:
        assert inner <= outer
        assert below(pure_dp(outer), certified)


@pytest.mark.shows("S0.10")
def test_the_outer_gaussian_touches(certified):
    outer = certified.outer_gaussian()
    if outer:
        smaller = gdp(squared=outer * (1 - Fraction(1, 10**6)))
        assert refuted(certified, smaller)


def test_the_inner_gaussian_touches(certified):
    inner = certified.inner_gaussian()
    if inner and certified.remove == certified.add:
        larger = gdp(squared=inner * (1 + Fraction(1, 10**3)))
        assert refuted(larger, certified)


def test_the_pure_neighbours_touch(certified):
    outer, inner = certified.outer_pure(), certified.inner_pure()
    if outer:
        assert certified.delta(float(outer) * (1 - 1e-9)) > 0
    if inner and certified.remove == certified.add:
        assert refuted(pure_dp(inner * (1 + Fraction(1, 10**6))), certified)


@pytest.mark.shows("S0.10")
def test_mu_is_the_largest_gap_of_quantiles(certified):
    """The Gaussian of the same advantage is the tightest for the bounded leaves: on a grid."""
    lower, upper = certified.mu(bracket=True)
    if math.isfinite(upper):
        # A table's vertices give the upper end; the lower one is only that of its advantage.
        assert upper - lower <= 1e-12 * upper or certified.remove.kind == "discrete"
        assert below(gdp(squared=Fraction(upper) ** 2), certified)


@pytest.mark.parametrize("slack", [1e-6, 0.01, 0.2])
@pytest.mark.parametrize(
    "f",
    [
        gdp(1),
        pure_dp(1),
        laplace(2),
        gdp(1) @ approx_dp(0, 1e-7),
        TradeOff(gdp(1).remove, laplace(2).remove),
    ],
    ids=str,
)
def test_mu_with_slack_is_the_largest_that_any_epsilon_needs(f, slack):
    """delta_f <= slack + (1 - slack) delta_mu everywhere, and no smaller mu does."""
    lower, upper = f.mu(slack=slack, bracket=True)
    epsilon = np.linspace(0, 6, 241)
    needed = (f.delta(epsilon) - slack) / (1 - slack)
    assert np.all(gdp(upper * (1 + 1e-9)).delta(epsilon) >= needed)
    assert np.any(gdp(lower * (1 - 1e-3)).delta(epsilon) <= needed)
    assert upper - lower <= 1e-6 * upper


def test_slack_buys_mu(certified):
    values = [certified.mu(slack=slack) for slack in (0.0, 1e-6, 1e-3, 0.1, 0.5)]
    assert all(x >= y * (1 - 1e-8) for x, y in itertools.pairwise(values) if x < math.inf)


def test_the_epsilon_of_the_loss_is_not_passed(certified):
    outer = certified.outer_pure()
    if outer is not None:
        assert certified.delta(float(outer)) == 0
        assert certified.epsilon(0, bracket=True).lower <= float(outer) <= certified.epsilon(0)


def test_broken_twins_are_refuted():
    """The laws above see a Gaussian that is a millionth too good, and a false implication."""
    for f in (pure_dp(1), laplace(1), gdp(1)):
        assert not below(gdp(squared=f.outer_gaussian() * (1 - Fraction(1, 10**6))), f)
    assert not below(pure_dp(1), pure_dp(1 + Fraction(1, 10**6)))
    assert refuted(laplace(1), laplace(1 - Fraction(1, 10**6)))
    assert not refuted(laplace(1), laplace(1 + Fraction(1, 10**6)))
