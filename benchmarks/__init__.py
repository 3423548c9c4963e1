"""Measurements against peers, side by side on one machine; `python -m benchmarks` runs them all.

A benchmark is a public module of this package with a function `run() -> Report`.
"""

import json
import os
import platform
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

__all__ = ["Report", "interleave", "write"]

RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A table of measurements, what it says, and which packages were measured."""

    title: str
    method: str
    packages: Sequence[str]
    columns: Sequence[str]
    rows: Sequence[Sequence[str | float]]
    verdicts: Sequence[str]


def interleave(
    contestants: Mapping[str, Callable[[], object]], repetitions: int
) -> dict[str, float]:
    """Return the median seconds of each, run in turn (A B A B) after one warm-up each."""
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    for repetition in range(repetitions + 1):
        for name, act in contestants.items():
            start = time.perf_counter()
            act()
            if repetition > 0:
                seconds[name].append(time.perf_counter() - start)
    return {name: statistics.median(taken) for name, taken in seconds.items()}


def write(name: str, report: Report) -> str:
    """Write results/<name>.json and .md with date, machine and versions; return the latter."""
    setting = {
        "date": datetime.now(UTC).date().isoformat(),
        "machine": _machine(),
        "python": platform.python_version(),
        "versions": {package: version(package) for package in report.packages},
    }
    RESULTS.mkdir(exist_ok=True)
    content = json.dumps(setting | asdict(report), indent=1) + "\n"
    (RESULTS / f"{name}.json").write_text(content)
    page = _page(report, setting)
    (RESULTS / f"{name}.md").write_text(page)
    return page


def _page(report: Report, setting: Mapping[str, object]) -> str:
    table = [report.columns, ["---"] * len(report.columns)]
    table += [[cell if isinstance(cell, str) else f"{cell:.3g}" for cell in r] for r in report.rows]
    versions = ", ".join(f"{package} {version(package)}" for package in report.packages)
    return "\n".join(
        [
            f"# {report.title}",
            "",
            f"{setting['date']}; {setting['machine']}; Python {setting['python']}; {versions}.",
            "",
            report.method,
            "",
            *("| " + " | ".join(row) + " |" for row in table),
            "",
            *(f"* {verdict}" for verdict in report.verdicts),
            "",
        ]
    )


def _machine() -> str:
    model = platform.processor() or platform.machine()
    described = Path("/proc/cpuinfo")
    if described.exists():
        names = [x for x in described.read_text().splitlines() if x.startswith("model name")]
        model = names[0].partition(":")[2].strip() if names else model
    return f"{model}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}"
