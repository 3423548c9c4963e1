"""Keys are sets with an order: their algebra is that of Python's sets."""

from datetime import date, datetime
from itertools import product

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neyman.errors import InvalidParameter, InvalidTable, UnknownColumn
from neyman.tables import Bin, Bins, Keys

CELLS = st.lists(
    st.tuples(st.sampled_from("abcd"), st.integers(0, 3)), min_size=1, max_size=12, unique=True
)
KEYS = CELLS.map(lambda rows: Keys.tuples(("g", "m"), rows))


def same(found: Keys, rows) -> None:
    """Equal in every way to keys that are written out."""
    written = Keys.tuples(found.columns, list(rows))
    assert found == written
    assert hash(found) == hash(written)
    assert found.rows() == list(rows)
    assert found.describe() == written.describe()
    assert found.to_columns() == written.to_columns()


@pytest.mark.shows("declared-groups")
@given(KEYS, KEYS)
def test_union_intersection_and_difference_are_those_of_sets_in_order(a, b):
    left, right = a.rows(), b.rows()
    same(a | b, [*left, *(row for row in right if row not in left)])
    for found, rows in [
        (lambda: a & b, [row for row in left if row in right]),
        (lambda: a - b, [row for row in left if row not in right]),
    ]:
        if rows:
            same(found(), rows)
        else:
            with pytest.raises(InvalidTable, match="no keys of g, m are left"):
                found()


@given(KEYS, KEYS, KEYS)
def test_the_laws_of_sets(a, b, c):
    as_set = lambda keys: frozenset(keys.rows())  # noqa: E731
    assert as_set(a | b) == as_set(b | a)
    assert (a | b) | c == a | (b | c)
    assert a | a == a
    assert a & a == a
    assert len(a | b) == len(a) + len(b) - len(as_set(a) & as_set(b))
    if as_set(a) - as_set(b) and as_set(a) & as_set(b):
        assert as_set((a - b) | (a & b)) == as_set(a)


@pytest.mark.shows("declared-groups")
@given(CELLS, CELLS)
def test_products(a, b):
    left, right = Keys.tuples(("g", "m"), a), Keys.tuples(("h", "n"), b)
    same(left * right, [x + y for x, y in product(a, b)])
    assert len(left * right) == len(a) * len(b)
    back = (left * right).project("g", "m")
    assert back == left
    assert (left * right).project("n", "h") == right.project("n", "h")


@given(KEYS, st.integers(0, 3))
def test_filter_and_project(keys, most):
    rows = [row for row in keys.rows() if row[1] <= most]
    if rows:
        same(keys.filter(lambda row: row["m"] <= most), rows)
    same(keys.project("m"), dict.fromkeys((m,) for _, m in keys.rows()))
    turned = [(m, g) for g, m in keys.rows()]
    if keys.chosen is None:
        turned = list(product(*(domain.cells for domain in reversed(keys.domains))))
    same(keys.project("m", "g"), turned)


def test_what_is_equal_is_recorded_alike():
    whole = Keys({"g": ["a", "b"], "m": [1, 2]})
    assert Keys.tuples(("g", "m"), whole.rows()) == whole
    assert Keys({"g": ["a", "b"]}) * Keys({"m": [1, 2]}) == whole
    assert Keys({"g": ["a", "b"], "m": [1, 2, 3]}) - Keys({"g": ["a", "b"], "m": [3]}) == whole
    assert Keys.tuples(("g", "m"), whole.rows()[::-1]) != whole
    # True is 1 in Python, and another key.
    assert Keys({"g": [True]}) != Keys({"g": [1]})
    assert Keys({"g": [True]}).describe() != Keys({"g": [1]}).describe()
    # Records of before bins are as they were: entries of ledgers stand for them.
    assert whole.describe() == {
        "columns": ["g", "m"],
        "types": ["str", "int"],
        "values": [["a", "1"], ["a", "2"], ["b", "1"], ["b", "2"]],
    }


