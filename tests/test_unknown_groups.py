"""Groups that nobody declared, through the door: what is shown, stored and charged, what not."""

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import neyman as ny
from neyman import door
from neyman.aggregate import FoundGroups
from neyman.errors import (
    BudgetExceeded,
    EngineFailure,
    EntryConflict,
    LedgerMismatch,
    SensitivityMismatch,
    UnsupportedComposition,
)
from neyman.mechanisms import Thresholded
from neyman.tables import Entity, Rows, UnknownKeys, open_table

BY = UnknownKeys("g")
CAP = ny.approx_dp(2, 1e-6)
BIG = ["büro", "adam", "10", "9"]


def rows(*extra):
    names = [name for name in BIG for _ in range(500)] + ["lonely secret", *extra]
    return pa.table({"g": names, "i": [len(name) for name in names]})


def table(*extra, unit=None):
    return open_table(rows(*extra), unit=unit or Rows(), name="t")


@pytest.fixture
def ledger(tmp_path):
    return opened(tmp_path / "a.ledger")


def opened(path, share=5e-7, cap=CAP):
    return ny.Ledger.open(path, cap=cap, unit="one row", neighbors="add_remove", delta_aside=share)


def noise(aggregate, mu=0.2, delta=1e-12):
    """A delta so small that a test which looks for a lonely row never fails by chance."""
    sensitivity = aggregate.sensitivity
    return Thresholded.calibrate(
        sensitivity, noise=ny.Gaussian.calibrate(sensitivity, mu), delta=delta
    )


@pytest.mark.shows("unknown-groups")
def test_large_groups_are_shown_in_the_order_of_their_keys(ledger):
    asked = table().count(BY)
    release = ny.release(asked, noise(asked), ledger, entry="a")
    assert release.columns["g"] == sorted(BIG)
    assert all(abs(count - 500) < 60 for count in release.columns["count"])
    assert set(release.columns) == {"g", "count", "stddev", "lower", "upper"}
    by_length = table().count(UnknownKeys("i"))
    release = ny.release(by_length, noise(by_length), ledger, entry="b")
    # Integers in their own order, not that of their text: 13 has one row.
    assert release.columns["i"] == [1, 2, 4]


def test_it_is_charged_twice_and_said(ledger):
    asked = table().count(BY)
    made = noise(asked)
    delta = made.failure(asked.sensitivity)
    release = ny.release(asked, made, ledger, entry="a")
    assert ledger.spent() == Fraction(4, 100)
    assert ledger.spent_delta() == delta <= Fraction("1e-12")
    assert ledger.remaining_delta() == Fraction("5e-7") - delta
    assert release.guarantee.curve == ny.gdp(0.2) @ ny.approx_dp(0, delta)
    assert release.spending.delta == delta
    assert "remain of what was set aside" in str(release)
    assert release.to_json()["spending"]["delta"] == str(delta)
    assert ledger.total().implies(CAP)
    (entry,) = ledger.entries()
    assert (entry.cost, entry.delta, entry.groups) == (
        Fraction(4, 100),
        delta,
        (tuple((name,) for name in sorted(BIG)),),
    )
    assert ledger.check() == ()


def test_asked_again_it_is_the_same_and_the_data_are_not_read(ledger):
    asked = table().count(BY)
    first = ny.release(asked, noise(asked), ledger, entry="a")

    def never():
        raise AssertionError

    unread = replace(asked, unknown=replace(asked.unknown, find=never))
    again = ny.release(unread, noise(asked), ledger, entry="a")
    assert again.replayed
    assert again.columns == first.columns
    assert ledger.remaining_delta() == again.spending.delta_remaining
    with pytest.raises(EntryConflict):
        ny.release(asked, noise(asked, delta=2e-7), ledger, entry="a")


