"""Lives that are killed at any instant, and an outsider who saw what they let out."""

import os
import random
import signal
import sys
import time
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, ClassVar

import pytest

import neyman.ledger

HOME = str(Path(neyman.ledger.__file__).parent)


class Witness(ABC):
    """What an outsider saw of one ledger, held against what the ledger says."""

    kills_of_one: ClassVar[int]

    def __init__(self, place: Any) -> None:
        self.place = place
        self.reports = []

    @abstractmethod
    def findings(self) -> list[str]:
        """Return every broken promise; opening must succeed."""


def lines_of_code(life, place, die_at, report):
    """Run a life, dying at a line of the ledger's code or of its own; return how many it ran."""
    ran = 0

    def trace(frame, event, arg):  # noqa: ARG001
        nonlocal ran
        if frame.f_code is not life.__code__ and not frame.f_code.co_filename.startswith(HOME):
            return None
        ran += 1
        if ran == die_at:
            os.kill(os.getpid(), signal.SIGKILL)
        return trace

    sys.settrace(trace)
    life(report, place)
    sys.settrace(None)
    return ran


def by_itself(spawn, life, place, dice, size):
    """Kill at a random line."""
    die_at = dice.randrange(1, size["lines"])
    return spawn(lambda report: lines_of_code(life, place, die_at, report)).finish()


def from_outside(spawn, life, place, dice, size):
    """Kill at a random time, from the start of the process to its expected end."""
    child = spawn(lambda report: life(report, place))
    time.sleep(dice.uniform(0, size["seconds"]))
    child.kill()
    reports, status = child.finish()
    # However busy the machine is or was, about every second kill meets a living child.
    size["seconds"] *= 1.25 if status == -signal.SIGKILL else 0.8
    return reports, status


WAYS = pytest.mark.parametrize("way", [by_itself, from_outside])


def measured(spawn, life, place, another):
    """Let one child live to its end at each of two places, for how long a life is."""
    start = time.perf_counter()
    reports, status = spawn(lambda report: life(report, place)).finish()
    seconds = time.perf_counter() - start
    assert status == 0, reports

    def counted(report):
        report(["lines", lines_of_code(life, another, 0, lambda _: None)])

    ((_, lines),), status = spawn(counted).finish()
    assert status == 0
    return {"seconds": seconds, "lines": lines}


def kills_of(spawn, named, life, way, kills, seed, watched):
    """Kill until so many met a living child; give what was found after each, and whether it did."""
    dice = random.Random(seed)
    size = measured(spawn, life, named("measured"), named("lines"))
    killed, ledgers = 0, 0
    while killed < kills:
        ledgers += 1
        assert ledgers < 2 * kills, "children outlive their killers; the trial has no power"
        witness = watched(named(f"{ledgers}"))
        for _ in range(watched.kills_of_one):
            reports, status = way(spawn, life, witness.place, dice, size)
            assert status in (0, -signal.SIGKILL), reports
            killed += status == -signal.SIGKILL
            witness.reports += reports
            yield witness.findings(), status == -signal.SIGKILL
        reports, status = spawn(lambda report, place=witness.place: life(report, place)).finish()
        assert status == 0, reports
        witness.reports += reports
        yield witness.findings(), False


def trial(spawn, named, life, way, kills, seed, watched):
    """Return the findings after every kill, and how many kills met a living child."""
    found, killed = [], 0
    for findings, living in kills_of(spawn, named, life, way, kills, seed, watched):
        found += findings
        killed += living
    print(f"{killed} kills met a living child")
    return found, killed


def caught(spawn, named, life, kills, seeds, watched):
    """Return whether a trial of one of the seeds, each at places of its own, finds something."""
    return any(
        findings
        for seed in seeds
        for findings, _ in kills_of(spawn, named(f"{seed}"), life, by_itself, kills, seed, watched)
    )


def killed_at_lines(spawn, named, life, step, watched):
    """Kill a life at every so many lines, and a second life there too; return what was lost."""
    lines = measured(spawn, life, named("measured"), named("lines"))["lines"]
    found, trials = [], 0
    for die_at in range(1, lines, step):
        witness = watched(named(f"{die_at}"))
        for _ in range(2):
            reports, status = spawn(
                lambda report, at=die_at, place=witness.place: lines_of_code(
                    life, place, at, report
                )
            ).finish()
            # The second life is shorter: there is less to do, or nothing is allowed any more.
            assert status in (0, -signal.SIGKILL) or "EntryConflict" in str(reports)
            trials += status == -signal.SIGKILL
            witness.reports += [report for report in reports if report[0] != "error"]
            found += witness.findings()
    print(f"{trials} kills at {lines} lines")
    assert lines > 100
    return found
