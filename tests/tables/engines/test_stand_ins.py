"""No function of a user's database or session ever runs in the place of an engine's own."""

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction

import duckdb
import pyarrow as pa
import pytest

import neyman as ny
from neyman.errors import EngineFailure, InvalidTable
from neyman.nodes import beyond
from neyman.tables import Bounds, Entity, Keys, Rows, open_table
from neyman.tables._engines import _duckdb_engine, _duckdb_functions

TABLE = "CREATE TABLE visits AS SELECT i AS patient, 5::DOUBLE AS cost FROM range(9) s(i)"
BOUNDS = {"cost": Bounds(0, 10, grid=1)}


@pytest.fixture
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as opened:
        opened.execute(TABLE)
        yield opened


def visits(connection, unit=None):
    unit = Entity("patient", max_rows=2) if unit is None else unit
    return open_table((connection, "main.visits"), unit=unit, bounds=BOUNDS, name="clinic")


def called(connection) -> list[str]:
    """Names in two statements, of all kinds: scalar, operator, aggregate, window, table."""
    texts = [
        visits(connection).count().sql(),
        visits(connection).mean("cost", Keys({"patient": [0, 1]})).sql(),
    ]
    return sorted(set().union(*(_duckdb_functions._called(connection, text) for text in texts)))


@contextmanager
def refused(name: str, engine: str = "DuckDB") -> Iterator[None]:
    with pytest.raises(InvalidTable, match=f"{engine} must run functions of its own only") as error:
        yield
    assert repr(name) in str(error.value)


def second(a, b):
    del a
    return b


