"""Audits of mechanisms: what outputs may be, streams, budgets, levels, neighbours."""

from decimal import Decimal
from fractions import Fraction
from time import perf_counter

import numpy as np
import pytest
from scipy.stats import binom

import neyman as ny
from audit.mechanisms import gaussian, on_grid
from neyman.audit import mechanism
from neyman.audit._features import Category, lowest_bits
from neyman.audit._outputs import Outputs, read_output
from neyman.errors import InvalidCall, InvalidParameter

NONE, ONE = [0.0], [1.0]


def shifted(data, rng):
    return float(on_grid(data[0] + 0.5 * rng.normal()))


def audited(run, *, inputs=(NONE, ONE), claim=None, draws=200, seed=1, **given):
    return mechanism(run, *inputs, claim or ny.gdp(1), draws=draws, seed=seed, **given)


def where(first, second):
    """Return a mechanism that gives one of two outputs for each input, and sometimes the other."""

    def run(data, rng):
        return (second if data[0] else first)() if rng.random() < 0.95 else 0

    return run


def fails():
    raise KeyError("a secret")


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        (lambda: 1.0, fails, "raises KeyError"),
        (lambda: 1.0, lambda: None, "NoneType"),
        (lambda: 1.0, lambda: np.float32(1), "float32"),
        (lambda: 1.0, lambda: np.nan, "no number"),
        (lambda: 0.0, lambda: -0.0, "-0.0"),
        (lambda: [1, 2], lambda: [1, 2, 3], "list(3 int)"),
        (lambda: "a", lambda: "b", "'b'"),
        (lambda: {"a": 1}, lambda: {"b": 1}, "dict"),
        (lambda: (1, "x"), lambda: (1, "y"), "output[1] is 'y'"),
        (lambda: np.zeros(3), lambda: np.zeros((1, 3)), "shape"),
        (lambda: np.zeros(100), lambda: np.eye(1, 100)[0], "projection"),
        (lambda: {1, 2}, lambda: {1, 3}, "projection"),
        (lambda: b"", list, "list()"),
        (lambda: 1j, lambda: 2j, "projection"),
        (lambda: Fraction(1, 3), lambda: Decimal("0.1"), "Decimal"),
        (lambda: 10**400, lambda: -(10**400), "output is"),
    ],
)
def test_outputs_of_every_kind(first, second, words):
    found = audited(where(first, second))
    assert found.refuted
    assert words in str(found)
    assert "secret" not in str(found)
    assert not audited(where(first, first)).refuted


def test_an_output_that_cannot_be_read_is_refused():
    with pytest.raises(InvalidParameter, match="got an object of type object"):
        audited(lambda _: object())
    with pytest.raises(InvalidParameter, match="raises KeyError in every run"):
        audited(lambda _: fails())


def test_outputs_that_are_all_alike_show_nothing():
    for constant in (lambda _: None, lambda _: 0.0, lambda _: [], lambda _: np.zeros(0)):
        assert audited(constant, claim=ny.gdp(0)).p_value == 1


def test_a_rare_output_that_the_pilot_has_not_seen():
    """One in 200 runs fails, and a pilot has 400 of them."""

    def run(data, rng):
        return fails() if data[0] and rng.random() < 0.005 else "fine"

    found = audited(run, claim=ny.pure_dp(0.1), draws=20_000, seed=4)
    assert found.refuted
    assert "kind of the output" in found.event


def test_a_generator_is_given_where_a_run_takes_one():
    seen = {0.0: [], 1.0: []}

    def run(data, rng):
        seen[data[0]].append(rng.random())
        return 0

    first = audited(run)
    assert not {*seen[0.0]} & {*seen[1.0]}
    assert len({*seen[0.0]}) == 200 == first.runs
    before = {side: [*values] for side, values in seen.items()}
    audited(run)
    assert seen[0.0][200:] == before[0.0]
    audited(run, seed=2)
    assert seen[1.0][400] != before[1.0][0]


def test_a_seed_repeats_an_audit():
    one, other = audited(shifted), audited(shifted)
    assert (one.p_value, one.event, one.verdict.counts) == (
        other.p_value,
        other.event,
        other.verdict.counts,
    )
    assert audited(shifted, seed=None).verdict.seed != audited(shifted, seed=None).verdict.seed


