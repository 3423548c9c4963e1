"""Rényi divergences (Mironov, 2017; van Erven and Harremoës, 2014)."""

import math

import numpy as np
import pytest

ORDERS = np.unique(np.concatenate([np.linspace(0.01, 3, 120), np.logspace(0.01, 4, 120), [1.0]]))


def test_divergences_grow_with_the_order(curve):
    lower, upper = curve.renyi_bracket(ORDERS)
    finite = np.isfinite(upper)
    assert np.all(lower[finite][:-1] <= upper[finite][1:] * (1 + 1e-9))
    assert not np.any(np.isfinite(upper[np.argmin(finite) :])) or np.all(finite)


def test_divergences_are_not_negative_and_below_the_largest_loss(curve):
    lower, upper = curve.renyi_bracket(ORDERS)
    assert np.all(lower >= -1e-12)
    assert np.all(lower <= curve.renyi(math.inf) * (1 + 1e-12))
    assert np.all(np.isinf(upper) | (upper <= curve.renyi(math.inf) * (1 + 1e-9)))


@pytest.mark.shows("e4.4")
def test_orders_below_one_are_skew_symmetric(pair):
    """(1 - a) D_a(Q || P) = a D_(1-a)(P || Q)."""
    a = np.linspace(0.05, 0.95, 19)
    here, there = pair.renyi_bracket(a), pair.swap().renyi_bracket(1 - a)
    assert np.allclose((1 - a) * here.upper, a * there.upper, rtol=1e-10, atol=1e-14)


def test_zcdp_is_the_least_slope(certified):
    lower, upper = certified.zcdp(bracket=True)
    above = ORDERS[ORDERS >= 1]
    ratios = certified.renyi_bracket(above)
    assert np.all(ratios.lower / above <= upper)
    if math.isfinite(upper):
        assert upper - lower <= 2e-8 * upper
        assert np.max(ratios.upper / above) >= lower * (1 - 1e-6)


@pytest.mark.shows("S4.11")
def test_the_conversion_of_divergences_is_an_upper_bound(curve):
    """epsilon(delta) <= D_a + log(1/delta)/(a - 1), Mironov (2017), proposition 3."""
    orders = ORDERS[ORDERS > 1.0001]
    for delta in (1e-2, 1e-5, 1e-9):
        converted = np.min(curve.renyi(orders) + math.log(1 / delta) / (orders - 1))
        bounds = curve.epsilon(delta) if not curve.certified else None
        exact = bounds if bounds is not None else curve.epsilon(delta, bracket=True).lower
        assert exact <= converted * (1 + 1e-9) or math.isinf(converted)
