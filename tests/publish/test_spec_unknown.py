"""Groups that nobody declared, in a spec: found, priced in both accounts, foreseen, printed."""

import json
from fractions import Fraction

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neyman as ny
from neyman.cli import main
from neyman.errors import BudgetExceeded, InvalidTable, LedgerMismatch, SpecError
from neyman.publish import bill, plan, publish, read_spec

SPEC = """
title = "Visits"
[data]
path = "visits.parquet"
[unit]
rows = true
[columns.x]
lower = 0
upper = 10
grid = 1
[keys.declared]
town = ["Ulm"]
[unknown.towns]
columns = ["town"]
[budget]
ledger = "visits.ledger"
mu = 1
delta_aside = 1e-9
[[query]]
entry = "towns"
statistic = "count"
by = "towns"
mu = 0.6
delta = 1e-12
[[query]]
entry = "x"
statistic = "mean"
column = "x"
by = "towns"
batch = "both"
mu = 0.3
delta = 2e-12
[[query]]
entry = "all"
statistic = "count"
by = "declared"
batch = "both"
mu = 0.4
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    towns = ["Ulm"] * 500 + ["Bonn"] * 400 + ["a lonely secret"]
    rows = {"town": towns, "x": [float(i % 11) for i in range(len(towns))]}
    pq.write_table(pa.table(rows), tmp_path / "visits.parquet")
    return tmp_path


def written(folder, *changes, text=SPEC):
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    (folder / "s.toml").write_text(text, encoding="utf-8")
    return folder / "s.toml"


def planned(folder, *changes):
    return plan(read_spec(written(folder, *changes)), folder)


def test_it_asks_what_python_asks_and_pays_both_accounts(folder):
    prepared = planned(folder)
    table = ny.open_table(folder / "visits.parquet", unit=ny.Rows())
    question = table.count(ny.UnknownKeys("town"))
    noise = ny.mechanisms.Thresholded.calibrate(
        question.sensitivity, noise=ny.Gaussian.calibrate(question.sensitivity, 0.6), delta=1e-12
    )
    step = prepared.steps[0]
    assert step.aggregate.query == question.query
    assert step.mechanism == noise
    priced = bill(prepared)
    assert priced.costs[0].cost == Fraction(36, 100)
    assert priced.costs[0].delta == noise.failure(question.sensitivity) <= Fraction("1e-12")
    assert Fraction("1e-12") < priced.costs[1].delta <= Fraction("2e-12")
    assert priced.capacity.delta == Fraction("1e-9")
    published = publish(prepared)
    towns, means, declared = published.releases
    assert towns.columns["town"] == means.columns["town"] == ["Bonn", "Ulm"]
    assert declared.columns["town"] == ["Ulm"]
    assert (towns.threshold, declared.threshold) == (noise.threshold, None)
    assert abs(towns.columns["count"][1] - 500) < 60
    ledger = prepared.open_ledger()
    assert (ledger.spent(), ledger.spent_delta()) == (priced.due.cost, priced.due.delta)
    assert (published.delta_aside, published.delta_spent) == (
        Fraction("1e-9"),
        priced.due.delta,
    )
    after = bill(prepared)
    assert after.costs == (None, None)
    assert after.fits
    assert after.remaining.delta == Fraction("1e-9") - priced.due.delta


@pytest.mark.parametrize(
    ("cap", "noise", "account"),
    [
        ("mu = 1\ndelta_aside = 1e-9", "mu = 0.3", "mu^2"),
        ("epsilon = 1\ndelta = 1e-6\ndelta_aside = 1e-9", "mu = 0.1", "mu^2"),
        ("epsilon = 2\ndelta = 1e-9\ndelta_aside = 1e-9", "epsilon = 1", "epsilon"),
    ],
)
def test_the_three_caps_with_a_delta_aside(folder, cap, noise, account):
    text = SPEC[: SPEC.index('[[query]]\nentry = "x"')]
    text = text.replace("mu = 1\ndelta_aside = 1e-9", cap).replace("mu = 0.6", noise)
    prepared = plan(read_spec(written(folder, text=text)), folder)
    assert bill(prepared).account == account
    (release,) = publish(prepared).releases
    assert release.columns["town"] == ["Bonn", "Ulm"]
    assert prepared.open_ledger().total().implies(prepared.cap)


def test_a_plan_that_does_not_fit_in_delta_is_refused_before_anything_is_charged(folder, capsys):
    prepared = planned(folder, ("delta_aside = 1e-9", "delta_aside = 1.5e-12"))
    assert bill(prepared).due.cost <= bill(prepared).remaining.cost
    assert max(price.delta for price in bill(prepared).costs) < Fraction("1.5e-12")
    with pytest.raises(BudgetExceeded, match=r" and delta = .*, of delta 1\.5e-12 of 1\.5e-12,"):
        publish(prepared)
    assert not prepared.ledger.exists()
    assert main(["release", "s.toml", "--preview"]) == 1
    assert main(["release", "s.toml", "--dry-run"]) == 1
    said = capsys.readouterr().out
    assert said.count("does not fit") == 2
    assert "% of its delta" in said
    assert "% of delta" in said


def test_a_ledger_with_another_delta_is_refused(folder):
    publish(planned(folder))
    with pytest.raises(LedgerMismatch):
        bill(planned(folder, ("delta_aside = 1e-9", "delta_aside = 2e-9")))


def test_the_command_line_foresees_releases_and_reports(folder, capsys):
    written(folder)
    assert main(["release", "s.toml", "--preview", "--records", "50", "--sql"]) == 0
    said = capsys.readouterr().out
    prepared = planned(folder)
    threshold = prepared.steps[0].mechanism.threshold
    surely = threshold + prepared.steps[0].mechanism.half_width(0.95)
    assert "delta 1e-9 set aside" in said.replace("e-09", "e-9")
    assert f"groups whose noisy count is {threshold} rows or more" in said
    assert f"a group of {surely} rows or more with at least 95 % probability" in said
    foreseen = said
    assert "mechanism gaussian, variance" in said
    assert "{" not in said.replace("{'", "{", 1).split("SELECT")[0]
    assert main(["release", "s.toml", "--preview", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    shown = record["charges"][0]["questions"][0]["shown"]
    assert (shown["threshold"], shown["weight"]) == (threshold, 1)
    weight = record["charges"][1]["questions"][0]["shown"]["weight"]
    assert weight == 5
    assert Fraction(record["delta_due"]) == bill(prepared).due.delta
    assert main(["release", "s.toml", "--dry-run"]) == 0
    capsys.readouterr()
    assert main(["release", "s.toml", "--report", "page.html"]) == 0
    said = capsys.readouterr().out
    assert f"groups: those whose noisy count is {threshold} rows or more" in said
    # What counts 5 a row is told in rows, too, in all three.
    mean = prepared.steps[1].mechanism.threshold
    assert f"groups: those whose noisy count is {mean / 5:,.6g} rows or more" in said
    assert f"groups whose noisy count is {mean / 5:,.6g} rows or more" in foreseen
    assert "lattice" not in said
    assert "remain of what was set aside" in said
    page = (folder / "page.html").read_text(encoding="utf-8")
    for least in (threshold, mean / 5):
        assert f"the groups whose noisy count is {least:,.6g} rows or more" in page
    for words in ("The groups were not declared", "Share of the delta set aside", "Bonn"):
        assert words in page
    for text in (said, page):
        assert "lonely" not in text
    assert main(["release", "s.toml", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["columns"]["town"] == ["Bonn", "Ulm"]


def test_a_density_goes_to_a_ledger_with_a_second_account(folder, capsys):
    publish(planned(folder))
    asked = ["density", "visits.parquet", "--column", "x", "--domain", "0:10"]
    asked += ["--bandwidth", "1", "--mu", "0.1", "--ledger", "visits.ledger"]
    assert main([*asked, "--unit", "rows", "--id", "curve", "--preview"]) == 0
    assert "fits" in capsys.readouterr().out


def test_groups_in_which_a_row_weighs_more_are_shown_from_as_many_rows_on(folder):
    found = planned(folder).preview(records=[100]).charges[1].questions["x"].shown
    mechanism = planned(folder).steps[1].mechanism
    assert found.weight * found.surely >= mechanism.threshold + mechanism.half_width(0.95)
    assert found.weight * (found.surely - 1) < mechanism.threshold + mechanism.half_width(0.95)


def test_nothing_shown_is_an_answer_too(folder, capsys):
    pq.write_table(pa.table({"town": ["Ulm"], "x": [1.0]}), folder / "visits.parquet")
    written(folder)
    assert main(["release", "s.toml", "--report", "page.html"]) == 0
    assert "No group is shown" in (folder / "page.html").read_text(encoding="utf-8")
    told = capsys.readouterr().out
    assert "no group is shown: no noisy count reached the threshold" in told
    # No header without rows.
    assert told.splitlines()[1].startswith("no group is shown")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("delta = 1e-12\n", "", "'towns': undeclared groups need delta, .* write delta, such as"),
        ("delta_aside = 1e-9", "", "write delta_aside, such as 1e-6, in .budget."),
        (
            "[unknown.towns]",
            "[unknown.declared]",
            "unknown.declared. and .keys.declared. have the same name",
        ),
        (
            'by = "towns"',
            'by = "twns"',
            r"which are declared, towns; got 'twns'. write \[keys.twns\]",
        ),
        (
            'by = "declared"',
            'by = "declared"\ndelta = 1e-12',
            "'all': delta is for undeclared groups",
        ),
        ('columns = ["town"]', "columns = []", "unknown.towns.columns: "),
        ('columns = ["town"]', "column = 3", "towns.columns: is missing; unknown groups need"),
        ('columns = ["town"]', 'columns = ["town", "town"]', "unknown.towns: .* repeat"),
        ("mu = 1\n", "epsilon = 1\n", "delta_aside is a part of the delta"),
        ("mu = 1\n", "epsilon = 1\ndelta = 1e-10\n", "delta_aside is a part of the delta"),
        ("delta = 1e-12", "delta = 0.7", "query 'towns'.delta: delta must be below 0.01; got 0.7"),
        (
            'statistic = "count"\nby = "towns"',
            'statistic = "density"\ncolumn = "x"\nbandwidth = 1\nby = "towns"',
            "query 'towns': the groups of density must be declared; got unknown groups",
        ),
    ],
)
def test_mistakes_are_told(folder, old, new, said):
    with pytest.raises(SpecError, match=said):
        planned(folder, (old, new))


def test_a_sum_has_no_count_to_find_groups_by(folder):
    with pytest.raises(
        InvalidTable,
        match=r"^query 'towns': unknown groups .* sum does not count",
    ):
        planned(folder, ('"count"\nby = "towns"', '"sum"\ncolumn = "x"\nby = "towns"'))


def test_a_linear_regression_finds_its_groups(folder):
    asked = '"linear_regression"\nresponse = "x"\nfeatures = ["x2"]\nby = "towns"'
    prepared = planned(
        folder,
        ('"count"\nby = "towns"', asked),
        ("[columns.x]", '[derive]\nx2 = "2 * x"\n[columns.x]'),
        ("[keys.", "[columns.x2]\nlower = 0\nupper = 20\ngrid = 2\n[keys."),
    )
    assert set(publish(prepared).releases[0].columns["town"]) == {"Bonn", "Ulm"}