def test_one_seed_for_each_run_is_no_noise():
    def run(data):
        return float(on_grid(data[0] + np.random.default_rng(3).normal()))

    assert audited(run, draws=100).p_value < 1e-6


@pytest.mark.parametrize("size", [1.0, 2.0])
def test_a_claim_of_one_direction(size):
    """Remove: of data without the record against those with it."""
    claim = ny.poisson(ny.gdp(3), 0.3)

    def run(data, rng):
        return float(on_grid((data[0] if rng.random() < 0.3 else 0) * size + rng.normal() / 3))

    found = audited(run, claim=claim.remove, draws=1500)
    assert found.refuted == (size == 2)


def test_time_ends_an_audit_and_bets_end_it_early():
    begun = perf_counter()
    kept = mechanism(gaussian(1), NONE, ONE, ny.gdp(1), seconds=0.3, seed=1)
    taken = perf_counter() - begun
    assert not kept.early
    assert kept.runs >= 60
    assert taken < 5
    broken = mechanism(gaussian(0.2), NONE, ONE, ny.gdp(1), seconds=1, seed=1)
    assert broken.early
    assert broken.refuted
    assert broken.bound is None
    assert "stopped early" in str(broken)
    # Counts that ended because of what they were are no evidence of a bound.
    assert "mu >=" not in str(broken.verdict)
    with pytest.raises(InvalidCall, match="draws="):
        broken.verdict.mu()
    assert broken.p_value <= 0.05


def test_a_slow_run_is_run_sixty_times():
    calls = []
    found = mechanism(lambda data: calls.append(data) or 0, NONE, ONE, ny.gdp(1), seconds=0.01)
    assert found.runs * 2 == len(calls)
    assert found.runs >= 60


def test_neighbours_are_searched():
    """Only data of three records, the last of which is 7, show the fault."""

    def run(data, rng):
        noise = 0.2 if len(data) == 3 and data[2] == 7 else 1.0
        return float(on_grid(sum(min(x, 1) for x in data) + noise * rng.normal()))

    def proposed(rng):
        data = [*rng.integers(0, 2, 2).tolist(), int(rng.choice([0, 1, 7]))]
        return data[:2], data

    found = audited(run, draws=4000, neighbors=proposed)
    assert found.refuted
    assert found.inputs[1][2] == 7
    assert found.runs == 4000
    assert not audited(run, draws=1000).refuted
    assert not audited(gaussian(1), draws=1000, neighbors=lambda _: (NONE, ONE)).refuted


def test_a_lattice_that_is_claimed():
    """Steps of a quarter, from 0 or from 1/8: the lowest bit shows nothing of a third."""

    def run(data, rng):
        return data[0] + rng.integers(-400, 401) / 4

    inputs = ([0.0], [1 / 1024])
    found = audited(run, inputs=inputs, lattice=1 / 4)
    assert found.refuted
    assert not audited(run, inputs=([0.0], [0.25]), lattice=1 / 4).refuted


def test_a_likelihood_ratio_is_used():
    """A variance that differs by coordinates, of which each alone shows little."""
    scale = np.where(np.arange(30) % 2, 1.2, 1 / 1.2)

    def run(data, rng):
        return on_grid(rng.normal(size=30) * (scale if data[0] else 1))

    def ratio(output):
        return float(np.sum(output**2 * (1 - 1 / scale**2) / 2))

    found = audited(run, claim=ny.gdp(0.5), draws=1000, likelihood_ratio=ratio)
    assert found.refuted
    assert "log-likelihood ratio" in found.event
    assert not audited(run, claim=ny.gdp(0.5), draws=1000).refuted


def test_a_classifier_is_used():
    ensemble = pytest.importorskip("sklearn.ensemble")

    def run(data, rng):
        signs = rng.integers(0, 2, 3)
        signs[2] = signs[0] ^ signs[1] ^ (data[0] > 0) ^ (rng.random() < 0.15)
        return [float(on_grid(s + 0.2 * rng.normal())) for s in signs]

    forest = ensemble.RandomForestClassifier(10, random_state=1)
    found = audited(run, draws=4000, classifier=forest)
    assert found.refuted
    assert "RandomForestClassifier" in found.event
    assert not audited(run, draws=4000).refuted


