"""Chains and groups, curves that a user gives, the two symmetrisations, and conjugates."""

import json
from fractions import Fraction

import numpy as np
import pytest

from neyman.curves import (
    TradeOff,
    approx_dp,
    approx_dp_points,
    best,
    chain,
    discrete,
    discrete_laplace,
    gdp,
    group,
    identity,
    laplace,
    mixture,
    of_curve,
    of_profile,
    piecewise,
    piecewise_hull,
    poisson,
    poisson_replace,
    pure_dp,
    read,
    symmetric_hull,
    worst,
    zcdp,
)
from neyman.curves._pairs._chained import ChainedPair
from neyman.curves._profiles._conjugate import powers_of_profile, profile_of_powers
from neyman.errors import InvalidParameter, RelationMismatch

ALPHA = np.array([0.0, 1e-200, 1e-9, 1e-3, 0.05, 0.2, 0.5, 0.8, 0.97, 1.0])
EPSILON = np.array([-30.0, -3.0, -0.5, 0.0, 0.3, 0.999, 1.0, 1.001, 2.0, 8.0])
KNOWN = [
    gdp(0.01),
    gdp(1),
    gdp(5),
    laplace(1),
    pure_dp(1),
    approx_dp(1, 0.01),
    gdp(1) @ approx_dp(0, 0.01),
    discrete([0.5, 0.5, 0], [0.25, 0.5, 0.25]),
    discrete_laplace(0.1, sensitivity=3),
]
CHAINS = [
    chain(gdp(1), pure_dp(1)),
    chain(approx_dp(1, 0.01), laplace(Fraction(1, 2))),
    group(approx_dp(0.1, 1e-6), 3),
    chain(discrete([0.5, 0.5, 0], [0.25, 0.5, 0.25]), gdp(0.5)),
]


# -- conjugates -----------------------------------------------------------------------------------


@pytest.mark.parametrize("f", KNOWN, ids=str)
def test_the_profile_of_the_tests_is_the_profile(f):
    pair = f.remove
    found = profile_of_powers(pair.tpr_bracket, pair.swap().tpr_bracket, EPSILON)
    known = pair.log_delta_bracket(EPSILON)
    assert np.all(found.lower <= known.upper)
    assert np.all(known.lower <= found.upper)
    far = known.upper > -30
    assert np.all(found.upper[far] - known.upper[far] <= 1e-7)
    assert np.all(known.lower[far] - found.lower[far] <= 1e-7)


@pytest.mark.parametrize("f", KNOWN, ids=str)
def test_many_at_once_are_as_good(f):
    pair = f.remove
    many = np.linspace(-6, 6, 1201)
    found = profile_of_powers(pair.tpr_bracket, pair.swap().tpr_bracket, many)
    known = pair.log_delta_bracket(many)
    assert np.all(found.lower <= known.upper)
    assert np.all(known.lower <= found.upper)
    far = known.upper > -20
    assert np.all(found.upper[far] - found.lower[far] <= 1e-6)


@pytest.mark.parametrize("f", KNOWN, ids=str)
def test_the_tests_of_the_profile_are_the_tests(f):
    pair = f.remove
    for sizes in (ALPHA, np.linspace(0, 1, 601)):
        found, known = powers_of_profile(pair.delta_bracket, sizes), pair.tpr_bracket(sizes)
        assert np.all(found.lower <= known.upper)
        assert np.all(known.lower <= found.upper)
        assert np.all(found.upper - known.upper <= 1e-8)
        inner = sizes >= 0.01
        assert np.all(known.lower[inner] - found.lower[inner] <= 1e-7)


# -- chains ---------------------------------------------------------------------------------------


def test_gaussians_and_laplace_chain_to_themselves():
    assert chain(gdp(0.3), gdp(0.3), gdp(0.3)) == gdp(0.9)
    mixed = chain(gdp(0.3), gdp(0.7))
    found, known = mixed.delta(EPSILON, bracket=True), gdp(1).delta(EPSILON, bracket=True)
    assert np.all(found.lower <= known.upper)
    assert np.all(known.lower <= found.upper)
    assert np.all(found.upper - found.lower <= 1e-9)
    both = chain(laplace(Fraction(1, 4)), laplace(Fraction(3, 4)))
    known = laplace(1).tpr(ALPHA, bracket=True)
    found = both.tpr(ALPHA, bracket=True)
    assert np.all(found.lower <= known.upper)
    assert np.all(known.lower <= found.upper)
    np.testing.assert_allclose(found.upper[1:], known.upper[1:], rtol=1e-10)