@pytest.mark.shows("hidden-groups")
def test_nothing_of_what_is_not_shown_survives(ledger):
    asked = table().count(BY)
    release = ny.release(asked, noise(asked), ledger, entry="a")
    texts = [
        str(release),
        repr(release),
        json.dumps(release.to_json()),
        json.dumps(ledger.export()),
        repr(ledger.entries()),
    ]
    assert not any("lonely" in text for text in texts)
    files = ledger.store.settled().files
    held = b"".join(path.read_bytes() for path in files if path.exists())
    assert held
    assert b"lonely" not in held


def test_the_engines_order_is_not_shown(ledger):
    """Groups come in the order of their keys, their integers with them."""
    asked = table().count(BY)

    def backwards():
        found = asked.unknown.find()
        order = np.argsort([key[0] for key in found.keys])[::-1]
        counts = 1000 * (np.arange(len(order), dtype=np.int64)[::-1, None] + 1)
        return FoundGroups(tuple(found.keys[i] for i in order), counts)

    turned = replace(asked, unknown=replace(asked.unknown, find=backwards))
    columns = ny.release(turned, noise(asked), ledger, entry="a").columns
    assert columns["g"] == sorted([*BIG, "lonely secret"])
    assert [round(count / 1000) for count in columns["count"]] == [1, 2, 3, 4, 5]


def test_no_groups_at_all_are_an_answer(ledger):
    for entry, given in {"small": ["a", "b"], "none": []}.items():
        frame = pa.table({"g": pa.array(given, pa.string())})
        asked = open_table(frame, unit=Rows(), name="t").count(BY)
        release = ny.release(asked, noise(asked), ledger, entry=entry)
        assert release.columns == {"g": [], "count": [], "stddev": [], "lower": [], "upper": []}
        assert "g" in str(release)
        again = ny.release(asked, noise(asked), ledger, entry=entry)
        assert (again.replayed, again.columns) == (True, release.columns)
    assert ledger.check() == ()


def test_a_batch_selects_for_each_question(tmp_path):
    ledger = opened(tmp_path / "a.ledger", cap=ny.approx_dp(4, 1e-6))
    source = table()
    by_name, by_length, whole = (
        source.count(BY),
        source.count(UnknownKeys("i")),
        source.count(),
    )
    plain = ny.Gaussian.calibrate(whole.sensitivity, 0.2)
    questions = [(by_name, noise(by_name)), (whole, plain), (by_length, noise(by_length))]
    batch = ny.release_batch(questions, ledger, entry="b")
    assert [next(iter(part.columns)) for part in batch] == ["g", "count", "i"]
    assert batch[0].columns["g"] == sorted(BIG)
    assert batch[2].columns["i"] == [1, 2, 4]
    assert abs(batch[1].columns["count"][0] - 2001) < 60
    again = ny.release_batch(questions, ledger, entry="b")
    assert [part.columns for part in again] == [part.columns for part in batch]
    failures = [q[1].failure(q[0].sensitivity) for q in (questions[0], questions[2])]
    assert ledger.spent_delta() == sum(failures)
    assert batch[1].guarantee.curve == ny.gdp(0.2)
    assert ledger.check() == ()


def test_the_delta_ends_before_the_account_does(ledger):
    asked = table().count(BY)
    made = noise(asked, mu=0.01, delta=2e-7)
    ny.release(asked, made, ledger, entry="1")
    ny.release(asked, made, ledger, entry="2")
    while made.failure(asked.sensitivity) <= ledger.remaining_delta():
        ny.release(asked, made, ledger, entry=f"more {ledger.remaining_delta()}")
    spent = ledger.spent(), ledger.spent_delta()
    with pytest.raises(BudgetExceeded, match=r"delta = .*Nothing was charged") as refused:
        ny.release(asked, made, ledger, entry="too much")
    assert "with delta" in str(refused.value)
    assert (ledger.spent(), ledger.spent_delta()) == spent
    # What fails nowhere still fits.
    whole = table().count()
    ny.release(whole, ny.Gaussian.calibrate(whole.sensitivity, 0.01), ledger, entry="6")
    assert ledger.check() == ()


