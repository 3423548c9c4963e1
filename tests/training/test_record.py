"""Run records: what is written is read again, what is malformed is refused, ranks become one."""

import hashlib
import json
from contextlib import suppress
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neyman.accounting import dp_sgd
from neyman.curves import TradeOff, dominated_by, gdp
from neyman.errors import InvalidParameter, NeymanError
from neyman.training import (
    BallsInBins,
    Check,
    Finding,
    Phase,
    PoissonBatches,
    RunRecord,
    ShuffledBatches,
)

DELTA = 1e-5


def digest(name):
    return hashlib.sha256(name.encode()).hexdigest()


def phase(noise=1, steps=300, seed="a", **changes):
    return Phase.poisson(
        noise_multiplier=noise,
        sampling_probability=Fraction(1, 100),
        steps=steps,
        seeds=() if seed is None else (digest(seed),),
        **changes,
    )


def record(*phases, **changes):
    known = {"unit": "one image", "neighbors": "add_remove", "versions": {"neyman": "0.1.0"}}
    return RunRecord(phases=phases or (phase(),), **{**known, **changes})


def full():
    return record(
        phase(clip=Fraction(1, 10)),
        phase(noise=1.5, steps=20, seed="b", planned=30, start=7),
        records=6000,
        dataset="digits",
        assumptions=("The seed is secret.",),
        checks=(Check("batch_norm", passed=True),),
        findings=(Finding("float_noise", "seen", "holds", "write", gdp(1)),),
        tuning_runs=3,
        world=2,
        sharded=True,
    )


def written(run):
    return json.loads(json.dumps(run.to_json()))


# -- reading and writing ------------------------------------------------------------------------


@pytest.mark.shows("run-record")
def test_what_is_saved_is_read_again(tmp_path):
    place = tmp_path / "model.run.json"
    full().save(place)
    read = RunRecord.read(place)
    assert read.to_json() == full().to_json()
    assert read.claimed == read.curve == full().curve
    assert [one.name for one in tmp_path.iterdir()] == ["model.run.json"]
    read.save(place)
    assert RunRecord.read(place) == read


def test_only_a_run_record_is_replaced(tmp_path):
    place = tmp_path / "weights.json"
    place.write_text('{"format": "weights"}')
    with pytest.raises(InvalidParameter, match="run record"):
        full().save(place)
    assert place.read_text() == '{"format": "weights"}'


def test_a_failed_write_leaves_the_old_record(tmp_path, monkeypatch):
    place = tmp_path / "model.run.json"
    record().save(place)
    before = place.read_bytes()
    monkeypatch.setattr("os.fsync", lambda _: (_ for _ in ()).throw(OSError(28, "full")))
    with pytest.raises(OSError, match="full"):
        full().save(place)
    assert place.read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 1


def test_a_record_names_what_took_part():
    assert {"python", "neyman", "numpy"} <= {*RunRecord(**_bare()).versions}


def _bare():
    return {"phases": (phase(),), "unit": "one image", "neighbors": "add_remove"}


@pytest.mark.parametrize(
    "change",
    [
        {"format": "neyman.release"},
        {"version": 2},
        {"version": True},
        {"unit": 3},
        {"unit": ""},
        {"neighbors": "add"},
        {"records": 0},
        {"records": True},
        {"records": 1.5},
        {"phases": {}},
        {"phases": [None]},
        {"phases": [{}]},
        {"curve": None},
        {"curve": {"format": "neyman.tradeoff", "version": 1}},
        {"checks": [{"name": "a"}]},
        {"checks": [{"name": "a", "passed": 1}]},
        {"findings": [{"name": "a", "seen": "b", "holds": "c", "write": "d", "curve": 1}]},
        {"assumptions": "one"},
        {"assumptions": ["x" * 10_001]},
        {"versions": {"torch": 2}},
        {"ranks": []},
        {"ranks": [1]},
        {"ranks": [0, 0]},
        {"ranks": [True]},
        {"world": 0},
        {"sharded": 1},
        {"tuning_runs": -1},
        {"dataset": 7},
        {"more": 1},
    ],
)
def test_a_field_of_another_kind_is_refused(change):
    with pytest.raises(InvalidParameter):
        RunRecord.from_json({**written(record()), **change})