def test_points_add_as_is_known():
    """delta + e^epsilon delta at 2 epsilon, and exactly so for f_{epsilon,delta}."""
    f = chain(approx_dp(1, 0.01), approx_dp(1, 0.01))
    true = 0.01 + 0.01 * np.e
    lower, upper = f.delta(2.0, bracket=True)
    assert lower <= true * (1 + 1e-15)
    assert true * (1 - 1e-15) <= upper <= true * (1 + 1e-11)
    assert f.delta(5.0) == pytest.approx(true, rel=1e-11)


@pytest.mark.shows("S0.13", "e0.7")
def test_chains_are_the_functions_composed():
    f, g = gdp(1), pure_dp(1)
    np.testing.assert_allclose(chain(f, g).remove.tpr_bracket(ALPHA).upper, g.tpr(f.tpr(ALPHA)))
    np.testing.assert_allclose(chain(f, g).add.tpr_bracket(ALPHA).upper, f.tpr(g.tpr(ALPHA)))


@pytest.mark.parametrize("f", CHAINS, ids=str)
def test_the_laws_of_a_chain(f):
    assert read(json.dumps(f.to_json())) == f
    assert f.swap().swap() == f
    assert chain(f, identity()) == chain(identity(), f) == f
    assert chain(chain(f, gdp(1)), laplace(1)) == chain(f, chain(gdp(1), laplace(1)))
    assert f @ identity() == f
    delta = f.delta(EPSILON, bracket=True)
    for pair in (f.remove, f.add):
        beta = pair.beta_bracket(ALPHA)
        lines = 1 - delta.upper[:, None] - np.exp(EPSILON)[:, None] * ALPHA
        assert np.all(lines <= beta.upper + 1e-12)
        power = pair.tpr_bracket(ALPHA)
        assert np.all(beta.lower + power.lower <= 1 + 1e-15)
        assert np.all(beta.upper + power.upper >= 1 - 1e-15)
    # No test on a fine grid shows more, and some show nearly as much.
    grid = np.linspace(0, 1, 20_001)
    power = np.maximum(f.remove.tpr_bracket(grid).lower, f.add.tpr_bracket(grid).lower)
    shown = np.max(power - np.exp(EPSILON)[:, None] * grid, axis=1)
    assert np.all(shown <= delta.upper + 1e-12)
    assert np.all(delta.lower <= shown + 5e-5 * np.exp(EPSILON) + 1e-4)
    assert np.all(delta.upper - delta.lower <= 1e-8)


@pytest.mark.shows("e0.7")
def test_a_broken_twin_is_seen():
    """A link that is a thousandth too good leaves its bracket."""
    true, twin = chain(gdp(1), pure_dp(1)), chain(gdp(0.999), pure_dp(1))
    assert np.all(twin.delta(EPSILON[2:], bracket=True).upper < true.delta(EPSILON[2:]))
    assert twin.beta(0.1) > true.beta(0.1, bracket=True).upper


def test_epsilon_inverts_delta():
    f = chain(gdp(1), pure_dp(1))
    for target in (0.5, 1e-3, 1e-9):
        lower, upper = f.epsilon(target, bracket=True)
        assert f.delta(upper) <= target
        assert f.delta(lower * (1 - 1e-12), bracket=True).upper >= target
        assert upper - lower <= 1e-5
    assert f.epsilon(0.99) == 0
    assert f.epsilon(0) == np.inf
    assert chain(pure_dp(1), pure_dp(2)).epsilon(0) == 3


def test_chains_are_within_the_families():
    f = chain(gdp(1), pure_dp(1))
    assert f.mu() == pytest.approx(1 + pure_dp(1).mu(), rel=1e-12)
    lower, upper = f.renyi(2.0, bracket=True)
    assert lower <= upper == pytest.approx(f.mu() ** 2)
    assert f.zcdp() == pytest.approx(f.mu() ** 2 / 2)
    assert pure_dp(1).implies(f) or f.delta(1) >= pure_dp(1).delta(1)