def test_a_million_keys():
    whole = Keys({"a": range(1000), "b": range(1000)})
    odd = whole.filter(lambda row: row["a"] % 2)
    even = whole - odd
    assert len(odd) == len(even) == 500_000
    assert (whole & even) == even
    assert len(odd | even) == 10**6
    assert (odd | even) != whole
    assert (odd | even).describe()["sha256"] != whole.describe()["sha256"]
    assert odd.project("b") == Keys({"b": range(1000)})
    with pytest.raises(InvalidTable, match="a product of 1000000 and 2 groups has 2000000"):
        whole * Keys({"c": [1, 2]})


@pytest.mark.parametrize(
    ("combine", "says"),
    [
        (lambda: Keys({"g": [1]}) | Keys({"g": ["a"]}), "'g' are int on one side and str"),
        (lambda: Keys({"g": [1]}) & Keys({"g": [True]}), "are int on one side and bool"),
        (lambda: Keys({"g": [1]}) - Keys({"h": [1]}), "write \\* for their product"),
        (
            lambda: Keys({"g": [1], "h": [2]}) | Keys({"h": [2], "g": [1]}),
            "write .project\\('g', 'h'\\) of the other",
        ),
        (lambda: Keys({"g": [1]}) * Keys({"g": [2]}), "have the column 'g'; write | for"),
        (lambda: Keys({"g": [1]}).project("h"), "no column 'h'; theirs are g"),
        (lambda: Keys({"g": [1]}).project("g", "g"), "'g' appears twice"),
        (lambda: Keys({"g": [1]}).project(), "without a column"),
        (lambda: Keys({"g": [1]}).filter(lambda _: False), "no keys of g are left"),
        (
            lambda: (
                Keys({"x": Bins([0, 1], outside="drop")})
                | Keys({"x": Bins([0, 1], outside="clip")})
            ),
            "write the same bins in both",
        ),
        (
            lambda: Keys({"x": Bins([0, 1], outside="drop"), "x_from": [1]}),
            "'x_from' appears twice in the keys of the columns of an answer",
        ),
        (lambda: Keys({"x": Bins([0, 1], outside="drop")}) | Keys({"x": [1]}), "bins on one side"),
    ],
)
def test_refused_combinations(combine, says):
    with pytest.raises(InvalidTable, match=says):
        combine()


def test_other_things_are_no_keys():
    with pytest.raises(TypeError):
        Keys({"g": [1]}) | {"g": [1]}
    with pytest.raises(TypeError):
        Keys({"g": [1]}) * 2


def test_bins_in_keys():
    keys = Keys({"g": ["a", "b"], "x": Bins([0, 1, 2.5], outside="drop")})
    assert keys.rows()[:2] == [("a", Bin(0.0, 1.0)), ("a", Bin(1.0, 2.5))]
    assert keys.names == ("g", "x_from", "x_to")
    assert keys.to_columns() == {
        "g": ["a", "a", "b", "b"],
        "x_from": [0.0, 1.0, 0.0, 1.0],
        "x_to": [1.0, 2.5, 1.0, 2.5],
    }
    left = keys - keys.filter(lambda row: row["g"] == "a" and row["x"].upper == 1)
    assert len(left) == 3
    assert left | keys.filter(lambda row: row["g"] == "a") != keys
    other = Keys({"g": ["a", "b"], "x": Bins([0, 1, 2.5], outside="clip")})
    assert keys.describe() != other.describe()
    days = Keys({"d": Bins([date(2020, 1, 1), date(2021, 1, 1)], outside="drop")})
    assert days.to_columns() == {"d_from": ["2020-01-01"], "d_to": ["2021-01-01"]}


def test_uniform_bins_are_the_nearest_doubles():
    assert Bins.uniform(0, 1, 10, outside="drop").edges == tuple(i / 10 for i in range(11))
    assert Bins.uniform(-0.3, 0.3, 3, outside="clip").edges == (-0.3, -0.1, 0.1, 0.3)
    assert repr(Bins.uniform(0, 100, 100, outside="drop")) == (
        "Bins([0, 1, 2, ..., 100], outside='drop')"
    )


