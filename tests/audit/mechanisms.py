"""Mechanisms with faults that were published, or that programs have had, and their healthy twins.

Each takes its data and a generator. Noise is drawn in floats and rounded to a grid of 2^-10, so
that only those with a fault of floats have one.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from math import ceil
from typing import Any

import numpy as np

import neyman as ny
from neyman.audit import plan
from neyman.curves import TradeOff

__all__ = ["FAULTS", "Fault", "gaussian", "on_grid", "sparse_vector"]

GRID = 1024


@cache
def planned(claim, truth):
    return max(100, ceil(plan(claim, truth, power=0.99) / 0.7))


@dataclass(frozen=True)
class Fault:
    """A mechanism that breaks its claim on two inputs, and one that keeps it on them.

    Attributes:
        run: with the fault.
        healthy: without.
        inputs: two neighbours.
        claim: of both.
        truth: what the first loses, where a curve is known: the size of the audit follows from it.
        draws: the size of the audit, where none is.
        slow: whether the audit takes more than a second.
    """

    run: Callable[..., Any]
    healthy: Callable[..., Any]
    inputs: tuple[Any, Any]
    claim: TradeOff
    truth: TradeOff | None = None
    draws: int = 0
    slow: bool = False

    @property
    def size(self):
        """The planned number of runs: 70 % of them test, with a chance of .99 to refute."""
        if self.truth is None:
            return self.draws
        return planned(self.claim, self.truth)


def on_grid(values):
    return np.round(np.asarray(values) * GRID) / GRID


def gaussian(sd, sensitivity=1.0):
    """Return a sum with Gaussian noise of a standard deviation, for records within [0, 1]."""

    def run(records, rng):
        return float(on_grid(sensitivity * sum(records) + sd * rng.normal()))

    return run


def laplace(scale):
    def run(records, rng):
        return float(on_grid(sum(records) + rng.laplace(0, scale)))

    return run


def float_gaussian(records, rng):
    return sum(records) + 10 * rng.normal()


def float_laplace(records, rng):
    return sum(records) + rng.laplace(0, 10)


def mean_of(size):
    """Return a noisy mean of records in [0, 1]; its size is public, or that of the data."""

    def run(records, rng):
        number = size or len(records)
        return float(on_grid(sum(records) / number + rng.normal() / number))

    return run


def gradient(normalizer):
    """Return a step on clipped gradients; what it divides by is public, or int(rate records)."""

    def run(norms, rng):
        batch = [norm for norm in norms if rng.random() < 0.25]
        number = normalizer or max(1, int(0.25 * len(norms)))
        return float(on_grid((sum(batch) + rng.normal()) / number))

    return run


def clipped(checks):
    """Return a sum of clipped gradients; without a check, one that is NaN stays NaN."""

    def run(gradients, rng):
        norms = np.abs(gradients)
        with np.errstate(invalid="ignore", divide="ignore"):
            scaled = gradients * np.minimum(1, 1 / np.maximum(norms, 1e-9))
        if checks:
            scaled = np.nan_to_num(scaled)
        return float(on_grid(scaled.sum() + rng.normal()))

    return run


def step(skips):
    """Return a step of a Poisson sample, which adds no noise where nobody is in the batch."""

    def run(gradients, rng):
        batch = gradients[rng.random(gradients.size) < 0.5]
        if skips and batch.size == 0:
            return 0.0
        return float(on_grid(batch.sum() + rng.normal()))

    return run


def noisy_max(returns_value):
    """Return the place of the largest of noisy counts, each of sensitivity 1, for epsilon 1."""

    def run(counts, rng):
        noisy = on_grid(np.asarray(counts) + rng.exponential(2, len(counts)))
        best = int(np.argmax(noisy))
        return (best, float(noisy[best])) if returns_value else best

    return run


def sparse_vector(*, threshold=2.0, query=4.0, hits=1, values=False, epsilon=1.0):
    """Return above-threshold with Laplace noise of these scales, times 1 / epsilon.

    Lyu, Su and Li (2017), figure 1: their algorithm 1 has the scales 2 and 4c, 3 tells the noisy
    value and has 2 and 2c, 4 has 4 and 4/3 whatever c, 5 no noise on queries and no end, 6 no end.
    """

    def run(queries, rng):
        level, found, told = rng.laplace(0, threshold / epsilon), 0, []
        for asked in queries:
            noisy = asked + (rng.laplace(0, query / epsilon) if query else 0.0)
            above = noisy >= level
            told.append(float(on_grid(noisy)) if above and values else bool(above))
            found += bool(above)
            if found == hits:
                break
        return told

    return run


def unequal():
    return [0.0, 1.0], [1.0, 0.0]


def leading(m):
    return [0.0] * m + [0.0], [1.0] * m + [0.0]


def crossing(m):
    return [0.0] * (2 * m), [1.0] * m + [-1.0] * m


ONE = ([0.0] * 3, [0.0] * 3 + [1.0])

FAULTS = {
    "noise x.9": Fault(
        gaussian(0.9), gaussian(1), ONE, ny.gdp(1), truth=ny.gdp(1 / 0.9),
        slow=True,
    ),
    "noise x.8": Fault(gaussian(0.8), gaussian(1), ONE, ny.gdp(1), truth=ny.gdp(1 / 0.8)),
    "noise x.5": Fault(gaussian(0.5), gaussian(1), ONE, ny.gdp(1), truth=ny.gdp(2)),
    "Laplace noise x.5": Fault(laplace(0.5), laplace(1), ONE, ny.laplace(1), truth=ny.laplace(2)),
    "sensitivity doubled": Fault(gaussian(1, 2), gaussian(1), ONE, ny.gdp(1), truth=ny.gdp(2)),
    "noise on a mean": Fault(mean_of(0), mean_of(2), ([1.0], [1.0, 0.0]), ny.gdp(1), draws=1500),
    "normalizer int(nq)": Fault(
        gradient(0), gradient(2), ([0.0] * 7, [0.0] * 8), ny.gdp(1), draws=3000
    ),
    "NumPy's Gaussian": Fault(float_gaussian, gaussian(10), ONE, ny.gdp(0.1), draws=8000),
    "NumPy's Laplace": Fault(float_laplace, laplace(10), ONE, ny.laplace(0.1), draws=8000),
    "NaN gradient": Fault(
        clipped(False), clipped(True), (np.zeros(3), np.array([0, 0, 0, np.nan])), ny.gdp(1),
        draws=100,
    ),
    "empty batch": Fault(
        step(True), step(False), (np.zeros(0), np.ones(1)), ny.gdp(1), draws=400
    ),
    "noisy max with its value": Fault(
        noisy_max(True), noisy_max(False), ([0.0] * 10, [1.0] * 10), ny.pure_dp(1),
        draws=6000, slow=True,
    ),
    "sparse vector 3: values": Fault(
        sparse_vector(query=2, values=True, epsilon=2), sparse_vector(epsilon=2), leading(4),
        ny.pure_dp(2), draws=40_000, slow=True,
    ),
    "sparse vector 4: scales for one hit": Fault(
        sparse_vector(threshold=4, query=4 / 3, hits=10), sparse_vector(query=40, hits=10),
        crossing(10), ny.pure_dp(1), draws=3000, slow=True,
    ),
    "sparse vector 5: no noise on queries": Fault(
        sparse_vector(query=0, hits=-1), sparse_vector(), unequal(), ny.pure_dp(1), draws=600
    ),
    "sparse vector 6: no end": Fault(
        sparse_vector(query=2, hits=-1), sparse_vector(), crossing(8), ny.pure_dp(1),
        draws=3000, slow=True,
    ),
}  # fmt: skip