@pytest.mark.parametrize(
    "change",
    [
        {"noise_multiplier": 1},
        {"noise_multiplier": "0"},
        {"noise_multiplier": "nan"},
        {"noise_multiplier": "1e400000000"},
        {"clip": "-1"},
        {"steps": 1.0},
        {"steps": -1},
        {"steps": 2**53},
        {"planned": None},
        {"start": "0"},
        {"seeds": ["my seed"]},
        {"seeds": [digest("a").upper()]},
        {"sampler": {}},
        {"sampler": {"sampler": 1}},
        {"sampler": {"sampler": "poisson", "sampling_probability": {"a": 1}}},
        {"sampler": {"sampler": "poisson", "sampling_probability": [[1]]}},
    ],
)
def test_a_phase_of_another_kind_is_refused(change):
    found = written(record())
    found["phases"][0] |= change
    with pytest.raises(InvalidParameter):
        RunRecord.from_json(found)


@pytest.mark.parametrize("key", sorted(record().to_json()))
def test_a_field_that_is_missing_is_named(key):
    found = written(record())
    del found[key]
    with pytest.raises(InvalidParameter, match=key):
        RunRecord.from_json(found)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"[]",
        b"{",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"format": "neyman.run", "version": 1, "version": 1}',
        b'{"format": "neyman.run", "version": NaN}',
        b'{"format": "neyman.run", "version": ' + b"1" * 5000 + b"}",
        b" " * (2**25 + 1),
    ],
)
def test_a_file_that_is_no_record_is_refused_in_a_sentence(tmp_path, text):
    place = tmp_path / "run.json"
    place.write_bytes(text)
    with pytest.raises(InvalidParameter, match="run record"):
        RunRecord.read(place)


def test_too_many_phases_are_refused_before_they_are_priced():
    found = written(record())
    found["phases"] = found["phases"] * 10_001
    with pytest.raises(InvalidParameter, match="at most 10000"):
        RunRecord.from_json(found)


LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(["1/2", "1e9", "-1", "add_remove", "poisson", "neyman.run", digest("a")]),
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=6,
)


def places(found, path=()):
    """Every place in a record, by the keys that lead there."""
    yield path
    for key in found if isinstance(found, dict) else range(len(found)):
        inner = found[key]
        yield from places(inner, (*path, key)) if isinstance(inner, dict | list) else [(*path, key)]


WHOLE = json.dumps(full().to_json())
PLACES = [path for path in places(json.loads(WHOLE)) if path]


@given(path=st.sampled_from(PLACES), value=VALUES)
def test_whatever_stands_anywhere_is_a_record_or_refused(path, value):
    """No value at any place of a record raises anything but a sentence of ours."""
    found = json.loads(WHOLE)
    at = found
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    try:
        read = RunRecord.from_json(found)
    except NeymanError:
        return
    assert RunRecord.from_json(written(read)) == read


@given(st.binary(max_size=60), st.integers(0, 3000), st.integers(0, 60))
def test_a_file_with_other_bytes_is_a_record_or_refused(tmp_path_factory, noise, at, cut):
    whole = WHOLE.encode()
    place = tmp_path_factory.getbasetemp() / "fuzzed.json"
    place.write_bytes(whole[:at] + noise + whole[at + cut :])
    with suppress(NeymanError):
        RunRecord.read(place)


@given(
    name=st.sampled_from(["poisson", "passes", "PoissonBatches", "BallsInBins", "FixedBatches"]),
    values=st.dictionaries(
        st.sampled_from(["records", "steps", "rate", "passes", "epochs", "sampling_probability"]),
        st.one_of(LEAVES.filter(lambda x: type(x) is not int), st.integers(-1, 9)),
    ),
)
def test_whatever_describes_a_sampler_has_a_price_or_is_refused(name, values):
    found = json.loads(WHOLE)
    found["phases"][0]["sampler"] = {**values, "sampler": name}
    with suppress(NeymanError):
        assert isinstance(RunRecord.from_json(found).curve, TradeOff)


