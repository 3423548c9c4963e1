"""Plans against the numbers that a loop of updates and physical batches comes to."""

import dataclasses
import json
import math
from fractions import Fraction
from typing import Any

import pytest

from neyman.accounting import EpsilonDelta, calibrate, dp_sgd
from neyman.errors import InvalidCall, InvalidParameter
from neyman.training import TrainingPlan, plan_training

USUAL: dict[str, Any] = {
    "records": 50_000,
    "batch": 64,
    "accumulation": 4,
    "epochs": 10,
    "clip": 1.5,
    "noise_multiplier": 1,
    "delta": 1e-6,
}


def planned(**changes: Any) -> TrainingPlan:
    given = {name: value for name, value in (USUAL | changes).items() if value is not None}
    return plan_training(**given)


def loop(records: int, batch: int, accumulation: int, epochs: Fraction) -> tuple[int, int]:
    """Count updates and physical batches, one by one, until every epoch is through."""
    updates = batches = 0
    seen, wanted = 0, epochs * records
    while seen < wanted:
        for _ in range(accumulation):
            batches += 1
            seen += batch
        updates += 1
    return updates, batches


@pytest.mark.parametrize("records", [96, 1347, 50_000])
@pytest.mark.parametrize(("batch", "accumulation"), [(1, 1), (32, 1), (8, 4), (3, 7), (16, 6)])
@pytest.mark.parametrize("epochs", [1, 3, "0.1", "2.5", Fraction(1, 3)])
def test_updates_are_counted_and_not_physical_batches(records, batch, accumulation, epochs):
    if records == 50_000 and Fraction(epochs) > 1:
        epochs = 1
    length = Fraction(epochs)
    plan = planned(
        records=records, batch=batch, accumulation=accumulation, epochs=length, delta=1e-7
    )
    updates, batches = loop(records, batch, accumulation, length)
    assert (plan.steps, plan.steps * accumulation) == (updates, batches)
    assert plan.logical_batch == batch * accumulation
    assert plan.rate == Fraction(batch * accumulation, records)
    assert plan.epochs == Fraction(updates * batch * accumulation, records) >= length
    assert plan.guarantee == dp_sgd(1, plan.rate, updates)
    assert plan.step**plan.steps == plan.guarantee


def test_no_update_is_lost_in_floating_point():
    """Of 400 loader lengths and 40 epochs, `int(epochs * (1 / (1 / length)))` misses many."""
    missed = 0
    for length in range(1, 401):
        for epochs in range(1, 41):
            plan = planned(records=length * 8, batch=8, accumulation=1, epochs=epochs, delta=1e-7)
            assert plan.steps == length * epochs
            missed += int(epochs / (1 / length)) != length * epochs
    assert missed > 10


def test_epochs_stand_for_the_decimals_that_they_print_as():
    assert planned(records=100, batch=1, accumulation=1, epochs=0.07).steps == 7
    assert math.ceil(0.07 / (1 / 100)) == 8


def test_accumulation_changes_the_guarantee_as_it_should():
    """One update of 4 physical batches is a larger sample, and not four steps of a small one.

    Counted at the rate of one physical batch, the same training seems to lose much less.
    """
    plan = planned(epochs=None, steps=2000)
    assert plan.guarantee == dp_sgd(1, Fraction(256, 50_000), 2000)
    wrong = dp_sgd(1, Fraction(64, 50_000), 2000)
    assert plan.epsilon > 2 * wrong.epsilon(1e-6)
    one = planned(batch=256, accumulation=1, epochs=None, steps=2000)
    assert one.guarantee == plan.guarantee


@pytest.mark.shows("training-plan")
@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
def test_the_noise_is_the_least_that_meets_an_epsilon(neighbors):
    plan = planned(noise_multiplier=None, epsilon=3, neighbors=neighbors)
    found = calibrate(
        lambda noise: dp_sgd(noise, plan.rate, plan.steps, neighbors=neighbors),
        EpsilonDelta(3, 1e-6),
    )
    assert float(plan.noise_multiplier) == found.value
    assert plan.epsilon <= 3
    assert (
        dp_sgd(plan.noise_multiplier * 0.999, plan.rate, plan.steps, neighbors=neighbors).epsilon(
            1e-6
        )
        > 3
    )
    assert plan.mu == plan.guarantee.mu(slack=1e-6)


