"""`neyman account` and `neyman calibrate`, run as a person runs them."""

import json
import math
import re
from contextlib import redirect_stdout
from fractions import Fraction
from io import StringIO

import pytest

from neyman.cli import main
from neyman.cli._commands import parser_of_all
from neyman.cli._phases import phases_of, run_of
from neyman.curves import TradeOff, gdp
from neyman.training import Phase

RUN = ["--noise-multiplier", "1.1", "--sampling-probability", "0.01", "--steps", "500"]
PHASE = "noise=1.1,q=0.01,steps=500"


def said(capsys, *words, status=0):
    assert main([*words]) == status
    captured = capsys.readouterr()
    assert bool(captured.err) == (status != 0)
    return captured.out if status == 0 else captured.err


def record(capsys, *words):
    return json.loads(said(capsys, *words, "--json"))


def curve():
    from neyman.accounting._training import dp_sgd

    return dp_sgd(noise_multiplier=1.1, sampling_probability=0.01, steps=500)


@pytest.fixture(scope="module")
def answers():
    """The statement of RUN, as text and as a record."""
    texts = []
    for more in ([], ["--json", "--fpr", "0.05"]):
        with redirect_stdout(StringIO()) as out:
            assert main(["account", *RUN, "--delta", "1e-5", *more]) == 0
        texts.append(out.getvalue())
    return texts[0], json.loads(texts[1])


def test_the_statement_says_what_who_and_when_not(answers):
    out = answers[0]
    for part in (
        "-GDP outside an event of probability 1e-5",
        ", 1e-5)-DP",
        "lower bound",
        "with 1 in 100 accused wrongly",
        "with 1 in 1,000 accused wrongly",
        "best balanced guess",
        "One record, added or removed",
        "after every step (500)",
        "Poisson sampling",
        "Does not hold for shuffled or fixed batches",
        "each of 5 passes",
    ):
        assert part in " ".join(out.split())
    assert max(map(len, out.splitlines())) <= 96


def test_printed_numbers_are_on_the_safe_side(answers):
    """Each printed loss is at least the view's, and at most 1e-3 above it."""
    out, found = answers[0].split("An attacker"), answers[1]
    f = curve()
    mu = Fraction(out[0].split("-GDP")[0].split()[-1])
    epsilon = Fraction(out[0].split("(")[1].split(",")[0])
    power = Fraction(out[1].split("finds at most ")[1].split()[0]) / 100
    guess = Fraction(out[1].split("right at most ")[1].split()[0]) / 100
    for printed, exact in (
        (mu, found["mu"]["upper"]),
        (epsilon, f.epsilon(1e-5)),
        (power, f.tpr(0.01)),
        (guess, (1 + Fraction(f.advantage())) / 2),
    ):
        assert Fraction(exact) <= printed <= Fraction(exact) * (1 + Fraction(1, 1000))


def test_the_record_holds_the_exact_curve_and_both_sides(answers):
    found = answers[1]
    assert (found["format"], found["version"]) == ("neyman.account", 2)
    f = curve()
    assert TradeOff.from_json(found["curve"]) == f
    assert found["epsilon"]["upper"] == f.epsilon(1e-5)
    assert found["epsilon"]["lower"] <= found["epsilon"]["upper"]
    assert found["mu"]["lower"] <= found["mu"]["upper"] < 1
    assert [attack["fpr"] for attack in found["tpr"]] == [0.05]
    assert found["tpr"][0]["upper"] == f.tpr(0.05)
    assert found["advantage"]["upper"] == f.advantage()
    assert [Phase.from_json(phase) for phase in found["phases"]] == [
        Phase.poisson(noise_multiplier=1.1, sampling_probability=0.01, steps=500)
    ]


@pytest.mark.parametrize(
    "words",
    [
        ["--noise-multiplier", "1.1", "--records", "6000", "--batch", "60", "--epochs", "5"],
        ["--noise-multiplier", "1.1", "--sampling-probability", "1/100", "--epochs", "4.991"],
        ["--phase", PHASE],
        ["--phase", " steps=500, q=1e-2, noise=11/10"],
        ["--phase", "noise=1.1,q=0.01,steps=200", "--phase", "noise=1.1,q=0.01,steps=300"],
    ],
)
def test_other_words_for_the_same_training(words):
    phases = phases_of(parser_of_all().parse_args(["account", *words, "--delta", "1e-6"]))
    assert run_of(phases).curve == curve()


