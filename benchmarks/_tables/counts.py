"""A hundred counts for (1, 1e-6) in all: how much noise each one has."""

import math
from pathlib import Path

import numpy as np

import neyman as ny
from benchmarks import Section, verdict
from benchmarks._tables.data import keys
from neyman.errors import BudgetExceeded

__all__ = ["section"]

COUNTS = 100
BAR, WITHIN = 42.25, 0.001
DRAWS = 4_000_000
# Of the same hundred counts, measured earlier.
PEERS = {
    "PipelineDP, Gaussian, sum of (epsilon, delta)": 412.0,
    "diffprivlib, OpenDP, Tumult Analytics: Laplace, sum of epsilon": 141.0,
    "zCDP of the textbooks": 53.5,
    "OpenDP, zCDP turned into (epsilon, delta)": 45.3,
    "PipelineDP with dp-accounting": 42.247,
}


def section(path: Path) -> Section:
    """Ask a hundred counts one by one, until the ledger has nothing left, and one more."""
    table = ny.open_table(path, unit=ny.Rows())
    ledger = ny.Ledger.open(
        path.with_name("hundred.ledger"),
        cap=ny.approx_dp(1, 1e-6),
        unit=table.protects,
        neighbors="add_remove",
    )
    question = table.count(keys(path, "carrier"))
    share = ledger.capacity / COUNTS
    noise = ny.Gaussian(variance=question.sensitivity.l2_squared / share)
    releases = [ny.release(question, noise, ledger, entry=f"{number}") for number in range(COUNTS)]
    stated = {deviation for r in releases for deviation in r.columns["stddev"]}
    (deviation,) = map(float, stated)
    drawn = float(noise.add_noise(np.zeros(DRAWS, np.int64)).std())
    refused = "refused"
    try:
        ny.release(question, noise, ledger, entry="one more")
        refused = "answered"
    except BudgetExceeded:
        pass
    off = deviation / BAR - 1
    said = f"{deviation:.3f}, {100 * off:+.3f} %; {drawn:.2f} seen"
    rows: list[list[str | float]] = [["neyman", f"{deviation:.3f}"]]
    rows += [[name, f"{value:g}"] for name, value in PEERS.items()]
    met = abs(off) <= WITHIN and math.isclose(drawn, BAR, rel_tol=2 * WITHIN)
    return Section(
        title="A hundred counts for (1, 1e-6) in all",
        method=(
            "Counts by carrier, each a release of its own, from a ledger with this cap, of which "
            f"each spends a hundredth; one more is {refused}. The standard deviation that each "
            f"release states, and that of {DRAWS:,} draws. Peers: measured earlier, not in this "
            "run."
        ),
        columns=["who", "standard deviation of the noise of a count"],
        rows=rows,
        verdicts=[verdict(said, f"{BAR} ± 0.1 %; one more refused", met=met and refused[0] == "r")],
    )
