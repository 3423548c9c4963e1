"""A spec rehearsed on public rows: what limits, bounds and noise do, counted by hand."""

import json
import shutil

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from neyman.cli import main
from neyman.errors import InvalidParameter, InvalidTable, UnknownColumn
from neyman.publish import NOTICE, read_spec, rehearse
from neyman.publish._queries import QUERIES
from neyman.report import rehearsal_html
from neyman.tables import Rows, open_table
from neyman.tables._engines._duckdb_engine import DuckDB

HEAD = """
title = "Visits <b>"
[data]
path = "own.parquet"
[unit]
entity = "who"
max_rows = {limit}
[columns.x]
lower = 0
upper = 10
grid = 1
[columns.y]
lower = 0
upper = 1
grid = 1
[keys.wards]
ward = ["n", "s"]
[budget]
ledger = "own.ledger"
mu = 5
"""
COUNT = '[[query]]\nentry = "visits"\nstatistic = "count"\nmu = 1\n'


def panel(people, high=10.0):
    """Person i has 1 + i % 4 rows, of which some are in ward s; x is 4 or `high`."""
    rows = [(i, k) for i in range(people) for k in range(1 + i % 4)]
    return pa.table(
        {
            "who": [f"p{i}" for i, _ in rows],
            "ward": ["ns"[(i + k) % 2] for i, k in rows],
            "x": [high if k == 0 and i % 5 == 0 else 4.0 for i, k in rows],
            "y": [k % 2 for _, k in rows],
        }
    )


PUBLIC = panel(400)


@pytest.fixture
def rehearsed(tmp_path):
    """Write a spec with public and private rows, and rehearse it."""
    pq.write_table(panel(20), tmp_path / "own.parquet")

    def of(queries, public=PUBLIC, limit=4, head=HEAD, **how):
        pq.write_table(public, tmp_path / "public.parquet")
        (tmp_path / "s.toml").write_text(head.format(limit=limit) + queries)
        spec = read_spec(tmp_path / "s.toml")
        return rehearse(spec, tmp_path, data=tmp_path / "public.parquet", **how)

    return of


@pytest.mark.shows("rehearsal")
def test_a_limit_that_cuts_is_found_with_the_best_one(rehearsed):
    (row,) = rehearsed(COUNT, limit=1).rows
    (group,) = row.groups
    assert (group.truth, group.limited, group.held) == (1000, 400, 0)
    assert (row.kept, row.moved) == (0.4, None)
    assert (row.searched.now, row.searched.most, row.searched.best) == (1, 4, 4)
    assert row.searched.rmse[1] == pytest.approx(600, rel=1e-3)
    assert row.searched.rmse[4] == pytest.approx(4, rel=0.05)
    assert row.verdict == (
        "the limits drop too many rows: one who has up to 4 rows, and at most 1 of them count; "
        "best max_rows: 4 (RMSE 4)"
    )


def test_intervals_hold_the_truth_where_nothing_is_cut(rehearsed):
    (row,) = rehearsed(COUNT + 'by = "wards"', runs=400).rows
    assert row.verdict == "ok"
    assert [group.truth for group in row.groups] == [600, 400]
    assert all(group.off == 0 for group in row.groups)
    # Five standard deviations of 400 runs.
    assert all(abs(group.held - 0.95) < 0.055 for group in row.groups)


def test_bounds_that_move_values_are_told_apart_from_limits(rehearsed):
    mean = '[[query]]\nentry = "m"\nstatistic = "mean"\ncolumn = "x"\nmu = 1\n'
    (row,) = rehearsed(mean, panel(400, high=200.0)).rows
    (group,) = row.groups
    assert group.truth == pytest.approx((80 * 200 + 920 * 4) / 1000)
    assert group.limited == pytest.approx((80 * 10 + 920 * 4) / 1000)
    assert group.held == 0
    assert row.kept == 1
    assert 0.1 < row.moved < 0.2
    assert row.verdict == "the bounds change the mean by more than its noise interval covers"


