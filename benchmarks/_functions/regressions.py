"""Private regression curves against simple private fits of the same budget."""

import math
from collections.abc import Callable, Iterator

import numpy as np
from numpy.polynomial import chebyshev

import neyman as ny
from benchmarks import Section, verdict
from benchmarks._functions.pipeline import answer
from neyman import functional
from neyman.functional import Interval, RegressionCurve

__all__ = ["section"]

BOUND = 1.5
AT = np.linspace(0.02, 0.98, 97)
# The mean of y at x, and the deviation of y about it.
CURVES: dict[str, tuple[Callable[[np.ndarray], np.ndarray], tuple[float, float]]] = {
    "line": (lambda x: 1.2 * x - 0.6, (0.3, 0.0)),
    "0.5 cos 3x": (lambda x: 0.5 * np.cos(3 * x), (0.1, 0.4)),
    "sine, two periods": (lambda x: 0.8 * np.sin(4 * np.pi * x), (0.3, 0.0)),
    "step": (lambda x: 0.6 * np.sign(x - 0.5), (0.3, 0.0)),
    "doppler": (
        lambda x: 1.6 * np.sqrt(x * (1 - x)) * np.sin(2.1 * np.pi / (x + 0.05)),
        (0.3, 0.0),
    ),
}
# Records, mu, releases of ours and samples of the simple fits.
CELLS = ((300, 0.25, 80, 100), (300, 1.0, 12, 100), (1000, 0.25, 12, 60), (10_000, 0.25, 4, 20))
BINS = (2, 3, 4, 6, 8, 12, 16, 24, 32)
DEGREES = (1, 3, 5, 7)
RIDGES = (0.03, 0.1, 0.3, 1.0)
BAR = 1.2


def section() -> Section:
    """Compare errors at equal mu."""
    rows: list[list[str | float]] = []
    ratios: dict[tuple[int, float], list[float]] = {}
    for n, mu, runs, samples in CELLS:
        for name in CURVES:
            simple = _simple(name, n, mu, samples)
            best = min(simple, key=simple.__getitem__)
            error, missing, held = np.mean([*_ours(name, n, mu, runs)], axis=0).tolist()
            ratios.setdefault((n, mu), []).append(error / simple[best])
            rows.append([name, f"{n:,}", mu, error, best, simple[best]])
            rows[-1] += [error / simple[best], missing, held]
    verdicts = []
    for (n, mu), each in ratios.items():
        mean = math.exp(float(np.mean(np.log(each))))
        found = f"n = {n:,}, mu = {mu}: {mean:.2f} in the geometric mean over the curves"
        told = (n, mu) == (300, 0.25)
        verdicts.append(verdict(found, f"{BAR}", met=mean <= BAR) if told else f"{found} (no bar).")
    return Section(
        title="Regression curves",
        method=(
            "x of Beta(2, 2) on [0, 1], y within [-1.5, 1.5], add/remove, nothing tuned: "
            "`regression(records=n)`, one release, `gaussian_process()`. Mean squared error on "
            "[0.02, 0.98] over that of the best simple private fit, best in hindsight: noisy "
            "(count, sum) in 2 to 32 bins, interpolated, or a polynomial of degree 1, 3, 5 or 7 "
            "from noisy moments, with one of four ridges. Share of [0.02, 0.98] that is NaN, and "
            "where the true curve is within 1.96 `noise_sd`. "
            + ", ".join(f"{runs} releases at n = {n:,}, mu = {mu}" for n, mu, runs, _ in CELLS)
            + "."
        ),
        columns=[
            "curve",
            "n",
            "mu",
            "squared error",
            "best simple fit",
            "its error",
            "ratio",
            "NaN",
            "within 1.96 sd",
        ],
        rows=rows,
        verdicts=verdicts,
    )


def _drawn(name: str, n: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    curve, (least, more) = CURVES[name]
    x = random.beta(2, 2, n)
    y = curve(x) + (least + more * x) * random.standard_normal(n)
    return x, np.clip(y, -BOUND, BOUND)


def _ours(name: str, n: int, mu: float, runs: int) -> Iterator[tuple[float, float, float]]:
    truth = CURVES[name][0](AT)
    random = np.random.default_rng(7)
    for _ in range(runs):
        question = functional.regression(
            *_drawn(name, n, random),
            domain=Interval(0, 1, outside="clip"),
            response=Interval(-BOUND, BOUND, outside="clip"),
            records=n,
            neighbors="add_remove",
            unit="one row",
            name="x and y",
        )
        noise = ny.Gaussian.calibrate(question.sensitivity, mu=mu)
        fit = functional.function(
            answer(question, noise, random), RegressionCurve
        ).gaussian_process()
        found, spread = fit(AT), fit.noise_sd(AT)
        apart = np.abs(np.nan_to_num(found) - truth)
        inside = apart <= 1.96 * np.nan_to_num(spread)
        yield float(np.mean(apart**2)), float(np.isnan(found).mean()), float(inside.mean())


def _simple(name: str, n: int, mu: float, samples: int) -> dict[str, float]:
    truth = CURVES[name][0](AT)
    random = np.random.default_rng(8)
    errors: dict[str, list[float]] = {}
    for _ in range(samples):
        x, y = _drawn(name, n, random)
        for label, values in (*_binned(x, y, mu, random), *_polynomial(x, y, mu, random)):
            errors.setdefault(label, []).append(float(np.mean((values - truth) ** 2)))
    return {label: float(np.mean(each)) for label, each in errors.items()}


def _binned(
    x: np.ndarray, y: np.ndarray, mu: float, random: np.random.Generator
) -> Iterator[tuple[str, np.ndarray]]:
    """Yield counts and sums in bins, a record of which moves both by at most 1."""
    spread = math.sqrt(2) / mu
    for bins in BINS:
        cells = np.minimum((bins * x).astype(int), bins - 1)
        counts = np.bincount(cells, minlength=bins) + random.normal(0, spread, bins)
        sums = np.bincount(cells, y / BOUND, minlength=bins) + random.normal(0, spread, bins)
        means = np.clip(sums / np.maximum(counts, 1), -1, 1) * BOUND
        yield f"{bins} bins", np.interp(AT, (np.arange(bins) + 0.5) / bins, means)


def _polynomial(
    x: np.ndarray, y: np.ndarray, mu: float, random: np.random.Generator
) -> Iterator[tuple[str, np.ndarray]]:
    """Yield polynomials of noisy Chebyshev moments: T_j T_k = (T_(j+k) + T_|j-k|) / 2."""
    for degree in DEGREES:
        moved = chebyshev.chebvander(np.linspace(-1, 1, 501), 2 * degree) ** 2
        most = moved.sum(axis=1) + moved[:, : degree + 1].sum(axis=1)
        spread = math.sqrt(float(most.max())) / mu
        waves = chebyshev.chebvander(2 * x - 1, 2 * degree)
        moments = waves.sum(axis=0) + random.normal(0, spread, 2 * degree + 1)
        sums = waves[:, : degree + 1].T @ (y / BOUND) + random.normal(0, spread, degree + 1)
        each = np.arange(degree + 1)
        gram = moments[each[:, None] + each] + moments[np.abs(each[:, None] - each)]
        for ridge in RIDGES:
            least = ridge * spread * math.sqrt(degree + 1)
            sizes, axes = np.linalg.eigh(gram / 2 + least * np.eye(degree + 1))
            found = axes @ ((axes.T @ sums) / np.maximum(sizes, least))
            values = chebyshev.chebvander(2 * AT - 1, degree) @ found
            yield f"degree {degree}, ridge {ridge}", np.clip(values, -1, 1) * BOUND
