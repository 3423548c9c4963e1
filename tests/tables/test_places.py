"""One value has one node, in NumPy and in SQL: bit by bit, whatever it is."""

import hashlib
import json
import math
from collections import Counter, defaultdict
from fractions import Fraction
from functools import cache

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from neyman import functional
from neyman.errors import EngineFailure, InvalidParameter, InvalidTable, UnknownColumn
from neyman.functional import Circle, Density, Interval
from neyman.nodes import Nodes, beyond, histogram
from neyman.tables import Entity, Rows, open_table
from neyman.tables._statements._histogram import Histogram
from random_cases import random_cases

ODD = [
    math.nan,
    math.inf,
    -math.inf,
    1e308,
    -1e308,
    5e-324,
    -5e-324,
    0.0,
    -0.0,
    2.0**53,
    -(2.0**60),
]


def axis(domain, bandwidth):
    return functional.Basis(domain, Fraction(bandwidth), Density(), counted=True).axes[0]


AXES = {
    "clip": axis(Interval(-3, 5, outside="clip"), "0.3"),
    "drop": axis(Interval(-3, 5, outside="drop"), "0.3"),
    "count": axis(Interval(-3, 5, outside="count"), "0.3"),
    "thirds": axis(Interval(Fraction(1, 3), Fraction(10, 3), outside="clip"), "0.1"),
    "small": axis(Interval(0, 1e-90, outside="drop"), 1e-92),
    "large": axis(Interval(-1e90, 1e90, outside="clip"), 1e89),
    "circle": axis(Circle(24), 1),
    "odd circle": axis(Circle(Fraction(1, 3)), "0.01"),
    "small circle": axis(Circle(1e-100), 1e-102),
    "two": Nodes(start=0.0, end=1.0, step=1.0, number=2, closed=False, dropped=False),
    "beyond": beyond(10.0),
}


def near(nodes):
    """Values at which rounding decides: half-way between nodes, the ends, and their neighbours."""

    def value(k, half, ulps):
        x = nodes.start + nodes.step * (k + half / 2)
        for _ in range(abs(ulps)):
            x = math.nextafter(x, math.copysign(math.inf, ulps))
        return x

    places = st.integers(-2, nodes.number + 2)
    return st.builds(value, places, st.integers(0, 1), st.integers(-2, 2))


def many(nodes):
    return st.lists(
        st.one_of(st.none(), st.sampled_from(ODD), st.floats(width=64), near(nodes)), max_size=60
    )


def doubles(values):
    return np.array([math.nan if value is None else value for value in values], dtype=float)


@pytest.fixture(scope="module")
def placed(fill):
    """Place a column of values, each apart, by the statement that counts them."""

    def filled(axes, rows):
        return fill(f"places{axes}", [f"x{i} DOUBLE" for i in range(axes)], rows)

    @cache
    def counter(axes):
        names = [f"x{i}" for i in range(len(axes))]
        table = open_table(filled(len(axes), []), unit=Rows(), name="places")
        return table.countable(*names).counter(axes)

    def by_sql(axes, *columns):
        asked = counter(tuple(axes))
        filled(len(axes), list(zip(*columns, strict=True)))
        return asked.count()

    return by_sql


@pytest.mark.parametrize("name", AXES)
def test_integers_are_those_of_numpy(placed, name):
    nodes = AXES[name]

    @settings(max_examples=8, deadline=None)
    @given(many(nodes))
    @example([None, *ODD])
    def same(values):
        found = placed([nodes], values)
        assert (found == histogram([nodes], [doubles(values)])).all()

    same()


def test_each_value_is_where_numpy_says(placed):
    """One by one: counts that agree could hide two errors that undo each other."""
    for nodes in AXES.values():
        for value in [math.nan, 1e308, -1e308, nodes.start + nodes.step / 2]:
            found = placed([nodes], [value])
            place = nodes.index(doubles([value]))[0]
            assert np.flatnonzero(found).tolist() == [place][: found.sum()]
            assert found.sum() == (place < nodes.number)


def test_the_rule_is_that_of_exact_arithmetic_but_for_ties():
    """The broken twin of a rule that agrees with SQL and is wrong in both."""
    random = np.random.default_rng(5)
    for nodes in (AXES["clip"], AXES["thirds"], AXES["odd circle"]):
        values = random.uniform(nodes.start, nodes.end, 300)
        for value, place in zip(values, nodes.index(values), strict=True):
            away = Fraction(value) - Fraction(nodes.start) - int(place) * Fraction(nodes.step)
            if nodes.closed and place == 0 and value > nodes.end / 2:
                away -= Fraction(nodes.end)
            assert abs(away) <= Fraction(nodes.step) / 2 * (1 + Fraction(1, 10**9))


@pytest.mark.parametrize("names", [("clip", "drop"), ("circle", "two"), ("drop", "circle", "two")])
def test_several_axes(placed, names):
    axes = [AXES[name] for name in names]
    random = np.random.default_rng(len(names))
    columns = [random.choice([*random.uniform(-9, 30, 99), *ODD], 400) for _ in axes]
    found = placed(axes, *(column.tolist() for column in columns))
    assert (found == histogram(axes, columns)).all()
    assert found.shape == (math.prod(a.number for a in axes),)
    # The last axis runs fastest.
    one = placed(axes, *([0.9] for _ in axes)).reshape([a.number for a in axes])
    assert one[tuple(a.index(np.array([0.9]))[0] for a in axes)] == 1


