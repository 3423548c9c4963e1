"""Statistics that a unit adds to once in a group, against plain Python, and of neighbours."""

import math
from collections import defaultdict
from random import Random

import pyarrow as pa
import pytest

from neyman.errors import InvalidParameter, InvalidTable
from neyman.tables import (
    Bounds,
    Count,
    CountUnits,
    Entity,
    Keys,
    MeanPerUnit,
    Rows,
    SumPerUnit,
    Together,
    UnknownKeys,
    open_table,
)

COLUMNS = ("u VARCHAR", "g VARCHAR", "x DOUBLE")
KEYS = Keys({"g": ["a", "b", "c"]})
ALL = [Bounds(-3, 2, grid=0.5), Bounds(-9, -4, grid=0.25), Bounds(0, 5, grid=1), Bounds(3, 8, 0.1)]


def panel(draw, height=60):
    values = [None, math.nan, -math.inf, 20.0]
    return [
        (
            draw.choice(["v", "w", "q", "long", "long", None]),
            draw.choice("aaabcd"),
            draw.choice(values) if draw.random() < 0.2 else draw.uniform(-10, 9),
        )
        for _ in range(height)
    ]


def opened(fill, rows, unit, bounds):
    source = fill("per_unit", COLUMNS, rows)
    return open_table(source, unit=unit, bounds={"x": bounds}, name="t")


def step(value, bounds):
    low, high, grid = float(bounds.lower), float(bounds.upper), float(bounds.grid)
    return math.floor(min(max(value, low), high) / grid + 0.5)


def of_units(rows, bounds, keyed):
    """Return the grid integers of each unit in each group."""
    found = defaultdict(list)
    for unit, group, value in rows:
        if unit is None or value is None or math.isnan(value) or (keyed and group == "d"):
            continue
        found[group if keyed else "", unit].append(step(value, bounds))
    return found


def answer(adds, keyed, width):
    """Sum what each unit adds to a group."""
    total = {group: [0] * width for group in ("abc" if keyed else [""])}
    for (group, _), parts in adds.items():
        total[group] = [a + b for a, b in zip(total[group], parts, strict=True)]
    return [part for parts in total.values() for part in parts]


def mean_of(steps, bounds):
    """What a unit with these grid integers adds: half steps are rounded up."""
    low, high = bounds.steps
    centre = (low + high) // 2
    weight = max(high - centre, centre - low)
    return weight, math.floor((2 * sum(steps) + len(steps)) / (2 * len(steps))) - centre


@pytest.mark.shows("per-unit")
@pytest.mark.parametrize("bounds", ALL, ids=str)
@pytest.mark.parametrize("keyed", [True, False])
def test_a_mean_per_unit_is_the_sum_of_rounded_means(fill, bounds, keyed):
    for seed in range(2):
        rows = panel(Random(seed))
        table = opened(fill, rows, Entity("u", max_rows=5), bounds)
        adds = {
            place: mean_of(steps, bounds) for place, steps in of_units(rows, bounds, keyed).items()
        }
        found = table.mean_per_unit("x", KEYS if keyed else None).compute().tolist()
        assert found == answer(adds, keyed, 2)


@pytest.mark.shows("per-unit")
@pytest.mark.parametrize("bounds", ALL, ids=str)
@pytest.mark.parametrize("keyed", [True, False])
def test_a_sum_per_unit_is_the_sum_of_clamped_totals(fill, bounds, keyed):
    grid = bounds.grid
    for seed in range(2):
        rows = panel(Random(seed))
        table = opened(fill, rows, Entity("u", max_rows=5), bounds)
        low, high = -6, 7
        adds = {
            place: [min(max(sum(steps), low), high)]
            for place, steps in of_units(rows, bounds, keyed).items()
        }
        asked = table.sum_per_unit(
            "x", KEYS if keyed else None, lower=low * grid, upper=high * grid
        )
        assert asked.compute().tolist() == answer(adds, keyed, 1)


def test_a_half_step_is_rounded_up_below_zero_too(fill):
    bounds = Bounds(-4, 0, grid=1)
    for values, mean in {(-3.0, -2.0): -2, (-1.0, 0.0): 0, (-3.0, -3.0, -2.0): -3}.items():
        rows = [("v", "a", value) for value in values]
        found = opened(fill, rows, Entity("u", max_rows=1), bounds).mean_per_unit("x").compute()
        assert found.tolist() == [2, mean + 2]


def test_of_each_unit_as_many_groups_count_as_it_may_fill(fill):
    bounds = Bounds(0, 4, grid=1)
    rows = [(f"u{i}", g, 3.0) for i in range(30) for g in "abc" for _ in range(4)]
    table = opened(fill, rows, Entity("u", max_rows=2), bounds)
    assert table.count_units(KEYS).compute().sum() == 60
    assert table.mean_per_unit("x", KEYS).compute().reshape(3, 2).sum(0).tolist() == [120, 60]
    assert table.sum_per_unit("x", KEYS, lower=0, upper=12).compute().sum() == 60 * 12
    found = table.mean_per_unit("x", UnknownKeys("g")).unknown.find()
    assert sorted(found.keys) == [("a",), ("b",), ("c",)]
    assert found.integers.sum(0).tolist() == [120, 60]


