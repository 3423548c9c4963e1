"""Total intervals hold the population's value, whatever ties the rows of a unit together.

A population is a large pool of units, so that its own values are exact. Each run draws units from
it, adds up their integers, as the library's statement makes them of a row, draws the noise of the
mechanism itself, and reads the answer. `python tests/tables/test_coverage.py` prints the table of
docs/measured.md.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np
import pyarrow as pa
import pytest

import neyman as ny
from neyman.functional._quantiles._quantiles import QuantileReading
from neyman.functional._quantiles._step_basis import StepBasis
from neyman.tables import Bounds, Count, Entity, Keys, Mean, Rows, Sum, Variance, open_table
from neyman.testing import SeededBits

TOP = 100
POOL = 40_000
RUNS = 1000
LEVEL = 0.95
SLACK = 0.015
SHARES = (Fraction(1, 10), Fraction(1, 2), Fraction(9, 10))
PARTS = {
    "mean": Mean,
    "variance": Variance,
    "count": lambda _: Count(poisson=True),
    "sum": lambda x: Sum(x, poisson=True),
}


@dataclass(frozen=True)
class Pool:
    """Units with their rows: values in steps of the grid, shape (units, rows), -1 for no row."""

    values: np.ndarray

    @property
    def rows(self):
        return self.values[self.values >= 0]

    def sums(self, integers):
        """What each unit adds, of integers for each value, shape (values, d)."""
        padded = np.vstack([integers, np.zeros_like(integers[:1])])
        return padded[self.values].sum(axis=1)


def filled(rng, m, values, sizes=None):
    """Rows of a unit beyond its size are none; a unit has from 1 to m."""
    found = np.clip(np.rint(values), 0, TOP).astype(np.int64)
    sizes = rng.integers(1, m + 1, POOL) if sizes is None else sizes
    found[np.arange(m) >= sizes[:, None]] = -1
    return Pool(found)


def independent(rng, m):
    return filled(rng, m, rng.normal(50, 20, (POOL, m)), np.full(POOL, m))


def equal(rng, m):
    values = np.repeat(rng.uniform(0, TOP, (POOL, 1)), m, axis=1)
    return filled(rng, m, values, np.full(POOL, m))


def alike(rng, m):
    return filled(rng, m, 50 + _pair(m, rng.normal, 0.3) * 20)


def clipped(rng, m):
    return filled(rng, m, 80 + _pair(m, rng.normal, 0.3) * 30)


def skewed(rng, m):
    one, each = rng.exponential(4, (POOL, 1)), rng.exponential(4, (POOL, m))
    return filled(rng, m, one * each)


def larger(rng, m):
    level = rng.uniform(0, 1, (POOL, 1))
    return filled(rng, m, TOP * level + np.zeros(m), 1 + rng.binomial(m - 1, level[:, 0]))


def shares(rng, m):
    chance = rng.beta(0.2, 1.8, (POOL, 1))
    return filled(rng, m, TOP * (rng.uniform(size=(POOL, m)) < chance))


def rare(rng, m):
    values = np.repeat(TOP * (rng.uniform(size=(POOL, 1)) < 0.01), m, axis=1)
    return filled(rng, m, values, np.full(POOL, m))


def _pair(m, law, shared):
    return np.sqrt(shared) * law(size=(POOL, 1)) + np.sqrt(1 - shared) * law(size=(POOL, m))


POOLS: dict[str, Callable] = {
    "independent rows": independent,
    "equal rows": equal,
    "rows alike (0.3)": alike,
    "clipped": clipped,
    "skewed": skewed,
    "size goes with value": larger,
    "0 or 1 by unit": shares,
    "1 in a hundred units": rare,
}


@cache
def pool_of(name, m):
    return POOLS[name](np.random.default_rng(sum(map(ord, name))), m)


@cache
def integers_of(part):
    """What a row of each value adds: the statement's own integers."""
    every = np.arange(TOP + 1)
    table = open_table(
        pa.table({"x": every, "g": every}),
        unit=Rows(),
        bounds={"x": Bounds(0, TOP, grid=1)},
        name="one row a value",
    )
    statistic = PARTS[part](table.measured("x"))
    asked = table.aggregate(statistic, Keys({"g": every.tolist()}))
    return statistic, asked.compute().reshape(TOP + 1, -1), asked.sensitivity


def drawn(pool, units, part, runs, seed, *, poisson=False):
    """Exact integers of `runs` samples, shape (runs, d)."""
    rng = np.random.default_rng(seed)
    each = pool.sums(integers_of(part)[1])
    sizes = rng.poisson(units, runs) if poisson else np.full(runs, units)
    return np.array([each[rng.integers(0, POOL, size)].sum(axis=0) for size in sizes])


def read(part, exact, m, mu, seed, unit_rows=None):
    statistic, _, one = integers_of(part)
    unit = Entity("patient", max_rows=m).limits((), 1)
    noise = ny.Gaussian.calibrate(one.of_many(unit.rows, 1, unit.total), mu=mu)
    noisy = noise.add_noise(exact.reshape(-1), SeededBits(seed))
    reading = statistic.reading(unit_rows=m if unit_rows is None else unit_rows)
    return reading.columns(noisy, noise, LEVEL)


