"""Constructors take exact parameters, and refuse the rest with words that help."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from neyman.curves import approx_dp, gdp, identity, laplace, pure_dp
from neyman.errors import InvalidParameter, NeymanError

MAKERS = {
    "mu": gdp,
    "squared": lambda value: gdp(squared=value),
    "epsilon": laplace,
    "epsilon ": pure_dp,
    "epsilon  ": lambda value: approx_dp(value, 1e-6),
    "delta": lambda value: approx_dp(1, value),
}
NO_NUMBER = [math.nan, math.inf, -math.inf, True, "1", 1j, [1], np.array([1.0]), np.bool_(1)]


@pytest.mark.shows("no-budget")
@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("value", NO_NUMBER, ids=repr)
def test_what_is_no_number_is_refused(name, value):
    with pytest.raises(InvalidParameter, match=rf"^{name.strip()}\b must .*; got .*Write"):
        MAKERS[name](value)


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("value", [-1, -1e-300, Fraction(-1, 3), Decimal("-0.1")], ids=repr)
def test_negative_numbers_are_refused(name, value):
    with pytest.raises(InvalidParameter, match=rf"^{name.strip()}=.* is negative; write"):
        MAKERS[name](value)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (gdp, "takes mu or squared=mu\\^2, one of the two; write gdp\\(1\\)"),
        (lambda: gdp(1, squared=Fraction(1)), "one of the two"),
        (lambda: approx_dp(1, 1.5), "delta=1.5 is above 1; write a probability"),
        (lambda: approx_dp(1, 2), "above 1"),
        (lambda: laplace(701), "epsilon=701 is outside .*write one in that range"),
        (lambda: pure_dp(1e-200), "outside"),
        (lambda: gdp(1e-200), "outside"),
        (lambda: gdp(1e200), "outside"),
        (lambda: approx_dp(0, Decimal("1e-400")), "delta=.* outside"),
        (lambda: approx_dp(0, 1 - Fraction(1, 10**400)), "1 - delta=.* outside"),
        (lambda: gdp(10**6000), "fewer digits"),
        (lambda: laplace(None), "epsilon must be an int, .*; got None"),
    ],
)
def test_what_cannot_be_worked_with_is_refused(make, words):
    with pytest.raises(InvalidParameter, match=words):
        make()


def test_errors_are_value_errors_and_of_one_family():
    with pytest.raises(ValueError, match="negative") as caught:
        gdp(-1)
    assert isinstance(caught.value, NeymanError)


@pytest.mark.parametrize(
    "kind", [np.float64, np.float32, np.int64, np.uint8, int, Fraction, Decimal]
)
def test_every_real_scalar_is_taken(kind):
    assert gdp(kind(2)) == gdp(2)
    assert laplace(kind(2)) == laplace(2)
    assert approx_dp(kind(2), kind(1)) == approx_dp(2, 1)


def test_floats_stand_for_their_decimals():
    assert gdp(0.1) ** 100 == gdp(1)
    assert gdp(0.1) == gdp(Fraction(1, 10)) == gdp(Decimal("0.1")) == gdp(squared=0.01)
    assert laplace(0.3).delta(0.3) == 0
    assert pure_dp(0.3).delta(0.3) == 0
    assert pure_dp(0.3).epsilon(0) == 0.3
    assert approx_dp(0.7, 1e-6).delta(0.7) == 1e-6
    assert approx_dp(0.7, 1e-6).epsilon(1e-6) == 0.7
    assert approx_dp(0.7, 1e-6).beta(0.999999) == 0


def test_the_smaller_neighbour_of_a_bound_is_told_from_it():
    below = math.nextafter(0.3, 0.0)
    lower, upper = laplace(0.3).delta(below, bracket=True)
    # 0.3 and the decimal of the double before it are 7e-17 apart, and delta is half of that.
    assert lower <= 3.5e-17 <= upper


def test_nothing_is_the_identity():
    assert gdp(0) == laplace(0) == pure_dp(0) == approx_dp(0, 0) == gdp(squared=0) == identity()


def test_parameters_that_are_no_doubles_are_enclosed():
    third = pure_dp(Fraction(1, 3))
    lower, upper = third.epsilon(0, bracket=True)
    assert Fraction(repr(lower)) <= Fraction(1, 3) <= Fraction(repr(upper))
    root = gdp(squared=2)
    assert root.mu(bracket=True).lower < math.sqrt(2) * (1 + 1e-15)
    assert Fraction(root.mu()) ** 2 > 2 > Fraction(root.mu(bracket=True).lower) ** 2


@pytest.mark.parametrize(
    ("curve", "written"),
    [
        (gdp(0.4), "gdp(mu=0.4)"),
        (gdp(squared=Fraction(1, 3)), "gdp(mu≈0.577351)"),
        (laplace(0.5), "laplace(epsilon=0.5)"),
        (pure_dp(1), "pure_dp(epsilon=1)"),
        (approx_dp(1, 1e-6), "approx_dp(epsilon=1, delta=1e-06)"),
        (approx_dp(0, 0.5), "approx_dp(epsilon=0, delta=0.5)"),
        (identity(), "identity()"),
        (gdp(1) @ approx_dp(0, 0.1) ** 2, "gdp(mu=1) @ approx_dp(epsilon=0, delta=0.1) ** 2"),
        (laplace(1) @ approx_dp(0, 0.1), "laplace(epsilon=1) @ approx_dp(epsilon=0, delta=0.1)"),
    ],
)
def test_a_curve_is_written_as_it_is_made(curve, written):
    assert repr(curve) == str(curve) == written