# -- pricing ------------------------------------------------------------------------------------


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
def test_phases_cost_what_their_steps_cost_together(neighbors):
    run = record(phase(), phase(noise=2, steps=50), neighbors=neighbors)
    alone = [
        dp_sgd(noise, Fraction(1, 100), steps, neighbors=neighbors)
        for noise, steps in ((1, 300), (2, 50))
    ]
    assert run.curve == alone[0] @ alone[1]
    assert record(phase(steps=0)).curve.epsilon(0.0) == 0


def test_passes_are_not_amplified():
    sampled = Phase.passes(noise_multiplier=2, passes=9, steps=100)
    assert record(sampled).curve == dominated_by(gdp(Fraction(1, 2)) ** 9)
    replaced = record(sampled, neighbors="replace_one")
    assert replaced.curve == dominated_by(gdp(1) ** 9)
    # No record is in more steps than were taken.
    few = record(Phase.passes(noise_multiplier=2, passes=9, steps=4))
    assert few.curve == dominated_by(gdp(Fraction(1, 2)) ** 4)


def test_a_sampler_is_priced_by_itself():
    sampler = PoissonBatches(records=6000, rate="1/100", steps=300)
    run = record(Phase.of(sampler, noise_multiplier=1, steps=300))
    assert run.curve == record().curve
    assert sampler.seed_digest in json.dumps(run.to_json())
    assert sampler.seed.hex() not in json.dumps(run.to_json())


def test_steps_that_go_on_with_a_sampler_are_those_of_one_run():
    """Two halves of an epoch are one epoch, and never two half epochs."""
    bins = BallsInBins(records=600, steps=60, epochs=2)
    whole = bins.guarantee(noise_multiplier=1)
    halves = [
        Phase.of(bins, noise_multiplier=1, steps=45),
        Phase.of(bins, noise_multiplier=1, steps=15, start=45),
    ]
    assert record(*halves).curve == whole
    assert RunRecord.from_json(written(record(*halves))).curve == whole
    # More noise in the second half is priced as the less of the first.
    later = Phase.of(bins, noise_multiplier=2, steps=15, start=45)
    assert record(halves[0], later).curve == whole
    # The later part alone counts the steps that led to it.
    assert record(halves[1]).curve == whole


def test_an_unknown_sampler_has_no_price():
    made = Phase(noise_multiplier=Fraction(1), sampler={"sampler": "mine"}, steps=1, planned=1)
    with pytest.raises(InvalidParameter, match="sampler"):
        _ = record(made).curve


def test_a_poisson_sampler_without_a_probability_has_no_price():
    for sampler in ({"sampler": "poisson"}, {"sampler": "poisson", "sampling_probability": "2"}):
        made = Phase(noise_multiplier=Fraction(1), sampler=sampler, steps=1, planned=1)
        with pytest.raises(InvalidParameter, match=r"\[0, 1\]"):
            _ = record(made).curve


def test_a_shuffled_sampler_is_priced_by_its_bound():
    sampler = ShuffledBatches(records=600, batch_size=60, epochs=3)
    run = record(Phase.of(sampler, noise_multiplier=2, steps=30))
    assert run.curve.epsilon(DELTA) == pytest.approx((gdp(0.5) ** 3).epsilon(DELTA))


# -- along the steps ----------------------------------------------------------------------------


def test_epsilon_along_the_steps_is_that_of_shorter_trainings():
    run = record(phase(), phase(noise=1.5, steps=200))
    found = run.epsilon_over_steps(DELTA, points=6)
    assert found.steps.tolist() == [0, 100, 200, 300, 400, 500]
    assert found.epsilon[0] == 0
    assert np.all(np.diff(found.epsilon) > 0)
    for step, epsilon in zip(found.steps.tolist(), found.epsilon, strict=True):
        taken = dp_sgd(1, Fraction(1, 100), min(step, 300))
        rest = dp_sgd(1.5, Fraction(1, 100), max(step - 300, 0))
        exact = (taken @ rest).epsilon(DELTA, bracket=True)
        assert exact.lower <= epsilon <= exact.upper * (1 + 1e-9)
    assert found.epsilon[-1] == run.curve.epsilon(DELTA)


