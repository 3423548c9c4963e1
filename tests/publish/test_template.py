"""`neyman init`: from the schema alone; refused until it is filled in, and then it works."""

import datetime as dt
import re
import tomllib

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from neyman.cli import main
from neyman.errors import SpecError
from neyman.publish import plan, publish, read_spec
from neyman.publish._queries import QUERIES

ROWS = 800
DATA = pa.table(
    {
        "who": [f"p{i // 4}" for i in range(ROWS)],
        "ward": ["north-secret" if i % 3 else "south-secret" for i in range(ROWS)],
        "minutes": [float(i * 7919 % 101) for i in range(ROWS)],
        "visits": [i % 7 for i in range(ROWS)],
        "ok": [i % 2 == 0 for i in range(ROWS)],
        "day of birth": [dt.date(1999, 1, 1)] * ROWS,
        'a "b"\n': [1.5] * ROWS,
        "parts": [[1, 2]] * ROWS,
    }
)
BY_KEY = {
    "entity": '"who"',
    "max_rows": "8",
    "NAME": "4",
    "lower": "0",
    "upper": "120",
    "grid": "1",
    "who": '["p1"]',
    "ward": '["north-secret", "south-secret"]',
    "visits": "[1, 2]",
    "ok": "[true]",
    '"day of birth"': "[2024-02-29]",
    "mu": "0.5",
    "by": '"ward"',
    "column": '"minutes"',
    "records": "800",
    "duration": '"minutes"',
    "observed": '"ok"',
    "horizon": "100",
    "bandwidth": "5",
    "x": '"minutes"',
    "y": '"visits"',
    "response": '"minutes"',
    "features": '["visits"]',
    "columns": '["ward"]',
    "margins": "[[]]",
    "delta_aside": "1e-6",
    "path": '"wards.parquet"',
    "on": '"ward"',
    "parts": '[{ statistic = "count" }, { statistic = "mean", column = "minutes" }]',
    "made": "'2 * minutes'",
}


def uncommented(text):
    return re.sub(r"^#+(?![ #])", "", text, flags=re.MULTILINE)


def filled(text):
    """Do what the comments say: take the examples, and put something in every place."""
    lines = []
    for line in uncommented(text).splitlines():
        key = line.partition(" = ")[0]
        lines.append(f"{key} = {BY_KEY[key]}" if "FILL IN: " in line else line)
    return "\n".join(lines).replace("mu = 0.5", "mu = 3", 1)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pq.write_table(DATA, tmp_path / "people.parquet")
    return tmp_path


def test_a_filled_spec_publishes_and_names_every_statistic(folder, capsys):
    assert main(["init", "people.parquet"]) == 0
    assert "people.toml written" in capsys.readouterr().out
    spec = folder / "people.toml"
    text = spec.read_text(encoding="utf-8")
    assert all(f"#   {name}" in text for name in QUERIES if name not in ("count", "mean"))
    assert len(text.splitlines()) < 75
    spec.write_text(filled(text), encoding="utf-8")
    found = read_spec(spec)
    assert [query.entry for query in found.query] == ["count", "mean"]
    published = publish(plan(found, folder))
    assert len(published.releases) == len(found.query)
    assert (folder / "people.ledger").exists()
    assert found.title == "people"
    assert main(["release", "people.toml", "--preview"]) == 0


def test_the_example_of_every_statistic_publishes(folder):
    bounds = "".join(
        f"[columns.{name}]\nlower = 0\nupper = 120\ngrid = 1\n"
        for name in ("minutes", "visits", "ok")
    )
    spec = (
        '[data]\npath = "people.parquet"\n[unit]\nentity = "who"\nmax_rows = 8\n'
        f'{bounds}[keys.ward]\nward = ["north-secret", "south-secret"]\n'
        '[budget]\nledger = "l"\nmu = 3\n'
    )
    for name, query in QUERIES.items():
        spec += f'[[query]]\nentry = "{name}"\nstatistic = "{name}"\nmu = 0.5\n'
        for line in query.example.splitlines():
            key = line.partition(" = ")[0]
            if key == "domain":
                line = 'domain = { lower = 0, upper = 120, outside = "clip" }'
            spec += f"{key} = {BY_KEY[key]}\n" if "FILL IN: " in line else f"{line}\n"
    (folder / "s.toml").write_text(spec, encoding="utf-8")
    assert len(publish(plan(read_spec(folder / "s.toml"), folder)).releases) == len(QUERIES)