@pytest.mark.soak
def test_a_chain_composes_over_the_lattice():
    f = chain(gdp(0.1), gdp(0.2)) ** 10
    found, true = f.remove.delta(1.0, bracket=True), (gdp(0.3) ** 10).delta(1.0)
    assert found.method == "lattice"
    assert found.lower <= true <= found.upper
    assert found.upper - found.lower <= 1e-3 * true


@pytest.mark.shows("e0.6")
def test_links_of_different_relations_are_refused():
    with pytest.raises(
        RelationMismatch, match=r"chained pairs must be proved for one.*; got neighbors"
    ):
        chain(poisson(gdp(1), 0.1), poisson_replace(gdp(1), 0.1))


# -- groups ---------------------------------------------------------------------------------------


@pytest.mark.shows("S0.13", "S1.16")
def test_groups_of_anything():
    f = group(approx_dp(1, 1e-6), 2)
    assert isinstance(f.remove, ChainedPair)
    # The textbook's k epsilon, delta (e^(k epsilon) - 1) / (e^epsilon - 1).
    assert f.delta(2.0) <= 1e-6 * (np.e**2 - 1) / (np.e - 1) * (1 + 1e-6)
    assert group(discrete_laplace(0.1), 3) == discrete_laplace(0.1, sensitivity=3)
    assert group(zcdp(0.1), 3) == zcdp(0.9)
    half = Fraction(1, 2)
    mean = mixture([half, half], [gdp(1), gdp(2)])
    assert group(mean, 2) == mixture([half, half], [gdp(2), gdp(4)])


def test_a_chain_of_pure_steps_is_better_than_their_sum():
    f = chain(pure_dp(0.5), pure_dp(0.5))
    found = f.delta(EPSILON, bracket=True)
    assert np.all(found.lower <= pure_dp(1).delta(EPSILON))
    assert f.delta(0) < 0.9 * pure_dp(1).delta(0)
    assert f.delta(0) > laplace(1).delta(0)


# -- curves that a user gives ---------------------------------------------------------------------


def test_piecewise_is_the_broken_line():
    x, y = [0, 0.1, 0.5, 1], [0.95, 0.6, 0.125, 0]
    f = piecewise(x, y)
    grid = np.linspace(0, 1, 41)
    line = np.interp(grid, x, y)
    lower, upper = f.beta(grid, bracket=True)
    assert np.all(lower <= line + 1e-15)
    assert np.all(line <= upper + 1e-15)
    assert np.all(upper - lower <= 1e-12)
    assert read(json.dumps(f.to_json())) == f
    assert f.delta(50.0) == pytest.approx(0.05)


@pytest.mark.shows("S0.6")
@pytest.mark.parametrize(
    ("alpha", "beta", "found"),
    [
        ([0, 0.5, 1], [1, 0.6, 0], "knot 1.*above 1 - alpha"),
        ([0, 0.2, 0.4, 1], [0.8, 0.7, 0.3, 0], "knot 1.*above the line"),
        ([0, 0.2, 0.4, 1], [0.5, 0.2, 0.3, 0], "knot 2.*beta increases"),
        ([0, 0.4, 0.3, 1], [0.5, 0.2, 0.1, 0], "knot 2.*does not increase"),
        ([0, 0, 0.4, 1], [1, 0.5, 0.1, 0], "knot 1.*two values.*continuous, at 0 too"),
        ([0, 0.4, 1], [0.5, -0.2, 0], r"knot 1.*leaves \[0, 1\]"),
        ([0, 0.4], [0.5, 0.2], "alpha must go from 0 to 1; got"),
        ([0, 1], [1], "must have the same length, at least 2; got 2 and 1"),
    ],
)
def test_what_is_no_trade_off_function_is_refused(alpha, beta, found):
    with pytest.raises(InvalidParameter, match=found):
        piecewise(alpha, beta)


@pytest.mark.shows("S0.6")
def test_the_hull_is_below_what_was_given():
    rng = np.random.default_rng(7)
    x = np.linspace(0, 1, 30)
    y = np.clip((1 - np.sqrt(x)) ** 2 + rng.normal(0, 0.03, 30), 0, 1)
    f = piecewise_hull(x, y)
    grid = np.linspace(0, 1, 401)
    assert np.all(f.beta(grid) <= np.minimum(np.interp(grid, x, y), 1 - grid) + 1e-15)
    assert np.all(np.diff(f.beta(x), 2) >= -1e-12)
    # It is the largest: it touches at its corners.
    assert np.sum(np.abs(f.beta(x) - np.minimum(y, 1 - x)) < 1e-12) >= 4


