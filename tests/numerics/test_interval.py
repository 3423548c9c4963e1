"""Interval arithmetic against exact rationals, at all sizes of doubles."""

import math
import operator
from fractions import Fraction
from itertools import accumulate

import numpy as np
import pytest

from neyman.errors import EmptyIntersection
from neyman.numerics import raised
from neyman.numerics._interval import Interval

MOST = np.finfo(np.float64).max


def doubles(seed, count=3000):
    """All sizes and signs, and numbers about 1, which cancel."""
    rng = np.random.default_rng(seed)
    size = 10.0 ** rng.uniform(-320, 300, count) * rng.choice([-1, 1], count)
    near = rng.choice([-1, 1], count) * (1 + rng.uniform(-1e-3, 1e-3, count))
    whole = rng.integers(-4, 5, count).astype(float)
    pick = rng.integers(0, 3, count)
    return np.choose(pick, [size, near, whole])


def intervals(seed):
    first = doubles(seed)
    other = first + np.abs(first) * np.abs(doubles(seed + 100).clip(-1, 1)) * 1e-3
    return Interval(np.minimum(first, other), np.maximum(first, other))


def inside(interval, seed):
    """An exact number between the ends."""
    share = np.random.default_rng(seed).integers(0, 9, interval.lower.size)
    ends = zip(interval.lower.tolist(), interval.upper.tolist(), share.tolist(), strict=True)
    return [Fraction(a) + (Fraction(b) - Fraction(a)) * s / 8 for a, b, s in ends]


def assert_holds(found, truths):
    for lower, upper, truth in zip(found.lower.tolist(), found.upper.tolist(), truths, strict=True):
        assert not math.isnan(lower)
        assert not math.isnan(upper)
        assert math.isinf(lower) or Fraction(lower) <= truth, (lower, truth)
        assert lower < math.inf
        assert math.isinf(upper) or truth <= Fraction(upper), (upper, truth)
        assert upper > -math.inf


@pytest.mark.parametrize("operation", [operator.add, operator.sub, operator.mul, operator.truediv])
@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.soak)])
def test_an_operation_holds_the_exact_results(operation, seed):
    first, second = intervals(seed), intervals(seed + 50)
    x, y = inside(first, seed), inside(second, seed + 1)
    kept = np.asarray([b != 0 or operation is not operator.truediv for b in y])
    truths = [operation(a, b) for a, b, keep in zip(x, y, kept, strict=True) if keep]
    assert_holds(operation(first, second).at(kept), truths)
    # One of them exact, as an array of doubles or as one number on either side.
    exact = np.asarray(second.lower)
    there = kept & (exact != 0)
    truths = [
        operation(a, Fraction(b)) for a, b, t in zip(x, exact.tolist(), there, strict=True) if t
    ]
    assert_holds(operation(first, exact).at(there), truths)
    for number in (3, -0.5, 0.1, 2**60 + 1, Fraction(1, 3), 1e-300):
        assert_holds(operation(first, number), [operation(a, Fraction(number)) for a in x])
        apart = np.asarray([a != 0 for a in x]) | (operation is not operator.truediv)
        truths = [operation(Fraction(number), a) for a, t in zip(x, apart, strict=True) if t]
        assert_holds(operation(number, first).at(apart), truths)


def test_non_negative_operands_take_the_short_way_and_hold_the_results_too():
    first, second = (Interval(np.abs(doubles(s)), np.abs(doubles(s)) * 1.5) for s in (5, 6))
    x, y = inside(first, 1), inside(second, 2)
    assert_holds(first * second, [a * b for a, b in zip(x, y, strict=True)])
    assert np.all((first * second).lower >= 0)
    kept = second.upper > 0
    truths = [a / b for a, b, t in zip(x, y, kept, strict=True) if t and b]
    assert_holds((first / second).at(kept), truths)


