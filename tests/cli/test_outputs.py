"""Where answers go, and pages of what was released before."""

import csv
import io
import json
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neyman as ny
from neyman.cli import main

SPEC = """
[data]
path = "visits.parquet"
[unit]
entity = "who"
max_rows = 4
[columns.minutes]
lower = 0
upper = 100
grid = 1
[keys.wards]
ward = ["north", "south"]
[budget]
ledger = "visits.ledger"
mu = 1
[[query]]
entry = "visits"
statistic = "count"
by = "wards"
mu = 0.5
[[query]]
entry = "minutes"
statistic = "mean"
column = "minutes"
mu = 0.5
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    rows = 2000
    table = pa.table(
        {
            "who": [f"p{i // 4}" for i in range(rows)],
            "ward": ["north" if i % 3 else "south" for i in range(rows)],
            "minutes": [float(i % 90) for i in range(rows)],
        }
    )
    (tmp_path / "data").mkdir()
    pq.write_table(table, tmp_path / "data" / "visits.parquet")
    (tmp_path / "data" / "visits.toml").write_text(SPEC, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def typed(monkeypatch, text):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))


def test_a_spec_is_read_from_standard_input_relative_to_where_one_is_or_says(
    folder, capsys, monkeypatch
):
    typed(monkeypatch, SPEC)
    assert main(["release", "-", "--folder", "data", "--json"]) == 0
    first = json.loads(capsys.readouterr().out)
    assert [one["entry"] for one in first] == ["visits", "minutes"]
    monkeypatch.chdir(folder / "data")
    typed(monkeypatch, SPEC)
    assert main(["release", "-", "--json"]) == 0
    again = json.loads(capsys.readouterr().out)
    assert [one["columns"] for one in again] == [one["columns"] for one in first]
    typed(monkeypatch, SPEC.replace("mu = 1", "m = 1"))
    assert main(["release", "-"]) == 1
    assert "the spec - cannot be used: 1 problem\n  budget.m: " in capsys.readouterr().err


def test_releases_are_one_table_of_csv(folder, capsys):
    assert main(["release", "data/visits.toml", "--csv"]) == 0
    printed = capsys.readouterr().out
    rows = list(csv.DictReader(io.StringIO(printed)))
    assert [(row["release"], row["ward"]) for row in rows] == [
        ("visits", "north"),
        ("visits", "south"),
        ("minutes", ""),
    ]
    assert float(rows[2]["mean"]) > 0 == len(rows[0]["mean"])
    assert main(["release", "data/visits.toml", "--csv", "-o", "a.csv"]) == 0
    assert (folder / "a.csv").read_text(encoding="utf-8") == printed
    assert main(["release", "data/visits.toml", "--csv", "-o", "data/visits.toml"]) == 1
    assert (
        "-o must not replace a file that is no CSV; got data/visits.toml" in capsys.readouterr().err
    )
    assert main(["release", "data/visits.toml", "--preview", "--csv"]) == 2


def test_conversions_have_keys_that_do_not_change_with_what_was_asked(capsys):
    assert main(["convert", "--mu", "1", "--delta", "1e-6", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert (record["format"], record["version"]) == ("neyman.convert", 1)
    views = {view["view"]: view for view in record["views"]}
    assert list(views) == ["mu", "rho", "epsilon", "advantage"]
    assert views["epsilon"]["delta"] == "1e-6"
    assert views["epsilon"]["value"] == ny.gdp(1).epsilon(1e-6)
    assert main(["convert", "--mu", "1", "--epsilon", "1", "--json"]) == 0
    views = json.loads(capsys.readouterr().out)["views"]
    assert {"view": "delta", "epsilon": "1", "value": ny.gdp(1).delta(1.0)} in views


def test_a_page_is_in_the_language_that_is_asked_for(folder, capsys):
    page = ["--report", "a.html", "--language", "zh"]
    assert main(["release", "data/visits.toml", *page]) == 0
    assert '<html lang="zh">' in (folder / "a.html").read_text(encoding="utf-8")
    for source in ("data/visits.toml", "data/visits.ledger"):
        assert main(["report", source, "-o", "b.html", "--language", "ko"]) == 0
        assert '<html lang="ko">' in (folder / "b.html").read_text(encoding="utf-8")
    assert main(["release", "data/visits.toml", "--language", "ko"]) == 2
    assert "--language needs --report" in capsys.readouterr().err
    assert main(["report", "data/visits.toml", "--language", "fr"]) == 2


def test_the_page_of_a_spec_is_written_again_and_never_for_the_first_time(folder, capsys):
    assert main(["report", "data/visits.toml"]) == 1
    err = capsys.readouterr().err
    assert "has none for 'visits', 'minutes'" in err
    assert not (folder / "data" / "visits.ledger").exists()
    assert main(["release", "data/visits.toml", "--report", "a.html"]) == 0
    spent = ny.Ledger.existing("data/visits.ledger").spent()
    capsys.readouterr()
    assert main(["report", "data/visits.toml"]) == 0
    assert capsys.readouterr().out == "visits.html written\n"
    for said in ("Answers", "1. Count by ", "2. Mean of minutes<"):
        assert said in (folder / "visits.html").read_text(encoding="utf-8")
    assert ny.Ledger.existing("data/visits.ledger").spent() == spent
    more = SPEC + '[[query]]\nentry = "new"\nstatistic = "count"\nmu = 0.1\n'
    (folder / "data" / "visits.toml").write_text(more, encoding="utf-8")
    assert main(["report", "data/visits.toml"]) == 1
    assert "has none for 'new'" in capsys.readouterr().err
    assert main(["report", "data/visits.toml", "-o", "data/visits.parquet"]) == 1
    assert ny.Ledger.existing("data/visits.ledger").spent() == spent


def test_the_page_of_a_ledger_shows_what_a_ledger_knows(folder, capsys):
    assert main(["release", "data/visits.toml"]) == 0
    ledger = ny.Ledger.existing("data/visits.ledger")
    assert main(["report", "data/visits.ledger", "-o", "l.html"]) == 0
    page = (folder / "l.html").read_text(encoding="utf-8")
    for said in ("count by ward", "mean of minutes", "committed", "25 %", ledger.head(), "<svg"):
        assert said in page
    assert "This page has no answers" in page
    empty = ny.Ledger.open("e.ledger", cap=ny.gdp(1), unit="one row", neighbors="add_remove")
    assert main(["report", "e.ledger"]) == 0
    assert empty.head() in (folder / "e.ledger.html").read_text(encoding="utf-8")
    assert main(["report", "e.ledger", "-o", "e.ledger"]) == 1
    assert main(["report", "none.toml"]) == 1
    assert capsys.readouterr()
