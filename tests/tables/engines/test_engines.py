"""What every engine owes: names and keys are never SQL, errors say nothing of a row."""

import os
import re
import signal
import threading
import time
import traceback
from contextlib import contextmanager

import duckdb
import pyarrow as pa
import pytest
import sqlglot

from neyman.errors import EngineFailure, InvalidTable, UnknownColumn
from neyman.tables import Bounds, Entity, Keys, Rows, open_table

NASTY = [
    'a"; DROP TABLE t; --',
    "'; DROP TABLE t; --",
    "a`b``c",
    "a\\'b\\",
    "${env:HOME}",
    "$a ${spark.app.name} {0} %s %(a)s ? :a",
    "select",
    "a\nb\tc\u2028",
    "ünïcödé ✈ \U0001f600",
    "\ue000\ue001",
    "neyman_rows",
    "u",
    "c1",
    "x" * 63,
]


@pytest.mark.shows("never-sql")
def test_names_and_keys_are_never_sql(store):
    columns = {name: pa.array([name, "other", None]) for name in NASTY}
    given = store.fill(pa.table(columns | {"x": pa.array([1, 2, 3])}))
    bounds = {"x": Bounds(0, 9, grid=1)}
    first = NASTY[0]
    asked = open_table(**given, unit=Entity(first, max_rows=1), bounds=bounds)
    assert asked.sum("x", Keys({first: [first]})).compute().tolist() == [1]
    # Each name is a column, and its own only key.
    table = open_table(**given, unit=Rows(), bounds=bounds)
    for names in (NASTY[1:7], NASTY[7:]):
        keys = Keys({name: [name] for name in names})
        assert table.count(keys).compute().tolist() == [1]
    given = store.fill(pa.table({"g": pa.array([*NASTY, "other"])}))
    counts = open_table(**given, unit=Rows()).count(Keys({"g": ["none", *NASTY]})).compute()
    assert counts.tolist() == [0, *[1] * len(NASTY)]


def test_ten_thousand_keys_and_none_at_all(store):
    given = store.fill(pa.table({"g": pa.array([7, 9_999, 10_000, None], pa.int64())}))
    counts = open_table(**given, unit=Rows()).count(Keys({"g": range(10_000)})).compute()
    assert counts[[7, 9_999]].tolist() == [1, 1]
    assert counts.sum() == 2


def test_the_schema_is_told_apart(store):
    moments = pa.array([0], pa.timestamp("us"))
    given = store.fill(pa.table({"Who": pa.array(["a"]), "x": moments}))
    with pytest.raises(UnknownColumn, match="no column 'who'; close to it are 'Who'"):
        open_table(**given, unit=Entity("who", max_rows=1))
    with pytest.raises(InvalidTable, match="'x' is of type timestamp and cannot name a unit"):
        open_table(**given, unit=Entity("x", max_rows=1))
    with pytest.raises(InvalidTable, match="'Who' is of type text and cannot be added up"):
        open_table(**given, unit=Rows(), bounds={"Who": Bounds(0, 1, grid=1)})
    with pytest.raises(InvalidTable, match="write str keys"):
        open_table(**given, unit=Rows()).count(Keys({"Who": [1]}))


def test_max_table_rows_clamp_and_do_not_raise(store):
    given = store.fill(pa.table({"g": ["a"] * 9 + ["b"] * 9, "x": [2.0] * 9 + [-2.0] * 9}))
    bounds = {"x": Bounds(-1, 2, grid=1)}
    table = open_table(**given, unit=Rows(), bounds=bounds, max_table_rows=4)
    assert table.sum("x", Keys({"g": ["a", "b", "c"]})).compute().tolist() == [8, -8, 0]


def silent(failed, seen=""):
    error = failed.value
    assert error.__context__ is None
    assert error.__cause__ is None
    assert "secret-1" not in "".join(traceback.format_exception(error)) + seen


