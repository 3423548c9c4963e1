"""The integers before noise are the same on every engine, whatever the table holds."""

import math
from datetime import date
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from neyman.tables import Bins, Bounds, Entity, Keys, Rows, UnknownKeys, Values, open_table

INF, NAN = math.inf, math.nan
WORDS = ["a", "A", "a ", "", "ä", "a\u0308", "ß'\"; --", "\\Q.\\E\n\t", "${env:HOME}", "\U0001f600"]
NUMBERS = [NAN, INF, -INF, 1e308, -1e308, 5e-324, -5e-324, 0.25, -0.25, -0.0, 0.5, 1.0, 2**53 + 2.0]
INTEGERS = [-(2**63), 2**63 - 1, 2**53 + 1, -(2**53) - 1, 0, 1, -3]
DECIMALS = [Decimal(10) ** 28, -(Decimal(10) ** 28), Decimal("0.05"), Decimal("-1.5"), Decimal(0)]
DAYS = [date(1, 1, 1), date(1582, 10, 10), date(2020, 2, 29), date(9999, 12, 31)]

SCHEMA = pa.schema(
    [
        ("text", pa.string()),
        ("Group", pa.string()),
        ("whole", pa.int64()),
        ("small", pa.int16()),
        ("truth", pa.bool_()),
        ("day", pa.date32()),
        ("real", pa.float64()),
        ("single", pa.float32()),
        ("money", pa.decimal128(38, 9)),
    ]
)


def single(value: float) -> float:
    with np.errstate(over="ignore"):
        return float(np.float32(value))


def or_null(*values: object, more: st.SearchStrategy = st.nothing()) -> st.SearchStrategy:  # noqa: B008
    return st.one_of(st.none(), st.sampled_from(values), more)


ROWS = st.tuples(
    or_null(*WORDS[:6], more=st.text(st.characters(exclude_characters="\0"), max_size=3)),
    or_null(*WORDS),
    or_null(*INTEGERS, more=st.integers(-(2**63), 2**63 - 1)),
    or_null(-(2**15), 2**15 - 1, 0, 1, 2),
    or_null(True, False),
    or_null(*DAYS),
    or_null(*NUMBERS, more=st.floats(-4, 5)),
    or_null(*map(single, NUMBERS), 2.0**24 - 1, 2.0**24, more=st.floats(-4, 5, width=32)),
    or_null(*DECIMALS, more=st.decimals(-4, 5, places=9)),
)
# Few rows over and over: ties, and units beyond their bounds.
TABLES = st.lists(ROWS, max_size=24).flatmap(
    lambda rows: st.lists(st.sampled_from(rows), max_size=60) if rows else st.just([])
)
UNITS = st.one_of(
    st.just(Rows()),
    st.builds(
        Entity,
        st.sampled_from(["text", "whole", "small", "truth", "day", "real", "single", "money"]),
        max_rows=st.integers(1, 9),
        max_rows_per=st.dictionaries(
            st.sampled_from(["Group", "day", ("Group", "truth")]), st.integers(1, 4)
        ),
    ),
)
KEYS = st.one_of(
    st.none(),
    st.sampled_from(
        [
            Keys({"Group": WORDS}),
            Keys({"Group": WORDS[:3], "truth": [True, False]}),
            Keys({"day": DAYS}),
            Keys({"small": [1, 2, -(2**15), 300], "Group": ["a", "A"]}),
            Keys({"real": [0, 1.0, -3, 2**53], "single": [0, 1, 2**24 - 1, 2**24]}),
            Keys({"money": [0, 1, -1, 10**18], "truth": [True, False]}),
            Keys({"real": [0, None, 1], "Group": ["a", None]}, other=True),
            Keys({"day": Values(DAYS[:2], missing="none"), "money": Values([0], other="more")}),
            Keys({"whole": [0, 1], "truth": [True, None]}, other="others"),
            Keys.tuples(("whole", "text"), [(0, "a"), (2**63 - 1, ""), (-(2**63), "A")]),
            Keys({"real": Bins([-2, -0.25, 0, 0.5, 1.0, 3], outside="clip")}),
            Keys({"Group": WORDS[:3], "single": Bins.uniform(-1, 1, 7, outside="drop")}),
            Keys({"whole": Bins([-(2**53), 0, 2**53 + 2], outside="clip")})
            * Keys({"day": Bins(DAYS, outside="drop")}),
            Keys({"money": Bins([-1.5, 0, 0.05, 4], outside="drop"), "truth": [True, False]}),
            (Keys({"Group": WORDS}) | Keys({"Group": ["new"]})) - Keys({"Group": ["a", "ß"]}),
        ]
    ),
)
BOUNDS = {
    "real": Bounds(-2, 3, grid=0.5),
    "single": Bounds(-2, 3, grid=0.1),
    "whole": Bounds(-(2**50), 2**50, grid=1),
    "money": Bounds(-10, 10, grid=0.1),
    "truth": Bounds(0, 1, grid=1),
}


