"""Concentrated privacy: subgaussian losses, (mu, tau)-CDP, truncated CDP, Rényi groups."""

import json
import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from scipy.optimize import brentq

from neyman.accounting import (
    bun_steinke_delta,
    bun_steinke_epsilon,
    dwork_rothblum_delta,
    dwork_rothblum_epsilon,
    truncated_delta,
    truncated_epsilon,
)
from neyman.curves import (
    TradeOff,
    approx_dp,
    best,
    bounded_range,
    cdp,
    densities,
    discrete,
    discrete_gaussian,
    gdp,
    group,
    identity,
    laplace,
    mixture,
    poisson,
    pure_dp,
    rdp,
    subgaussian,
    tcdp,
    truncated_rho,
    zcdp,
)
from neyman.curves._divergences._subgaussian_order import least_tau_squared, tau_squared_of_rho
from neyman.errors import InvalidParameter, NotCertified

# -- the subgaussian parameter --------------------------------------------------------------------


def exact_ratio(p, q, x):
    """Return 2 log E_Q e^(x (L - m)) / x^2 of two laws, to 40 digits."""
    with mp.workdps(40):
        p, q = ([mp.mpf(repr(mass)) for mass in law] for law in (p, q))
        x = mp.mpf(repr(x))
        losses = [mp.log(b / a) for a, b in zip(p, q, strict=True)]
        mean = mp.fsum(b * loss for b, loss in zip(q, losses, strict=True))
        moment = mp.fsum(b * mp.exp(x * (loss - mean)) for b, loss in zip(q, losses, strict=True))
        return 2 * mp.log(moment) / x**2


@pytest.mark.shows("S4.4")
@pytest.mark.parametrize(
    ("p", "q"),
    [
        ([0.9, 0.1], [0.5, 0.5]),
        ([0.5, 0.5], [0.9, 0.1]),
        ([0.999, 0.001], [0.5, 0.5]),
        ([0.2, 0.3, 0.5], [0.1, 0.5, 0.4]),
    ],
)
def test_no_point_of_the_moment_generating_function_is_above(p, q):
    lower, upper = least_tau_squared(discrete(p, q).remove)
    points = [
        s * x for s in (1, -1) for x in (1e-3, 0.03, 0.3, 0.7, 1.0, 1.3, 2.0, 5.0, 20.0, 200.0)
    ]
    exact = max(exact_ratio(p, q, x) for x in points)
    assert exact <= upper
    assert lower <= upper <= lower * 1.02
    # Two outcomes: Kearns and Saul's constant.
    if len(p) == 2:
        gap = math.log(q[0] / p[0]) - math.log(q[1] / p[1])
        s = q[0]
        known = 0.25 if s == 0.5 else (1 - 2 * s) / (2 * math.log((1 - s) / s))
        assert lower * (1 - 1e-9) <= known * gap**2 <= upper * (1 + 1e-9)


@pytest.mark.shows("S4.4")
def test_gaussians_and_randomized_response_are_known():
    loss = subgaussian(gdp(1.5))
    assert (loss.mean.value, loss.parameter.value) == (1.125, 1.5)
    loss = subgaussian(pure_dp(1))
    assert loss.parameter.value**2 == pytest.approx(2 * math.tanh(0.5), rel=1e-12)
    assert loss.mean.value == pytest.approx(math.tanh(0.5), rel=1e-12)
    assert subgaussian(identity()).parameter.value == 0


@pytest.mark.parametrize(
    "f", [laplace(1), bounded_range(1), discrete_gaussian(1), pure_dp(3)], ids=str
)
def test_a_bounded_loss_is_no_wider_than_its_bound(f):
    lower, upper = subgaussian(f).parameter
    square = least_tau_squared(f.remove)
    assert lower**2 == pytest.approx(square[0], rel=1e-5)
    assert square[1] <= square[0] * (1 + 1e-3)
    assert upper <= f.renyi(math.inf)
    # x = -1: the mean is at most tau^2 / 2.
    assert subgaussian(f).mean.lower <= upper**2 / 2


def test_the_best_of_several_is_as_subgaussian_as_its_rho_says():
    """Nothing is known of it from below: there was a division by 0."""
    f = best(laplace(1), gdp(0.5))
    lower, upper = subgaussian(f).parameter
    assert lower == 0
    assert upper**2 == pytest.approx(tau_squared_of_rho(f.zcdp()), rel=1e-9)


