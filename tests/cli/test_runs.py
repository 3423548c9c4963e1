"""`neyman account RUN.json`, `neyman check` and `neyman doctor`, run as a person runs them."""

import json
import re
from fractions import Fraction

import pytest

from neyman.cli import main
from neyman.curves import TradeOff, gdp
from neyman.report import Statement
from neyman.training import Check, Phase, RunRecord, ShuffledBatches

DELTA = ("--delta", "1e-5")


def phase(noise=1, steps=100):
    return Phase.poisson(noise_multiplier=noise, sampling_probability=Fraction(1, 100), steps=steps)


def record(*phases, **changes):
    known = {"unit": "one image", "neighbors": "add_remove", "versions": {}}
    return RunRecord(phases=phases or (phase(), phase(noise=1.5)), **{**known, **changes})


@pytest.fixture
def saved(tmp_path):
    """Save a record, and give its place as the command line has it."""

    def save(run):
        place = tmp_path / "model.run.json"
        run.save(place)
        return str(place)

    return save


def said(capsys, *words, status=0):
    assert main([*words]) == status
    return capsys.readouterr()


def test_the_statement_of_a_record_has_the_numbers_of_its_curve(capsys, saved):
    run = record()
    place = saved(run)
    found = json.loads(said(capsys, "account", place, *DELTA, "--json").out)
    assert (found["format"], found["version"]) == ("neyman.account", 2)
    assert TradeOff.from_json(found["curve"]) == run.curve
    assert found["epsilon"]["upper"] == run.curve.epsilon(1e-5)
    assert found["mu"]["upper"] == run.curve.mu(slack=1e-5)
    assert [Phase.from_json(one) for one in found["phases"]] == list(run.phases)
    text = said(capsys, "account", place, *DELTA).out
    printed = Fraction(text.split("(")[1].split(",")[0])
    assert 0 <= printed - Fraction(run.curve.epsilon(1e-5)) < Fraction(1, 10**5)
    assert "One image, added or removed." in text
    assert "steps 100" in text


def test_all_forms_have_the_same_number(capsys, saved):
    run = record()
    place = saved(run)
    number = re.search(r"\(([0-9.]+), 1e-5\)-DP", said(capsys, "account", place, *DELTA).out)[1]
    assert f"**({number}, 1e-5)-DP**" in said(capsys, "account", place, *DELTA, "--markdown").out
    draft = said(capsys, "account", place, *DELTA, "--registry").out
    assert f"epsilon: {run.curve.epsilon(1e-5)!r}" in draft
    assert 'privacy_unit: "one image"' in draft


def test_one_record_replaced_by_another(capsys, saved):
    sampler = ShuffledBatches(records=1000, batch_size=10, epochs=4)
    run = record(Phase.of(sampler, noise_multiplier=8, steps=400), neighbors="replace_one")
    text = said(capsys, "account", saved(run), *DELTA).out
    assert "One image, replaced by another." in text
    assert "what one record holds" in text
    assert "sampler ShuffledBatches (" in text
    # Two clipping norms a pass, without amplification: gdp(2/8) ** 4.
    assert text.startswith("Privacy        0.49998-GDP ")
    assert f"({gdp(0.5).epsilon(1e-5):.4f}, 1e-5)-DP" in text
    assert "lower bound 0\n" in text
    assert "Poisson" not in text


def test_what_is_wrong_stands_in_every_form(capsys, saved, tmp_path):
    plain = Phase.poisson(noise_multiplier=4, sampling_probability=1, steps=4)
    place = saved(record(plain, checks=(Check("batch_norm", passed=False),)))
    page = tmp_path / "page.html"
    assert "Found wrong" in said(capsys, "account", place, *DELTA).out
    for form in ("--json", "--markdown", "--registry"):
        assert re.search(r"batch\\*_norm", said(capsys, "account", place, *DELTA, form).out)
    said(capsys, "account", place, *DELTA, "--html", str(page))
    assert "batch_norm" in page.read_text()


def test_a_page_replaces_pages_alone(capsys, saved, tmp_path):
    plain = Phase.poisson(noise_multiplier=4, sampling_probability=1, steps=4)
    place, page = saved(record(plain)), tmp_path / "page.html"
    assert "written" in said(capsys, "account", place, *DELTA, "--html", str(page)).out
    said(capsys, "account", place, *DELTA, "--html", str(page))
    assert "no report" in said(capsys, "account", place, *DELTA, "--html", place, status=1).err


def test_a_record_and_a_training_in_words_are_one_too_many(capsys, saved):
    place = saved(record())
    assert "--steps" in said(capsys, "account", place, "--steps", "3", *DELTA, status=2).err


def test_a_registry_draft_needs_an_epsilon(capsys, saved):
    words = ("account", saved(record()), "--delta", "0", "--registry")
    assert "no" in said(capsys, *words, status=1).err


def test_what_a_record_guarantees_is_explained(capsys, saved):
    words = ("explain", saved(record()), "--prior", "0.5", "--language", "en")
    text = said(capsys, *words).out
    assert "one image" in text
    assert "noise multiplier 1.5" in text


