"""Whole releases of 336,776 real flights, beside peers and DuckDB, and of a hundred copies."""

import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks import Report
from benchmarks._tables import beside, counts, large, releases
from benchmarks._tables.cases import cases
from benchmarks._tables.data import flights


def import_seconds() -> float:
    """Time to import the rooms in a fresh interpreter, less the interpreter's own start."""
    code = (
        "import time; t = time.perf_counter(); import neyman.door, neyman.tables, neyman.publish; "
        "print(time.perf_counter() - t)"
    )
    seconds = [
        float(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout)
        for _ in range(5)
    ]
    return sorted(seconds)[2]


def run() -> Report:
    """Make all tables in one run."""
    with tempfile.TemporaryDirectory() as folder:
        path = flights(Path(folder))
        before = releases.load()
        found = releases.measured(path, cases(path))
        first = releases.seconds(found, before)
        sections = [
            releases.errors(found),
            beside.section(path, found),
            counts.section(path),
            large.section(path),
        ]
    imports = f" Not counted: importing neyman, {import_seconds():.2f} s of the wall."
    return Report(
        title="Releases of a table",
        method=first.method + imports,
        packages=["neyman", "duckdb", "sqlglot", "numpy"],
        columns=first.columns,
        rows=first.rows,
        verdicts=first.verdicts,
        sections=sections,
    )
