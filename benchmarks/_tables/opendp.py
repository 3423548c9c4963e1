"""OpenDP on the same file, in an environment of its own: `python -m benchmarks._tables.opendp`.

Arguments: the file, and how often. Prints seconds and errors of each run as JSON. Needs nothing of
neyman.
"""

import json
import sys
import time
import warnings
from collections.abc import Callable
from importlib.metadata import version

import opendp.prelude as dp
import polars as pl

ROWS = 336_776


class Flights:
    """A to E of the tables of peers, at epsilon = 1, and what the answers should be."""

    def __init__(self, path: str) -> None:
        """Read what is exact."""
        self.rows = pl.scan_parquet(path)
        self.exact = {
            name: dict(self.rows.group_by(name).len().collect().iter_rows())
            for name in ("carrier", "dest")
        }
        self.total = self.rows.select(pl.col("distance").sum()).collect().item()
        clamped = pl.col("arr_delay").drop_nulls().clip(-60, 180)
        self.delays = self.rows.select(clamped).collect()["arr_delay"]

    def query(self, margins: list, **loss: float) -> object:
        """Ask the first question of a context of its own."""
        return dp.Context.compositor(
            data=self.rows,
            privacy_unit=dp.unit_of(contributions=1),
            privacy_loss=dp.loss_of(**loss),
            split_evenly_over=1,
            margins=margins,
        ).query()

    def counts(self) -> tuple[pl.DataFrame, Callable]:
        """A: known groups."""
        carriers = pl.LazyFrame({"carrier": sorted(self.exact["carrier"])})
        asked = self.query([], epsilon=1.0).group_by("carrier").agg(dp.len()).with_keys(carriers)
        return asked.release().collect(), lambda found: {"count": self._off(found, "carrier")}

    def unknown(self) -> tuple[pl.DataFrame, Callable]:
        """B: unknown groups."""
        asked = self.query([], epsilon=1.0, delta=1e-6).group_by("dest").agg(dp.len())
        return asked.release().collect(), lambda found: {
            "count": self._off(found, "dest"),
            "groups not shown": len(self.exact["dest"]) - len(found),
        }

    def sum(self) -> tuple[pl.DataFrame, Callable]:
        """C: all distances."""
        column = pl.col("distance").cast(int).fill_null(0).dp.sum((0, 5000))
        asked = self.query([_whole()], epsilon=1.0).select(column)
        return asked.release().collect(), lambda found: {"sum": abs(found.item() - self.total)}

    def median(self) -> tuple[pl.DataFrame, Callable]:
        """E: the median of known delays, among whole minutes."""
        known = self.query([_whole()], epsilon=1.0).filter(pl.col("arr_delay").is_not_null())
        minutes = [float(minute) for minute in range(-60, 181)]
        column = pl.col("arr_delay").cast(float).fill_null(0.0).fill_nan(0.0)
        asked = known.select(column.dp.median(candidates=minutes))
        return asked.release().collect(), lambda found: {"rank of the median": self._rank(found)}

    def _rank(self, found: pl.DataFrame) -> float:
        value = found.item()
        below, up_to = (self.delays < value).mean(), (self.delays <= value).mean()
        return max(below - 0.5, 0.5 - up_to, 0.0)

    def _off(self, found: pl.DataFrame, column: str) -> float:
        pairs = list(found.iter_rows())
        return sum(abs(value - self.exact[column][key]) for key, value in pairs) / len(pairs)


def main(path: str, repetitions: int) -> None:
    """Ask every question in turn, and again."""
    dp.enable_features("contrib")
    # That counts will not be clamped at 0 some day.
    warnings.simplefilter("ignore", FutureWarning)
    flights = Flights(path)
    asked = {"A": flights.counts, "B": flights.unknown, "C": flights.sum, "E1": flights.median}
    runs = {name: [] for name in asked}
    for repetition in range(repetitions + 1):
        for name, act in asked.items():
            start = time.perf_counter(), time.process_time()
            found, errors = act()
            end = time.perf_counter(), time.process_time()
            if repetition > 0:
                runs[name].append([end[0] - start[0], end[1] - start[1], errors(found)])
    print(json.dumps({"version": version("opendp"), "runs": runs}))


def _whole() -> dp.polars.Margin:
    return dp.polars.Margin(by=[], max_length=ROWS)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
