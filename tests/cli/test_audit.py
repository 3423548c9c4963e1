"""`neyman audit`: scores in files, and functions, against claims."""

import csv
import json
import re
import textwrap

import numpy as np
import pytest

from neyman import audit
from neyman.cli import main
from neyman.cli._claim import read_claim
from neyman.cli._parser import WrongUsage
from neyman.curves import compose, gdp, laplace, pure_dp


def said(capsys, *words, status=0):
    assert main(["audit", *map(str, words)]) == status
    return capsys.readouterr()


@pytest.fixture
def scores():
    draw = np.random.default_rng(0)
    return {"inside": draw.normal(1, 1, 2000), "outside": draw.normal(0, 1, 2000)}


@pytest.fixture
def saved(scores, tmp_path):
    place = tmp_path / "scores.npz"
    np.savez(place, **scores)
    return place


@pytest.mark.parametrize(("mu", "status"), [("1.2", 0), ("0.5", 1)])
def test_scores_of_many_runs_refute_what_is_false(capsys, saved, scores, mu, status):
    words = [saved, "--claim", f"gdp({mu})", "--seed", 1, "--delta", "1e-5"]
    found = json.loads(said(capsys, *words, "--json", status=status).out)
    same = audit.refute(*scores.values(), gdp(float(mu)), seed=1)
    assert found["p_value"] == same.p_value
    assert found["refuted"] is bool(status)
    assert found["mu"] == float(same.mu())
    assert found["epsilon"] == float(audit.epsilon(*scores.values(), delta=1e-5, seed=1))
    text = said(capsys, *words, status=status).out
    assert str(same) in text
    # One bound beside the verdict, whose own bound is part of its sentence.
    assert text.count("confidence 0.95") == 1
    assert "by this rule, mu >= " in text


def test_a_table_of_scores_is_the_same_as_arrays(capsys, saved, scores, tmp_path):
    place = tmp_path / "scores.csv"
    with place.open("w", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(["run", "score", "inside"])
        for number, name in enumerate(("outside", "inside")):
            lines.writerows([0, repr(float(score)), number] for score in scores[name])
    words = ["--claim", "gdp(0.5)", "--seed", 1, "--json"]
    assert said(capsys, place, *words, status=1).out == said(capsys, saved, *words, status=1).out


def test_scores_of_one_run(capsys, tmp_path):
    draw = np.random.default_rng(1)
    coins = draw.integers(0, 2, 4000)
    place = tmp_path / "run.npz"
    np.savez(place, scores=draw.normal(3 * coins), included=coins)
    words = [place, "--claim", "gdp(1)", "--seed", 2, "--delta", "1e-5"]
    found = json.loads(said(capsys, *words, "--json", status=1).out)
    assert 1 < found["mu"] < 3
    assert found["epsilon"] <= found["most_epsilon"]
    assert "no commitment was made" in said(capsys, *words, status=1).out
    assert "--delta is missing" in said(capsys, *words[:-2], status=2).err


def test_coins_that_were_committed_are_made_again_from_their_seed(capsys, tmp_path):
    made = audit.canaries(4000)
    scores = np.random.default_rng(1).normal(3 * made.included)
    for name, arrays in {"with": {"included": made.included}, "without": {}}.items():
        np.savez(tmp_path / f"{name}.npz", scores=scores, **arrays)
        words = [tmp_path / f"{name}.npz", "--claim", "gdp(1)", "--delta", "1e-5", "--seed", 2]
        seed = ["--canaries", made.seed.hex(), "--commitment", made.commitment]
        found = json.loads(said(capsys, *words, *seed, "--json", status=1).out)
        assert found["commitment"] == made.commitment
        assert found["mu"] == audit.one_run(scores=scores, included=made, delta=1e-5, seed=2).mu
        seed[3] = "0" * 64
        assert "commitment to 4000 canaries" in said(capsys, *words, *seed, status=2).err
    assert "--canaries" in said(capsys, *words, status=2).err
    assert "seed must be" in said(capsys, *words, "--canaries", "no hex", status=2).err
    other = ["--canaries", audit.canaries(4000).seed.hex()]
    words[0] = tmp_path / "with.npz"
    assert "differ" in said(capsys, *words, *other, status=2).err


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("gdp(1)", gdp(1)),
        ("gdp(mu=0.5)", gdp(0.5)),
        ("pure_dp(0.1) ** 20", pure_dp(0.1) ** 20),
        ("compose(laplace(1), gdp(1e-1))", compose(laplace(1), gdp(0.1))),
        ("dp_sgd(1.1, 0.01, 100).remove", None),
    ],
)
def test_a_claim_is_what_it_says(text, claim):
    found = read_claim(text)
    if claim is not None:
        assert found == claim
    else:
        assert found == read_claim(text.removesuffix(".remove")).remove


