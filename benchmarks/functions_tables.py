"""Functions of tables: rows counted at public nodes, against DuckDB's bare histogram."""

import os
import tempfile
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import duckdb

from benchmarks import Report, interleave
from neyman.functional import Basis, Circle, Density, Domain, Interval
from neyman.nodes import Nodes
from neyman.publish import density
from neyman.tables import Rows, open_table

ROWS = tuple(int(float(text)) for text in os.environ.get("NEYMAN_ROWS", "1e7 1e8").split())
REPETITIONS = 7
BAR = 1.2
DOMAINS: dict[str, Domain] = {
    "clip, all inside": Interval(0, 100, outside="clip"),
    "drop, all inside": Interval(0, 100, outside="drop"),
    "clip, 30 % outside": Interval(0, 50, outside="clip"),
    "drop, 30 % outside": Interval(0, 50, outside="drop"),
    "circle": Circle(24),
}


def made(folder: Path, rows: int) -> Path:
    """Write one column of doubles."""
    path = folder / f"{rows}.parquet"
    duckdb.sql(f"SELECT 100 * sqrt(random() * random()) AS x FROM range({rows})").write_parquet(
        str(path)
    )
    return path


def bare(path: Path, nodes: Nodes) -> Callable[[], object]:
    """The shortest SQL for a histogram of as many bins: of those within, or of remainders."""
    inside = f"x - floor(x / {nodes.end}) * {nodes.end}" if nodes.closed else f"x - {nodes.start}"
    where = "" if nodes.closed else f"WHERE x BETWEEN {nodes.start} AND {nodes.end}"
    return _counted(path, nodes, inside, where)


def clipping(path: Path, nodes: Nodes) -> Callable[[], object]:
    """The shortest that moves what is outside to the nearer end."""
    inside = f"greatest({nodes.start}, least({nodes.end}, x)) - {nodes.start}"
    return _counted(path, nodes, inside, "")


def _counted(path: Path, nodes: Nodes, inside: str, where: str) -> Callable[[], object]:
    query = (
        f"SELECT CAST(floor(({inside}) / {nodes.step!r}) AS INTEGER) AS k, count(*) "
        f"FROM '{path}' {where} GROUP BY k"
    )

    def act() -> object:
        with duckdb.connect() as connection:
            return connection.execute(query).fetchnumpy()

    return act


def run() -> Report:
    """Measure the integers of a density, from an open table to its coefficients."""
    rows: list[list[str | float]] = []
    verdicts: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        for number in ROWS:
            path = made(Path(folder), number)
            table = open_table(path, unit=Rows())
            for name, domain in DOMAINS.items():
                question = density(table, "x", domain=domain, bandwidth=domain.length / 250)
                axis = _axis(domain)
                contestants = {"neyman": question.compute, "duckdb": bare(path, axis)}
                if not axis.closed and not axis.dropped:
                    contestants["clipping"] = clipping(path, axis)
                seconds = interleave(contestants, REPETITIONS)
                ratio = seconds["neyman"] / seconds["duckdb"]
                clipped = seconds.get("clipping", "")
                times = seconds["neyman"], seconds["duckdb"], ratio, clipped
                rows.append([f"{number:.0e}", name, *times])
                met = "met" if ratio <= BAR else "NOT met"
                verdicts.append(f"{number:.0e} rows, {name}: {ratio:.2f} (bar: {BAR}) — {met}.")
            path.unlink()
    return Report(
        title="Functions of tables",
        method=(
            f"Medians of {REPETITIONS} interleaved repetitions in one process; one column of "
            "doubles in a Parquet file. neyman: the exact integer coefficients of a density with "
            "bandwidth a 250th of the domain, from one statement that counts rows at public nodes. "
            "DuckDB: the shortest histogram of as many bins by hand, which takes no care of NaN, "
            "infinities and ties; of a clipped domain it leaves out what is outside, and the last "
            "column moves it to the nearer end, as neyman does, by greatest and least."
        ),
        packages=["neyman", "duckdb", "sqlglot", "numpy"],
        columns=[
            "rows",
            "domain",
            "neyman (s)",
            "bare DuckDB (s)",
            "neyman / bare",
            "clipping (s)",
        ],
        rows=rows,
        verdicts=verdicts,
    )


def _axis(domain: Domain) -> Nodes:
    return Basis(domain, Fraction(domain.length) / 250, Density(), counted=True).axes[0]
