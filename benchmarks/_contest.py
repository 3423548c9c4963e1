"""Accountants in processes of their own, asked in turn."""

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, final

from benchmarks._workloads import Workload

__all__ = ["SECONDS", "Contestant", "Result", "contest", "enter"]

ROOT = Path(__file__).parent.parent
# What one answer may take; and how often it is repeated if it takes less than so long.
SECONDS = 60.0
REPEATED = ((0.5, 7), (5.0, 2))
# Single-threaded, all of them.
_ALONE = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
PYTHONS = "NEYMAN_BENCH_PYTHONS"


@final
@dataclass(frozen=True, slots=True)
class Contestant:
    """An accountant's process, or why there is none."""

    name: str
    version: str = ""
    method: str = ""
    process: subprocess.Popen[str] | None = None

    def ask(self, workload: Workload, *, bracket: bool) -> dict[str, Any]:
        """Ask once."""
        if self.process is None:
            return {"failed": "not installed"}
        stdin, stdout = self.process.stdin, self.process.stdout
        assert stdin is not None
        assert stdout is not None
        job = {"kind": workload.kind, "arguments": workload.arguments, "seconds": SECONDS}
        try:
            stdin.write(json.dumps(job | {"bracket": bracket}) + "\n")
            stdin.flush()
            line = stdout.readline()
        except BrokenPipeError:
            line = ""
        return json.loads(line) if line else {"failed": "died"}

    def leave(self) -> None:
        """End the process."""
        if self.process is not None:
            self.process.communicate()


@final
@dataclass(slots=True)
class Result:
    """What a contestant made of a workload.

    Attributes:
        failed: why there is no answer, or nothing.
        error: the signed error that is largest in size.
        least: the smallest signed error: below 0 is too little.
        width: of the certified bracket, at its widest; None where there is none.
        times: seconds of each run, the first apart.
        bytes: peak memory of the first run, beyond what was held before.
    """

    failed: str = ""
    error: float = 0.0
    least: float = 0.0
    width: float | None = None
    first: float = 0.0
    times: list[float] = field(default_factory=list)
    bytes: int = 0

    @property
    def seconds(self) -> float:
        """The median of the warm runs; of the only one where it is too slow to repeat."""
        return statistics.median(self.times or [self.first])

    @property
    def repetitions(self) -> int:
        """How often it is worth repeating."""
        return next((n for limit, n in REPEATED if not self.failed and self.first < limit), 0)


def enter(name: str, room: str = "_accountants") -> Contestant:
    """Start an accountant, or what else `room` has, in the first environment that has it.

    This one, or one of those whose interpreters the variable `PYTHONS` lists.
    """
    others = [path for path in os.environ.get(PYTHONS, "").split(os.pathsep) if path]
    for python in [sys.executable, *others]:
        process = subprocess.Popen(
            [python, "-m", "benchmarks._peer", name, room],
            cwd=ROOT,
            env={**os.environ, **dict.fromkeys(_ALONE, "1")},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert process.stdout is not None
        hello = json.loads(process.stdout.readline() or '{"absent": ""}')
        if "version" in hello:
            return Contestant(name, hello["version"], hello["method"], process)
        process.communicate()
    return Contestant(name)


def contest(contestants: Sequence[Contestant], workload: Workload) -> Mapping[str, Result]:
    """Ask all once, then those that are quick again, in turn."""
    results = {each.name: _first(each, workload) for each in contestants}
    for repetition in range(max(result.repetitions for result in results.values())):
        for each in contestants:
            result = results[each.name]
            if repetition < result.repetitions:
                again = each.ask(workload, bracket=False)
                result.times += [again["seconds"]] if "seconds" in again else []
    return results


def _first(contestant: Contestant, workload: Workload) -> Result:
    found = contestant.ask(workload, bracket=True)
    if "failed" in found:
        return Result(failed=found["failed"])
    values = [found["values"][index] for index in workload.known]
    scale = workload.truth if workload.relative else (1.0,) * len(workload.truth)
    pairs = zip(values, workload.truth, scale, strict=True)
    errors = [(value - truth) / unit for value, truth, unit in pairs]
    width = None
    if found["lower"] is not None:
        lower = zip(found["values"], found["lower"], strict=True)
        width = max(
            (upper - low) / (upper if workload.relative and upper else 1.0) for upper, low in lower
        )
    return Result(
        error=max(errors, key=abs),
        least=min(errors),
        width=width,
        first=found["seconds"],
        bytes=found["bytes"],
    )