def test_squares_and_roots_hold_the_exact_results():
    x = intervals(9)
    truths = inside(x, 3)
    square = x.squared()
    assert_holds(square, [a * a for a in truths])
    assert np.all(square.lower >= 0)
    positive = Interval(np.abs(x.lower), np.abs(x.lower) * (1 + 1e-9))
    root = positive.sqrt()
    for lower, upper, low, high in zip(*root, *positive, strict=True):
        assert Fraction(float(lower)) ** 2 <= Fraction(float(low))
        assert math.isinf(upper) or Fraction(float(upper)) ** 2 >= Fraction(float(high))


def test_an_operation_on_points_ends_at_the_doubles_beside_it():
    rng = np.random.default_rng(4)
    a, b = rng.uniform(-2, 2, 1000), rng.uniform(0.5, 2, 1000)
    for operation in (operator.add, operator.sub, operator.mul, operator.truediv):
        near, found = operation(a, b), operation(Interval.exactly(a), b)
        for end, side in ((found.lower, -np.inf), (found.upper, np.inf)):
            steps = np.abs(end - near) / np.abs(np.nextafter(near, side) - near)
            assert np.all((steps == 1) | (steps == 2))
            assert np.mean(steps == 1) > 0.98


def test_halves_doubles_and_zeros_are_exact():
    x = Interval.exactly(np.asarray([0.0, 0.3, -7.0]))
    for found, by in ((x / 2, 0.5), (x * 2, 2.0), (x * 0.25, 0.25), (-x, -1.0), (x * 0, 0.0)):
        assert np.all(np.abs(found.lower - x.lower * by) <= 5e-324)
        assert np.all(np.abs(found.upper - x.upper * by) <= 5e-324)
    zero = Interval.exactly(0.0)
    for found in (zero * Interval.decimal(0.3), zero / Interval.decimal(0.3), zero / 2, zero - 0):
        assert found.lower == found.upper == 0
    one = Interval.exactly(1.0)
    assert (1 - one).upper == 0
    assert Interval.exactly(0.0).squared().upper == 0


def test_what_overflows_is_not_infinite_from_below():
    big = Interval.exactly(1e308)
    for found in (big + big, big * big, big / 1e-308, big * 10):
        assert MOST * (1 - 1e-15) <= found.lower <= MOST
        assert found.upper == np.inf
    for found in (-big - big, -big * big, big / -1e-308, big * -10):
        assert -MOST <= found.upper <= -MOST * (1 - 1e-15)
        assert found.lower == -np.inf


def test_zero_times_anything_is_zero_and_a_division_by_zero_knows_nothing():
    unknown, zero = Interval(np.asarray(-np.inf), np.asarray(np.inf)), Interval.exactly(0.0)
    assert (unknown * zero).holds(0.0)
    around = Interval(np.asarray(-1.0), np.asarray(1.0))
    found = 1 / around
    assert np.isneginf(found.lower)
    assert np.isposinf(found.upper)
    found = Interval.exactly(1.0) / Interval(np.asarray(0.0), np.asarray(2.0))
    assert 0.4999 < found.lower <= 0.5
    assert np.isposinf(found.upper)


def test_a_decimal_is_held_and_a_whole_number_is_exact():
    x = np.asarray([0.1, 1 / 3, 1e-300, 123456.789, 3.0, -2.0, np.inf, 0.0])
    lower, upper = Interval.decimal(x)
    for a, b, value in zip(lower[:4].tolist(), upper[:4].tolist(), x[:4].tolist(), strict=True):
        written = Fraction(repr(value))
        assert Fraction(a) < written < Fraction(b)
        assert a < value < b
    assert np.array_equal(lower[4:], x[4:])
    assert np.array_equal(upper[4:], x[4:])


def test_an_exact_number_is_between_the_doubles_beside_it():
    for value in (Fraction(1, 3), Fraction(-7, 10), Fraction(1, 10**320), Fraction(3), 2**80 + 1):
        lower, upper = Interval.of(value)
        assert Fraction(float(lower)) <= value <= Fraction(float(upper))
        assert upper == lower or upper == np.nextafter(lower, np.inf)


