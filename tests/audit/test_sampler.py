"""Whether batches are a Poisson sample: level, and every fault that loaders are known to have."""

import numpy as np
import pytest
from scipy.stats import binom

from neyman.audit import sampler
from neyman.errors import InvalidParameter

RECORDS, STEPS, RATE = 400, 120, 0.05
SIZE, EPOCH = 20, 20


def poisson(draw, *, records=RECORDS, steps=STEPS, rate=RATE):
    return [np.flatnonzero(row) for row in draw.random((steps, records)) < rate]


def shuffled(draw):
    orders = [draw.permutation(RECORDS) for _ in range(STEPS // EPOCH)]
    return [order[a : a + SIZE] for order in orders for a in range(0, RECORDS, SIZE)]


def in_order(draw):
    order = draw.permutation(RECORDS)
    return [order[a : a + SIZE] for a in range(0, RECORDS, SIZE)] * (STEPS // EPOCH)


def fixed_size(draw):
    return [draw.choice(RECORDS, SIZE, replace=False) for _ in range(STEPS)]


def ranks_of_parts(draw):
    """Two ranks that have half of the records each, one after the other, and one seed."""
    half = poisson(draw, records=RECORDS // 2)
    return [np.concatenate([batch, batch + RECORDS // 2]) for batch in half]


def ranks_of_turns(draw):
    """Four ranks that take every fourth record, and one seed."""
    quarter = poisson(draw, records=RECORDS // 4)
    return [np.concatenate([4 * batch + rank for rank in range(4)]) for batch in quarter]


def ranks_of_all(draw):
    """Two ranks that both draw from all records, with one seed."""
    return [np.concatenate([batch, batch]) for batch in poisson(draw)]


def replayed(draw):
    """A training that is resumed after 50 steps, from the seed that it began with."""
    begun = poisson(draw)
    return [*begun[:50], *begun[: STEPS - 50]]


def double(draw):
    """One step of which a memory manager lost the end: its records came with the next one's."""
    batches = poisson(draw)
    batches[70] = np.unique(np.concatenate([batches[70], *poisson(draw, steps=1)]))
    batches[30] = np.concatenate([batches[30], *poisson(draw, steps=2)])
    return batches


def without_empty_batches(draw):
    return [batch for batch in poisson(draw, rate=0.005) if batch.size]


FAULTS = {
    shuffled: "records once in an epoch",
    in_order: "two steps are too alike",
    fixed_size: "spread of batch sizes",
    ranks_of_parts: "records of 2 ranks",
    ranks_of_turns: "neighbouring records",
    ranks_of_all: "a record twice in a step",
    replayed: "two steps are too alike",
    double: "a record twice in a step",
}


@pytest.mark.shows("audit")
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_a_fault_is_refuted(fault):
    """At a level of 1e-3, for each of ten seeds."""
    for seed in range(10):
        draw = np.random.default_rng(seed)
        found = sampler(fault(draw), RATE, STEPS, records=RECORDS, level=1e-3)
        assert found.refuted
        assert FAULTS[fault] in found.reasons


def test_steps_that_are_left_out_where_a_batch_is_empty():
    batches = without_empty_batches(np.random.default_rng(1))
    found = sampler(batches, 0.005, STEPS, records=RECORDS)
    assert found.reasons == (f"{len(batches)} batches for 120 steps",)
    assert found.p_value == 0


def test_a_higher_rate_is_refuted_in_the_total():
    draw = np.random.default_rng(2)
    batches = poisson(draw, records=1347, steps=440, rate=1.05 / 22)
    found = sampler(batches, 1 / 22, 440, records=1347)
    assert "how many records in all" in found.reasons


@pytest.mark.parametrize(
    ("records", "steps", "rate", "runs"),
    [
        (50, 40, 0.1, 400),
        (20, 7, 0.5, 200),
        (300, 3, 0.02, 200),
        (1, 30, 0.2, 200),
        pytest.param(1000, 100, 0.05, 1000, marks=pytest.mark.soak),
        pytest.param(200, 30, 0.1, 4000, marks=pytest.mark.soak),
    ],
)
def test_poisson_samples_are_refuted_at_most_at_the_level(records, steps, rate, runs):
    """More alarms than this have a chance of 1e-6, whatever of the level the tests use."""
    draw = np.random.default_rng(7)
    alarms = sum(
        sampler(
            poisson(draw, records=records, steps=steps, rate=rate),
            rate, steps, records=records, level=0.2, seed=run,
        ).refuted
        for run in range(runs)
    )  # fmt: skip
    assert alarms <= binom.isf(1e-6, runs, 0.2)


def test_without_a_share_of_the_level_for_each_test_there_are_too_many_alarms():
    draw, runs = np.random.default_rng(7), 200
    alarms = sum(
        min(sampler(poisson(draw, records=50, steps=40), RATE, 40, records=50).p_values.values())
        <= 0.2
        for _ in range(runs)
    )
    assert alarms > binom.isf(1e-6, runs, 0.2)


def test_each_p_value_is_uniform_or_larger():
    """Of 300 samples, for each test apart: shares below .05 and .2, at 1e-7 each."""
    draw, runs, found = np.random.default_rng(3), 300, {}
    for run in range(runs):
        batches = poisson(draw, records=60, steps=40)
        for name, p in sampler(batches, RATE, 40, records=60, seed=run).p_values.items():
            found.setdefault(name, []).append(p)
    assert len(found) >= 14
    for name, p_values in found.items():
        for share in (0.05, 0.2):
            assert np.sum(np.array(p_values) <= share) <= binom.isf(1e-7, runs, share), name


def test_certain_sampling_and_what_it_excludes():
    everyone = [np.arange(30)] * 10
    assert not sampler(everyone, 1, 10, records=30).refuted
    assert sampler([*everyone[:-1], np.arange(29)], 1, 10, records=30).refuted
    assert not sampler([[]], 0.01, 1, records=1).refuted


def test_what_a_verdict_says():
    draw = np.random.default_rng(0)
    fault = sampler(fixed_size(draw), RATE, STEPS, records=RECORDS)
    assert "no Poisson sample" in str(fault)
    assert "spread of batch sizes" in str(fault)
    assert "no proof" in str(sampler(poisson(draw), RATE, STEPS, records=RECORDS))


@pytest.mark.parametrize(
    ("batches", "given", "words"),
    [
        ([[0.5]], {}, "list of indices"),
        ([[3]], {}, "from 0 to 2"),
        ([[-1]], {}, "from 0 to 2"),
        ([[[1]]], {}, "list of indices"),
        ([[0]], {"rate": 0}, "rate must be in"),
        ([[0]], {"rate": 2}, "rate must be in"),
        ([[0]], {"level": 0}, "level must be in"),
        ([[0]], {"ranks": 7}, "ranks"),
        ([[0]], {"steps": 0}, "steps"),
    ],
)
def test_what_is_no_sample_is_refused(batches, given, words):
    values = {"rate": 0.5, "steps": 1, "records": 3} | given
    with pytest.raises(InvalidParameter, match=words):
        sampler(batches, **values)
