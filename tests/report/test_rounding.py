"""A number has as many digits as its noise leaves, and no more."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neyman.report._columns import DOWN, UP, place_of, rounded, usual_place, written

NUMBERS = st.floats(-1e18, 1e18).filter(lambda x: x == 0 or abs(x) > 1e-12)
WIDTHS = st.floats(1e-9, 1e15)


@pytest.mark.shows("presentation")
@given(NUMBERS, WIDTHS)
def test_a_printed_number_is_within_half_a_unit_of_its_last_place(value, width):
    lower, upper = value - width, value + width
    place = place_of(lower, upper)
    if place is None:
        assert lower == upper
        return
    unit, half = Fraction(10) ** place, Fraction((upper - lower) / 2)
    printed = Fraction(written(rounded(value, place), max(-place, 0)).replace(",", ""))
    if place >= -9 and abs(value) < 1e17:
        assert abs(printed - Fraction(repr(value))) <= unit / 2
    # Two figures of the half-width are left: the last place is never finer than the noise.
    assert half / 100 * Fraction(999, 1000) < unit <= half / 10 * Fraction(1001, 1000)


@given(NUMBERS, WIDTHS)
def test_a_printed_interval_holds_the_whole_one_and_hardly_more(value, width):
    lower, upper = value - width, value + width
    place = place_of(lower, upper)
    if place is None:
        return
    unit = Fraction(10) ** place
    low, high = (Fraction(rounded(x, place, way)) for x, way in ((lower, DOWN), (upper, UP)))
    assert low <= Fraction(repr(lower)) < low + unit
    assert high - unit < Fraction(repr(upper)) <= high
    assert low <= Fraction(rounded(value, place)) <= high


@pytest.mark.parametrize(
    ("value", "half", "shown"),
    [
        (343_802_946, 7_350_000, "343,800,000"),
        (-0.17646, 2.0, "-0.2"),
        (8722.2, 24.0, "8,722"),
        (85.7, 147.0, "90"),
        (-0.0001, 1.0, "0.0"),
        (0.00012345, 0.000011, "0.000123"),
    ],
)
def test_numbers_that_people_have_seen(value, half, shown):
    place = place_of(value - half, value + half)
    assert written(rounded(value, place), max(-place, 0)) == shown


def test_the_ends_of_an_interval_are_taken_for_the_decimals_that_they_print_as():
    # As binary fractions they are a little more than 6.2, and 7.000000000000001.
    assert str(rounded(6.2, -1, UP)) == "6.2"
    assert str(rounded(0.07, 0, UP, scale=100)) == "7"


@pytest.mark.parametrize(
    ("lower", "upper"), [(1.0, 1.0), (2.0, 1.0), (float("nan"), 1.0), (0.0, float("inf"))]
)
def test_without_an_interval_the_noise_says_nothing(lower, upper):
    assert place_of(lower, upper) is None


def test_numbers_without_an_interval_have_four_figures_of_the_largest():
    assert usual_place([0.12345, 12.3456]) == -2
    assert usual_place([1.0, 84.0]) == 0
    assert usual_place([123456.78]) == 0
    assert usual_place([float("nan")]) == 0
