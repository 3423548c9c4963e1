"""Releases without a ledger, so that they can be repeated thousands of times.

Nothing here is private. The integers are those of the library, and noise is added to them that a
seed repeats: the Gaussian rounded to the nearest integer, which has the law of the library's own.
So python-flint is not needed, and a table is the same when it is made again.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

import neyman as ny
from neyman import functional
from neyman.aggregate import Aggregate
from neyman.numerics import Real

__all__ = ["DOMAIN", "Answer", "Pipeline", "answer", "kernel_estimate", "simulated"]

DOMAIN = functional.Interval(-4, 4, outside="clip")


@dataclass(frozen=True)
class Answer:
    """What functions are made of."""

    query: Mapping[str, object]
    columns: Mapping[str, Sequence[object]]


def answer(question: Aggregate, noise: ny.Gaussian, random: np.random.Generator) -> Answer:
    """Compute the exact sums, and add noise of the mechanism's law."""
    noisy = simulated(question.compute(), noise, random)
    return Answer(question.query, question.reading.columns(noisy, noise, 0.95))


def simulated(sums: np.ndarray, noise: ny.Gaussian, random: np.random.Generator) -> np.ndarray:
    """Add noise that a seed repeats."""
    return np.rint(sums + noise.stddev * random.standard_normal(len(sums))).astype(np.int64)


@dataclass(frozen=True)
class Pipeline:
    """One question asked of many arrays, under noise calibrated once."""

    domain: functional.Interval
    bandwidth: Real | None
    mu: float
    neighbors: str = "add_remove"
    target: functional.Target | None = None
    records: int | None = None
    random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))

    def ask(self, values: np.ndarray) -> Aggregate:
        """Ask for a density."""
        return functional.density(
            values,
            domain=self.domain,
            bandwidth=self.bandwidth,
            records=self.records,
            neighbors=self.neighbors,
            target=self.target,
            unit="one row",
            name="x",
        )

    @cached_property
    def noise(self) -> ny.Gaussian:
        """Calibrated to mu."""
        return ny.Gaussian.calibrate(self.ask(np.zeros(1)).sensitivity, mu=self.mu)

    def __call__(self, values: np.ndarray) -> functional.DensityFunction:
        """Release."""
        made = answer(self.ask(values), self.noise, self.random)
        return functional.function(made, functional.DensityFunction)


def kernel_estimate(x: np.ndarray, values: np.ndarray, bandwidth: float) -> np.ndarray:
    """Return the plain estimate at equally spaced x, each value moved to the nearest of them."""
    step = x[1] - x[0]
    places = np.rint((np.clip(values, x[0], x[-1]) - x[0]) / step).astype(int)
    counts = np.bincount(places, minlength=x.size)
    away = step * np.arange(1 - x.size, x.size) / bandwidth
    kernel = np.exp(-0.5 * away**2) / (math.sqrt(2 * math.pi) * bandwidth)
    size = 1 << math.ceil(math.log2(counts.size + kernel.size))
    both = np.fft.rfft(counts, size) * np.fft.rfft(kernel, size)
    return np.fft.irfft(both, size)[x.size - 1 :][: x.size] / values.size
