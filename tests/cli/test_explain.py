"""`neyman explain`, run as a person runs it."""

import json

import pytest

import neyman as ny
from neyman.cli import main
from neyman.released import Guarantee
from neyman.report import explain

ASKED = ["--language", "en", "--prior", "0.5"]
RUN = ["--noise-multiplier", "2", "--sampling-probability", "1", "--steps", "4"]


def said(capsys, *words, status=0):
    assert main(["explain", *map(str, words)]) == status
    captured = capsys.readouterr()
    assert bool(captured.err) == (status != 0)
    return captured.out if status == 0 else captured.err


@pytest.fixture
def guarantee():
    return Guarantee(
        curve=ny.gdp(1), neighbors="replace_one", unit="one patient", assumptions=("Yes.",)
    )


def test_a_file_is_explained_whatever_it_holds(tmp_path, capsys, guarantee):
    bare, whole, release = (tmp_path / name for name in ("curve", "guarantee", "release"))
    bare.write_text(json.dumps(ny.gdp(1).to_json()), encoding="utf-8")
    whole.write_text(json.dumps(guarantee.to_json()), encoding="utf-8")
    record = {"format": "neyman.release", "guarantee": guarantee.to_json()}
    release.write_text(json.dumps(record), encoding="utf-8")
    told = str(explain(guarantee, language="en", priors=[0.5]))
    assert said(capsys, bare, *ASKED) == f"{explain(ny.gdp(1), language='en', priors=[0.5])}\n"
    assert said(capsys, whole, *ASKED) == f"{told}\n"
    assert said(capsys, release, *ASKED) == f"{told}\n"


def test_a_ledger_is_explained_by_what_was_spent(tmp_path, capsys):
    ledger = ny.Ledger.open(tmp_path / "a", cap=ny.gdp(1), unit="one row", neighbors="add_remove")
    assert "at most 10 of 1,000 true ones" in said(capsys, ledger.store.path, *ASKED)
    ledger.reserve(
        entry="a",
        request={},
        source="x",
        curve=ny.gdp(0.5),
        unit="one row",
        neighbors="add_remove",
    )
    told = said(capsys, ledger.store.path, *ASKED)
    assert "The guarantee protects one row." in told
    assert "0.5-GDP" in told


@pytest.mark.parametrize(
    ("language", "sampled"), [("en", "Poisson"), ("ko", "푸아송"), ("zh", "泊松")]
)
def test_a_training_is_explained_with_what_it_rests_on(capsys, language, sampled):
    words = ["--language", language, "--prior", "0.5", "--unit", "X"]
    whole = said(capsys, *words, *RUN)
    assert "1-GDP" in whole
    assert sampled not in whole
    phase = ["--phase", "noise=2,q=1/2,steps=1"]
    part = said(capsys, *words, *phase)
    assert sampled in part
    assert "1/2" in part or "0.5" in part


def test_every_option_reaches_the_text(capsys):
    words = [*ASKED, "--prior", "0.01", "--fpr", "0.001", "--flagged", "0.2", "--delta", "1e-5"]
    record = json.loads(said(capsys, *words, *RUN, "--unit", "X", "--json"))
    found = [each for section in record["sections"] for each in section["sentences"]]
    named = {
        name: [each["values"] for each in found if each["name"] == name]
        for name in ("guess", "power", "flagged", "epsilon")
    }
    assert [values["true"] for values in named["guess"]] == [500, 10]
    assert [values["wrong"] for values in named["power"]] == [10]
    assert [values["flagged"] for values in named["flagged"]] == [200, 200]
    assert [values["delta"] for values in named["epsilon"]] == ["1e-5"]
    assert record["format"] == "neyman.explanation"


def test_what_does_not_go_together_is_refused(tmp_path, capsys):
    other = tmp_path / "other.json"
    assert "a training must have --unit; got none" in said(capsys, *ASKED, *RUN, status=2)
    assert "must be a file or the options of a training; got" in said(
        capsys, other, *ASKED, *RUN, status=2
    )
    assert "cannot be used" in said(capsys, other, *ASKED, status=1)
    for text in ("[]", "{}", "no", '{"format": "neyman.release"}'):
        other.write_text(text, encoding="utf-8")
        assert "must contain a guarantee" in said(capsys, other, *ASKED, status=1)
    other.write_text('{"curve": 1, "neighbors": 1, "unit": 1, "assumptions": 1}', encoding="utf-8")
    assert "must name the unit" in said(capsys, other, *ASKED, status=1)
    assert "--language does not take 'xx'; write one of en, ko, zh" in said(
        capsys, *RUN, "--unit", "X", "--language", "xx", "--prior", "0.5", status=2
    )
    assert "must be decimals of at most nine places" in said(
        capsys, *RUN, "--unit", "X", "--language", "en", "--prior", "1/3", status=2
    )


@pytest.mark.parametrize(
    ("shell", "language"),
    [("ko_KR.UTF-8", "ko"), ("zh_CN.UTF-8", "zh"), ("C.UTF-8", "en"), ("de_DE", "en"), ("", "en")],
)
def test_without_a_language_the_words_are_those_of_the_shell(capsys, monkeypatch, shell, language):
    for name in ("LC_ALL", "LC_MESSAGES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", shell)
    words = ["--prior", "0.5", "--unit", "X"]
    assert said(capsys, *RUN, *words) == said(capsys, *RUN, *words, "--language", language)
