"""`neyman count`, `mean` and `quantiles`, run as a person runs them."""

import csv
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neyman as ny
from neyman.cli import main
from neyman.released import Release

ROWS = 3000
WHO = ["--unit", "who", "--max-rows", "4"]
PAID = ["--mu", "0.3", "--ledger", "visits.ledger", "--budget", "mu=1"]
MINUTES = ["--column", "minutes", "--bounds", "minutes=0:100"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    table = pa.table(
        {
            "who": [f"p{i // 4}" for i in range(ROWS)],
            "ward": ["north, upper" if i % 3 else "south" for i in range(ROWS)],
            "floor": [i % 2 for i in range(ROWS)],
            "night": [i % 5 == 0 for i in range(ROWS)],
            "minutes": [float(i % 90) for i in range(ROWS)],
        }
    )
    pq.write_table(table, tmp_path / "visits.parquet")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def names(folder):
    return sorted(path.name for path in folder.iterdir() if path.suffix != ".turns")


def asked(statistic, *words):
    return main([statistic, "visits.parquet", *words])


def test_one_line_of_words_asks_what_the_session_asks_in_python(folder, capsys):
    by = ["--by", 'ward="north, upper",south']
    assert asked("count", *WHO, *by, *PAID, "--id", "by-ward", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    db = ny.open("visits.parquet", unit="who", max_rows=4, ledger="visits.ledger")
    groups = {"ward": ["north, upper", "south"]}
    again = db.count(by=groups).release("by-ward", mu=0.3)
    assert isinstance(again, Release)
    assert again.replayed
    assert found == {"name": "by-ward", **json.loads(json.dumps(again.to_json()))}
    assert names(folder) == ["visits.ledger", "visits.parquet"]


@pytest.mark.usefixtures("folder")
def test_a_ledger_that_exists_needs_no_budget_and_an_id_asked_again_is_free(capsys):
    assert asked("mean", *WHO, *MINUTES, *PAID, "--id", "minutes") == 0
    first = capsys.readouterr().out
    assert "minutes" in first
    known = PAID[: PAID.index("--budget")]
    assert asked("mean", *WHO, *MINUTES, *known, "--id", "minutes") == 0
    assert ny.Ledger.existing("visits.ledger").spent() == pytest.approx(0.09)
    shares = ["--column", "minutes", "--bounds", "minutes=0:100:0.5", "--probabilities", "0.1,0.5"]
    words = [*WHO, *shares, *known, "--id", "deciles", "--csv"]
    assert asked("quantiles", *words) == 0
    rows = list(csv.DictReader(capsys.readouterr().out.partition("release,")[2].splitlines()))
    assert len(rows) == 2


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("budget", "spends", "spent"),
    [
        ("mu=1", ["--share", "1/8"], 1 / 8),
        ("rho=0.5", ["--rho", "1/16"], 1 / 8),
        ("epsilon=2", ["--epsilon", "0.5"], 1 / 2),
    ],
)
def test_budgets_are_given_in_whichever_words_people_have(capsys, budget, spends, spent):
    words = ["--ledger", "a.ledger", "--budget", budget, "--id", "all"]
    assert asked("count", "--unit", "rows", *spends, *words) == 0, capsys.readouterr().err
    assert ny.Ledger.existing("a.ledger").spent() == pytest.approx(spent, rel=0.02)


def test_a_preview_needs_no_ledger_and_touches_nothing(folder, capsys):
    assert asked("count", *WHO, "--mu", "0.3", "--preview") == 0
    assert "stddev" in capsys.readouterr().out
    assert asked("mean", *WHO, *MINUTES, *PAID, "--preview", "--records", "3000") == 0
    assert "9 %" in capsys.readouterr().out
    over = [*PAID[2:], "--mu", "1.1", "--preview"]
    assert asked("count", *WHO, *over) == 1
    assert "does not fit" in capsys.readouterr().out
    assert names(folder) == ["visits.parquet"]


@pytest.mark.usefixtures("folder")
def test_keys_are_read_as_the_column_has_them(capsys):
    by = ["--by", "floor=0,1", "--by", "night=true,false"]
    assert asked("count", *WHO, *by, *PAID, "--id", "a", "--json") == 0
    columns = json.loads(capsys.readouterr().out)["columns"]
    assert columns["floor"] == [0, 0, 1, 1]
    assert columns["night"] == [True, False, True, False]
    assert asked("count", *WHO, "--by", "floor=1.0", "--rest", *PAID, "--id", "c", "--json") == 0
    columns = json.loads(capsys.readouterr().out)["columns"]
    assert columns["floor"] == ["1", "missing", "other"]
    assert asked("count", *WHO, "--rest", *PAID, "--id", "d") == 2
    assert "--rest needs declared groups" in capsys.readouterr().err
    assert asked("count", *WHO, "--by", "floor=zero", *PAID, "--id", "b") == 2
    assert "--by floor takes whole numbers; got 'zero'" in capsys.readouterr().err


@pytest.mark.usefixtures("folder")
def test_numbers_are_cut_into_bins(capsys):
    assert asked("count", *WHO, "--by", "minutes=0:90:30", *PAID, "--id", "bins", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["columns"]["minutes_from"] == [0, 30, 60]
    assert found["columns"]["minutes_to"] == [30, 60, 90]
    assert asked("count", *WHO, "--by", "minutes=0:90:40", *PAID, "--id", "no", "--json") == 2
    assert "with a STEP that divides the distance" in capsys.readouterr().err


def test_bins_and_groups_of_a_csv_file_are_those_that_are_written(folder, capsys):
    """All its columns are text; a space after a comma is no part of a name."""
    lines = ["who,age,ward", *(f"p{i},{i % 100},{('north', 'south')[i % 2]}" for i in range(1000))]
    (folder / "people.csv").write_text("\n".join(lines), encoding="utf-8")
    words = ["people.csv", "--unit", "who", "--max-rows", "1", *PAID, "--json"]
    assert main(["count", *words, "--by", "age=0:100:50", "--id", "ages"]) == 0
    ages = json.loads(capsys.readouterr().out)["columns"]
    assert (ages["age_from"], ages["age_to"]) == ([0, 50], [50, 100])
    assert ages["count"] == pytest.approx([500, 500], abs=60)
    assert main(["count", *words, "--by", "ward=north, south", "--id", "wards"]) == 0
    wards = json.loads(capsys.readouterr().out)["columns"]
    assert wards["ward"] == ["north", "south"]
    assert wards["count"] == pytest.approx([500, 500], abs=60)


def test_an_empty_file_becomes_a_ledger(folder, capsys):
    (folder / "visits.ledger").touch()
    assert asked("count", *WHO, *PAID, "--id", "all") == 0
    assert "entry 'all'" in capsys.readouterr().out


@pytest.mark.usefixtures("folder")
def test_groups_that_nobody_declared_cost_delta(capsys):
    paid = ["--mu", "0.5", "--delta", "1e-7", "--ledger", "u.ledger"]
    budget = ["--budget", "mu=1,delta_aside=1e-6", "--id", "wards", "--json"]
    assert asked("count", *WHO, "--by", "ward", *paid, *budget) == 0, capsys.readouterr().err
    found = json.loads(capsys.readouterr().out)["columns"]["ward"]
    assert sorted(found) == ["north, upper", "south"]


def test_an_answer_goes_into_a_file_whole_and_never_over_another(folder, capsys):
    words = [*WHO, "--by", 'ward="north, upper",south', *PAID, "--id", "by-ward"]
    for more in (["--csv", "-o", "a.csv"], ["--json", "-o", "a.json"], ["-o", "a.txt"]):
        assert asked("count", *words, *more) == 0
        assert asked("count", *words, *more) == 0
        assert capsys.readouterr().out == f"{more[-1]} written\n" * 2
    rows = list(csv.DictReader((folder / "a.csv").read_text(encoding="utf-8").splitlines()))
    record = json.loads((folder / "a.json").read_text(encoding="utf-8"))
    assert [row["ward"] for row in rows] == record["columns"]["ward"] == ["north, upper", "south"]
    assert [int(row["count"]) for row in rows] == record["columns"]["count"]
    assert (folder / "a.txt").read_text(encoding="utf-8").startswith("by-ward\n")
    (folder / "mine.csv").write_text("who,what\n", encoding="utf-8")
    before = {path: path.read_bytes() for path in folder.iterdir()}
    for place in ("mine.csv", "visits.parquet", "visits.ledger", "nowhere/a.csv", "."):
        other = [*words[:-1], "other"]
        assert asked("count", *other, "--csv", "-o", place) == 1
        printed = capsys.readouterr().err
        assert "-o" in printed
        assert place in printed
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_all_that_is_missing_is_told_at_once(folder, capsys):
    assert asked("mean") == 2
    err = capsys.readouterr().err
    assert err.startswith("neyman mean: options are missing; write also\n  --column NAME")
    for option in (
        "--bounds NAME=",
        "--unit",
        "--max-rows",
        "--mu",
        "--ledger",
        "--budget",
        "--id",
    ):
        assert f"\n  {option}" in err
    assert "usage: neyman mean FILE" in err
    assert names(folder) == ["visits.parquet"]


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["--by", "ward="], 2, "--by ward= has no values"),
        (["--by", "ward=a", "--by", "ward=b"], 2, "--by ward must be given once; got it twice"),
        (["--by", "ward=a", "--by", "floor"], 2, "write values for all columns or for none"),
        (["--by", "wrd=a"], 1, "close to it are 'ward'"),
        (["--bounds", "minutes=0"], 2, "got minutes=0. Write for example --bounds minutes=0:240"),
        (
            ["--bounds", "minutes=0:x"],
            2,
            "--bounds must be a number, 0 or from 1e-300 to 1e300; got 'x'",
        ),
        (["--budget", "mu=1,rho=1"], 2, "budget"),
        (["--budget", "delta=1e-6"], 2, "delta needs epsilon"),
        (["--epsilon", "1"], 2, "the amount must be one option; got --mu and --epsilon"),
        (["--mu", "1"], 2, "--mu was given twice; write it once"),
        (["--max-rows", "x"], 2, "--max-rows"),
        (["--csv", "--json"], 2, "not allowed with"),
        (["--preview", "-o", "x"], 2, "releases none; write --preview > FILE"),
    ],
)
def test_what_cannot_be_is_told_before_any_charge(folder, capsys, words, status, said):
    given = [*WHO, *PAID, "--id", "a"]
    for option in ("--budget", "--max-rows"):
        if option in words:
            at = given.index(option)
            del given[at : at + 2]
    assert asked("count", *given, *words) == status
    assert said in capsys.readouterr().err
    assert names(folder) == ["visits.parquet"]


def test_groups_that_nobody_declared_are_told_what_they_need(folder, capsys):
    paid = ["--mu", "0.3", "--ledger", "a", "--budget", "mu=1", "--id", "a"]
    assert asked("count", *WHO, "--by", "ward", *paid) == 2
    err = capsys.readouterr().err
    assert "\n  --delta D, the probability that a group with a single unit appears" in err
    assert "\n  --budget ...,delta_aside=1e-6" in err
    assert names(folder) == ["visits.parquet"]


@pytest.mark.usefixtures("folder")
def test_rows_are_chosen_by_a_condition(capsys):
    where = ["--where", "ward = 'south' and minutes >= 0"]
    assert asked("count", *WHO, *where, *PAID, "--id", "south", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    db = ny.open("visits.parquet", unit="who", max_rows=4, ledger="visits.ledger")
    again = db.where("ward = 'south' and minutes >= 0").count().release("south", mu=0.3)
    assert again.columns["count"] == found["columns"]["count"]
    assert asked("count", *WHO, "--where", "ward = ", *PAID, "--id", "x") == 1
    assert "expression" in capsys.readouterr().err
