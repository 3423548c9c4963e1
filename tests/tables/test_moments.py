"""Sums of products of columns: the integers, how far a unit moves them, what is read of them."""

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neyman.errors import InvalidParameter, InvalidTable
from neyman.tables import (
    Bounds,
    Correlation,
    Covariance,
    Entity,
    Keys,
    LinearRegression,
    Rows,
    Variance,
    open_table,
)
from random_cases import random_cases

BOUNDS = {"x": Bounds(-2, 3, grid=0.5), "y": Bounds(0, 4, grid=1)}
COLUMNS = ("u VARCHAR", "g VARCHAR", "x DOUBLE", "y DOUBLE")
KEYS = Keys({"g": ["a", "b"]})
odd = [math.nan, math.inf, -math.inf, 1e308, -1e308, 0.25, -0.25, 5e-324]
values = st.one_of(st.none(), st.sampled_from(odd), st.floats(-4, 6))
rows = st.lists(
    st.tuples(st.sampled_from("uv"), st.sampled_from(["a", "b", None]), values, values), max_size=30
)
units = st.one_of(
    st.just(Rows()),
    st.builds(
        Entity,
        st.just("u"),
        max_rows=st.integers(1, 5),
        max_rows_per=st.dictionaries(st.sampled_from(["g", "x"]), st.integers(1, 3)),
    ),
)


@dataclass(frozen=True)
class Noiseless:
    """No noise, and intervals that say so."""

    stddev: float = 0.0

    def half_width(self, _confidence):
        return 0

    def radius(self, _rank, _size, _confidence):
        return 0.0


def opened(fill, table, unit=Rows(), bounds=BOUNDS, **more):  # noqa: B008
    return open_table(
        fill("moments", COLUMNS, table), unit=unit, bounds=bounds, name="moments", **more
    )


def statistics(table):
    x, y = table.measured("x"), table.measured("y")
    return {
        "variance": Variance(x),
        "covariance": Covariance(x, y),
        "correlation": Correlation(x, y),
        "regression": LinearRegression(y, (x,)),
    }


NAMES = ["variance", "covariance", "correlation", "regression"]


def steps(x, bounds):
    inside = min(max(x, float(bounds.lower)), float(bounds.upper))
    return math.floor(inside / float(bounds.grid) + 0.5) - bounds.steps[0]


def by_hand(table, statistic):
    """x has 10 steps, so d in [-5, 5] and d^2 - 12; y has 4, so e in [-2, 2] and e^2 - 2."""
    known = [(x, y) for _, g, x, y in table if g == "a"]
    if statistic == "variance":
        known = [(x, 0.0) for x, _ in known]
    pairs = [
        (steps(x, BOUNDS["x"]) - 5, steps(y, BOUNDS["y"]) - 2)
        for x, y in known
        if not (x is None or y is None or math.isnan(x) or math.isnan(y))
    ]
    n = len(pairs)
    d, e = sum(d for d, _ in pairs), sum(e for _, e in pairs)
    dd, ee = sum(d * d - 12 for d, _ in pairs), sum(e * e - 2 for _, e in pairs)
    de = sum(d * e for d, e in pairs)
    return {
        # Limits 1, 5, 13: to be brought to 8 * 13.
        "variance": [104 * n, 21 * d, 8 * dd],
        # 1, 5, 2, 10: to 80.
        "covariance": [80 * n, 16 * d, 40 * e, 8 * de],
        # 1, 5, 2, 13, 2, 10: to 104.
        "correlation": [104 * n, 21 * d, 52 * e, 8 * dd, 52 * ee, 10 * de],
        "regression": [104 * n, 21 * d, 52 * e, 8 * dd, 10 * de, 52 * ee],
    }[statistic]


@pytest.fixture(scope="module")
def question(fill):
    """One question of whatever rows the table holds when it runs."""

    @cache
    def asked(statistic):
        table = opened(fill, [])
        return table.aggregate(statistics(table)[statistic], Keys({"g": ["a"]}))

    return asked


@pytest.mark.parametrize("statistic", NAMES)
@random_cases(8, soak=100)
@given(rows=rows)
def test_the_integers_are_the_weighted_sums(fill, question, statistic, rows):
    # Asked first: the first time, it fills the table anew.
    asked = question(statistic)
    fill("moments", COLUMNS, rows)
    assert asked.compute().tolist() == by_hand(rows, statistic)


@pytest.mark.parametrize("statistic", NAMES)
@random_cases(5, soak=60)
@given(rows=rows, unit=units, keyed=st.booleans())
def test_removing_a_unit_moves_them_within_the_sensitivity(fill, statistic, rows, unit, keyed):
    by = KEYS if keyed else None
    table = opened(fill, rows, unit)
    aggregate = table.aggregate(statistics(table)[statistic], by)
    whole = aggregate.compute()
    left = [rows[1:]] if unit.entity is None else [[r for r in rows if r[0] != u] for u in "uv"]
    for rest in left:
        fill("moments", COLUMNS, rest)
        change = [abs(int(x)) for x in whole - aggregate.compute()]
        assert sum(change) <= aggregate.sensitivity.l1
        assert sum(x * x for x in change) <= aggregate.sensitivity.l2_squared


