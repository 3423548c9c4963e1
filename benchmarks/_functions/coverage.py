"""Whether bands hold the density, everywhere at once, as often as they say."""

import math
from collections.abc import Iterable
from typing import Final

import numpy as np

from benchmarks import Section, verdict
from benchmarks._functions import samples
from benchmarks._functions.columns import Column
from benchmarks._functions.samples import Task
from neyman import functional

__all__ = ["BANDS", "bands", "tasks"]

BANDS: Final = "Bands of densities"
LEVEL: Final = 0.95
NAMES: Final = ("normal", "claw", "exponential", "bimodal", "uniform", "normal, 13 % outside")
SIZES: Final = ((300, 0.5), (1000, 1.0), (10_000, 1.0), (100_000, 1.0))
RUNS, QUICK = 200, 8
_AT_ONCE: Final = 20
_LEAST: Final = 0.9

# Of a release: whether each band holds the density, and the ratio of their widths.
_Held = tuple[bool, bool, float]


def tasks(*, quick: bool) -> list[Task[_Held]]:
    """Return everything that is to be run, the longest first."""
    return samples.tasks("band", _measured, NAMES, SIZES, QUICK if quick else RUNS, _AT_ONCE)


def bands(
    results: Iterable[tuple[Task[_Held], list[_Held]]],
) -> Section:
    """Count how often bands hold the density that the records were drawn from."""
    at: dict[tuple[str, int, float], list[_Held]] = {}
    for task, each in results:
        at.setdefault((task.column, task.n, task.mu), []).extend(each)
    rows: list[list[str | float]] = [
        [name, f"{n:,}", mu, *np.mean(at[name, n, mu], axis=0).tolist()]
        for n, mu in SIZES
        for name in NAMES
    ]
    runs = len(next(iter(at.values())))
    seen = [row for row in rows if (row[0], row[1]) != ("claw", "300")]
    least = min(seen, key=lambda row: float(row[3]))
    met = float(least[3]) >= _LEAST
    return Section(
        title=BANDS,
        method=(
            f'{runs} samples and releases each, level {LEVEL}: share of bands of kind "density" '
            'that hold the density, and of kind "total", on the whole domain, ends included; mean '
            "width of the former over that of the latter. Standard deviation of a share: "
            f"{math.sqrt(LEVEL * (1 - LEVEL) / runs):.3f}."
        ),
        columns=["density", "n", "mu", "density holds", "total holds", "width / total"],
        rows=rows,
        verdicts=[
            verdict(
                f"least, but for the claw at n = 300: {float(least[3]):.3f} ({least[0]}, n = "
                f"{least[1]})",
                f"{_LEAST}",
                met=met,
            )
        ],
    )


def _measured(f: functional.DensityFunction, column: Column, _: np.ndarray) -> _Held:
    """Return whether both bands hold, and the width of the one over that of the other."""
    found = [f.band(LEVEL, kind) for kind in ("density", "total")]
    held = []
    for band in found:
        truth = _density(column, band.x)
        held.append(bool(np.all((band.lower <= truth) & (truth <= band.upper))))
    widths = [float((band.upper - band.lower).mean()) for band in found]
    return held[0], held[1], widths[0] / widths[1]


def _density(column: Column, x: np.ndarray) -> np.ndarray:
    """Return the density by differences of the distribution function, one-sided at an end."""
    reach = 1e-5 * (column.high - column.low)
    left, right = np.maximum(x - reach, column.low), np.minimum(x + reach, column.high)
    inside = np.diff(column.cdf(np.array([column.low, column.high])))
    return np.asarray((column.cdf(right) - column.cdf(left)) / ((right - left) * inside))
