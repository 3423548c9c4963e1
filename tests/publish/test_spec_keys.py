"""Key sets of a spec: lists of values, and bins."""

import datetime as dt

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from neyman.errors import InvalidTable, SpecError
from neyman.publish import plan, read_spec

SPEC = """
[data]
path = "t.parquet"
[unit]
entity = "who"
max_rows = 6
[keys.delay]
x = { edges = [0, 15, 60.5], outside = "clip" }
[keys.month]
day = { edges = [2024-01-01, 2024-02-01, 2024-03-01], outside = "drop" }
ward = ["north", "south"]
[keys.even]
x = { lower = 0, upper = 10, number = 5, outside = "drop" }
[budget]
ledger = "t.ledger"
mu = 1
[[query]]
entry = "a"
statistic = "count"
by = "delay"
mu = 0.1
[[query]]
entry = "b"
statistic = "count_units"
by = "month"
mu = 0.1
[[query]]
entry = "c"
statistic = "count"
by = "even"
mu = 0.1
"""


@pytest.fixture
def spec(tmp_path):
    rows = {
        "who": ["p", "p", "q", "r"],
        "x": [-5.0, 9.0, 15.0, 99.0],
        "day": [dt.date(2024, 1, 31), dt.date(2024, 1, 1), dt.date(2024, 2, 1), None],
        "ward": ["north", "north", "south", "south"],
    }
    pq.write_table(pa.table(rows), tmp_path / "t.parquet")
    (tmp_path / "s.toml").write_text(SPEC, encoding="utf-8")
    return tmp_path / "s.toml"


def test_bins_and_units_are_counted_as_in_python(spec):
    delay, month, even = (step.aggregate for step in plan(read_spec(spec), spec.parent).steps)
    assert delay.compute().tolist() == [2, 2]
    assert delay.keys == {"x_from": [0.0, 15.0], "x_to": [15.0, 60.5]}
    # p comes twice in January and counts once.
    assert month.compute().tolist() == [1, 0, 0, 1]
    # One of them may be in all four groups.
    assert month.sensitivity.l1 == month.sensitivity.l2_squared == 4
    assert even.compute().tolist() == [0, 0, 0, 0, 1]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("[0, 15, 60.5]", '[0, "a"]', r"keys.delay.x.edges\[1\]: it should be a number"),
        ("edges = [0,", "edgs = [0,", "keys.delay.x.edgs: no such key; write edges"),
        ("number = 5, ", "", "keys.even.x: give edges, a list of cut points; or lower, upper"),
        (', outside = "clip"', "", "keys.delay.x.outside: is missing"),
        ('ward = ["north", "south"]', "ward = 3", "keys.month.ward: it should be a list"),
        ('ward = ["north", "south"]', "ward = [1.5]", r"keys.month.ward\[0\]: "),
        ("[0, 15, 60.5]", "[15, 0]", "keys.delay: the edge 0 does not lie above 15"),
        ('ward = ["north", "south"]', 'ward = ["a", "a"]', "keys.month: 'a' appears twice"),
    ],
)
def test_mistakes_in_key_sets_are_told_by_their_place(spec, old, new, said):
    assert old in SPEC
    spec.write_text(SPEC.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(SpecError, match=said):
        plan(read_spec(spec), spec.parent)


REST = """
[keys.rest]
ward = { values = ["north"], missing = "not recorded", other = "all other wards" }
[keys.codes]
x = [1.0, 9.0]
[[query]]
entry = "d"
statistic = "count"
by = "rest"
mu = 0.1
[[query]]
entry = "e"
statistic = "count"
by = "codes"
mu = 0.1
"""


@pytest.mark.shows("rest")
def test_groups_of_the_rest_and_codes_are_those_of_python(spec):
    head, query = SPEC.split("[budget]")
    groups, asked = REST.split("[[query]]", 1)
    spec.write_text(f"{head}{groups}[budget]{query}[[query]]{asked}", encoding="utf-8")
    *_, rest, codes = (step.aggregate for step in plan(read_spec(spec), spec.parent).steps)
    assert rest.keys == {"ward": ["north", "not recorded", "all other wards"]}
    assert rest.compute().tolist() == [2, 0, 2]
    assert codes.keys == {"x": [1, 9]}
    assert codes.compute().tolist() == [0, 1]


@pytest.mark.parametrize(
    ("written", "says"),
    [
        ('{ other = "x" }', "values"),
        ('{ values = ["a"], other = "a" }', "two groups of column 'ward' are called 'a'"),
        ('{ values = ["a"], rest = "b" }', "rest: no such key"),
        ("[1.5]", "write one of these, or for numbers bins"),
        ("{ values = [], other = 'x' }", "values"),
    ],
)
def test_groups_of_the_rest_that_are_none(spec, written, says):
    text = SPEC.replace('ward = ["north", "south"]', f"ward = {written}")
    spec.write_text(text, encoding="utf-8")
    with pytest.raises((SpecError, InvalidTable), match=says):
        plan(read_spec(spec), spec.parent)
