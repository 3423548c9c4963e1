"""Seconds of whole releases, and of paths of noise on a million points."""

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import count
from pathlib import Path

import numpy as np
from scipy.stats import gaussian_kde

import neyman as ny
from benchmarks import Section, clocked, verdict
from neyman import functional
from neyman.aggregate import Aggregate

__all__ = ["paths", "releases"]

REPETITIONS = 7
WAYS = "released", "estimated"
SIZES = (10_000, 100_000, 1_000_000)
# What scipy would take minutes for is left out.
MOST_FOR_SCIPY = 10_000
# Points a side, seconds that a million values may take, and times KDEpy's.
POINTS, BARS, PEER = {1: 4096, 2: 256, 3: 64}, {1: 0.15, 2: 0.5, 3: 1.5}, 2.0
MILLISECONDS = 50
# Finer ones are no pilots in boxes.
LEAST = {1: 0.0, 2: 0.125, 3: 0.667}


def releases() -> Section:
    """Measure every size and dimension at the bandwidth of the normal-reference rule."""
    rows: list[list[str | float]] = []
    verdicts: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        ledger = ny.Ledger.open(
            Path(folder) / "a", cap=ny.gdp(1), unit="one row", neighbors="add_remove"
        )
        entries = count()
        for dimension in POINTS:
            for size in SIZES if dimension == 1 else SIZES[-1:]:
                if dimension > 1 and not hasattr(functional, "Box"):
                    continue
                values = np.random.default_rng(0).normal(size=(size, dimension))
                taken = clocked(contestants(values, ledger, entries), REPETITIONS)
                rows += _rows(dimension, size, taken)
            if rows[-1][0] == f"{dimension}":
                verdicts += _verdicts(dimension, rows[-1], taken)
    return Section(
        title="Releases",
        method=(
            f"One process. Medians of {REPETITIONS} interleaved repetitions, wall / processor, "
            "from an array of normal values to a curve at "
            f"{POINTS[1]:,} points of [-8, 8] ({POINTS[2]}^2, {POINTS[3]}^3 in boxes), at the same "
            "bandwidth. neyman: declaration, check of the sensitivity, exact sums, exactly rounded "
            "noise, evaluation; released: through the door, where the charge and the noisy "
            "integers are written to a ledger on disk and flushed; estimated: without ledger. "
            "KDEpy (FFT on the same grid; measured if installed) and scipy (every kernel at every "
            "point) are **not private**."
        ),
        columns=[
            "dimensions",
            "values",
            "neyman",
            "seconds",
            "KDEpy (s)",
            "neyman / KDEpy",
            "scipy (s)",
        ],
        rows=rows,
        verdicts=verdicts,
    )


_Taken = dict[str, tuple[float, float]]


def _rows(dimension: int, size: int, taken: _Taken) -> list[list[str | float]]:
    theirs = taken.get("KDEpy")
    others = (
        "not run" if theirs is None else _pair(theirs),
        _pair(taken["scipy"]) if "scipy" in taken else "not run",
    )
    found: list[list[str | float]] = []
    for way in WAYS:
        ours = taken[way]
        ratio = "" if theirs is None else f"{ours[0] / theirs[0]:.2f} / {ours[1] / theirs[1]:.2f}"
        found.append([f"{dimension}", f"{size:,}", way, _pair(ours), others[0], ratio, others[1]])
    return found


def _verdicts(dimension: int, row: list[str | float], taken: _Taken) -> list[str]:
    wall, processor = taken["released"]
    bar = BARS[dimension]
    said = [
        verdict(
            f"{dimension} dimensions, {row[1]} values, released: {wall:.3f} s (processor "
            f"{processor:.3f} s)",
            f"{bar} s",
            met=wall <= bar,
        )
    ]
    if "KDEpy" in taken:
        for way in WAYS:
            ratio, work = (a / b for a, b in zip(taken[way], taken["KDEpy"], strict=True))
            found = f"{dimension} dimensions, {way}: {ratio:.2f} times KDEpy's time"
            found += f" (processor {work:.2f})"
            said.append(verdict(found, f"{PEER:g}", met=ratio <= PEER))
    return said


def _pair(seconds: tuple[float, float]) -> str:
    return f"{seconds[0]:.3g} / {seconds[1]:.3g}"


