"""The same integers from every source, whoever holds the rows."""

import hashlib
import os
import re
import shutil
import sys
from dataclasses import replace
from datetime import date
from pathlib import Path

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from neyman.errors import EngineFailure, InvalidTable, MissingExtra
from neyman.tables import Bounds, Entity, Keys, Rows, open_table
from neyman.tables._sources import _attached

N = 200
DATA = {
    "who": [f"p{i % 17}" if i % 13 else None for i in range(N)],
    "number": [i % 23 for i in range(N)],
    "group": [["a", "b", "ß'\""][i % 3] for i in range(N)],
    "month": [i % 5 for i in range(N)],
    "x": [None if i % 11 == 0 else (i * 37 % 101) / 8 - 5 for i in range(N)],
}
BOUNDS = {"x": Bounds(-3, 5, grid=0.25)}
KEYS = Keys({"group": ["ß'\"", "a"], "month": [4, 0, 1]})
UNITS = [Rows(), Entity("who", max_rows=6), Entity("number", max_rows=2)]


def sources(folder: Path):
    table = pa.table(DATA)
    parquet = folder / "data.parquet"
    pq.write_table(table, parquet)
    frame = table.to_pandas()
    comma = folder / "data.csv"
    frame.to_csv(comma, index=False)
    connection = duckdb.connect(str(folder / "data.duckdb"))
    connection.register("arrow", table)
    connection.execute("CREATE TABLE data AS FROM arrow")
    connection.execute("CREATE TABLE seen AS FROM data ORDER BY x")
    return {
        "parquet": (parquet, None),
        "parquet, text": (str(parquet), None),
        "csv": (comma, None),
        "arrow": (table, "data"),
        "pandas": (frame, "data"),
        "pandas, objects": (frame.astype({"who": object, "group": object}), "data"),
        "pandas, categories": (frame.astype({"who": "category", "group": "category"}), "data"),
        "polars": (pl.DataFrame(DATA), "data"),
        "polars, categories": (
            pl.DataFrame(DATA).with_columns(pl.col("who", "group").cast(pl.Categorical)),
            "data",
        ),
        "attached": ((connection, "data"), None),
        "reordered": ((connection, "main.seen"), None),
    }


@pytest.mark.shows("sources")
@pytest.mark.parametrize("unit", UNITS, ids=str)
def test_same_integers_from_every_source(tmp_path, unit):
    answers = {}
    for label, (source, name) in sources(tmp_path).items():
        table = open_table(source, unit=unit, bounds=BOUNDS, name=name)
        parts = [table.count(KEYS), table.sum("x", KEYS), table.mean("x", KEYS), table.mean("x")]
        answers[label] = [part.compute().tolist() for part in parts]
    assert all(answer == answers["parquet"] for answer in answers.values()), answers
    assert sum(answers["parquet"][0]) > 10


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
def test_a_file_is_known_by_its_content(tmp_path, suffix):
    def source(path: Path) -> str:
        return open_table(path, unit=Rows()).count().source

    path = tmp_path / f"data{suffix}"
    write = {".parquet": lambda rows: pq.write_table(pa.table({"x": rows}), path)}.get(
        suffix, lambda rows: path.write_text("x\n" + "\n".join(map(str, rows)))
    )
    write([1])
    first = source(path)
    os.utime(path, (1, 1))
    assert source(path) == first
    (tmp_path / "elsewhere").mkdir()
    copy = tmp_path / "elsewhere" / f"copy{suffix}"
    shutil.copyfile(path, copy)
    assert source(copy) == first
    write([2])
    os.utime(path, (1, 1))
    assert source(path) != first
    write([1])
    assert source(path) == first
    assert hashlib.sha256(path.read_bytes()).hexdigest() not in repr(
        open_table(path, unit=Rows()).count()
    )


