"""What bounds cost, on public data: counted by hand."""

from dataclasses import replace

import pyarrow as pa
import pytest

from neyman import publish
from neyman.errors import InvalidParameter, InvalidTable, UnknownColumn
from neyman.publish import bias
from neyman.tables import Bounds, Entity, ForeignKey, Keys, Rows, UnknownKeys, open_table
from neyman.tables._engines._duckdb_engine import DuckDB

PRIVATE = pa.table({"who": ["z"], "ward": ["n"], "x": [1.0]})
PUBLIC = pa.table(
    {
        "who": ["a", "a", "a", "b", "c"],
        "ward": ["n", "n", "n", "n", "s"],
        "x": [2.0, 2.0, 2.0, 30.0, -5.0],
    }
)
KEYS = Keys({"ward": ["n", "s"]})
WITH_Y = PUBLIC.append_column("y", [[0.0] * 5])
WIDE = {"x": Bounds(-100, 100, 1)}


def public(bounds=WIDE, source=PUBLIC):
    return open_table(source, unit=Rows(), bounds=bounds, name="public")


def opened(source=PRIVATE, name="private"):
    unit = Entity("who", max_rows=2)
    return open_table(source, unit=unit, bounds={"x": Bounds(0, 10, 1)}, name=name)


@pytest.mark.shows("bias")
def test_sums_are_split_into_truncation_and_clamping():
    found = bias(lambda t: t.sum("x", by=KEYS), opened(), public()).columns
    assert found == {
        "ward": ["n", "s"],
        "sum": [14.0, 0.0],
        "sum_truncation": [-2.0, 0.0],
        "sum_clamping": [-20.0, 5.0],
    }


def test_means_and_their_counts():
    found = bias(lambda t: t.mean("x", by=KEYS), opened(), public()).columns
    assert found["mean"] == pytest.approx([14 / 3, 0])
    assert found["mean_truncation"] == pytest.approx([14 / 3 - 16 / 4, 0])
    assert found["mean_clamping"] == pytest.approx([16 / 4 - 36 / 4, 5])
    assert found["count_truncation"] == pytest.approx([-1, 0])


def test_without_wide_bounds_clamping_is_not_estimated():
    found = bias(lambda t: t.count(by=KEYS), opened(), public({}))
    assert found.columns == {"ward": ["n", "s"], "count": [3, 1], "count_truncation": [-1.0, 0.0]}
    assert "count_truncation" in str(found)


def test_the_private_rows_are_refused_as_public_ones():
    with pytest.raises(InvalidParameter, match="got the table itself"):
        bias(lambda t: t.count(), opened(), open_table(PRIVATE, unit=Rows(), name="private"))


def test_the_private_rows_are_not_asked(monkeypatch):
    table, other = opened(), public({})
    asked = []
    integers = DuckDB.integers
    monkeypatch.setattr(
        DuckDB, "integers", lambda self, *rest: asked.append(self) or integers(self, *rest)
    )
    assert bias(lambda t: t.count(), table, other).columns["count"] == [4]
    assert asked
    assert all(engine is other.engine for engine in asked)


def test_other_rows_than_those_given_are_not_asked():
    """A question that holds on to the private table would show its exact answer."""
    table = opened()
    with pytest.raises(InvalidParameter, match="must use the rows of its argument t alone"):
        bias(lambda _: table.sum("x"), table, public())
    with pytest.raises(InvalidTable, match="groups must be declared"):
        bias(lambda t: t.count(UnknownKeys("ward")), table, public())


def test_refusals():
    only_y = public({"y": Bounds(0, 1, 1)}, WITH_Y)
    with pytest.raises(
        InvalidTable, match=r"'x' has no bounds.*public table has bounds for 'y', and the"
    ):
        bias(lambda t: t.sum("x"), opened(), only_y)
    assert bias(lambda t: t.count(), opened(), only_y).columns["count_clamping"] == [0.0]
    with pytest.raises(UnknownColumn, match="who"):
        bias(lambda t: t.count(), opened(), public(source=PUBLIC.drop(["who"])))
    with pytest.raises(InvalidTable, match="cannot be added up"):
        bias(lambda t: t.sum("x"), opened(), public({}, PUBLIC.set_column(2, "x", [["a"] * 5])))