@pytest.mark.parametrize("kind", ["int64", "float32", "bool", "uint8"])
def test_columns_of_other_types_are_the_numbers_that_they_print_as(kind):
    values = np.arange(-4, 9).astype(kind)
    table = open_table(pa.table({"x": values}), unit=Rows(), name="typed")
    found = table.countable("x").counter([AXES["clip"]]).count()
    assert (found == histogram([AXES["clip"]], [values])).all()


def test_decimals_are_the_nearest_doubles():
    connection = duckdb.connect()
    connection.execute("CREATE TABLE t AS SELECT (i / 10)::DECIMAL(12, 3) AS x FROM range(90) r(i)")
    table = open_table((connection, "t"), unit=Rows(), name="decimals")
    found = table.countable("x").counter([AXES["drop"]]).count()
    assert (found == histogram([AXES["drop"]], [np.arange(90) / 10])).all()


def test_a_nan_that_the_statistics_of_a_file_leave_out_is_none(tmp_path):
    """Parquet's least and greatest values pass over NaN, and the engine believes them."""
    values = np.linspace(0, 1, 1000)
    values[7] = math.nan
    pq.write_table(pa.table({"x": values}), tmp_path / "x.parquet")
    table = open_table(tmp_path / "x.parquet", unit=Rows())
    for name in ("clip", "drop", "circle"):
        found = table.countable("x").counter([AXES[name]]).count()
        assert found.sum() == 999
        assert (found == histogram([AXES[name]], [values])).all()


def test_rows_that_are_dropped_make_no_group():
    """A group of NULLs would take longer than all the rest; an entity's rows are bounded first."""
    table = open_table(pa.table({"x": [0.5], "u": ["a"]}), unit=Rows(), name="t")
    for unit, left_out in ((Rows(), ["drop"]), (Entity("u", max_rows=1), [])):
        for name in ("clip", "drop", "circle"):
            asked = Histogram(("x",), (AXES[name],), unit, None, "00", 2**40)
            written = asked.statement(table.view).sql("duckdb")
            assert ('WHERE "x0" BETWEEN' in written) == (name in left_out)


def md5(*parts):
    return hashlib.md5(":".join(map(str, parts)).encode(), usedforsecurity=False).hexdigest()


@random_cases(10, soak=100)
@given(
    st.lists(st.tuples(st.sampled_from(["u", "v", "w", None]), st.integers(-4, 6)), max_size=40),
    st.integers(1, 4),
)
def test_of_an_entity_the_rows_that_the_hash_chooses_count(fill, rows, most):
    nodes = AXES["clip"]
    data = fill("units", ("u VARCHAR", "x DOUBLE"), rows)
    records = open_table(data, unit=Entity("u", max_rows=most), name="units").countable("x")
    asked = {"unit": records.describe()["unit"], "keys": None}
    salt = hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()
    units = defaultdict(list)
    for u, x in rows:
        if u is not None:
            units[u].append(int(nodes.index(doubles([x]))[0]))
    expected = np.zeros(nodes.number, np.int64)
    for u, places in units.items():
        numbers = Counter()
        hashed = []
        for k in places:
            numbers[k] += 1
            hashed.append((md5(salt, 0, k, numbers[k], u), k))
        # Where all rows count no order is needed.
        for _, k in sorted(hashed)[:most]:
            expected[k] += 1
    assert (records.counter([nodes]).count() == expected).all()


def test_rows_at_no_place_take_none_of_a_units_allowance(fill):
    rows = [("u", None), ("u", math.nan), ("u", 99.0), ("u", 1.0), (None, 1.0)]
    data = fill("units", ("u VARCHAR", "x DOUBLE"), rows)
    records = open_table(data, unit=Entity("u", max_rows=1), name="units").countable("x")
    assert records.counter([AXES["drop"]]).count().sum() == 1


def test_counts_are_clamped_and_nothing_is_read_before_they_are_asked_for(tmp_path):
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"x": np.ones(9)}), path)
    records = open_table(path, unit=Rows(), max_table_rows=4).countable("x")
    assert records.counter([AXES["two"]]).count().tolist() == [0, 4]
    counter = records.counter([AXES["two"]])
    path.unlink()
    with pytest.raises(EngineFailure, match="has changed"):
        counter.count()


def test_wrong_columns_are_refused(fill):
    data = fill("wrong", ("name VARCHAR", "x DOUBLE"), [])
    table = open_table(data, unit=Rows(), name="wrong")
    with pytest.raises(UnknownColumn, match="'x'"):
        table.countable("X1")
    with pytest.raises(InvalidTable, match="'name'"):
        table.countable("name")
    with pytest.raises(InvalidParameter, match="one column for each"):
        table.countable("x", "x").counter([AXES["two"]])
    with pytest.raises(InvalidParameter, match="fewer nodes"):
        table.countable(*"xxxx").counter([AXES["large"]] * 4)


@pytest.mark.parametrize(
    "changed",
    [
        {"start": math.nan},
        {"end": math.inf},
        {"end": 0.0},
        {"step": 0.0},
        {"step": 1e-320},
        {"number": 1},
        {"number": 0},
        {"start": 0.5, "closed": True},
    ],
)
def test_what_are_no_nodes_is_refused(changed):
    good = {"start": 0.0, "end": 1.0, "step": 1.0, "number": 2, "closed": False, "dropped": False}
    with pytest.raises(InvalidParameter, match=r"(?s)must .*got "):
        Nodes(**(good | changed))