class TestDuckDB:
    @pytest.mark.shows("own-functions")
    def test_every_function_that_a_statement_calls_is_looked_for(self, connection):
        names = called(connection)
        assert {"least", "greatest", "floor", "+", "/", "||", "md5", "str_split"} <= set(names)
        assert {"sum", "count", "count_star", "row_number", "unnest"} <= set(names)
        for name in names:
            connection.execute(f'CREATE MACRO "{name.upper()}"(a) AS 7')
            with refused(name):
                visits(connection).mean("cost", Keys({"patient": [0, 1]}))
                visits(connection).count()
            connection.execute(f'DROP MACRO "{name.upper()}"')
        assert visits(connection).sum("cost").compute().tolist() == [45]

    @pytest.mark.parametrize(
        "made",
        [
            "CREATE MACRO least(a, b) AS a",
            "CREATE SCHEMA s; CREATE MACRO s.least(a, b) AS a",
            "CREATE SCHEMA s; CREATE MACRO s.least(a, b) AS a; SET search_path = 's,main'",
            "ATTACH ':memory:' AS o; CREATE MACRO o.least(a, b) AS a",
            "ATTACH ':memory:' AS o; CREATE MACRO o.least(a, b) AS a; SET search_path = 'o,memory'",
            "CREATE MACRO least(a) AS TABLE SELECT a",
            "CREATE MACRO least(a, b) AS a; SET lock_configuration = true",
        ],
    )
    def test_macros_are_refused_wherever_they_lie(self, connection, made):
        table = visits(connection)
        connection.execute(made)
        with refused("least"):
            table.sum("cost")

    def test_macros_in_a_file_are_refused_to_whoever_opens_it(self, tmp_path):
        path = tmp_path / "clinic.duckdb"
        with duckdb.connect(path) as first:
            first.execute(TABLE)
            first.execute("CREATE MACRO floor(a) AS round(a)")
        with duckdb.connect(path, read_only=True) as second:
            table = open_table((second, "visits"), unit=Rows(), bounds=BOUNDS)
            with refused("floor"):
                table.sum("cost")
            # A count calls no FLOOR.
            assert table.count().compute().tolist() == [9]

    def test_tables_that_are_counted_at_nodes_are_looked_at_too(self, connection):
        table = visits(connection, Rows())
        connection.execute("CREATE MACRO sum(a) AS 7; CREATE MACRO count(a) AS 7")
        with refused("sum"):
            table.countable("cost").counter([beyond(3.0)])

    def test_temporary_macros_and_types_are_not_reached(self, connection):
        connection.execute("CREATE TEMP MACRO least(a, b) AS 99; CREATE TEMP MACRO sum(a) AS 7")
        connection.execute("CREATE SCHEMA s; SET search_path = 's,main'")
        connection.execute('CREATE TYPE "BIGINT" AS VARCHAR; CREATE TYPE "DOUBLE" AS VARCHAR')
        assert visits(connection).sum("cost").compute().tolist() == [45]

    def test_other_functions_do_not_matter(self, connection):
        connection.execute("CREATE MACRO leastest(a, b) AS a; CREATE MACRO sqrt(a) AS 7")
        connection.execute("CREATE MACRO neyman_rows() AS TABLE SELECT 1; CREATE MACRO j(a) AS 1")
        connection.create_function("scale", lambda x: 2 * x, ["DOUBLE"], "DOUBLE")
        assert visits(connection).sum("cost").compute().tolist() == [45]

    @pytest.mark.parametrize(
        ("name", "function", "kinds"),
        [("least", second, ["DOUBLE"] * 2), ("floor", lambda a: a, ["BIGINT"])],
    )
    def test_python_functions_are_refused(self, connection, name, function, kinds):
        before = visits(connection).sum("cost")
        connection.create_function(name, function, kinds, kinds[0])
        with refused(name):
            visits(connection).sum("cost")
        with pytest.raises(EngineFailure, match=f"'{name}'"):
            before.compute()

    def test_what_comes_after_the_question_is_refused_before_the_charge(self, connection, tmp_path):
        asked = visits(connection).sum("cost")
        connection.execute("CREATE MACRO least(a, b) AS 99")
        ledger = ny.Ledger.open(
            tmp_path / "l", cap=ny.gdp(1), unit=asked.unit, neighbors="add_remove"
        )
        noise = ny.Gaussian.calibrate(asked.sensitivity, mu=Fraction(1, 2))
        with refused("least"):
            ny.release(asked, noise, ledger, entry="sum")
        assert ledger.entries() == ()
        with pytest.raises(EngineFailure, match=r"'least'.*stays charged") as failed:
            asked.compute()
        assert failed.value.__context__ is None
        connection.execute("DROP MACRO least")
        assert ny.release(asked, noise, ledger, entry="sum").entry == "sum"

    def test_functions_are_looked_for_before_the_charge_of_every_kind_of_question(
        self, connection, tmp_path
    ):
        table = visits(connection)
        cells = Keys({"patient": [0, 1]})
        questions = [
            table.count(cells),
            ny.publish.density(table, "cost", bandwidth=1),
            ny.publish.quantiles(table, "cost", [0.5]),
            ny.publish.crosstab(table, cells, margins=[], whole=True),
        ]
        connection.execute("CREATE MACRO least(a, b) AS 99")
        connection.execute("CREATE MACRO floor(a) AS 99")
        ledger = ny.Ledger.open(
            tmp_path / "l", cap=ny.gdp(1), unit=table.protects, neighbors="add_remove"
        )
        for question in questions:
            noise = ny.Gaussian.calibrate(question.sensitivity, mu=Fraction(1, 9))
            with pytest.raises(InvalidTable, match="functions of its own only"):
                ny.release(question, noise, ledger, entry="x")
        assert ledger.entries() == ()

    def test_nothing_is_charged_where_the_question_is_refused(self, connection):
        connection.execute("CREATE MACRO least(a, b) AS 99")
        table = visits(connection)
        for ask in (table.count, lambda: table.mean("cost"), lambda: table.sum("cost")):
            with refused("least"):
                ask()

    def test_what_comes_after_the_look_is_not_called(self, connection, monkeypatch):
        """One transaction holds both the look and the statement."""
        asked = visits(connection).sum("cost")
        look = _duckdb_engine.refuse_stand_ins

        def then_made(engine, found):
            look(engine, found)
            connection.execute("CREATE MACRO least(a, b) AS 99")
            connection.create_function("greatest", second, ["DOUBLE"] * 2, "DOUBLE")

        monkeypatch.setattr(_duckdb_engine, "refuse_stand_ins", then_made)
        assert asked.compute().tolist() == [45]

    def test_what_is_not_looked_for_is_not_called_either(self, connection, monkeypatch):
        """A second lock: names mean what DuckDB itself means by them."""
        names = called(connection)
        monkeypatch.setattr(_duckdb_functions, "_called", lambda *_: set())
        for name in names:
            connection.execute(f'CREATE MACRO "{name}"(a, b) AS 99')
            connection.execute(f'CREATE MACRO "{name}"(a) AS TABLE SELECT 1')
        assert visits(connection).sum("cost").compute().tolist() == [45]

    def test_a_connection_is_left_as_it_was(self, connection):
        connection.execute("CREATE SCHEMA s; SET search_path = 's,main'; BEGIN")
        connection.execute("UPDATE visits SET cost = 0")
        connection.execute("SELECT * FROM range(5)")
        assert connection.fetchone() == (0,)
        # Not committed, so not seen.
        assert visits(connection).sum("cost").compute().tolist() == [45]
        assert connection.fetchone() == (1,)
        path = connection.execute("SELECT current_setting('search_path')").fetchone()
        assert path == ("s,main",)
        connection.execute("ROLLBACK")

    def test_a_view_in_the_place_of_the_table_is_refused(self, connection):
        asked = visits(connection).sum("cost")
        connection.execute("ALTER TABLE visits RENAME TO old")
        connection.execute("CREATE VIEW visits AS SELECT patient, 1e9 AS cost FROM old")
        with pytest.raises(EngineFailure, match="is no table any more"):
            asked.compute()

    def test_columns_that_call_macros_are_refused(self, connection):
        connection.execute("CREATE MACRO price(a) AS 2 * a")
        connection.execute("CREATE TABLE bills (x DOUBLE, y DOUBLE AS (price(x)))")
        with pytest.raises(InvalidTable, match="no generated column of it calls a macro"):
            open_table((connection, "bills"), unit=Rows(), name="c")

    def test_a_closed_connection_is_told(self, connection):
        table = visits(connection)
        connection.close()
        with pytest.raises(InvalidTable, match="closed or broken"):
            table.count()


