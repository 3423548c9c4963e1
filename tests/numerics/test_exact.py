"""Parameters are exact, doubles stand for decimals, and nothing is too long to be worked with."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neyman.errors import InvalidParameter
from neyman.numerics import (
    Interval,
    ceil_float,
    exact,
    first_double,
    floor_float,
    ordinary,
    square_roots,
    standing,
    text,
)

FINITE = st.floats(allow_nan=False, allow_infinity=False)
POSITIVE = st.fractions(min_value=Fraction(1, 10**30), max_value=10**30)


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        (3, Fraction(3)),
        (0.1, Fraction(1, 10)),
        (Fraction(1, 3), Fraction(1, 3)),
        (Decimal("0.25"), Fraction(1, 4)),
        (Decimal("0E-999999999"), Fraction(0)),
        (5e-324, Fraction(5, 10**324)),
        (1e300, Fraction(10**300)),
        (np.float64(0.1), Fraction(1, 10)),
        (np.float32(0.1), Fraction(1, 10)),
        (np.float16(0.1), Fraction(1, 10)),
        (np.int64(7), Fraction(7)),
        (np.uint8(7), Fraction(7)),
    ],
)
def test_what_a_number_stands_for(value, meant):
    assert exact(value, "x") == meant


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (math.nan, "must be finite; got"),
        (math.inf, "must be finite; got"),
        (-math.inf, "must be finite; got"),
        (Decimal("NaN"), "must be finite; got"),
        (Decimal("sNaN"), "must be finite; got"),
        (Decimal("-Infinity"), "must be finite; got"),
        (np.float32("nan"), "must be finite; got"),
        (True, "must be an int, a float, a Fraction or a Decimal; got True"),
        (np.bool_(True), "bool"),
        ("0.1", "got '0.1'"),
        (b"1", "got a value of type bytes"),
        (1j, "got a value of type complex"),
        (np.complex128(1), "complex"),
        (None, "got None"),
        ([1], "got a value of type list"),
        (np.array(1.0), "ndarray"),
        (Decimal("1e999999999"), "fewer digits"),
        (Decimal("1e-999999999"), "fewer digits"),
        (10**5000, "fewer digits"),
        (Fraction(1, 10**5000), "fewer digits"),
        (Fraction(10**5000 + 1, 10**5000), "fewer digits"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_no_parameter_is_refused_at_once(value, words):
    with pytest.raises(InvalidParameter, match=words) as caught:
        exact(value, "mu")
    assert str(caught.value).startswith("mu")
    assert "Write" in str(caught.value)


@given(FINITE)
def test_a_double_is_the_decimal_it_prints_as(x):
    assert exact(x, "x") == Fraction(repr(x))
    down, up = standing(exact(x, "x"))
    if x == 0 or abs(x) >= 2.0**-1000:
        assert (down, up) == (x, x)


@given(POSITIVE)
def test_standing_doubles_print_around_the_value(value):
    down, up = standing(value)
    assert exact(down, "x") <= value <= exact(up, "x")
    assert up in (down, math.nextafter(down, math.inf))


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(
    "size",
    [
        Fraction(1, 10**320),
        Fraction("5e-324"),
        Fraction("9.8e-324"),
        Fraction("1e-310"),
        Fraction("1e-305"),
        Fraction(1, 10**400),
    ],
)
def test_standing_doubles_without_relative_accuracy_are_around_the_value(sign, size):
    value = sign * size
    down, up = standing(value)
    assert Fraction(down) < value < Fraction(up)
    assert min(sign * down, sign * up) >= 0
    assert Fraction(up) - Fraction(down) <= Fraction(2) ** -1073 * (1 + size * 2**1022)


@given(POSITIVE)
def test_directed_doubles_are_the_nearest_on_their_side(value):
    low, high = floor_float(value), ceil_float(value)
    assert Fraction(low) <= value <= Fraction(high)
    assert value < Fraction(math.nextafter(low, math.inf))
    assert Fraction(math.nextafter(high, -math.inf)) < value


@given(POSITIVE)
def test_square_roots_enclose(value):
    down, up = square_roots(value)
    assert down <= up <= math.nextafter(math.nextafter(down, math.inf), math.inf)
    if down == up:
        assert exact(down, "x") ** 2 == value or Fraction(down) ** 2 == value
    else:
        assert Fraction(down) ** 2 < value < Fraction(up) ** 2


def test_square_roots_of_squares_of_decimals_are_exact():
    assert square_roots(Fraction(1, 100)) == (0.1, 0.1)
    assert square_roots(Fraction(0)) == (0.0, 0.0)


@pytest.mark.parametrize("value", [Fraction(1, 2**1001), Fraction(2**1001), Fraction(-1)])
def test_what_no_double_stands_for_is_refused(value):
    with pytest.raises(InvalidParameter, match="outside"):
        ordinary(value, "x")
    with pytest.raises(InvalidParameter, match="outside"):
        square_roots(value)


@given(st.floats(min_value=-1e308, max_value=1e308))
def test_an_interval_encloses_the_decimal(x):
    lower, upper = Interval.decimal(x)
    assert Fraction(float(lower)) <= exact(x, "x") <= Fraction(float(upper))


def test_a_decimal_leaves_whole_numbers_and_infinities():
    values = np.array([0.0, 1.0, -3.0, 2.0**52, np.inf, -np.inf])
    lower, upper = Interval.decimal(values)
    assert np.array_equal(lower, values)
    assert np.array_equal(upper, values)


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (Fraction(1, 10), "0.1"),
        (Fraction(3), "3"),
        (Fraction(1, 3), "1/3"),
        (Fraction(10**150), "1e+150"),
        (Fraction(10**400), "1" + "0" * 400),
    ],
)
def test_text(value, written):
    assert text(value) == written


@given(st.floats(min_value=0, allow_nan=False))
def test_first_double_finds_the_very_double(x):
    assert float(first_double(lambda y: y >= x, ())) == x


def test_first_double_of_nothing_is_infinite_and_of_everything_zero():
    assert np.array_equal(
        first_double(lambda y: y < np.array([np.inf, -1.0]), (2,)), np.array([0.0, np.inf])
    )
    assert first_double(lambda y: y > 1, (0, 3)).shape == (0, 3)