def test_no_row_is_cut_however_many_a_unit_has(fill):
    bounds = Bounds(0, 4, grid=1)
    rows = [("v", "a", 4.0)] * 50 + [("v", "a", 0.0)] * 50
    table = opened(fill, rows, Entity("u", max_rows=1), bounds)
    assert table.mean_per_unit("x").compute().tolist() == [2, 0]
    assert table.sum_per_unit("x", lower=0, upper=300).compute().tolist() == [200]


STATISTICS = {
    "mean": lambda table, by: table.mean_per_unit("x", by),
    "sum": lambda table, by: table.sum_per_unit("x", by, lower=-2, upper=9),
    "units": lambda table, by: table.count_units(by),
}


@pytest.mark.shows("per-unit")
@pytest.mark.parametrize("name", STATISTICS)
@pytest.mark.parametrize(
    "unit", [Rows(), Entity("u", max_rows=1), Entity("u", max_rows=2)], ids=str
)
def test_removing_a_unit_moves_the_sums_by_no_more_than_is_declared(fill, name, unit):
    rows = panel(Random(name), 40)
    for by in (KEYS, None):
        asked = STATISTICS[name](opened(fill, rows, unit, ALL[0]), by)
        whole = asked.compute()
        gone = range(2) if unit.entity is None else ["v", "long"]
        for one in gone:
            if unit.entity is None:
                left = [row for i, row in enumerate(rows) if i != one]
            else:
                left = [row for row in rows if row[0] != one]
            fill("per_unit", COLUMNS, left)
            moves = (whole - asked.compute()).tolist()
            assert sum(map(abs, moves)) <= asked.sensitivity.l1
            assert sum(move**2 for move in moves) <= asked.sensitivity.l2_squared
            assert max(map(abs, moves)) <= asked.sensitivity.largest
            assert sum(move != 0 for move in moves) <= asked.sensitivity.coordinates


@pytest.mark.parametrize("name", STATISTICS)
@pytest.mark.parametrize("most", [1, 2, 3, 9])
def test_a_worst_unit_attains_what_is_declared(fill, name, most):
    unit = Entity("u", max_rows=most, max_rows_per={"g": 7})
    rows = [("v", g, 20.0) for g in "abc" for _ in range(6)]
    asked = STATISTICS[name](opened(fill, rows, unit, Bounds(-2, 2, grid=1)), KEYS)
    moves = asked.compute().tolist()
    assert sum(map(abs, moves)) == asked.sensitivity.l1
    assert sum(move**2 for move in moves) == asked.sensitivity.l2_squared
    assert max(map(abs, moves)) == asked.sensitivity.largest
    assert sum(move != 0 for move in moves) == asked.sensitivity.coordinates


def test_the_sensitivity_depends_on_no_claim_about_rows(fill):
    plain, told = (
        opened(fill, [], Entity("u", max_rows=3, max_rows_per=per), ALL[2])
        for per in ({}, {"g": 2})
    )
    for asked in STATISTICS.values():
        assert asked(plain, KEYS).sensitivity == asked(told, KEYS).sensitivity


def test_totals_are_bounded_on_the_grid_of_their_column(fill):
    table = opened(fill, [], Entity("u", max_rows=1), Bounds(0, 4, grid=1))
    measured = table.measured("x")
    with pytest.raises(InvalidTable, match="grid of its column"):
        SumPerUnit(measured, Bounds(0, 4, grid=0.5))
    with pytest.raises(InvalidParameter, match="total"):
        SumPerUnit(measured, (0, 4))
    with pytest.raises(InvalidParameter, match="column"):
        MeanPerUnit("x")


def test_they_are_not_put_together_with_statistics_of_rows(fill):
    table = opened(fill, [], Entity("u", max_rows=1), Bounds(0, 4, grid=1))
    measured = table.measured("x")
    for part in (CountUnits(), MeanPerUnit(measured), SumPerUnit(measured, Bounds(0, 9, grid=1))):
        with pytest.raises(InvalidParameter, match="a unit adds once to it; ask it by itself"):
            Together((Count(), part))


def test_a_mean_of_units_and_one_of_rows_differ_where_units_do():
    rows = pa.table({"u": ["v"] * 9 + ["w"], "x": [4.0] * 9 + [0.0]})
    table = open_table(
        rows, unit=Entity("u", max_rows=10), bounds={"x": Bounds(0, 4, grid=1)}, name="t"
    )
    assert table.mean_per_unit("x").compute().tolist() == [4, 0]
    assert table.mean("x").compute().tolist() == [20, 16]
