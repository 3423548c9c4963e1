"""What the doctor finds in a record, each beside a record that is sound."""

import hashlib
from fractions import Fraction

import pytest

from neyman.curves import gdp
from neyman.errors import InvalidParameter
from neyman.training import Check, Finding, Findings, Phase, RunRecord, ShuffledBatches, doctor


def digest(name):
    return hashlib.sha256(name.encode()).hexdigest()


def phase(steps=100, **changes):
    return Phase.poisson(
        noise_multiplier=1, sampling_probability=Fraction(1, 100), steps=steps, **changes
    )


def record(*phases, **changes):
    known = {"unit": "one image", "neighbors": "add_remove", "versions": {}}
    return RunRecord(phases=phases or (phase(),), **{**known, **changes})


def names(run, **given):
    return [finding.name for finding in doctor(run, **given)]


SAME = (digest("a"),)
SHUFFLED = Phase.of(
    ShuffledBatches(records=1000, batch_size=100, epochs=1), noise_multiplier=1, steps=10
)
OF_800 = Phase.of(
    ShuffledBatches(records=800, batch_size=100, epochs=1), noise_multiplier=1, steps=8
)


@pytest.mark.parametrize(
    ("name", "wrong", "sound"),
    [
        ("claims_less", record(claimed=gdp(0.01)), record(claimed=gdp(10))),
        (
            "shuffled_batches",
            record(SHUFFLED, claimed=phase(10) and record(phase(10)).curve),
            record(SHUFFLED),
        ),
        (
            "more_steps_than_planned",
            record(phase(101, planned=100)),
            record(phase(99, planned=100)),
        ),
        (
            "replayed_seed",
            record(phase(seeds=SAME), phase(seeds=SAME, start=99)),
            record(phase(seeds=SAME), phase(seeds=SAME, start=100)),
        ),
        (
            "replayed_seed",
            record(phase(seeds=SAME, start=50), phase(seeds=SAME)),
            record(phase(seeds=SAME), phase(seeds=(digest("b"),))),
        ),
        (
            # A phase without a step in between hides nothing.
            "replayed_seed",
            record(phase(seeds=SAME), phase(0, seeds=SAME, start=10), phase(seeds=SAME, start=50)),
            record(phase(seeds=SAME), phase(0, seeds=SAME, start=10)),
        ),
        ("tuning_not_counted", record(tuning_runs=2), record(tuning_runs=0)),
        ("unlike_phases", record(SHUFFLED, OF_800), record(SHUFFLED, SHUFFLED)),
        ("missing_ranks", record(world=2), record(world=2, ranks=(0, 1))),
        (
            "same_seed_on_ranks",
            record(phase(seeds=SAME * 2), world=2, ranks=(0, 1), sharded=True),
            record(phase(seeds=(*SAME, digest("b"))), world=2, ranks=(0, 1), sharded=True),
        ),
        (
            "batch_norm",
            record(checks=(Check("batch_norm", passed=False),)),
            record(checks=(Check("batch_norm", passed=True),)),
        ),
        (
            "float_noise",
            record(findings=(Finding("float_noise", "seen", "holds", "write"),)),
            record(),
        ),
    ],
)
def test_each_fault_is_found_and_nothing_beside_it(name, wrong, sound):
    assert name in names(wrong)
    assert name not in names(sound)


def test_a_sound_record_has_no_findings():
    assert doctor(record(), delta=1e-5) == ()
    assert str(doctor(record())) == ""


def test_delta_is_compared_with_the_records():
    assert names(record(records=1000), delta=1e-3) == ["large_delta"]
    assert names(record(records=1000), delta=0.99e-3) == []
    assert names(record(), delta=0.5) == []
    with pytest.raises(InvalidParameter, match="delta"):
        doctor(record(), delta=1)


def test_what_holds_is_the_number_of_the_curve():
    run = record(tuning_runs=3)
    (found,) = doctor(run, delta=1e-5)
    assert found.curve == run.curve**4
    printed = Fraction(found.holds.split("(")[1].split(",")[0])
    assert 0 <= printed - Fraction(found.curve.epsilon(1e-5)) < Fraction(1, 10**4)


def test_ranks_with_one_seed_hold_what_known_batches_hold():
    """Known batches lose more than hidden ones, and less than a record that is in each."""
    run = record(phase(seeds=SAME * 2), world=2, ranks=(0, 1), sharded=True)
    (found,) = doctor(run)
    assert run.curve.delta(1) < found.curve.delta(1) < (gdp(1) ** 100).delta(1)


def test_a_finding_of_the_training_stands_once_in_its_own_words():
    live = Finding("batch_norm", "Layer 3.", "Nothing.", "Use GroupNorm.")
    run = record(findings=(live,), checks=(Check("batch_norm", passed=False),))
    assert doctor(run) == (live,)


def test_findings_of_one_name_that_cost_differently_all_stand():
    live = tuple(Finding("clipping_norm", "Seen.", "Less.", "Mend.", gdp(mu)) for mu in (2, 5))
    assert doctor(record(findings=live)) == live


def test_what_has_no_price_is_one_finding():
    made = Phase(noise_multiplier=Fraction(1), sampler={"sampler": "mine"}, steps=1, planned=1)
    assert names(record(made, tuning_runs=4)) == ["unknown_guarantee"]


def test_findings_are_a_text():
    made = Findings((Finding("a", "b", "c", "d"),) * 2)
    assert str(made).count("a: b\n  Holds: c\n  Write: d") == 2
