"""A small example of every sampler, and the law of its batches by going through all cases."""

from collections import Counter
from fractions import Fraction
from hashlib import sha256
from itertools import combinations, permutations, product
from math import prod

from neyman.training import (
    BallsInBins,
    CyclicPoisson,
    FixedBatches,
    PoissonBatches,
    ShuffledBatches,
    TruncatedPoissonBatches,
    UserBatches,
)

STEPS = 2


def seed(name):
    return sha256(name.encode()).digest()


def subsets(members):
    return [frozenset(c) for k in range(len(members) + 1) for c in combinations(members, k)]


def poisson_law(members, rate, most=None):
    """Return the chances of all batches of one step; of too large ones each choice is as likely."""
    law = Counter()
    for taken in subsets(members):
        chance = rate ** len(taken) * (1 - rate) ** (len(members) - len(taken))
        kept = [taken] if most is None or len(taken) <= most else subsets_of(taken, most)
        for batch in kept:
            law[batch] += chance / len(kept)
    return law


def subsets_of(members, size):
    return [frozenset(c) for c in combinations(sorted(members), size)]


def independent(*steps):
    """Return the law of several steps that are drawn apart."""
    return {
        tuple(batch for batch, _ in drawn): prod(chance for _, chance in drawn)
        for drawn in product(*(law.items() for law in steps))
    }


def allocated(records, steps):
    law = Counter()
    for bins in product(range(steps), repeat=records):
        law[tuple(frozenset(i for i in range(records) if bins[i] == t) for t in range(steps))] += (
            Fraction(1, steps**records)
        )
    return dict(law)


def shuffled(records, size):
    law, orders = Counter(), list(permutations(range(records)))
    for order in orders:
        batches = tuple(frozenset(order[a : a + size]) for a in range(0, records, size))
        law[batches] += Fraction(1, len(orders))
    return dict(law)


R = Fraction(3, 10)
# Parameters, with steps for what has no epochs, and the law of the first two steps.
SMALL = {
    PoissonBatches: (
        {"records": 3, "rate": R, "steps": STEPS},
        independent(*[poisson_law(range(3), R)] * 2),
    ),
    TruncatedPoissonBatches: (
        {"records": 4, "rate": R, "most": 2, "steps": STEPS},
        independent(*[poisson_law(range(4), R, 2)] * 2),
    ),
    CyclicPoisson: (
        {"records": 5, "rate": R, "bands": 2, "steps": STEPS},
        independent(poisson_law([0, 2, 4], R), poisson_law([1, 3], R)),
    ),
    FixedBatches: (
        {"records": 4, "batch_size": 2, "steps": STEPS},
        independent(*[dict.fromkeys(subsets_of(range(4), 2), Fraction(1, 6))] * 2),
    ),
    BallsInBins: ({"records": 3, "steps": STEPS, "epochs": 1}, allocated(3, 2)),
    ShuffledBatches: ({"records": 5, "batch_size": 3, "epochs": 1}, shuffled(5, 3)),
    UserBatches: (
        {"users": 3, "most": 2, "rate": R, "steps": STEPS},
        independent(*[poisson_law(range(3), R)] * 2),
    ),
}
