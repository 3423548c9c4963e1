"""The band is proved and holds; the estimates are called estimates and cannot be charged."""

import math

import numpy as np
import pytest

from neyman.accounting import filter_for
from neyman.accounting._central_limit import central_limit_band, central_limit_mu
from neyman.accounting._edgeworth import edgeworth, loss_cumulants
from neyman.accounting._estimate import Estimate
from neyman.accounting._functionals import _from_tails, functionals
from neyman.errors import InvalidParameter, NotCertified, UnsupportedComposition
from neyman.tradeoff import Pair, TradeOff, approx_dp, gdp, identity, laplace, pure_dp
from neyman.tradeoff._real_line_constructors import zcdp

TABLE = [
    (gdp(1), (0.5, 1.25, None, 1.59576912160573)),
    (laplace(0.5), (0.106530659712633, 0.217346701436833, 0.106619801263956, 0.105024628296521)),
    (laplace(1), (0.367879441171442, 0.792723352971346, 0.766173460520154, 0.699347654385469)),
    (laplace(2), (1.13533528323661, 2.9173177341071, 5.53809618203247, 3.60012346719042)),
    (pure_dp(0.7), (0.7 * math.tanh(0.35), 0.49, 0.343, None)),
]


@pytest.mark.parametrize(("curve", "expected"), TABLE, ids=str)
def test_functionals(curve, expected):
    found = functionals(curve.remove)
    assert found.certified
    values = (found.kl, found.kappa2, found.kappa3, found.kappa3_bar)
    for value, reference in zip(values, expected, strict=True):
        if reference is not None:
            assert value == pytest.approx(reference, rel=3e-14)
    assert found.variance == pytest.approx(found.kappa2 - found.kl**2, rel=1e-12)


@pytest.mark.parametrize(
    "curve", [gdp(0.3), gdp(5), laplace(0.01), laplace(30), pure_dp(0.01), pure_dp(3)], ids=str
)
def test_closed_forms_agree_with_the_tails(curve):
    closed, tails = functionals(curve.remove), _from_tails(curve.remove)
    assert not tails.certified
    room = 1e-10 if curve in (gdp(0.3), gdp(5)) else 2e-2
    for name in ("kl", "kappa2", "kappa3", "kappa3_bar", "variance"):
        assert getattr(tails, name) == pytest.approx(getattr(closed, name), rel=room)


def exact_composition(epsilon, n):
    """Return the trade-off function of f_{epsilon,0}^n at its break points."""
    log = [math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) for k in range(n + 1)]
    up = np.arange(n + 1)
    p = np.exp(log - n * np.log1p(np.exp(epsilon)) + epsilon * (n - up))
    q = p[::-1]
    return np.append(0.0, np.cumsum(p[::-1])), 1 - np.append(0.0, np.cumsum(q[::-1]))


def test_the_band_of_pure_dp():
    band = central_limit_band([(pure_dp(0.1), 100)])
    assert band.gamma == pytest.approx(0.0562, abs=5e-5)
    alphas, betas = exact_composition(0.1, 100)
    inside = np.clip(alphas, 0, 1)
    lower, upper = band.beta(inside)
    assert np.all(lower <= betas + 1e-12)
    assert np.all(betas <= upper + 1e-12)
    # The band says something: it is about 2 gamma wide where f is steep.
    at = band.beta(0.3)
    assert 0.1 < at.upper - at.lower < 0.3
    grid = np.linspace(0, 1, 20_001)
    error = np.max(np.abs(np.interp(grid, inside, betas) - gdp(1).beta(grid)))
    assert error == pytest.approx(0.00125, abs=2e-5)
    assert central_limit_mu([(pure_dp(0.1), 100)]).value == pytest.approx(1.00042, abs=1e-5)


