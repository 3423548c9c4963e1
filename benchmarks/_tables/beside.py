"""Peers that are installed, asked the same in the same run."""

import json
import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks import Section, verdict
from benchmarks._contest import PYTHONS
from benchmarks._tables.releases import Measured, load

__all__ = ["section"]

REPETITIONS = 6
ROOT = Path(__file__).parents[2]


def section(path: Path, found: list[Measured]) -> Section:
    """Ask OpenDP in the first environment that has it."""
    before, peer = load(), _peer(path)
    rows: list[list[str | float]] = []
    verdicts: list[str] = []
    for each in found:
        for wall, processor, errors in [_means(peer, each.case.name)] if peer else []:
            if not errors:
                continue
            ours = statistics.median(each.wall), statistics.median(each.processor)
            for name, (theirs, doubt) in errors.items():
                mean = statistics.fmean(each.errors[name])
                own = statistics.stdev(each.errors[name]) / len(each.errors[name]) ** 0.5
                seconds = [*ours, wall, processor]
                answers = [f"{mean:.3g} ± {own:.2g}", f"{theirs:.3g} ± {doubt:.2g}"]
                rows.append([each.case.name, each.case.title, *seconds, name, *answers])
                said = f"{each.case.name}, {name}: {answers[0]} against {answers[1]}"
                both = (own**2 + doubt**2) ** 0.5
                bar = "no larger, within two standard errors of the difference"
                verdicts.append(verdict(said, bar, met=mean <= theirs + 2 * both))
            said = f"{each.case.name}: {ours[1]:.3f} s of the processor against {processor:.3f} s"
            verdicts.append(verdict(said, "less", met=ours[1] < processor))
    return Section(
        title="Beside OpenDP",
        method=(
            f"OpenDP {peer['version']} on the same file in the same run, in a process of its own "
            f"after ours: medians of {REPETITIONS} repetitions, mean absolute errors with their "
            "standard errors. Context, query and answer; it keeps no ledger on disk and no "
            "fingerprint. Its counts are set to 0 where they are below. epsilon = 1; B with delta "
            f"= 1e-6; our median at (1, 1e-6). {before} before, {load()} after."
            if peer
            else f"Not run: no environment that {PYTHONS} lists has OpenDP with Polars."
        ),
        columns=[
            "",
            "question",
            "neyman (s)",
            "processor (s)",
            "OpenDP (s)",
            "processor (s)",
            "error of",
            "neyman",
            "OpenDP",
        ],
        rows=rows,
        verdicts=verdicts,
    )


def _peer(path: Path) -> dict[str, Any]:
    others = [python for python in os.environ.get(PYTHONS, "").split(os.pathsep) if python]
    for python in [sys.executable, *others]:
        said = subprocess.run(
            [python, "-m", "benchmarks._tables.opendp", str(path), str(REPETITIONS)],
            capture_output=True,
            check=False,
            cwd=ROOT,
            env={key: value for key, value in os.environ.items() if key != "PYTHONPATH"},
        )
        if said.returncode == 0:
            return json.loads(said.stdout)
    return {}


def _means(peer: dict[str, Any], name: str) -> tuple[float, float, dict[str, tuple[float, float]]]:
    """Return median seconds of wall and processor, and errors with their standard errors."""
    runs = peer["runs"].get(name, [])
    if not runs:
        return 0.0, 0.0, {}
    errors = {
        kind: (
            statistics.fmean(each[2][kind] for each in runs),
            statistics.stdev(each[2][kind] for each in runs) / len(runs) ** 0.5,
        )
        for kind in runs[0][2]
    }
    return (
        statistics.median(each[0] for each in runs),
        statistics.median(each[1] for each in runs),
        errors,
    )
