"""Distribution functions: the greatest error of any count below a value, by four mechanisms."""

import math

import numpy as np

import neyman as ny
from benchmarks import Section, verdict
from benchmarks._functions.pipeline import Answer, Pipeline, answer, simulated
from neyman import functional

__all__ = ["section"]

SIZES, MU, BAR = (1024, 4096), 1.0, 9.6


def section(repetitions: int = 400) -> Section:
    """Simulate the noise of each at 1,024 and 4,096 cells."""
    rows: list[list[str | float]] = []
    random = np.random.default_rng(4)
    for cells in SIZES:
        peers = (summed, tree, square_root)
        theirs = [
            float(np.mean([peer(cells, random) for _ in range(repetitions)])) for peer in peers
        ]
        ours = float(np.mean(spectral(cells, repetitions)))
        rows.append([f"{cells:,}", ours, *theirs, ours / theirs[-1]])
    first = float(rows[0][1])
    return Section(
        title="Distribution functions",
        method=(
            f"Mean over {repetitions} releases of the greatest error of the noise in the count "
            f"of records below any of N equally spaced values, mu = {MU:g}, add/remove. neyman: "
            "`target=Cumulative()` at the smallest bandwidth, the domain over N (at most 1,024), "
            "the released number of records included. Peers, a few lines here, under the same "
            "Gaussian noise of a record: sums of a histogram; a binary tree of counts by least "
            "squares; the square root of the matrix of sums as strategy."
        ),
        columns=["N", "neyman", "histogram", "tree", "square root", "neyman / square root"],
        rows=rows,
        verdicts=[
            verdict(f"N = 1,024: {first:.2f} records in the mean", f"{BAR}", met=first <= BAR)
        ],
    )


def spectral(cells: int, repetitions: int) -> list[float]:
    """Return the greatest errors of the library, from one record in the middle, twice."""
    domain = functional.Interval(0, 1, outside="clip")
    pipeline = Pipeline(domain, 1 / min(cells, 1024), MU, target=functional.Cumulative())
    question, edges = pipeline.ask(np.full(100_000, 0.5)), np.arange(1, cells + 1) / cells
    # As good as without noise.
    kind = functional.ReleasedFunction
    random = np.random.default_rng(5)
    calm = functional.function(answer(question, ny.Gaussian(scale=1), random), kind)
    exact, sums = calm.count * calm.cdf(edges), question.compute()
    found: list[float] = []
    for _ in range(repetitions):
        noisy = simulated(sums, pipeline.noise, random)
        columns = question.reading.columns(noisy, pipeline.noise, 0.95)
        f = functional.function(Answer(question.query, columns), kind)
        found.append(float(np.abs(f.count * f.cdf(edges) - exact).max()))
    return found


def summed(cells: int, random: np.random.Generator) -> float:
    """Return the greatest sum of independent noise."""
    return float(np.abs(np.cumsum(random.standard_normal(cells))).max()) / MU


def tree(cells: int, random: np.random.Generator) -> float:
    """Return the same for a binary tree of counts, its levels made to agree by least squares.

    Source: Hay, Rastogi, Miklau and Suciu, *Boosting the accuracy of differentially private
        histograms through consistency*, VLDB 2010.
    """
    levels = cells.bit_length()
    noise = [random.standard_normal(2**k) * math.sqrt(levels) for k in range(levels)]
    up = [noise[-1]]
    for height in range(2, levels + 1):
        own = (2**height - 2 ** (height - 1)) / (2**height - 1)
        pairs = up[0].reshape(-1, 2).sum(axis=1)
        up.insert(0, own * noise[levels - height] + (1 - own) * pairs)
    down = up[0]
    for level in up[1:]:
        apart = down - level.reshape(-1, 2).sum(axis=1)
        down = level + np.repeat(apart / 2, 2)
    return float(np.abs(np.cumsum(down)).max()) / MU


def square_root(cells: int, random: np.random.Generator) -> float:
    """Return the same for L = B B, B lower triangular and Toeplitz: B z times its longest column.

    Source: Fichtenberger, Henzinger and Upadhyay, *Constant matters*, ICML 2023.
    """
    steps = np.arange(1, cells)
    first = np.concatenate([[1.0], np.cumprod((2 * steps - 1) / (2 * steps))])
    z = random.standard_normal(cells)
    size = 2 * cells
    summed_noise = np.fft.irfft(np.fft.rfft(first, size) * np.fft.rfft(z, size), size)[:cells]
    return float(np.abs(summed_noise).max() * np.linalg.norm(first)) / MU
