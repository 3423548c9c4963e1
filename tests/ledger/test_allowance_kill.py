"""Trainings killed at any instant: no step runs that was not taken, and none is run twice unpaid.

Each trial forks a small training: clipped gradients of a linear model with Gaussian noise, in
blocks that are taken of one allowance. Every second block writes its loss to a log as it goes,
the others let nothing out before their checkpoint is committed. The child is killed by SIGKILL, by
itself at a random line of the ledger's code or its own, or from outside at a random time; the next
one resumes from the last checkpoint. An outsider sees the logs and the released parameters. Three
broken trainings, run through the same harness, must be caught.
"""

import hashlib
import os
import signal
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from ledger.kills import WAYS, Witness, caught, killed_at_lines, trial
from neyman.curves import gdp
from neyman.errors import BudgetExceeded, EntryConflict
from neyman.ledger import Ledger
from neyman.overriding import override

STEP, STEPS, BLOCKS = gdp(Fraction(1, 20)), 5, 8
X = np.linspace(-1, 1, 40).reshape(20, 2)
Y = X @ np.array([0.5, -0.25])


@dataclass(frozen=True)
class Place:
    """Where the ledger is kept, and a folder for checkpoints."""

    address: str | Path
    checkpoints: Path


def allowance_at(place):
    ledger = Ledger.open(place.address, cap=gdp(1), unit="plane", neighbors="add_remove")
    return ledger.allow(
        entry="autumn",
        step=STEP,
        steps=STEPS * BLOCKS,
        request={"model": "linear", "clip": 1},
        source="d",
        unit="plane",
        neighbors="add_remove",
    )


def run(weights, steps):
    """Take noisy gradient steps, with fresh noise of the operating system's."""
    noise = np.random.default_rng()
    for _ in range(steps):
        gradients = (X @ weights - Y)[:, None] * X
        norms = np.maximum(np.linalg.norm(gradients, axis=1, keepdims=True), 1)
        weights = weights - 0.05 * ((gradients / norms).sum(axis=0) + noise.normal(0, 20, 2))
    return weights


def digest_of(weights):
    return hashlib.sha256(weights.tobytes()).hexdigest()


def save(place, weights):
    digest = digest_of(weights)
    place.checkpoints.mkdir(exist_ok=True)
    part = place.checkpoints / f"{digest}.{os.getpid()}"
    part.write_bytes(weights.tobytes())
    part.rename(place.checkpoints / digest)
    return digest


def load(place, digest):
    return np.frombuffer((place.checkpoints / digest).read_bytes())


def honest(report, place):
    """Take, run, commit, release; resume from what was committed."""
    allowance, weights = allowance_at(place), np.zeros(2)
    for number in range(4 * BLOCKS):
        logs = number % 2 == 0
        try:
            block = allowance.take(f"b/{number}", steps=STEPS, revealed=logs)
        except EntryConflict:
            continue
        except BudgetExceeded:
            return
        if block.checkpoint is None:
            with block:
                report(["running", block.id])
                weights = run(weights, STEPS)
                if logs:
                    report(["seen", block.id, digest_of(weights)])
                block.commit(save(place, weights))
        else:
            weights = load(place, block.checkpoint)
        report(["released", block.id, digest_of(weights)])


def takes_last(report, place):
    """Broken: the steps are taken when they were run."""
    allowance, weights = allowance_at(place), np.zeros(2)
    for number in range(BLOCKS):
        report(["running", f"autumn/b/{number}"])
        weights = run(weights, STEPS)
        try:
            block = allowance.take(f"b/{number}", steps=STEPS)
        except (EntryConflict, BudgetExceeded):
            continue
        if block.checkpoint is None:
            block.commit(save(place, weights))
        report(["released", block.id, block.checkpoint or digest_of(weights)])


def releases_first(report, place):
    """Broken: the parameters are out before they are committed, against the promise."""
    allowance, weights = allowance_at(place), np.zeros(2)
    for number in range(4 * BLOCKS):
        try:
            block = allowance.take(f"b/{number}", steps=STEPS, revealed=False)
        except EntryConflict:
            continue
        except BudgetExceeded:
            return
        if block.checkpoint is None:
            weights = run(weights, STEPS)
            report(["released", block.id, digest_of(weights)])
            block.commit(save(place, weights))


