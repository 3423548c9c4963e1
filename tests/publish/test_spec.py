"""The spec: what is read, and what every mistake is told."""

import random
import tomllib
from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neyman import approx_dp, gdp, pure_dp
from neyman.errors import SpecError
from neyman.publish import read_spec

GOOD = """
[data]
path = "t.parquet"
[unit]
entity = "who"
max_rows = 6
[columns.x]
lower = 0
upper = 10
grid = 0.1
[keys.wards]
ward = ["north", "south"]
[budget]
ledger = "t.ledger"
mu = 1
[[query]]
entry = "a"
statistic = "count"
by = "wards"
mu = 0.1
[[query]]
entry = "b"
statistic = "mean"
column = "x"
epsilon = 0.5
"""


def read(tmp_path, text):
    path = tmp_path / "spec.toml"
    path.write_text(text, encoding="utf-8")
    return read_spec(path)


def test_a_good_spec_is_read_with_exact_decimals(tmp_path):
    spec = read(tmp_path, GOOD)
    assert spec.budget.build() == gdp(1)
    assert spec.columns["x"].grid == Decimal("0.1")
    assert spec.query[0].mu == Decimal("0.1")
    assert spec.unit.entity == "who"


@pytest.mark.shows("approximate")
@pytest.mark.parametrize(
    ("cap", "curve"),
    [
        ("mu = 0.5", gdp(0.5)),
        ("epsilon = 1", pure_dp(1)),
        ("epsilon = 1\ndelta = 1e-6", approx_dp(1, Decimal("1e-6"))),
    ],
)
def test_the_three_caps(tmp_path, cap, curve):
    assert read(tmp_path, GOOD.replace("mu = 1\n", cap + "\n", 1)).budget.build() == curve


