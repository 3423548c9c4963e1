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
HORIZONS = {"lung": 1000.0, "kidney_transplant": 3500.0}
DELTA = 1e-5
BARS = {1.0: 0.07, 10.0: 0.012}


def ask(times: np.ndarray, seen: np.ndarray, horizon: float, neighbors: str) -> Aggregate:
    """Ask at a hundredth of the horizon."""
    return functional.survival(
        times,
        seen,
        horizon=horizon,
        bandwidth=horizon / 100,
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


def errors(repetitions: int = 40) -> Section:
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
            f"Against Kaplan and Meier's curve of the same records, means of {repetitions} releases, "
            "bandwidth a hundredth of the horizon (lung: 1,000 days; kidney transplants: 3,500). "
            "Root mean square and greatest error over the whole horizon, where the curve is shown "
            "and where it is not, and greatest error up to `until`, as a share of the horizon."
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
    question = ask(times, seen, horizon, relation)
    noise = ny.Gaussian.calibrate(question.sensitivity, mu=mu)
    for _ in range(repetitions):
        curve = functional.function(answer(question, noise), SurvivalCurve)
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
    from neyman.functional._product_limit import survival_of

    return curve._nodes, survival_of(curve._counts(curve._empty()))
