"""The command line, run as a person runs it."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from fractions import Fraction

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neyman as ny
from neyman.cli import main
from neyman.errors import EngineFailure

SPEC = """
title = "Visits"
[data]
path = "visits.parquet"
[unit]
entity = "who"
max_rows = 6
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
mu = 0.6
[[query]]
entry = "minutes"
statistic = "mean"
column = "minutes"
mu = 0.8
"""


@pytest.fixture
def folder(tmp_path):
    rows = 3000
    table = pa.table(
        {
            "who": [f"p{i // 4}" for i in range(rows)],
            "ward": ["north" if i % 3 else "south" for i in range(rows)],
            "minutes": [float(i % 90) for i in range(rows)],
        }
    )
    pq.write_table(table, tmp_path / "visits.parquet")
    (tmp_path / "visits.toml").write_text(SPEC, encoding="utf-8")
    return tmp_path


def command(*words, **options):
    return subprocess.run(
        [sys.executable, "-m", "neyman", *map(str, words)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        **options,
    )


def test_a_spec_is_priced_published_and_replayed(folder, capsys):
    spec = str(folder / "visits.toml")
    assert main(["release", spec, "--dry-run"]) == 0
    assert "100 %  to pay, of the budget" in capsys.readouterr().out
    assert not (folder / "visits.ledger").exists()
    assert main(["release", spec, "--json"]) == 0
    first = json.loads(capsys.readouterr().out)
    assert [release["entry"] for release in first] == ["visits", "minutes"]
    assert first[0]["columns"]["ward"] == ["north", "south"]
    assert main(["release", spec, "--json"]) == 0
    again = json.loads(capsys.readouterr().out)
    assert [r["columns"] for r in again] == [r["columns"] for r in first]
    assert main(["release", spec, "--dry-run"]) == 0
    assert capsys.readouterr().out.count("stored, free") == 2


@pytest.mark.shows("faces")
def test_the_report_is_one_file_without_network(folder, capsys):
    page = folder / "report.html"
    assert main(["release", str(folder / "visits.toml"), "--report", str(page)]) == 0
    text = page.read_text(encoding="utf-8")
    # One number needs no picture.
    assert text.count("<svg") == 2
    for part in (
        "gdp(mu=1)",
        "What the guarantee does not cover",
        "all rows of one who",
        "visits.ledger",
    ):
        assert part in text
    assert not [mark for mark in ('src="http', 'href="http', "@import") if mark in text]
    assert "95 % interval for the noise only" in capsys.readouterr().out


@pytest.mark.parametrize(
    "target", ["nowhere/report.html", "visits.toml", "visits.parquet", "notes.txt", "."]
)
def test_a_report_that_would_destroy_or_get_lost_is_refused_before_the_charge(
    folder, capsys, target
):
    (folder / "notes.txt").write_text("mine", encoding="utf-8")
    before = {path: path.read_bytes() for path in folder.iterdir()}
    assert main(["release", str(folder / "visits.toml"), "--report", str(folder / target)]) == 1
    assert "--report" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_a_report_may_replace_a_report_and_never_a_ledger(folder, capsys):
    spec, page = str(folder / "visits.toml"), folder / "report.html"
    assert main(["release", spec, "--report", str(page)]) == 0
    assert main(["release", spec, "--report", str(page)]) == 0
    ledger = folder / "visits.ledger"
    held = ledger.read_bytes()
    assert main(["release", spec, "--report", str(ledger)]) == 1
    assert ledger.read_bytes() == held
    assert capsys.readouterr()


@pytest.mark.shows("faces")
def test_progress_is_drawn_for_a_terminal_and_cleared(folder):
    import pty

    leader, follower = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, "-m", "neyman", "release", str(folder / "visits.toml")],
        stdout=subprocess.PIPE,
        stderr=follower,
    )
    out, _ = child.communicate(timeout=300)
    os.close(follower)
    drawn = os.read(leader, 4096).decode()
    os.close(leader)
    assert "1/2 visits" in drawn
    assert "2/2 minutes" in drawn
    assert drawn.rstrip().endswith("\x1b[K")
    assert b"interval for the noise only" in out


def test_a_later_failure_says_what_is_stored(folder, capsys, monkeypatch):
    def fails(*_):
        raise EngineFailure("the engine failed")

    spec = str(folder / "visits.toml")
    draw = ny.Gaussian.add_noise
    # The companion of the first answer is drawn, too.
    calls = iter([draw, draw, fails])

    def one_after_the_other(*args):
        return next(calls)(*args)

    monkeypatch.setattr(ny.Gaussian, "add_noise", one_after_the_other)
    assert main(["release", spec]) == 1
    err = capsys.readouterr().err
    assert "the engine failed" in err
    assert "1 of 2 entries before it are stored" in err


def test_a_terminal_without_the_letters_is_served(folder):
    rows = (folder / "visits.toml").read_text(encoding="utf-8").replace("north", "Nørd外")
    (folder / "visits.toml").write_text(rows, encoding="utf-8")
    done = command(
        "release",
        folder / "visits.toml",
        env={**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"},
    )
    assert done.returncode == 0, done.stderr
    assert "N\\xf8rd" in done.stdout


def test_a_plan_that_does_not_fit_charges_nothing(folder, capsys):
    spec = folder / "visits.toml"
    spec.write_text(SPEC.replace("mu = 0.8", "mu = 0.9"), encoding="utf-8")
    assert main(["release", str(spec)]) == 1
    assert "nothing was charged" in capsys.readouterr().err
    assert main(["release", str(spec), "--dry-run"]) == 1
    assert "does not fit" in capsys.readouterr().out
    # No ledger with a cap that cannot be changed is left behind.
    assert not (folder / "visits.ledger").exists()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"visits.parquet"', '"none.parquet"', "none.parquet"),
        ('column = "minutes"', 'column = "minute"', "[columns.minute]"),
        ('entity = "who"', 'entity = "whom"', "who"),
    ],
)
def test_a_wrong_file_or_column_is_one_sentence_and_status_1(folder, capsys, old, new, said):
    spec = folder / "visits.toml"
    spec.write_text(SPEC.replace(old, new), encoding="utf-8")
    assert main(["release", str(spec)]) == 1
    captured = capsys.readouterr()
    assert said in captured.err
    assert "Traceback" not in captured.err
    assert not captured.out


def test_the_ledger_is_shown_and_checked(folder, capsys):
    main(["release", str(folder / "visits.toml")])
    path = str(folder / "visits.ledger")
    capsys.readouterr()
    assert main(["ledger", "show", path]) == 0
    shown = capsys.readouterr().out
    assert "36 %  committed" in shown
    assert "committed" in shown
    assert main(["ledger", "show", path, "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["spent"] == "1"
    assert [entry["id"] for entry in record["entries"]] == ["visits", "minutes"]
    assert main(["ledger", "check", path]) == 0
    assert "sound" in capsys.readouterr().out


def test_a_damaged_or_missing_ledger_gives_status_1(tmp_path, capsys):
    bad = tmp_path / "bad.ledger"
    bad.write_bytes(b"no ledger" * 1000)
    for path in (bad, tmp_path / "none.ledger", tmp_path):
        assert main(["ledger", "check", str(path)]) == 1
        assert capsys.readouterr().err.startswith("neyman: ")
    assert not (tmp_path / "none.ledger").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--mu", "1"], "4.37717809569"),
        (["--mu", "1", "--delta", "1e-6"], "4.88655411747"),
        (["--mu", "1", "--epsilon", "1"], "0.126936737507"),
        (["--rho", "0.5"], "4.37717809569"),
        (["--epsilon", "1", "--delta", "1e-5"], "0.268051123211"),
    ],
)
def test_convert(capsys, words, said):
    assert main(["convert", *words]) == 0
    assert said in capsys.readouterr().out


@pytest.mark.parametrize(
    "words",
    [
        ["--mu", "inf"],
        ["--mu", "1e400"],
        ["--rho", "nan"],
        ["--mu", "1", "--epsilon", "nan"],
        ["--mu", "1", "--epsilon", "inf"],
        ["--mu", "1", "--delta", "nan"],
        ["--mu", "x"],
        ["--mu", "nan"],
        ["--mu", "-1"],
        ["--mu", "1e999999999"],
        ["--delta", "2", "--epsilon", "1"],
    ],
)
def test_convert_refuses_what_is_no_parameter(capsys, words):
    assert main(["convert", *words]) == 2
    captured = capsys.readouterr()
    assert captured.err
    assert not captured.out


@pytest.mark.parametrize("trials", [12, pytest.param(40, marks=pytest.mark.soak)])
def test_convert_rounds_to_the_safe_side_in_print(capsys, trials):
    """Rounding to nearest, the broken twin, fails in about half of the cases."""
    chance, wrong_twins = random.Random(20), 0
    for _ in range(trials):
        epsilon, delta = round(chance.uniform(0.05, 6), 3), round(chance.uniform(1e-9, 1e-3), 12)
        main(["convert", "--epsilon", str(epsilon), "--delta", str(delta)])
        printed = dict(line.rsplit(None, 1) for line in capsys.readouterr().out.splitlines())
        allowed = ny.approx_dp(epsilon, delta).inner_gaussian()
        assert Fraction(printed["mu"]) ** 2 <= allowed
        wrong_twins += Fraction(f"{float(allowed) ** 0.5:.12g}") ** 2 > allowed
        exact = ny.gdp(squared=allowed).advantage()
        assert Fraction(printed["advantage"]) >= Fraction(exact)
    assert wrong_twins > trials / 8


@pytest.mark.parametrize("words", [[], ["convert"], ["convert", "--mu", "1", "--rho", "1"]])
def test_wrong_usage_is_status_2(words, capsys):
    assert main(words) == 2
    assert capsys.readouterr()


def test_wrong_words_are_status_2():
    assert command("publish").returncode == 2
    assert main(["ledger"]) == 2
    assert command("--help").returncode == 0


@pytest.mark.parametrize(
    "waits", [(0.3,), pytest.param((0.2, 0.3, 0.4, 0.5), marks=pytest.mark.soak)]
)
def test_an_interrupted_run_goes_on_where_it_was(folder, waits):
    """SIGINT at several moments; afterwards the same command ends well and costs no more."""
    spec = folder / "visits.toml"
    # An interrupt of Python's own start-up ends in status 1, so it is awaited.
    run = "print('begun', flush=True); import sys; from neyman.cli import main; sys.exit(main())"
    for wait in waits:
        child = subprocess.Popen(
            [sys.executable, "-c", run, "release", str(spec)],
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
    done = command("release", spec, "--json")
    if done.returncode == 1:
        # Both draws of an entry were interrupted: it says so, and stays charged.
        assert "stays charged" in done.stderr
    ledger = ny.Ledger.existing(folder / "visits.ledger")
    assert ledger.spent() <= 1
    assert not ledger.check()


@pytest.mark.parametrize(
    "module",
    [
        *("argparse", "neyman.ledger"),
        *(pytest.param(name, marks=pytest.mark.soak) for name in ("neyman.cli._main", "numpy")),
    ],
)
def test_an_interrupt_of_an_import_is_one_line_and_status_130(module):
    run = f"""
