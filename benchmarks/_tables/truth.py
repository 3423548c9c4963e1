"""What the answers should be, by DuckDB's own aggregates, and how far they are off."""

import math
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias, final

import duckdb
import numpy as np

import neyman as ny

__all__ = ["Errors", "Truth"]

Errors: TypeAlias = Callable[[ny.Release], Mapping[str, float]]

_DELAY = "greatest(-60, least(180, {0}))".format


@final
class Truth:
    """Exact statistics of the clamped columns of a file, each read when it is first needed."""

    def __init__(self, path: Path) -> None:
        """Take the file."""
        self.path = path
        self.known: dict[str, list[tuple[Any, ...]]] = {}

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query, once asked."""
        if query not in self.known:
            self.known[query] = duckdb.sql(query.format(f"'{self.path}'")).fetchall()
        return self.known[query]

    def counts(self, column: str) -> Errors:
        """Of counts by one column."""
        return lambda release: {"count": self._off(release, [column], "count", "count(*)")}

    def found(self, release: ny.Release) -> Mapping[str, float]:
        """Of counts of the destinations that are shown, and how many of 105 are not."""
        off = self._off(release, ["dest"], "count", "count(*)")
        return {"count": off, "groups not shown": 105 - len(release.columns["dest"])}

    def cells(self, release: ny.Release) -> Mapping[str, float]:
        """Of counts by month and hour, empty ones among them."""
        by = ["month", "hour"]
        return {
            "count": self._off(release, by, "count", "count(*)"),
            "count, 0 where it is below": self._off(release, by, "count", "count(*)", least=0),
        }

    def sum(self, release: ny.Release) -> Mapping[str, float]:
        """Of the sum of distances."""
        ((total,),) = self.rows("SELECT sum(distance) FROM {}")
        return {"sum": abs(_number(release, "sum") - total)}

    def mean(self, release: ny.Release) -> Mapping[str, float]:
        """Of the mean delay."""
        delays = self.delays()
        return {"mean": abs(_number(release, "mean") - delays.mean())}

    def variance(self, release: ny.Release) -> Mapping[str, float]:
        """Of variance and standard deviation."""
        delays = self.delays()
        return {
            "variance": abs(_number(release, "variance") - delays.var()),
            "standard deviation": abs(_number(release, "standard_deviation") - delays.std()),
        }

    def line(self, release: ny.Release) -> Mapping[str, float]:
        """Of intercept and slope."""
        columns = [_DELAY(name) for name in ("dep_delay", "arr_delay")]
        known = "dep_delay IS NOT NULL AND arr_delay IS NOT NULL"
        pairs = self.rows(f"SELECT {', '.join(columns)} FROM {{}} WHERE {known}")
        slope, intercept = np.polyfit(*np.array(pairs, float).T, 1)
        true = {"(intercept)": intercept, "dep_delay": slope}
        columns_of = release.columns
        answers = zip(columns_of["term"], columns_of["estimate"], strict=True)
        return {str(term): abs(float(value) - true[str(term)]) for term, value in answers}

    def several(self, release: ny.Release) -> Mapping[str, float]:
        """Of counts, means and sums by carrier."""
        mean = f"avg({_DELAY('arr_delay')})"
        return {
            "count": self._off(release, ["carrier"], "count", "count(*)"),
            "mean (one carrier has 29 flights)": self._off(
                release, ["carrier"], "mean_arr_delay", mean
            ),
            "sum": self._off(release, ["carrier"], "sum_distance", "sum(distance)"),
        }

    def ranks(self, what: str) -> Errors:
        """Of quantiles of all delays."""
        return lambda release: {f"rank of the {what}": float(np.mean(self._ranks(release)))}

    def ranks_of_carriers(self, release: ny.Release) -> Mapping[str, float]:
        """Of quantiles by carrier: the mean over carriers, and over flights."""
        off = self._ranks(release)
        sizes = [len(self.delays(str(name))) for name in release.columns["carrier"]]
        return {
            "rank, over carriers": float(np.mean(off)),
            "rank, over flights": float(np.average(off, weights=sizes)),
        }

    def planes(self, release: ny.Release) -> Mapping[str, float]:
        """Of counts under limits, beside what they would be without."""
        full = self._off(release, ["dest"], "count", "count(*)")
        return {"count, rows beyond the limits too": full}

    def delays(self, carrier: str | None = None) -> np.ndarray:
        """Return the clamped delays that are known, sorted."""
        query = f"SELECT {_DELAY('arr_delay')} FROM {{}} WHERE arr_delay IS NOT NULL"
        query += "" if carrier is None else f" AND carrier = '{carrier}'"
        return np.sort(np.array(self.rows(query), float)[:, 0])

    def _ranks(self, release: ny.Release) -> list[float]:
        """Return how far each share is from those of the rows below and up to its quantile."""
        columns = release.columns
        wanted, found = columns["probability"], columns["quantile"]
        groups = columns.get("carrier", [None] * len(found))
        sorted_of = {group: self.delays(group) for group in dict.fromkeys(groups)}
        off: list[float] = []
        for group, share, value in zip(groups, wanted, found, strict=True):
            delays = sorted_of[group]
            below = np.searchsorted(delays, value, "left") / len(delays)
            up_to = np.searchsorted(delays, value, "right") / len(delays)
            off.append(float(max(below - share, share - up_to, 0.0)))
        return off

    def _off(
        self,
        release: ny.Release,
        by: Iterable[str],
        column: str,
        exact: str,
        least: float = -math.inf,
    ) -> float:
        names = [*by]
        listed = ", ".join(names)
        found = self.rows(f"SELECT {listed}, {exact} FROM {{}} GROUP BY {listed}")
        true = {row[:-1]: float(row[-1]) for row in found}
        groups = zip(*(release.columns[name] for name in names), strict=True)
        pairs = zip(groups, release.columns[column], strict=True)
        off = [abs(max(float(value), least) - true.get(key, 0.0)) for key, value in pairs]
        return float(np.mean(off))


def _number(release: ny.Release, column: str) -> float:
    (value,) = release.columns[column]
    return float(value)
