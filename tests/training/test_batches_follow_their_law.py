"""Batches of every sampler against the law that its proof supposes, by exact tests."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import betainc

from neyman.audit import sampler as audit_sampler
from neyman.training import PoissonBatches, Sampler
from neyman.training._binomial import binomial_count
from neyman.training._stream import Stream
from training.small_laws import SMALL, STEPS, seed

# Chance that a right sampler is refuted in one test; the seeds are fixed.
LEVEL = 1e-6


def p_value(count, draws, chance):
    """Return the two-sided p-value of a binomial count, by doubling."""
    if chance in (0, 1):
        return float(count == draws * chance)
    above = 1.0 if count == 0 else betainc(count, draws - count + 1, float(chance))
    below = 1.0 if count == draws else betainc(draws - count, count + 1, float(1 - chance))
    return min(1, 2 * min(above, below))


def refuted(counts, law, draws):
    """Say whether the counts of outcomes are not those of a law; at most LEVEL where they are."""
    if not set(counts) <= {outcome for outcome, chance in law.items() if chance}:
        return True
    smallest = min(p_value(counts[outcome], draws, chance) for outcome, chance in law.items())
    return smallest * len(law) <= LEVEL


def outcomes(sampler_of, draws):
    """Count the batches of both steps, over that many seeds."""
    counts = Counter()
    for k in range(draws):
        sampler = sampler_of(k)
        counts[tuple(frozenset(sampler.batch(t).tolist()) for t in range(STEPS))] += 1
    return counts


def seeded(kind, parameters):
    return lambda k: kind(**parameters, seed=seed(f"{kind.__name__} {k}"))


def test_every_sampler_has_a_small_example():
    assert {*Sampler.known.values()} == {*SMALL}


def test_the_small_laws_are_laws():
    for _, law in SMALL.values():
        assert sum(law.values()) == 1


@pytest.mark.parametrize("kind", SMALL, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize(
    "draws", [5_000, pytest.param(10**5, marks=pytest.mark.soak)], ids=["short", "full"]
)
def test_the_joint_law_of_two_steps(kind, draws):
    parameters, law = SMALL[kind]
    assert not refuted(outcomes(seeded(kind, parameters), draws), law, draws)


@pytest.mark.parametrize("kind", SMALL, ids=lambda kind: kind.__name__)
def test_another_law_is_refuted(kind):
    """A twin whose second batch is the first again, one time in five."""
    parameters, law = SMALL[kind]
    counts = Counter()
    for batches, count in outcomes(seeded(kind, parameters), 5_000).items():
        counts[batches] += count - count // 5
        counts[batches[0], batches[0]] += count // 5
    assert refuted(counts, law, 5_000)


@pytest.mark.parametrize("kind", SMALL, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize(
    "draws", [5_000, pytest.param(5 * 10**5, marks=pytest.mark.soak)], ids=["short", "full"]
)
def test_steps_of_one_seed_are_as_good_as_steps_of_many(kind, draws):
    """In full a million batches of each sampler, in couples of steps."""
    parameters, law = SMALL[kind]
    longer = {"steps": 2 * draws, "epochs": draws}
    stretched = {name: longer.get(name, value) for name, value in parameters.items()}
    sampler = kind(**stretched, seed=seed(kind.__name__))
    assert sampler.steps == 2 * draws
    counts = Counter(
        tuple(frozenset(sampler.batch(t).tolist()) for t in (2 * k, 2 * k + 1))
        for k in range(draws)
    )
    assert not refuted(counts, law, draws)


def test_a_replayed_step_is_refuted():
    parameters, law = SMALL[PoissonBatches]
    sampler = PoissonBatches(**parameters | {"steps": 2_000}, seed=seed("replayed"))
    counts = Counter((frozenset(sampler.batch(t).tolist()),) * 2 for t in range(2_000))
    assert refuted(counts, law, 2_000)


@pytest.mark.parametrize(
    ("records", "rate", "steps"),
    [(300, "1/20", 200), pytest.param(2_000, "1/50", 2_000, marks=pytest.mark.soak)],
)
def test_many_records_pass_the_battery(records, rate, steps):
    sampler = PoissonBatches(records=records, rate=rate, steps=steps, seed=seed("battery"))
    found = audit_sampler(sampler, sampler.rate, steps, records=records, level=LEVEL)
    assert not found.refuted


@pytest.mark.parametrize(
    ("number", "chance"),
    [
        (1, Fraction(1, 3)),
        (12, Fraction(1, 2)),
        (40, Fraction(1, 100)),
        (40, Fraction(99, 100)),
        (30, Fraction(30, 31)),
    ],
)
def test_tables_of_binomial_counts(number, chance):
    from math import comb

    from neyman.training._binomial import _table

    first, sums = _table(number, chance)
    exact = [comb(number, k) * chance**k * (1 - chance) ** (number - k) for k in range(number + 1)]
    found = dict(enumerate(np.diff([0, *sums]).tolist(), start=first))
    off = sum(abs(Fraction(found.get(k, 0), sums[-1]) - exact[k]) for k in range(number + 1)) / 2
    assert off < Fraction(1, 2**146)


def test_binomial_counts_of_very_many():
    """Mean and variance of 4,000 counts, each within 6 standard deviations (2e-9 each)."""
    stream, number, chance = Stream(seed("many"), "counts"), 10**9, Fraction(1, 10**6)
    counts = np.array([binomial_count(stream, number, chance) for _ in range(4_000)])
    assert abs(counts.mean() - 1000) < 6 * np.sqrt(1000 / 4_000)
    assert abs(counts.var() / 1000 - 1) < 6 * np.sqrt(2 / 4_000)


def test_streams_of_other_labels_and_seeds_differ():
    one = Stream(seed("a"), "x", 1).words(4).tolist()
    assert one == Stream(seed("a"), "x", 1).words(4).tolist()
    for other in (Stream(seed("a"), "x", 11), Stream(seed("a"), "x1"), Stream(seed("b"), "x", 1)):
        assert not {*one} & {*other.words(4).tolist()}
    sampler = PoissonBatches(records=1000, rate="1/10", steps=10, seed=seed("a"))
    slower = replace(sampler, rate="1/11", seed=sampler.seed)
    assert len({*sampler.batch(0).tolist()} & {*slower.batch(0).tolist()}) < 40


@pytest.mark.parametrize(("number", "size"), [(5, 0), (5, 5), (1000, 3), (1000, 400), (1000, 900)])
def test_subsets_are_sets_of_their_size(number, size):
    chosen = Stream(seed("subset"), number, size).subset(number, size)
    assert chosen.size == size
    assert np.all(np.diff(chosen) > 0)
    assert size == 0 or (chosen[0] >= 0 and chosen[-1] < number)


def test_words_beyond_the_last_multiple_are_drawn_again():
    """2^64 is 8/3 of the range: of plain remainders the lower two thirds come too often."""
    most = 3 * 2**61 + 1
    rest, draws = 2**64 % most, 20_000
    stream = Stream(seed("below"), "x")
    low = int(np.sum(stream.below(most, draws) < rest))
    assert p_value(low, draws, Fraction(rest, most)) > LEVEL
    plain = int(np.sum(stream.words(draws) % np.uint64(most) < rest))
    assert p_value(plain, draws, Fraction(rest, most)) < LEVEL