def test_as_it_is_it_is_refused_with_every_place(folder):
    assert main(["init", "people.parquet"]) == 0
    with pytest.raises(SpecError) as caught:
        read_spec(folder / "people.toml")
    said = str(caught.value)
    for place in ("unit.entity", "unit.max_rows", "budget.mu", "query 'count'.mu"):
        assert f"{place}: is not filled in; write " in said
    assert "4 problems" in said
    assert "rows = true" in said


def test_places_left_and_mistakes_are_told_together(folder):
    assert main(["init", "people.parquet"]) == 0
    spec = folder / "people.toml"
    text = uncommented(spec.read_text(encoding="utf-8"))
    count = text.count('"FILL IN: ')
    spec.write_text(text.replace('ledger = "', 'ledgr = "'), encoding="utf-8")
    with pytest.raises(SpecError) as caught:
        read_spec(spec)
    said = str(caught.value)
    assert said.count("is not filled in") == count
    assert "budget.ledgr: no such key; write ledger" in said
    assert f"{count + 1} problems" in said
    assert all(line.isprintable() for line in said.splitlines())


@pytest.mark.shows("spec")
def test_nothing_of_a_row_is_in_it(folder):
    assert main(["init", "people.parquet"]) == 0
    text = (folder / "people.toml").read_text(encoding="utf-8")
    assert "secret" not in text
    assert "1999" not in text
    columns = tomllib.loads(uncommented(text))["columns"]
    assert set(columns) == {"minutes"}
    assert "# Columns: who (text), ward (text), minutes (float), visits (integer)," in text
    other = DATA.slice(0, 0)
    pq.write_table(other, folder / "people.parquet")
    assert main(["init", "people.parquet", "--spec", "again.toml"]) == 0
    again = (folder / "again.toml").read_text(encoding="utf-8")
    assert again.replace("again.ledger", "people.ledger") == text


def test_columns_of_a_csv_file_are_named_unless_its_first_line_looks_like_a_record(folder):
    lines = [f"p{i // 4},north-secret,{i % 101},{i % 7},{i % 2}" for i in range(ROWS)]
    headed = ["who,ward,minutes,visits,ok", *lines]
    (folder / "people.csv").write_text("\n".join(headed) + "\n", encoding="utf-8")
    (folder / "bare.csv").write_text("p0,north-secret,31,5,1\n", encoding="utf-8")
    assert main(["init", "people.csv"]) == 0
    spec = folder / "people.toml"
    text = spec.read_text(encoding="utf-8")
    assert "Columns, by the first line of the file: who, ward, minutes, visits, ok\n" in text
    assert "secret" not in text
    named = text.replace("#NAME =", "#ward =").replace("NAME", "minutes")
    spec.write_text(filled(named), encoding="utf-8")
    assert len(publish(plan(read_spec(spec), folder)).releases) == 2
    assert main(["init", "bare.csv"]) == 0
    bare = (folder / "bare.toml").read_text(encoding="utf-8")
    assert "The 5 columns get their names from the first line" in bare
    assert "p0" not in bare
    assert "secret" not in bare


def test_no_file_is_replaced_and_paths_are_seen_from_the_spec(folder, capsys):
    (folder / "people.toml").write_text("mine", encoding="utf-8")
    assert main(["init", "people.parquet"]) == 1
    assert "not replaced" in capsys.readouterr().err
    assert (folder / "people.toml").read_text(encoding="utf-8") == "mine"
    (folder / "specs").mkdir()
    asked = ["init", "people.parquet", "--spec", "specs/a.toml", "--ledger", "l/x.ledger"]
    assert main(asked) == 0
    written = tomllib.loads((folder / "specs/a.toml").read_text(encoding="utf-8"))
    assert written["data"]["path"] == "../people.parquet"
    assert written["budget"]["ledger"] == "../l/x.ledger"
    server = "postgresql://me@host/db"
    assert main(["init", "people.parquet", "--spec", "b.toml", "--ledger", server]) == 0
    written = tomllib.loads((folder / "b.toml").read_text(encoding="utf-8"))
    assert written["budget"]["ledger"] == server


def test_what_is_no_table_is_refused(folder, capsys):
    (folder / "empty").mkdir()
    for name in ("none.parquet", "people.txt", "empty"):
        assert main(["init", name]) == 1
        assert "neyman: " in capsys.readouterr().err
    assert sorted(path.name for path in folder.iterdir()) == ["empty", "people.parquet"]


def test_a_folder_gives_its_name_to_the_spec(folder):
    assert main(["init", "."]) == 0
    written = tomllib.loads((folder / f"{folder.stem}.toml").read_text(encoding="utf-8"))
    assert written["title"] == folder.stem
    assert written["data"]["path"] == "."