def test_without_sampling_it_is_the_plain_gaussian(capsys):
    words = ["--noise-multiplier", "2", "--records", "7", "--batch", "7", "--steps", "4"]
    found = record(capsys, "account", *words, "--delta", "0")
    assert TradeOff.from_json(found["curve"]) == gdp(1)
    assert found["mu"]["upper"] == 1
    assert found["epsilon"]["upper"] is None
    out = said(capsys, "account", *words, "--delta", "0")
    assert "no epsilon at delta = 0" in out
    assert "Poisson" not in out
    assert "shuffled" not in out


def test_phases_of_different_noise_are_one_training(capsys):
    parts = ["noise=2,q=1,steps=2", "noise=4,q=1,steps=8"]
    words = [word for part in parts for word in ("--phase", part)]
    found = record(capsys, "account", *words, "--delta", "1e-5")
    assert TradeOff.from_json(found["curve"]) == gdp(1)
    assert found["does_not_hold"] == ["where records share a gradient (batch normalisation)."]


@pytest.mark.parametrize(
    "words",
    [
        [],
        RUN[:4],
        RUN[2:],
        [*RUN, "--phase", PHASE],
        [*RUN, "--records", "10", "--batch", "1"],
        [*RUN[:2], "--records", "10", "--steps", "3"],
        [*RUN, "--epochs", "3"],
        [*RUN[:2], "--sampling-probability", "0", "--epochs", "3"],
        ["--phase", "noise=1,q=0.1"],
        ["--phase", "noise=1,q=0.1,steps=3,steps=3"],
        ["--phase", "sigma=1,q=0.1,steps=3"],
    ],
)
def test_words_that_do_not_go_together_are_status_2(capsys, words):
    assert said(capsys, "account", *words, "--delta", "1e-5", status=2)


@pytest.mark.parametrize(
    "words",
    [
        ["--phase", "noise=0,q=0.1,steps=3"],
        ["--phase", "noise=nan,q=0.1,steps=3"],
        ["--phase", "noise=1,q=2,steps=3"],
        ["--phase", "noise=1,q=1/0,steps=3"],
        ["--phase", "noise=1,q=0.1,steps=3.5"],
        ["--phase", "noise=1,q=0.1,steps=-3"],
        [*RUN[:2], "--records", "10", "--batch", "11", "--steps", "3"],
        [*RUN, "--fpr", "1"],
        [*RUN, "--delta", "1e999999999"],
        [*RUN, "--delta", "1"],
    ],
)
def test_what_is_no_parameter_is_wrong_usage(capsys, words):
    err = said(capsys, "account", "--delta", "1e-5", *words, status=2)
    assert "usage: neyman account " in err


def test_delta_has_no_default(capsys):
    assert "--delta" in said(capsys, "account", *RUN, status=2)


TRAIN = {
    "--noise-multiplier": "3.8128168308",
    "--sampling-probability": "0.01",
    "--steps": "10000",
}


@pytest.mark.parametrize(
    ("unknown", "name", "truth"),
    [
        ("--noise-multiplier", "noise multiplier", 3.8128168307019874),
        ("--sampling-probability", "sampling probability", 0.01),
        ("--steps", "steps", 10000),
    ],
)
def test_whatever_is_left_out_is_found(capsys, unknown, name, truth):
    words = [word for pair in TRAIN.items() if pair[0] != unknown for word in pair]
    words = ["calibrate", "--epsilon", "1", "--delta", "1e-5", *words]
    found = record(capsys, *words)
    assert (found["format"], found["version"]) == ("neyman.calibrate", 2)
    assert found["solved"] == name
    assert found["value"] == pytest.approx(truth, rel=1e-8)
    assert found["epsilon"]["upper"] <= 1
    assert found["misses"] == pytest.approx(truth, rel=2e-4)


