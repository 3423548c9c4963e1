"""Kills through the whole door: what was shown is charged and stored, and nothing is lost."""

import json
import os
import random
import time
from fractions import Fraction

import numpy as np

import neyman as ny
from neyman.aggregate import Aggregate
from neyman.errors import EntryConflict
from neyman.sensitivity import Sensitivity


class Plain:
    def columns(self, noisy, noise, confidence):  # noqa: ARG002
        return {"count": noisy.tolist()}


def question(number):
    return Aggregate(
        query={"statistic": "count", "i": number},
        source="here",
        unit="one row",
        sensitivity=Sensitivity(neighbors="add_remove", l1=Fraction(1), l2_squared=Fraction(1)),
        size=3,
        reading=Plain(),
        compute=lambda: np.array([7, -7, 0], dtype=np.int64),
    )


def opened(path):
    return ny.Ledger.open(path, cap=ny.gdp(5), unit="one row", neighbors="add_remove")


def life(report, path, shown):
    """Ask for some that are stored, then for new ones, until killed."""
    ledger = opened(path)
    for i in range(max(shown - 3, 0), 10_000):
        try:
            release = ny.release(question(i), ny.Gaussian(scale=20), ledger, entry=f"e{i}")
        except EntryConflict:
            continue
        report([f"e{i}", release.columns["count"]])


def test_killed_lives_of_one_ledger_keep_every_promise(spawn, tmp_path):
    """20 kills, each a random time after some new answers; the next life goes on where one fell.

    An entry that was killed twice stays charged and is passed over.
    """
    path, chance, revealed = tmp_path / "a.ledger", random.Random(5), {}
    opened(path)
    # What a life needs is loaded here, once, and so the kills fall on what it does.
    ny.Gaussian(scale=20).add_noise(np.zeros(3, dtype=np.int64))

    def see(line):
        name, values = json.loads(line)
        assert name != "error", values
        assert revealed.setdefault(name, values) == values

    for _ in range(20):
        child = spawn(lambda report: life(report, path, len(revealed)))
        with os.fdopen(child.pipe, "rb") as reports:
            # By number, so that a slow disk or a busy machine takes longer and shows no less.
            enough = len(revealed) + chance.randrange(7)
            while len(revealed) < enough:
                see(reports.readline())
            time.sleep(chance.uniform(0, 0.03))
            child.kill()
            for line in reports:
                see(line)
        _, status = os.waitpid(child.pid, 0)
        assert os.WIFSIGNALED(status)
        ledger = ny.Ledger.existing(path)
        stored = {entry.id: entry for entry in ledger.entries()}
        assert not ledger.check()
        assert ledger.spent() == sum(entry.cost for entry in stored.values()) <= ledger.capacity
        for name, values in revealed.items():
            assert list(stored[name].values or ()) == values
    assert len(revealed) > 50