def test_a_mixture_and_a_composition():
    both = mixture([0.5, 0.5], [gdp(1), laplace(1)])
    assert subgaussian(both).parameter.upper <= 1.01
    three = subgaussian(laplace(1) ** 3)
    one = subgaussian(laplace(1))
    assert three.parameter.upper == pytest.approx(math.sqrt(3) * one.parameter.upper, rel=1e-9)
    unlike = subgaussian(laplace(1) @ gdp(1))
    assert unlike.parameter.lower <= unlike.parameter.upper
    assert unlike.parameter.upper == pytest.approx(math.hypot(one.parameter.upper, 1), rel=1e-9)


@pytest.mark.soak
def test_a_sampled_gaussian_is_as_wide_as_the_gaussian():
    lower, upper = subgaussian(poisson(gdp(1), 0.1)).parameter
    assert 0.9999 < lower <= upper < 1.001


def test_no_moment_no_parameter():
    for f in (approx_dp(1, 0.1), rdp([(2, 0.1)]), tcdp(0.1, 10)):
        assert subgaussian(f).parameter.upper == math.inf
    with pytest.raises(InvalidParameter, match="must be finite; got"):
        subgaussian(tcdp(0.1, 10)).tradeoff()

    def normal(mean):
        return lambda x: -((x - mean) ** 2) / 2 - np.log(2 * np.pi) / 2

    with pytest.raises(NotCertified):
        subgaussian(densities(normal(0), normal(1), low=-38, high=38))


@pytest.mark.shows("S4.7", "e4.8")
@pytest.mark.parametrize("f", [gdp(1), laplace(1), pure_dp(2), discrete_gaussian(1)], ids=str)
def test_the_tail_bounds_the_law_of_the_loss(f):
    loss = subgaussian(f)
    t = np.array([0, 0.5, 1, 2, 4])
    exact = np.exp(
        f.remove.log_tails(loss.mean.upper + t * loss.parameter.upper, closed=True).q_above
    )
    assert np.all(exact <= loss.tail(t))
    with pytest.raises(
        InvalidParameter, match=r"must be at least 0; got .*on the side that the bound covers"
    ):
        loss.tail([-0.1, 1])


@pytest.mark.shows("S4.6")
@pytest.mark.parametrize("rho", [1e-6, 0.01, 0.5, 1, 5, 40])
def test_every_member_of_zcdp_is_as_subgaussian_as_is_said(rho):
    bound = tau_squared_of_rho(rho)
    members = [gdp(squared=2 * Fraction(str(rho)))]
    # Its rho is epsilon tanh(epsilon/2).
    members.append(pure_dp(brentq(lambda x: x * math.tanh(x / 2) - rho, 0, 90, xtol=1e-14)))
    # One outcome that tells much: its variance is about rho^2 / 4.
    if rho >= 1:
        half = Fraction(0.5 * math.exp(-rho)).limit_denominator(10**24)
        members.append(discrete([half, 1 - half], [0.5, 0.5]))
    for f in members:
        if f.zcdp() <= rho * (1 + 1e-9):
            assert f.remove.subgaussian_bracket()[1][0] <= bound
    assert bound <= 4.3 * rho if rho < 0.01 else bound <= 40 * rho * (1 + rho)
    assert subgaussian(zcdp(rho)).parameter.upper ** 2 == pytest.approx(bound, rel=1e-9)


# -- (mu, tau)-CDP --------------------------------------------------------------------------------


@pytest.mark.shows("S4.6")
def test_means_and_squares_add():
    assert (cdp(0.4, 1) @ cdp(0.1, 2)).remove.parameters() == {"mu": "1/2", "tau_squared": "5"}
    assert (cdp(0.25, 1) ** 4) == cdp(1, 2)
    # More than tau^2/2 is no information.
    assert cdp(7, 1) == cdp(0.5, 1)
    assert cdp(0, 1) == cdp(1, 0) == identity()
    assert cdp(0.5, 1) @ gdp(1) == gdp(1) @ cdp(0.5, 1)
    # What stands beside a statement is kept, and converted with it.
    assert (cdp(0.5, 1) @ gdp(1)).epsilon(1e-6) == (cdp(0.5, 1) ** 2).epsilon(1e-6)
    assert cdp(0.1, 1) @ zcdp(0.5) == zcdp(0.5) @ cdp(0.1, 1) == cdp(0.1, 1) @ cdp(0.5, 1)
    mixed = cdp(0.1, 1) @ laplace(1)
    assert mixed.renyi(1) >= 0.1 + laplace(1).renyi(1) - 1e-12
    assert mixed.zcdp() >= 0.5 + laplace(1).zcdp() - 1e-12
    assert mixed.zcdp() == pytest.approx(0.5 + subgaussian(laplace(1)).parameter.upper ** 2 / 2)


