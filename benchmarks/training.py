"""Accounting for training: epsilon over the steps, many different phases, batches drawn.

Times are those of the processor, and all are run in turn, so that ratios hold on a busy machine.
"""

from fractions import Fraction

import numpy as np

from benchmarks import Report, clocked, verdict
from neyman.accounting import dp_sgd
from neyman.curves import TradeOff, compose
from neyman.training import Phase, PoissonBatches, RunRecord

REPETITIONS = 3
DELTA, POINTS = 1e-5, 100
ALONG_MS, PHASES_MS = 100, 300
# Wider than the bracket of one training by itself, relatively to epsilon.
APART = 1e-8
RUNS = {
    "noise 1, q = 0.01, 1,000 steps": (1, Fraction(1, 100), 1000, "add_remove"),
    "the same, one record replaced": (1, Fraction(1, 100), 1000, "replace_one"),
    "noise 1.1, q = 256/60,000, 14,063 steps": (
        Fraction(11, 10),
        Fraction(256, 60_000),
        14_063,
        "add_remove",
    ),
    "noise 0.6, q = 0.001, 100,000 steps": (
        Fraction(3, 5),
        Fraction(1, 1000),
        100_000,
        "add_remove",
    ),
}
PHASES = 500


def run() -> Report:
    """Measure all three."""
    along = [_along(name, *parameters) for name, parameters in RUNS.items()]
    phases = _phases()
    slowest = max(float(row[1]) for row in along)
    apart = max(float(row[4]) for row in along)
    return Report(
        title="Accounting for training",
        method=(
            f"Medians of the processor's time of {REPETITIONS} runs in turn (A B A B). "
            f"Epsilon at delta = {DELTA:g} along {POINTS} points of a training, by "
            "`RunRecord.epsilon_over_steps`, beside the same points asked one after the other; the "
            "largest relative difference of the two, both of "
            f"which are proved upper bounds. {PHASES} phases that all differ in noise, rate and "
            "length, composed and asked for epsilon. An epoch of 234 Poisson batches of 60,000 "
            "records at rate 256/60,000, beside uniform doubles of NumPy compared with the rate."
        ),
        packages=["neyman", "numpy", "scipy"],
        columns=["", "ms", "beside, ms", "ratio", "largest difference"],
        rows=[*along, phases, _batches()],
        verdicts=[
            verdict(
                f"{POINTS} points: {slowest:.0f} ms at the slowest",
                f"{ALONG_MS} ms",
                met=slowest <= ALONG_MS,
            ),
            verdict(
                f"apart from single answers by {apart:.1e} at most",
                f"{APART:g}",
                met=apart <= APART,
            ),
            verdict(
                f"{PHASES} phases: {float(phases[1]):.0f} ms",
                f"{PHASES_MS} ms",
                met=float(phases[1]) <= PHASES_MS,
            ),
        ],
    )


def _along(
    name: str, noise: Fraction, rate: Fraction, steps: int, neighbors: str
) -> list[str | float]:
    phase = Phase.poisson(noise_multiplier=noise, sampling_probability=rate, steps=steps)
    record = RunRecord(phases=(phase,), unit="one image", neighbors=neighbors)
    found = record.epsilon_over_steps(DELTA, POINTS)

    def singly() -> list[float]:
        return [
            dp_sgd(noise, rate, step, neighbors=neighbors).epsilon(DELTA)
            for step in found.steps.tolist()
        ]

    alone = np.asarray(singly())
    apart = float(np.max(np.abs(found.epsilon - alone) / np.maximum(alone, 1e-9)))
    times = clocked(
        {"along": lambda: record.epsilon_over_steps(DELTA, POINTS), "singly": singly}, REPETITIONS
    )
    return _row(f"{POINTS} points: {name}", times, apart)


def _phases() -> list[str | float]:
    def curve() -> TradeOff:
        return compose(
            *(
                dp_sgd(1 + Fraction(i, 400), Fraction(1, 100) + Fraction(i, 10**5), 20 + i % 7)
                for i in range(PHASES)
            )
        )

    times = clocked(
        {
            "phases": lambda: curve().epsilon(DELTA),
            "one": lambda: dp_sgd(1, 0.01, 20 * PHASES).epsilon(DELTA),
        },
        REPETITIONS,
    )
    return _row(f"{PHASES} phases, beside one of as many steps", times, None)


def _batches() -> list[str | float]:
    records, rate, steps = 60_000, Fraction(256, 60_000), 234
    sampler = PoissonBatches(records=records, rate=rate, steps=steps, seed=bytes(range(32)))
    random = np.random.default_rng(1)

    def bare() -> int:
        return sum(
            int(np.flatnonzero(random.random(records) < float(rate)).size) for _ in range(steps)
        )

    times = clocked(
        {"batches": lambda: sum(sampler.batch(i).size for i in range(steps)), "bare": bare},
        REPETITIONS,
    )
    return _row("an epoch of Poisson batches, beside NumPy's comparisons", times, None)


def _row(
    name: str, times: dict[str, tuple[float, float]], apart: float | None
) -> list[str | float]:
    first, second = (1e3 * processor for _, processor in times.values())
    return [name, first, second, first / second, "" if apart is None else apart]