def in_spark(session):
    """A sum in a session: of 1 and 20, cut at 10."""
    frame = session.createDataFrame(pa.table({"x": [1.0, 20.0]}))
    table = open_table(frame, unit=Rows(), bounds={"x": Bounds(0, 10, grid=1)}, name="t")
    return lambda: table.sum("x")


@pytest.mark.shows("own-functions")
def test_functions_of_a_spark_session_are_refused(spark):
    session = spark.newSession()
    ask = in_spark(session)
    session.udf.register("sqrt", lambda a: a, "double")
    before = ask()
    assert before.compute().tolist() == [11]
    session.udf.register("Least", second, "double")
    with refused("least", "Spark"):
        ask()
    with pytest.raises(EngineFailure, match=r"'least'.*stays charged"):
        before.compute()
    # Another session is not concerned.
    assert in_spark(spark.newSession())().compute().tolist() == [11]


def test_functions_of_a_spark_catalog_are_refused(spark):
    session = spark.newSession()
    ask = in_spark(session)
    try:
        session.sql("CREATE FUNCTION default.rint(a DOUBLE) RETURNS DOUBLE RETURN 7")
        with refused("rint", "Spark"):
            ask()
    finally:
        session.sql("DROP FUNCTION IF EXISTS default.rint")
    assert ask().compute().tolist() == [11]


def test_paths_and_temporary_functions_of_spark_are_refused(spark):
    """Since 4.3: before, Spark itself refuses a SQL function of a built-in's name."""
    if spark.version < "4.3":
        pytest.skip("Spark has no path")
    session = spark.newSession()
    ask = in_spark(session)
    session.sql("CREATE TEMPORARY FUNCTION sum(a INT) RETURNS INT RETURN 7")
    with refused("sum", "Spark"):
        ask()
    session.sql("DROP TEMPORARY FUNCTION sum")
    session.sql("SET spark.sql.path.enabled = true")
    session.sql("SET PATH = spark_catalog.default, system.builtin")
    with pytest.raises(InvalidTable, match="write SET PATH = DEFAULT_PATH"):
        ask()
    session.sql("SET PATH = DEFAULT_PATH")
    assert ask().compute().tolist() == [11]


@pytest.mark.shows("own-functions")
def test_functions_and_casts_of_a_postgres_database_are_refused(postgres):
    postgres.execute("DROP TABLE IF EXISTS t CASCADE; DROP TYPE IF EXISTS ward CASCADE")
    postgres.execute("CREATE TYPE ward AS ENUM ('north', 'south'); CREATE TABLE t (w ward, x int)")
    postgres.execute("CREATE TABLE IF NOT EXISTS beside (x int); INSERT INTO t VALUES ('north', 1)")
    told = "AS $$ SELECT 'south'::text $$ LANGUAGE sql"
    try:
        table = open_table((postgres, "t"), unit=Rows())
        before = table.count(Keys({"w": ["north", "south"]}))
        assert before.compute().tolist() == [1, 0]
        postgres.execute(f"CREATE FUNCTION told(ward) RETURNS text {told}")
        postgres.execute("CREATE CAST (ward AS text) WITH FUNCTION told(ward)")
        with refused("CAST(public.ward AS text)", "PostgreSQL"):
            table.count(Keys({"w": ["north"]}))
        with pytest.raises(EngineFailure, match=r"CAST\(public.ward AS text\).*stays charged"):
            before.compute()
        # A table without that type is no concern of the cast's.
        other = open_table((postgres, "beside"), unit=Rows())
        assert other.count().compute().tolist() == [0]
        postgres.execute("DROP CAST (ward AS text)")
        postgres.execute(
            f"CREATE FUNCTION pg_catalog.string_to_array(ward, ward) RETURNS text {told}"
        )
        with refused("string_to_array", "PostgreSQL"):
            table.count(Keys({"w": ["north"]}))
        postgres.execute("DROP FUNCTION pg_catalog.string_to_array(ward, ward)")
        assert before.compute().tolist() == [1, 0]
    finally:
        postgres.execute("DROP TABLE t CASCADE; DROP TYPE ward CASCADE")
