"""Where each row is a unit the engine adds up before it looks for the group: the same integers."""

from collections import Counter
from datetime import date

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlglot import exp

from neyman import Rows, open_table
from neyman.tables import Bins, Bounds, Component, Count, Keys, Statistic
from neyman.tables import _sql as sql
from neyman.tables._statements._reach import reach

LOW, HIGH = -(2**63), 2**63 - 1


def table(columns, **more):
    return open_table(pa.table(columns), unit=Rows(), name="rows", **more)


def test_the_statement_adds_up_all_rows_with_the_same_values_and_joins_the_sums():
    asked = table({"a": ["x"], "n": [1]}).count(Keys({"a": ["x", "y"], "n": [1, 2]}))
    statement = asked.sql()
    steps = [statement.index(f'"{name}" AS') for name in ("neyman_rows", "neyman_sums")]
    assert steps == sorted(steps)
    # The lists of keys are joined with the sums, and nothing is with the rows.
    assert statement.index("JOIN") > statement.index('GROUP BY "v0", "v1"')


def test_nothing_and_undeclared_values_and_both_kinds_of_keys_count_as_they_did():
    rows = [("x", 1, 0.5), (None, 1, 0.5), ("x", None, 0.5), ("z", 1, 0.5), ("", 1, float("nan"))]
    rows += [("x", 1, 9.0), ("", 2, 0.0), ("x", 1, None), ("x", 2, 1.0), ("x", 1, 0.5)]
    text, whole, real = zip(*rows, strict=True)
    data = table({"t": text, "n": pa.array(whole, pa.int8()), "r": real})
    both = Keys({"t": ["", "x"], "n": [2, 1]})
    found = Counter((t, n) for t, n, _ in rows)
    assert data.count(both).compute().tolist() == [found[row] for row in both.rows()]
    binned = Keys({"t": ["x", ""], "r": Bins([0, 0.5, 1], outside="drop")})
    assert data.count(binned).compute().tolist() == [0, 4, 1, 0]
    chosen = Keys.tuples(["t", "n"], [("x", 2), ("", 1), ("q", 7)])
    assert data.count(chosen).compute().tolist() == [1, 1, 0]


def test_an_empty_table_and_one_without_any_declared_value():
    for data in (table({"t": pa.array([], pa.string())}), table({"t": ["q", None]})):
        assert data.count(Keys({"t": ["a", "b"]})).compute().tolist() == [0, 0]
    assert table({"t": pa.array([], pa.string())}).count().compute().tolist() == [0]


def test_keys_of_every_type():
    days = [date(2024, 1, 1), date(2024, 2, 1), None]
    data = table(
        {"b": [True, None, True], "d": days, "u": pa.array([2**64 - 1, 1, 1], pa.uint64())}
    )
    assert data.count(Keys({"b": [False, True]})).compute().tolist() == [0, 2]
    assert data.count(Keys({"d": days[:2]})).compute().tolist() == [1, 1]
    assert data.count(Keys({"u": [1, 2]})).compute().tolist() == [2, 0]


@pytest.mark.parametrize("kind", [pa.int8(), pa.uint8(), pa.int64(), pa.uint64(), pa.float64()])
def test_whole_numbers_are_clamped_as_they_are_in_doubles(kind):
    ends = {pa.int8(): (-128, 127), pa.uint8(): (0, 255), pa.uint64(): (0, 2**64 - 1)}
    low, high = ends.get(kind, (LOW, HIGH))
    cells = [low, high, 0, 1, 5, 7, 100, None, low + 1, high - 1]
    if kind == pa.float64():
        cells = [None if x is None else float(x) for x in cells]
    data = table(
        {"x": pa.array(cells, kind), "t": ["a", "b"] * 5}, bounds={"x": Bounds(-5, 100, grid=1)}
    )
    clamped = [None if x is None else min(max(x, -5), 100) for x in cells]
    of = [[x for x in clamped[i::2] if x is not None] for i in (0, 1)]
    keys = Keys({"t": ["a", "b"]})
    assert data.sum("x", keys).compute().tolist() == [sum(own) for own in of]
    assert data.mean("x", keys).compute().tolist() == [
        number for own in of for number in (53 * len(own), sum(own) - 47 * len(own))
    ]


