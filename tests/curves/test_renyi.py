"""Rényi divergences: every order, both directions, every kind of curve."""

import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st

from neyman.accounting import random_allocation, shuffled, without_replacement
from neyman.curves import (
    approx_dp,
    best,
    bounded_range,
    chain,
    densities,
    discrete,
    discrete_gaussian,
    discrete_laplace,
    gdp,
    group,
    identity,
    laplace,
    mixture,
    piecewise,
    poisson,
    poisson_replace,
    pure_dp,
    randomized_response,
    rdp,
    renyi_divergence,
    staircase,
    subsample,
    worst,
    zcdp,
)
from neyman.curves._divergences import _renyi
from neyman.curves._order import _rho_suffices
from neyman.errors import InvalidParameter

ORDERS = np.array([0, 1e-3, 0.3, 0.5, 0.9, 1, 1 + 1e-9, 1.5, 2, 3, 10, 64, math.inf])
LEAVES = {
    "identity": identity(),
    "gaussian": gdp(0.7),
    "pure": pure_dp(1),
    "approximate": approx_dp(1, 0.1),
    "laplace": laplace(1),
    "logistic": bounded_range(1),
    "discrete gaussian": discrete_gaussian(1),
    "discrete laplace": discrete_laplace(0.5, sensitivity=2),
    "staircase": staircase(1, period=4, width=2),
    "table": discrete([0.9, 0.1], [0.5, 0.5]),
    "one-sided": discrete([0.5, 0.5, 0], [0.25, 0.5, 0.25]),
    "polygon": piecewise([0, 0.2, 1], [0.9, 0.5, 0]),
    "sample": poisson(gdp(1), 0.1),
    "composition": poisson(gdp(1), 0.1) ** 5,
    "unlike": gdp(1) @ laplace(1),
    "group of a sample": group(poisson(gdp(1), 0.1), 3),
    "replaced": poisson_replace(gdp(1), 0.1),
    "without replacement": without_replacement(gdp(1), records=100, batch=10).curve.dominating(),
    "chain": chain(gdp(1), pure_dp(1)),
    "worst": worst(gdp(1), pure_dp(1.1)),
    "best": best(gdp(1), pure_dp(1.1)),
    "mixture": mixture([0.5, 0.5], [gdp(1), laplace(1)]),
    "mixture with failure": mixture([0.5, 0.5], [gdp(1), approx_dp(1, 0.1)]),
    "allocation": random_allocation(noise_multiplier=1, steps=10),
    "shuffle": shuffled(2, reports=1000).curve.dominating(),
    "zcdp": zcdp(0.5),
    "rdp": rdp([(0.5, 0.2), (2, 0.5)]),
}


@pytest.fixture(params=LEAVES.values(), ids=list(LEAVES))
def curve(request):
    return request.param


def sides(curve):
    return curve, curve.remove, curve.add


def test_every_order_is_answered_and_grows(curve):
    for side in sides(curve):
        lower, upper = side.renyi(ORDERS, bracket=True)
        assert not np.any(np.isnan([lower, upper]))
        assert np.all((lower >= 0) & (lower <= upper))
        # What is surely so at one order is at least so at a larger.
        assert np.all(np.maximum.accumulate(lower)[:-1] <= upper[1:] * (1 + 1e-12) + 1e-300)
        assert side.renyi(0) == upper[0]


def test_orders_below_one_are_those_of_the_other_direction(curve):
    """(1 - a) D_a(Q || P) = a D_(1-a)(P || Q)."""
    a = np.array([0.1, 0.25, 0.5, 0.7])
    for side, other in ((curve.remove, curve.add), (curve.add, curve.remove)):
        if other != side.swap():
            continue
        here, there = side.renyi_bracket(a), other.renyi_bracket(1 - a)
        turned_low, turned_high = (a / (1 - a) * x for x in there)
        assert np.all(turned_low * (1 - 1e-9) - 1e-12 <= here.upper)
        assert np.all(here.lower * (1 - 1e-9) - 1e-12 <= turned_high)


def test_an_infinite_loss_is_infinite_from_order_one_on():
    for f in (LEAVES["approximate"], LEAVES["mixture with failure"], LEAVES["polygon"]):
        assert np.all(np.isinf(f.renyi(ORDERS[ORDERS >= 1])))
        assert np.all(np.isfinite(f.renyi(ORDERS[ORDERS < 1])))
        assert f.zcdp() == math.inf
    one_sided = LEAVES["one-sided"]
    assert np.all(np.isinf(one_sided.remove.renyi([1, 2, math.inf])))
    assert np.all(np.isfinite(one_sided.add.renyi([1, 2, math.inf])))


