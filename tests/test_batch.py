"""Batches: charged whole before the first draw, by their exact composition, and replayed whole."""

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

ONE = Sensitivity(neighbors="add_remove", l1=Fraction(1), l2_squared=Fraction(1))


class Plain:
    def columns(self, noisy, noise, confidence):
        half = noise.half_width(confidence)
        return {"count": noisy.tolist(), "upper": [int(v) + half for v in noisy]}


class Source:
    def __init__(self, values, seen=None, ledger=None, fails=False):
        self.values, self.seen, self.ledger, self.fails = values, seen, ledger, fails
        self.reads = 0

    def __call__(self):
        self.reads += 1
        if self.seen is not None:
            self.seen.append(self.ledger.spent())
        if self.fails:
            raise EngineFailure("the engine failed; the entry stays charged")
        return np.array(self.values, dtype=np.int64)


def question(source, name, **changes):
    aggregate = Aggregate(
        query={"statistic": name},
        source="here",
        unit="one row",
        sensitivity=ONE,
        size=len(source.values),
        reading=Plain(),
        compute=source,
    )
    return replace(aggregate, **changes)


@pytest.fixture
def ledger(tmp_path):
    return ny.Ledger.open(
        tmp_path / "a.ledger", cap=ny.gdp(1), unit="one row", neighbors="add_remove"
    )


def mixed(sources):
    noises = [ny.Gaussian(scale=10), ny.Laplace(scale=10), ny.Laplace(scale=20)]
    return [
        (question(source, f"q{i}"), noise)
        for i, (source, noise) in enumerate(zip(sources, noises, strict=True))
    ]


def test_a_batch_is_charged_whole_before_the_first_draw_and_answered_in_order(ledger):
    seen = []
    sources = [Source([10**6 * (i + 1)] * (i + 1), seen, ledger) for i in range(3)]
    releases = ny.release_batch(mixed(sources), ledger, entry="batch")
    curve = ny.gdp(0.1) @ ny.laplace(0.1) @ ny.laplace(0.05)
    (entry,) = ledger.entries()
    assert entry.curve == curve
    assert seen == [entry.cost] * 3
    assert entry.cost < curve.outer_gaussian()
    # Exactly composed, across the kinds of noise: mu with next to no slack is next to nothing less.
    assert float(entry.cost) == pytest.approx(float(curve.mu(slack=1e-9)) ** 2, rel=1e-3)
    assert [len(release.columns["count"]) for release in releases] == [1, 2, 3]
    for i, release in enumerate(releases):
        assert all(abs(value - 10**6 * (i + 1)) < 1000 for value in release.columns["count"])
        assert (release.entry, release.spending.cost) == ("batch", entry.cost)
    assert [release.guarantee.curve for release in releases] == [
        ny.gdp(0.1),
        ny.laplace(0.1),
        ny.laplace(0.05),
    ]
    assert ledger.check() == ()


def test_a_batch_is_replayed_whole_and_free(ledger):
    sources = [Source([5] * 2) for _ in range(3)]
    first = ny.release_batch(mixed(sources), ledger, entry="batch")
    spent = ledger.spent()
    again = ny.release_batch(mixed(sources), ledger, entry="batch")
    assert [release.columns for release in again] == [release.columns for release in first]
    assert all(release.replayed for release in again)
    assert [source.reads for source in sources] == [1, 1, 1]
    assert ledger.spent() == spent
    with pytest.raises(EntryConflict, match="another"):
        ny.release_batch(mixed(sources)[::-1], ledger, entry="batch")
    with pytest.raises(EntryConflict, match="another"):
        ny.release(*mixed(sources)[0], ledger, entry="batch")


def test_batches_and_single_entries_add_by_the_filter(ledger):
    ny.release_batch(mixed([Source([1])] * 3), ledger, entry="a")
    ny.release_batch(mixed([Source([1])] * 3), ledger, entry="b")
    ny.release(question(Source([1]), "q"), ny.Gaussian(scale=10), ledger, entry="c")
    a, b, _ = ledger.entries()
    assert a.cost == b.cost
    assert ledger.spent() == a.cost + b.cost + Fraction(1, 100)
    assert ledger.total() == ny.gdp(squared=ledger.spent())


@pytest.mark.shows("adaptive")
def test_many_small_laplace_releases_cost_a_third_less(ledger):
    batch = [(question(Source([1]), f"q{i}"), ny.Laplace(scale=50)) for i in range(20)]
    ny.release_batch(batch, ledger, entry="batch")
    alone = ny.laplace(Fraction(1, 50)).outer_gaussian()
    assert 0.62 < float(ledger.spent() / (20 * alone)) < 0.66


def test_a_pure_ledger_adds_epsilons(tmp_path):
    ledger = ny.Ledger.open(
        tmp_path / "p.ledger", cap=ny.pure_dp(1), unit="one row", neighbors="add_remove"
    )
    batch = [(question(Source([1]), f"q{i}"), ny.Laplace(scale=10)) for i in range(3)]
    ny.release_batch(batch, ledger, entry="batch")
    assert ledger.spent() == Fraction(3, 10)


@pytest.mark.parametrize(
    ("change", "noise", "options", "error"),
    [
        ({"unit": "one person"}, ny.Gaussian(scale=10), {}, RelationMismatch),
        (
            {"sensitivity": replace(ONE, neighbors="replace_one")},
            ny.Gaussian(scale=10),
            {},
            RelationMismatch,
        ),
        ({"sensitivity": replace(ONE, l1=None)}, ny.Laplace(scale=10), {}, SensitivityMismatch),
        ({}, ny.Gaussian(scale=Fraction(1, 2)), {}, BudgetExceeded),
        ({}, ny.Gaussian(scale=10), {"confidence": 1.0}, InvalidParameter),
    ],
)
def test_one_question_that_is_refused_refuses_all_and_costs_nothing(
    ledger, change, noise, options, error
):
    source = Source([1])
    fine = (question(source, "fine"), ny.Gaussian(scale=10))
    for batch in ([fine, (question(source, "q", **change), noise)],):
        with pytest.raises(error):
            ny.release_batch(batch, ledger, **{"entry": "batch", **options})
        with pytest.raises(error):
            ny.release_batch(batch[::-1], ledger, **{"entry": "batch", **options})
    assert (source.reads, ledger.spent()) == (0, 0)


def test_an_empty_batch_is_refused(ledger):
    with pytest.raises(InvalidParameter, match="at least one"):
        ny.release_batch([], ledger, entry="batch")


def test_a_failure_in_the_middle_shows_nothing_and_may_be_run_once_more(ledger):
    sources = [Source([1]), Source([1], fails=True), Source([1])]
    with pytest.raises(EngineFailure):
        ny.release_batch(mixed(sources), ledger, entry="batch")
    spent = ledger.spent()
    assert spent > 0
    assert [entry.state for entry in ledger.entries()] == ["reserved"]
    sources[1].fails = False
    assert len(ny.release_batch(mixed(sources), ledger, entry="batch")) == 3
    assert ledger.spent() == spent