import os, signal, sys

class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupt())
from neyman.cli import main
sys.exit(main(["ledger", "show", "nothing.ledger"]))
"""
    done = subprocess.run(
        [sys.executable, "-c", run], capture_output=True, text=True, timeout=300, check=False
    )
    told = "neyman: interrupted before anything was begun\n"
    assert (done.returncode, done.stdout, done.stderr) == (130, "", told)


def test_output_into_a_closed_pipe_is_no_error(folder):
    main(["release", str(folder / "visits.toml"), "--json"])
    shell = f"{sys.executable} -m neyman release {folder / 'visits.toml'} --json | head -c 1"
    done = subprocess.run(
        shell, shell=True, capture_output=True, text=True, timeout=300, check=False
    )
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr


@pytest.mark.parametrize(
    ("old", "new", "difference"),
    [
        ('ward = ["north", "south"]', 'ward = ["north", "ICU"]', "query.keys"),
        ("delta = 1e-8", "delta = 1e-9", "(budget: gdp(mu=0.3) @ "),
    ],
)
def test_a_plan_that_a_run_would_refuse_says_so_in_the_words_of_the_run(
    tmp_path, capsys, old, new, difference
):
    rows = pa.table({"ward": ["north", "south", "east"] * 40})
    pq.write_table(rows, tmp_path / "visits.parquet")
    spec = tmp_path / "s.toml"
    written = (
        '[data]\npath = "visits.parquet"\n[unit]\nrows = true\n'
        '[keys.w]\nward = ["north", "south"]\n[unknown.u]\ncolumns = ["ward"]\n'
        '[budget]\nledger = "l"\nmu = 1\ndelta_aside = 1e-6\n'
        '[[query]]\nentry = "a"\nstatistic = "count"\nby = "w"\nmu = 0.3\n'
        '[[query]]\nentry = "b"\nstatistic = "count"\nby = "u"\nmu = 0.3\ndelta = 1e-8\n'
    )
    spec.write_text(written, encoding="utf-8")
    assert main(["release", str(spec)]) == 0
    for same in (["--dry-run"], ["--preview"]):
        capsys.readouterr()
        assert main(["release", str(spec), *same]) == 0
        assert capsys.readouterr().out.count("stored, free") == 2
    changed = written.replace(old, new).replace(
        "[[query]]", '[[query]]\nentry = "new"\nstatistic = "count"\nmu = 0.1\n[[query]]', 1
    )
    spec.write_text(changed, encoding="utf-8")
    said = []
    for way in ([], ["--dry-run"], ["--preview"], ["--preview", "--json"]):
        assert main(["release", str(spec), *way]) == 1
        captured = capsys.readouterr()
        assert "stored, free" not in captured.out
        said.append(captured.err)
    assert len(set(said)) == 1
    assert "was used before with another " in said[0]
    assert difference in said[0]
    # The run found it before it charged anything.
    assert len(ny.Ledger.existing(tmp_path / "l").entries()) == 2


def test_an_answer_is_printed_before_a_page_that_fails(folder, capsys, monkeypatch):
    def broken(*_, **__):
        raise RuntimeError("no \x1b[2J picture")

    page = folder / "report.html"
    words = ["release", str(folder / "visits.toml"), "--report", str(page)]
    with monkeypatch.context() as patched:
        patched.setattr("neyman.session._page.released", broken)
        assert main(words) == 1
    captured = capsys.readouterr()
    assert captured.out.startswith("visits\n")
    assert "report.html could not be made: RuntimeError: no \\x1b[2J picture" in captured.err
    assert "The answer is printed above and stored in the ledger" in captured.err
    assert not page.exists()
    assert not list(folder.glob(".neyman-*"))
    spent = ny.Ledger.existing(folder / "visits.ledger").spent()
    assert main(words) == 0
    assert "a stored answer, not charged again" in capsys.readouterr().out
    assert page.exists()
    assert ny.Ledger.existing(folder / "visits.ledger").spent() == spent


def test_keys_of_dollars_have_a_page(folder, capsys):
    text = (folder / "visits.toml").read_text()
    (folder / "visits.toml").write_text(
        text.replace('["north", "south"]', '["< $25k", "$25k_$50k", "$^$"]')
    )
    page = folder / "report.html"
    assert main(["release", str(folder / "visits.toml"), "--report", str(page)]) == 0
    assert "$25k_$50k" in capsys.readouterr().out
    assert "$25k_$50k" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("option", ["--dry-run", "--preview", "--json"])
def test_what_a_spec_holds_moves_no_terminal(folder, capsys, option):
    text = (folder / "visits.toml").read_text()
    wicked = "\\u001b[2Jx\\u202e\\nforged"
    (folder / "visits.toml").write_text(
        text.replace("Visits", wicked).replace('"minutes"\nstat', f'"{wicked}"\nstat')
    )
    main(["release", str(folder / "visits.toml"), option])
    captured = capsys.readouterr()
    assert (captured.out + captured.err).replace("\n", "").isprintable()
    assert "forged" not in [line.strip() for line in captured.out.splitlines()]


@pytest.mark.parametrize(
    "text", ["1e400000000", "9" * 5000, "0x" + "f" * 5000, "1/0", "1e-400000000"]
)
@pytest.mark.parametrize("option", ["--mu", "--rho"])
def test_a_number_of_any_length_is_refused_at_once(capsys, option, text):
    assert main(["convert", option, text]) == 2
    error = capsys.readouterr().err
    assert "must be a number, 0 or from 1e-300 to 1e300; got " in error
    assert len(error) < 600


def test_limits_are_spoken_of_for_functions_and_by_name_in_a_batch(tmp_path, capsys):
    who = [i for i in range(1500) for _ in range(2)]
    rows = pa.table({"who": who, "x": [i % 60 / 10 for i in who]})
    pq.write_table(rows, tmp_path / "visits.parquet")
    spec = tmp_path / "s.toml"
    spec.write_text(
        '[data]\npath = "visits.parquet"\n[unit]\nentity = "who"\nmax_rows = 1\n'
        "[columns.x]\nlower = 0\nupper = 6\ngrid = 0.1\n"
        '[budget]\nledger = "l"\nmu = 3\n'
        '[[query]]\nentry = "in all"\nstatistic = "sum"\ncolumn = "x"\nmu = 1\nbatch = "b"\n'
        '[[query]]\nentry = "on average"\nstatistic = "mean"\ncolumn = "x"\nmu = 1\nbatch = "b"\n'
        '[[query]]\nentry = "s"\nstatistic = "density"\ncolumn = "x"\nmu = 1\nbandwidth = 0.5\n',
        encoding="utf-8",
    )
    assert main(["release", str(spec)]) == 0
    in_all, on_average, shape = capsys.readouterr().out.split("\n\n")
    assert "Rows missing: " in in_all
    assert "For the effect of limits and bounds, see 'in all', where the same rows" in on_average
    assert "Rows missing: " in shape