def test_a_claim_may_be_a_file(tmp_path):
    place = tmp_path / "claim.json"
    place.write_text(json.dumps(gdp(1).to_json()))
    assert read_claim(str(place)) == gdp(1)
    place.write_text("{}")
    with pytest.raises(WrongUsage, match="must contain a guarantee"):
        read_claim(str(place))


@pytest.mark.parametrize(
    "text",
    [
        "", "1", "gdp", "gdp(1", "gdp(1).mu", "gdp(1).add.add", "gdp(*[1])", "gdp(**{})",
        "gdp(True)", "gdp('1')", "gdp(-1)", "gdp(1) ** -1", "gdp(1) ** 0.5", "gdp(nu=1)",
        "gdp(1e999)", "open('x')", "__import__('os').system('true')", "(" * 5000,
        "gdp(1)" + " " * 10**6 + "x", "\0", "a/" * 3000, "gdp(1) if 1 else 2", "[gdp(1)]",
        "lambda: 1", "gdp(gdp(1))", "dp_sgd(1, 2, 3)",
    ],
)  # fmt: skip
def test_what_is_no_claim_is_wrong_usage_and_runs_nothing(capsys, saved, text):
    found = said(capsys, saved, f"--claim={text}", status=2)
    assert "Traceback" not in found.err
    assert len(found.err) < 2000


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.npz", b""),
        ("x.npz", b"PK\x03\x04 and no more"),
        ("x.npz", b"\x93NUMPY"),
        ("x.csv", b"score\n1\n"),
        ("x.csv", b"score,inside\n1,2\n"),
        ("x.csv", b"score,inside\none,1\n"),
        ("x.csv", b"\xff\xfe\x00"),
        ("x.csv", b""),
        ("x.txt", b"score,inside\n1,1\n"),
    ],
)
def test_files_without_scores_are_refused_with_what_to_write(capsys, tmp_path, name, content):
    place = tmp_path / name
    place.write_bytes(content)
    found = said(capsys, place, "--claim", "gdp(1)", status=2)
    assert "Traceback" not in found.err
    assert ".npz" in found.err


def test_an_archive_of_objects_is_not_unpickled(capsys, tmp_path):
    place = tmp_path / "x.npz"
    np.savez(place, inside=np.array([print], dtype=object), outside=np.zeros(9))
    assert "holds no scores" in said(capsys, place, "--claim", "gdp(1)", status=2).err


@pytest.mark.parametrize("words", [("--level", "0.5"), ("--delta", "1"), ("--seed", "-1")])
def test_numbers_outside_their_ranges(capsys, saved, words):
    found = said(capsys, saved, "--claim", "gdp(1)", *words, status=2)
    assert words[0] in found.err


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Write a module into the folder where the command runs; its name."""
    name = "noisy_" + re.sub(r"\W", "_", tmp_path.name)
    (tmp_path / f"{name}.py").write_text(
        textwrap.dedent(
            """
            import random
            D, D2 = [1, 0, 1], [1, 0]
            def count(data):
                return sum(data) + random.choice((-1, 1)) * random.expovariate(1.0)
            def exact(data):
                return sum(data)
            """
        )
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return name


INPUTS = ("--data", "[1, 0, 1]", "--neighbor", "[1, 0]", "--seed", "1")


def test_a_function_is_run_on_both_inputs(capsys, module):
    words = [*INPUTS, "--claim", "pure_dp(0.1)", "--seconds", "0.5"]
    assert "is refuted" in said(capsys, f"{module}:exact", *words, status=1).out
    words[1], words[3] = f"{module}:D", f"{module}:D2"
    found = said(capsys, f"{module}:count", *words, "--json", status=1)
    assert json.loads(found.out)["p_value"] < 0.05


@pytest.mark.parametrize(
    ("target", "words", "said_of_it"),
    [
        ("{}:count", (), "--data and --neighbor"),
        ("{}:count", ("--data", "[1"), "--data and --neighbor"),
        ("{}:count", ("--data", "[1", "--neighbor", "1"), "--data is neither"),
        ("{}:none", INPUTS, "cannot be loaded"),
        ("no_{}:count", INPUTS, "cannot be loaded"),
        ("{}:D", INPUTS, "is not a function"),
        ("{}:count", (*INPUTS, "--seconds", "0"), "--seconds"),
    ],
)
def test_wrong_usage_of_functions(capsys, module, target, words, said_of_it):
    found = said(capsys, target.format(module), *words, "--claim", "gdp(1)", status=2)
    assert said_of_it in found.err


def test_inputs_of_a_function_do_not_go_with_scores(capsys, saved):
    assert "leave them out" in said(capsys, saved, *INPUTS, "--claim", "gdp(1)", status=2).err