def test_laplace_noise_and_all_of_delta(tmp_path):
    ledger = opened(tmp_path / "pure.ledger", share=1e-6)
    assert (ledger.account, ledger.capacity) == ("epsilon", 2)
    asked = table().count(BY)
    sensitivity = asked.sensitivity
    made = Thresholded.calibrate(
        sensitivity, noise=ny.mechanisms.DiscreteLaplace.calibrate(sensitivity, 1), delta=1e-12
    )
    release = ny.release(asked, made, ledger, entry="a")
    assert release.columns["g"] == sorted(BIG)
    assert ledger.spent() == 1
    assert ledger.total().implies(CAP)
    assert ledger.check() == ()


class TestRefusals:
    def test_a_ledger_without_a_share(self, tmp_path):
        ledger = ny.Ledger.open(
            tmp_path / "a.ledger", cap=CAP, unit="one row", neighbors="add_remove", delta_aside=0
        )
        asked = table().count(BY)
        with pytest.raises(UnsupportedComposition, match=r"write Ledger\.open\(.*approx_dp\("):
            ny.release(asked, noise(asked), ledger, entry="a")
        assert ledger.entries() == ()

    def test_noise_alone(self, ledger):
        asked = table().count(BY)
        with pytest.raises(SensitivityMismatch, match=r"Write Thresholded\.calibrate"):
            ny.release(asked, noise(asked).noise, ledger, entry="a")
        with pytest.raises(SensitivityMismatch, match="Write the noise alone"):
            ny.release(table().count(), noise(asked), ledger, entry="a")
        assert ledger.entries() == ()

    def test_a_threshold_for_smaller_units(self):
        """Calibrated to rows, asked of entities of nine rows each."""
        asked = table(unit=Entity("i", max_rows=9)).count(BY)
        assert asked.sensitivity.new_groups.largest == 9
        made = Thresholded(noise=ny.Gaussian(scale=1), threshold=9)
        with pytest.raises(SensitivityMismatch, match="passed by one unit alone"):
            made.tradeoff(asked.sensitivity)

    def test_another_share(self, tmp_path):
        opened(tmp_path / "a.ledger")
        with pytest.raises(LedgerMismatch, match="created with delta_aside=5e-07"):
            opened(tmp_path / "a.ledger", share=1e-7)
        # Who writes none has what the ledger was created with.
        assert opened(tmp_path / "a.ledger", share=None).delta_aside == Fraction("5e-7")


@pytest.mark.parametrize(
    "found",
    [
        None,
        FoundGroups((("lonely secret",),), np.zeros((2, 1), np.int64)),
        FoundGroups((("lonely secret",),), np.zeros((1, 2), np.int64)),
        FoundGroups((("lonely secret",),), np.zeros((1, 1), np.float64)),
    ],
)
def test_an_engine_that_gives_something_else_is_withheld(ledger, found):
    asked = table().count(BY)

    def find():
        if found is None:
            raise ValueError("lonely secret")
        return found

    with pytest.raises(EngineFailure) as failure:
        ny.release(
            replace(asked, unknown=replace(asked.unknown, find=find)),
            noise(asked),
            ledger,
            entry="a",
        )
    assert "lonely" not in str(failure.value)
    assert failure.value.__context__ is None
    assert ledger.spent_delta() > 0


@pytest.mark.shows("twin of Thresholded")
def test_a_broken_twin_without_the_threshold_shows_the_lonely_unit(ledger, monkeypatch):
    """So that the tests above would see it."""
    monkeypatch.setattr(Thresholded, "shown", lambda _, counts: np.arange(counts.size))
    asked = table().count(BY)
    assert "lonely secret" in ny.release(asked, noise(asked), ledger, entry="a").columns["g"]
    assert door.release is ny.release
