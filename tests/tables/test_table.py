"""What a table promises before it is paid: refusals, descriptions, silence."""

import json
import re
import subprocess
import sys
import traceback

import duckdb
import pyarrow as pa
import pytest
import sqlglot
from hypothesis import given
from hypothesis import strategies as st
from sqlglot import exp

from neyman.errors import EngineFailure, InvalidParameter, InvalidTable, UnknownColumn
from neyman.tables import Bounds, Component, Entity, Keys, Rows, open_table
from neyman.tables._statements._statement import Question
from random_cases import random_cases

NASTY = [
    'a"; DROP TABLE x; --',
    "'; DROP TABLE x; --",
    "a' OR '1'='1",
    'a""b',
    "a''b",
    "a\\'b",
    "/* a */",
    "-- a",
    "${a} {0} %s ? $1 :a",
    "select",
    " a ",
    "a\nb\tc",
    "ünïcödé ✈",
    "\U000e0001\ue000\ue001",
    "a.b",
    "neyman_rows",
    "u",
    "k0",
    "",
]
FLIGHTS = pa.table(
    {"carrier": ["AA", "UA", "AA"], "arr_delay": [5, 7, None], "tail": ["x", "x", "y"]}
)
BOUNDS = {"arr_delay": Bounds(-60, 180, grid=1)}


def flights(unit=Entity("tail", max_rows=6), **options):  # noqa: B008
    return open_table(FLIGHTS, unit=unit, bounds=BOUNDS, name="flights", **options)


@pytest.mark.parametrize("name", NASTY)
def test_names_and_keys_are_never_sql(name):
    if name:
        data = pa.table({name: [name, "other", None], "x": [1, 2, 3]})
        table = open_table(
            data, unit=Entity(name, max_rows=1), bounds={"x": Bounds(0, 9, 1)}, name="nasty"
        )
        assert table.sum("x", Keys({name: [name]})).compute().tolist() == [1]
    data = pa.table({"g": [name, "other", None]})
    table = open_table(data, unit=Rows(), name="nasty")
    assert table.count(Keys({"g": ["none", name]})).compute().tolist() == [0, 1]


@random_cases(12, soak=200)
@given(
    keys=st.lists(st.text().filter(lambda t: "\0" not in t), min_size=1, max_size=9, unique=True)
)
def test_any_text_is_a_key(fill, keys):
    keys = [key for key in keys if key == key.encode("utf-8", "replace").decode()] or ["a"]
    source = fill("texts", ("g VARCHAR",), [(key,) for key in keys])
    table = open_table(source, unit=Rows(), name="texts")
    assert table.count(Keys({"g": keys})).compute().tolist() == [1] * len(keys)


@pytest.mark.parametrize("unit", [Rows(), Entity('a"; DROP TABLE x; --', max_rows=6)], ids=str)
def test_the_statement_is_one_query(unit):
    name = 'a"; DROP TABLE x; --'
    table = open_table(
        pa.table({name: ["a"], "x": [1]}), unit=unit, bounds={"x": Bounds(0, 9, 1)}, name="one"
    )
    keys = Keys({name: ["'; DROP TABLE x; --"]})
    for statistic in (table.mean("x", keys), table.count(keys)):
        assert statistic.compute().tolist()[0] == 0
    from neyman.tables import Mean

    question = Question(Mean(table.measured("x")), unit, keys, "00", 9)
    tree = question.statement(table.view)
    parsed = sqlglot.parse(tree.sql(dialect="duckdb"), dialect="duckdb")
    assert len(parsed) == 1
    assert isinstance(parsed[0], exp.Select)
    assert not list(parsed[0].find_all(exp.DML, exp.DDL, exp.Command, exp.Create, exp.Drop)) or (
        all(isinstance(node, exp.Query) for node in parsed[0].find_all(exp.DML, exp.DDL))
    )
    quoted = [node.quoted for node in parsed[0].find_all(exp.Identifier)]
    assert sum(quoted) >= len(quoted) - 2  # reader options are the engine's own words


def test_unknown_columns_name_close_ones():
    with pytest.raises(UnknownColumn, match="no column 'ar_delay'; close to it are 'arr_delay'"):
        flights().sum("ar_delay")
    with pytest.raises(UnknownColumn, match="no column 'CARRIER'; close to it are 'carrier'"):
        flights().count(Keys({"CARRIER": ["AA"]}))
    with pytest.raises(UnknownColumn, match="its columns are 'carrier', 'arr_delay', 'tail'"):
        flights(unit=Entity("zzz", max_rows=1))
    with pytest.raises(UnknownColumn):
        open_table(FLIGHTS, unit=Rows(), bounds={"zzz": Bounds(0, 1, 1)}, name="f")