def test_comparisons_are_true_where_they_are_proved():
    x = Interval(np.asarray([1.0, 2.0]), np.asarray([1.5, 3.0]))
    assert (x < 2).tolist() == [True, False]
    assert (x <= 3).tolist() == [True, True]
    assert (x > Interval.exactly(1.75)).tolist() == [False, True]
    assert (x >= 1).tolist() == [True, True]
    assert (x <= x).tolist() == [False, False]
    assert x.holds(2.0).tolist() == [False, True]


def test_sets_of_numbers():
    x = Interval(np.asarray([1.0, 2.0]), np.asarray([1.5, 3.0]))
    y = Interval(np.asarray(1.25), np.asarray(2.5))
    for found, low, high in (
        (x.meet(y), [1.25, 2.0], [1.5, 2.5]),
        (x.hull(y), [1.0, 1.25], [2.5, 3.0]),
        (x.clip(1.2, 2.0), [1.2, 2.0], [1.5, 2.0]),
        (x.smaller(y), [1.0, 1.25], [1.5, 2.5]),
        (x.larger(2), [2.0, 2.0], [2.0, 3.0]),
        (Interval.where(np.asarray([True, False]), x, y), [1.0, 1.25], [1.5, 2.5]),
        (x.at(np.asarray([False, True])), [2.0], [3.0]),
    ):
        assert (found.lower.tolist(), found.upper.tolist()) == (low, high)
    assert x.shape == (2,)
    assert x.middle.tolist() == [1.25, 2.5]


def test_bounds_that_exclude_each_other_are_a_named_error():
    x = Interval(np.asarray([1.0, 2.0]), np.asarray([1.5, 3.0]))
    with pytest.raises(EmptyIntersection, match=r"\[2.0, 3.0\] and \[3.5, 4.0\]"):
        x.meet(Interval(np.asarray([1.0, 3.5]), np.asarray([2.0, 4.0])))


def test_a_stated_error_is_kept_to():
    value = np.asarray([1.0, -2.0, 0.0, 1e-310, np.inf])
    lower, upper = Interval.within(value, 1e-10, 1e-300)
    assert np.all(lower[:4] < value[:4] - np.abs(value[:4]) * 1e-10)
    assert np.all(upper[:4] > value[:4] + np.abs(value[:4]) * 1e-10)
    assert (lower[4], upper[4]) == (MOST - MOST * 1e-10, np.inf) or lower[4] < MOST


def test_numpy_hands_its_arrays_over_to_the_interval():
    x = Interval.decimal(np.asarray([0.5, 0.25]))
    for found in (np.asarray([2.0, 4.0]) * x, np.float64(2.0) * x, np.asarray(3.0) - x):
        assert isinstance(found, Interval)
        assert found.shape == (2,)
    lower, upper = x
    assert np.array_equal(lower, x.lower)
    assert np.array_equal(upper, x.upper)


def test_a_total_holds_the_exact_sum():
    rng = np.random.default_rng(8)
    for size in (0, 1, 5, 200, 5000):
        low = 10.0 ** rng.uniform(-20, 5, size)
        x = Interval(low, low * (1 + 1e-12))
        lower, upper = x.total()
        assert Fraction(float(lower)) <= sum(map(Fraction, x.lower.tolist()), Fraction(0))
        assert Fraction(float(upper)) >= sum(map(Fraction, x.upper.tolist()), Fraction(0))
        assert upper <= lower * (1 + 2e-12)