def test_noise_on_the_sum_is_not_divided_and_on_the_mean_is_divided_once():
    plan = planned(noise_multiplier=0.8)
    assert plan.noise_on_sum == 1.2
    assert plan.noise_on_mean == 1.2 / 256
    assert Fraction(plan.noise_on_mean) * 256 >= Fraction(12, 10) * (1 - Fraction(1, 2**50))


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"epochs": None}, "got neither. Write one of epochs"),
    ({"steps": 3}, "got both. Write one of epochs"),
    ({"noise_multiplier": None}, "got neither. Write one of noise_multiplier"),
    ({"epsilon": 3}, "got both. Write one of noise_multiplier"),
    ({"batch": 0}, "whole number from 1"),
    ({"batch": 0.5}, "whole number from 1"),
    ({"records": 0}, "whole number from 1"),
    ({"accumulation": 0}, "whole number from 1"),
    ({"accumulation": 1000}, r"batch \* accumulation must be at most the number of records"),
    ({"epochs": 0}, "epochs=0 is not positive"),
    ({"epochs": -1}, "epochs=-1 is not positive"),
    ({"epochs": None, "steps": 0}, "whole number from 1"),
    ({"epochs": None, "steps": 10.5}, "whole number from 1"),
    ({"clip": 0}, "clip=0 is not positive"),
    ({"noise_multiplier": 0}, "noise_multiplier=0 is not positive"),
    ({"noise_multiplier": None, "epsilon": 0}, "epsilon=0 is not positive"),
    ({"delta": 0}, "delta must be above 0"),
    ({"delta": 2e-5}, "below 1/records"),
    ({"delta": 0.5}, "publish one record, picked at random"),
    ({"neighbors": "both"}, "must be a neighbouring relation; got 'both'"),
]


@pytest.mark.parametrize(("change", "message"), WRONG)
def test_what_makes_no_plan_is_refused(change, message):
    with pytest.raises(InvalidParameter, match=message):
        planned(**change)


def test_what_is_left_out_is_named():
    with pytest.raises(InvalidCall, match=r"plan_training\(\) needs clip, delta"):
        plan_training(records=100, batch=1, epochs=1, noise_multiplier=1)  # pyright: ignore[reportCallIssue]


def test_it_says_all_that_a_loop_needs():
    plan = planned(noise_multiplier=None, epsilon=3)
    said = " ".join(str(plan).split())
    for words in (
        "50,000; the number is public",
        "64 records expected",
        "4 physical batches for one update",
        "256 / 50,000 = 0.00512",
        "1,954 optimizer steps, 10.0045 epochs",
        "500,224 expected",
        f"Noise multiplier {float(plan.noise_multiplier)!r}",
        "epsilon = 3 at delta = 1e-6",
        "0.05 / records",
        "one record added or removed",
        "each record by itself",
        "divided once, by the expected 256",
    ):
        assert words in said
    assert max(map(len, str(plan).splitlines())) <= 100
    assert str(plan).count("\n") < 40


def test_it_is_frozen_and_equal_to_one_of_the_same_numbers():
    plan = planned()
    assert plan == planned()
    assert plan == planned(epochs=None, steps=1954)
    assert plan != planned(accumulation=2, batch=128)
    with pytest.raises(dataclasses.FrozenInstanceError):
        plan.steps = 1  # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
def test_its_sampler_draws_what_it_counts(neighbors):
    plan = planned(records=2000, batch=8, accumulation=5, epochs=4, delta=1e-5)
    batches = plan.sampler()
    assert len(batches) == plan.steps == 200
    assert batches.normalizer == plan.logical_batch == 40
    drawn = batches.guarantee(noise_multiplier=plan.noise_multiplier, neighbors=neighbors)
    assert (
        drawn
        == planned(
            records=2000, batch=8, accumulation=5, epochs=4, delta=1e-5, neighbors=neighbors
        ).guarantee
    )
    # Of 8,000 expected with a standard deviation below 90; six of them: one in 10^8 trials.
    assert abs(sum(batch.size for batch in batches) - 200 * 40) < 540
    again = plan.sampler(seed=batches.seed)
    assert all((again.batch(t) == batches.batch(t)).all() for t in range(5))
    assert plan.sampler().seed != batches.seed


def test_what_a_ledger_is_given():
    plan = planned()
    entry = plan.entry("autumn", source="d", unit="example")
    assert entry["step"] ** entry["steps"] == plan.guarantee
    assert (entry["entry"], entry["source"], entry["unit"]) == ("autumn", "d", "example")
    assert entry["neighbors"] == "add_remove"
    assert json.loads(json.dumps(entry["request"])) == plan.described()
    assert Fraction(str(plan.described()["rate"])) == plan.rate
