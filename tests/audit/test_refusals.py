"""What is written wrongly is refused in a sentence that says what to write."""

import numpy as np
import pytest

from neyman import audit
from neyman.curves import gdp
from neyman.errors import InvalidParameter

INSIDE, OUTSIDE = np.random.default_rng(0).normal([[1], [0]], 1, (2, 40))
SCORES = (INSIDE, OUTSIDE)
F, NAN = gdp(1), float("nan")
CANARIES = audit.canaries(40)


def run(data, rng):
    return sum(data) + int(rng.integers(9))


def mechanism(**words):
    return audit.mechanism(run, [1], [0], F, **{"draws": 200, "seed": 1, **words})


def sampler(batches=((0,),), **words):
    return audit.sampler(batches, **{"rate": 0.5, "steps": 1, "records": 9, **words})


def one_run(**words):
    return audit.one_run(**{"scores": INSIDE, "included": CANARIES, "delta": 0, **words})


NO_SCORES = [
    3,
    None,
    "ab",
    {"a": 1},
    [[1, 2], [3, 4]],
    [1, "x"],
    [1, NAN],
    [1 + 2j, 2],
    [10**400, 1],
]
NO_SCORES += [(x for x in range(9)), np.array([1 + 0j, 2]), np.arange(9).astype("M8[D]"), [], [1]]
NO_LEVELS = ["a", None, [0.05], True, NAN, -1, 0, 0.5, 2]
NO_SEEDS = ["a", -1, 1.5, True, [1]]

CALLS = {
    **{f"scores {k}": lambda bad=bad: audit.mu(bad, OUTSIDE) for k, bad in enumerate(NO_SCORES)},
    **{f"level {bad}": lambda bad=bad: audit.mu(*SCORES, level=bad) for bad in NO_LEVELS},
    **{f"bets {bad}": lambda bad=bad: audit.Sequential(F, level=bad) for bad in NO_LEVELS},
    **{f"seed {bad}": lambda bad=bad: audit.refute(*SCORES, F, seed=bad) for bad in NO_SEEDS},
    **{f"run seed {bad}": lambda bad=bad: mechanism(seed=bad) for bad in NO_SEEDS},
    **{f"order {bad}": lambda bad=bad: one_run(seed=bad) for bad in NO_SEEDS},
    **{f"spread {bad}": lambda bad=bad: sampler(seed=bad) for bad in NO_SEEDS},
    **{
        f"delta {bad}": lambda bad=bad: audit.curve_band(*SCORES).epsilon(bad)
        for bad in ("a", None, [1], NAN, -1, 1, True)
    },
    **{
        f"claim {getattr(bad, '__name__', bad)}": lambda bad=bad: audit.refute(*SCORES, bad)
        for bad in ("gdp(1)", 1.0, None, gdp)
    },
    **{
        f"threshold {bad}": lambda bad=bad: audit.mu(*SCORES, threshold=bad)
        for bad in ("x", NAN, [1, 2], True)
    },
    **{
        f"weight {bad}": lambda bad=bad: audit.mu(*SCORES, threshold=0.5, weight=bad)
        for bad in ("a", -1, 0, NAN, float("inf"))
    },
    "weight alone": lambda: audit.mu(*SCORES, weight=3),
    "share": lambda: audit.mu(*SCORES, share="a"),
    "shares": lambda: audit.mu(*SCORES, threshold=0.5, share=2),
    "no such word": lambda: audit.refute(*SCORES, F, lvl=0.1),
    "no delta": lambda: audit.refute(*SCORES, F, seed=1).epsilon(),
    "bound by hand": lambda: audit.LowerBound(value=1),
    "direction": lambda: audit.Rule(threshold=0.5, direction=3),
    "score that is none": lambda: audit.Sequential(F).update(inside=None),
    "complex score": lambda: audit.Sequential(F).update(inside=1j),
    "no score": lambda: one_run(scores=[NAN] * 40),
    "no coins": lambda: one_run(included="yes"),
    "other canaries": lambda: one_run(included=audit.canaries(41)),
    "canaries by hand": lambda: audit.Canaries(number="a", seed=CANARIES.seed),
    "a seed that can be guessed": lambda: audit.Canaries(number=4, seed=b"x" * 32),
    "range": lambda: CANARIES.inputs(3, low="a", high=1),
    "signals": lambda: audit.aligned_scores("a", noise_multiplier=1, sampling_probability=0.1),
    "noise": lambda: audit.aligned_scores([[1]], noise_multiplier="a", sampling_probability=0.1),
    "function": lambda: audit.mechanism(run([1], np.random.default_rng()), [1], [0], F, draws=200),
    "seconds": lambda: mechanism(draws=None, seconds="a"),
    "couple": lambda: mechanism(neighbors=([1], [0])),
    "couples of nothing": lambda: mechanism(neighbors=lambda: ([1], [0])),
    "lattice": lambda: mechanism(lattice="a"),
    "ratio": lambda: mechanism(likelihood_ratio=3),
    "ratio of words": lambda: mechanism(likelihood_ratio=lambda _: "a"),
    "batches": lambda: sampler(None),
    "a batch of batches": lambda: sampler([[[1], [2, 3]]]),
    "items of a loader": lambda: sampler([(np.arange(3), np.arange(3))]),
    "power": lambda: audit.plan(F, gdp(2), power="a"),
    "too near": lambda: audit.plan(F, gdp(1.0001)),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_bad_calls_are_refused_with_the_fix(call):
    with pytest.raises(InvalidParameter) as refused:
        call()
    said = str(refused.value)
    fixes = "rite", "Give ", "Run ", "Call ", "Return ", "Leave ", "must be a whole number from "
    assert any(fix in said for fix in fixes)
    # What may be data is not quoted.
    assert len(said) < 400