def test_a_total_along_an_axis_or_of_blocks_holds_the_exact_sums():
    rng = np.random.default_rng(9)
    low = 10.0 ** rng.uniform(-20, 5, (3, 500))
    x = Interval(low, low * (1 + 1e-12))
    rows, starts = x.total(axis=-1), np.asarray([0, 1, 40])
    for i in range(3):
        blocks = Interval(x.lower[i], x.upper[i]).total(starts=starts)
        ends = [slice(0, 1), slice(1, 40), slice(40, None)]
        for found, part in (
            (rows.at(np.asarray(i)), slice(None)),
            *((blocks.at(np.asarray(k)), part) for k, part in enumerate(ends)),
        ):
            assert Fraction(float(found.lower)) <= sum(map(Fraction, x.lower[i, part].tolist()))
            assert Fraction(float(found.upper)) >= sum(map(Fraction, x.upper[i, part].tolist()))
            assert found.upper <= found.lower * (1 + 2e-12)


@pytest.mark.parametrize("size", [1, 5, 3000])
@pytest.mark.parametrize("rate", [-0.1, 0.0, 0.1])
def test_running_sums_hold_the_exact_ones_as_closely_as_their_shape_allows(size, rate):
    rng = np.random.default_rng(size)
    low = np.exp(rate * np.arange(size)) * rng.random(size)
    x = Interval(low, low * (1 + 1e-15))
    assert_holds(x.running(), accumulate(map(Fraction, low.tolist())))
    lower, upper = x.running()
    # A growing sequence is known as closely as a number, a falling one loses with its length.
    assert np.max(upper / lower) < 1 + (2e-14 if rate > 0 else 1e-12)


def test_sums_at_places_hold_the_exact_ones_and_where_nothing_stands_is_nothing():
    rng = np.random.default_rng(4)
    mass, places = rng.random(5000), rng.integers(0, 3, 5000)
    found = Interval.exactly(mass).binned(places, 4)
    sums = [sum(map(Fraction, mass[places == k].tolist()), Fraction(0)) for k in range(4)]
    assert_holds(found, sums)
    assert found.upper[3] == 0
    assert np.all(found.upper[:3] < found.lower[:3] * (1 + 1e-12))


def test_what_two_formulas_share_is_chosen_by_the_side_of_an_edge():
    x = Interval(np.asarray([0.0, 0.5, 0.9, 1.0]), np.asarray([0.5, 1.5, 1.0, 1.0]))
    below, above = Interval.exactly(np.full(4, -1.0)), Interval.exactly(np.full(4, 1.0))
    found = x.choose(1, below, above)
    assert found.lower.tolist() == [-1.0, -1.0, -1.0, 1.0]
    assert found.upper.tolist() == [-1.0, 1.0, -1.0, 1.0]


@pytest.mark.parametrize("falling", [True, False])
def test_a_monotone_view_is_asked_at_both_ends(falling):
    x = Interval(np.asarray([1.0]), np.asarray([2.0]))
    sign = -1 if falling else 1

    def view(place):
        return Interval(sign * place - 0.5, sign * place + 0.25)

    lower, upper = x.through(view, falling=falling)
    # The ends are decimals: one step wider.
    assert np.allclose(
        [lower, upper], [[-2.5], [-0.75]] if falling else [[0.5], [2.25]], rtol=1e-15
    )
    assert lower <= (-2.5 if falling else 0.5)
    assert upper >= (-0.75 if falling else 2.25)


def test_ends_that_stand_for_decimals_are_held():
    found = Interval(np.asarray([0.1, 1.0]), np.asarray([0.3, 1.0])).decimals()
    assert Fraction(float(found.lower[0])) < Fraction(1, 10)
    assert Fraction(float(found.upper[0])) > Fraction(3, 10)
    assert (found.lower[1], found.upper[1]) == (1.0, 1.0)


def test_an_end_is_raised_until_the_claim_is_shown_and_left_where_it_never_is():
    start = np.asarray([1.0, 2.0, 3.0])
    found = raised(start, 2.0**-52, lambda x: (x >= 1 + 2.0**-45) & (start < 3))
    assert 1 + 2.0**-45 <= found[0] <= 1 + 2.0**-43
    assert found[1:].tolist() == [2.0, 3.0]
