"""Kills through the whole door: what was shown is charged and stored, and nothing is lost."""

import json
import random
import subprocess
import sys
import time

import neyman as ny

LIFE = """
import sys
from fractions import Fraction
import numpy as np
import neyman as ny
from neyman.errors import EntryConflict

class Plain:
    def columns(self, noisy, noise, confidence):
        return {"count": noisy.tolist()}

ledger = ny.Ledger.open(sys.argv[1], cap=ny.gdp(5), unit="one row", neighbors="add_remove")
ny.Gaussian(scale=20).add_noise(np.zeros(3, dtype=np.int64))
print("ready", flush=True)
# Some that are stored, then new ones.
for i in range(max(int(sys.argv[2]) - 3, 0), 10_000):
    question = ny.Aggregate(
        query={"statistic": "count", "i": i}, source="here", unit="one row",
        sensitivity=ny.Sensitivity(
            neighbors="add_remove", l1=Fraction(1), l2_squared=Fraction(1)
        ),
        size=3, reading=Plain(), compute=lambda: np.array([7, -7, 0], dtype=np.int64),
    )
    try:
        shown = ny.release(question, ny.Gaussian(scale=20), ledger, entry=f"e{i}")
    except EntryConflict:
        continue
    print(f'{{"id": "e{i}", "values": {shown.columns["count"]}}}', flush=True)
"""


def test_killed_lives_of_one_ledger_keep_every_promise(tmp_path):
    """20 kills, each a random time after some new answers; the next life goes on where one fell.

    An entry that was killed twice stays charged and is passed over.
    """
    path, chance, revealed = tmp_path / "a.ledger", random.Random(5), {}

    def see(line):
        record = json.loads(line)
        assert revealed.setdefault(record["id"], record["values"]) == record["values"]

    for _ in range(20):
        life = subprocess.Popen(
            [sys.executable, "-c", LIFE, str(path), str(len(revealed))],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert life.stdout is not None
        assert life.stdout.readline() == "ready\n"
        # By number, so that a slow disk or a busy machine takes longer and shows no less.
        enough = len(revealed) + chance.randrange(7)
        while len(revealed) < enough:
            see(life.stdout.readline())
        time.sleep(chance.uniform(0, 0.03))
        life.kill()
        out, _ = life.communicate()
        # The last line may be cut: it was not shown whole.
        for line in out.splitlines(keepends=True):
            if line.endswith("\n"):
                see(line)
        ledger = ny.Ledger.existing(path)
        stored = {entry.id: entry for entry in ledger.entries()}
        assert not ledger.check()
        assert ledger.spent() == sum(entry.cost for entry in stored.values()) <= ledger.capacity
        for name, values in revealed.items():
            assert list(stored[name].values or ()) == values
    assert len(revealed) > 50
