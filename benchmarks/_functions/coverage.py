"""Whether bands hold the curve, everywhere at once, as often as they say."""

import math
from collections.abc import Iterator

import numpy as np

from benchmarks import Section, verdict
from benchmarks._functions.densities import BIMODAL, CLAW, NORMAL, SKEW, Mixture
from benchmarks._functions.pipeline import Pipeline, kernel_estimate
from neyman import functional
from neyman.functional import Band

__all__ = ["section"]

LEVEL, REPETITIONS = 0.95, 500
LOWEST, HIGHEST = 0.93, 0.98
WIDE = functional.Interval(-5, 5, outside="clip")
# Half the bandwidths that are best at n = 1,000.
CASES = ((NORMAL, 0.25), (BIMODAL, 0.15), (CLAW, 0.1), (SKEW, 0.15))
SIZES, OTHERS = (300, 1000, 10_000, 100_000), (0.25, 4.0)
# Sizes at which the bar is asked for.
FROM = 1000


def section(repetitions: int = REPETITIONS) -> Section:
    """Count how often bands of many samples and releases hold the curve."""
    rows: list[list[str | float]] = []
    shares: list[float] = []
    cases = [(density, h, n, 1.0) for density, h in CASES for n in SIZES]
    cases += [(CLAW, 0.1, n, mu) for n in SIZES[:2] for mu in OTHERS]
    for density, h, count, mu in cases:
        noise, low, high = covered(density, h, count, mu, repetitions)
        share = 1 - low - high
        rows.append([density.name, f"{h}", f"{count:,}", mu, share, low, high, noise])
        shares += [share] if count >= FROM else []
    least, most = min(shares), max(shares)
    few = min(float(row[4]) for row in rows if row[2] == "300")
    noises = [float(row[7]) for row in rows]
    return Section(
        title="Bands of densities",
        method=(
            f"{repetitions} samples and releases each (add/remove, [-5, 5]), level {LEVEL}. "
            "total: against the expected kernel estimate; noise: against the estimate "
            "without noise; at all nodes together. Standard deviation of a share: "
            f"{math.sqrt(LEVEL * (1 - LEVEL) / repetitions):.3f}."
        ),
        columns=[
            "density",
            "bandwidth",
            "n",
            "mu",
            "total band holds",
            "curve below it",
            "curve above it",
            "noise band holds",
        ],
        rows=rows,
        verdicts=[
            verdict(
                f"total bands, n from {FROM:,} on: {least:.3f} to {most:.3f}",
                f"{LOWEST} to {HIGHEST}",
                met=least >= LOWEST and most <= HIGHEST,
            ),
            f"n = 300: from {few:.3f} on.",
            f"Noise bands: {min(noises):.3f} to {max(noises):.3f}.",
        ],
    )


def covered(
    density: Mixture, bandwidth: float, count: int, mu: float, repetitions: int
) -> tuple[float, float, float]:
    """Return shares: noise bands that hold, curves below the total band, curves above it."""
    found = np.array([*_each(density, Pipeline(WIDE, bandwidth, mu), count, repetitions)])
    noise, low, high = found.mean(axis=0).tolist()
    return noise, low, high


def _each(
    density: Mixture, pipeline: Pipeline, count: int, repetitions: int
) -> Iterator[tuple[bool, bool, bool]]:
    random = np.random.default_rng(1)
    for _ in range(repetitions):
        values = density.draw(count, random)
        f = pipeline(values).smooth(pipeline.bandwidth)
        total, noise = f.band(LEVEL, "total"), f.band(LEVEL, "noise")
        truth = density.smoothed(total.x, float(pipeline.bandwidth))
        exact = kernel_estimate(noise.x, values, float(pipeline.bandwidth))
        low = bool((truth < total.lower).any())
        yield _holds(noise, exact), low, not low and bool((truth > total.upper).any())


def _holds(band: Band, curve: np.ndarray) -> bool:
    return bool(((band.lower <= curve) & (curve <= band.upper)).all())
