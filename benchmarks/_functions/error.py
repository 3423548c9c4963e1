"""Mean integrated squared errors of densities: privacy's share, the choice of bandwidth."""

import math
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar

from benchmarks import Section, verdict
from benchmarks._functions.densities import BIMODAL, CLAW, DENSITIES, NORMAL, Mixture, kernel_risk
from benchmarks._functions.pipeline import DOMAIN, Pipeline, kernel_estimate
from neyman import functional

__all__ = ["against_histograms", "automatic", "price"]

LENGTH = float(DOMAIN.length)
X = np.linspace(-4, 4, 1601)
# In one release the square of the sensitivity of a count, by relation.
MOVED = {"add_remove": 1, "replace_one": 2}
PAIRS = ((300, 0.5), (300, 1.0), (1000, 0.25), (1000, 1.0), (10_000, 0.5), (100_000, 0.25))
RATIO, GEOMETRIC, WORST = 1.05, 1.2, 1.6
FEWEST, MOST = 50, 300


class Start(NamedTuple):
    """How a release is made whose bandwidth is chosen afterwards."""

    pilot: bool
    """At `pilot_bandwidth` with the default target, not as `density(records=)` does."""


class Ratio(NamedTuple):
    """A mean over samples, and its standard error."""

    mean: float
    error: float


STARTS = {
    "Records": Start(pilot=False),
    "Pilot": Start(pilot=True),
}


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


def histogram_risk(density: Mixture, count: int, mu: float, moved: int) -> float:
    """Return the exact risk of a histogram with the number of bins that is best."""
    whole = density.product(0.0)
    least = math.inf
    for bins in range(1, 4001):
        width = LENGTH / bins
        masses = density.masses(np.linspace(-4, 4, bins + 1))
        squares = float((masses**2).sum())
        risk = whole - squares / width + float((masses * (1 - masses)).sum()) / (count * width)
        least = min(least, risk + LENGTH * moved / (count * mu * width) ** 2)
        if bins > 50 and risk > 4 * least:
            break
    return least


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
    random, pipeline = np.random.default_rng(2), Pipeline(DOMAIN, bandwidths[0], mu, relation)
    truth, errors = NORMAL.smoothed(X), np.zeros(2)
    for _ in range(repetitions):
        values = NORMAL.draw(count, random)
        plain = kernel_estimate(X, values, bandwidths[1])
        errors += [((curve - truth) ** 2).sum() for curve in (pipeline(values).raw(X), plain)]
    return float(errors[0] / errors[1])


def automatic() -> Section:
    """Compare the bandwidth chosen from the release with the best one, known beforehand."""
    rows: list[list[str | float]] = []
    ratios: dict[tuple[str, str], list[Ratio]] = {}
    for density, (count, mu) in product(DENSITIES, PAIRS):
        row: list[str | float] = [density.name, f"{count:,}", mu]
        row.append(best(density, count, mu, 1)[0])
        for (name, start), relation in product(STARTS.items(), MOVED):
            found = chosen(density, count, mu, relation, start)
            ratios.setdefault((name, relation), []).append(found)
            row.append(f"{found.mean:.2f} ± {found.error:.2f}")
        rows.append(row)
    verdicts: list[str] = []
    for (name, relation), found in ratios.items():
        means = [ratio.mean for ratio in found]
        mean, most = math.exp(float(np.mean(np.log(means)))), max(means)
        at = means.index(most)
        verdicts += [
            verdict(
                f"{name}, {relation}, geometric mean: {mean:.3f}",
                f"{GEOMETRIC}",
                met=mean <= GEOMETRIC,
            ),
            verdict(
                f"{name}, {relation}, worst: {most:.2f} ± {found[at].error:.2f} "
                f"({rows[at][0]}, n = {rows[at][1]}, mu = {rows[at][2]})",
                f"{WORST}",
                met=most <= WORST,
            ),
        ]
    return Section(
        title="The reading that is handed over",
        method=(
            "Error of `functional.function(release)`, released once, over the exact error of a "
            "kernel estimate released at the best bandwidth, which nobody knows, ± "
            f"its standard error: {FEWEST} samples each, up to {MOST} where the mean is within "
            f"three standard errors of {WORST} or above. Records: of `density(records=n)` on "
            "[-4, 4]. Pilot: of `density(bandwidth=pilot_bandwidth([-4, 4], n))`."
        ),
        columns=["density", "n", "mu", "best h (add/remove)"]
        + [f"{name}, {relation}" for name, relation in ratios],
        rows=rows,
        verdicts=verdicts,
    )


def chosen(density: Mixture, count: int, mu: float, relation: str, start: Start) -> Ratio:
    """Return the mean error of the density as it is handed over, over the least."""
    pilot = functional.pilot_bandwidth(DOMAIN, count) if start.pilot else None
    pipeline = Pipeline(DOMAIN, pilot, mu, relation, records=None if start.pilot else count)
    random, truth, errors = np.random.default_rng(3), density.smoothed(X), []
    least = best(density, count, mu, MOVED[relation])[1]
    while True:
        read = pipeline(density.draw(count, random))
        errors.append(float(np.trapezoid((read(X) - truth) ** 2, X)) / least)
        if len(errors) < FEWEST or len(errors) % FEWEST:
            continue
        ratio = Ratio(float(np.mean(errors)), float(np.std(errors)) / math.sqrt(len(errors)))
        if ratio.mean + 3 * ratio.error < WORST or len(errors) >= MOST:
            return ratio


def against_histograms() -> Section:
    """Compare exact risks with those of a histogram with the best bins."""
    asked = [
        *((NORMAL, n, mu) for n in (100, 1000) for mu in (0.25, 1.0)),
        *((NORMAL, n, mu) for n in (10_000, 1_000_000) for mu in (0.1, 1.0)),
        *((BIMODAL, 1000, mu) for mu in (0.25, 1.0)),
        *((CLAW, 100, mu) for mu in (0.1, 1.0)),
        *((CLAW, 1000, mu) for mu in (0.25, 1.0)),
    ]
    rows: list[list[str | float]] = []
    for density, count, mu in asked:
        risk = best(density, count, mu, 2)[1]
        plain = best(density, count, math.inf, 2)[1]
        bins = histogram_risk(density, count, mu, 2)
        rows.append([density.name, f"{count:,}", mu, risk / plain, risk / bins])
    lost = [f"{row[0]}, n = {row[1]}, mu = {row[2]}" for row in rows if float(row[4]) > 1]
    return Section(
        title="Against a private histogram with the best bins",
        method=(
            "Exact mean integrated squared errors on [-4, 4] under replace-one, private density at "
            "its best bandwidth over the plain one at its own, and over a private histogram with "
            "the number of bins that is best for the true density."
        ),
        columns=["density", "n", "mu", "density / plain density", "density / histogram"],
        rows=rows,
        verdicts=[f"The histogram is better at: {'; '.join(lost) if lost else 'none of these'}."],
    )