def test_points_together():
    f = approx_dp_points([(0.5, 0.1), (1, 0.01)])
    parts = approx_dp(0.5, 0.1), approx_dp(1, 0.01)
    assert f.symmetric
    grid = np.linspace(0, 1, 101)
    larger = np.maximum(*(g.beta(grid) for g in parts))
    np.testing.assert_allclose(f.beta(grid), larger, rtol=0, atol=1e-13)
    both = best(*parts)
    x = np.array([-1.0, 0.0, 0.5, 0.7, 0.9, 1.0, 3.0])
    np.testing.assert_allclose(both.delta(x), f.delta(x), rtol=0, atol=1e-10)
    assert f.delta(0.75) < min(g.delta(0.75) for g in parts)
    with pytest.raises(InvalidParameter, match="at least one"):
        approx_dp_points([])


def test_a_function_says_what_it_says_at_the_double_that_was_asked():
    """Of 5/6 the double is larger: its delta is no bound at 5/6 itself."""
    asked = 5 / 6
    assert Fraction(str(asked)) > Fraction(5, 6)
    there = of_profile(gdp(1).delta, epsilons=[asked], relative_error=0)
    assert of_profile(gdp(1).delta, epsilons=[Fraction(5, 6)], relative_error=0) == there
    curve = of_curve(gdp(1).beta, alphas=[0, asked, 1], error=0)
    assert of_curve(gdp(1).beta, alphas=[0, Fraction(5, 6), 1], error=0) == curve


@pytest.mark.parametrize("g", [gdp(1), laplace(1), approx_dp(1, 0.1)], ids=str)
def test_functions_are_read_towards_less_privacy(g):
    grid = np.linspace(0, 1, 301)
    f = of_curve(g.beta, alphas=np.linspace(0, 1, 33) ** 2, error=1e-9)
    assert np.all(f.beta(grid) <= g.beta(grid, bracket=True).upper)
    assert np.max(g.beta(grid) - f.beta(grid)) < 0.05
    h = of_profile(g.delta, epsilons=np.linspace(0, 8, 65), relative_error=1e-9)
    x = np.linspace(-3, 9, 61)
    assert np.all(h.delta(x) >= g.delta(x, bracket=True).lower)
    assert np.max(h.delta(x) - g.delta(x)) < 5e-3
    with pytest.raises(InvalidParameter, match="at least 0"):
        of_profile(g.delta, epsilons=[1], relative_error=-1)


# -- the two symmetrisations ----------------------------------------------------------------------


@pytest.mark.shows("e1.10")
def test_the_larger_and_the_smaller():
    one_way = piecewise([0, 0.1, 1], [0.9, 0.3, 0])
    inverse = one_way.swap()
    grid = np.linspace(0, 1, 101)
    sides = one_way.beta(grid), inverse.beta(grid)
    up, down = one_way.symmetrize(), symmetric_hull(one_way)
    for f in (up, down):
        assert f.symmetric
        assert f.swap() == f
        assert read(json.dumps(f.to_json())) == f
    np.testing.assert_allclose(up.beta(grid), np.maximum(*sides), rtol=0, atol=1e-12)
    hull = down.beta(grid, bracket=True)
    assert np.all(hull.upper <= np.minimum(*sides) + 1e-12)
    assert np.max(np.minimum(*sides) - hull.upper) > 0.01
    assert np.all(np.diff(hull.lower, 2) >= -1e-10)
    assert np.all(hull.upper - hull.lower <= 1e-8)
    assert symmetric_hull(gdp(1)) == gdp(1).symmetrize() == gdp(1)


def test_the_hull_of_the_worst_is_known_from_both_sides():
    f = worst(gdp(1), pure_dp(1))
    found = f.beta(np.linspace(0, 1, 41), bracket=True)
    assert np.all(found.upper - found.lower <= 1e-9)


def test_both_ways_of_a_guarantee_are_used():
    f = TradeOff(gdp(1).remove, laplace(2).remove).symmetrize()
    assert f.remove == f.add == best(gdp(1), laplace(2)).remove