def asked(watch, data):
    """Ask a sparse vector: what is asked next follows from the answers."""
    answers, value = [], 0
    while len(answers) < 4 and not any(answers):
        answers.append(watch.ask(value + int(data[0]), threshold=1))
        value -= 1
    return answers


def test_a_state_is_made_anew_in_each_run():
    """A sparse vector of the library, asked adaptively; and a budget that outlives the run."""

    def kept(data):
        return asked(ny.mechanisms.AboveThreshold(epsilon=1, sensitivity=1, hits=1), data)

    assert not audited(kept, claim=ny.pure_dp(1)).refuted
    left = [30]

    def broken(data):
        left[0] -= int(data[0])
        return "spent" if left[0] < 0 and data[0] else kept(data)

    assert audited(broken, claim=ny.pure_dp(1)).refuted


def test_features_that_are_learnt_and_tested_on_the_same_runs_break_the_level():
    """The twin of the split: the best of many features, tested on the runs that chose it."""
    from neyman.audit import Rule
    from neyman.audit._features import sides
    from neyman.audit._joint import p_value
    from neyman.audit._null import Null

    draw, runs, alarms = np.random.default_rng(5), 40, 0
    for _ in range(runs):
        pair = [Outputs([read_output(x) for x in draw.integers(0, 40, 80).tolist()]) for _ in "ab"]
        odds = Category.learnt("the output", lambda outputs: outputs.tokens(""), tuple(pair))
        scores = sides(odds, tuple(pair))
        rule = Rule(threshold=0.0, direction=1)
        alarms += p_value(rule.statistic(scores), Null(ny.gdp(0))).upper <= 0.05
    assert alarms > binom.isf(1e-6, runs, 0.05)


@pytest.mark.parametrize("runs", [10, pytest.param(600, marks=pytest.mark.soak)])
@pytest.mark.parametrize("seconds", [None, 0.1])
def test_a_claim_that_is_tight_is_refuted_at_most_at_the_level(runs, seconds):
    """More alarms have a chance of 1e-6."""
    budget = {"seconds": seconds} if seconds else {"draws": 150}
    level = 0.2
    alarms = sum(
        mechanism(gaussian(1), NONE, ONE, ny.gdp(1), level=level, seed=run, **budget).refuted
        for run in range(runs)
    )
    print(f"\n{alarms} of {runs} at level {level}")
    assert alarms <= binom.isf(1e-6, runs, level)


def test_lowest_bits():
    numbers = np.array([1.0, 0.5, 3.0, 12.0, 0.1, -0.1, 5e-324, 0.0, np.inf, np.nan])
    found = lowest_bits(numbers)
    assert found[:5].tolist() == [0, -1, 0, 2, -55]
    assert found[5] == found[4]
    assert found[6] == -1074
    assert found[7] > 1024
    assert np.isnan(found[8:]).all()
    whole = np.random.default_rng(0).integers(1, 2**53, 100)
    assert lowest_bits(whole.astype(float)).tolist() == [
        int(n & -n).bit_length() - 1 for n in whole
    ]


def test_what_a_report_says():
    said = str(audited(shifted))
    assert "gdp(mu=1) is refuted at level 0.05" in said
    assert "runs on the first input" in said
    assert "loses at least mu = " in said
    assert "Other inputs" in str(audited(gaussian(1)))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "seconds or draws"),
        ({"seconds": 1, "draws": 1000}, "seconds or draws"),
        ({"draws": 99}, "draws"),
        ({"seconds": 0}, "seconds must be"),
        ({"seconds": np.nan}, "seconds must be"),
        ({"draws": 100, "level": 1}, "level must be in"),
        ({"draws": 100, "lattice": 0}, "lattice must be"),
        ({"draws": 100, "classifier": 1}, "classifier must"),
        ({"draws": 100, "neighbors": lambda _: [0.0]}, "neighbors must"),
    ],
)
def test_what_is_no_audit_is_refused(given, words):
    with pytest.raises(InvalidParameter, match=words):
        mechanism(gaussian(1), NONE, ONE, ny.gdp(1), **given)
    with pytest.raises(InvalidCall):
        mechanism(gaussian(1), NONE, claim=ny.gdp(1))