def test_refusals_before_the_charge():
    with pytest.raises(InvalidTable, match="'carrier' is of type text and cannot be added up"):
        flights().sum("carrier")
    unbounded = open_table(FLIGHTS, unit=Rows(), name="f")
    with pytest.raises(InvalidTable, match=re.escape("bounds={'arr_delay': Bounds(")):
        unbounded.mean("arr_delay")
    with pytest.raises(InvalidTable, match="could leave 62 bits; write a coarser grid"):
        flights(max_table_rows=2**56).sum("arr_delay")
    with pytest.raises(InvalidTable, match=r"unit=Entity\(column"):
        flights(unit=Rows()).bounded(1, 1)
    for bad in (0, -1, 2**63, 1.5, True):
        with pytest.raises(InvalidParameter, match="max_table_rows="):
            flights(max_table_rows=bad)


@pytest.mark.shows("errors")
@pytest.mark.parametrize(
    ("ask", "write"),
    [
        (
            lambda: flights(unit="tail"),
            'unit must be a privacy unit; got a str. Write unit=Entity("tail", max_rows=...)',
        ),
        (lambda: flights(unit=Rows), "unit must be a privacy unit; got the class Rows"),
        (lambda: flights().count(by="ward"), 'Write by=Keys({"ward":'),
        (lambda: flights().count(by={"ward": ["a"]}), 'Write by=Keys({"ward":'),
        (lambda: flights().mean("arr_delay", by=["a"]), 'Write by=Keys({"ward":'),
        (
            lambda: bounded({"arr_delay": (0, 10)}),
            "'arr_delay' must be Bounds; got a tuple. Write Bounds(0, 10, ",
        ),
        (lambda: bounded({"arr_delay": None}), "Write Bounds(lower, upper, grid=...)"),
        (lambda: bounded(Bounds(0, 1, grid=1)), 'Write bounds={"column": Bounds('),
        (lambda: flights(max_table_rows=2**56).sum("arr_delay"), "a sum of column 'arr_delay' of"),
    ],
)
def test_likely_mistakes(ask, write):
    with pytest.raises(InvalidTable, match=re.escape(write)):
        ask()


def bounded(bounds):
    return open_table(FLIGHTS, unit=Rows(), bounds=bounds, name="flights")


def test_a_table_says_whom_it_protects():
    table = flights()
    assert table.protects == table.count().unit == "all rows of one tail"
    assert flights(unit=Rows()).protects == "one row"


def test_a_key_column_called_like_an_answer():
    data = pa.table({"count": ["a"], "x": [1]})
    table = open_table(data, unit=Rows(), bounds={"x": Bounds(0, 1, 1)}, name="f")
    with pytest.raises(InvalidTable, match="'count' is called like a column of the answer"):
        table.count(Keys({"count": ["a"]}))
    assert table.sum("x", Keys({"count": ["a"]})).compute().tolist() == [1]


@pytest.mark.parametrize("names", [["a", "A"], ["x", "x"], ["straße", "STRASSE"]])
def test_columns_alike_but_for_case(tmp_path, names):
    import pyarrow.parquet as pq

    data = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=names)
    pq.write_table(data, tmp_path / "d.parquet")
    (tmp_path / "d.csv").write_text(",".join(names) + "\n1,2\n", encoding="utf-8")
    for source, name in ((data, "d"), (tmp_path / "d.parquet", None), (tmp_path / "d.csv", None)):
        with pytest.raises(InvalidTable, match="differ at most by case"):
            open_table(source, unit=Rows(), name=name)


def test_nested_parquet_columns_do_not_collide(tmp_path):
    import pyarrow.parquet as pq

    data = pa.table({"a": [{"b": 1, "c": {"B": 2}}], "b": [[1]], "x": [3]})
    pq.write_table(data, tmp_path / "d.parquet")
    table = open_table(tmp_path / "d.parquet", unit=Rows(), bounds={"x": Bounds(0, 9, 1)})
    assert table.engine.schema.names == ["a", "b", "x"]
    assert table.sum("x").compute().tolist() == [3]