@pytest.mark.parametrize("change", ["rewritten", "replaced", "touched", "gone"])
def test_a_file_that_changes(tmp_path, change):
    path = tmp_path / "d.csv"
    path.write_text("x\n1\n")
    asked = open_table(path, unit=Rows()).count()
    unasked = open_table(path, unit=Rows())
    found = path.stat()
    if change == "rewritten":
        path.write_text("x\n2\n3\n")
    elif change == "replaced":
        (tmp_path / "new").write_text("x\n2\n")
        os.utime(tmp_path / "new", ns=(found.st_atime_ns, found.st_mtime_ns))
        (tmp_path / "new").rename(path)
    elif change == "touched":
        os.utime(path, (1, 1))
    else:
        path.unlink()
    with pytest.raises(EngineFailure, match="the file has changed") as failed:
        asked.compute()
    assert failed.value.__context__ is None
    with pytest.raises(EngineFailure, match="the file has changed"):
        unasked.count()


def test_an_unreadable_file(tmp_path, monkeypatch):
    path = tmp_path / "d.parquet"
    pq.write_table(pa.table({"x": [1]}), path)

    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(InvalidTable, match="may not be read by this user") as refused:
        open_table(path, unit=Rows())
    assert refused.value.__context__ is None


@pytest.mark.parametrize("name", ["folder", "folder.csv", "folder.parquet"])
def test_a_directory(tmp_path, name):
    (tmp_path / name).mkdir()
    with pytest.raises(InvalidTable, match=r"the folder .* has no \.parquet or \.csv files"):
        open_table(tmp_path / name, unit=Rows())


def test_identity_of_frames_and_databases(tmp_path):
    frame = pa.table({"x": [1, 2]})
    first = open_table(frame, unit=Rows(), name="one").count().source
    assert first == open_table(pa.table({"x": [9, 9]}), unit=Rows(), name="one").count().source
    assert first != open_table(frame, unit=Rows(), name="two").count().source
    assert first != open_table(pa.table({"y": [1]}), unit=Rows(), name="one").count().source
    path = tmp_path / "d.duckdb"
    connection = duckdb.connect(str(path))
    connection.execute("CREATE TABLE t AS SELECT 1 AS x")
    source = open_table((connection, "t"), unit=Rows()).count().source
    assert str(path) in source
    assert source.endswith("main.t")


def test_what_lies_in_memory_needs_a_name(database):
    database.execute("CREATE OR REPLACE TABLE nameless AS SELECT 1 AS x")
    for source in (pa.table({"x": [1]}), pd.DataFrame({"x": [1]}), (database, "nameless")):
        with pytest.raises(InvalidTable, match="write name="):
            open_table(source, unit=Rows())


def test_a_database_of_another_kind_is_refused(database, monkeypatch):
    """What DuckDB attaches of SQLite is turned into its types row by row, and fails on some."""
    database.execute("CREATE OR REPLACE TABLE elsewhere AS SELECT 1 AS x")
    asked = _attached._catalog
    monkeypatch.setattr(_attached, "_catalog", lambda c: replace(asked(c), own=frozenset()))
    with pytest.raises(InvalidTable, match=r"not DuckDB's own.*CREATE TABLE copied AS FROM memory"):
        open_table((database, "elsewhere"), unit=Rows(), name="t")
    assert Keys.of_public((database, "elsewhere"), "x").rows() == [(1,)]


def test_a_file_names_itself(tmp_path):
    pq.write_table(pa.table({"x": [1]}), tmp_path / "d.parquet")
    with pytest.raises(InvalidTable, match="leave name out"):
        open_table(tmp_path / "d.parquet", unit=Rows(), name="other")