@pytest.mark.parametrize(
    ("edges", "says"),
    [
        ([], "must be 2 to 4097 edges.*got 0"),
        ([1], "got 1$"),
        ("ab", "got 2$"),
        (range(4098), "got 4098"),
        ([0, 0], "does not lie above"),
        ([1, 0], "does not lie above"),
        ([0.1, 0.1 + 1e-20], "does not lie above"),
        ([0, float("inf")], "must be finite; got"),
        ([0, float("nan")], "must be finite; got"),
        ([0, 1e251], "is not 0 nor in"),
        ([0, 1e-251], "is not 0 nor in"),
        ([0, True], "must be an int, a float, a Fraction or a Decimal; got"),
        ([date(2020, 1, 1), 3], "mix dates"),
        ([date(2020, 1, 2), date(2020, 1, 1)], "does not lie above"),
        ([datetime(2020, 1, 1), datetime(2020, 1, 2)], "is a time"),
        (5, "must be a list of cut points"),
    ],
)
def test_refused_edges(edges, says):
    with pytest.raises((InvalidTable, InvalidParameter), match=says):
        Bins(edges, outside="drop")


@pytest.mark.parametrize("outside", ["keep", None, True, 1])
def test_refused_outside(outside):
    with pytest.raises(InvalidTable, match=r"must be 'drop' .* or 'clip'"):
        Bins([0, 1], outside=outside)


@pytest.mark.shows("public-groups")
def test_keys_of_a_public_table(tmp_path):
    days = [date(2020, 1, 2), date(2020, 1, 1), None, date(2020, 1, 2)]
    table = pa.table({"a": ["y", "x", "z", "y"], "n": [2, 1, 3, 2], "d": days, "f": [0.5] * 4})
    parquet, csv = tmp_path / "public.parquet", tmp_path / "public.csv"
    pq.write_table(table, parquet)
    csv.write_text("a,n\ny,2\nx,1\n,4\ny,2\n")
    connection = duckdb.connect()
    connection.register("arrow", table)
    connection.execute("CREATE TABLE p AS FROM arrow")
    expected = Keys.tuples(("n", "d"), [(1, days[1]), (2, days[0])])
    for source in (table, parquet, table.to_pydict()):
        assert Keys.of_public(source, "n", "d") == expected
    assert Keys.of_public((connection, "p"), "n", "d") == expected
    assert Keys.of_public(str(parquet), "a") == Keys({"a": ["x", "y", "z"]})
    assert Keys.of_public(csv, "a") == Keys({"a": ["x", "y"]})
    assert Keys.of_public(csv, "n") == Keys({"n": ["1", "2", "4"]})
    pandas = table.select(["a", "n"]).to_pandas()
    assert Keys.of_public(pandas, "a", "n") == Keys.of_public(table, "a", "n")
    for columns, says in [
        (("f",), "0.5 is no key of column .f.; write whole numbers"),
        ((), "without a column"),
    ]:
        with pytest.raises(InvalidTable, match=says):
            Keys.of_public(table, *columns)
    with pytest.raises(UnknownColumn, match="no column 'A'; close to it are 'a'"):
        Keys.of_public(table, "A")
    with pytest.raises(InvalidTable, match=r"for keys alone, Keys.tuples\(columns, rows\)"):
        Keys.of_public((None, "t"), "a")
    for none in (table.slice(0, 0), {"a": []}, {"a": [None]}):
        with pytest.raises(InvalidTable, match="must have at least one key"):
            Keys.of_public(none, "a")
    for cells, says in [([1, True], "mix bool and int"), ([0.5], "write whole numbers such as 1")]:
        with pytest.raises(InvalidTable, match=says):
            Keys.of_public({"a": cells}, "a")


@pytest.mark.parametrize("edges", [["2024-01-01", "2024-02-01"], [0, None]])
def test_edges_that_are_no_numbers_say_how_dates_are_written(edges):
    with pytest.raises(InvalidParameter, match=r"the edge .* is a .*; .*datetime\.date objects"):
        Bins(edges, outside="drop")