@pytest.mark.shows("S4.3")
def test_cdp_is_a_line_of_divergences():
    f = cdp(0.1, 1)
    assert np.allclose(f.renyi([1, 2, 5]), [0.1, 0.6, 2.1], rtol=1e-12)
    assert f.renyi(math.inf) == math.inf
    assert f.zcdp() == 0.5
    assert f.implies(zcdp(0.5))
    assert not f.implies(zcdp(0.49))
    assert not zcdp(0.5).implies(f)
    assert zcdp(0.099).implies(cdp(0.1, 1))
    assert gdp(1).implies(cdp(0.5, 1))
    assert not gdp(1.01).implies(cdp(0.5, 1))
    assert subgaussian(laplace(1)).tradeoff().remove.mean >= Fraction(str(laplace(1).renyi(1)))
    assert laplace(1).implies(subgaussian(laplace(1)).tradeoff())


SOAK = pytest.mark.soak


@pytest.mark.shows("S4.7")
@pytest.mark.parametrize(
    ("mu", "tau"),
    [(0.1, 1), *(pytest.param(*x, marks=SOAK) for x in [(0.5, 1), (0.001, 0.5), (2, 3)])],
)
def test_cdp_converts_no_worse_than_its_tail(mu, tau):
    f = cdp(mu, tau)
    for delta in (1e-6,):
        assert f.epsilon(delta) <= dwork_rothblum_epsilon(mu, tau, delta) * (1 + 1e-9)
        back = dwork_rothblum_delta(mu, tau, dwork_rothblum_epsilon(mu, tau, delta))
        assert back == pytest.approx(delta, rel=1e-9)
    assert dwork_rothblum_delta(mu, tau, mu - 1) == 1
    member = gdp(squared=2 * Fraction(str(mu)))
    at = np.array([-1, 0, 0.5, 2])
    assert np.all(member.delta_bracket(at).lower <= f.delta(at))
    assert np.all(member.beta_bracket(np.array([0.01, 0.3])).upper >= f.beta([0.01, 0.3]))
    # A member may lose nothing; the class loses what its Gaussian does.
    lower, upper = f.mu(bracket=True)
    assert lower == 0
    assert math.sqrt(2 * mu) * (1 - 1e-12) <= upper <= zcdp(Fraction(str(tau)) ** 2 / 2).mu()


# -- truncated CDP --------------------------------------------------------------------------------


@pytest.mark.shows("S4.3")
def test_rho_adds_and_the_smaller_omega_is_left():
    assert tcdp(0.1, 10) @ tcdp(0.2, 20) == tcdp(0.3, 10)
    assert tcdp(0.1, 10) ** 5 == tcdp(0.5, 10)
    assert tcdp(0, 10) == identity()
    for other in (zcdp(0.2), gdp(squared=0.4), cdp(0.2, 1), laplace(1)):
        assert tcdp(0.1, 10) @ other == other @ tcdp(0.1, 10)
    assert tcdp(0.1, 10) @ zcdp(0.2) == tcdp(0.3, 10)
    assert tcdp(0.1, 10) @ rdp([(2, 0.1), (30, 1)]) == rdp([(2, 0.3)])
    beside = (tcdp(0.1, 10) @ laplace(1)).renyi(5)
    assert beside == pytest.approx(0.5 + laplace(1).renyi(5), rel=1e-12)


@pytest.mark.parametrize(
    ("rho", "omega", "delta"),
    [
        (0.3, 3, 1e-6),
        pytest.param(0.3, 10, 1e-6, marks=SOAK),
        pytest.param(0.01, 100, 1e-9, marks=SOAK),
    ],
)
def test_tcdp_converts_no_worse_than_its_closed_form(rho, omega, delta):
    f = tcdp(rho, omega)
    closed = truncated_epsilon(rho, omega, delta)
    assert zcdp(rho).epsilon(delta) * (1 - 1e-6) <= f.epsilon(delta) <= closed
    assert truncated_delta(rho, omega, closed) == pytest.approx(delta, rel=1e-9)
    order = np.linspace(1, omega, 4001)[1:]
    simple = np.min(rho * order + math.log(1 / delta) / (order - 1))
    assert closed == pytest.approx(simple, rel=1e-4)


