"""False alarms of the test of two counts, for every rule at once, computed and not drawn.

A rule that is learnt has some threshold and some weight. For each weight the most alarming counts
that still refute the claim are searched, and the chance of these counts is added up at every
threshold of a fine grid, with SciPy's binomials alone. The largest of these chances is no smaller
than the level of any rule, learnt or fixed, whatever the scores.
"""

import numpy as np
from scipy.stats import binom, norm

import neyman as ny
from benchmarks import Report, verdict
from neyman.audit import Counts
from neyman.audit._joint import p_value
from neyman.audit._null import Null
from neyman.audit._statistic import Statistic

LEVEL = 0.05
CLAIMS = {
    "no loss": ny.gdp(0),
    "gdp(0.1)": ny.gdp(0.1),
    "gdp(0.3)": ny.gdp(0.3),
    "gdp(1)": ny.gdp(1),
    "gdp(3)": ny.gdp(3),
    "gdp(4)": ny.gdp(4),
    "laplace(1)": ny.laplace(1),
    "randomized_response(1)": ny.randomized_response(1),
    "approx_dp(1, 1e-6)": ny.approx_dp(1, 1e-6),
    "approx_dp(0, 0.1)": ny.approx_dp(0, 0.1),
    "poisson(gdp(1), 0.1)": ny.poisson(ny.gdp(1), 0.1),
    "poisson(gdp(1), 0.1).remove": ny.poisson(ny.gdp(1), 0.1).remove,
}
# Runs on each side, and the powers of two that weigh a false positive.
SIZES = {50: range(-6, 7), 100: range(-6, 7), 1000: (-4, 0, 4), 10_000: (0,)}
THRESHOLDS = {50: 500, 100: 500, 1000: 200, 10_000: 60}


def run() -> Report:
    """Compute every cell."""
    rows = [[name, *_row(Null(claim))] for name, claim in CLAIMS.items()]
    highest = max(level for _, *levels in rows for level in levels)
    return Report(
        title="False alarms, computed",
        method="The largest probability that the test of two counts refutes a claim that holds, at "
        "a nominal 5 %: over the false positive rates of a grid from 1e-9 to 1 - 1e-9, with those "
        "at which the claim is nearest, and over "
        "these weights of a false positive: 2^-6, 2^-5, ..., 2^6 for n = 50 and 100 runs on each "
        "side, 2^-4, 1 and 2^4 for 1,000, and 1 for 10^4. Nothing is drawn: the search for "
        "the critical counts is neyman's, the chance of them is added up with SciPy's binomials. A "
        "rule that was learnt has some rate and some weight, so that its level is a mean of such "
        "probabilities, whatever the law of the scores.",
        columns=("claim", *(f"n = {n:,}" for n in SIZES)),
        rows=rows,
        verdicts=[verdict(f"the largest is {highest:.5f}", "at most 0.05", met=highest <= LEVEL)],
        packages=("neyman", "numpy", "scipy"),
    )


def _row(null: Null) -> list[float]:
    return [round(max(_level(null, n, 2.0**k) for k in weights), 5) for n, weights in SIZES.items()]


def _level(null: Null, n: int, weight: float) -> float:
    """Return the largest chance of a false alarm, of all thresholds."""
    critical = _critical(null, n, weight)
    if critical is None:
        return 0.0
    x = norm.cdf(np.linspace(-6, 6, THRESHOLDS[n]))
    # The place where the claim is nearest is often a corner, which a grid misses.
    fine = norm.cdf(np.linspace(-6, 6, 100 * THRESHOLDS[n]))
    nearest = fine[np.argsort(weight * fine + null.ends(fine)[0])[:10]]
    x = np.concatenate([x, nearest])
    y = null.ends(x)[1]
    k = np.arange(n + 1)[:, None]
    most = np.floor(n * (critical - weight * k / n) + 1e-9)
    low, high = _likely(n, x)
    keep = ((k >= low) & (k <= high)).any(axis=1)
    chances = binom.pmf(k[keep], n, x) * binom.cdf(most[keep], n, y)
    return float(chances.sum(axis=0).max())


def _likely(n: int, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    wide = 10 * np.sqrt(n * x * (1 - x)) + 30
    return n * x - wide, n * x + wide


def _critical(null: Null, n: int, weight: float) -> float | None:
    """Return the largest value of the statistic that refutes; None where none does."""

    def refuted(false_positives: int, false_negatives: int) -> bool:
        counts = Counts(
            false_positives=false_positives,
            outside=n,
            false_negatives=false_negatives,
            inside=n,
        )
        return p_value(Statistic(counts, weight), null, LEVEL).upper <= LEVEL

    # At the weight 1 the sum of both counts is all that matters, and it stays below n.
    k, j = np.divmod(np.arange(n + 1 if weight == 1 else (n + 1) ** 2), n + 1)
    values = weight * k / n + j / n
    order = np.argsort(values, kind="stable")
    low, high = -1, order.size
    while high - low > 1:
        middle = (low + high) // 2
        at = order[middle]
        low, high = (middle, high) if refuted(int(k[at]), int(j[at])) else (low, middle)
    return float(values[order[low]]) if low >= 0 else None