def contestants(
    values: np.ndarray, ledger: ny.Ledger, entries: Iterator[int]
) -> dict[str, Callable[[], object]]:
    """By name, each from values to a curve at the same points."""
    size, dimension = values.shape
    rule = (4 / (dimension + 2) / size) ** (1 / (dimension + 4))
    h = float(f"{max(rule, LEAST[dimension]):.3g}")
    points = POINTS[dimension]

    def released() -> object:
        question, noise = asked(values, h)
        return ny.release(question, noise, ledger, entry=f"{values.shape}-{next(entries)}")

    given: dict[str, Callable[[], object]] = {
        way: lambda answer=answer: functional.function(answer()).grid(points)
        for way, answer in zip(WAYS, (released, lambda: Answer.of(*asked(values, h))), strict=True)
    }
    if find_spec("KDEpy"):
        from KDEpy import FFTKDE

        axes = [np.linspace(-8, 8, points)] * dimension
        grid = np.stack([a.ravel() for a in np.meshgrid(*axes, indexing="ij")], axis=1)
        given["KDEpy"] = lambda: FFTKDE(bw=h).fit(values).evaluate(grid)
    if size <= MOST_FOR_SCIPY:
        x = np.linspace(-8, 8, points)
        given["scipy"] = lambda: gaussian_kde(values[:, 0], h / values.std())(x)
    return given


def asked(values: np.ndarray, h: float) -> tuple[Aggregate, ny.Gaussian]:
    """Return the question, and its noise."""
    side, dimension = functional.Interval(-8, 8, outside="clip"), values.shape[1]
    question = functional.density(
        values[:, 0] if dimension == 1 else values,
        domain=side if dimension == 1 else functional.Box(*[side] * dimension),
        bandwidth=h if dimension == 1 else (h,) * dimension,
        neighbors="add_remove",
        unit="one row",
        name="x",
    )
    return question, ny.Gaussian.calibrate(question.sensitivity, mu=0.01)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a function is made of, charged to no ledger: of public values, for its time alone."""

    query: Mapping[str, object]
    columns: Mapping[str, Sequence[object]]

    @classmethod
    def of(cls, question: Aggregate, noise: ny.Gaussian) -> "Answer":
        """Compute, add exact noise, read."""
        noisy = noise.add_noise(question.compute())
        return cls(question.query, question.reading.columns(noisy, noise, 0.95))


def paths() -> Section:
    """Measure paths of Gaussian processes on a million points."""
    generator = np.random.default_rng(0)
    smooth, rough = functional.SquaredExponential(0.01), functional.Matern(2.5, 0.01)
    grids = {
        "smooth, 10^6": (smooth, 1e-6, (10**6,)),
        "Matern 5/2, 10^6": (rough, 1e-6, (10**6,)),
        "smooth, 1000^2": (smooth, 1e-3, (1000, 1000)),
        "smooth, 100^3": (functional.SquaredExponential(0.1), 1e-2, (100, 100, 100)),
    }

    def path(kernel: functional.Kernel, step: float, shape: tuple[int, ...]) -> object:
        return functional.simulate_grid(kernel, step=step, shape=shape, generator=generator)

    taken = clocked({name: lambda g=grid: path(*g) for name, grid in grids.items()}, REPETITIONS)
    normal = clocked({"normal": lambda: generator.standard_normal(10**6)}, REPETITIONS)["normal"]
    slowest = max(taken, key=lambda name: taken[name])
    wall = 1e3 * taken[slowest][0]
    return Section(
        title="Paths of noise",
        method=(
            "`simulate_grid`: one path of a Gaussian process of length scale 0.01 (0.1 in three "
            "dimensions) of the unit, drawn by a public generator, for bands and studies. "
            f"A million independent normal numbers take {1e3 * normal[0]:.3g} ms."
        ),
        columns=["path", "wall (ms)", "processor (ms)"],
        rows=[[name, 1e3 * w, 1e3 * c] for name, (w, c) in taken.items()],
        verdicts=[
            verdict(
                f"slowest: {wall:.1f} ms ({slowest})",
                f"{MILLISECONDS} ms",
                met=wall <= MILLISECONDS,
            )
        ],
    )
