"""`neyman density`, run as a person runs it."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neyman as ny
from neyman import functional
from neyman.cli import main
from neyman.functional import DensityFunction
from neyman.numerics import text
from neyman.publish import density
from neyman.tables import Rows, open_table

ALL = {
    "--column": ["minutes"],
    "--domain": ["-20:80"],
    "--records": ["3000"],
    "--mu": ["0.5"],
    "--ledger": ["visits.ledger"],
    "--budget": ["mu=1"],
    "--unit": ["rows"],
    "--id": ["minutes"],
}


def words(*more, without=(), **instead):
    """Return the command line of a whole question, some options left out or said otherwise."""
    changed = {f"--{name.replace('_', '-')}": [value] for name, value in instead.items()}
    options = {k: v for k, v in (ALL | changed).items() if k not in without}
    return [
        "density",
        "visits.parquet",
        *(w for k, v in options.items() for w in (k, *v)),
        *more,
    ]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    minutes = rng.normal(30, 8, 3000)
    minutes[:5] = [np.nan, np.inf, -np.inf, 1e300, -1e300]
    who = [f"p{i // 4}" for i in range(3000)]
    table = pa.table({"minutes": minutes, "who": who, "hour": minutes, "ward": who})
    pq.write_table(table, tmp_path / "visits.parquet")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_density_is_printed_drawn_kept_and_replayed_free(folder, capsys):
    outputs = ("--picture", "curve.png", "--save", "curve.npz")
    assert main(words(*outputs)) == 0
    first = capsys.readouterr().out
    assert "density of minutes on [-20, 80], values outside counted apart" in first
    assert "gdp(mu=0.5), one row (add_remove)" in first
    assert "charged    25 % of visits.ledger; 75 % remain" in first
    assert (folder / "curve.png").read_bytes().startswith(b"\x89PNG")
    f = functional.load(folder / "curve.npz", DensityFunction)
    # 3,000 rows, one of them NaN, four beyond the ends.
    assert abs(f.count - 2995) < 9 * f.count_sd < 200
    assert abs(float(f.ppf(0.5)) - 30) < 3
    assert main(words(*outputs)) == 0
    again = capsys.readouterr().out
    assert again == first.replace("charged    25", "charged    earlier, 25")
    assert functional.load(folder / "curve.npz") == f
    assert ny.Ledger.existing(folder / "visits.ledger").spent() == 1 / 4
    assert not list(folder.glob("*.part"))


def test_the_json_holds_the_function_and_what_can_be_read_off_it(folder, capsys):
    assert main(words("--json", "--save", "curve.npz")) == 0
    record = json.loads(capsys.readouterr().out)
    f = functional.read(record["function"], DensityFunction)
    assert f == functional.load(folder / "curve.npz")
    band = record["band"]
    assert band["density"] == f(np.array(band["x"])).tolist()
    assert (np.array(band["lower"]) <= band["density"]).all()
    assert (np.array(band["density"]) < band["upper"]).all()
    assert record["quantiles"]["0.5"] == float(f.ppf(0.5))
    assert record["release"]["entry"] == "minutes"
    assert record["replayed"] is False
    assert functional.function(_Release(record["release"])) == f


def test_records_on_the_command_line_are_those_of_python(folder, capsys):
    assert main(words("--json")) == 0
    record = json.loads(capsys.readouterr().out)
    domain = functional.Interval(-20, 80, outside="count")
    table = open_table(folder / "visits.parquet", unit=Rows(), bounds={})
    question = density(table, "minutes", domain=domain, records=3000)
    assert record["release"]["query"] == json.loads(json.dumps(question.query))
    least = functional.pilot_bandwidth(domain, 3000) / 2
    assert record["release"]["query"]["basis"]["bandwidth"] == text(least)
    f = functional.read(record["function"], DensityFunction)
    assert f.raw.basis.bandwidth == f.raw.bandwidth == least
    assert f.bandwidth is None


class _Release:
    def __init__(self, record):
        self.query, self.columns = record["query"], record["columns"]


def test_a_circle_has_no_quantiles_and_is_drawn_as_svg(folder, capsys):
    around = words("--picture", "c.svg", without=("--domain",), period="24")
    around[around.index("minutes")] = "hour"
    assert main(around) == 0
    out = capsys.readouterr().out
    assert "density of hour on a circle of 24\n" in out
    assert "quantiles" not in out
    assert (folder / "c.svg").read_text(encoding="utf-8").startswith("<svg")


@pytest.mark.usefixtures("folder")
def test_a_unit_of_several_rows_pays_for_them(capsys):
    assert main(words(max_rows="1", id="one", unit="who")) == 0
    assert main(words(max_rows="4", id="four", budget="mu=1", unit="who")) == 0
    one, four = re.split("(?m)^density of", capsys.readouterr().out)[1:]
    count = [float(out.split("records ")[1].split(",")[0]) for out in (one, four)]
    sd = [float(out.split("noise ")[1].split("\n")[0]) for out in (one, four)]
    # Of 750 people one row each, and all rows; four times the noise.
    assert abs(count[0] - 750) < 9 * sd[0]
    assert abs(count[1] - 3000) < 9 * sd[1]
    assert sd[1] == pytest.approx(4 * sd[0], rel=0.05)
    assert "all rows of one who" in one


def test_a_preview_prices_and_touches_nothing(folder, capsys):
    before = files(folder)
    assert main(words("--preview", "--picture", "curve.png")) == 0
    assert "25 %" in capsys.readouterr().out
    assert main(words("--preview", mu="1.1")) == 1
    assert "does not fit" in capsys.readouterr().out
    assert files(folder) == before


@pytest.mark.parametrize("option", ALL)
def test_every_missing_option_is_named(folder, capsys, option):
    before = files(folder)
    assert main(words(without=(option,))) == 2
    err = capsys.readouterr().err
    assert err.startswith("neyman density: options are missing; write also\n  ")
    told = err.partition("\nusage: ")[0]
    assert len(told.splitlines()) == 2 + (option == "--unit")
    assert option in told
    assert files(folder) == before


@pytest.mark.usefixtures("folder")
def test_a_bare_command_lists_all_that_is_missing(capsys):
    assert main(["density", "visits.parquet"]) == 2
    err = capsys.readouterr().err
    assert all(f"\n  {option} " in err for option in ALL)
    assert main(words(unit="who")) == 2
    assert "--max-rows K" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("instead", "status", "said"),
    [
        (
            {"period": "24"},
            2,
            "--period must be given without --domain; got both. Write one of them",
        ),
        (
            {"outside": "clip", "period": "24"},
            2,
            "--period must be given without --domain; got both",
        ),
        ({"max_rows": "3"}, 2, "--max-rows must have a --unit other than rows; got --unit rows"),
        (
            {"epsilon": "3"},
            2,
            "the amount must be one option; got --mu and --epsilon. Write one of them",
        ),
        ({"column": "minute"}, 1, "minute"),
        ({"column": "ward"}, 1, "ward"),
        ({"domain": "80:-20"}, 1, "lower must be below upper; got 80 and -20"),
        ({"domain": "0:inf"}, 2, "--domain must be a number, 0 or from 1e-300 to 1e300; got 'inf'"),
        ({"mu": "nan"}, 2, "--mu must be a number, 0 or from 1e-300 to 1e300; got 'nan'"),
        ({"mu": "0"}, 2, "--mu must be positive; got 0. Write a number such as 0.5"),
        ({"mu": "-1"}, 2, "--mu must be positive; got -1. Write a number such as 0.5"),
        ({"mu": "1.1"}, 1, "nothing was charged"),
        ({"budget": "mu=-1"}, 2, "--budget mu= must be positive; got -1"),
        (
            {"budget": "m=1"},
            2,
            "--budget must be NAME=NUMBER, each name once; got m=1. Write for example mu=1",
        ),
        ({"outside": "clp"}, 2, "--outside does not take 'clp'; did you mean clip?"),
        ({"records": "2.5"}, 2, "--records must be a whole number from 0 to 2^52; got '2.5'"),
        ({"records": "0"}, 1, "records must be a whole number"),
        ({"picture": "curve.jpg"}, 2, "--picture must end in .png or .svg; got curve.jpg"),
        (
            {"picture": "visits.parquet"},
            2,
            "--picture must end in .png or .svg; got visits.parquet",
        ),
        ({"picture": "notes.png"}, 1, "--picture must not replace a file that is no picture"),
        ({"picture": "none/curve.png"}, 1, "--picture none/curve.png lies in no folder"),
        ({"save": "visits.parquet"}, 1, "--save must not replace a file that is no function"),
        ({"save": "notes.png"}, 1, "--save must not replace a file that is no function"),
        ({"save": "."}, 1, "--save . is a folder"),
        (
            {"save": "curve.txt"},
            2,
            "--save must end in .npz; got curve.txt. Write --save curve.npz",
        ),
    ],
)
def test_what_cannot_be_is_one_sentence_before_any_charge(folder, capsys, instead, status, said):
    (folder / "notes.png").write_text("mine", encoding="utf-8")
    before = files(folder)
    assert main(words(**instead)) == status
    captured = capsys.readouterr()
    assert said in captured.err
    assert "Traceback" not in captured.err
    assert not captured.out
    assert files(folder) == before


def test_a_ledger_that_exists_needs_no_cap_and_keeps_its_own(folder, capsys):
    assert main(words()) == 0
    assert main(words(without=("--budget",), id="again")) == 0
    assert "50 % remain" in capsys.readouterr().out
    assert main(words(budget="mu=2", id="more")) == 1
    assert "cap" in capsys.readouterr().err
    assert main(words(domain="-20:90")) == 1
    assert "minutes" in capsys.readouterr().err
    assert ny.Ledger.existing(folder / "visits.ledger").spent() == 1 / 2


def test_a_failure_after_the_charge_says_that_the_answer_is_kept(folder, capsys, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device", "curve.npz.part")

    with monkeypatch.context() as broken:
        broken.setattr("neyman.cli._density.write_to", full)
        assert main(words("--save", "curve.npz")) == 1
    captured = capsys.readouterr()
    assert "density of minutes" in captured.out
    assert "the file curve.npz could not be made: OSError" in captured.err
    assert "No space left on device" in captured.err
    assert "The answer is printed above and stored in the ledger" in captured.err
    assert not list(folder.glob(".neyman-*"))
    assert main(words("--save", "curve.npz")) == 0
    assert ny.Ledger.existing(folder / "visits.ledger").spent() == 1 / 4


def test_noise_larger_than_the_data_is_said_after_all_is_kept(folder, capsys, monkeypatch):
    monkeypatch.setattr(ny.Gaussian, "add_noise", lambda _, exact: -exact)
    asked = words("--save", "curve.npz", "--picture", "curve.png")
    assert main(asked) == 1
    captured = capsys.readouterr()
    assert "the released number of records is -2995 ± " in captured.err
    assert "too small beside its noise to be a density" in captured.err
    assert "run the same command again, free" in captured.err
    assert not captured.out
    assert functional.load(folder / "curve.npz", DensityFunction).count == pytest.approx(-2995)
    assert not (folder / "curve.png").exists()


@pytest.mark.parametrize(
    "waits", [(0.3, 0.6), pytest.param((0.3, 0.6, 0.9), marks=pytest.mark.soak)]
)
def test_an_interrupted_run_goes_on_where_it_was(folder, waits):
    run = "print('begun', flush=True); import sys; from neyman.cli import main; sys.exit(main())"
    for wait in waits:
        child = subprocess.Popen(
            [sys.executable, "-c", run, *words("--save", "curve.npz", "--picture", "curve.png")],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        assert child.stdout is not None
        assert child.stdout.readline() == b"begun\n"
        time.sleep(wait)
        child.send_signal(signal.SIGINT)
        _, err = child.communicate(timeout=300)
        # Before main runs, Python itself reports the interrupt; after its end there is none.
        assert child.returncode in (0, 130, -signal.SIGINT), err
        for path, first in (("curve.npz", b"PK"), ("curve.png", b"\x89P")):
            assert not (folder / path).exists() or (folder / path).read_bytes()[:2] == first
    done = main(words("--save", "curve.npz", "--picture", "curve.png"))
    ledger = ny.Ledger.existing(folder / "visits.ledger")
    assert done == 0 or ledger.entries()[0].state != "committed"
    assert ledger.spent() == 1 / 4
    assert not ledger.check()


def test_a_file_of_another_suffix_is_told_what_can_be_given_there(folder, capsys):
    (folder / "mk.py").write_text("")
    (folder / "s.toml").write_text(
        '[data]\npath = "mk.py"\n[unit]\nrows = true\n[budget]\nledger = "l"\nmu = 1\n'
        '[[query]]\nentry = "a"\nstatistic = "count"\nmu = 1\n'
    )
    density = ["density", "mk.py", *words()[2:]]
    for command in (["init", "mk.py"], ["release", "s.toml", "--dry-run"], density):
        assert main(command) == 1
        assert capsys.readouterr().err.endswith("write the path of a .parquet or .csv file\n")


@pytest.mark.usefixtures("folder")
def test_a_charge_that_does_not_fit_is_told_with_the_most_that_does(capsys):
    assert main(words()) == 0
    assert main(words(id="b", mu="0.9")) == 1
    said = capsys.readouterr().err
    assert "entry 'b' asks for mu^2 = 0.81, and the ledger visits.ledger has 0.75 of 1 left" in said
    assert "so the most that still fits is gdp(mu=0.866025); nothing was charged" in said
    assert "queries" not in said
    assert main(words(id="c", mu="0.866025")) == 0
