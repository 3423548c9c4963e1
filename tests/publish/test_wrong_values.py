"""A value of a wrong type in a spec is refused in the words of TOML, by its key and its fix."""

import re
import tomllib
from copy import deepcopy
from datetime import date, datetime, time
from decimal import Decimal

import pytest
from pydantic import ValidationError

from neyman.errors import SpecError
from neyman.publish import read_spec
from neyman.publish._mistakes import sentences
from neyman.publish._spec import Spec

# Every kind of value that a spec can hold.
GOOD = """
title = "t"
[data]
path = "t.parquet"
max_table_rows = 10
memory_limit = "1GB"
[unit]
entity = "who"
max_rows = 6
[unit.through]
on = { order = "id" }
to = "orders.parquet"
[join.visits]
path = "v.parquet"
on = ["who"]
how = "left"
columns = ["n"]
[derive]
late = "x > 15"
[columns.x]
lower = 0
upper = 10
grid = 0.1
[keys.wards]
ward = ["north", "south"]
on = [2024-01-01]
delay = { edges = [0, 15, 60.5], outside = "drop" }
month = { lower = 0, upper = 12, number = 12, outside = "clip" }
[unknown.towns]
columns = ["town"]
[budget]
ledger = "l"
mu = 1
delta_aside = 1e-6
[[query]]
statistic = "count"
entry = "a"
batch = "both"
mu = 0.1
by = "towns"
delta = 1e-8
[[query]]
statistic = "quantiles"
entry = "b"
column = "x"
probabilities = [0.5]
mu = 0.1
[[query]]
statistic = "several"
entry = "c"
parts = [{ statistic = "mean", column = "x" }]
shares = [1]
mu = 0.1
[[query]]
statistic = "crosstab"
entry = "d"
by = "wards"
margins = [["ward"]]
mu = 0.1
[[query]]
statistic = "density"
entry = "e"
column = "x"
domain = { lower = 0, upper = 1, outside = "clip" }
bandwidth = 0.1
mu = 0.1
"""
WRONG = (
    3,
    -3,
    Decimal("1.5"),
    Decimal("inf"),
    Decimal("nan"),
    "",
    "a",
    True,
    date(2024, 1, 1),
    datetime(2024, 1, 1, 12),
    time(12),
    [],
    [3],
    [[]],
    {},
    {"a": 3},
)
LEAKED = re.compile(r"[Ii]nput|[Vv]alid|instance|[Dd]ictionary|String|List|Value|Decimal\(|''\.")


def places(value, steps=()):
    """Yield the way to every value."""
    inside = value.items() if isinstance(value, dict) else ()
    for step, part in enumerate(value) if isinstance(value, list) else inside:
        yield (*steps, step)
        yield from places(part, (*steps, step))


def mistakes(fields):
    try:
        Spec.model_validate(fields)
    except ValidationError as error:
        return list(sentences(error.errors(include_url=False), fields, unfinished=False))
    return []


def test_no_wrong_value_anywhere_is_told_in_the_reader_s_own_words():
    good = tomllib.loads(GOOD, parse_float=Decimal)
    assert mistakes(good) == []
    told = 0
    for steps in places(good):
        for wrong in WRONG:
            fields = deepcopy(good)
            held = fields
            for step in steps[:-1]:
                held = held[step]
            held[steps[-1]] = wrong
            for line in mistakes(fields):
                told += 1
                assert not LEAKED.search(line), (steps, wrong, line)
                assert "it should be" not in line or "; found " in line, line
    assert told > 1000


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            'ward = ["north", "south"]',
            "ward = [1.5, 2]",
            "keys.wards.ward[0]: it should be text, a whole number, a date or a boolean; found "
            "1.5; write one of these, or for numbers bins, "
            '{ edges = [0, 1.5, 3], outside = "drop" }',
        ),
        (
            "probabilities = [0.5]",
            "probabilities = []",
            "query 'b'.probabilities: it should be a list that is not empty; found []; write one "
            "thing into it at least",
        ),
        (
            'entry = "b"',
            'entry = ""',
            "query number 2.entry: it should be text that is not empty; found ''; write a name",
        ),
        ('by = "towns"', "by = 3", "by: it should be text; found 3; write it in quotes"),
        ("max_rows = 6", "max_rows = 0", "it should be at least 1; found 0; write a larger"),
        ('how = "left"', 'how = "x"', "it should be 'inner' or 'left'; found 'x'; write it so"),
        ('on = ["who"]', "on = 3", "on: it should be text, a list or a table; found 3; write one"),
        ('on = ["who"]', "on = [3]", "1 problem\n  join.visits.on[0]: it should be text; found 3"),
    ],
)
def test_a_wrong_value_is_told_with_what_to_write(tmp_path, old, new, said):
    path = tmp_path / "spec.toml"
    assert old in GOOD
    path.write_text(GOOD.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(SpecError) as caught:
        read_spec(path)
    assert said in str(caught.value)
