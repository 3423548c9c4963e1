"""Private survival curves on real data, and whether their bands hold."""

import math
from collections.abc import Iterator

import numpy as np

import neyman as ny
from benchmarks import Section, verdict
from benchmarks._functions.data import lifetimes
from benchmarks._functions.pipeline import answer
from neyman import functional
from neyman.aggregate import Aggregate
from neyman.functional import SurvivalCurve

__all__ = ["bands", "errors"]

# Declared: the end of the study, in days.
HORIZONS = {"lung": 1000.0, "kidney_transplant": 3000.0}
# A fiftieth of the horizon, whatever the study.
BANDWIDTHS = 50
DELTA = 1e-5
BARS = {1.0: 0.07, 10.0: 0.012}


def ask(
    times: np.ndarray, seen: np.ndarray, horizon: float, neighbors: str, bandwidth: float
) -> Aggregate:
    """Ask for a survival curve."""
    return functional.survival(
        times,
        seen,
        horizon=horizon,
        bandwidth=bandwidth,
        neighbors=neighbors,
        unit="one patient",
        name="study",
    )


def kaplan_meier(times: np.ndarray, seen: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Return the product limit without privacy."""
    moments, deaths = np.unique(times[seen], return_counts=True)
    at_risk = times.size - np.searchsorted(np.sort(times), moments)
    steps = np.concatenate([[1.0], np.cumprod(1 - deaths / at_risk)])
    return steps[np.searchsorted(moments, at, side="right")]


def errors(repetitions: int = 100) -> Section:
    """Compare with the curve without privacy."""
    rows: list[list[str | float]] = []
    for relation in ("replace_one", "add_remove"):
        for name, budgets in (
            ("lung", [(f"({eps:g}, {DELTA:g})", mu_of(eps)) for eps in (1.0, 2.0, 5.0, 10.0)]),
            ("kidney_transplant", [("", mu) for mu in (0.25, 0.5, 1.0)]),
        ):
            data = lifetimes(name)
            if data is None:
                rows.append([relation, name, "lifelines is not installed", "", "", "", "", ""])
                continue
            for says, mu in budgets:
                found = np.mean(
                    [*_errors(*data, HORIZONS[name], relation, mu, repetitions)], axis=0
                )
                rows.append([relation, name, len(data[0]), says, mu, *found.tolist()])
    verdicts = [
        verdict(
            f"{row[1]}, {row[0]}, {row[3]}: root mean square error {row[5]:.4f}",
            f"{bar}",
            met=float(row[5]) <= bar,
        )
        for row in rows
        for eps, bar in BARS.items()
        if row[3] == f"({eps:g}, {DELTA:g})" and row[0] == "replace_one"
    ]
    return Section(
        title="Survival curves",
        method=(
            f"Against Kaplan and Meier's curve of the same records, means of {repetitions} "
            "releases, horizon 1,000 days (lung) and 3,000 (kidney transplants), bandwidth a "
            "fiftieth of it. Root mean square and greatest error over the whole horizon, where the "
            "curve is shown and where it is not; greatest error up to `until`, and `until` as a "
            "share of the horizon."
        ),
        columns=[
            "neighbours",
            "data",
            "n",
            "(epsilon, delta)",
            "mu",
            "root mean square",
            "greatest",
            "greatest to `until`",
            "`until` / horizon",
        ],
        rows=rows,
        verdicts=verdicts,
    )


def mu_of(epsilon: float) -> float:
    """Return the largest mu that is (epsilon, 1e-5)-private."""
    low, high = 0.0, 10.0
    for _ in range(40):
        middle = (low + high) / 2
        enough = middle == 0 or ny.gdp(middle).delta(epsilon) <= DELTA
        low, high = (middle, high) if enough else (low, middle)
    return low


def _errors(
    times: np.ndarray,
    seen: np.ndarray,
    horizon: float,
    relation: str,
    mu: float,
    repetitions: int,
) -> Iterator[tuple[float, float, float, float]]:
    question = ask(times, seen, horizon, relation, horizon / BANDWIDTHS)
    noise = ny.Gaussian.calibrate(question.sensitivity, mu=mu)
    random = np.random.default_rng(9)
    for _ in range(repetitions):
        curve = functional.function(answer(question, noise, random), SurvivalCurve)
        nodes, whole = everywhere(curve)
        apart = np.abs(whole - kaplan_meier(times, seen, nodes))
        shown = apart[nodes <= curve.until]
        yield (
            math.sqrt(float(np.mean(apart**2))),
            float(apart.max()),
            float(shown.max()),
            curve.until / horizon,
        )


def everywhere(curve: SurvivalCurve) -> tuple[np.ndarray, np.ndarray]:
    """Return the curve on all of the horizon, where it is shown and where it is not."""
    from neyman.functional._lifetimes._product_limit import survival_of
    from neyman.functional._lifetimes._survival_curve import _read

    found = survival_of(_read(curve).hazards)
    return np.linspace(0, float(curve.channels.horizon), found.size), found


def bands(repetitions: int = 200, simulated: int = 80) -> Section:
    """Count how often bands hold the population's curve, and Kaplan and Meier's of the records."""
    rows: list[list[str | float]] = []
    for count, mu, relation in ((300, 1.0, "replace_one"), (800, 0.5, "add_remove")):
        held = np.mean([*_held(count, mu, relation, repetitions, simulated)], axis=0)
        rows.append([relation, f"{count:,}", mu, *held.tolist()])
    least = min(float(x) for row in rows for x in row[3:])
    return Section(
        title="Bands of survival curves",
        method=(
            f"{repetitions} studies each (exponential lives of mean 6, follow-up uniform on "
            f"[2, 14], horizon 10), level 0.95, {simulated} simulated releases a band, "
            "at all nodes up to `until`. Standard deviation of a share: "
            f"{math.sqrt(0.95 * 0.05 / repetitions):.3f}."
        ),
        columns=["neighbours", "n", "mu", "population's curve", "curve of the records"],
        rows=rows,
        verdicts=[f"Least share of bands that hold: {least:.3f} (no bar; level 0.95)."],
    )


def _held(
    count: int, mu: float, relation: str, repetitions: int, simulated: int
) -> Iterator[tuple[bool, bool]]:
    random = np.random.default_rng(7)
    for _ in range(repetitions):
        lives, follow_up = random.exponential(6, count), random.uniform(2, 14, count)
        question = ask(np.minimum(lives, follow_up), lives <= follow_up, 10, relation, 0.1)
        noise = ny.Gaussian.calibrate(question.sensitivity, mu=mu)
        curve = functional.function(answer(question, noise, random), SurvivalCurve)
        wide, narrow = (
            curve.band(0.95, kind, generator=random, repetitions=simulated)
            for kind in ("total", "noise")
        )
        seen = lives <= follow_up
        exact = kaplan_meier(np.minimum(lives, follow_up), seen, narrow.x)
        truths = np.exp(-wide.x / 6), exact
        held = [
            bool(((band.lower <= truth) & (truth <= band.upper)).all())
            for band, truth in zip((wide, narrow), truths, strict=True)
        ]
        yield held[0], held[1]
