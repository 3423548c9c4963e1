"""Errors of released densities beside those of their peers: cells, measured side by side."""

import math
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Final, Self

import numpy as np

from benchmarks._functions.columns import COLUMNS, ENDS, HEAPED, WIDE, Column
from benchmarks._functions.peers import errors, nearest
from benchmarks._functions.pipeline import Pipeline
from neyman import functional

__all__ = ["Cell", "cells", "measured", "tasks"]

# n, mu and releases.
FIT: Final = (
    (100, 0.5, 24),
    (100, 2.0, 24),
    (300, 0.25, 24),
    (300, 1.0, 24),
    (1000, 0.25, 24),
    (1000, 0.5, 24),
    (1000, 1.0, 24),
    (10_000, 0.5, 24),
    (10_000, 1.0, 24),
    (100_000, 0.5, 12),
    (100_000, 1.0, 12),
    (1_000_000, 0.25, 6),
)
FIT_QUICK: Final = ((300, 1.0, 4), (1000, 0.25, 4), (10_000, 1.0, 4), (100_000, 1.0, 2))
FAR: Final = ((1000, 1.0, 8), (10_000, 0.25, 8), (10_000, 1.0, 8), (100_000, 1.0, 8))
FAR_QUICK: Final = ((10_000, 1.0, 2),)
GRID: Final = ((1000, 1.0, 16), (10_000, 0.25, 16), (10_000, 1.0, 16), (100_000, 1.0, 8))
GRID_QUICK: Final = ((1000, 1.0, 4), (10_000, 1.0, 4))
# Repetitions in one task, so that long ones do not stand alone at the end.
_AT_ONCE: Final = 4
# Bandwidths at which the same release is read, and where: the bar says so.
_BANDWIDTHS: Final = 14
_READ_AGAIN: Final = (1000, 10_000, 100_000), (0.5, 1.0)
_ENDS: Final = frozenset(column.name for column in ENDS)


@dataclass(frozen=True, slots=True)
class Cell:
    """What was measured of one column at one size and budget.

    Attributes:
        kind: "fit", "wide" or "heaped".
        column: its name.
        n: records.
        mu: budget.
        runs: samples and releases.
        errors: mean integrated squared error by contestant, of the parameter that is best.
        spread: its standard error.
        best: that parameter, of those that have one.
    """

    kind: str
    column: str
    n: int
    mu: float
    runs: int
    errors: Mapping[str, float]
    spread: Mapping[str, float]
    best: Mapping[str, str]

    @property
    def key(self) -> tuple[str, str, int, float]:
        return self.kind, self.column, self.n, self.mu

    @property
    def record(self) -> dict[str, object]:
        return asdict(self)

    def over(self, *peers: str) -> float:
        """Return neyman's error over the least of those of peers."""
        return self.errors["neyman"] / min(self.errors[peer] for peer in peers)


@dataclass(frozen=True, slots=True)
class Task:
    """Some repetitions of one cell; it travels to another process."""

    kind: str
    column: str
    n: int
    mu: float
    first: int
    runs: int

    @property
    def key(self) -> tuple[str, str, int, float]:
        return self.kind, self.column, self.n, self.mu

    @property
    def weight(self) -> float:
        """Roughly how long it takes."""
        far = {"fit": 1.0, "wide": 2.0 + 6.0 * (self.column.find("250") >= 0), "heaped": 0.5}
        return self.runs * (far[self.kind] + self.n / 2e5)

    def __call__(self) -> "Errors":
        found = Errors(self.key)
        for k in range(self.first, self.first + self.runs):
            seed = zlib.crc32(f"{self.column} {self.n} {self.mu}".encode())
            random = np.random.default_rng([seed, k])
            named = _heap_errors if self.kind == "heaped" else _errors
            for peer, parameter, error in named(self, random):
                found.seen.setdefault((peer, parameter), []).append(error)
        return found


@dataclass(slots=True)
class Errors:
    """Errors by contestant and parameter."""

    key: tuple[str, str, int, float]
    seen: dict[tuple[str, str], list[float]] = field(default_factory=dict)

    def add(self, other: Self) -> None:
        """Take in other repetitions of the same cell."""
        for name, each in other.seen.items():
            self.seen.setdefault(name, []).extend(each)

    def cell(self) -> Cell:
        """Choose every contestant's parameter, in hindsight, by its mean."""
        means: dict[str, float] = {}
        spread: dict[str, float] = {}
        best: dict[str, str] = {}
        for (peer, parameter), each in self.seen.items():
            mean = float(np.mean(each))
            if mean < means.get(peer, math.inf):
                means[peer] = mean
                spread[peer] = float(np.std(each)) / math.sqrt(len(each))
                best[peer] = parameter
        runs = len(self.seen["neyman", ""])
        known = {peer: what for peer, what in best.items() if what}
        return Cell(*self.key, runs, means, spread, known)