def test_truncated_rho():
    assert truncated_rho(gdp(1), 5) == 0.5
    assert truncated_rho(laplace(1), math.inf) == laplace(1).zcdp()
    lower, upper = truncated_rho(laplace(1), 3, bracket=True)
    assert lower <= upper <= laplace(1).zcdp()
    assert truncated_rho(zcdp(0.3), 5) == pytest.approx(0.3, rel=1e-12)
    assert truncated_rho(tcdp(0.3, 5), 5) == pytest.approx(0.3, rel=1e-12)
    assert truncated_rho(tcdp(0.3, 5), 6) == math.inf
    assert truncated_rho(cdp(0.1, 1), 5) == pytest.approx(2.1 / 5, rel=1e-12)
    assert truncated_rho(approx_dp(1, 0.1), 2) == math.inf
    assert truncated_rho(rdp([(2, 0.5), (4, 1.5)]), 4) >= 1.5 / 4
    f = tcdp(0.3, 10)
    assert zcdp(0.299).implies(f)
    assert gdp(0.7).implies(f)
    assert not zcdp(0.31).implies(f)
    assert not f.implies(zcdp(0.3))
    assert f.implies(rdp([(2, 0.61), (9, 2.71)]))
    with pytest.raises(InvalidParameter, match="no order above 1"):
        truncated_rho(gdp(1), 1)


# -- zCDP -----------------------------------------------------------------------------------------


@pytest.mark.shows("S4.3")
@pytest.mark.parametrize("rho", [0.01, 0.5, 4])
def test_bun_and_steinkes_conversions(rho):
    assert bun_steinke_epsilon(0.5, 1e-5) == pytest.approx(5.2985, abs=6e-5)
    for epsilon in (rho, rho + 0.1, rho + 3):
        exact = zcdp(rho).delta(epsilon)
        assert exact * (1 - 1e-6) <= bun_steinke_delta(rho, epsilon)
        assert bun_steinke_delta(rho, epsilon) <= truncated_delta(rho, math.inf, epsilon)
    assert bun_steinke_delta(rho, rho / 2) == 1


def test_pure_privacy_is_concentrated():
    """epsilon^2/2 (Bun and Steinke, proposition 1.4), and the exact epsilon tanh(epsilon/2)."""
    for epsilon in (0.1, 1, 4):
        assert pure_dp(epsilon).implies(zcdp(epsilon**2 / 2))
        assert pure_dp(epsilon).zcdp() == pytest.approx(epsilon * math.tanh(epsilon / 2))


# -- groups ---------------------------------------------------------------------------------------


def test_groups():
    assert group(zcdp(0.1), 3) == zcdp(0.9)
    assert group(cdp(0.01, 1), 2) == zcdp(2)
    points = rdp([(4, 0.4), (8, 1), (16, 3)])
    two, three, four = (group(points, k) for k in (2, 3, 4))
    assert two.implies(three)
    assert three.implies(four)
    # Mironov: a point (a, R) gives (a/2^c, 3^c R), for a >= 2^(c+1).
    for c, f in ((1, two), (2, four)):
        for order, bound in ((4, 0.4), (8, 1), (16, 3)):
            if order >= 2 ** (c + 1):
                assert f.renyi(order / 2**c) <= 3**c * bound * (1 + 1e-12)
    # It holds for the mechanism that attains the bounds.
    base = gdp(0.5)
    orders = [2, 4, 8, 16, 32]
    of_group = group(rdp([(a, base.renyi(a)) for a in orders]), 4)
    assert group(base, 4).implies(of_group)


def test_a_group_of_a_group():
    points = rdp([(16, 1)])
    assert group(group(points, 2), 2) == group(points, 4)


# -- records and refusals -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "f", [cdp(0.1, 1), cdp(0.3, Fraction(1, 3) + 1), tcdp(0.1, 10), tcdp(0.1, 1.5)]
)
def test_records(f):
    assert TradeOff.from_json(json.loads(json.dumps(f.to_json()))) == f
    assert not math.isnan(f.delta(1))


@pytest.mark.shows("e4.8")
@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: cdp(-1, 1), "mu=-1 is negative"),
        (lambda: cdp(1, -1), "tau=-1 is negative"),
        (lambda: cdp(800, 100), "outside"),
        (lambda: tcdp(0.1, 1), "no order above 1"),
        (lambda: tcdp(-0.1, 2), "negative"),
        (lambda: tcdp(0.1, math.inf), "must be finite; got"),
    ],
)
def test_refusals(make, words):
    with pytest.raises(InvalidParameter, match=words):
        make()


def test_written_as_made():
    assert str(cdp(0.1, 1.5)) == "cdp(mu=0.1, tau=1.5)"
    assert str(tcdp(0.1, 10)) == "tcdp(rho=0.1, omega=10)"