def test_the_query_is_public_and_says_everything():
    keys = Keys({"carrier": ["AA", "UA"]})
    query = flights().mean("arr_delay", keys).query
    said = json.loads(json.dumps(query))
    assert len(said.pop("computation")) == 64
    assert said == {
        "statistic": "mean",
        "column": "arr_delay",
        "bounds": ["-60", "180"],
        "grid": "1",
        "unit": {"entity": "tail", "max_rows": 6},
        "keys": {"columns": ["carrier"], "types": ["str"], "values": [["AA"], ["UA"]]},
        "max_table_rows": 2**40,
        "rules": 4,
    }
    others = [
        flights().count(keys),
        flights().sum("arr_delay", keys),
        flights().mean("arr_delay"),
        flights().bounded(1, 3).mean("arr_delay", keys),
        flights(max_table_rows=9).mean("arr_delay", keys),
        flights().mean("arr_delay", Keys({"carrier": ["UA", "AA"]})),
    ]
    assert all(other.query != query for other in others)


def test_nothing_runs_before_compute(tmp_path):
    import pyarrow.parquet as pq

    path = tmp_path / "d.parquet"
    pq.write_table(FLIGHTS, path)
    aggregate = open_table(path, unit=Rows()).count()
    path.unlink()
    with pytest.raises(EngineFailure, match="has changed"):
        aggregate.compute()


def test_reprs_hide_the_data_and_where_they_lie():
    table = flights()
    shown = repr(table) + repr(table.mean("arr_delay")) + repr(table.engine)
    assert "AA" not in shown
    assert "0x" not in shown
    assert repr(table).splitlines() == [
        f"Table of 3 columns, unit={table.unit!r}",
        "  carrier    text",
        f"  arr_delay  integer  {BOUNDS['arr_delay']!r}",
        "  tail       text     names the unit",
    ]
    assert repr(Keys({"g": range(3), "m": ["AA"]})) == "Keys('g', 'm': 3 groups)"


def test_a_view_is_refused_for_it_can_mix_the_rows_of_units():
    connection = duckdb.connect()
    connection.execute("CREATE TABLE t AS SELECT 1 AS u, 2 AS x")
    mixing = "SELECT u, 1000 * (SELECT count(*) FROM t) AS x FROM t"
    connection.execute(f"CREATE VIEW mixed AS {mixing}")
    with pytest.raises(InvalidTable, match="is a view") as refused:
        open_table((connection, "mixed"), unit=Rows(), name="t")
    assert "a table of its own" in str(refused.value)
    connection.execute(f"CREATE TABLE plain AS {mixing}")
    assert open_table((connection, "plain"), unit=Rows(), name="t").count().compute() == [1]


def test_engine_errors_never_show_rows():
    connection = duckdb.connect()
    connection.execute("CREATE TABLE t AS SELECT 1 AS x")
    table = open_table((connection, "t"), unit=Rows(), bounds={"x": Bounds(0, 1, 1)}, name="secret")
    # What fails now failed to exist when the table was opened.
    connection.execute("CREATE TABLE s AS SELECT 'secret-1' AS x")
    connection.execute("DROP TABLE t")
    connection.execute("CREATE VIEW t AS SELECT CAST(x AS INTEGER) AS x FROM s")
    with pytest.raises(EngineFailure, match="stays charged") as failed:
        table.sum("x").compute()
    error = failed.value
    assert error.__context__ is None
    assert error.__cause__ is None
    assert "secret-1" not in "".join(traceback.format_exception(error))


SLOW = """
import duckdb, os, signal, sqlglot, threading
from neyman.tables import Rows, open_table
signal.signal(signal.SIGINT, signal.default_int_handler)
connection = duckdb.connect()
connection.execute("CREATE TABLE t AS SELECT 1 AS x")
engine = open_table((connection, "t"), unit=Rows(), name="slow").engine
slow = sqlglot.parse_one("SELECT sum(hash(range)) FROM range(100000000000)", dialect="duckdb")
stop = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
stop.daemon = True
stop.start()
try:
    engine.integers(slow, 1)
except KeyboardInterrupt as error:
    assert error.__context__ is None and error.__cause__ is None
    print("stopped")
"""


def test_ctrl_c_stays_ctrl_c():
    """DuckDB makes an error of its own of it."""
    child = subprocess.run(
        [sys.executable, "-c", SLOW], capture_output=True, text=True, timeout=300, check=False
    )
    assert (child.stdout, child.returncode) == ("stopped\n", 0), child.stderr