def test_the_end_of_a_phase_is_a_point_of_its_own():
    run = record(phase(steps=7), phase(noise=1.5, steps=200))
    assert 7 in run.epsilon_over_steps(DELTA, points=4).steps


# -- ranks --------------------------------------------------------------------------------------


def of_rank(rank, **changes):
    seed = changes.pop("seed", f"rank {rank}")
    return record(phase(seed=seed), ranks=(rank,), world=3, sharded=True, **changes)


def test_ranks_become_the_record_of_one_training():
    merged = of_rank(1).merge([of_rank(0), of_rank(2)])
    assert merged.ranks == (0, 1, 2)
    assert merged.phases[0].seeds == tuple(digest(f"rank {i}") for i in range(3))
    # A step of all is one step: nothing is composed.
    assert merged.curve == of_rank(0).curve
    assert of_rank(2).merge([of_rank(0)]).merge([of_rank(1)]).ranks == (0, 1, 2)


def test_a_check_of_all_ranks_passed_if_it_did_on_each():
    good, bad = (of_rank(i, checks=(Check("batch_norm", passed=i == 0),)) for i in (0, 1))
    assert good.merge([bad]).checks == (Check("batch_norm", passed=False),)


@pytest.mark.parametrize(
    ("other", "why"),
    [
        (of_rank(1, seed="rank 0"), "different seeds"),
        (of_rank(1, seed=None), "either every rank or no rank"),
        (of_rank(0, seed="b"), "once"),
        (of_rank(1, versions={"neyman": "0.2.0"}), "versions"),
        (of_rank(1, unit="one person"), "unit"),
        (of_rank(1, neighbors="replace_one"), "neighbors"),
        (of_rank(1, dataset="b"), "dataset"),
        (of_rank(1, records=7), "records"),
        (record(phase(noise=2), ranks=(1,), world=3, sharded=True), "phase 0"),
        (record(phase(steps=9), ranks=(1,), world=3, sharded=True), "phase 0"),
        (record(phase(clip=2), ranks=(1,), world=3, sharded=True), "phase 0"),
        (record(phase(), phase(), ranks=(1,), world=3, sharded=True), "number of phases"),
        (record(phase(seed="b"), ranks=(1,), world=2, sharded=True), "world"),
        (record(phase(seed="b"), ranks=(1,), world=3), "sharded"),
    ],
)
def test_unlike_ranks_are_refused(other, why):
    with pytest.raises(InvalidParameter, match=why):
        of_rank(0).merge([other])


def test_ranks_that_divide_one_batch_have_one_seed():
    first, second = (record(phase(seed="a"), ranks=(i,), world=2) for i in (0, 1))
    assert first.merge([second]).phases == first.phases
    with pytest.raises(InvalidParameter, match="same seed"):
        first.merge([record(phase(seed="b"), ranks=(1,), world=2)])


def test_a_stored_curve_is_kept_and_not_believed():
    found = written(record())
    found["curve"] = gdp(Fraction(1, 100)).to_json()
    run = RunRecord.from_json(found)
    assert run.claimed == gdp(Fraction(1, 100))
    assert run.curve == record().curve
    assert TradeOff.from_json(written(run)["curve"]) == run.claimed


def test_phases_are_a_tuple_of_phases():
    one = Phase.poisson(noise_multiplier=1, sampling_probability=0.1, steps=10)
    known = {"unit": "one image", "neighbors": "add_remove"}
    listed = RunRecord(phases=[one], **known)
    assert listed == RunRecord(phases=(one,), **known)
    for wrong in (one, None, [1], "ab"):
        with pytest.raises(InvalidParameter, match="phases must be a tuple of Phase"):
            RunRecord(phases=wrong, **known)
