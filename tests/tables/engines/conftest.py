"""Real engines, one of each kind for the whole run. Where one is missing its tests fail in CI."""

import os
import pwd
import shutil
import subprocess
import tempfile
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest


class Store(ABC):
    """An engine that takes a table and gives what `open_table` takes."""

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
}


def missing(what: str) -> Any:
    if os.environ.get("CI") == "true":
        pytest.fail(f"{what} is missing; CI tests every engine")
    pytest.skip(f"{what} is missing")


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """Spark in this process: two cores, no more partitions than rows need, a quick compiler."""
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        missing("java")
    try:
        import pyspark  # noqa: F401
    except ImportError:
        missing("pyspark")
    from neyman.tables import local_spark

    with warnings.catch_warnings():
        # PySpark warns of the newest pandas, which is not used here.
        warnings.simplefilter("ignore")
        session = local_spark(
            {
                "spark.master": "local[2]",
                "spark.sql.shuffle.partitions": "2",
                "spark.default.parallelism": "2",
                "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
                "spark.sql.warehouse.dir": tempfile.mkdtemp(prefix="neyman-spark-"),
            }
        )
        yield session
        session.stop()


@pytest.fixture(scope="session")
def postgres() -> Iterator[Any]:
    """A PostgreSQL server of our own, on a socket in a directory of its own."""
    try:
        import psycopg
    except ImportError:
        missing("psycopg")
    binaries = shutil.which("initdb") or next(
        iter(sorted(map(str, Path("/usr/lib/postgresql").glob("*/bin/initdb")))), None
    )
    if binaries is None:
        missing("PostgreSQL (initdb)")
    bin_ = Path(binaries).resolve().parent
    folder = Path(tempfile.mkdtemp(prefix="neyman-pg-"))
    # The server does not run as root.
    user = "postgres" if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name
    shutil.chown(folder, user)
    data = str(folder / "data")

    def run(program: str, *arguments: str) -> None:
        subprocess.run(
            [bin_ / program, "-D", data, *arguments],
            user=user if os.geteuid() == 0 else None,
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=True,
            timeout=300,
        )

    run("initdb", "-U", "neyman", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync")
    options = f"-c listen_addresses='' -c unix_socket_directories={folder} -c fsync=off"
    run("pg_ctl", "start", "-w", "-t", "120", "-o", options, "-l", str(folder / "log"))
    try:
        with psycopg.connect(
            f"host={folder} user=neyman dbname=postgres", autocommit=True
        ) as connection:
            yield connection
    finally:
        run("pg_ctl", "stop", "-m", "immediate")
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(params=["duckdb", "postgres", "spark"])
def store(request: pytest.FixtureRequest) -> Store:
    """Each engine in turn."""
    kinds = {"spark": SparkStore, "postgres": PostgresStore}
    if request.param == "duckdb":
        return DuckDBStore()
    return kinds[request.param](request.getfixturevalue(request.param))