@pytest.mark.parametrize("statistic", NAMES)
def test_a_row_at_the_upper_bounds_attains_it(fill, statistic):
    unit = Entity("u", max_rows=5, max_rows_per={"g": 3})
    table = opened(fill, [("u", g, 9.0, 9.0) for g in "ab" for _ in range(5)], unit)
    aggregate = table.aggregate(statistics(table)[statistic], KEYS)
    change = [abs(int(x)) for x in aggregate.compute()]
    assert sum(change) == aggregate.sensitivity.l1
    assert sum(x * x for x in change) == aggregate.sensitivity.l2_squared


@pytest.mark.shows("moments")
def test_readings_without_noise_are_those_of_numpy(fill):
    rng = np.random.default_rng(3)
    x = np.round(rng.uniform(-2, 3, 400) * 2) / 2
    y = np.clip(np.round(1 + 0.6 * x + rng.normal(size=400)), 0, 4)
    table = opened(fill, [("u", "a", float(a), float(b)) for a, b in zip(x, y, strict=True)])

    def read(statistic):
        aggregate = table.aggregate(statistics(table)[statistic])
        return aggregate.reading.columns(aggregate.compute(), Noiseless(), 0.95)

    found = read("variance")
    assert found["variance"] == pytest.approx([np.var(x)])
    assert found["standard_deviation"] == pytest.approx([np.std(x)])
    assert (found["mean"], found["count"]) == (pytest.approx([np.mean(x)]), [400.0])
    assert read("covariance")["covariance"] == pytest.approx([np.cov(x, y, bias=True)[0, 1]])
    assert read("correlation")["correlation"] == pytest.approx([np.corrcoef(x, y)[0, 1]])
    slope, intercept = np.polyfit(x, y, 1)
    found = read("regression")
    assert found["term"] == ["(intercept)", "x"]
    assert found["estimate"] == pytest.approx([intercept, slope])
    for end in ("lower", "upper"):
        assert found[end] == pytest.approx([intercept, slope])


def test_a_rounded_product_is_within_half_a_unit(fill):
    """10^5 steps a column: products of 2.5e9 go by 2^12, and read back to 2^-20 of the range."""
    rng = np.random.default_rng(4)
    bounds = {name: Bounds(0, 1, grid=0.00001) for name in "xy"}
    x, y = np.round(rng.uniform(0, 1, (2, 100)), 5)
    table = opened(
        fill, [("u", "a", float(a), float(b)) for a, b in zip(x, y, strict=True)], bounds=bounds
    )
    for aggregate, name, exact in (
        (table.variance("x"), "variance", np.var(x)),
        (table.covariance("x", "y"), "covariance", np.cov(x, y, bias=True)[0, 1]),
    ):
        found = aggregate.reading.columns(aggregate.compute(), Noiseless(), 0.95)[name]
        assert 0 < abs(found[0] - exact) < 2.0**-20


def test_all_equal_rows_have_no_variance_and_no_correlation(fill):
    table = opened(fill, [("u", "a", 1.0, 2.0)] * 9)
    variance, correlation, line = (
        table.aggregate(statistics(table)[name])
        for name in ("variance", "correlation", "regression")
    )
    found = variance.reading.columns(variance.compute(), Noiseless(), 0.95)
    assert found["variance"] == pytest.approx([0.0], abs=1e-12)
    assert found["mean"] == [1.0]
    found = correlation.reading.columns(correlation.compute(), Noiseless(), 0.95)
    assert (found["lower"], found["upper"]) == ([-1.0], [1.0])
    found = line.reading.columns(line.compute(), Noiseless(), 0.95)
    assert (found["lower"], found["upper"]) == ([-math.inf] * 2, [math.inf] * 2)
    assert np.isnan(found["estimate"]).all()


@pytest.mark.parametrize("statistic", NAMES)
def test_no_rows_are_anything(fill, statistic):
    table = opened(fill, [])
    aggregate = table.aggregate(statistics(table)[statistic], KEYS)
    found = aggregate.reading.columns(aggregate.compute(), Noiseless(), 0.95)
    each = 2 if statistic == "regression" else 1
    ends = {
        "variance": (0.0, 6.25),
        "covariance": (-5.0, 5.0),
        "correlation": (-1.0, 1.0),
        "regression": (-math.inf, math.inf),
    }[statistic]
    value = "estimate" if statistic == "regression" else statistic
    assert np.isnan(found[value]).all()
    assert (found["lower"], found["upper"]) == tuple([end] * 2 * each for end in ends)
    assert aggregate.keys["g"] == [g for g in "ab" for _ in range(each)]


def test_what_is_refused(fill):
    table = opened(fill, [])
    x, y = table.measured("x"), table.measured("y")
    with pytest.raises(InvalidTable, match="smaller max_table_rows"):
        opened(fill, [], max_table_rows=2**60).variance("x")
    for wrong in ((), (x, x), (x, y)):
        with pytest.raises(InvalidParameter, match="each once, without the response"):
            LinearRegression(y, wrong)
    tiny = opened(fill, [], bounds={"x": Bounds(0, 1e-80, grid=1e-81)})
    with pytest.raises(InvalidTable, match="other units"):
        tiny.variance("x")
