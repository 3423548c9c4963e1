"""Counts at public nodes are the same on every engine, and those of NumPy."""

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from neyman.nodes import Nodes, WholeNodes, beyond, histogram
from neyman.tables import Entity, Keys, Rows, open_table

LINES = [
    Nodes(start=-2.0, end=3.0, step=0.1, number=52, closed=False, dropped=False),
    Nodes(start=-2.0, end=3.0, step=1 / 3, number=17, closed=False, dropped=True),
    Nodes(start=0.0, end=2.0, step=0.25, number=8, closed=True, dropped=False),
    Nodes(start=0.0, end=1e-3, step=1e-4, number=10, closed=True, dropped=False),
    Nodes(start=-1e200, end=1e200, step=1e198, number=202, closed=False, dropped=False),
    Nodes(start=0.0, end=1e-300, step=1e-301, number=11, closed=False, dropped=False),
    WholeNodes(start=-2.0, end=2.5, step=0.1, number=49, closed=False, dropped=False),
    beyond(0.0),
    beyond(2.5),
]
NUMBERS = [math.nan, math.inf, -math.inf, 1e308, -1e308, 5e-324, -5e-324, -0.0, 2.0, -2.0, 1e-30]
VALUES = st.one_of(
    st.none(), st.sampled_from([*NUMBERS, -1e-30, 2**53 + 2.0, 3.0, 2.5]), st.floats(-4, 5)
)
PARTS = st.sampled_from([0, 1, 2, 2, None])
QUESTION = {
    "rows": st.lists(
        st.tuples(st.sampled_from(["u", "v", "", None]), VALUES, VALUES, PARTS), max_size=60
    ),
    "unit": st.one_of(
        st.just(Rows()),
        st.builds(
            Entity,
            st.just("who"),
            max_rows=st.integers(1, 9),
            max_rows_per=st.dictionaries(st.sampled_from(["part", "x0"]), st.integers(1, 6)),
        ),
    ),
    "by": st.sampled_from([None, Keys({"part": [2, 0, 5]}), Keys({"part": [1]})]),
    "axes": st.lists(st.sampled_from(LINES), min_size=1, max_size=2),
}


def many(examples: int):
    return settings(
        max_examples=examples,
        phases=[Phase.generate],
        suppress_health_check=[HealthCheck.function_scoped_fixture],
    )


def arrow(rows) -> pa.Table:
    columns = zip(*rows, strict=True) if rows else [()] * 4
    kinds = {"who": pa.string(), "x0": pa.float64(), "x1": pa.float64(), "part": pa.int64()}
    named = zip(kinds.items(), columns, strict=True)
    return pa.table({name: pa.array(column, kind) for (name, kind), column in named})


def in_memory(rows):
    return {"source": arrow(rows), "name": "t"}


def counted(given, unit, axes, by) -> list[int]:
    names = [f"x{i}" for i in range(len(axes))]
    return open_table(**given, unit=unit).countable(*names, by=by).counter(axes).count().tolist()


def by_numpy(rows, axes, by) -> list[int]:
    """The counts where each row is a unit."""
    found: list[int] = []
    for key in [None] if by is None else [key for (key,) in by.rows()]:
        chosen = arrow([row for row in rows if by is None or row[-1] == key])
        columns = [np.array(chosen[f"x{i}"].to_pylist(), np.float64) for i in range(len(axes))]
        found += histogram(axes, columns).tolist()
    return found


def test_same_counts(store):
    def same(rows, unit, axes, by):
        here = counted(in_memory(rows), unit, axes, by)
        assert counted(store.fill(arrow(rows)), unit, axes, by) == here
        assert unit.entity is not None or here == by_numpy(rows, axes, by)

    store.try_tables(12, same, **QUESTION)


@pytest.mark.soak
@many(150)
@given(**QUESTION)
def test_same_counts_of_many_tables(store, rows, unit, axes, by):
    here = counted(in_memory(rows), unit, axes, by)
    assert counted(store.fill(arrow(rows)), unit, axes, by) == here
    assert unit.entity is not None or here == by_numpy(rows, axes, by)
