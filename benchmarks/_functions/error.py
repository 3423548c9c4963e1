"""Mean integrated squared errors of kernel estimates: what privacy costs."""

import math

import numpy as np
from scipy.optimize import minimize_scalar

from benchmarks import Section, verdict
from benchmarks._functions.densities import NORMAL, Mixture, kernel_risk
from benchmarks._functions.pipeline import DOMAIN, Pipeline, kernel_estimate

__all__ = ["price"]

LENGTH = float(DOMAIN.length)
X = np.linspace(-4, 4, 1601)
# In one release the square of the sensitivity of a count, by relation.
MOVED = {"add_remove": 1, "replace_one": 2}
RATIO = 1.05


def noise_risk(bandwidth: float, count: int, mu: float, moved: int) -> float:
    """Return what noise adds: |T| moved K_h(0)^2 / (n mu)^2."""
    return LENGTH * moved / (2 * math.pi * (bandwidth * count * mu) ** 2)


def best(density: Mixture, count: int, mu: float, moved: int) -> tuple[float, float]:
    """Return the best bandwidth and its exact risk; mu infinite is without privacy."""
    grid = np.geomspace(0.005, 0.8, 300)

    def risk(h: float) -> float:
        return kernel_risk(density, h, count) + noise_risk(h, count, mu, moved)

    start = float(min(grid, key=risk))
    found = minimize_scalar(risk, bounds=(start / 1.05, start * 1.05), method="bounded")
    return float(found.x), float(found.fun)


def price(repetitions: int = 400) -> Section:
    """Compare a private estimate with one that is not, each at its best bandwidth."""
    rows: list[list[str | float]] = []
    found: list[float] = []
    for relation, moved in MOVED.items():
        for count, mu in ((1000, 0.25), (1000, 1.0), (10_000, 0.25)):
            h, risk = best(NORMAL, count, mu, moved)
            plain_h, plain = best(NORMAL, count, math.inf, moved)
            seen = simulated(relation, count, mu, (h, plain_h), repetitions)
            rows.append([relation, f"{count:,}", mu, h, plain_h, risk / plain, seen])
            if (count, mu) == (1000, 1.0):
                found += [risk / plain, seen]
    return Section(
        title="What privacy costs: N(0, 1) on [-4, 4]",
        method=(
            "Mean integrated squared error of the private estimate over that of the plain one, "
            "each at its own best bandwidth: by the closed form, and by the library's pipeline "
            f"({repetitions} samples, integrated over [-4, 4], both estimates of one sample)."
        ),
        columns=["neighbours", "n", "mu", "h", "plain h", "closed form", "pipeline"],
        rows=rows,
        verdicts=[
            verdict(
                f"n = 1,000, mu = 1: {max(found):.3f} at most", f"{RATIO}", met=max(found) <= RATIO
            )
        ],
    )


def simulated(
    relation: str, count: int, mu: float, bandwidths: tuple[float, float], repetitions: int
) -> float:
    """Return the ratio of errors seen."""
    random = np.random.default_rng(2)
    pipeline = Pipeline(DOMAIN, bandwidths[0], mu, relation, random=random)
    truth, errors = NORMAL.smoothed(X), np.zeros(2)
    for _ in range(repetitions):
        values = NORMAL.draw(count, random)
        plain = kernel_estimate(X, values, bandwidths[1])
        errors += [((curve - truth) ** 2).sum() for curve in (pipeline(values).raw(X), plain)]
    return float(errors[0] / errors[1])
