"""What all samplers offer: pure batches, shares, resumption, descriptions, refusals."""

import copy
import json
import pickle
import re
import sys
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from subprocess import run

import numpy as np
import pytest

from neyman.errors import InvalidCall, InvalidParameter
from neyman.training import (
    BallsInBins,
    CyclicPoisson,
    FixedBatches,
    Phase,
    PoissonBatches,
    Sampler,
    ShuffledBatches,
    TruncatedPoissonBatches,
    UserBatches,
    sampler_from_json,
)
from training.small_laws import SMALL, seed

EVERY = pytest.mark.parametrize(
    "sampler",
    [kind(**parameters, seed=seed("one")) for kind, (parameters, _) in SMALL.items()],
    ids=lambda sampler: type(sampler).__name__,
)


def listed(batches):
    return [batch.tolist() for batch in batches]


@EVERY
def test_batches_are_a_function_of_seed_and_step(sampler):
    again = replace(sampler, seed=sampler.seed)
    steps = range(sampler.steps)
    assert listed(map(again.batch, reversed(steps)))[::-1] == listed(map(sampler.batch, steps))
    for batch in map(sampler.batch, steps):
        assert batch.dtype == np.int64
        assert np.all(np.diff(batch) > 0)
        assert not batch.size or 0 <= batch[0] <= batch[-1] < sampler.records


@EVERY
def test_a_sampler_is_iterated_over_once(sampler):
    one = replace(sampler, seed=sampler.seed)
    # A loader with workers asks for an iterator that it does not use.
    iter(one)
    assert len(one) == len([*one]) == sampler.steps
    with pytest.raises(InvalidCall, match="without a loop over epochs"):
        next(iter(one))


@EVERY
def test_shares_of_all_ranks_make_the_batch(sampler):
    for ranks in (1, 2, 3):
        shares = [sampler.shard(rank, ranks) for rank in range(ranks)]
        for step in range(sampler.steps):
            parts = np.concatenate([share.batch(step) for share in shares])
            assert sorted(parts.tolist()) == sampler.batch(step).tolist()
    assert len(sampler.after(1).shard(0, 2)) == sampler.steps - 1
    with pytest.raises(InvalidParameter, match="rank"):
        sampler.shard(2, 2)


@EVERY
def test_a_training_is_resumed_at_its_step(sampler):
    saved = json.dumps({**sampler.described(), "at": 1})
    record = json.loads(saved)
    at = record.pop("at")
    rest = sampler_from_json(record, seed=sampler.seed).after(at)
    assert listed(rest) == listed(sampler.batch(t) for t in range(at, sampler.steps))
    # A new run from the same description has batches of its own.
    assert sampler_from_json(record).seed_digest != sampler.seed_digest


@EVERY
def test_seeds_are_secret(sampler):
    shown = [
        repr(sampler),
        str(sampler.described()),
        sampler.seed_digest,
        repr(sampler.shard(0, 2)),
    ]
    for text in shown:
        assert sampler.seed.hex() not in text
        assert repr(sampler.seed) not in text
    assert len(sampler.seed_digest) == 64
    fresh = [type(sampler)(**SMALL[type(sampler)][0]) for _ in range(2)]
    assert fresh[0].seed != fresh[1].seed
    assert fresh[0] != fresh[1]
    assert sampler == pickle.loads(pickle.dumps(sampler)) == copy.deepcopy(sampler)


@pytest.mark.shows("samplers")
@EVERY
def test_the_normalizer_is_public(sampler):
    """It is that of the declared places, and no argument has the data."""
    assert type(sampler.normalizer) is float
    assert sampler.normalizer == replace(sampler).normalizer > 0