def arrow(rows) -> pa.Table:
    columns = zip(*rows, strict=True) if rows else [()] * len(SCHEMA)
    return pa.table(
        [pa.array(list(part), field.type) for part, field in zip(columns, SCHEMA, strict=True)],
        schema=SCHEMA,
    )


def in_memory(rows):
    return {"source": arrow(rows), "name": "t"}


def answers(given, unit, by, column) -> dict[str, list[int]]:
    table = open_table(**given, unit=unit, bounds=BOUNDS, max_table_rows=2**12)
    asked = {"count": table.count(by), f"mean of {column}": table.mean(column, by)}
    return {what: aggregate.compute().tolist() for what, aggregate in asked.items()}


def many(examples: int):
    # No shrinking: a cluster is slow, and the table is printed whole.
    return settings(
        max_examples=examples,
        phases=[Phase.generate],
        suppress_health_check=[HealthCheck.function_scoped_fixture],
    )


QUESTION = {"rows": TABLES, "unit": UNITS, "by": KEYS, "column": st.sampled_from(list(BOUNDS))}


@pytest.mark.shows("codes", "engines")
def test_same_integers(store):
    def same(rows, unit, by, column):
        found = answers(store.fill(arrow(rows)), unit, by, column)
        assert found == answers(in_memory(rows), unit, by, column)

    store.try_tables(12, same, **QUESTION)


@pytest.mark.shows("odd-values")
@pytest.mark.soak
@many(150)
@given(**QUESTION)
def test_same_integers_of_many_tables(store, rows, unit, by, column):
    found = answers(store.fill(arrow(rows)), unit, by, column)
    assert found == answers(in_memory(rows), unit, by, column)


BY = st.sampled_from(
    [
        UnknownKeys("Group"),
        UnknownKeys("text", "truth"),
        UnknownKeys("day"),
        UnknownKeys("whole"),
        UnknownKeys("small", "Group", "day"),
        UnknownKeys("real", "money"),
        UnknownKeys("single"),
    ]
)
ASKED = {"rows": TABLES, "unit": UNITS, "by": BY, "column": st.sampled_from(list(BOUNDS))}


def groups_of(given, unit, by, column) -> dict[str, list]:
    table = open_table(**given, unit=unit, bounds=BOUNDS, max_table_rows=2**12)
    asked = {"count": table.count(by), f"mean of {column}": table.mean(column, by)}
    found = {what: aggregate.unknown.find() for what, aggregate in asked.items()}
    return {
        what: sorted(zip(groups.keys, groups.integers.tolist(), strict=True))
        for what, groups in found.items()
    }


def test_same_groups(store):
    def same(rows, unit, by, column):
        found = groups_of(store.fill(arrow(rows)), unit, by, column)
        assert found == groups_of(in_memory(rows), unit, by, column)

    store.try_tables(10, same, **ASKED)


@pytest.mark.soak
@many(150)
@given(**ASKED)
def test_same_groups_of_many_tables(store, rows, unit, by, column):
    found = groups_of(store.fill(arrow(rows)), unit, by, column)
    assert found == groups_of(in_memory(rows), unit, by, column)


def test_the_whole_range_of_keys(store):
    """Extremes that a random table may miss, each with its neighbours; a group for each."""
    rows = pa.table(
        {
            "day": [date(1, 1, 1), date(1582, 10, 4), date(1582, 10, 15), date(9999, 12, 31)],
            "whole": pa.array([-(2**63), 2**63 - 1, 0, -1], pa.int64()),
            "text": ["", " ", ":", "\U0001f600"],
        }
    )
    table = open_table(**store.fill(rows), unit=Rows())
    for column in rows.column_names:
        unknown = table.count(UnknownKeys(column)).unknown
        groups = unknown.find()
        expected = [
            cell.isoformat() if isinstance(cell, date) else cell
            for cell in rows[column].to_pylist()
        ]
        assert sorted(unknown.columns(groups.keys)[column]) == sorted(expected)
        assert groups.integers.tolist() == [[1]] * 4