# -- check --------------------------------------------------------------------------------------


def test_a_bound_holds_up_to_the_number_itself(capsys, saved):
    run = record()
    epsilon = run.curve.epsilon(1e-5)
    above, below = str(epsilon * (1 + 1e-9)), str(epsilon * (1 - 1e-9))
    place = saved(run)
    assert "holds" in said(capsys, "check", place, "--max-epsilon", above, *DELTA).out
    assert "above the bound" in (
        said(capsys, "check", place, "--max-epsilon", below, *DELTA, status=1).out
    )


def test_a_bound_without_a_delta_is_said_to_be_at_0(capsys, saved):
    found = said(capsys, "check", saved(record()), "--max-mu", "0.01", status=1).out
    assert found.startswith("mu at delta = 0 is at most")


@pytest.mark.parametrize(
    ("bounds", "status"),
    [
        ((), 0),
        (("--max-mu", "0.9", *DELTA), 0),
        (("--max-mu", "0.01", *DELTA), 1),
        (("--max-mu", "0.9", "--max-epsilon", "0.01", *DELTA), 1),
        # Without a delta sampling does not help mu.
        (("--max-mu", "9"), 1),
        (("--max-mu", "13"), 0),
        (("--max-epsilon", "1"), 2),
        (("--max-mu", "-1"), 2),
        (("--max-mu", "abc"), 2),
        (("--max-epsilon", "1", "--delta", "1"), 2),
        (("--max-epsilon", "1", "--delta", "1.5"), 2),
    ],
)
def test_the_exit_status_says_whether_a_bound_holds(capsys, saved, bounds, status):
    said(capsys, "check", saved(record()), *bounds, status=status)


def claims(run, curve):
    found = run.to_json()
    found["curve"] = curve.to_json()
    return RunRecord.from_json(found)


SHUFFLED = Phase.of(
    ShuffledBatches(records=1000, batch_size=10, epochs=1), noise_multiplier=1, steps=100
)


@pytest.mark.parametrize(
    ("run", "name"),
    [
        (claims(record(), gdp(Fraction(1, 100))), "claims_less"),
        (claims(record(SHUFFLED), record(phase()).curve), "shuffled_batches"),
        (record(checks=(Check("batch_norm", passed=False),)), "batch_norm"),
        (record(world=2), "missing_ranks"),
        (
            record(
                Phase(noise_multiplier=Fraction(1), sampler={"sampler": "x"}, steps=1, planned=1),
                claimed=gdp(1),
            ),
            "unknown_guarantee",
        ),
    ],
)
def test_a_record_that_proves_nothing_is_refused_whatever_the_bound(capsys, saved, run, name):
    place = saved(run)
    assert name in said(capsys, "check", place, status=1).out
    assert name in said(capsys, "check", place, "--max-mu", "1e9", status=1).out


def test_a_record_that_claims_more_than_it_costs_is_sound(capsys, saved):
    said(capsys, "check", saved(claims(record(), gdp(100))))


def test_trainings_that_chose_this_one_count(capsys, saved):
    run = record(tuning_runs=9)
    words = ("check", saved(run), "--max-epsilon", f"{2 * run.curve.epsilon(1e-5):.6f}", *DELTA)
    assert "tuning_not_counted" in said(capsys, *words, status=1).out


def test_a_check_for_programs(capsys, saved):
    words = ("check", saved(record()), "--max-mu", "0.01", *DELTA, "--json")
    found = json.loads(said(capsys, *words, status=1).out)
    assert (found["format"], found["version"], found["holds"]) == ("neyman.check", 1, False)
    assert len(found["refused"]) == 1


# -- doctor -------------------------------------------------------------------------------------


def test_the_doctor_says_what_is_wrong_by_its_status(capsys, saved):
    assert "shows no mistake" in said(capsys, "doctor", saved(record())).out
    place = saved(record(records=1000, tuning_runs=1))
    text = said(capsys, "doctor", place, "--delta", "0.01", status=1).out
    assert text.count("  Holds: ") == text.count("  Write: ") == 2
    found = json.loads(said(capsys, "doctor", place, *DELTA, "--json", status=1).out)
    assert [one["name"] for one in found["findings"]] == ["tuning_not_counted"]
    said(capsys, "doctor", place, "--delta", "2", status=2)


@pytest.mark.parametrize("command", ["check", "doctor", "account"])
def test_a_file_that_is_no_record_is_status_1(capsys, tmp_path, command):
    words = DELTA if command == "account" else ()
    assert "run.json" in said(capsys, command, str(tmp_path / "run.json"), *words, status=1).err
    place = tmp_path / "run.json"
    place.write_text("{}")
    assert "run record" in said(capsys, command, str(place), *words, status=1).err


def test_a_statement_is_one_thing_in_python_and_in_the_shell(capsys, saved):
    run = record()
    assert said(capsys, "account", saved(run), *DELTA).out == f"{Statement.of(run, delta=1e-5)}\n"
