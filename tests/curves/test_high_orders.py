"""Rényi divergences where the law of the loss leaves the doubles, and next to order 1."""

import math
from fractions import Fraction

import numpy as np
import pytest

from neyman.accounting import dp_sgd
from neyman.curves import gdp, poisson, poisson_replace

mpmath = pytest.importorskip("mpmath")


def _divergence(a: int, mu: float, q: str) -> float:
    """By the sum, in 60 digits."""
    with mpmath.workdps(60):
        share = mpmath.mpf(q)
        terms = (
            mpmath.binomial(a, k)
            * (1 - share) ** (a - k)
            * share**k
            * mpmath.exp(mpmath.mpf(mu) ** 2 * k * (k - 1) / 2)
            for k in range(a + 1)
        )
        return float(mpmath.log(mpmath.fsum(terms)) / (a - 1))


@pytest.mark.parametrize(("mu", "q"), [(1, "0.01"), (4, "0.3"), (0.5, "0.0001"), (12, "0.5")])
def test_whole_orders_hold_the_sum(mu: float, q: str) -> None:
    pair = poisson(gdp(mu), float(q)).remove
    for order in (2, 3, 17, 48, 100, 700):
        truth = _divergence(order, mu, q)
        lower, upper = pair.renyi(order, bracket=True)
        assert lower <= truth * (1 + 1e-15)
        assert truth * (1 - 1e-15) <= upper
        assert upper - lower <= 1e-9 * truth + 1e-12


def test_between_whole_orders_the_chords_hold_the_integral() -> None:
    pair, q, a = poisson(gdp(1), 0.01).remove, 0.01, 48.5
    with mpmath.workdps(40):
        power = mpmath.quad(
            lambda z: mpmath.npdf(z) * (1 - q + q * mpmath.exp(z - 0.5)) ** a,
            [-10, 0, 20, 40, 45, 50, 55, 60, 80],
        )
        truth = float(mpmath.log(power) / (a - 1))
    lower, upper = pair.renyi(a, bracket=True)
    assert lower <= truth <= upper < lower * 1.02


def test_every_order_is_finite_and_rises() -> None:
    run = dp_sgd(noise_multiplier=1, sampling_probability=0.01, steps=1000)
    orders = np.asarray([1.0, 1.5, 8.0, 47.9, 48.0, 1e3, 1e5, 1e8])
    bounds = run.renyi(orders, bracket=True)
    assert np.all(np.isfinite(bounds.upper))
    assert np.all(bounds.lower <= bounds.upper)
    assert np.all(np.diff(bounds.upper) > 0)
    assert bounds.upper[4] == pytest.approx(1000 * _divergence(48, 1, "0.01"), rel=1e-6)
    assert run.renyi(math.inf) == math.inf
    assert poisson_replace(gdp(1), 0.01).renyi(1e6) <= 2e6 * (1 + 1e-9)


def test_order_one_is_narrow_and_holds_the_integral() -> None:
    pair, q = poisson(gdp(1), 0.01).remove, 0.01
    with mpmath.workdps(30):
        truth = float(
            mpmath.quad(
                lambda z: (
                    mpmath.npdf(z)
                    * (1 - q + q * mpmath.exp(z - 0.5))
                    * mpmath.log(1 - q + q * mpmath.exp(z - 0.5))
                ),
                [-12, -4, 0, 4, 14],
            )
        )
    lower, upper = pair.renyi(1, bracket=True)
    assert lower <= truth <= upper <= lower * (1 + 1e-5)


def test_zcdp_of_sampling_is_that_without() -> None:
    run = dp_sgd(noise_multiplier=1, sampling_probability=0.01, steps=1000)
    lower, upper = run.zcdp(bracket=True)
    assert 499.9 < lower <= 500 <= upper < 500.0001


@pytest.mark.parametrize("order", [2.0, 100.0, 550.0, 1e3, 1e6, 1e12])
def test_a_mixture_on_both_sides_keeps_its_bound(order):
    """P <= N(0) and Q >= q N(1) right of 0, so that D_a is at least what these two give there."""
    q = Fraction(1, 10)
    curve = poisson_replace(gdp(1), q)
    found = curve.renyi(order, bracket=True)
    least = (order * math.log(q) + order * (order - 1) / 2) / (order - 1)
    assert least - 1e-9 <= found.upper <= order / 2 + 0.2
    assert max(least, 0) - 1 <= found.lower <= found.upper


def test_the_rho_of_many_steps_is_found_at_once():
    """The highest orders decide: 1,000 (q-sampled) steps of noise 31 have rho = 1000 / (2 31^2)."""
    found = dp_sgd(noise_multiplier=31, sampling_probability=0.01, steps=1000).zcdp(bracket=True)
    assert found.lower <= 1000 / 1922 <= found.upper < found.lower * (1 + 1e-9)
