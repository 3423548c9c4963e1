"""All mistakes of a spec are told in one run, also those behind other mistakes."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from neyman.errors import InvalidTable, SpecError, UnknownColumn
from neyman.publish import plan, read_spec

HEAD = """
[data]
path = "visits.parquet"
[unit]
entity = "who"
max_rows = 5
[columns.minutes]
lower = 0
upper = 100
grid = 1
[keys.wards]
ward = ["north"]
[budget]
ledger = "l"
mu = 1
"""


def query(entry, statistic, *lines):
    return "\n".join(
        ["[[query]]", f'entry = "{entry}"', f'statistic = "{statistic}"', "mu = 0.1", *lines, ""]
    )


def said_of(folder, text):
    (folder / "s.toml").write_text(text, encoding="utf-8")
    with pytest.raises(SpecError) as caught:
        read_spec(folder / "s.toml")
    first, *lines = str(caught.value).splitlines()
    assert first.endswith(f": {len(lines)} problem{'s' * (len(lines) != 1)}")
    assert len(set(lines)) == len(lines)
    return [line.strip() for line in lines]


def test_a_misspelt_statistic_hides_no_other_mistake(tmp_path):
    spec = HEAD.replace("max_rows", "max_row").replace("grid = 1", "grd = 1")
    spec += query("a", "maen", 'colum = "minuts"')
    spec += query("b", "count", 'by = "ward"')
    spec += query("c", "mean")
    spec += query("d", "several", 'parts = [{ statistic = "vriance", colum = "minutes" }]')
    lines = said_of(tmp_path, spec)
    for place in (
        "unit.max_row: no such key; write max_rows",
        "columns.minutes.grd: no such key; write grid",
        "query 'a'.statistic: no such statistic 'maen'; write mean",
        "query 'a'.colum: no such key; write column",
        "spec: query 'a' needs bounds of 'minuts'; write 'minutes', or",
        "spec: query 'b': by must name groups of the spec, which are wards; got 'ward'",
        "query 'c'.column: is missing",
        "query 'd'.parts[0].statistic: no such statistic 'vriance'; write variance",
        "query 'd'.parts[0].colum: no such key; write column",
    ):
        assert any(line.startswith(place) for line in lines), (place, lines)
    assert len(lines) == 9


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("mu = 1\n", 'mu = "one"\n', "budget.mu"),
        ("lower = 0", 'lower = "zero"', "columns.minutes.lower"),
        ('entity = "who"', "entity = 3", "unit.entity"),
        ('ward = ["north"]', 'ward = "north"', "keys.wards.ward"),
        ('path = "visits.parquet"', "path = 1", "data.path"),
    ],
)
def test_a_wrong_section_hides_no_query_and_is_no_cause_of_another_mistake(
    tmp_path, old, new, place
):
    right = query("a", "mean", 'column = "minutes"', 'by = "wards"')
    spec = HEAD.replace(old, new, 1) + right + query("b", "count", 'by = "none"')
    lines = said_of(tmp_path, spec)
    assert len(lines) == 2, lines
    assert lines[0].startswith(place)
    assert lines[1].startswith("spec: query 'b': by must name groups of the spec, which are ")


def test_mistakes_of_the_table_are_told_together(tmp_path):
    rows = pa.table({"who": ["a"], "ward": ["north"], "minutes": [1.0]})
    pq.write_table(rows, tmp_path / "visits.parquet")
    spec = HEAD.replace('ward = ["north"]', 'wad = ["north"]')
    spec += "[columns.hours]\nlower = 0\nupper = 1\ngrid = 1\n"
    spec += query("a", "mean", 'column = "hours"')
    spec += query("b", "count", 'by = "wards"')
    spec += query("c", "count")
    spec += query(
        "d",
        "density",
        'column = "x"',
        "domain = { lower = 0, upper = 1, outside = 'clip' }",
        "bandwidth = 0.1",
    )
    (tmp_path / "s.toml").write_text(spec, encoding="utf-8")
    with pytest.raises(InvalidTable) as caught:
        plan(read_spec(tmp_path / "s.toml"), tmp_path)
    said = str(caught.value.args[0])
    assert said.startswith("3 problems\n  columns: the table has no column 'hours'")
    assert "\n  query 'b', by = 'wards': the table has no column 'wad'; close to it" in said
    assert "\n  query 'd': the table has no column 'x'" in said
    assert "query 'a'" not in said
    (tmp_path / "s.toml").write_text(
        HEAD.replace("[columns.minutes]", "[columns.minute]") + query("c", "count")
    )
    with pytest.raises(UnknownColumn, match="close to it are 'minutes'"):
        plan(read_spec(tmp_path / "s.toml"), tmp_path)