@pytest.mark.parametrize(
    ("target", "value", "reached"),
    [
        (["--mu", "0.5", "--slack", "0"], 2.0, lambda f: f.mu() <= 0.5),
        (["--advantage", "0.1"], 3.97894828, lambda f: f.advantage() <= 0.1),
        (["--tpr", "0.02", "--fpr", "0.01"], 3.66839253, lambda f: f.tpr(0.01) <= 0.02),
        (["--epsilon", "1", "--delta", "1e-5"], 3.73063163, lambda f: f.delta(1) <= 1e-5),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_noise_without_sampling_for_every_target(capsys, target, value, reached):
    words = ["calibrate", *target, "--sampling-probability", "1", "--steps", "1"]
    found = record(capsys, *words)
    # What is printed is what the statement is about, and it meets the target.
    assert reached(TradeOff.from_json(found["curve"]))
    assert found["value"] == pytest.approx(value, rel=1e-8)
    assert found["misses"] < found["meets"] <= found["value"]
    line = said(capsys, *words).splitlines()[0]
    printed, other = re.findall(r"[0-9][0-9.]+", line)
    assert Fraction(other) <= Fraction(found["misses"]) < Fraction(printed)
    assert math.isclose(float(printed), found["value"])


def test_calibrated_noise_is_said_first_and_reaches_what_was_asked(capsys):
    words = ["--epsilon", "1", "--delta", "1e-5", "--sampling-probability", "1", "--steps", "4"]
    out = said(capsys, "calibrate", *words)
    assert out.startswith("noise multiplier  7.46126327")
    assert "(1, 1e-5)-DP" in out


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--epsilon", "1"],
        ["--epsilon", "1", "--delta", "1e-5", "--mu", "1"],
        ["--mu", "1"],
        ["--tpr", "0.1"],
    ],
)
def test_a_target_is_one_target(capsys, words):
    rest = ["--sampling-probability", "1", "--steps", "1"]
    assert "one target" in said(capsys, "calibrate", *words, *rest, status=2)


def test_no_epsilon_at_all_is_an_advantage(capsys):
    err = said(capsys, "calibrate", "--epsilon", "0", "--delta", "1e-5", *RUN[2:], status=2)
    assert "write --advantage 1e-5" in err


@pytest.mark.parametrize(
    "words", [["--steps", "3"], ["--noise-multiplier", "1", *RUN], ["--records", "5"]]
)
def test_two_of_three_are_given(capsys, words):
    assert said(capsys, "calibrate", "--mu", "1", "--slack", "0", *words, status=2)


def test_a_target_out_of_reach_is_status_1(capsys):
    words = ["--noise-multiplier", "0.1", "--sampling-probability", "1"]
    err = said(capsys, "calibrate", "--epsilon", "1", "--delta", "1e-5", *words, status=1)
    assert "no parameter meets the target" in err


@pytest.mark.parametrize(
    ("words", "name", "found"),
    [
        (["--epsilon", "1", "--delta", "0.5"], "--delta", "0.5"),
        (["--mu", "1", "--slack", "0.01"], "--slack", "0.01"),
    ],
)
def test_a_target_in_other_units_is_refused(capsys, words, name, found):
    rest = ["--sampling-probability", "1", "--steps", "1"]
    err = said(capsys, "calibrate", *words, *rest, status=2)
    assert (
        f"{name} must be below 0.01; got {found}. A delta this large permits publishing one record "
        "in a hundred in full. Write a number far below 1 in the number of those protected, such "
        "as 1e-6"
    ) in err


def test_what_is_not_found_is_not_said_to_be_infinite():
    from neyman.report import _statement

    assert _statement._row("mu-GDP", "{}-GDP", (13.0, math.inf), "")[0] == "mu-GDP not found"
    assert _statement._row("mu-GDP", "{}-GDP", (math.inf, math.inf), "")[0] == "no mu-GDP"
    assert _statement._both((13.0, math.inf)) == {"lower": 13.0, "upper": None, "finite": None}
    assert _statement._both((math.inf, math.inf)) == {"lower": None, "upper": None, "finite": False}
    assert _statement._both((1.0, 2.0)) == {"lower": 1.0, "upper": 2.0, "finite": True}


@pytest.mark.parametrize("nothing", [("0", "10"), ("0.1", "0")])
def test_nothing_lost_is_said_exactly(capsys, nothing):
    q, steps = nothing
    words = ["--noise-multiplier", "1", "--sampling-probability", q, "--steps", steps]
    out = said(capsys, "account", *words, "--delta", "1e-5")
    assert "finds at most 1 in 100 (chance: 1)" in out
    assert "passes" not in out
