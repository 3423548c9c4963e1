"""Nodes and weights of Gauss and Legendre against 40 digits."""

import mpmath
import numpy as np
import pytest

from neyman.numerics._legendre import legendre, lobatto

ORDERS = [1, 2, 5, 16, 20, 32]


def worst(order, rule):
    """Return the largest relative errors of the nodes and of the weights."""
    off = [0.0, 0.0]
    with mpmath.workdps(40):
        for x, w in zip(*rule, strict=True):
            node = mpmath.findroot(lambda y: mpmath.legendre(order, y), float(x))
            slope = mpmath.diff(lambda y: mpmath.legendre(order, y), node)
            weight = 2 / ((1 - node**2) * slope**2)
            off[0] = max(off[0], abs(float(float(x) - node)) / max(abs(float(x)), 1e-3))
            off[1] = max(off[1], abs(float((float(w) - weight) / weight)))
    return off


@pytest.mark.parametrize("order", ORDERS)
def test_they_are_right_to_the_last_bits(order):
    assert max(worst(order, legendre(order))) <= 2.0**-52


def test_a_rule_off_by_less_than_the_old_one_is_found():
    assert worst(32, np.polynomial.legendre.leggauss(32))[1] > 1e-14


@pytest.mark.parametrize("order", ORDERS)
def test_polynomials_are_integrated_exactly(order):
    x, w = legendre(order)
    assert np.all(np.diff(x) > 0)
    for power in range(0, 2 * order, 2):
        assert w @ x**power == pytest.approx(2 / (power + 1), rel=1e-14)


@pytest.mark.parametrize("order", [2, 3, 7, 9, 16])
def test_the_rule_with_both_ends_is_right_to_the_last_bits(order):
    x, w = lobatto(order)
    assert (x[0], x[-1]) == (-1.0, 1.0)
    with mpmath.workdps(40):
        degree = order - 1
        for node, weight in zip(x.tolist(), w.tolist(), strict=True):
            true = mpmath.mpf(node)
            if abs(node) < 1:
                true = mpmath.findroot(
                    lambda y: mpmath.diff(lambda z: mpmath.legendre(degree, z), y), node
                )
            assert abs(node - true) <= 2.0**-52 * max(abs(node), 1e-3)
            exact = 2 / (order * degree * mpmath.legendre(degree, true) ** 2)
            assert abs(weight / exact - 1) <= 2.0**-52
    for power in range(0, 2 * order - 2, 2):
        assert w @ x**power == pytest.approx(2 / (power + 1), rel=1e-14)