def test_order_zero_is_the_mass_that_the_other_law_lacks():
    assert approx_dp(1, 0.1).renyi(0) == pytest.approx(-math.log(0.9), rel=1e-12)
    assert LEAVES["one-sided"].add.renyi(0) == pytest.approx(-math.log(0.75), rel=1e-12)
    assert LEAVES["one-sided"].remove.renyi(0) == 0
    assert (approx_dp(0, 0.1) ** 3).renyi(0) == pytest.approx(-3 * math.log(0.9), rel=1e-12)
    assert gdp(1).renyi(0) == 0


# -- the closed forms of Mironov (2017), table II -------------------------------------------------


@settings(max_examples=40)
@given(st.floats(1e-4, 20), st.floats(0.05, 200).filter(lambda a: abs(a - 1) > 1e-6))
def test_randomized_response_and_laplace_and_gaussian_as_mironov_has_them(epsilon, order):
    with mp.workdps(80):
        a, e = mp.mpf(repr(order)), mp.mpf(repr(epsilon))
        p = mp.exp(e) / (1 + mp.exp(e))
        moment = p**a * (1 - p) ** (1 - a) + (1 - p) ** a * p ** (1 - a)
        exact = {
            pure_dp(epsilon): mp.log(moment) / (a - 1),
            gdp(epsilon): a * e**2 / 2,
        }
        if abs(order - 0.5) > 1e-6:
            high = a / (2 * a - 1) * mp.exp((a - 1) * e)
            low = (a - 1) / (2 * a - 1) * mp.exp(-a * e)
            exact[laplace(epsilon)] = mp.log(high + low) / (a - 1)
        for f, value in exact.items():
            lower, upper = f.renyi(order, bracket=True)
            assert mp.mpf(lower) <= value <= mp.mpf(upper)
            assert upper - lower <= 1e-9 * upper


def ball_divergence(name, order, epsilon):
    """D of an order by its formula, with so many bits that nothing cancels."""
    a, e = arb(order), arb(epsilon)
    h, m = e / 2, 2 * a - 1
    match name:
        case "randomized response":
            mean = (m * h).cosh() / h.cosh()
        case "laplace":
            mean = a / m * ((a - 1) * e).exp() + (a - 1) / m * (-a * e).exp()
        case _:
            mean = (m * h).sinh() / m / h.sinh()
    return mean.log() / (a - 1)


@pytest.mark.parametrize("name", list(_renyi.DIVERGENCES))
def test_a_closed_form_is_within_its_stated_error(name):
    rng = np.random.default_rng(16)
    sizes = [10.0 ** rng.uniform(-12, 12, 200), rng.uniform(0.2, 3, 200)]
    near = 10.0 ** rng.uniform(-14, -0.01, 200)
    order = np.concatenate([*sizes, 1 + near, 1 - near, 0.5 + near, np.abs(0.5 - near)])
    epsilon = 10.0 ** rng.uniform(-30, 2.84, order.size)
    epsilon[::2] = rng.uniform(0, 40, epsilon[::2].size)
    told = (order != 1) & (order != 0.5)
    order, epsilon = order[told], epsilon[told]
    with np.errstate(all="ignore"):
        found = _renyi.DIVERGENCES[name](order, epsilon)
    before, worst = ctx.prec, 0.0
    ctx.prec = 3000
    try:
        for a, e, value in zip(order.tolist(), epsilon.tolist(), found.tolist(), strict=True):
            true = ball_divergence(name, a, e)
            worst = max(worst, float((abs(arb(value) - true) / true).mid()))
    finally:
        ctx.prec = before
    print(f"{name}: {worst / _renyi.ERROR:.2f} of what is stated")
    assert worst < 0.75 * _renyi.ERROR


def test_randomized_response_on_categories_is_that_on_two():
    assert randomized_response(2) == pure_dp(2)


def test_the_largest_loss_is_the_epsilon_of_pure_privacy():
    for f, epsilon in ((pure_dp(2), 2), (laplace(2), 2), (discrete_laplace(1, sensitivity=2), 2)):
        assert f.renyi(math.inf) == pytest.approx(epsilon, rel=1e-12)
        assert f.outer_pure() == pytest.approx(epsilon, rel=1e-12)
    assert gdp(1).renyi(math.inf) == math.inf


