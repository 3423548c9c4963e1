"""The one door: order of charge, draw and reveal, and what a release is."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import neyman as ny
from neyman.aggregate import Aggregate
from neyman.errors import (
    BudgetExceeded,
    EngineFailure,
    EntryConflict,
    InvalidParameter,
    RelationMismatch,
    SensitivityMismatch,
)
from neyman.sensitivity import Sensitivity

SECRET = 123_456_789_123_456_789


class Plain:
    """Shows the noisy integers as they are."""

    def columns(self, noisy, noise, confidence):
        half = noise.half_width(confidence)
        return {
            "key": [f"k{i}" for i in range(len(noisy))],
            "count": noisy.tolist(),
            "lower": [int(v) - half for v in noisy],
            "upper": [int(v) + half for v in noisy],
        }


class Source:
    """Counts how often the data are read."""

    def __init__(self, fails=False):
        self.reads = 0
        self.fails = fails

    def __call__(self):
        self.reads += 1
        if self.fails:
            raise EngineFailure("the engine failed; the entry stays charged")
        return np.array([SECRET, -5, 0], dtype=np.int64)


def question(compute, **changes):
    aggregate = Aggregate(
        query={"statistic": "count"},
        source="here",
        unit="one row",
        sensitivity=Sensitivity(neighbors="add_remove", l1=Fraction(1), l2_squared=Fraction(1)),
        size=3,
        reading=Plain(),
        compute=compute,
    )
    return replace(aggregate, **changes)


@pytest.fixture
def ledger(tmp_path):
    return ny.Ledger.open(
        tmp_path / "a.ledger", cap=ny.gdp(1), unit="one row", neighbors="add_remove"
    )


NOISE = ny.Gaussian(scale=10)


@pytest.mark.shows("S0.7", "S1.7", "any-curve")
def test_a_release_is_charged_exactly_and_answered(ledger):
    source = Source()
    release = ny.release(question(source), NOISE, ledger, entry="a")
    assert source.reads == 1
    assert ledger.spent() == Fraction(1, 100)
    assert release.guarantee.curve == ny.gdp(0.1)
    assert release.spending.remaining == Fraction(99, 100)
    assert abs(release.columns["count"][0] - SECRET) < 120
    assert release.columns["count"] == list(ledger.entries()[0].values)


def test_a_release_tells_what_is_left_from_the_transaction_that_answers(ledger, monkeypatch):
    reads = []
    read = type(ledger.store).read

    def counted(store, work, *, consequence):
        reads.append(consequence)
        return read(store, work, consequence=consequence)

    monkeypatch.setattr(type(ledger.store), "read", counted)
    batch = [(question(Source()), NOISE), (question(Source()), NOISE)]
    for released in (
        lambda: [ny.release(question(Source()), NOISE, ledger, entry="a")],
        lambda: ny.release_batch(batch, ledger, entry="b"),
    ):
        # Drawn, and then replayed.
        for _ in range(2):
            reads.clear()
            answers = released()
            assert not reads
            assert {answer.spending.remaining for answer in answers} == {ledger.left().cost}


@pytest.mark.parametrize(
    "mechanism",
    [
        ny.mechanisms.DiscreteGaussian(scale=10),
        ny.mechanisms.DiscreteLaplace(scale=10),
        ny.mechanisms.Staircase(epsilon=0.1, period=2, width=1),
        ny.mechanisms.Canonical(curve=ny.gdp(0.1), period=1),
    ],
    ids=repr,
)
def test_every_noise_on_integers_goes_through_the_door(ledger, mechanism):
    one = Sensitivity(neighbors="add_remove", l1=Fraction(1), l2_squared=Fraction(1))
    release = ny.release(question(Source(), sensitivity=one), mechanism, ledger, entry="a")
    assert release.guarantee.curve == mechanism.tradeoff(one)
    assert 0 < ledger.spent() < Fraction(1, 50)
    assert abs(release.columns["count"][0] - SECRET) < 40 * mechanism.stddev
    assert (
        ny.release(question(Source(), sensitivity=one), mechanism, ledger, entry="a").columns
        == release.columns
    )


@pytest.mark.shows("replay")
def test_a_second_asking_is_free_and_reads_nothing(ledger):
    source = Source()
    first = ny.release(question(source), NOISE, ledger, entry="a")
    again = ny.release(question(source), NOISE, ledger, entry="a")
    assert source.reads == 1
    assert again.replayed
    assert not first.replayed
    assert again.columns == first.columns
    assert ledger.spent() == Fraction(1, 100)


@pytest.mark.shows("cap")
@pytest.mark.parametrize(
    ("mechanism", "changes", "options", "error"),
    [
        (ny.Gaussian(scale=Fraction(1, 2)), {}, {}, BudgetExceeded),
        (NOISE, {"unit": "one person"}, {}, RelationMismatch),
        (NOISE, {}, {"confidence": 1.0}, InvalidParameter),
        (ny.Laplace(scale=10), {}, {"confidence": float("nan")}, InvalidParameter),
        (NOISE, {}, {"entry": ""}, InvalidParameter),
        (
            NOISE,
            {"sensitivity": Sensitivity(neighbors="add_remove", l1=Fraction(1))},
            {},
            SensitivityMismatch,
        ),
        (
            NOISE,
            {"sensitivity": Sensitivity(neighbors="replace_one", l2_squared=Fraction(1))},
            {},
            RelationMismatch,
        ),
    ],
)
def test_what_is_refused_reads_nothing_and_costs_nothing(
    ledger, mechanism, changes, options, error
):
    source = Source()
    with pytest.raises(error):
        ny.release(question(source, **changes), mechanism, ledger, **{"entry": "a", **options})
    assert source.reads == 0
    assert ledger.spent() == 0


@pytest.mark.shows("failed-question")
def test_an_engine_failure_stays_charged_and_may_be_run_once_more(ledger):
    with pytest.raises(EngineFailure):
        ny.release(question(Source(fails=True)), NOISE, ledger, entry="a")
    assert ledger.spent() == Fraction(1, 100)
    release = ny.release(question(Source()), NOISE, ledger, entry="a")
    assert ledger.spent() == Fraction(1, 100)
    assert not release.replayed


def test_a_second_failure_ends_the_entry_and_it_stays_charged(ledger):
    for _ in range(2):
        with pytest.raises(EngineFailure):
            ny.release(question(Source(fails=True)), NOISE, ledger, entry="a")
    with pytest.raises(EntryConflict, match="stays charged"):
        ny.release(question(Source()), NOISE, ledger, entry="a")
    assert ledger.spent() == Fraction(1, 100)


class Careless:
    """A query that fails in its own words, or answers in another shape."""

    def __init__(self, answer=None):
        self.answer = answer

    def __call__(self):
        if self.answer is None:
            raise ValueError(f"row 17: {SECRET}")
        return self.answer


@pytest.mark.parametrize(
    "answer", [None, np.zeros(7, np.int64), np.zeros(3), np.zeros((3, 1), np.int64)]
)
def test_a_careless_query_is_charged_and_its_words_are_withheld(ledger, answer):
    with pytest.raises(EngineFailure) as caught:
        ny.release(question(Careless(answer)), NOISE, ledger, entry="a")
    assert str(SECRET) not in str(caught.value)
    assert caught.value.__context__ is None
    assert ledger.spent() == Fraction(1, 100)
    assert ledger.entries()[0].state == "reserved"


@pytest.mark.parametrize("state", ["warn", "raise"])
def test_numpy_says_nothing_of_the_values(ledger, state):
    """One signalling NaN, and stderr, or an error, would tell that it is there."""

    def compute():
        signalling = np.array([0x7F800001, 0, 0], np.uint32).view(np.float32).astype(float)
        spread = np.array([1e308, 1.0, 0.0]) * 1e308 / np.zeros(3)
        return np.where(np.isfinite(signalling + spread), 1, 0).astype(np.int64)

    with np.errstate(all=state):
        release = ny.release(question(compute), NOISE, ledger, entry="a")
        assert np.geterr()["invalid"] == state
    assert len(release.columns["count"]) == 3


def test_other_noise_under_the_same_id_is_another_question(ledger):
    ny.release(question(Source()), NOISE, ledger, entry="a")
    with pytest.raises(EntryConflict):
        ny.release(question(Source()), ny.Gaussian(scale=11), ledger, entry="a")


@pytest.mark.shows("adaptive")
def test_a_hundred_tenths_fill_a_cap_of_one_and_the_next_is_refused(ledger):
    for i in range(100):
        ny.release(question(Source()), NOISE, ledger, entry=f"e{i}")
    assert ledger.remaining() == 0
    with pytest.raises(BudgetExceeded):
        ny.release(question(Source()), NOISE, ledger, entry="one more")


def test_no_exact_value_is_in_any_repr(ledger):
    aggregate = question(Source())
    # So wide that noise of 0, which would show the exact value, has probability 4e-13, and the
    # secret so long that only an end of its interval (as unlikely) could spell it besides.
    release = ny.release(aggregate, ny.Gaussian(scale=2**40), ledger, entry="a")
    for text in (repr(aggregate), repr(release), str(release), repr(ledger)):
        assert str(SECRET) not in text
    assert "here" not in repr(aggregate)


def test_a_release_prints_its_value_interval_cost_and_rest(ledger):
    text = str(ny.release(question(Source()), NOISE, ledger, entry="a"))
    for part in (
        "95 % interval for the noise only",
        "gdp(mu=0.1)",
        "one row",
        "mu^2 0.01, 1 % of",
        "99 % left",
    ):
        assert part in text


def test_a_release_becomes_arrow_pandas_parquet_and_json(ledger, tmp_path):
    import json

    import pyarrow.parquet as pq

    release = ny.release(question(Source()), NOISE, ledger, entry="a")
    assert release.to_arrow().to_pydict() == release.columns
    assert release.to_pandas().to_dict("list") == release.columns
    release.to_parquet(tmp_path / "a.parquet")
    stored = pq.read_table(tmp_path / "a.parquet")
    assert stored.to_pydict() == release.columns
    record = json.loads(stored.schema.metadata[b"neyman.release"])
    assert record["entry"] == "a"
    whole = json.loads(json.dumps(release.to_json(), allow_nan=False))
    assert whole["columns"]["count"] == release.columns["count"]
    assert ny.TradeOff.from_json(whole["guarantee"]["curve"]) == ny.gdp(0.1)