@pytest.mark.shows("errors")
@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('path = "t.parquet"', "path = 3", "data.path: "),
        ('path = "t.parquet"', "", "data.path: is missing"),
        ("max_rows = 6", "max_rows = 0", "unit.max_rows: "),
        ("max_rows = 6", "", "an entity needs max_rows, the most rows of one of them"),
        ("max_rows = 6", "max_row = 6", "unit.max_row: no such key; write max_rows"),
        (
            "max_rows = 6",
            "max_groups = 2\nmax_rows_per_group = 3",
            "only a part of the rows of one who",
        ),
        ("max_rows = 6", "max_rows = 6\nmax_groups = 2", "unit: max_groups and max_rows_per_group"),
        (
            "max_rows = 6",
            "max_rows = 6\nmax_rows_per_group = 3",
            "that you name: max_rows = 5 and max_rows_per = { year = 1 }, if one who has at most 1",
        ),
        ('by = "wards"', 'by = "wards"\nmax_groups = 2', "query 'a': max_groups is no limit of a"),
        ("[columns.x]", "max_rows_per = 1\n[columns.x]", "unit.max_rows_per: it should be a table"),
        ("[columns.x]", "[unit.max_rows_per]\nyear = 0\n[columns.x]", "unit.max_rows_per.year: it"),
        (
            "[columns.x]",
            "[[unit.max_rows_per]]\ncolumns = []\nrows = 1\n[columns.x]",
            "unit.max_rows_per[0].columns: it should be a list that is not empty",
        ),
        (
            "[columns.x]",
            '[[unit.max_rows_per]]\ncolumn = "ward"\nrows = 1\n[columns.x]',
            "unit.max_rows_per[0].column: no such key; a limit of a grouping needs columns",
        ),
        (
            "[columns.x]",
            '[[unit.max_rows_per]]\ncolumns = ["ward"]\n[columns.x]',
            'rows: is missing; a limit of a grouping needs columns, such as ["year", "ward"]',
        ),
        (
            "[columns.x]",
            '[[unit.max_rows_per]]\ncolumns = ["a", "b"]\nrows = 1\n'
            '[[unit.max_rows_per]]\ncolumns = ["b", "a"]\n'
            "rows = 2\n[columns.x]",
            "unit: max_rows_per has one grouping twice",
        ),
        ('entity = "who"', "", "give rows = true, or entity"),
        ('entity = "who"', 'entity = "who"\nrows = true', "one of the two"),
        ("upper = 10", 'upper = "10"', "columns.x.upper: it should be a number; found '10'"),
        ("upper = 10", "upper = inf", "columns.x.upper: "),
        ("grid = 0.1", "grid = 0", "columns.x.grid: "),
        ("mu = 1\n", "mu = nan\n", "budget.mu: "),
        ("mu = 1\n", "mu = -1\n", "budget.mu: "),
        ("mu = 1\n", "mu = true\n", "budget.mu: "),
        ("mu = 1\n", "mu = 1\nepsilon = 1\n", "give one of the three"),
        ("mu = 1\n", "mu = 1\ndelta = 1e-6\n", "delta goes with epsilon"),
        ("mu = 1\n", "", "give one of the three"),
        ("mu = 1\n", "epsilon = 1\ndelta = 2\n", "budget.delta: "),
        ('statistic = "count"', 'statistic = "median"', "query 'a'.statistic: "),
        ('by = "wards"', 'by = "ward"', "write [keys.ward]"),
        ('column = "x"', 'column = "y"', "write [columns.y]"),
        ('column = "x"', "", "query 'b'.column: is missing; a mean needs a column"),
        (
            'statistic = "count"',
            'statistic = "counts"',
            "query 'a'.statistic: no such statistic 'counts'; write count",
        ),
        (
            'statistic = "count"',
            'statistic = "median"',
            "query 'a'.statistic: no such statistic 'median'; write quantiles, with probabilities "
            "= [0.5]",
        ),
        (
            'statistic = "count"',
            'statistic = "histogram"',
            "'histogram'; write count, with by = the NAME of [keys.NAME] that cuts a column in "
            "bins",
        ),
        ('statistic = "count"', "", "query 'a'.statistic: is missing; write one of count, "),
        ('statistic = "count"', "statistic = 3", "query 'a'.statistic: no such statistic '3'"),
        (
            'statistic = "count"',
            'statistic = "count"\nhorizon = 1',
            "query 'a'.horizon: no such key; a count takes",
        ),
        ('by = "wards"', "by = 3", "query 'a'.by: it should be text; found 3"),
        (
            'entry = "a"',
            'entry = "a"\nbatch = "b"',
            "batch 'b' of query 'a' is the entry of another",
        ),
        ("mu = 0.1", "mu = 0.1\nepsilon = 1", "one of them"),
        ("mu = 0.1", "", "give mu for Gaussian noise, epsilon"),
        ('entry = "b"', 'entry = "a"', "is used twice"),
        ('ward = ["north", "south"]', "ward = [1.5]", "keys.wards.ward[0]: "),
        ("[data]", "[data", "cannot be used"),
    ],
)
def test_every_mistake_is_told_by_its_key_and_its_fix(tmp_path, old, new, said):
    assert old in GOOD
    with pytest.raises(SpecError) as caught:
        read(tmp_path, GOOD.replace(old, new, 1))
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("mu = 1\n", "epsilon = 1\ndelta = 0.5\n", "budget.delta"),
        ("mu = 1\n", "mu = 1\ndelta_aside = 0.01\n", "budget.delta_aside"),
        ("mu = 0.1\n", "mu = 0.1\ndelta = 5\n", "query 'a'.delta"),
    ],
)
def test_a_delta_in_other_units_is_refused(tmp_path, old, new, place):
    with pytest.raises(SpecError) as caught:
        read(tmp_path, GOOD.replace(old, new, 1))
    found = new.split()[-1]
    assert (
        f"{place}: delta must be below 0.01; got {found}. A delta this large permits publishing "
        "one record in a hundred in full. Write a number far below 1 in the number of those "
        "protected, such as 1e-6"
    ) in str(caught.value)


