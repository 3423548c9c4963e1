"""One question of the large file in a process of its own: `python -m benchmarks._tables.alone`.

Arguments: who asks, the question, the unit's column, the file, and the limit of memory or "".
Prints seconds of wall and processor, and the most memory that was held, as JSON. The same question
of one copy comes first, so that nothing is left to be imported.
"""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

import duckdb

import neyman as ny
from benchmarks._tables import bare
from benchmarks._tables.cases import BOUNDS
from benchmarks._tables.data import keys
from neyman.tables import Unit

__all__ = ["ASKED", "main"]

ASKED = {
    "count by carrier": lambda t, by: t.count(by["carrier"]),
    "count by dest": lambda t, by: t.count(by["dest"]),
    "mean by dest": lambda t, by: t.mean("arr_delay", by["dest"]),
    "mean": lambda t, _: t.mean("arr_delay"),
    "sum": lambda t, _: t.sum("distance"),
}


def main(who: str, asked: str, unit: str, file: str, limit: str) -> None:
    """Ask once."""
    path = Path(file)
    one = path.with_name("flights.parquet")
    by = {name: keys(one, name) for name in ("carrier", "dest")}
    first = _act(who, asked, "tailnum" if unit else "", one, by, "")
    act = _act(who, asked, unit, path, by, limit)
    first()
    start = time.perf_counter(), time.process_time()
    act()
    end = time.perf_counter(), time.process_time()
    found = {
        "wall": end[0] - start[0],
        "processor": end[1] - start[1],
        "bytes": _most_held(),
    }
    print(json.dumps(found))


def _most_held() -> int:
    """Return the most bytes that were resident; unlike that of getrusage, not the parent's."""
    lines = Path("/proc/self/status").read_text().splitlines()
    (peak,) = [line for line in lines if line.startswith("VmHWM")]
    return int(peak.split()[1]) * 1024


def _act(
    who: str, asked: str, unit: str, path: Path, by: dict[str, ny.Keys], limit: str
) -> Callable[[], object]:
    if who == "neyman":
        return _neyman(asked, unit, path, by, limit)
    return _bare(who, asked, unit, path)


def _neyman(
    asked: str, unit: str, path: Path, by: dict[str, ny.Keys], limit: str
) -> Callable[[], object]:
    whose: Unit = ny.Rows()
    if unit:
        whose = ny.Entity(unit, max_rows=200, max_rows_per={"dest": 20})
    ledger = path.with_name(f"{time.time_ns()}.ledger")

    def act() -> object:
        table = ny.open_table(
            path,
            unit=whose,
            bounds=BOUNDS,
            memory_limit=limit or None,
            temporary_directory=path.parent,
        )
        budget = ny.Ledger.open(ledger, cap=ny.gdp(1), unit=table.protects, neighbors="add_remove")
        question = ASKED[asked](table, by)
        noise = ny.Gaussian.calibrate(question.sensitivity, mu=0.1)
        return ny.release(question, noise, budget, entry="one")

    return act


def _bare(who: str, asked: str, unit: str, path: Path) -> Callable[[], object]:
    query = bare.statement(asked, unit, path, digest=who)

    def act() -> object:
        with duckdb.connect() as connection:
            return connection.execute(query).fetchnumpy()

    return act


if __name__ == "__main__":
    main(*sys.argv[1:])
