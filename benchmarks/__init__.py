"""Measurements against peers, side by side on one machine; `python -m benchmarks` runs them all.

A benchmark is a public module of this package with a function `run() -> Report`.
"""

import json
import os
import platform
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

__all__ = ["Report", "Section", "clocked", "here", "interleave", "verdict", "write"]

RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A table of measurements and what it says."""

    title: str
    method: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str | float]]
    verdicts: Sequence[str]
    measured: str = ""
    """When and on which machine, where that is not the report's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report(Section):
    """A table of measurements, which packages were measured, and further tables of the same run."""

    packages: Sequence[str]
    sections: Sequence[Section] = field(default=())


def verdict(found: str, bar: str, *, met: bool) -> str:
    """Return a sentence that says what was found, what was asked, and whether it was met."""
    return f"{found} (bar: {bar}) — {'met' if met else 'NOT met'}."


def interleave(
    contestants: Mapping[str, Callable[[], object]], repetitions: int
) -> dict[str, float]:
    """Return the median seconds of each, run in turn (A B A B) after one warm-up each."""
    return {name: wall for name, (wall, _) in clocked(contestants, repetitions).items()}


def clocked(
    contestants: Mapping[str, Callable[[], object]], repetitions: int
) -> dict[str, tuple[float, float]]:
    """Return median seconds of the wall and of the processor, as `interleave`."""
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in contestants}
    for repetition in range(repetitions + 1):
        for name, act in contestants.items():
            start = time.perf_counter(), time.process_time()
            act()
            if repetition > 0:
                end = time.perf_counter(), time.process_time()
                taken[name].append((end[0] - start[0], end[1] - start[1]))
    return {
        name: (statistics.median(w for w, _ in each), statistics.median(c for _, c in each))
        for name, each in taken.items()
    }


def write(name: str, report: Report, folder: Path = RESULTS) -> str:
    """Write <name>.json and .md with date, machine and versions; return the latter."""
    setting = {
        "date": _today(),
        "machine": _machine(),
        "python": platform.python_version(),
        "versions": {package: _version(package) for package in report.packages},
    }
    folder.mkdir(exist_ok=True, parents=True)
    content = json.dumps(setting | asdict(report), indent=1) + "\n"
    (folder / f"{name}.json").write_text(content)
    page = _page(report)
    (folder / f"{name}.md").write_text(page)
    return page


def here(packages: Sequence[str]) -> str:
    """Return the date, the machine and the versions, as a line."""
    versions = ", ".join(f"{package} {_version(package)}" for package in packages)
    return f"{_today()}; {_machine()}; Python {platform.python_version()}; {versions}."


def _today() -> str:
    return datetime.now(UTC).date().isoformat()


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "from its source"


def _page(report: Report) -> str:
    own = report.measured or here(report.packages)
    lines = [f"# {report.title}", "", own, "", *_lines(report)]
    for section in report.sections:
        lines += ["", f"## {section.title}", ""]
        if section.measured not in ("", own):
            lines += [section.measured, ""]
        lines += _lines(section)
    return "\n".join([*lines, ""])


def _lines(section: Section) -> list[str]:
    if not section.columns:
        return []
    table = [section.columns, ["---"] * len(section.columns)]
    table += [[c if isinstance(c, str) else f"{c:.3g}" for c in row] for row in section.rows]
    return [
        section.method,
        "",
        *("| " + " | ".join(row) + " |" for row in table),
        "",
        *(f"* {verdict}" for verdict in section.verdicts),
    ]


def _machine() -> str:
    model = platform.processor() or platform.machine()
    described = Path("/proc/cpuinfo")
    if described.exists():
        names = [x for x in described.read_text().splitlines() if x.startswith("model name")]
        model = names[0].partition(":")[2].strip() if names else model
    return f"{model}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}"