def test_rows_that_are_units_have_no_limits(rehearsed):
    head = HEAD.replace('entity = "who"\nmax_rows = {limit}', "rows = true")
    total = '[[query]]\nentry = "t"\nstatistic = "sum"\ncolumn = "x"\nmu = 1\n'
    (row,) = rehearsed(total, panel(400, high=50.0), head=head).rows
    assert row.groups[0].truth == 80 * 50 + 920 * 4
    assert (row.kept, row.moved, row.searched) == (1, 0.08, None)


def test_small_groups_and_small_budgets_are_told(rehearsed):
    head = HEAD.replace('["n", "s"]', '["n", "s", "x"]')
    (row,) = rehearsed(COUNT + 'by = "wards"', head=head).rows
    assert row.verdict == "too few rows to tell in 1 of 3 groups"
    assert row.worst.key == {"ward": "x"}
    (row,) = rehearsed(COUNT.replace("mu = 1", "mu = 0.001")).rows
    assert row.verdict.startswith("the noise hides the ")


def test_limits_to_try_are_those_given_and_the_flat_ones_are_told(rehearsed):
    tiny = COUNT.replace("mu = 1", "mu = 0.004")
    (row,) = rehearsed(tiny, limit=2, max_rows=[2, 4, 9]).rows
    assert set(row.searched.rmse) == {2, 4, 9}
    assert row.searched.flat[0] == row.searched.best == 2
    (row,) = rehearsed(COUNT, limit=1).rows
    assert set(row.searched.rmse) == {1, 2, 3, 4}


def test_a_limit_that_only_costs_noise_is_told(rehearsed):
    (row,) = rehearsed(COUNT, limit=100).rows
    assert row.groups[0].off == 0
    said = "max_rows = 100 has 25 times the error of the best limit; best max_rows: 4 (RMSE 4"
    assert row.verdict.startswith(said)
    (row,) = rehearsed(COUNT.replace("mu = 1", "mu = 0.01"), limit=100).rows
    assert row.verdict.startswith("the noise hides the count at this budget; best max_rows: ")


def test_groups_that_nobody_declared(rehearsed):
    head = HEAD.replace("mu = 5", 'mu = 5\ndelta_aside = 1e-6\n[unknown.w]\ncolumns = ["ward"]')
    (row,) = rehearsed(COUNT + 'by = "w"\ndelta = 1e-8', head=head).rows
    assert {group.key["ward"]: group.truth for group in row.groups} == {"n": 600, "s": 400}
    assert all(group.held > 0.8 for group in row.groups)


def test_the_rows_of_the_spec_are_refused(rehearsed, tmp_path):
    rehearsed(COUNT)
    spec = read_spec(tmp_path / "s.toml")
    shutil.copy(tmp_path / "own.parquet", tmp_path / "copy.parquet")
    for name in ("own.parquet", "copy.parquet"):
        with pytest.raises(InvalidParameter, match=f"{name} has the content of own.parquet"):
            rehearse(spec, tmp_path, data=tmp_path / name)
    assert not (tmp_path / "own.ledger").exists()


def test_no_question_is_asked_of_the_private_rows(rehearsed, tmp_path, monkeypatch):
    own = open_table(tmp_path / "own.parquet", unit=Rows()).engine.identity
    asked, integers = [], DuckDB.integers
    monkeypatch.setattr(
        DuckDB, "integers", lambda self, *rest: asked.append(self) or integers(self, *rest)
    )
    rehearsed(COUNT, limit=1)
    assert asked
    assert own not in [engine.identity for engine in asked]


def test_what_is_no_file_is_refused(rehearsed, tmp_path):
    rehearsed(COUNT)
    spec = read_spec(tmp_path / "s.toml")
    with pytest.raises(InvalidParameter, match=r"data must be.* got a value of type Table"):
        rehearse(spec, tmp_path, data=PUBLIC)
    with pytest.raises(InvalidParameter, match=r"joins must be.* got a value of type list"):
        rehearse(spec, tmp_path, data="public.parquet", joins=["a"])
    with pytest.raises(InvalidTable, match=r"none\.parquet"):
        rehearse(spec, tmp_path, data=tmp_path / "none.parquet")


