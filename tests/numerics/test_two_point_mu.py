"""The Gaussian of a zCDP statement: the order that decides, and the proof on the whole line."""

import math

import mpmath
import numpy as np
import pytest

from neyman.numerics._distributions import _two_point_mu as room
from neyman.numerics._distributions._two_point_mu import gaussian_of_rho

RHOS = [2.0**-99, 1e-12, 1e-3, 0.1, 0.5, 1.0, 3.0, 20.0, 150.0, 699.0]


@pytest.fixture(autouse=True)
def _digits():
    with mpmath.workdps(60):
        yield


def tight(rho):
    """The mu of the fixed point: x tanh(x/2) = rho, v(mu/2) = x."""
    rho = mpmath.mpf(rho)
    start = max(mpmath.sqrt(2 * rho), rho)
    x = mpmath.findroot(lambda u: u * mpmath.tanh(u / 2) / rho - 1, start)
    near = mpmath.sqrt(mpmath.pi * rho) / 2 if rho < 1 else mpmath.sqrt(2 * rho)
    return 2 * mpmath.findroot(lambda z: log_odds(z) / x - 1, near)


def log_odds(z):
    return mpmath.log(mpmath.erfc(-z / mpmath.sqrt(2)) / mpmath.erfc(z / mpmath.sqrt(2)))


def needed(x, y):
    """R by its definition."""
    log_cosh = mpmath.log(mpmath.cosh(x / 2)) - mpmath.log(mpmath.cosh(y / 2))
    return (x + y) / (x - y) * log_cosh


def test_the_order_that_decides():
    rng = np.random.default_rng(5)
    for _ in range(200):
        x = mpmath.mpf(10 ** rng.uniform(-4, 1.5))
        y = x * mpmath.mpf(rng.uniform(-1, 1))
        p, q, a = 1 / (1 + mpmath.exp(x)), 1 / (1 + mpmath.exp(-y)), 2 * x / (x + y)
        moment = q**a * p ** (1 - a) + (1 - q) ** a * (1 - p) ** (1 - a)
        found = mpmath.log(moment) / (a * (a - 1))
        assert abs(found / needed(x, y) - 1) < 1e-25
        s, t = (np.asarray([float(value)]) for value in ((x + y) / 2, (x - y) / 2))
        exact = needed(mpmath.mpf(float(s[0])) + float(t[0]), mpmath.mpf(float(s[0])) - float(t[0]))
        below, above = (float(end[0]) for end in room._required(s, t))
        assert below <= exact <= above < below * (1 + 1e-13)


@pytest.mark.parametrize("rho", RHOS)
def test_it_is_the_fixed_points_and_no_less(rho):
    mu = tight(rho)
    found = gaussian_of_rho(float(mu), rho)
    assert 0 <= found / mu - 1 < 1e-12
    # What is not true is not shown.
    assert not room._proved(float(mu) * (1 - 1e-12) / 2, rho)
    assert room._proved(float(mu) * 1.5 / 2, rho)


def test_where_nothing_is_shown_nothing_is_said():
    assert gaussian_of_rho(0.9 * float(tight(0.5)), 0.5) == math.inf


@pytest.mark.parametrize("rho", RHOS[2:])
def test_the_curve_needs_at_least_rho(rho):
    """On the line of the answer, near the fixed point and far, the order's bound is broken."""
    h = mpmath.mpf(gaussian_of_rho(float(tight(rho)), rho)) / 2
    rng = np.random.default_rng(6)
    for w in [*(10 ** rng.uniform(-6, 1.3, 40)).tolist()]:
        x, y = log_odds(h + w), log_odds(h - w)
        assert needed(x, y) >= rho


def test_cells_bound_what_is_on_them():
    rng = np.random.default_rng(7)
    for _ in range(200):
        h, low = (mpmath.mpf(10 ** rng.uniform(-8, 1)) for _ in range(2))
        high = low * mpmath.mpf(1 + 10 ** rng.uniform(-6, 0))
        ends = np.asarray([float(low)]), np.asarray([float(high)])
        bound = float(room._least(float(h), *ends)[0])
        for w in (low, (low + high) / 2, high):
            w = min(max(w, mpmath.mpf(float(low))), mpmath.mpf(float(high)))
            half = mpmath.mpf(float(h))
            assert bound <= needed(log_odds(half + w), log_odds(half - w))


def test_what_is_far_is_bounded():
    for rho in RHOS[2:]:
        h = mpmath.mpf(float(tight(rho))) / 2
        far = room._far(float(h), rho)
        for more in (1, 1.1, 3):
            w = h + far * more
            # Close ones would lose their digits.
            with mpmath.workdps(60):
                assert needed(log_odds(h + w), -log_odds(w - h)) >= rho
