"""The library's own noise and releases, audited: directly, and from a table through the ledger."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom

import neyman as ny
from neyman import mechanisms as m
from neyman.audit import mechanism
from neyman.sensitivity import Sensitivity
from neyman.testing import SeededBits

pytest.importorskip("flint")
ONE = Sensitivity(neighbors="add_remove", l1=Fraction(1), l2_squared=Fraction(1))


def bits(rng):
    return SeededBits(int(rng.integers(2**31)))


def added(noise):
    """Return a count with this noise."""

    def run(count, rng):
        return noise.add_noise(np.array([count]), bits(rng)).tolist()

    return run, (0, 1), noise.tradeoff(ONE)


def chosen(selection):
    """Return the place of the best of ten scores, which all move by one at most."""

    def run(scores, rng):
        return selection.select(np.array(scores), bits(rng))

    return run, ([0] * 10, [1] + [0] * 9), selection.tradeoff


def answered():
    """Return a response with probability 3/4 of the truth."""
    response = m.RandomizedResponse(categories=3, truth=Fraction(3, 4))

    def run(code, rng):
        return response.randomize(np.array([code]), bits(rng)).tolist()

    return run, (0, 2), response.tradeoff()


def watched():
    """Return the answers of a sparse vector, asked until it finds something."""
    claim = m.AboveThreshold(epsilon=1, sensitivity=1, hits=1).tradeoff

    def run(values, rng):
        watch = m.AboveThreshold(epsilon=1, sensitivity=1, hits=1, source=bits(rng))
        told = []
        for value in values:
            told.append(watch.ask(value, threshold=1))
            if told[-1]:
                break
        return told

    return run, ([0] * 8, [1] * 4 + [-1] * 4), claim


OURS = {
    "Gaussian": added(m.Gaussian(scale=10)),
    "Gaussian, little noise": added(m.Gaussian(scale=1)),
    "Laplace": added(m.Laplace(scale=2)),
    "discrete Gaussian": added(m.DiscreteGaussian(scale=3)),
    "discrete Laplace": added(m.DiscreteLaplace(scale=2)),
    "noisy max": chosen(m.ReportNoisyMax(epsilon=1, sensitivity=1)),
    "permute and flip": chosen(m.PermuteAndFlip(epsilon=1, sensitivity=1)),
    "exponential mechanism": chosen(m.ExponentialMechanism(epsilon=1, sensitivity=1)),
    "randomized response": answered(),
    "sparse vector": watched(),
}


@pytest.mark.parametrize("name", ["Gaussian, little noise", "randomized response"])
def test_our_noise_is_not_refuted(name):
    run, inputs, claim = OURS[name]
    assert not mechanism(run, *inputs, claim, draws=500, seed=1).refuted


def test_half_the_noise_is_refuted():
    """The twin: it shows that so many runs are enough."""
    run, inputs, _ = added(m.Gaussian(scale=1))
    assert mechanism(run, *inputs, ny.gdp(0.5), draws=500, seed=1).refuted


@pytest.mark.soak
def test_no_mechanism_of_ours_is_refuted_more_often_than_the_level():
    """Of all together, at 4,000 runs on each input; more have a chance of 1e-6."""
    found = {
        (name, seed): mechanism(run, *inputs, claim, draws=4000, seed=seed)
        for name, (run, inputs, claim) in OURS.items()
        for seed in range(4)
    }
    alarms = [each for each, verdict in found.items() if verdict.refuted]
    print(f"\n{len(alarms)} of {len(found)} refuted: {alarms}")
    assert len(alarms) <= binom.isf(1e-6, len(found), 0.05)


def released(folder):
    """Return a count of a DuckDB table, released by a session with a ledger made for each run."""
    pa = pytest.importorskip("pyarrow")
    pytest.importorskip("duckdb")
    made = []

    def run(people):
        made.append(people)
        db = ny.open(
            pa.table({"person": people}), name="people", unit="person", max_rows=1,
            budget=ny.gdp(1), ledger=folder / f"{len(made)}.ledger",
        )  # fmt: skip
        return db.count().release("people", mu=1).columns["count"]

    return run


@pytest.mark.soak
def test_a_count_of_a_table_through_a_ledger(tmp_path):
    """The noise is the operating system's, so that the level is small; the twin lacks five rows."""
    people = [f"p{k}" for k in range(30)]
    run = released(tmp_path)
    kept = mechanism(run, people[:-1], people, ny.gdp(1), draws=300, level=1e-4)
    print(f"\n{kept}")
    assert not kept.refuted
    assert mechanism(run, people[:-5], people, ny.gdp(1), draws=100, level=1e-3).refuted