def test_private_joins_need_public_tables_in_their_place(rehearsed, tmp_path):
    stars = pa.table({"who": ["p1", "p2", "p2"], "stars": [1, 2, 3]})
    pq.write_table(stars, tmp_path / "stars.parquet")
    shutil.copy(tmp_path / "stars.parquet", tmp_path / "copy.parquet")
    pq.write_table(stars.slice(1), tmp_path / "other.parquet")
    head = HEAD + '[join.stars]\npath = "stars.parquet"\non = "who"\nhow = "inner"\n'
    with pytest.raises(InvalidParameter, match=r"'stars' has none. Write the public file of each"):
        rehearsed(COUNT, head=head)
    for name in ("stars.parquet", "copy.parquet", "own.parquet"):
        with pytest.raises(InvalidParameter, match=f"{name} has the content of"):
            rehearsed(COUNT, head=head, joins={"stars": tmp_path / name})
    with pytest.raises(InvalidParameter, match="got 'star'"):
        rehearsed(COUNT, head=head, joins={"stars": "x.parquet", "star": "y.parquet"})
    (row,) = rehearsed(COUNT, head=head, joins={"stars": tmp_path / "other.parquet"}).rows
    # p2 has three rows and two stars here.
    assert (row.groups[0].truth, row.groups[0].limited) == (6, 4)
    assert row.searched.most == 6