@contextmanager
def stopped_soon():
    """Ctrl-C after a moment, as Python has it by default."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    stop = threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT))
    stop.start()
    try:
        yield
    finally:
        stop.join()
        signal.signal(signal.SIGINT, before)


class TestSpark:
    def test_a_failing_plan_says_nothing(self, spark, capfd):
        frame = spark.createDataFrame(pa.table({"x": ["1", "secret-1"]}))
        failing = frame.selectExpr("CAST(x AS INT) AS x")
        table = open_table(failing, unit=Rows(), bounds={"x": Bounds(0, 1, grid=1)}, name="t")
        with pytest.raises(EngineFailure, match=r"Spark failed.*stays charged") as failed:
            table.sum("x").compute()
        silent(failed, "".join(capfd.readouterr()))

    def test_ctrl_c_stops_the_job(self, spark):
        engine = open_table(spark.range(1), unit=Rows(), name="t").engine
        # Many tasks: one that runs is not broken off, the others are not begun.
        slow = sqlglot.parse_one(
            "SELECT sum(hash(id)) FROM range(0, 10000000000, 1, 10000)", dialect="spark"
        )
        with pytest.raises(KeyboardInterrupt) as stopped, stopped_soon():
            engine.integers(slow, 1)
        assert stopped.value.__context__ is None
        tracker = spark.sparkContext.statusTracker()
        deadline = time.monotonic() + 60
        while tracker.getActiveJobsIds() and time.monotonic() < deadline:
            time.sleep(0.05)
        assert tracker.getActiveJobsIds() == []

    def test_a_session_is_left_as_it_was(self, spark):
        before = [t.name for t in spark.catalog.listTables()]
        settings = {row.key: row.value for row in spark.sql("SET").collect()}
        table = open_table(spark.range(9), unit=Entity("id", max_rows=1), name="t")
        assert table.count().compute().tolist() == [9]
        assert [t.name for t in spark.catalog.listTables()] == before
        assert {row.key: row.value for row in spark.sql("SET").collect()} == settings
        assert list(spark.sparkContext.getJobTags()) == []

    @pytest.mark.parametrize(
        ("adaptive", "ansi"),
        [
            ("true", "false"),
            ("false", "true"),
            # As they are from the start; and none of them.
            pytest.param("true", "true", marks=pytest.mark.soak),
            pytest.param("false", "false", marks=pytest.mark.soak),
        ],
    )
    def test_settings_do_not_matter(self, spark, adaptive, ansi):
        words = ["a\\Q", "${env:HOME}", "\\u0041"]
        chosen = {
            "spark.sql.adaptive.enabled": adaptive,
            "spark.sql.codegen.wholeStage": adaptive,
            "spark.sql.ansi.enabled": ansi,
            "spark.sql.parser.escapedStringLiterals": ansi,
            "spark.sql.caseSensitive": adaptive,
        }
        frame = spark.createDataFrame(pa.table({"g": words, "x": [1e308, -1e308, 0.3]}))
        kept = {key: spark.conf.get(key) for key in chosen}
        try:
            for key, value in chosen.items():
                spark.conf.set(key, value)
            bounds = {"x": Bounds(-1, 2, grid=0.1)}
            table = open_table(frame, unit=Entity("g", max_rows=1), bounds=bounds, name="t")
            assert table.sum("x", Keys({"g": words})).compute().tolist() == [20, -10, 3]
        finally:
            for key, value in kept.items():
                spark.conf.set(key, value)

    def test_refused_frames(self, spark):
        with pytest.raises(InvalidTable, match="write name="):
            open_table(spark.range(1), unit=Rows())
        drawn = spark.range(3).selectExpr("id", "rand() AS x")
        with pytest.raises(InvalidTable, match="draws random numbers"):
            open_table(drawn, unit=Rows(), name="t")
        stream = spark.readStream.format("rate").load()
        with pytest.raises(InvalidTable, match="is a stream"):
            open_table(stream, unit=Rows(), name="t")
        with pytest.raises(InvalidTable, match="differ at most by case"):
            open_table(spark.range(1).selectExpr("id", "id AS ID"), unit=Rows(), name="t")

    def test_types(self, spark):
        frame = spark.sql(
            "SELECT array(1) AS a, struct(1) AS s, X'00' AS b, current_timestamp() AS t, "
            "CAST('a' AS STRING) COLLATE UTF8_LCASE AS c"
        )
        for column in "asbt":
            with pytest.raises(InvalidTable, match="cannot name a unit"):
                open_table(frame, unit=Entity(column, max_rows=1), name="t")
        # A collation merges no groups.
        table = open_table(frame, unit=Entity("c", max_rows=1), name="t")
        assert table.count(Keys({"c": ["A", "a"]})).compute().tolist() == [0, 1]

    def test_tables_of_the_catalog(self, spark):
        spark.sql("DROP TABLE IF EXISTS visits")
        spark.range(7).write.saveAsTable("visits")
        spark.sql("CREATE OR REPLACE TEMP VIEW seen AS SELECT * FROM visits")
        try:
            for name in ("visits", "default.visits", "spark_catalog.default.visits"):
                aggregate = open_table((spark, name), unit=Rows(), name="clinic").count()
                assert aggregate.compute().tolist() == [7]
                assert "clinic:spark_catalog.default.visits" in aggregate.source
            with pytest.raises(InvalidTable, match="is a view"):
                open_table((spark, "seen"), unit=Rows(), name="t")
            for table in ("visit", "a`; DROP TABLE visits", ""):
                with pytest.raises(InvalidTable, match="has no table") as refused:
                    open_table((spark, table), unit=Rows(), name="t")
                assert refused.value.__context__ is None
            with pytest.raises(InvalidTable, match="write name="):
                open_table((spark, "visits"), unit=Rows())
        finally:
            spark.catalog.dropTempView("seen")
            spark.sql("DROP TABLE visits")

    def test_a_name_and_a_schema_are_a_dataset(self, spark):
        def source(frame, name):
            return open_table(frame, unit=Rows(), name=name).count().source

        assert source(spark.range(1), "a") == source(spark.range(2), "a")
        assert source(spark.range(1), "a") != source(spark.range(1), "b")
        assert source(spark.range(1), "a") != source(spark.range(1).selectExpr("id AS x"), "a")

    def test_a_session_that_runs_is_not_started_again(self, spark):
        from neyman.tables import local_spark

        with pytest.raises(InvalidTable, match="runs in this process already"):
            local_spark()
        assert spark.version


class TestPostgres:
    def test_a_failing_table_says_nothing(self, postgres, capfd):
        postgres.execute("DROP TABLE IF EXISTS t CASCADE")
        postgres.execute("CREATE TABLE t (x integer)")
        table = open_table((postgres, "t"), unit=Rows(), bounds={"x": Bounds(0, 1, grid=1)})
        postgres.execute("DROP TABLE t")
        postgres.execute("CREATE VIEW t AS SELECT CAST('secret-' || 1 AS integer) AS x")
        with pytest.raises(EngineFailure, match=r"PostgreSQL failed.*stays charged") as failed:
            table.sum("x").compute()
        silent(failed, "".join(capfd.readouterr()))
        with pytest.raises(InvalidTable, match="is a view"):
            open_table((postgres, "t"), unit=Rows())
        postgres.execute("DROP VIEW t")

    def test_ctrl_c_stops_the_query(self, postgres):
        postgres.execute("DROP TABLE IF EXISTS t CASCADE")
        postgres.execute("CREATE TABLE t (x integer)")
        engine = open_table((postgres, "t"), unit=Rows()).engine
        slow = sqlglot.parse_one("SELECT count(*) FROM generate_series(1, 1000000000000)")
        with pytest.raises(KeyboardInterrupt) as stopped, stopped_soon():
            engine.integers(slow, 1)
        assert stopped.value.__context__ is None
        left = (
            "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%series%' AND state = 'active'"
        )
        assert postgres.execute(left + " AND pid <> pg_backend_pid()").fetchone() == (0,)

    def test_a_connection_is_left_as_it_was(self, postgres):
        import psycopg

        with psycopg.connect(postgres.info.dsn) as mine, mine.cursor() as cursor:
            cursor.execute("DROP TABLE IF EXISTS t CASCADE; CREATE TABLE t (x integer)")
            cursor.execute("INSERT INTO t VALUES (1); COMMIT; BEGIN")
            cursor.execute("SET LOCAL search_path = pg_catalog; INSERT INTO public.t VALUES (2)")
            # Not committed, so not seen.
            assert open_table((mine, "t"), unit=Rows()).count().compute().tolist() == [1]
            assert mine.info.transaction_status == psycopg.pq.TransactionStatus.INTRANS
            assert cursor.execute("SELECT count(*) FROM public.t").fetchone() == (2,)
            mine.rollback()

    def test_functions_of_the_database_are_not_called(self, postgres):
        postgres.execute("DROP TABLE IF EXISTS t CASCADE; CREATE TABLE t (x text)")
        postgres.execute("INSERT INTO t VALUES ('a'), ('b')")
        postgres.execute(
            "CREATE OR REPLACE FUNCTION public.md5(bytea) RETURNS text "
            "LANGUAGE sql AS 'SELECT CAST(1 / 0 AS text)'"
        )
        postgres.execute("ALTER ROLE neyman SET search_path = public, pg_catalog")
        try:
            table = open_table((postgres, "t"), unit=Entity("x", max_rows=1))
            assert table.count(Keys({"x": ["a", "b"]})).compute().tolist() == [1, 1]
        finally:
            postgres.execute("ALTER ROLE neyman RESET search_path")
            postgres.execute("DROP FUNCTION public.md5(bytea)")

    def test_a_server_names_itself(self, postgres):
        postgres.execute("DROP TABLE IF EXISTS t CASCADE; CREATE TABLE t (x integer)")
        postgres.execute("CREATE SCHEMA IF NOT EXISTS s")
        postgres.execute('CREATE TABLE IF NOT EXISTS s."T.b" (x integer)')
        source = open_table((postgres, "public.t"), unit=Rows()).count().source
        assert source == open_table((postgres, "t"), unit=Rows()).count().source
        assert re.fullmatch(r"postgresql:\d{10,}:postgres:public\.t", source)
        assert open_table((postgres, "s.T.b"), unit=Rows()).count().compute().tolist() == [0]
        with pytest.raises(InvalidTable, match="leave name out"):
            open_table((postgres, "t"), unit=Rows(), name="mine")
        with pytest.raises(InvalidTable, match="has no table 'tt' \\(there is 't'"):
            open_table((postgres, "tt"), unit=Rows())

    def test_a_closed_connection(self, postgres):
        import psycopg

        with psycopg.connect(postgres.info.dsn) as closed:
            pass
        with pytest.raises(InvalidTable, match="closed") as refused:
            open_table((closed, "t"), unit=Rows())
        assert refused.value.__context__ is None

    def test_another_encoding(self, postgres):
        import psycopg

        postgres.execute("DROP DATABASE IF EXISTS latin")
        postgres.execute("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0")
        with (
            psycopg.connect(postgres.info.dsn, dbname="latin") as latin,
            pytest.raises(InvalidTable, match="'latin' is in LATIN1"),
        ):
            open_table((latin, "t"), unit=Rows())

    def test_types(self, postgres):
        postgres.execute("DROP TABLE IF EXISTS t CASCADE; DROP TYPE IF EXISTS mood")
        postgres.execute("CREATE TYPE mood AS ENUM ('sad', 'glad')")
        postgres.execute(
            "CREATE TABLE t (m mood, c char(4), v varchar(9), i uuid, a integer[], b bytea, "
            "j json, s timestamp, o money, d date)"
        )
        postgres.execute(
            "INSERT INTO t VALUES ('sad', 'a', 'a ', gen_random_uuid(), NULL, NULL, NULL, NULL, "
            "NULL, 'infinity'), ('glad', 'a', 'a', gen_random_uuid(), NULL, NULL, NULL, NULL, "
            "NULL, '0044-03-15 BC')"
        )
        for column, units in {"m": 2, "c": 1, "v": 2, "i": 2, "d": 2}.items():
            table = open_table((postgres, "t"), unit=Entity(column, max_rows=1))
            assert table.count().compute().tolist() == [units], column
        for column in "abjso":
            with pytest.raises(InvalidTable, match="cannot name a unit"):
                open_table((postgres, "t"), unit=Entity(column, max_rows=1))
        moods = open_table((postgres, "t"), unit=Rows()).count(Keys({"m": ["glad", "other"]}))
        assert moods.compute().tolist() == [1, 0]

    @pytest.mark.parametrize("grid", [1e-250, 1e-3, 0.5, 2.0, 1e250])
    def test_no_arithmetic_fails(self, postgres, grid):
        """Where IEEE 754 rounds to zero, PostgreSQL raises."""
        cells = [5e-324, -5e-324, 1e-310, 1e-30, -1e-200, 1e-200, 1e308, -1e308, grid, -grid / 2]
        frame = pa.table({"x": cells})
        postgres.execute("DROP TABLE IF EXISTS t CASCADE; CREATE TABLE t (x double precision)")
        postgres.cursor().executemany("INSERT INTO t VALUES (%s)", [(cell,) for cell in cells])
        bounds = {"x": Bounds(-3 * grid, 4 * grid, grid=grid)}
        expected = open_table(frame, unit=Rows(), bounds=bounds, name="t").sum("x").compute()
        assert (
            open_table((postgres, "t"), unit=Rows(), bounds=bounds).sum("x").compute() == expected
        )

    def test_numbers_without_end(self, postgres):
        cells = ["'NaN'", "'Infinity'", "'-Infinity'", "1e400", "-1e5000", "1e-400", "NULL", "1.5"]
        postgres.execute("DROP TABLE IF EXISTS t CASCADE; CREATE TABLE t (x numeric)")
        for cell in cells:
            postgres.execute(f"INSERT INTO t VALUES ({cell})")
        bounds = {"x": Bounds(-2, 3, grid=0.5)}
        table = open_table((postgres, "t"), unit=Rows(), bounds=bounds)
        assert table.sum("x").compute().tolist() == [6 + 6 - 4 - 4 + 0 + 3]
        assert table.count().compute().tolist() == [8]
        # The weighted count: five steps between the middle and an end, six known numbers.
        assert table.mean("x").compute().tolist()[0] == 5 * 6


def test_an_engine_without_its_package(monkeypatch):
    from neyman.errors import MissingExtra
    from neyman.tables import local_spark

    monkeypatch.setattr("neyman.tables._extra.find_spec", lambda _: None)
    with pytest.raises(MissingExtra, match=r"pip install 'neyman\[spark\]'"):
        local_spark()


def test_other_pairs_are_still_duckdbs():
    connection = duckdb.connect()
    connection.execute("CREATE TABLE t AS FROM range(3)")
    assert open_table((connection, "t"), unit=Rows(), name="t").count().compute().tolist() == [3]
    with pytest.raises(InvalidTable, match="a tuple of int, str is no table"):
        open_table((1, "t"), unit=Rows(), name="t")
