"""What limits and bounds did, and what a unit adds once, are the same on every engine."""

import math
from random import Random

import pyarrow as pa
import pytest

from neyman import publish
from neyman.functional import Interval
from neyman.tables import Bounds, Entity, Keys, Rows, UnknownKeys, open_table

UNIT = Entity("who", max_rows=3, max_rows_per={"ward": 2})
BOUNDS = {"x": Bounds(-2, 1, grid=0.25)}
KEYS = Keys({"ward": [2, 0, 5]})


def rows(height):
    draw = Random(height)
    values = [None, math.nan, math.inf, -math.inf, 1e308, -9.0, -0.125, -0.375, 0.0, 1.0, 1.25]
    return pa.table(
        {
            "who": pa.array(
                [draw.choice(["u", "u", "u", "v", "w", "ü'", None]) for _ in range(height)],
                pa.string(),
            ),
            "ward": pa.array([draw.choice([0, 2, 2, 7, None]) for _ in range(height)], pa.int64()),
            "x": pa.array([draw.choice(values) for _ in range(height)], pa.float64()),
        }
    )


QUESTIONS = {
    "found": lambda t: t.mean("x", UnknownKeys("ward")),
    "mean": lambda t: t.mean("x", KEYS),
    "units": lambda t: t.count_units(),
    "mean_per_unit": lambda t: t.mean_per_unit("x", KEYS),
    "sum_per_unit": lambda t: t.sum_per_unit("x", KEYS, lower=-3, upper=0.5),
    "density": lambda t: publish.density(
        t, "x", domain=Interval(-1, 1, outside="clip"), bandwidth=0.2, by=KEYS
    ),
}
# Groups that are found, one number of each unit, and its functions; the others in the long trials.
ON_SPARK = {"found", "sum_per_unit", "density"}


def opened(given, unit=UNIT):
    return open_table(**given, unit=unit, bounds=BOUNDS)


def answered(question):
    """Return the question's own integers, those of the companion's statement, and the four."""
    found, beside = question.companion.compute()
    if question.unknown is None:
        return question.compute().tolist(), found.tolist(), beside.tolist()
    own, found = (
        dict(zip(groups.keys, groups.integers.tolist(), strict=True))
        for groups in (question.unknown.find(), found)
    )
    return own, found, beside.tolist()


@pytest.mark.parametrize(
    ("store", "name"),
    [
        pytest.param(engine, name, marks=marks)
        for engine in ("duckdb", "postgres", "spark")
        for name in QUESTIONS
        for marks in [() if engine != "spark" or name in ON_SPARK else pytest.mark.soak]
    ],
    indirect=["store"],
)
def test_companions_and_what_they_are_beside(store, name):
    here = QUESTIONS[name](opened({"source": rows(60), "name": "t"}))
    there = QUESTIONS[name](opened(store.fill(rows(60))))
    own, again, beside = answered(there)
    assert own == again
    assert (own, again, beside) == answered(here)
    assert any(beside)


def test_a_companion_of_no_rows(store):
    own, again, beside = answered(QUESTIONS["mean_per_unit"](opened(store.fill(rows(0)))))
    assert own == again
    assert beside == [0, 0, 0, 0]


def test_statistics_per_unit_where_each_row_is_one(store):
    table = opened(store.fill(rows(60)), Rows())
    here = opened({"source": rows(60), "name": "t"}, Rows())
    for name in ("mean_per_unit", "sum_per_unit"):
        assert QUESTIONS[name](table).compute().tolist() == QUESTIONS[name](here).compute().tolist()


def test_totals_of_units_as_large_as_can_be_declared(store):
    """Of the most steps of a grid that bounds may have."""
    large = Bounds(-(2**50), 2**50, grid=1)
    data = pa.table(
        {
            "who": ["u"] * 12 + ["v"] * 12,
            "ward": pa.array([2] * 24, pa.int64()),
            "x": [2.0**50] * 12 + [-(2.0**50)] * 12,
        }
    )

    def found(given):
        table = open_table(**given, unit=UNIT, bounds={"x": large}, max_table_rows=4)
        asked = [
            table.mean_per_unit("x"),
            table.sum_per_unit("x", lower=-(2**50), upper=2**49),
        ]
        return [(own, beside) for own, again, beside in map(answered, asked) if own == again]

    here = found({"source": data, "name": "t"})
    assert here == [([2**51, 0], [2048, 0, 0, 0]), ([2**49 - 2**50], [2048, 0, 0, 2048])]
    assert found(store.fill(data)) == here