def test_a_unit_that_another_table_names_needs_a_public_one(rehearsed, tmp_path):
    owners = pa.table({"who": [f"p{i}" for i in range(400)], "home": [i // 2 for i in range(400)]})
    pq.write_table(owners.slice(3), tmp_path / "homes.parquet")
    pq.write_table(owners, tmp_path / "public_homes.parquet")
    head = HEAD.replace('entity = "who"', 'entity = "home"').replace(
        "[columns.x]", '[unit.through]\non = "who"\nto = "homes.parquet"\n[columns.x]'
    )
    with pytest.raises(InvalidParameter, match=r"'homes.parquet' has none"):
        rehearsed(COUNT, head=head)
    place = {"homes.parquet": tmp_path / "public_homes.parquet"}
    (row,) = rehearsed(COUNT, head=head, joins=place).rows
    # Homes have 1 + 2 or 3 + 4 rows.
    assert (row.groups[0].truth, row.groups[0].limited) == (1000, 700)


def test_public_rows_without_a_column_are_refused(rehearsed):
    with pytest.raises(UnknownColumn, match="who"):
        rehearsed(COUNT, PUBLIC.drop(["who"]))


def test_private_rows_that_are_elsewhere_are_said_not_to_be_compared(rehearsed, tmp_path):
    (tmp_path / "own.parquet").unlink()
    found = rehearsed(COUNT)
    assert found.notes == ("Not compared with own.parquet, which does not exist here.",)
    assert found.notes[0] in str(found)


def test_text_files_and_missing_values(rehearsed, tmp_path):
    rehearsed(COUNT)
    x = [None if i % 10 == 0 else v for i, v in enumerate(PUBLIC["x"].to_pylist())]
    table = PUBLIC.set_column(2, "x", pa.array(x))
    pyarrow.csv.write_csv(table, tmp_path / "public.csv")
    mean = '[[query]]\nentry = "m"\nstatistic = "mean"\ncolumn = "x"\nmu = 1\n'
    (tmp_path / "s.toml").write_text(HEAD.format(limit=4) + mean)
    spec = read_spec(tmp_path / "s.toml")
    (row,) = rehearse(spec, tmp_path, data=tmp_path / "public.csv").rows
    known = [v for v in x if v is not None]
    assert row.groups[0].truth == pytest.approx(sum(known) / len(known))
    assert (row.groups[0].off, row.kept, row.moved) == (0, 1, 0)


ASKED = {
    "count": "",
    "count_units": 'by = "wards"',
    "sum": 'column = "x"',
    "mean": 'column = "x"\nby = "wards"',
    "mean_per_unit": 'column = "x"',
    "sum_per_unit": 'column = "x"\nlower = 0\nupper = 20',
    "variance": 'column = "x"',
    "covariance": 'x = "x"\ny = "y"',
    "correlation": 'x = "x"\ny = "y"',
    "several": 'parts = [{ statistic = "count" }, { statistic = "mean", column = "x" }]',
    "linear_regression": 'response = "x"\nfeatures = ["y"]',
    "crosstab": 'by = "wards"\nmargins = [[]]',
    "quantiles": 'column = "x"\nprobabilities = [0.25, 0.5]\nby = "wards"',
    "density": 'column = "x"\nbandwidth = 0.5\nby = "wards"',
    "survival": 'duration = "x"\nobserved = "y"\nhorizon = 8\nbandwidth = 0.5',
    "regression": 'x = "x"\ny = "y"\nbandwidth = 0.5',
}


@pytest.mark.shows("rehearsal")
@pytest.mark.parametrize("statistic", QUERIES)
def test_every_statistic_can_be_rehearsed(rehearsed, statistic):
    query = f'[[query]]\nentry = "q"\nstatistic = "{statistic}"\nmu = 1\n{ASKED[statistic]}\n'
    found = rehearsed(query, panel(400, high=60.0), limit=2, runs=20)
    assert found.rows
    assert all(row.verdict and row.groups for row in found.rows)
    assert json.loads(json.dumps(found.to_json(), allow_nan=False))["notice"] == NOTICE
    assert str(found).startswith(NOTICE)
    assert rehearsal_html(found).count("q, ") >= len(found.rows)


def test_units_that_count_once_lose_nothing_to_a_limit_of_rows(rehearsed):
    unit = '[[query]]\nentry = "q"\nstatistic = "{}"\nmu = 1\n'
    for statistic, more in (("count_units", ""), ("mean_per_unit", 'column = "x"')):
        (row,) = rehearsed(unit.format(statistic) + more, limit=1).rows
        assert row.groups[0].truth == row.groups[0].limited
        assert row.kept == 1


def test_the_page_says_first_that_it_is_not_private_and_is_escaped(rehearsed):
    page = rehearsal_html(rehearsed(COUNT + 'by = "wards"'))
    assert page.index(NOTICE) < page.index("<h1>")
    assert "Visits &lt;b&gt;" in page
    assert "<b>" not in page


def test_the_page_has_room_for_its_columns_and_says_what_they_mean(rehearsed):
    page = rehearsal_html(rehearsed(COUNT + 'by = "wards"'))
    # The page is as wide as they are; what is wider yet scrolls in its own box, by keys too.
    assert "width: fit-content" in page
    assert page.count('<div class="scroll" tabindex="0" role="region"') == 2
    assert page.count("<table><caption>") == page.count("<table") == 2
    assert "<li>kept: the share of rows that the limits keep.</li>" in page
    assert "<li>moved: " not in page


def test_the_command_prints_and_writes_and_spends_nothing(rehearsed, tmp_path, capsys):
    rehearsed(COUNT)
    given = ["rehearse", str(tmp_path / "s.toml"), "--data", str(tmp_path / "public.parquet")]
    page = tmp_path / "page.html"
    assert main([*given, "--report", str(page), "--runs", "20", "--try", "max_rows=2,4"]) == 0
    assert capsys.readouterr().out.startswith(NOTICE)
    assert NOTICE in page.read_text(encoding="utf-8")
    assert main([*given, "--json", "--runs", "20"]) == 0
    assert json.loads(capsys.readouterr().out)["format"] == "neyman.rehearsal"
    assert not (tmp_path / "own.ledger").exists()


def test_the_command_refuses_with_its_exit_status(rehearsed, tmp_path, capsys):
    rehearsed(COUNT)
    given = ["rehearse", str(tmp_path / "s.toml"), "--data"]
    public = str(tmp_path / "public.parquet")
    assert main([*given, str(tmp_path / "own.parquet")]) == 1
    assert "a rehearsal needs public rows" in capsys.readouterr().err
    assert main([*given, public, "--try", "rows=1"]) == 2
    assert main([*given, public, "--join", "stars"]) == 2
    assert main([*given, public, "--join", "a=b", "--join", "a=c"]) == 2
    assert main([*given, public, "--report", public]) == 1
    assert main([*given, public, "--runs", "0"]) == 1