def test_quantiles_have_a_bias_too():
    ask = lambda t: publish.quantiles(t, "x", [0, 0.5], by=KEYS)  # noqa: E731
    found = bias(ask, opened(), public()).columns
    assert found["ward"] == ["n", "n", "s", "s"]
    assert found["probability"] == [0.0, 0.5, 0.0, 0.5]
    assert "probability_truncation" not in found
    # Within [0, 10], of a unit's three rows two: 2, 2, 10; all: 2, 2, 2, 30; and -5 alone.
    assert found["quantile"] == [2.0, 2.0, 0.0, 0.0]
    assert found["quantile_truncation"] == [0.0] * 4
    assert found["quantile_clamping"] == [0.0, 0.0, 5.0, 5.0]


def test_coefficients_between_other_bounds_are_not_compared():
    ask = lambda t: publish.density(t, "x", bandwidth=0.5)  # noqa: E731
    with pytest.raises(InvalidParameter, match="must give the same numbers under wider bounds"):
        bias(ask, opened(), public())


def test_what_is_no_question_is_refused():
    with pytest.raises(InvalidParameter, match="got Aggregate"):
        bias(opened().count(), opened(), public())
    with pytest.raises(InvalidParameter, match=r"ask\(t\) must be.* got a value of type int"):
        bias(lambda _: 1, opened(), public())
    with pytest.raises(InvalidParameter, match=r"public must be.* got a value of type NoneType"):
        bias(lambda t: t.count(), opened(), None)


def test_the_limits_of_the_public_table_play_no_part():
    limited = replace(public(), unit=Entity("who", max_rows=1))
    ask = lambda t: t.sum("x", by=KEYS)  # noqa: E731
    assert bias(ask, opened(), limited) == bias(ask, opened(), public())


ORDERS = pa.table({"order": [1, 2, 3], "who": ["a", "a", "b"]})
ITEMS = pa.table({"order": [1, 1, 2, 3, 9], "x": [1.0, 2.0, 40.0, 3.0, 7.0]})
PEOPLE = pa.table({"who": ["a", "a", "b"], "stars": [1, 1, 0]})


def owned(items, orders, name, bounds):
    key = ForeignKey("order", orders, owner="who", name=f"{name} orders")
    unit = Entity(key, max_rows=2)
    return open_table(items, unit=unit, bounds=bounds, name=name)


def test_a_unit_that_another_table_names():
    table = owned(ITEMS.slice(0, 1), ORDERS.slice(0, 1), "private", {"x": Bounds(0, 10, 1)})
    likewise = owned(ITEMS, ORDERS, "public", {"x": Bounds(0, 100, 1)})
    found = bias(lambda t: t.sum("x"), table, likewise).columns
    # a has three items of which two count; the fifth is nobody's. Within 10 they are 1, 2, 10, 3.
    assert found["sum_truncation"][0] in (-1.0, -2.0, -10.0)
    assert found["sum"][0] - found["sum_truncation"][0] == 16
    assert found["sum_clamping"] == [-30.0]
    with pytest.raises(InvalidTable) as caught:
        bias(lambda t: t.sum("x"), table, open_table(ITEMS, unit=Rows(), name="plain"))
    assert str(caught.value) == (
        "public must find 'who' by a foreign key, as the table does; it has none. Open it with "
        "unit=Entity(ForeignKey(...), ...) to a public table"
    )


def test_a_joined_table():
    unit = Entity("who", max_rows=2)

    def joined(orders, people, name, **how):
        table = open_table(orders, unit=unit, name=f"{name} orders")
        return table.join(people, on="who", how="inner", name=f"{name} people", **how)

    table = joined(ORDERS.slice(0, 1), PEOPLE.slice(0, 1), "private")
    ask = lambda t: t.count()  # noqa: E731
    found = bias(ask, table, joined(ORDERS, PEOPLE, "public")).columns
    # Two orders and two stars of a are four rows, of which two count, and one of b.
    assert found == {"count": [3], "count_truncation": [-2.0]}
    with pytest.raises(InvalidTable) as caught:
        bias(ask, table, open_table(ORDERS, unit=unit, name="public"))
    assert str(caught.value) == (
        "public must have the same filters, expressions and joins as the table; it has others. "
        "Apply the same steps to both, with public tables in the joins, or apply filters in "
        "ask: lambda t: t.where(...).count()"
    )
    with pytest.raises(InvalidTable, match="must have the same filters"):
        bias(ask, table, joined(ORDERS, PEOPLE, "public", columns=[]))
    # Half of it private: refused, whichever table that is.
    for orders, people in ((ORDERS, "private"), ("private", PEOPLE)):
        mixed = joined(
            ORDERS.slice(0, 1) if orders == "private" else orders,
            PEOPLE.slice(0, 1) if people == "private" else people,
            "private",
        )
        with pytest.raises(InvalidParameter, match="got the table itself"):
            bias(ask, table, mixed)
