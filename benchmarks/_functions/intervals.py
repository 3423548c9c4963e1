"""Whether intervals for the mean and for quantiles hold as often as they say."""

import math
from collections.abc import Iterable
from typing import Final

import numpy as np

from benchmarks import Section, verdict
from benchmarks._functions import samples
from benchmarks._functions.columns import Column, Heap
from benchmarks._functions.samples import Task
from neyman import functional

__all__ = ["INTERVALS", "intervals", "tasks"]

INTERVALS: Final = "Intervals for the mean and for quantiles"
LEVEL: Final = 0.95
NAMES: Final = (
    "normal",
    "exponential",
    "uniform",
    "skewed",
    "ages in whole years",
    "minutes, a third at every fifth",
)
SIZES: Final = ((300, 0.25), (300, 1.0), (10_000, 0.25), (10_000, 1.0))
Q: Final = np.array([0.01, 0.1, 0.25, 0.5, 0.9, 0.99])
RUNS, QUICK = 300, 100
_AT_ONCE: Final = 25
_LEAST: Final = 0.93
# Places of a fine table of a distribution function.
_FINE: Final = 200_001


def tasks(*, quick: bool) -> list[Task[list[float]]]:
    """Return everything that is to be run, the longest first."""
    return samples.tasks("interval", _measured, NAMES, SIZES, QUICK if quick else RUNS, _AT_ONCE)


def intervals(results: Iterable[tuple[Task[list[float]], list[list[float]]]]) -> Section:
    """Count how often intervals hold what they are for."""
    at: dict[tuple[str, int, float], list[list[float]]] = {}
    for task, each in results:
        at.setdefault((task.column, task.n, task.mu), []).extend(each)
    rows: list[list[str | float]] = []
    least = 1.0
    for n, mu in SIZES:
        for name in NAMES:
            *shares, wide = np.mean(at[name, n, mu], axis=0).tolist()
            total, noise = shares[: Q.size + 1], shares[Q.size + 1 :]
            least = min(least, *total)
            rows.append([name, f"{n:,}", mu, *total, min(noise), wide])
    runs = len(next(iter(at.values())))
    spread = math.sqrt(LEVEL * (1 - LEVEL) / runs)
    return Section(
        title=INTERVALS,
        method=(
            f"{runs} samples and releases each, level {LEVEL}: share of intervals of kind "
            '"total" that hold the mean, and each quantile, of what the records in the domain are '
            'drawn from; of kind "noise" the least of the same seven shares, for the mean and the '
            'quantiles of these records; mean width of the "total" interval of the median. '
            f"Standard deviation of a share: {spread:.3f}."
        ),
        columns=["column", "n", "mu", "mean", *(f"{q:g}" for q in Q), "noise, least", "width"],
        rows=rows,
        verdicts=[
            verdict(
                f"least share, total: {least:.3f}",
                f"{_LEAST}, less two standard deviations",
                met=least >= _LEAST - 2 * spread,
            )
        ],
    )


def _measured(
    f: functional.DensityFunction, column: Column | Heap, values: np.ndarray
) -> list[float]:
    """Return which intervals hold, total and noise, and the width of the median's."""
    inside = values[(values >= column.low) & (values <= column.high)]
    own = inside.mean(), np.quantile(inside, Q, method="inverted_cdf")
    row = [*_held(f, *_truth(column), "total"), *_held(f, *own, "noise")]
    return [*row, *np.ptp(f.quantile_interval([0.5], LEVEL), axis=0).tolist()]


def _held(
    f: functional.DensityFunction, mean: float, quantiles: np.ndarray, kind: str
) -> list[float]:
    lower, upper = f.mean_interval(LEVEL, kind)
    low, high = f.quantile_interval(Q, LEVEL, kind)
    inside = (low - 1e-9 <= quantiles) & (quantiles <= high + 1e-9)
    return [float(lower <= mean <= upper), *inside.astype(float).tolist()]


def _truth(column: Column | Heap) -> tuple[float, np.ndarray]:
    """Return the mean and the quantiles of values inside the domain."""
    if isinstance(column, Heap):
        places = column.low + column.step * np.arange(column.masses.size)
        below = np.cumsum(column.masses)
        return float(places @ column.masses), places[np.searchsorted(below, Q)]
    x = np.linspace(column.low, column.high, _FINE)
    below = column.cdf(x)
    below = (below - below[0]) / (below[-1] - below[0])
    mean = column.high - float(np.trapezoid(below, x))
    return mean, np.interp(Q, below, x)