def test_normalizers():
    assert PoissonBatches(records=1347, rate="1/22", steps=1).normalizer == 1347 / 22
    assert TruncatedPoissonBatches(records=1000, rate=0.1, most=120, steps=1).normalizer == 100
    assert CyclicPoisson(records=1000, rate=0.1, bands=4, steps=1).normalizer == 25
    assert FixedBatches(records=1000, batch_size=64, steps=1).normalizer == 64
    assert BallsInBins(records=1000, steps=40, epochs=2).normalizer == 50
    assert ShuffledBatches(records=1000, batch_size=64, epochs=2).normalizer == 64
    assert UserBatches(users=1000, most=3, rate=0.1, steps=1).normalizer == 300


@pytest.mark.parametrize("rate", [Fraction(1, 10), 0.1, "0.1", "1/10", Decimal("0.1")])
def test_rates_are_exact(rate):
    assert PoissonBatches(records=10, rate=rate, steps=1).rate == Fraction(1, 10)


WRONG = [
    (PoissonBatches, {"records": 10, "rate": 1.5, "steps": 3}, "rate"),
    (PoissonBatches, {"records": 10, "rate": 0, "steps": 3}, "rate"),
    (PoissonBatches, {"records": 10, "rate": "ten", "steps": 3}, "rate"),
    (PoissonBatches, {"records": 10, "rate": float("nan"), "steps": 3}, "rate"),
    (PoissonBatches, {"records": 10, "rate": 0.1, "steps": 3.0}, "steps"),
    (PoissonBatches, {"records": 10, "rate": 0.1, "steps": True}, "steps"),
    (PoissonBatches, {"records": 10.0, "rate": 0.1, "steps": 3}, "records"),
    (PoissonBatches, {"records": 2**32 + 1, "rate": 0.1, "steps": 3}, "records"),
    (PoissonBatches, {"records": 10, "rate": 0.1, "steps": 3, "seed": 42}, "seed"),
    (PoissonBatches, {"records": 10, "rate": 0.1, "steps": 3, "seed": bytes(32)}, "seed"),
    (TruncatedPoissonBatches, {"records": 10, "rate": 0.1, "most": 11, "steps": 3}, "most"),
    (CyclicPoisson, {"records": 10, "rate": 0.1, "bands": 11, "steps": 3}, "bands"),
    (FixedBatches, {"records": 10, "batch_size": 11, "steps": 3}, "batch_size"),
    (BallsInBins, {"records": 10, "steps": 5, "epochs": 2}, "multiple of epochs"),
    (ShuffledBatches, {"records": 10, "batch_size": 0, "epochs": 2}, "batch_size"),
    (UserBatches, {"users": 0, "most": 2, "rate": 0.1, "steps": 2}, "users"),
    (UserBatches, {"users": 9, "most": 0, "rate": 0.1, "steps": 2}, "most"),
]


@pytest.mark.parametrize(("kind", "parameters", "named"), WRONG)
def test_what_is_no_training_is_refused(kind, parameters, named):
    with pytest.raises(InvalidParameter, match=named) as refused:
        kind(**parameters)
    assert re.search(r"must .*; got ", str(refused.value))
    assert "\\x00" not in str(refused.value)


@EVERY
def test_steps_that_there_are_not(sampler):
    for step in (-1, sampler.steps, 0.0):
        with pytest.raises(InvalidParameter, match="step"):
            sampler.batch(step)
    with pytest.raises(InvalidParameter, match="steps"):
        sampler.taken(sampler.steps + 1)


@pytest.mark.parametrize(
    "record",
    [
        None,
        {},
        {"sampler": "Nobody"},
        {"sampler": "PoissonBatches", "records": 10, "rate": "1/2"},
        {"sampler": "PoissonBatches", "records": 10, "rate": "1/2", "steps": 1, "seed": "x"},
    ],
)
def test_records_of_no_sampler(record):
    with pytest.raises(InvalidParameter, match="describes no sampler"):
        sampler_from_json(record)


def test_two_samplers_of_one_name_are_refused():
    with pytest.raises(InvalidParameter, match="name of its own"):
        type("PoissonBatches", (Sampler,), {"__module__": "elsewhere"})
    assert Sampler.known["PoissonBatches"] is PoissonBatches