def truths(pool, units):
    rows = pool.rows.astype(np.float64)
    return {
        "mean": rows.mean(),
        "variance": rows.var(),
        "count": units * len(rows) / POOL,
        "sum": units * rows.sum() / POOL,
    }


def held(columns, truth, prefix=""):
    low, high = (np.array(columns[f"{prefix}total_{end}"]) for end in ("lower", "upper"))
    width = np.median(high - low) / 2
    return float(np.mean((low <= truth) & (truth <= high))), float(width)


def measured(name, m, units, mu, runs=RUNS, unit_rows=None, only=None):
    """Return how often each total interval holds, and its median half-width."""
    pool, found, seed = pool_of(name, m), {}, m + units
    exactly = truths(pool, units)
    for part in PARTS if only is None else only:
        exact = drawn(pool, units, part, runs, seed, poisson=part in ("count", "sum"))
        columns = read(part, exact, m, mu, seed, unit_rows)
        found[part] = held(columns, exactly[part])
        if part == "variance":
            found["mean, variance known"] = held(columns, exactly["mean"], "mean_")
    return found


def quantiles_held(name, m, units, mu, runs=RUNS, unit_rows=None):
    pool, rng = pool_of(name, m), np.random.default_rng(m)
    basis = StepBasis(Fraction(0), Fraction(TOP), Fraction(1))
    places = np.where(pool.values < 0, TOP + 1, pool.values)
    counts = np.array(
        [
            np.bincount(places[rng.integers(0, POOL, units)].ravel(), minlength=TOP + 2)
            for _ in range(runs)
        ]
    )[:, : TOP + 1]
    noise = ny.Gaussian.calibrate(basis.sensitivity("add_remove").of_many(m), mu=mu)
    noisy = noise.add_noise(basis.sums(counts).reshape(-1), SeededBits(m))
    reading = QuantileReading(basis, SHARES, m if unit_rows is None else unit_rows)
    columns = reading.columns(noisy, noise, LEVEL)
    rows = np.sort(pool.rows)
    found = {}
    for place, share in enumerate(SHARES):
        truth = rows[int(np.ceil(share * len(rows))) - 1]
        own = {key: column[place :: len(SHARES)] for key, column in columns.items()}
        found[f"quantile {float(share):g}"] = held(own, truth)
    return found


@pytest.mark.shows("total-interval")
@pytest.mark.parametrize(
    ("part", "name"),
    [
        ("mean", "1 in a hundred units"),
        ("variance", "equal rows"),
        ("count", "equal rows"),
        ("sum", "equal rows"),
    ],
)
def test_total_intervals_hold_where_the_rows_of_a_unit_are_equal(part, name):
    found = measured(name, 5, 200, 8, runs=300, only=[part])
    assert min(rate for rate, _ in found.values()) > LEVEL - SLACK
    # The broken twin takes the rows for independent.
    twin = measured(name, 5, 200, 8, runs=300, only=[part], unit_rows=1)
    spread = "mean, variance known" if part == "variance" else part
    assert twin[spread][0] < 0.9


def test_total_intervals_of_quantiles_hold_where_the_rows_of_a_unit_are_equal():
    found = quantiles_held("equal rows", 5, 200, 8, runs=150)
    assert min(rate for rate, _ in found.values()) > LEVEL - SLACK
    twin = quantiles_held("equal rows", 5, 200, 8, runs=150, unit_rows=1)
    assert max(rate for rate, _ in twin.values()) < 0.9


@pytest.mark.parametrize("name", ["0 or 1 by unit", "1 in a hundred units"])
def test_a_share_has_an_interval_that_holds_with_little_noise(name):
    for rate, _ in measured(name, 1, 200, 8, only=["mean", "variance"]).values():
        assert rate > LEVEL - SLACK


@pytest.mark.soak
@pytest.mark.parametrize("mu", [1, 8])
@pytest.mark.parametrize("units", [200, 2000])
@pytest.mark.parametrize("m", [1, 5, 20])
@pytest.mark.parametrize("name", POOLS)
def test_every_total_interval_holds(name, m, units, mu):
    found = measured(name, m, units, mu) | quantiles_held(name, m, units, mu)
    low = {part: rate for part, (rate, _) in found.items() if rate < LEVEL - SLACK}
    assert not low


def main():
    """Print coverage in percent at 200 | 2,000 units, the least of little and of usual noise."""
    head = None
    for name in POOLS:
        for m in (1, 5, 20):
            cells = {}
            for units in (200, 2000):
                for mu in (1, 8):
                    found = measured(name, m, units, mu) | quantiles_held(name, m, units, mu)
                    for part, (rate, _) in found.items():
                        cells.setdefault(part, {}).setdefault(units, []).append(rate)
            if head is None:
                head = list(cells)
                print("| rows of a unit | m |", " | ".join(head), "|")
                print("|---" * (2 + len(head)) + "|")
            shown = [
                " ".join(f"{100 * min(rates):.1f}" for rates in cells[part].values())
                for part in head
            ]
            print(f"| {name} | {m} |", " | ".join(shown), "|", flush=True)


if __name__ == "__main__":
    main()