class Wild(Statistic):
    """What a row adds is far outside of what the component says."""

    columns = ()
    names = ("n",)

    def __init__(self, column, value):
        self.columns, self.value = (column,), value

    @property
    def components(self):
        return (Component(self.value, -3, 3),)

    def describe(self):
        return {"statistic": "wild"}

    def reading(self, *, unit_rows, weight=1):
        return Count().reading(unit_rows=unit_rows, weight=weight)


@pytest.mark.parametrize(
    ("value", "each"),
    [
        (lambda k: k[0] * sql.integer(100), 3),
        (lambda k: k[0] - sql.integer(100), -3),
        (lambda k: sql.call("ABS", k[0]), 3),
        (lambda k: exp.paren(k[0] - sql.integer(4)), 1),
    ],
)
def test_a_component_stays_inside_its_limits_whatever_its_formula_does(value, each):
    data = table({"x": [5, 5, 5]}, bounds={"x": Bounds(2, 5, grid=1)})
    asked = data.aggregate(Wild(data.measured("x"), value))
    assert asked.compute().tolist() == [3 * each]


def trees():
    """Return pairs of a tree and what it is in Python."""
    leaf = st.one_of(
        st.integers(-9, 9).map(lambda n: (sql.integer(n), lambda _: n)),
        st.sampled_from("kl").map(lambda name: (sql.column(name), lambda row: row[name])),
    )

    def joined(part):
        def made(pair):
            (left, f), (right, g), sign = pair
            left, right = exp.paren(left.copy()), exp.paren(right.copy())
            return {
                "+": (left + right, lambda row: f(row) + g(row)),
                "-": (left - right, lambda row: f(row) - g(row)),
                "*": (left * right, lambda row: f(row) * g(row)),
            }[sign]

        return st.tuples(part, part, st.sampled_from("+-*")).map(made)

    return st.recursive(leaf, joined, max_leaves=6)


@given(trees(), st.tuples(*[st.integers(-9, 9)] * 4))
def test_an_expression_reaches_no_farther_than_its_tree_shows(pair, ends):
    tree, value = pair
    columns = {"k": (min(ends[:2]), max(ends[:2])), "l": (min(ends[2:]), max(ends[2:]))}
    found = reach(tree, columns)
    assert found is not None
    rows = [{"k": k, "l": m} for k in columns["k"] for m in columns["l"]]
    rows += [{"k": columns["k"][0], "l": 0}] if columns["l"][0] <= 0 <= columns["l"][1] else []
    for row in rows:
        assert found[0] <= value(row) <= found[1]
    one = f"SELECT {rows[0]['k']}::BIGINT k, {rows[0]['l']}::BIGINT l"
    ((answer,),) = duckdb.sql(f"SELECT {tree.sql('duckdb')} FROM ({one})").fetchall()
    assert answer == value(rows[0])


@pytest.mark.parametrize(
    "tree",
    [
        sql.column("other"),
        sql.column("k", "table"),
        sql.call("ABS", sql.column("k")),
        sql.double(1.0),
        sql.column("k") * sql.integer(2**62),
        sql.integer(2**62) + sql.integer(1),
    ],
)
def test_what_a_tree_does_not_show_is_not_known(tree):
    assert reach(tree, {"k": (0, 5)}) is None


def test_sums_beyond_64_bits_are_clamped_at_the_end():
    data = table(
        {"x": np.full(9, 2**50), "t": ["a"] * 9},
        bounds={"x": Bounds(0, 2**50, grid=1)},
        max_table_rows=4,
    )
    assert data.sum("x", Keys({"t": ["a"]})).compute().tolist() == [4 * 2**50]