def test_every_record_is_in_an_epoch_once():
    for sampler in (
        BallsInBins(records=101, steps=14, epochs=2, seed=seed("bins")),
        ShuffledBatches(records=101, batch_size=16, epochs=2, seed=seed("shuffled")),
    ):
        for epoch in range(2):
            of_epoch = [sampler.batch(7 * epoch + t) for t in range(7)]
            assert sorted(np.concatenate(of_epoch).tolist()) == [*range(101)]
        assert sampler.batch(0).tolist() != sampler.batch(7).tolist()
    # What is kept from step to step cannot be spoiled.
    with pytest.raises(ValueError, match="read-only"):
        BallsInBins(records=9, steps=1, epochs=1).batch(0)[0] = 5


def test_padded_batches_have_one_shape():
    sampler = TruncatedPoissonBatches(records=50, rate=0.2, most=12, steps=60, seed=seed("padded"))
    sizes = set()
    for step in range(sampler.steps):
        indices, mask = sampler.padded(step)
        assert indices.shape == mask.shape == (12,)
        assert indices[mask].tolist() == sampler.batch(step).tolist()
        assert not indices[~mask].any()
        sizes.add(int(mask.sum()))
    assert max(sizes) == 12
    assert len(sizes) > 4


def test_examples_of_a_user_come_together():
    users = UserBatches(users=6, most=3, rate=0.5, steps=300, seed=seed("users"))
    owner = np.array([0, 1, 1, 2, 2, 2, 2, 2, 4, 4, 4, 0, 9])
    examples = users.examples_of(owner)
    assert "by_user" not in repr(examples)
    taken = np.zeros(owner.size, dtype=int)
    for step in range(300):
        batch = examples.batch(step)
        assert batch.tolist() == examples.batch(step).tolist()
        # A user beyond the last place never takes part.
        chosen, counts = np.unique(owner[batch], return_counts=True)
        with_some = [u for u in users.batch(step).tolist() if u in owner]
        assert chosen.tolist() == with_some
        assert counts.tolist() == [min(3, int(np.sum(owner == u))) for u in with_some]
        np.add.at(taken, batch, 1)
    # Of five examples of a user three are taken, each with the same chance: 6 deviations, 2e-9.
    times = int(sum(2 in users.batch(step) for step in range(300)))
    assert np.all(np.abs(taken[3:8] - 0.6 * times) < 6 * np.sqrt(0.24 * times))
    for wrong in ([0.5], [[0]], [-1]):
        with pytest.raises(InvalidParameter, match="user of each example"):
            users.examples_of(wrong)


def test_no_framework_is_imported():
    code = (
        "import sys, neyman.training as t;"
        "[*t.PoissonBatches(records=9, rate=.5, steps=2)];"
        "print({'torch', 'jax', 'opacus', 'dp_accounting'} & {*sys.modules})"
    )
    found = run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "set()"


@pytest.mark.parametrize("rate", ["x", "1/0", "", "1e400000000"])
def test_a_rate_in_words_is_refused_with_what_to_write(rate):
    with pytest.raises(InvalidParameter, match=r'such as "0\.01" or'):
        PoissonBatches(records=10, rate=rate, steps=3)


def test_calls_that_do_not_fit_are_refused_in_a_sentence():
    sampler = PoissonBatches(records=10, rate="1/10", steps=3)
    with pytest.raises(InvalidCall, match=r"guarantee\(\) needs noise_multiplier"):
        sampler.guarantee()  # pyright: ignore[reportCallIssue]
    with pytest.raises(InvalidCall, match=r"of\(\) needs steps"):
        Phase.of(sampler, noise_multiplier=1)  # pyright: ignore[reportCallIssue]
    with pytest.raises(InvalidCall, match="did you mean records"):
        PoissonBatches(record=10, rate="1/10", steps=3)  # pyright: ignore[reportCallIssue]