@pytest.mark.parametrize("sigma", [0.3, 1, 7])
@pytest.mark.parametrize("order", [0.4, 1.5, 2, 7.25])
def test_the_discrete_gaussian_is_a_sum(sigma, order):
    with mp.workdps(40):
        a, square = mp.mpf(repr(order)), mp.mpf(repr(sigma)) ** 2
        reach = range(-int(40 * sigma) - 12, int(40 * sigma) + 14)
        p = [mp.exp(-mp.mpf(k * k) / (2 * square)) for k in reach]
        q = [mp.exp(-mp.mpf((k - 1) ** 2) / (2 * square)) for k in reach]
        total = mp.fsum(p)
        terms = (x ** (1 - a) * y**a for x, y in zip(p, q, strict=True))
        exact = mp.log(mp.fsum(terms) / total) / (a - 1)
    lower, upper = discrete_gaussian(sigma).renyi(order, bracket=True)
    assert lower <= exact <= upper
    if order > 1:
        assert upper <= 1 / (2 * sigma**2) * order * (1 + 1e-9)


# -- two laws on the same outcomes ----------------------------------------------------------------


def exact_divergence(p, q, order):
    with mp.workdps(60):
        p, q = ([mp.mpf(x.numerator) / x.denominator for x in law] for law in (p, q))
        pairs = list(zip(p, q, strict=True))
        if order == 0:
            held = mp.fsum(y for x, y in pairs if x > 0)
            return -mp.log(held) if held else mp.inf
        if order >= 1 and any(x > 0 and y == 0 for x, y in pairs):
            return mp.inf
        both = [(x, y) for x, y in pairs if x > 0 and y > 0]
        if order == math.inf:
            return max(mp.log(x / y) for x, y in both)
        if order == 1:
            return mp.fsum(x * mp.log(x / y) for x, y in both)
        a = mp.mpf(repr(order))
        moment = mp.fsum(x**a * y ** (1 - a) for x, y in both)
        return mp.log(moment) / (a - 1) if moment else mp.inf


LAW = st.lists(st.integers(0, 9), min_size=4, max_size=4).filter(any)


@pytest.mark.shows("S4.8")
@settings(max_examples=60)
@given(LAW, LAW, st.sampled_from([0, 0.01, 0.5, 0.99, 1, 1.01, 2, 17.5, 300, math.inf]))
def test_any_two_laws_at_any_order(first, second, order):
    p, q = ([Fraction(x, sum(law)) for x in law] for law in (first, second))
    exact = exact_divergence(p, q, order)
    lower, upper = renyi_divergence(p, q, order, bracket=True)
    assert lower <= exact <= upper
    if mp.isfinite(exact) and order not in (0.99, 1, 1.01):
        assert upper - lower <= 1e-6 * exact + 1e-9


@pytest.mark.shows("S4.8")
def test_mass_outside_the_support_is_infinite_at_infinity():
    """The supremum is over the support of P, not of Q."""
    assert renyi_divergence([0.5, 0.5], [1, 0], math.inf) == math.inf
    assert renyi_divergence([1, 0], [0.5, 0.5], math.inf) == pytest.approx(math.log(2), rel=1e-12)
    assert np.all(np.isinf(renyi_divergence([1, 0], [0, 1], [0, 0.5, 1, 2, math.inf])))
    assert not np.any(renyi_divergence([0.5, 0.5], [0.5, 0.5], [0, 0.5, 1, 2, math.inf]))


def test_both_ways_is_the_larger():
    p, q = [0.9, 0.1], [0.5, 0.5]
    ways = renyi_divergence(p, q, 2), renyi_divergence(q, p, 2)
    assert discrete(p, q).renyi(2) == max(ways) != min(ways)


def test_refusals():
    with pytest.raises(InvalidParameter, match="order=-1 is negative"):
        renyi_divergence([1], [1], -1)
    with pytest.raises(InvalidParameter, match="p has 1 outcomes and q has 2"):
        renyi_divergence([0.5, 0.5], [1], 2)


@pytest.mark.shows("S4.8")
def test_densities():
    def normal(mean):
        return lambda x: -((x - mean) ** 2) / 2 - np.log(2 * np.pi) / 2

    def uniform(end):
        return lambda x: np.where((x > 0) & (x < end), -np.log(end), -np.inf)

    f = densities(normal(0), normal(1), low=-38, high=38)
    orders = np.array([0, 1e-3, 0.5, 1, 2, 10])
    assert np.allclose(f.renyi(orders), orders / 2, rtol=1e-9, atol=1e-12)
    g = densities(uniform(1), uniform(2), low=0, high=2, kinks=[1.0])
    assert np.allclose(g.add.renyi([0, 0.5, 1, 2, math.inf]), [math.log(2)] * 5, rtol=1e-9)
    assert np.allclose(g.remove.renyi([0, 0.5]), [0, math.log(2)], atol=1e-9)
    assert np.all(np.isinf(g.remove.renyi([1, 2, math.inf])))


