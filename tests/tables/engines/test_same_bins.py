"""A value is in the same bin on every engine, and in that of plain comparisons in Python."""

import math
from bisect import bisect_right
from datetime import date, timedelta

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from neyman.tables import Bins, Entity, Keys, Rows, open_table

INF = math.inf
NUMBERS = [math.nan, INF, -INF, 1.7976931348623157e308, -1.7976931348623157e308, 5e-324, -5e-324]
EDGES = [
    [-60, 0, 15, 60, 180],
    [0.0, 0.1],
    [0.1, 0.2, 0.30000000000000004, 0.4],
    [-1e250, -1.0, 0.0, 1e-250, 1.0, 1e250],
    [1.0, math.nextafter(1.0, 2.0), 1.5, 1e15, 1e15 + 0.125],
    [i / 7 for i in range(-50, 51)],
    [10.0**i for i in range(-40, 41)],
]
DAYS = [date(1, 1, 1), date(1582, 10, 10), date(2020, 2, 29), date(2020, 3, 1), date(9999, 12, 31)]
OUTSIDE = st.sampled_from(["drop", "clip"])


def near(edge: float) -> list[float]:
    return [edge, math.nextafter(edge, INF), math.nextafter(edge, -INF), -edge]


def numbers(edges) -> st.SearchStrategy:
    said = [part for edge in edges for part in near(float(edge))]
    between = st.floats(float(edges[0]), float(edges[-1]))
    return st.lists(st.one_of(st.none(), st.sampled_from([*NUMBERS, *said]), between), max_size=80)


NUMBERED = st.sampled_from(EDGES).flatmap(lambda e: st.tuples(st.just(e), numbers(e)))
DATED = st.tuples(
    st.lists(st.sampled_from(DAYS), min_size=2, unique=True).map(sorted),
    st.lists(
        st.one_of(
            st.none(),
            st.sampled_from(DAYS),
            st.sampled_from(DAYS[1:-1]).map(lambda day: day - timedelta(1)),
            st.dates(),
        ),
        max_size=80,
    ),
)


def many(examples: int):
    return settings(
        max_examples=examples,
        phases=[Phase.generate],
        suppress_health_check=[HealthCheck.function_scoped_fixture],
    )


def plain(edges, values, outside) -> list[int]:
    """[e0, e1), ..., [em, en], one value after the other; edges as they are compared."""
    edges = list(Bins(edges, outside=outside).edges)
    counts = [0] * (len(edges) - 1)
    for value in values:
        # NaN is the one value that is not itself.
        if (
            value is None
            or value != value
            or (outside == "drop" and not edges[0] <= value <= edges[-1])
        ):
            continue
        counts[min(max(bisect_right(edges, value) - 1, 0), len(counts) - 1)] += 1
    return counts


def arrow(values, kind) -> pa.Table:
    """Rows of one entity."""
    return pa.table(
        {"x": pa.array(values, kind), "who": pa.array(["a"] * len(values), pa.string())}
    )


def counted(given, unit, edges, outside) -> list[int]:
    by = Keys({"x": Bins(edges, outside=outside)})
    return open_table(**given, unit=unit).count(by).compute().tolist()


# In all of the bins, with one row in each.
ONE = Entity("who", max_rows=4000).bounded(max_rows_per_group=1)


def test_same_bins_of_numbers(store):
    def same(question, outside):
        edges, values = question
        held, expected = store.fill(arrow(values, pa.float64())), plain(edges, values, outside)
        assert counted(held, Rows(), edges, outside) == expected
        assert counted(held, ONE, edges, outside) == [min(count, 1) for count in expected]

    store.try_tables(8, same, question=NUMBERED, outside=OUTSIDE)


def test_same_bins_of_dates(store):
    def same(question, outside):
        edges, values = question
        held, expected = store.fill(arrow(values, pa.date32())), plain(edges, values, outside)
        assert counted(held, Rows(), edges, outside) == expected
        assert counted(held, ONE, edges, outside) == [min(count, 1) for count in expected]

    store.try_tables(4, same, question=DATED, outside=OUTSIDE)


@pytest.mark.soak
@many(200)
@given(question=st.one_of(NUMBERED, DATED), outside=OUTSIDE)
def test_same_bins_of_many_tables(store, question, outside):
    edges, values = question
    kind = pa.date32() if isinstance(edges[0], date) else pa.float64()
    held, expected = store.fill(arrow(values, kind)), plain(edges, values, outside)
    assert counted(held, Rows(), edges, outside) == expected
    assert counted(held, ONE, edges, outside) == [min(count, 1) for count in expected]


@pytest.mark.shows("histograms")
def test_uniform_bins_of_two_columns_and_chosen_cells(store):
    values = [i / 64 for i in range(129)]
    given = store.fill(pa.table({"x": values, "y": values[::-1]}))
    by = Keys({"x": Bins.uniform(0, 2, 10, outside="drop"), "y": Bins([0, 1, 2], outside="clip")})
    chosen = by.filter(lambda row: row["y"].lower == 1)
    table = open_table(**given, unit=Rows())
    whole = dict(zip(by.rows(), table.count(by).compute().tolist(), strict=True))
    assert sum(whole.values()) == 129
    found = table.count(chosen).compute().tolist()
    assert found == [whole[row] for row in chosen.rows()]
    assert len(found) == 10