def tasks(*, quick: bool, kinds: Sequence[str] = ("fit", "wide", "heaped")) -> list[Task]:
    """Return everything that is to be run, the longest first."""
    plan: Mapping[str, tuple[Iterable[str], Sequence[tuple[int, float, int]]]] = {
        "fit": (COLUMNS, FIT_QUICK if quick else FIT),
        "wide": (WIDE, FAR_QUICK if quick else FAR),
        "heaped": (HEAPED, GRID_QUICK if quick else GRID),
    }
    found = [
        Task(kind, name, n, mu, first, min(_AT_ONCE, runs - first))
        for kind in kinds
        for name in plan[kind][0]
        for n, mu, runs in plan[kind][1]
        for first in range(0, runs, _AT_ONCE)
    ]
    return sorted(found, key=lambda task: -task.weight)


def cells(results: Iterable[Errors]) -> list[Cell]:
    """Put repetitions of the same cell together."""
    found: dict[tuple[str, str, int, float], Errors] = {}
    for one in results:
        if one.key in found:
            found[one.key].add(one)
        else:
            found[one.key] = one
    return [one.cell() for one in found.values()]


def measured(task: Task) -> Errors:
    """Run a task: what a process of a pool calls."""
    return task()


def _fine(column: Column) -> int:
    """Return how many cells errors are integrated on: 15 * 2^k, so that bins of many sizes fit."""
    wide = column.name in WIDE
    return 15 * 2 ** (13 if wide else 10)


def _errors(task: Task, random: np.random.Generator) -> Iterator[tuple[str, str, float]]:
    column = (WIDE if task.kind == "wide" else COLUMNS)[task.column]
    length, fine = column.high - column.low, _fine(column)
    masses = column.masses(fine)
    values = column.draw(task.n, random)
    f = _released(values, column.low, column.high, task, random)
    middles = column.low + (np.arange(fine) + 0.5) * (length / fine)
    truth = masses * (fine / length)

    def error(density: functional.DensityFunction) -> float:
        return float(((density(middles) - truth) ** 2).mean()) * length

    yield "neyman", "", error(f)
    sizes, budgets = _READ_AGAIN
    if task.column in _ENDS and task.n in sizes and task.mu in budgets:
        least, most = f.raw.bandwidths
        for h in np.geomspace(least / 2, most / 2, _BANDWIDTHS):
            yield "best bandwidth", f"bandwidth {h:.3g}", error(f.smooth(float(h)))
    inside = values[(values >= column.low) & (values <= column.high)]
    counts = np.histogram(inside, fine, (column.low, column.high))[0]
    yield from errors(counts, masses, length, task.mu, random)


def _heap_errors(task: Task, random: np.random.Generator) -> Iterator[tuple[str, str, float]]:
    """Yield sums over the places of squared errors of their shares, half a step to each side."""
    heap = HEAPED[task.column]
    values = heap.draw(task.n, random)
    f = _released(values, heap.low, heap.high, task, random)
    edges = heap.low + heap.step * (np.arange(heap.masses.size + 1) - 0.5)
    shares = np.diff(f.cdf(np.clip(edges, heap.low, heap.high)))
    yield "neyman", "", float(((shares - heap.masses) ** 2).sum())
    counts = np.histogram(values, edges)[0]
    yield "records", "", float(((counts / counts.sum() - heap.masses) ** 2).sum())
    size = counts.size
    for bins in sorted({round(k) for k in np.geomspace(2, size, 24)}):
        cuts = np.round(np.linspace(0, size, bins + 1)).astype(int)
        wide = np.diff(cuts)
        noisy = np.add.reduceat(counts, cuts[:-1]) + random.standard_normal(bins) / task.mu
        spread = np.repeat(nearest(noisy / counts.sum(), 1.0) / wide, wide)
        error = float(((spread - heap.masses) ** 2).sum())
        yield "histogram", f"{bins} bins", error
        if bins == size:
            yield "every place", "", error


def _released(
    values: np.ndarray, low: float, high: float, task: Task, random: np.random.Generator
) -> functional.DensityFunction:
    """Ask as the documentation writes it, with nothing chosen by hand."""
    domain = functional.Interval(low, high, outside="count")
    return Pipeline(domain, None, task.mu, records=task.n, random=random)(values)