@pytest.mark.parametrize("n", [40, 400, 4000])
def test_the_band_of_gaussians_holds_the_gaussian(n):
    band = central_limit_band([(gdp(0.5), n // 2), (gdp(0.1), n // 2)])
    exact = gdp(0.5) ** (n // 2) @ gdp(0.1) ** (n // 2)
    alphas = np.linspace(0, 1, 101)
    lower, upper = band.beta(alphas)
    assert np.all(lower <= exact.beta(alphas))
    assert np.all(exact.beta_bracket(alphas).upper <= upper + 1e-15)
    assert band.mu[0] <= exact.mu() <= band.mu[1]


def test_the_band_closes():
    wide, narrow = (central_limit_band([(laplace(0.1), n)]).gamma for n in (100, 10_000))
    assert narrow == pytest.approx(wide / 10, rel=1e-9)


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        ([(approx_dp(0.1, 1e-6), 100)], r"factor f_\{0,delta\} out"),
        ([(pure_dp(0.1), 1)], "not below 1/2"),
        ([], "nothing is composed"),
        ([(identity(), 5)], "nothing is composed"),
        ([(gdp(1), -1)], "no whole number"),
        ([(TradeOff(gdp(1).remove, laplace(1).remove), 100)], "not its own inverse"),
    ],
)
def test_what_the_theorem_does_not_cover_is_refused(steps, words):
    with pytest.raises(InvalidParameter, match=words):
        central_limit_band(steps)


def test_a_band_is_asked_within_its_range():
    band = central_limit_band([(pure_dp(0.1), 100)])
    with pytest.raises(InvalidParameter, match="leaves"):
        band.beta(1.5)
    with pytest.raises(InvalidParameter, match="leaves"):
        band.beta(math.nan)


class Estimated(Pair):
    """A Gaussian that proves nothing."""

    __slots__ = ()
    kind = "estimated"

    @property
    def symmetric(self):
        return True

    def parameters(self):
        return {}

    def log_tails(self, t, *, closed=False):
        return gdp(1).remove.log_tails(t, closed=closed)

    def cumulant(self, s):
        return gdp(1).remove.cumulant(s)


def test_estimated_moments_make_no_band():
    pair = Estimated()
    assert functionals(pair).kl == pytest.approx(0.5, rel=1e-10)
    with pytest.raises(NotCertified, match="only estimated"):
        central_limit_band([(TradeOff(pair, pair), 100)])
    assert central_limit_mu([(TradeOff(pair, pair), 4)]).value == pytest.approx(2, rel=1e-9)


def test_a_statement_without_a_pair_has_no_moments():
    for ask in (central_limit_band, central_limit_mu, edgeworth):
        with pytest.raises(UnsupportedComposition, match="no pair of laws"):
            ask([(zcdp(0.5), 10)])


@pytest.mark.parametrize("curve", [gdp(0.2), laplace(1), pure_dp(0.1), pure_dp(4)], ids=str)
def test_cumulants_of_the_loss(curve):
    moments = functionals(curve.remove)
    first, second, third, _ = loss_cumulants(curve.remove, 0.0)
    assert -first == pytest.approx(moments.kl, rel=1e-10)
    assert second == pytest.approx(moments.variance, rel=1e-10)
    mirrored = loss_cumulants(curve.remove, 1.0)
    assert mirrored[0] == pytest.approx(-first, rel=1e-10)
    assert mirrored[2] == pytest.approx(-third, rel=1e-6, abs=1e-9)


def test_cumulants_of_a_coin():
    e = 0.6
    t = math.tanh(e / 2)
    s = 1 - t * t
    known = [-e * t, e**2 * s, 2 * e**3 * t * s, e**4 * s * (6 * t * t - 2)]
    assert loss_cumulants(pure_dp(e).remove, 0.0) == pytest.approx(known, rel=1e-10)


def test_edgeworth_is_nearer_than_the_limit():
    curve, n = laplace(0.5), 30
    expansion = edgeworth([(curve, n)])
    generator = np.random.default_rng(7)
    x = generator.laplace(size=(200_000, n))
    loss = np.sum(np.abs(x) - np.abs(x - 0.5), axis=1)
    shifted = np.sum(np.abs(x + 0.5) - np.abs(x), axis=1)
    limit = gdp(central_limit_mu([(curve, n)]).value)
    for epsilon in (0.5, 2.0, 4.0):
        seen = np.mean(shifted > epsilon) - math.exp(epsilon) * np.mean(loss > epsilon)
        # Standard deviation below 0.0012 (1 + 0.0012 e^epsilon).
        assert expansion.delta(epsilon).value == pytest.approx(seen, abs=0.012)
    exact = gdp(1).beta(0.2)
    assert edgeworth([(gdp(0.1), 100)]).beta(0.2).value == pytest.approx(exact, rel=1e-9)
    assert abs(limit.mu() - 2.6) < 0.5


def test_edgeworth_refuses_what_has_no_expansion():
    with pytest.raises(InvalidParameter, match=r"factor f_\{0,delta\} out"):
        edgeworth([(gdp(1) @ approx_dp(0, 1e-6), 10)])
    with pytest.raises(InvalidParameter, match="nothing is composed"):
        edgeworth([])
    with pytest.raises(InvalidParameter, match="leaves"):
        edgeworth([(gdp(1), 1)]).beta(0.0)


def test_an_estimate_is_no_bound_and_no_curve():
    mu = central_limit_mu([(pure_dp(0.1), 100)])
    assert isinstance(mu, Estimate)
    assert mu.is_bound is False
    assert str(mu) == "estimate 1.00042 (central limit theorem)"
    with pytest.raises(NotCertified, match="cannot be charged"):
        filter_for(gdp(1)).cost(mu)
    with pytest.raises(NotCertified):
        filter_for(mu)
    with pytest.raises(TypeError):
        gdp(1) @ mu
    with pytest.raises(InvalidParameter, match="write an int, a float"):
        gdp(mu)
    with pytest.raises(TypeError):
        float(mu)