# -- what is made of several ----------------------------------------------------------------------


def divergence_by_profile(side, order):
    """Return D_order of a pair by its profile: an integral of delta of both directions."""
    x, w = np.polynomial.legendre.leggauss(8)
    edges = np.linspace(0, 24, 97)
    half = np.diff(edges)[:, None] / 2
    e, weight = (edges[:-1, None] + half * (1 + x)).ravel(), (half * w).ravel()
    here, there = side.delta_bracket(e).upper, side.swap().delta_bracket(e).upper
    if order == 1:
        return weight @ (here + there * np.exp(-e))
    a = order
    density = a * (a - 1) * (here * np.exp((a - 1) * e) + there * np.exp(-a * e))
    return math.log1p(weight @ density) / (a - 1)


@pytest.mark.parametrize("order", [0.5, 1, 2, 5])
def test_the_worst_of_two_diverges_more_than_either(order):
    """Its curve is the hull: max delta, whose integral is more than the larger integral."""
    parts = gdp(1), pure_dp(1.1)
    f = worst(*parts)
    exact = divergence_by_profile(f.remove, order)
    lower, upper = f.renyi(order, bracket=True)
    assert lower <= exact * (1 + 1e-6)
    assert exact <= upper * (1 + 1e-6)
    larger = max(part.renyi(order) for part in parts)
    assert exact > larger * (1 + 1e-5)
    assert upper > larger
    assert f.zcdp() * order >= exact * (1 - 1e-6)


@pytest.mark.parametrize("order", [0.3, 1, 1.7, 4])
def test_a_mixture_of_seen_parts(order):
    f = LEAVES["mixture"]
    lower, upper = f.renyi(order, bracket=True)
    exact = divergence_by_profile(f.remove, order)
    assert lower * (1 - 1e-8) <= exact * (1 + 1e-6)
    assert exact * (1 - 1e-6) <= upper
    assert upper - lower <= 1e-9 * upper


@pytest.mark.parametrize("name", ["group of a sample", "replaced"])
@pytest.mark.parametrize("order", [0.5, 1, 2])
def test_mixtures_of_gaussians_are_bracketed_at_every_order(name, order):
    """Order 1 too, by its neighbours."""
    f = LEAVES[name]
    for side in (f.remove, f.add):
        exact = divergence_by_profile(side, order)
        lower, upper = side.renyi(order, bracket=True)
        assert lower * (1 - 1e-5) <= exact <= upper * (1 + 1e-5)
        assert upper - lower <= 1e-4 * upper


def test_what_has_no_law_is_bounded_by_what_it_is_made_of():
    assert LEAVES["allocation"].renyi(2) == pytest.approx(1, rel=1e-12)
    assert LEAVES["allocation"].zcdp() == 0.5
    assert LEAVES["shuffle"].renyi(2) == pytest.approx(pure_dp(2).renyi(2), rel=1e-9)
    assert LEAVES["shuffle"].zcdp() == pytest.approx(pure_dp(2).zcdp(), rel=1e-9)


def test_the_rho_of_a_sampled_laplace_is_close_though_no_formula_knows_it():
    f = poisson(laplace(1), 0.25)
    lower, upper = f.zcdp(bracket=True)
    assert lower <= upper <= lower * (1 + 1e-7)
    exact = max(
        divergence_by_profile(side, a) / a for side in (f.remove, f.add) for a in (1.5, 2.5, 4)
    )
    assert lower * (1 - 1e-4) <= exact * (1 + 1e-2)
    assert exact <= upper * (1 + 1e-6)


def test_a_rho_whose_divergences_are_known_from_above_only_is_bounded():
    f = subsample(laplace(1), 0.25)
    lower, upper = f.zcdp(bracket=True)
    exact = max(divergence_by_profile(f.remove, a) / a for a in (1, 1.5, 2.5, 4))
    assert 0 < lower <= exact * (1 + 1e-6)
    # The largest loss is known, and that of randomized response is more.
    assert exact < upper <= pure_dp(math.log1p(0.25 * math.expm1(1))).zcdp() * (1 + 1e-6)


def test_a_rho_that_is_too_small_is_refused_at_once():
    """No refinement of cells proves a parabola that lies below a divergence."""
    f = poisson(laplace(1), 0.25).remove
    lower = f.zcdp_bracket()[0]
    asked = []

    class Counted:
        symmetric = False

        def renyi_bracket(self, order):
            asked.append(np.size(order))
            return f.renyi_bracket(order)

    assert not _rho_suffices(Counted(), lower * (1 - 1e-7), 30.0, 1e-8)
    assert sum(asked) < 2000
