"""Published conversions: their published numbers, and never below what is exact."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neyman.accounting._conversions import (
    ASOODEH,
    BRETAGNOLLE_HUBER,
    CANONNE_KAMATH_STEINKE,
    MIRONOV,
    OPTIMAL,
)
from neyman.accounting._rdp_methods import (
    moments_delta,
    moments_epsilon,
    rdp_delta,
    rdp_epsilon,
)
from neyman.accounting._training import dp_sgd
from neyman.curves import (
    Auto,
    TradeOff,
    approx_dp,
    discrete_gaussian,
    gdp,
    identity,
    laplace,
    poisson,
    pure_dp,
    subsample,
)
from neyman.curves._statements._real_line_constructors import rdp, zcdp
from neyman.errors import InvalidParameter

SHARP = [MIRONOV, CANONNE_KAMATH_STEINKE, ASOODEH, OPTIMAL]
ALL = [*SHARP, BRETAGNOLLE_HUBER]
NAMES = ["mironov", "cks", "asoodeh", "optimal", "kl"]


@pytest.mark.shows("S4.11")
@pytest.mark.parametrize(
    ("rho", "delta", "expected"),
    [
        (0.5, 1e-5, (5.2985, 4.7284, 4.9283, 4.7284)),
        (0.1, 1e-6, (2.4508, 2.1419, 2.2300, 2.1419)),
        (1, 1e-9, (10.1046, 9.5215, 9.7259, 9.5215)),
    ],
)
def test_zcdp_by_each(rho, delta, expected):
    for by, epsilon in zip(SHARP, expected, strict=True):
        found = rdp_epsilon(zcdp(rho), delta, by=by)
        assert found == pytest.approx(epsilon, abs=6e-5)
        assert rdp_epsilon(gdp(squared=2 * rho), delta, by=by) == pytest.approx(found, rel=1e-7)
        assert rdp_delta(zcdp(rho), found, by=by) == pytest.approx(delta, rel=1e-6)
    assert rdp_epsilon(zcdp(rho), delta, by=OPTIMAL) == pytest.approx(
        zcdp(rho).epsilon(delta), rel=1e-7
    )


@pytest.mark.shows("S4.11")
def test_bun_and_steinke_is_mironov_at_the_best_order():
    rho, delta = 0.3, 1e-7
    closed = rho + 2 * np.sqrt(rho * np.log(1 / delta))
    assert rdp_epsilon(zcdp(rho), delta, by=MIRONOV) == pytest.approx(closed, rel=1e-9)


@pytest.mark.parametrize(
    ("order", "divergence", "epsilon", "expected"),
    [
        (2, 0.5, 1, {"optimal": 0.0897, "cks": 0.1516, "mironov": 0.607}),
        (8, 1, 2, {"optimal": 4.472e-5, "cks": 4.476e-5}),
    ],
)
def test_one_order(order, divergence, epsilon, expected):
    at = [np.asarray(float(x)) for x in (order, divergence, epsilon)]
    for name, by in zip(NAMES, ALL, strict=True):
        if name in expected:
            assert float(by.delta(*at)) == pytest.approx(expected[name], rel=1e-3)


@pytest.mark.shows("e4.5", "renyi")
@settings(max_examples=30)
@given(st.floats(1, 300), st.floats(1e-6, 30), st.floats(0, 40))
def test_optimal_is_never_worse_and_both_ways_agree(order, divergence, epsilon):
    at = np.asarray(order), np.asarray(divergence), np.asarray(epsilon)
    least = float(OPTIMAL.delta(*at))
    for by in SHARP:
        assert least <= float(by.delta(*at)) * (1 + 1e-9)
    if 1e-290 < least < 0.999:
        back = float(OPTIMAL.epsilon(at[0], at[1], np.asarray(least)))
        assert back == pytest.approx(epsilon, rel=1e-3, abs=1e-3 * divergence**0.5)


def test_arrays_broadcast():
    orders = np.array([[1.0], [2.0], [50.0]])
    for by in ALL:
        assert by.delta(orders, orders / 2, np.array([0.5, 1.0])).shape == (3, 2)
        assert by.epsilon(orders, orders / 2, np.array([1e-5, 0.1])).shape == (3, 2)


CURVES = [
    gdp(0.1),
    gdp(1),
    gdp(4),
    laplace(0.5),
    laplace(3),
    pure_dp(0.2),
    pure_dp(2),
    zcdp(0.5),
    rdp([(2, 0.5), (16, 6)]),
    TradeOff(gdp(1).remove, laplace(2).remove),
]


@pytest.mark.shows("S1.2", "e4.7")
@pytest.mark.parametrize("curve", CURVES, ids=str)
@pytest.mark.parametrize(
    ("epsilons", "deltas"),
    [
        ((0.3,), (1e-4,)),
        pytest.param((-0.5, 0.0, 0.3, 1.0, 3.0), (1e-9, 1e-4, 0.2), marks=pytest.mark.soak),
    ],
)
def test_a_conversion_is_never_below_the_exact(curve, epsilons, deltas):
    epsilons, grid = np.array(epsilons), np.linspace(0, 12, 200)
    exact, profile = curve.delta_bracket(epsilons).lower, curve.delta_bracket(grid).lower
    for name, by in zip(NAMES, ALL, strict=True):
        for epsilon, least in zip(epsilons.tolist(), exact.tolist(), strict=True):
            assert rdp_delta(curve, epsilon, by=by) >= least, (name, epsilon)
        for delta in deltas:
            # The exact epsilon is beyond every point whose delta is larger.
            least = float(np.max(grid[profile > delta], initial=0.0))
            assert rdp_epsilon(curve, delta, by=by) >= least, (name, delta)


def test_orders_that_are_given_are_the_only_ones():
    few = rdp_epsilon(gdp(1), 1e-5, by=OPTIMAL, orders=[2, 4, 8])
    assert few > rdp_epsilon(gdp(1), 1e-5, by=OPTIMAL)
    table = {2.0: 1.0, 4.0: 2.0, 8.0: 4.0}
    assert few == pytest.approx(
        rdp_epsilon(lambda a: [table[float(x)] for x in a], 1e-5, by=OPTIMAL, orders=list(table)),
        rel=1e-9,
    )


@pytest.mark.parametrize("by", ALL, ids=NAMES)
def test_the_ends(by):
    # A failure outright has no divergence of order 1 or more.
    assert rdp_epsilon(approx_dp(1, 0.1), 0.05, by=by) == np.inf
    assert rdp_delta(approx_dp(1, 0.1), 2.0, by=by) == 1
    # sqrt(1 - e^-KL) is rounded up from 0.
    assert rdp_epsilon(identity(), 1e-5, by=by) <= 1e-3
    assert rdp_epsilon(gdp(1), 0.0, by=by) == np.inf


def _by_integer_orders(noise, q, steps, delta):
    """Abadi et al.'s accountant as they ran it: whole orders, the binomial sum."""
    orders = np.arange(2, 65)
    log_moments = []
    for a in orders:
        k = np.arange(a + 1)
        terms = [math.comb(int(a), int(i)) * (1 - q) ** int(a - i) * q ** int(i) for i in k]
        log_moments.append(np.logaddexp.reduce(np.log(terms) + k * (k - 1) / (2 * noise**2)))
    return min((steps * np.asarray(log_moments) + math.log(1 / delta)) / (orders - 1))