def test_paths_are_no_patterns(tmp_path):
    for i, name in enumerate(["[a]?*.parquet", "a1.parquet", "a12.parquet", 'it\'s "x".parquet']):
        pq.write_table(pa.table({"x": [0] * (i + 1)}), tmp_path / name)
    (tmp_path / "[a]?*.csv").write_text("x\n1\n2\n")
    assert open_table(tmp_path / "[a]?*.parquet", unit=Rows()).count().compute().tolist() == [1]
    assert open_table(tmp_path / "[a]?*.csv", unit=Rows()).count().compute().tolist() == [2]
    quoted = open_table(tmp_path / 'it\'s "x".parquet', unit=Rows())
    assert quoted.count().compute().tolist() == [4]


def test_a_directory_name_makes_no_column(tmp_path):
    folder = tmp_path / "who=3"
    folder.mkdir()
    pq.write_table(pa.table({"x": [1]}), folder / "d.parquet")
    with pytest.raises(InvalidTable, match="no column 'who'"):
        open_table(folder / "d.parquet", unit=Entity("who", max_rows=1))


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("nowhere.parquet", "there is no file"),
        ("data.xlsx", "is a workbook"),
        ("data", 'or .csv file, a pair (connection, "table"), or a data frame with a name'),
        ("data", "ends in ''"),
        (5, "a int is no table"),
        ([1], "a list of files must hold paths; got a int"),
        (("a", "b"), "a tuple of str, str is no table"),
        ((1, 2, 3), "a tuple of int, int, int is no table"),
        (pl.LazyFrame({"x": [1]}), "a LazyFrame is no table"),
    ],
)
def test_refused_sources(source, says):
    with pytest.raises(InvalidTable, match=re.escape(says)):
        open_table(source, unit=Rows())


def test_a_file_that_is_no_parquet(tmp_path):
    (tmp_path / "d.parquet").write_text("secret,row")
    with pytest.raises(InvalidTable, match="cannot be read") as refused:
        open_table(tmp_path / "d.parquet", unit=Rows())
    assert refused.value.__context__ is None
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("table", ["dta", 'a"; DROP TABLE data; --', "main.nothing", "a.b.c.d", ""])
def test_unknown_tables(database, table):
    database.execute("CREATE OR REPLACE TABLE data AS SELECT 1 AS x")
    with pytest.raises(InvalidTable, match="the database has no table"):
        open_table((database, table), unit=Rows(), name="d")
    assert database.execute("SELECT count(*) FROM data").fetchall() == [(1,)]


def test_python_variables_are_no_tables(database):
    invisible = pd.DataFrame({"x": [1]})
    with pytest.raises(InvalidTable, match="the database has no table 'invisible'"):
        open_table((database, "invisible"), unit=Rows(), name="d")
    assert len(invisible) == 1


def test_a_users_connection_is_left_alone(tmp_path):
    connection = duckdb.connect(str(tmp_path / "d.duckdb"))
    connection.execute("CREATE TABLE t AS SELECT range AS x, 'p' || range % 3 AS who FROM range(9)")
    connection.execute("SET threads = 1")
    settings = connection.execute("FROM duckdb_settings()").fetchall()
    objects = "SELECT table_name FROM information_schema.tables ORDER BY ALL"
    connection.execute("SELECT x FROM t ORDER BY x")
    assert connection.fetchone() == (0,)
    table = open_table(
        (connection, "t"), unit=Entity("who", max_rows=2), bounds={"x": Bounds(0, 9, 1)}
    )
    assert table.sum("x", Keys({"who": ["p0"]})).compute().shape == (1,)
    # Its pending result is still there.
    assert connection.fetchone() == (1,)
    assert connection.execute("FROM duckdb_settings()").fetchall() == settings
    assert connection.execute(objects).fetchall() == [("t",)]


@pytest.mark.shows("memory-limit")
def test_a_connections_limit_of_memory_holds():
    connection = duckdb.connect(config={"temp_directory": ""})
    connection.execute("CREATE TABLE t AS SELECT 'person ' || range AS who FROM range(400000)")
    question = open_table((connection, "t"), unit=Entity("who", max_rows=1), name="d").count()
    connection.execute("SET memory_limit = '24MB'")
    with pytest.raises(EngineFailure):
        question.compute()
    connection.execute("SET memory_limit = '2GB'")
    assert question.compute().tolist() == [400_000]


