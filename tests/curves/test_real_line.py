"""Guarantees at real orders: upper bounds for a whole class, tight for the class, never exact."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neyman.accounting import GaussianFilter, dp_sgd
from neyman.curves import TradeOff, approx_dp, cdp, gdp, identity, laplace, pure_dp, tcdp
from neyman.curves._algebra._factors import folded
from neyman.curves._statements._rdp import RdpPair
from neyman.curves._statements._real_line_constructors import rdp, zcdp
from neyman.errors import InvalidParameter, UnsupportedComposition

EPSILONS = np.array([-3, -0.5, -0.05, 0, 0.01, 0.1, 0.3, 1, 2, 4, 8, 20])
ALPHAS = np.array([1e-300, 1e-12, 1e-6, 0.001, 0.03, 0.2, 0.4, 0.5, 0.7, 0.9, 0.99, 1 - 1e-9])
RHOS = [1e-6, 0.01, 0.1, 0.5, 1, 2, 20]


@pytest.mark.parametrize(
    ("rho", "mu"), [(0.01, 0.1773), (0.1, 0.5632), (0.5, 1.2839), (1, 1.8611), (2, 2.7674)]
)
def test_the_tight_mu_of_zcdp(rho, mu):
    found = zcdp(rho).mu(bracket=True)
    assert round(found.upper, 4) == mu
    assert (found.lower, found.of) == (0, "class")
    d = zcdp(rho).advantage()
    assert d * math.log((1 + d) / (1 - d)) == pytest.approx(rho, rel=1e-12)


@pytest.mark.parametrize("rho", RHOS)
def test_the_gaussian_of_the_same_advantage_stays_below_the_class(rho):
    """The supremum is at the fixed point."""
    lower = np.linspace(-6, 6, 121)
    alphas = 1 / (1 + np.exp(lower))
    f, mu = zcdp(rho), zcdp(rho).mu()
    assert np.all(f.beta(alphas) >= gdp(mu).beta(alphas) * (1 - 1e-9))
    c = 1 / (1 + math.exp(f.remove.fixed.loss.upper[0]))
    assert f.beta(c) == pytest.approx(gdp(mu).beta(c), rel=1e-9 if rho < 5 else 1e-3)


@pytest.mark.parametrize(
    ("rho", "delta", "epsilon", "gaussian"),
    [
        (0.5, 1e-5, 4.7284, 4.3772),
        pytest.param(0.1, 1e-6, 2.1419, 1.9945, marks=pytest.mark.soak),
        pytest.param(1, 1e-9, 9.5215, 9.0926, marks=pytest.mark.soak),
    ],
)
def test_epsilon_of_zcdp(rho, delta, epsilon, gaussian):
    found = zcdp(rho).epsilon(delta, bracket=True)
    assert found.upper == pytest.approx(epsilon, abs=6e-5)
    # A member of the class loses almost as much; another nothing.
    assert gdp(squared=2 * Fraction(str(rho))).epsilon(delta) == pytest.approx(gaussian, abs=6e-5)
    assert (found.lower, found.of) == (0, "class")


def test_the_errors_and_the_advantage_that_orders_next_to_one_give():
    f = zcdp(0.5)
    assert np.allclose(f.beta([0.1, 0.2, 0.3]), [0.516272, 0.338569, 0.228617], atol=1e-6)
    assert f.advantage() == pytest.approx(0.479098, abs=1e-6)


@pytest.mark.shows("S4.9", "e4.7")
def test_the_optimal_conversion_of_one_order():
    assert rdp([(2, 0.5)]).delta(1) == pytest.approx(0.0897, abs=5e-5)
    assert rdp([(8, 1)]).delta(2) == pytest.approx(4.472e-5, rel=1e-4)


def test_a_small_divergence_far_from_its_scale():
    # (R + y - 1 + e^-y) / log(w/v) at its best, near R / z with (e^z - 1)/z = e.
    assert rdp([(1, 1e-6)]).delta(1) == pytest.approx(1e-6 / 1.7507, rel=2e-3)


def two_point_sup(orders, bounds, epsilon):
    """Maximise q - e^epsilon p over a grid of two-point laws, both directions bounded."""
    p = 1 / (1 + np.exp(np.linspace(-14, 14, 2001)))[:, None]
    q = 1 / (1 + np.exp(np.linspace(-14, 14, 2001)))[None, :]
    inside = np.ones((p.size, q.size), dtype=bool)
    for a, r in zip(orders, bounds, strict=True):
        for x, y in ((p, q), (q, p)):
            with np.errstate(over="ignore"):
                moment = x**a * y ** (1 - a) + (1 - x) ** a * (1 - y) ** (1 - a)
            inside &= np.log(moment) / (a - 1) <= r
    return np.max(np.where(inside, q - np.exp(epsilon) * p, 0.0))


@pytest.mark.parametrize("epsilon", [0, 0.1, 1, 2.5])
@pytest.mark.parametrize("point", [(2.0, 0.5), (0.5, 0.4), (1.2, 3.0), (30.0, 2.0)])
def test_one_order_is_converted_as_well_as_a_search_over_two_point_laws(epsilon, point):
    points = [point, (64, 63.99)]
    found = two_point_sup([point[0]], [point[1]], epsilon)
    # The second order says next to nothing; a guarantee needs one from 1 on.
    assert found <= rdp(points).delta(epsilon)
    if point[0] > 1:
        assert rdp([point]).delta(epsilon) <= found * 1.05 + 1e-3


@pytest.mark.shows("e4.5")
@pytest.mark.parametrize(
    "rho", [0.01, 0.5, *(pytest.param(x, marks=pytest.mark.soak) for x in (1e-6, 0.1, 1, 2, 20))]
)
def test_no_member_of_the_class_loses_more(rho):
    f = zcdp(rho)
    members = [gdp(squared=2 * Fraction(str(rho)))]
    for make in (pure_dp, laplace):
        low, high = 0.0, 60.0
        # To a millionth of epsilon, from below: each question is a search.
        for _ in range(26):
            middle = (low + high) / 2
            low, high = (middle, high) if make(middle).zcdp() <= rho else (low, middle)
        members.append(make(low))
    for member in members:
        assert member.implies(f)
        assert np.all(member.delta_bracket(EPSILONS).lower <= f.delta(EPSILONS))
        assert np.all(member.beta_bracket(ALPHAS).upper >= f.beta(ALPHAS))
        assert np.all(member.tpr_bracket(ALPHAS).lower <= f.tpr(ALPHAS))


STATEMENTS = [
    zcdp(1e-6),
    zcdp(0.1),
    zcdp(20),
    cdp(0.01, 1),
    tcdp(0.1, 10),
    rdp([(2, 0.5)]),
    rdp([(1, 0.1), (1.5, 0.2), (32, 1)]),
]


@pytest.mark.parametrize("f", STATEMENTS, ids=str)
def test_epsilon_is_where_delta_is(f):
    """Each is sought by itself: what the one finds is no better than what the other does."""
    deltas = np.array([1e-200, 1e-30, 1e-9, 1e-5, 0.01, 0.2, 0.7])
    epsilon = f.epsilon(deltas)
    inner = epsilon > 0
    here = f.delta(epsilon)[inner] / deltas[inner]
    assert np.all(np.abs(here - 1) < 1e-5)
    assert np.all(f.delta(0) <= deltas[~inner] * (1 + 1e-5))


@settings(max_examples=25)
@given(st.floats(1e-6, 0.999999), st.floats(1e-6, 0.999999))
def test_binary_mechanisms_stay_above_the_bounds_that_they_obey(p, q):
    """Any two laws on two points are a member of the class of their own divergences."""
    orders = np.concatenate([1 + np.logspace(-3, 3, 200)])
    worst = np.zeros_like(orders)
    for x, y in ((p, q), (q, p)):
        log = np.logaddexp(
            orders * math.log(x) + (1 - orders) * math.log(y),
            orders * math.log1p(-x) + (1 - orders) * math.log1p(-y),
        )
        worst = np.maximum(worst, log / (orders - 1))
    rho = float(np.max(worst / orders)) * 1.001 + 1e-9
    some = [20, 100, 150]
    for f in (zcdp(rho), rdp([(orders[i], worst[i] + 1e-9) for i in some])):
        assert np.all(f.beta([p, 1 - q]) <= np.array([1 - q, p]) + 1e-12)
        epsilons = np.array([-1.0, 0.0, 0.3, 2.0])
        assert np.all(q - np.exp(epsilons) * p <= f.delta(epsilons) + 1e-12)


CURVES = [
    *(zcdp(rho) for rho in RHOS),
    rdp([(2, 0.5)]),
    rdp([(0.5, 0.1), (1, 0.3), (1.5, 0.4), (4, 2), (32, 20)]),
    zcdp(0.3) @ approx_dp(0, 0.01),
    rdp([(4, 0.01)]) @ approx_dp(0, 0.01),
]


@pytest.fixture(params=CURVES, ids=str)
def curve(request):
    return request.param


def test_brackets_are_ordered_and_certified(curve):
    for bounds in (
        curve.delta(EPSILONS, bracket=True),
        curve.log_delta(EPSILONS, bracket=True),
        curve.beta(ALPHAS, bracket=True),
        curve.tpr(ALPHAS, bracket=True),
        curve.renyi([0.3, 0.5, 1, 1.3, 2, 7, 100, math.inf], bracket=True),
    ):
        assert np.all(bounds.lower <= bounds.upper)
        assert not np.any(np.isnan(bounds.upper))


def test_delta_falls_and_beta_falls_and_is_convex(curve):
    at = np.linspace(-2, 6, 60)
    deltas = curve.delta(at)
    assert np.all(np.diff(deltas) <= 1e-6 * deltas[:-1])
    # As sharp as the search: a chord may pass below by what was missed.
    alphas = np.linspace(0, 1, 81)
    betas = curve.beta(alphas)
    assert np.all(np.diff(betas) <= 1e-6)
    assert np.all(betas[1:-1] <= (betas[:-2] + betas[2:]) / 2 + 1e-6)
    assert np.all(betas <= 1 - alphas)


def test_delta_and_beta_belong_to_one_curve(curve):
    """delta(x) >= 1 - beta(alpha) - e^x alpha, to what the search missed."""
    alphas = np.concatenate([ALPHAS, np.linspace(0.01, 0.99, 40)])
    x, betas = np.array([-1.0, 0.0, 0.05, 0.5, 2.0, 5.0]), curve.beta(alphas)
    lines = np.max(1 - betas - np.exp(x)[:, None] * alphas, axis=1)
    assert np.all(curve.delta(x) >= lines * (1 - 1e-5) - 1e-12)


def test_f_is_its_own_inverse(curve):
    alphas = np.array([0.001, 0.05, 0.2, 0.3])
    assert np.allclose(curve.beta(curve.beta(alphas)), alphas, rtol=1e-4, atol=1e-9)


def test_the_ends():
    for f in (zcdp(0.5), rdp([(2, 0.5)])):
        assert f.beta([0, 1]).tolist() == [1, 0]
        assert f.tpr([0, 1]).tolist() == [0, 1]
        assert f.delta([math.inf, -math.inf]).tolist() == [0, 1]
        assert f.delta(1e6) > 0
        assert f.beta([5e-324, 1 - 2.0**-53]).tolist()[0] > 0.9999


@pytest.mark.parametrize("rho", [Fraction(1, 2**100), 1e-20, 1e-3, 300, 700])
def test_every_size_has_an_answer(rho):
    f, scale = zcdp(rho), math.sqrt(rho)
    for bounds in (f.delta(scale * EPSILONS, bracket=True), f.beta(ALPHAS, bracket=True)):
        assert not np.any(np.isnan([bounds.lower, bounds.upper]))
        assert np.all(bounds.lower <= bounds.upper)
    if rho < 1e-10:
        at = scale * np.array([0, 0.5, 1, 2, 4])
        assert np.all(f.delta(at) <= 4 * gdp(squared=2 * Fraction(str(rho))).delta(at))


@pytest.mark.shows("S4.10")
def test_bounds_add_exactly_and_are_converted_last():
    assert zcdp(0.1) @ zcdp(0.2) == zcdp(0.3)
    assert zcdp(0.1) ** 7 == zcdp(0.7)
    assert zcdp(0.1) @ gdp(1) == gdp(1) @ zcdp(0.1)
    # The Gaussian below the class is a bound too, and the better one at some losses.
    both, below = zcdp(0.1) @ gdp(1), gdp(squared=1 + zcdp(0.1).remove.outer_gaussian())
    for epsilon in (2, 12):
        least = min(zcdp(0.6).delta(epsilon), below.delta(epsilon))
        assert both.delta(epsilon) == pytest.approx(least, rel=1e-12)
    assert zcdp(0.5) @ identity() == identity() @ zcdp(0.5) == zcdp(0.5)
    assert zcdp(0) == identity() == rdp([(2, 0)])
    mixed = zcdp(0.5) @ laplace(1) @ pure_dp(1)
    total = 0.5 + laplace(1).zcdp() + pure_dp(1).zcdp()
    assert mixed.zcdp() == pytest.approx(total, rel=1e-12)
    assert mixed == laplace(1) @ zcdp(0.5) @ pure_dp(1)
    p = rdp([(2, 0.5), (8, 1)])
    assert p @ zcdp(0.5) == zcdp(0.5) @ p == rdp([(2, 1.5), (8, 5)])
    assert (p @ gdp(1)).delta(2) == rdp([(2, 1.5), (8, 5)]).delta(2)
    assert p**3 == p @ p @ p == rdp([(2, 1.5), (8, 3)])
    several = p @ laplace(1) ** 3
    assert several.renyi(2) == pytest.approx(0.5 + 3 * laplace(1).renyi(2), rel=1e-12)
    # K(2) = 1/2 and K(8) = 7, so K(4) <= 8/3 and D_4 <= 8/9.
    assert (p @ rdp([(4, 0.3)])).renyi(4) == pytest.approx(0.3 + 8 / 9, rel=1e-12)


def test_statements_add_and_what_stands_beside_them_is_kept():
    factors = ((gdp(1).remove, 4), (laplace(Fraction(1, 1000)).remove, 10**9), (zcdp(1).remove, 2))
    kept = folded(factors, factors)
    assert {str(pair): n for pair, n in kept} == {
        "gdp(mu=1)": 4,
        "laplace(epsilon=0.001)": 10**9,
        "zcdp(rho=2)": 1,
    }
    assert folded(factors[:1], factors[:1]) == factors[:1]


def test_a_training_beside_a_statement_is_bounded_by_both_and_below_by_itself():
    """Order by order, not as 500-zCDP: 634 was said from below, 649 from above."""
    training = dp_sgd(noise_multiplier=1, sampling_probability=0.01, steps=1000)
    both = training @ zcdp(Fraction(1, 100))
    found = both.epsilon(1e-5, bracket=True)
    assert found.of == "class"
    assert found.lower == training.epsilon(1e-5, bracket=True).lower
    # What dp_accounting 0.6.0 proves of the same two events by Rényi orders.
    assert training.epsilon(1e-5) < found.upper <= 2.1790
    assert both.beta(0.05, bracket=True).upper <= training.beta(0.05, bracket=True).upper + 1e-12


def test_no_lower_bound_of_a_class_is_undercut_by_a_member():
    """The identity is 0.5-zCDP, so that what it loses, nothing, is all that is proved of each."""
    at, alpha = np.array([-1.0, 0.0, 1.0]), np.array([0.01, 0.5])
    for statement in (zcdp(0.5), rdp([(2, 1), (8, 3)]), zcdp(0.1) @ gdp(1)):
        member = gdp(1) if statement == zcdp(0.1) @ gdp(1) else identity()
        assert np.all(statement.delta(at, bracket=True).lower <= member.delta(at) + 1e-15)
        assert np.all(statement.beta(alpha, bracket=True).upper >= member.beta(alpha) - 1e-15)
        assert np.all(statement.tpr(alpha, bracket=True).lower <= member.tpr(alpha) + 1e-15)
        assert statement.epsilon(1e-3, bracket=True).lower <= member.epsilon(1e-3)
        assert statement.mu(bracket=True).lower <= member.mu()


@pytest.mark.parametrize("f", [zcdp(0.5), rdp([(2, 1)])], ids=str)
def test_there_is_no_pair(f):
    assert f.certified
    assert f.symmetric
    for ask in (
        lambda: f.remove.log_tails(np.zeros(1)),
        lambda: f.remove.cumulant(np.zeros(1, dtype=complex)),
        lambda: f.remove.slope(np.zeros(1)),
    ):
        with pytest.raises(UnsupportedComposition, match="no pair of laws; compose it with @"):
            ask()


def test_a_zcdp_statement_is_charged_its_mu():
    cost = GaussianFilter(Fraction(4)).cost(zcdp(0.5))
    assert zcdp(0.5).mu() <= math.sqrt(cost) * (1 + 1e-15) < 1.28392


def test_order():
    assert zcdp(0.5).implies(zcdp(0.6))
    assert not zcdp(0.5).implies(zcdp(0.4))
    assert gdp(1).implies(zcdp(0.5))
    assert not gdp(1.0001).implies(zcdp(0.5))
    assert zcdp(0.5).implies(gdp(1.284))
    assert not zcdp(0.5).implies(gdp(1.2839))
    assert zcdp(0.5).implies(rdp([(2, 1.001), (9, 4.501)]))
    assert not zcdp(0.5).implies(rdp([(2, 0.99)]))
    assert not rdp([(2, 1)]).implies(zcdp(100))
    assert zcdp(0.5).implies(approx_dp(4.73, 1e-5))
    assert not zcdp(0.5).implies(approx_dp(4.72, 1e-5))


@pytest.mark.soak
def test_mu_with_slack():
    least, most = zcdp(0.1).mu(slack=1e-6, bracket=True)
    assert 0.44 < least < most <= zcdp(0.1).mu()
    f = rdp([(8, 1)])
    assert math.isinf(f.mu())
    assert f.implies(gdp(1.001 * f.mu(slack=1e-3)) @ approx_dp(0, 1e-3))


def test_renyi_of_points():
    f = rdp([(1.5, 0.3), (8, 3), (2, 0.5), (3, 5), (8, 4)])
    assert f.remove.points == tuple(
        (Fraction(str(a)), Fraction(str(r))) for a, r in ((1.5, 0.3), (2, 0.5), (8, 3))
    )
    assert np.all(np.isclose(f.renyi([1, 1.2, 1.5, 2, 8]), [0.3, 0.3, 0.3, 0.5, 3], rtol=1e-12))
    # K(5) <= (K(2) + K(8))/2 = (0.5 + 21)/2, and D_5 = K(5)/4.
    assert f.renyi(5) == pytest.approx(21.5 / 8, rel=1e-12)
    assert math.isinf(f.renyi(8.001))
    assert f.renyi(0.2) == pytest.approx(0.3 / 4, rel=1e-12)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: zcdp(-1), "rho=-1 is negative"),
        (lambda: zcdp(701), "outside"),
        (lambda: zcdp(1e-40), "outside"),
        (lambda: zcdp("1"), "rho must be an int, .*; got '1'"),
        (lambda: rdp([]), "order of at least 1"),
        (lambda: rdp([(0.7, 0.1)]), "order of at least 1"),
        (lambda: rdp([(0.3, 0.1), (2, 1)]), "order=0.3 is outside"),
        (lambda: rdp([(2, math.inf)]), "must be finite; got"),
        (lambda: rdp([(math.inf, 1)]), "must be finite; got"),
        (lambda: rdp([(2, -1)]), "negative"),
        (
            lambda: RdpPair(((Fraction(3), Fraction(1)), (Fraction(2), Fraction(1, 2)))),
            "not sorted",
        ),
    ],
)
def test_what_cannot_be_worked_with_is_refused(make, words):
    with pytest.raises(InvalidParameter, match=words):
        make()


@given(
    st.fractions(Fraction(1, 10**6), 100, max_denominator=10**9),
    st.lists(
        st.tuples(
            st.fractions(1, 1000, max_denominator=1000),
            st.fractions(Fraction(1, 10**6), 100, max_denominator=10**6),
        ),
        min_size=1,
        max_size=6,
    ),
)
def test_records_are_rebuilt_exactly(rho, points):
    for f in (zcdp(rho), rdp(points), zcdp(rho) @ approx_dp(0, 0.1)):
        assert TradeOff.from_json(json.loads(json.dumps(f.to_json()))) == f


def test_written_as_made():
    assert str(zcdp(0.5)) == "zcdp(rho=0.5)"
    assert str(rdp([(2, 0.5), (1.5, 0.1)])) == "rdp([(1.5, 0.1), (2, 0.5)])"