@pytest.mark.shows("S1.2", "S4.13")
@pytest.mark.parametrize(
    ("noise", "q", "steps", "epsilon"),
    [
        # Dong, Roth and Su (2022), the table of MNIST: the column of the moments accountant.
        (Fraction("1.3"), Fraction(256, 60_000), 3515, 1.19),
        pytest.param(Fraction("1.1"), Fraction(256, 60_000), 14_062, 3.01, marks=pytest.mark.soak),
        pytest.param(Fraction("1.3"), Fraction(1, 100), 1000, 1.54, marks=pytest.mark.soak),
    ],
)
def test_the_moments_accountant_of_dp_sgd(noise, q, steps, epsilon):
    step = dp_sgd(noise_multiplier=noise, sampling_probability=q, steps=1)
    found = moments_epsilon([(step, steps)], 1e-5)
    assert round(found, 2) == epsilon
    # Real orders are a little better than whole ones, and both are bounds.
    whole = _by_integer_orders(float(noise), float(q), steps, 1e-5)
    assert (step**steps).epsilon(1e-5) <= found <= whole
    assert moments_delta([(step, steps)], found) == pytest.approx(1e-5, rel=1e-3)


@pytest.mark.parametrize(
    "curve",
    [
        poisson(laplace(1), 0.1),
        subsample(gdp(1), 0.1),
        discrete_gaussian(2),
        poisson(discrete_gaussian(2), 0.1),
        dp_sgd(noise_multiplier=10, sampling_probability=0.1, steps=1),
        dp_sgd(noise_multiplier=1, sampling_probability=0.1, steps=1, neighbors="replace_one"),
    ],
    ids=str,
)
def test_whatever_has_finite_moments_is_accounted_by_them(curve):
    assert curve.delta(math.inf) == 0
    assert curve.log_delta(math.inf) == -math.inf
    bound = moments_epsilon([(curve, 50)], 1e-5)
    assert 0 < bound < math.inf
    found = (curve**50).delta(bound, solver=Auto(tolerance=0.1), bracket=True)
    assert found.lower <= 1e-5


@pytest.mark.shows("S1.2", "S4.13")
def test_the_moments_accountant():
    assert moments_epsilon([(gdp(0.1), 100)], 1e-5) == pytest.approx(5.2985, abs=6e-5)
    assert moments_delta([(gdp(0.1), 100)], 5.298526) == pytest.approx(1e-5, rel=1e-4)
    mixed = [(gdp(0.1), 50), (laplace(0.1), 50)]
    alone = [(gdp(0.1), 50)]
    assert moments_delta(mixed, 3.0) > moments_delta(alone, 3.0) >= (gdp(0.1) ** 50).delta(3.0)
    one_way = TradeOff(gdp(1).remove, laplace(1).remove)
    assert moments_delta([(one_way, 3)], 4.0) == pytest.approx(
        moments_delta([(gdp(1), 3)], 4.0), rel=1e-9
    )


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda: rdp_epsilon(gdp(1), 2.0, by=OPTIMAL), r"delta must be in \[0, 1\]; got 2.0"),
        (
            lambda: rdp_delta(gdp(1), float("nan"), by=OPTIMAL),
            r"epsilon must be in \[-inf, inf\]; got nan",
        ),
        (lambda: rdp_delta(gdp(1), 1.0, by=OPTIMAL, orders=[0.5]), "at least 1"),
        (lambda: rdp_delta(gdp(1), 1.0, by=OPTIMAL, orders=[]), "at least 1"),
    ],
)
def test_refusals(ask, words):
    with pytest.raises(InvalidParameter, match=words):
        ask()
