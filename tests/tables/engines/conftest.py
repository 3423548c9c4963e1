"""Real engines, one of each kind for the whole run. Where one is missing its tests fail in CI."""

import os
import shutil
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

import duckdb
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, given, settings

from random_cases import SOAK


class Store(ABC):
    """An engine that takes a table and gives what `open_table` takes."""

    # Of the random tables, one in so many is tried.
    dear: ClassVar[int] = 1

    def try_tables(self, tables: int, check: Callable[..., None], **drawn: Any) -> None:
        """Hold the check on random tables, at least two of them."""
        # No shrinking: a cluster is slow, and the table is printed whole.
        few = settings(
            max_examples=max(2, tables // self.dear),
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        few(given(**drawn)(check))()

    @abstractmethod
    def fill(self, table: pa.Table, called: str = "t") -> dict[str, Any]:
        """Return the arguments `source` and `name`."""


class DuckDBStore(Store):
    def __init__(self) -> None:
        self.connection = duckdb.connect()

    def fill(self, table: pa.Table, called: str = "t") -> dict[str, Any]:
        self.connection.register("arrow", table)
        self.connection.execute(f"CREATE OR REPLACE TABLE {called} AS FROM arrow")
        return {"source": (self.connection, called), "name": called}


class SparkStore(Store):
    # A statement is planned and compiled for a second or two.
    dear: ClassVar[int] = 4

    def __init__(self, session: Any):
        self.session = session

    def fill(self, table: pa.Table, called: str = "t") -> dict[str, Any]:
        return {"source": self.session.createDataFrame(table), "name": called}


class PostgresStore(Store):
    def __init__(self, connection: Any):
        self.connection = connection

    def fill(self, table: pa.Table, called: str = "t") -> dict[str, Any]:
        from psycopg import sql

        name = sql.Identifier(called)
        columns = sql.SQL(", ").join(
            sql.SQL("{} {}").format(sql.Identifier(f.name), sql.SQL(_POSTGRES[str(f.type)]))
            for f in table.schema
        )
        with self.connection.transaction(), self.connection.cursor() as cursor:
            cursor.execute(sql.SQL("DROP TABLE IF EXISTS {} CASCADE").format(name))
            cursor.execute(sql.SQL("CREATE TABLE {} ({})").format(name, columns))
            with cursor.copy(sql.SQL("COPY {} FROM STDIN").format(name)) as copy:
                for row in zip(*(column.to_pylist() for column in table.columns), strict=True):
                    copy.write_row(row)
        return {"source": (self.connection, called), "name": None}


_POSTGRES = {
    "string": "text",
    "bool": "boolean",
    "int16": "smallint",
    "int32": "integer",
    "int64": "bigint",
    "float": "real",
    "double": "double precision",
    "decimal128(38, 9)": "numeric(38, 9)",
    "date32[day]": "date",
    "timestamp[us]": "timestamp",
    "timestamp[us, tz=UTC]": "timestamptz",
}


@pytest.fixture(scope="session")
def spark(missing: Callable[[str], None], watched: Callable[[str], Path]) -> Iterator[Any]:
    """Spark in this process: two cores, few partitions, a quick compiler, a plain collector."""
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        missing("java")
    try:
        import pyspark  # noqa: F401
    except ImportError:
        missing("pyspark")
    from neyman.tables import local_spark

    # Where Spark keeps tables and what does not fit. The machine itself ends with this process,
    # whose end of a pipe it reads.
    folder = watched("neyman-spark-")
    with warnings.catch_warnings():
        # PySpark warns of the newest pandas, which is not used here.
        warnings.simplefilter("ignore")
        session = local_spark(
            {
                "spark.master": "local[2]",
                "spark.sql.shuffle.partitions": "2",
                "spark.default.parallelism": "2",
                "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
                # Statements of every date format at once are large plans.
                "spark.driver.memory": "3g",
                "spark.sql.warehouse.dir": str(folder / "warehouse"),
                "spark.local.dir": str(folder),
            }
        )
        yield session
        session.stop()


@pytest.fixture(scope="session")
def postgres(postgres_server: Any) -> Iterator[Any]:
    """A connection to the server of the run."""
    import psycopg

    with psycopg.connect(postgres_server.address, autocommit=True) as connection:
        yield connection


@pytest.fixture
def spark_settings() -> Mapping[str, str]:
    """Spark compiles nothing and plans each statement once: a third of its time, for few rows.

    The long trials have its defaults, and so have the tests that take `spark` itself.
    """
    if settings.get_current_profile_name() == SOAK:
        return {}
    return {
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    }


@contextmanager
def configured(spark: Any, chosen: Mapping[str, str]) -> Iterator[None]:
    """Give a session settings for a while."""
    kept = {key: spark.conf.get(key) for key in chosen}
    try:
        for key, value in chosen.items():
            spark.conf.set(key, value)
        yield
    finally:
        for key, value in kept.items():
            spark.conf.set(key, value)


@pytest.fixture(params=["duckdb", "postgres", "spark"])
def store(request: pytest.FixtureRequest, spark_settings: Mapping[str, str]) -> Iterator[Store]:
    """Each engine in turn."""
    match request.param:
        case "duckdb":
            yield DuckDBStore()
        case "postgres":
            yield PostgresStore(request.getfixturevalue("postgres"))
        case _:
            spark = request.getfixturevalue("spark")
            with configured(spark, spark_settings):
                yield SparkStore(spark)