def gives_back(report, place):
    """Broken: a block that died is run again under another name, and counted once by the caller."""
    allowance, weights = allowance_at(place), np.zeros(2)
    kept = place.checkpoints.with_suffix(".count")
    done = int(kept.read_text()) if kept.exists() else 0
    while done < BLOCKS:
        report(["running", f"autumn/b/{done}"])
        weights = run(weights, STEPS)
        report(["seen", f"autumn/b/{done}", digest_of(weights)])
        try:
            allowance.take(f"b/{done}", steps=STEPS)
        except EntryConflict:
            pass
        except BudgetExceeded:
            return
        done += 1
        kept.write_text(f"{done}")


class Blocks(Witness):
    """What an outsider saw of the blocks of one training."""

    kills_of_one = 6

    @override
    def findings(self):
        allowance = allowance_at(self.place)
        ledger = Ledger.existing(self.place.address)
        found = list(ledger.check())
        entries = {entry.id: entry for entry in ledger.entries()}
        (taken,) = allowance.stock().taken
        seen = {(entry, digest) for kind, entry, *rest in self.reports for digest in rest}
        for kind, entry, *digest in self.reports:
            if entry not in entries:
                found.append(f"{kind} {entry} was not taken")
            elif kind == "released" and entries[entry].checkpoint != digest[0]:
                found.append(f"{entry} was released otherwise than it is stored")
        # Each is one run of these steps, of which something left the process.
        for entry in entries:
            runs = sum(1 for name, _ in seen if name == entry)
            if runs > 1:
                found.append(f"{entry} was seen {runs} times, and taken once")
        if len(seen) * STEPS > taken:
            found.append(f"{len(seen) * STEPS} steps were seen, and {taken} taken")
        if taken > STEPS * BLOCKS or ledger.spent() != allowance.cost:
            found.append(f"{taken} steps taken, {ledger.spent()} spent")
        return found


def places(home, directory):
    def named(name):
        return Place(home.place(directory / f"{name}.ledger"), directory / f"{name}.checkpoints")

    return named


@WAYS
@pytest.mark.parametrize(
    ("home", "kills"),
    [
        ("files", 10),
        ("database", 4),
        pytest.param("files", 500, marks=pytest.mark.soak),
        pytest.param("database", 50, marks=pytest.mark.soak),
    ],
    indirect=["home"],
)
def test_no_step_is_lost_to_a_kill(spawn, home, tmp_path, way, kills):
    named = places(home, tmp_path)
    found, killed = trial(spawn, named, honest, way, kills, seed=kills, watched=Blocks)
    assert found == []
    assert killed >= kills


@pytest.mark.parametrize("life", [takes_last, releases_first, gives_back])
def test_the_harness_catches_a_broken_training(spawn, files, tmp_path, life):
    # Of ten trials of twenty kills, nine caught who releases first, and ten the other two: five
    # trials would all miss about one time in 10^5.
    def named(seed):
        directory = tmp_path / seed
        directory.mkdir()
        return places(files, directory)

    assert caught(spawn, named, life, kills=20, seeds=range(5), watched=Blocks)


def one_block(report, place):
    allowance = allowance_at(place)
    block = allowance.take("b/0", steps=STEPS, revealed=False)
    if block.checkpoint is None:
        with block:
            report(["running", block.id])
            weights = run(np.zeros(2), STEPS)
            block.commit(save(place, weights))
        report(["released", block.id, digest_of(weights)])
    else:
        report(["released", block.id, block.checkpoint])


@pytest.mark.parametrize(
    ("home", "step"),
    [
        ("files", 300),
        ("database", 1200),
        *(pytest.param(home, 1, marks=pytest.mark.soak) for home in ("files", "database")),
    ],
    indirect=["home"],
)
def test_the_lines_of_allow_take_and_commit(spawn, home, tmp_path, step):
    assert killed_at_lines(spawn, places(home, tmp_path), one_block, step, Blocks) == []


@pytest.mark.shows("training-budget")
@pytest.mark.parametrize("revealed", [True, False])
def test_a_kill_inside_a_block(spawn, home, tmp_path, revealed):
    place = places(home, tmp_path)("one")

    def dies(_report):
        with allowance_at(place).take("b", steps=STEPS, revealed=revealed):
            os.kill(os.getpid(), signal.SIGKILL)

    assert spawn(dies).finish()[1] == -signal.SIGKILL
    allowance = allowance_at(place)
    assert allowance.left() == STEPS * (BLOCKS - 1)
    if revealed:
        with pytest.raises(EntryConflict, match="consumed"):
            allowance.take("b", steps=STEPS, revealed=revealed)
    else:
        assert spawn(dies).finish()[1] == -signal.SIGKILL
        with pytest.raises(EntryConflict, match="drawn twice"):
            allowance.take("b", steps=STEPS, revealed=revealed)
    assert allowance.left() == STEPS * (BLOCKS - 1)