def test_interrupt_exceptions_are_ctrl_c(monkeypatch):
    table = flights()

    def interrupted(*_):
        raise duckdb.InterruptException("secret-1")

    monkeypatch.setattr("neyman.tables._engines._duckdb_engine.together", interrupted)
    with pytest.raises(KeyboardInterrupt) as stopped:
        table.count().compute()
    assert stopped.value.__context__ is None


@pytest.mark.shows("odd-values")
def test_empty_tables_and_single_rows(fill):
    keys = Keys({"g": ["a", "b"]})
    bounds = {"x": Bounds(-1, 3, grid=1)}
    columns = ("u INTEGER", "g VARCHAR", "x INTEGER")
    for unit in (Rows(), Entity("u", max_rows=1)):
        table = open_table(fill("few", columns, []), unit=unit, bounds=bounds, name="few")
        for by, groups in ((None, 1), (keys, 2)):
            assert table.count(by).compute().tolist() == [0] * groups
            assert table.sum("x", by).compute().tolist() == [0] * groups
            assert table.mean("x", by).compute().tolist() == [0] * 2 * groups
        table = open_table(
            fill("few", columns, [(1, "b", 3)]), unit=unit, bounds=bounds, name="few"
        )
        assert table.count(keys).compute().tolist() == [0, 1]
        assert table.mean("x", keys).compute().tolist() == [0, 0, 2, 2]


def test_a_hundred_thousand_keys(fill):
    table = open_table(fill("few", ("g INTEGER",), [(7,), (99_999,)]), unit=Rows(), name="few")
    counts = table.count(Keys({"g": range(100_000)})).compute()
    assert counts[[7, 99_999]].tolist() == [1, 1]
    assert counts.sum() == 2


def test_components_are_clamped_by_the_statement(fill):
    """A formula that breaks its promise moves the sum by its declared limit, no more."""
    from dataclasses import dataclass

    from neyman.tables import Sum
    from neyman.tables._statistics._statistic import Statistic

    @dataclass(frozen=True)
    class Broken(Statistic):
        column: object

        @property
        def columns(self):
            return (self.column,)

        @property
        def components(self):
            return (Component(lambda k: k[0] * 1000, -5, 7),)

        names = ("sum",)

        def describe(self):
            return {"statistic": "broken"}

        def reading(self, *, unit_rows, weight=1):
            return Sum(self.column).reading(unit_rows=unit_rows, weight=weight)

    source = fill("few", ("x INTEGER",), [(1,), (1,), (-1,)])
    table = open_table(source, unit=Rows(), bounds={"x": Bounds(-1, 1, 1)}, name="few")
    aggregate = table.aggregate(Broken(table.measured("x")))
    assert aggregate.compute().tolist() == [7 + 7 - 5]
    assert aggregate.sensitivity.l1 == 7


@pytest.mark.parametrize(("low", "high"), [(0, 0), (2, 1), (0, 2**62 + 1)])
def test_refused_components(low, high):
    with pytest.raises(InvalidParameter, match="must have low <= high"):
        Component(lambda k: k, low, high)


def test_a_question_shows_its_statement_and_reads_nothing(fill):
    source = fill("shown", ("x INTEGER",), [(1,)])
    table = open_table(source, unit=Rows(), bounds={"x": Bounds(-1, 1, 1)}, name="shown")
    aggregate = table.sum("x", by=Keys({"x": [1]}))
    assert aggregate.keys == {"x": [1]}
    assert aggregate.sql is not None
    assert aggregate.sql().startswith("WITH")


def test_the_mean_of_a_boolean_is_a_proportion_and_needs_no_bounds():
    """Its type bounds it by 0 and 1, whether the table has the column or an expression made it."""
    rows = pa.table({"ok": [True, True, False, None], "x": [1, 20, 3, 4]})
    table = open_table(rows, unit=Rows(), name="t")
    declared = table.with_bounds({"ok": Bounds(0, 1, grid=1)})
    for ask in (lambda t: t.mean("ok"), lambda t: t.sum("ok"), lambda t: t.variance("ok")):
        assert ask(table).query == ask(declared).query
        assert ask(table).sensitivity == ask(declared).sensitivity
        assert ask(table).compute().tolist() == ask(declared).compute().tolist()
    assert table.with_columns(large="x > 3").sum("large").compute().tolist() == [2]
    with pytest.raises(InvalidTable, match="'x' has no bounds"):
        table.mean("x")
