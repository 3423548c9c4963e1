"""Many samples of columns, each released once: what is measured of every release."""

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from benchmarks._functions.columns import COLUMNS, HEAPED
from benchmarks._functions.pipeline import Pipeline
from neyman import functional

__all__ = ["Task", "measured", "tasks"]

_Found = TypeVar("_Found")


@dataclass(frozen=True, slots=True)
class Task(Generic[_Found]):
    """Some samples of one column; it travels to another process.

    Attributes:
        seeded: a word of the seed, of this table alone.
        measure: what is measured of a release of such values.
        column: their name.
        n: how many there are.
        mu: of the release.
        first: the number of the first sample.
        runs: how many samples.
    """

    seeded: str
    measure: Callable[[functional.DensityFunction, Any, np.ndarray], _Found]
    column: str
    n: int
    mu: float
    first: int
    runs: int

    def __call__(self) -> list[_Found]:
        column = (COLUMNS | HEAPED)[self.column]
        domain = functional.Interval(column.low, column.high, outside="count")
        found = []
        for k in range(self.first, self.first + self.runs):
            seed = zlib.crc32(f"{self.seeded} {self.column} {self.n} {self.mu}".encode())
            random = np.random.default_rng([seed, k])
            values = column.draw(self.n, random)
            released = Pipeline(domain, None, self.mu, records=self.n, random=random)
            found.append(self.measure(released(values), column, values))
        return found


def tasks(
    seeded: str,
    measure: Callable[[functional.DensityFunction, Any, np.ndarray], _Found],
    names: Sequence[str],
    sizes: Sequence[tuple[int, float]],
    runs: int,
    at_once: int,
) -> list[Task[_Found]]:
    """Return everything that is to be run, the longest first."""
    return [
        Task(seeded, measure, name, n, mu, first, min(at_once, runs - first))
        for n, mu in reversed(sizes)
        for name in names
        for first in range(0, runs, at_once)
    ]


def measured(task: Task[_Found]) -> tuple[Task[_Found], list[_Found]]:
    """Run a task: what a process of a pool calls."""
    return task, task()
