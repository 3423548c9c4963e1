"""Several statistics in one statement: each is what it would be by itself, for its share."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import neyman as ny
from neyman.errors import InvalidParameter, InvalidTable
from neyman.tables import (
    Bounds,
    Correlation,
    Count,
    Entity,
    Keys,
    LinearRegression,
    Mean,
    Measured,
    Rows,
    Sum,
    Together,
    UnknownKeys,
    Variance,
    open_table,
)
from random_cases import random_cases

BOUNDS = {"x": Bounds(-60, 180, grid=1), "y": Bounds(0, 1, grid=1)}
COLUMNS = ("u VARCHAR", "g VARCHAR", "x DOUBLE", "y BOOLEAN")
KEYS = Keys({"g": ["a", "b"]})
rows = st.lists(
    st.tuples(
        st.sampled_from("uv"),
        st.sampled_from(["a", "b", None]),
        st.one_of(st.none(), st.sampled_from([math.nan, math.inf, -1e308]), st.floats(-90, 200)),
        st.sampled_from([None, True, False]),
    ),
    max_size=20,
)


def opened(fill, table, unit=Rows()):  # noqa: B008
    return open_table(fill("together", COLUMNS, table), unit=unit, bounds=BOUNDS, name="together")


def parts(table):
    x, y = table.measured("x"), table.measured("y")
    return [Count(), Mean(x), Sum(x), Variance(y), Correlation(x, y)]


@random_cases(5, soak=50)
@given(rows=rows, keyed=st.booleans())
def test_its_integers_are_those_of_each_times_the_weight(fill, rows, keyed):
    table = opened(fill, rows)
    by = KEYS if keyed else None
    aggregate = table.statistics(parts(table), by)
    found = aggregate.compute().reshape(2 if keyed else 1, -1)
    start = 0
    for part, weight in zip(parts(table), aggregate.query["weights"], strict=True):
        own = table.aggregate(part, by).compute().reshape(len(found), -1)
        assert (found[:, start : start + own.shape[1]] == weight * own).all()
        start += own.shape[1]
    assert start == found.shape[1]


@random_cases(5, soak=50)
@given(rows=rows, keyed=st.booleans(), total=st.integers(1, 6), most=st.integers(1, 3))
def test_removing_a_unit_moves_them_within_the_sensitivity(fill, rows, keyed, total, most):
    def ask(table):
        found = opened(fill, table, Entity("u", max_rows=total, max_rows_per={"g": most}))
        return found.statistics(parts(found), KEYS if keyed else None)

    aggregate = ask(rows)
    for unit in "uv":
        rest = ask([row for row in rows if row[0] != unit]).compute()
        change = [abs(int(x)) for x in aggregate.compute() - rest]
        assert sum(change) <= aggregate.sensitivity.l1
        assert sum(x * x for x in change) <= aggregate.sensitivity.l2_squared


@pytest.mark.shows("together")
def test_each_has_the_noise_of_a_question_of_its_own_for_its_share(fill):
    """Four questions of mu/2 each are one of mu: the same noise, to the 2 % of the weights."""
    table = opened(fill, [])
    mu = Fraction(1, 2)
    for shares in ((), (4, 1, 1, 1, 1)):
        aggregate = table.statistics(parts(table), KEYS, shares=shares)
        joint = ny.Gaussian.calibrate(aggregate.sensitivity, mu).variance
        given = shares or (1,) * 5
        for part, weight, share in zip(
            parts(table), aggregate.query["weights"], given, strict=True
        ):
            alone = table.aggregate(part, KEYS).sensitivity
            # mu sqrt(share / all), squared.
            own = alone.l2_squared / (mu**2 * Fraction(share, sum(given)))
            assert float(joint / weight**2 / own) == pytest.approx(1, abs=0.06)


def test_the_reading_takes_the_weights_off(fill):
    rng = np.random.default_rng(5)
    table = opened(fill, [("u", "a", float(x), bool(x > 40)) for x in rng.uniform(-60, 180, 99)])
    x = table.measured("x")
    asked = [Count(poisson=True), Mean(x), Sum(x), Variance(x)]
    aggregate = table.statistics(asked)
    scale = 1000 * max(aggregate.query["weights"])
    noise = ny.Gaussian(scale=scale)
    found = aggregate.reading.columns(aggregate.compute(), noise, 0.95)
    assert found["count"] == [99.0]
    start = 0
    for part, weight in zip(asked, aggregate.query["weights"], strict=True):
        size = len(part.components)
        own = table.aggregate(part)
        # Noise of w sigma on w v is noise of sigma on v, rounding aside.
        alone = own.reading.columns(
            own.compute(), ny.Gaussian(variance=Fraction(scale, weight) ** 2), 0.95
        )
        names = list(found)[start : start + len(part.names)]
        for name, known in zip(names, alone.values(), strict=True):
            assert found[name] == pytest.approx(known, rel=1e-2), name
        start += len(part.names)
        assert size == own.size


def test_names_tell_statistic_and_column(fill):
    table = opened(fill, [])
    x, y = table.measured("x"), table.measured("y")
    found = table.statistics([Count(), Mean(x), Mean(y), Sum(x)], KEYS)
    read = found.reading.columns(np.zeros(found.size, np.int64), ny.Gaussian(scale=9), 0.95)
    assert list(read) == [
        *("count", "count_stddev", "count_lower", "count_upper"),
        *("mean_x", "mean_x_lower", "mean_x_upper"),
        *("mean_x_total_lower", "mean_x_total_upper", "mean_x_count"),
        *("mean_y", "mean_y_lower", "mean_y_upper"),
        *("mean_y_total_lower", "mean_y_total_upper", "mean_y_count"),
        *("sum_x", "sum_x_stddev", "sum_x_lower", "sum_x_upper"),
    ]
    assert {len(column) for column in read.values()} == {2}


def test_unknown_groups_are_decided_by_the_count_of_all_rows(fill):
    table = opened(fill, [("u", "a", None, True)] * 7)
    x, by = table.measured("x"), UnknownKeys("g")
    both = table.statistics([Mean(x), Count()], by)
    weight = both.reading.parts[1][2].weight
    assert weight > 1
    assert both.unknown.find().integers[0, both.unknown.count] == 7 * weight
    assert both.sensitivity.new_groups.largest == weight
    # A row that lacks the column would not count.
    with pytest.raises(InvalidTable, match=r"does not count rows.*Count\(\) among"):
        table.statistics([Sum(x), Mean(x)], by)
    for alone in (Mean(x), Variance(x), Correlation(x, table.measured("y"))):
        asked = table.aggregate(alone, by)
        assert asked.unknown.count == 0
        assert asked.sensitivity.new_groups.largest == alone.components[0].limit


def test_a_units_rows_are_chosen_among_all_of_them(fill):
    """Asked alone, the mean keeps a row that holds a number; together any row may be kept."""
    units = [f"u{i}" for i in range(200)]
    table = opened(
        fill,
        [(u, "a", x, True) for u in units for x in (None, None, None, 9.0)],
        Entity("u", max_rows=1),
    )
    x = table.measured("x")
    alone = table.mean("x").compute()[0] / 120
    joint = table.statistics([Count(), Mean(x)])
    count, known, _ = joint.compute() / np.repeat(joint.query["weights"], [1, 2])
    assert (alone, count) == (200, 200)
    # Binomial(200, 1/4): six deviations and more, error rate below 1e-9.
    assert abs(known / 120 - 50) < 40


def test_shares_and_names_that_do_not_do(fill):
    table = opened(fill, [])
    x, y = table.measured("x"), table.measured("y")
    for shares in ((1,), (1, 0), (1, 1.5), (True, 1)):
        with pytest.raises(InvalidParameter, match="whole number"):
            Together((Count(), Mean(x)), shares)
    with pytest.raises(InvalidParameter, match="at least one"):
        Together(())
    with pytest.raises(InvalidParameter, match="'mean_x' would stand twice"):
        Together((Mean(x), Mean(x)))
    for nested in (LinearRegression(x, (y,)), Together((Count(),))):
        with pytest.raises(InvalidParameter, match="by itself"):
            Together((Mean(x), nested))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(1, 2**21), min_size=1, max_size=5))
def test_weights_leave_room_for_rows_or_are_one_for_the_largest(limits):
    columns = [Bounds(0, limit, grid=1) for limit in limits]
    sums = tuple(Sum(Measured(f"x{i}", bounds)) for i, bounds in enumerate(columns))
    together = Together(sums)
    largest = max(component.limit for component in together.components)
    assert largest <= 2**22
    norms = [w * limit for w, limit in zip(together.weights, limits, strict=True)]
    assert max(norms) <= 1.51 * min(norms)