def test_other_schemas_and_databases(tmp_path):
    other = tmp_path / "other.duckdb"
    duckdb.connect(str(other)).execute("CREATE TABLE t AS FROM range(3)").close()
    connection = duckdb.connect(str(tmp_path / "one.duckdb"))
    connection.execute("CREATE SCHEMA s; CREATE TABLE s.t AS FROM range(2)")
    connection.execute(f"ATTACH '{other}' AS elsewhere (READ_ONLY)")
    for name, rows in (("s.t", 2), ("elsewhere.main.t", 3), ("one.s.t", 2)):
        assert open_table((connection, name), unit=Rows()).count().compute().tolist() == [rows]


def test_a_closed_connection():
    connection = duckdb.connect()
    connection.close()
    with pytest.raises(InvalidTable, match="closed"):
        open_table((connection, "t"), unit=Rows(), name="d")


def test_missing_pyarrow(monkeypatch):
    frame = pl.DataFrame({"x": [1]})
    monkeypatch.setattr("neyman.tables._extra.find_spec", lambda _: None)
    with pytest.raises(MissingExtra, match=r"pip install 'neyman\[tables\]'"):
        open_table(frame, unit=Rows(), name="d")


@pytest.mark.parametrize("package", ["duckdb", "sqlglot"])
def test_missing_engine(monkeypatch, package):
    for module in [name for name in sys.modules if name.startswith("neyman.tables")]:
        monkeypatch.delitem(sys.modules, module)
    import importlib.util

    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda n: None if n == package else real(n))
    with pytest.raises(MissingExtra, match=package):
        importlib.import_module("neyman.tables")


def test_pandas_objects_are_text_or_dates_or_null():
    frame = pd.DataFrame(
        {"who": pd.Series(["a", 1, 2.5, None, b"x", date(2020, 1, 1), "\ud800"], dtype=object)}
    )
    table = open_table(frame, unit=Entity("who", max_rows=1), name="d")
    # "a" and the date as it is written in ISO 8601: a half surrogate is no UTF-8.
    assert table.count().compute().tolist() == [2]
    keys = Keys({"who": ["a", "1", "?", "2020-01-01"]})
    assert table.count(keys).compute().tolist() == [1, 0, 0, 1]


def test_half_surrogates_in_pandas_text():
    """Where pandas keeps them, they are NULL as all that is no UTF-8: no row decides an error."""
    text = pd.Series(["a", "b\ud800", None], dtype="string[python]")
    for column in (text, text.astype("category"), text.astype(object)):
        table = open_table(pd.DataFrame({"who": column}), unit=Entity("who", max_rows=1), name="d")
        assert table.count().compute().tolist() == [1]
        assert table.count(Keys({"who": ["a", "b?"]})).compute().tolist() == [1, 0]
    named = pd.DataFrame([[1]], columns=pd.Index(["\ud800"], dtype=object))
    with pytest.raises(InvalidTable, match="half surrogates"):
        open_table(named, unit=Rows(), name="d")


def test_frames_that_cannot_be_converted():
    spans = pd.DataFrame({"x": pd.array(pd.arrays.SparseArray([0, 1]))})
    with pytest.raises(InvalidTable, match="has no Arrow type"):
        open_table(spans, unit=Rows(), name="d")
    things = pl.DataFrame({"x": [object()]}, schema={"x": pl.Object})
    with pytest.raises(InvalidTable, match="of type Object"):
        open_table(things, unit=Rows(), name="d")


def test_numbered_pandas_columns():
    table = open_table(pd.DataFrame([[1, 2]]), unit=Rows(), bounds={"1": Bounds(0, 9, 1)}, name="d")
    assert table.sum("1").compute().tolist() == [2]