def test_all_mistakes_are_told_at_once(tmp_path):
    broken = GOOD.replace("max_rows = 6", "max_rows = 0").replace("upper = 10", 'upper = "a"')
    with pytest.raises(SpecError, match="2 problems") as caught:
        read(tmp_path, broken)
    assert "unit.max_rows" in str(caught.value)
    assert "columns.x.upper" in str(caught.value)


def test_what_does_not_go_together_is_told_at_once_too(tmp_path):
    broken = GOOD.replace("grid = 0.1", "grid = 7").replace('by = "wards"', 'by = "hst"')
    broken = broken.replace('column = "x"', 'column = "xx"')
    with pytest.raises(SpecError, match="3 problems") as caught:
        read(tmp_path, broken)
    said = str(caught.value)
    assert "columns.x: upper=10 is not a multiple of grid=7" in said
    assert "query 'a': by must name groups of the spec" in said
    assert "query 'b' needs bounds of 'xx'; write 'x', or [columns.xx]" in said
    near = GOOD.replace("columns.x", "columns.arr_delay").replace('"x"', '"arr_dely"')
    with pytest.raises(SpecError, match=r"of 'arr_dely'; write 'arr_delay', or \[columns"):
        read(tmp_path, near)


def test_a_missing_file_or_a_folder_is_refused(tmp_path):
    for path in (tmp_path / "none.toml", tmp_path):
        with pytest.raises(SpecError, match="cannot be used"):
            read_spec(path)


def test_a_byte_order_mark_is_no_mistake(tmp_path):
    path = tmp_path / "spec.toml"
    path.write_bytes(b"\xef\xbb\xbf" + GOOD.encode())
    assert read_spec(path).title == "Private statistics"


def test_keys_may_be_dates(tmp_path):
    spec = read(tmp_path, GOOD.replace('ward = ["north", "south"]', "ward = [2013-01-02]"))
    assert spec.keys["wards"]["ward"] == [date(2013, 1, 2)]


def test_bytes_that_are_no_text_are_refused(tmp_path):
    path = tmp_path / "spec.toml"
    path.write_bytes(b"\xff\xfe\x00[data]")
    with pytest.raises(SpecError):
        read_spec(path)


@given(st.integers(0, 2**32))
def test_mangled_specs_are_read_or_refused_and_nothing_else(tmp_path_factory, seed):
    chance = random.Random(seed)
    lines = GOOD.splitlines()
    for _ in range(chance.randint(1, 4)):
        i = chance.randrange(len(lines))
        kind = chance.randrange(4)
        if kind == 0:
            del lines[i]
        elif kind == 1:
            lines.insert(i, lines[chance.randrange(len(lines))])
        elif kind == 2:
            key = lines[i].split("=")[0]
            value = chance.choice(['"x"', "1", "-1", "[]", "{}", "nan", "1e999", "true", "0.5"])
            lines[i] = f"{key}= {value}"
        else:
            at = chance.randrange(len(lines[i]) + 1)
            lines[i] = lines[i][:at] + chance.choice('"[]{}=.\x00é') + lines[i][at:]
        if not lines:
            break
    path = tmp_path_factory.mktemp("spec") / "s.toml"
    path.write_text("\n".join(lines), encoding="utf-8")
    try:
        read_spec(path)
    except SpecError as error:
        assert str(error)  # noqa: PT017


def test_the_demo_and_the_docs_hold_good_specs(tmp_path):
    from pathlib import Path

    root = Path(__file__).parents[2]
    assert len(read_spec(root / "examples/flights/flights.toml").query) == 5
    pages = [root / f"docs/howto/{name}.md" for name in ("publish", "table_functions", "noise")]
    texts = [page.read_text(encoding="utf-8") for page in pages]
    block, *more = (part.split("```")[0] for text in texts for part in text.split("```toml\n")[1:])
    assert tomllib.loads(block)
    assert len(read(tmp_path, block).query) == 2
    spec = read(tmp_path, block + "".join(more))
    asked = ["count", "mean", "density", "density", "survival", "count"]
    assert [query.statistic for query in spec.query] == asked
    assert spec.query[5].noise == "staircase"
