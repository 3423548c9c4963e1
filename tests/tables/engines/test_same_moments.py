"""Sums of products are the same integers on every engine, and those of whole-number arithmetic."""

import math
from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from neyman.tables import (
    Bounds,
    Correlation,
    Count,
    Entity,
    Keys,
    LinearRegression,
    Mean,
    Rows,
    Sum,
    Together,
    Variance,
    open_table,
)

BOUNDS = {
    "x": Bounds(-2, 3, grid=0.5),
    "y": Bounds(0, 1, grid=1),
    # So many steps that columns and products are both rounded.
    "z": Bounds(-(2**50), 2**50, grid=1),
    # And so many that products alone are.
    "w": Bounds(-1, 2, grid=0.0001),
}
ALL, SEVERAL = slice(None), slice(-1, None)
NUMBERS = [math.nan, math.inf, -math.inf, 1e308, -1e308, 5e-324, -0.0, 0.25, 0.5, 1.0, -0.25]
VALUES = st.one_of(st.none(), st.sampled_from(NUMBERS), st.floats(-3, 4))
HUGE = [-(2**63), 2**63 - 1, 2**53 + 1, -(2**50), 2**50 - 1, 2**31, 0, 1, -3]
WHOLE = st.one_of(st.none(), st.sampled_from(HUGE), st.integers(-(2**51), 2**51))
ROWS = st.lists(
    st.tuples(
        st.sampled_from(["u", "v", "", None]),
        st.sampled_from(["a", "b", None]),
        VALUES,
        st.sampled_from([None, True, False]),
        WHOLE,
        VALUES,
    ),
    max_size=30,
).flatmap(lambda rows: st.lists(st.sampled_from(rows), max_size=50) if rows else st.just([]))
TYPES = [pa.string(), pa.string(), pa.float64(), pa.bool_(), pa.int64(), pa.float64()]
QUESTION = {
    "rows": ROWS,
    "unit": st.one_of(
        st.just(Rows()),
        st.builds(
            Entity,
            st.just("who"),
            max_rows=st.integers(1, 7),
            max_rows_per=st.dictionaries(st.sampled_from(["g", "x"]), st.integers(1, 4)),
        ),
    ),
    "by": st.sampled_from([None, Keys({"g": ["a", "b", "c"]})]),
}


def asked(table):
    x, y, z, w = (table.measured(name) for name in "xyzw")
    several = Count(), Mean(x), Variance(w), Sum(y), Correlation(x, z)
    return {
        "variance of z": Variance(z),
        "correlation of w and z": Correlation(w, z),
        "regression of x on w and y": LinearRegression(x, (w, y)),
        "several at once": Together(several, (3, 1, 1, 2, 1)),
    }


def in_memory(rows):
    return {"source": arrow(rows), "name": "t"}


def answers(given, unit, by, chosen=ALL) -> dict[str, list[int]]:
    table = open_table(**given, unit=unit, bounds=BOUNDS, max_table_rows=2**10)
    return {
        what: table.aggregate(statistic, by).compute().tolist()
        for what, statistic in list(asked(table).items())[chosen]
    }


def arrow(rows):
    columns = zip(*rows, strict=True) if rows else [()] * len(TYPES)
    parts = [pa.array(list(part), kind) for part, kind in zip(columns, TYPES, strict=True)]
    return pa.table(dict(zip(["who", "g", *"xyzw"], parts, strict=True)))


def many(examples: int):
    return settings(
        max_examples=examples,
        phases=[Phase.generate],
        suppress_health_check=[HealthCheck.function_scoped_fixture],
    )


def test_same_integers(store):
    def same(rows, unit, by):
        # The first table tried holds no rows: of it, one question.
        chosen = ALL if rows else SEVERAL
        found = answers(store.fill(arrow(rows)), unit, by, chosen)
        assert found == answers(in_memory(rows), unit, by, chosen)

    store.try_tables(4, same, **QUESTION)


@pytest.mark.soak
@many(100)
@given(**QUESTION)
def test_same_integers_of_many_tables(store, rows, unit, by):
    assert answers(store.fill(arrow(rows)), unit, by) == answers(in_memory(rows), unit, by)


@pytest.mark.parametrize("end", [1, -1])
def test_products_at_the_ends_of_the_bounds(store, end):
    """2^51 steps: d is rounded to 2^31 of them, d^2 in [0, 2^60] to 2^20, less half of those."""
    rows = [("u", "a", 9.0 * end, True, end * (2**63 - 1), 9.0 * end)] * 3
    table = open_table(**store.fill(arrow(rows)), unit=Rows(), bounds=BOUNDS, max_table_rows=2**10)
    count, centred, squares = (int(x) for x in table.variance("z").compute())
    weight = [component.limit for component in Variance(table.measured("z")).components]
    assert (count, squares) == (3 * weight[0], 3 * weight[2])
    assert Fraction(abs(centred), 3 * weight[1]) > Fraction(2**20 - 1, 2**20)
    assert (centred > 0) == (end > 0)
