"""Copies that went on apart: nothing drawn is left out of the sum, whatever was merged when."""

import random
from fractions import Fraction

import pytest

from neyman.curves import gdp
from neyman.errors import BudgetExceeded, EntryConflict, LedgerCorrupt, LedgerMismatch
from neyman.ledger import Ledger

TENTH = Fraction(1, 100)


@pytest.fixture
def apart(opened, home, tmp_path):
    """One ledger with an answered and a reserved entry, and a copy of it."""
    desk = opened()
    desk.answer("shared", [1])
    desk.reserve("begun")
    path = tmp_path / "copy.ledger"
    home.copy(desk.ledger, path)
    return desk, opened(path=path)


def states(ledger):
    return {entry.id: (entry.state, entry.values) for entry in ledger.entries()}


def test_what_either_holds_is_in_the_sum_and_shared_entries_once(apart):
    here, there = apart
    here.answer("mine", [2])
    there.answer("theirs", [3])
    there.reserve("theirs too")
    assert here.ledger.merge(there.ledger, keep_both=False) == ("theirs", "theirs too")
    assert states(here.ledger) == {
        "shared": ("committed", (1,)),
        "begun": ("reserved", None),
        "mine": ("committed", (2,)),
        "theirs": ("committed", (3,)),
        "theirs too": ("reserved", None),
    }
    assert here.ledger.spent() == 5 * TENTH
    assert here.ledger.check() == ()
    # A merged answer is an answer: asked again, it is free.
    assert here.reserve("theirs").values == (3,)
    # The copy is as it was.
    assert there.ledger.spent() == 4 * TENTH


def test_merging_again_and_back_adds_nothing(apart):
    here, there = apart
    here.answer("mine", [2])
    there.answer("theirs", [3])
    here.ledger.merge(there.ledger, keep_both=False)
    head = here.ledger.head()
    assert here.ledger.merge(there.ledger, keep_both=False) == ()
    assert here.ledger.merge(here.ledger, keep_both=False) == ()
    assert here.ledger.head() == head
    assert there.ledger.merge(here.ledger, keep_both=False) == ("mine",)
    assert states(here.ledger) == states(there.ledger)
    assert here.ledger.spent() == there.ledger.spent() == 4 * TENTH


def test_an_answer_to_what_was_begun_before_comes_over_free(apart):
    here, there = apart
    there.answer("begun", [7])
    assert here.ledger.merge(there.ledger, keep_both=False) == ()
    assert states(here.ledger)["begun"] == ("committed", (7,))
    assert here.ledger.spent() == 2 * TENTH


@pytest.mark.parametrize("entry", ["begun", "new"])
@pytest.mark.parametrize("same_answer", [True, False])
def test_two_answers_to_one_id_are_refused_or_charged_twice(apart, entry, same_answer):
    """Two draws are two, even where both fell on the same number."""
    here, there = apart
    here.answer(entry, [5])
    there.answer(entry, [5 if same_answer else 6])
    before, head = here.ledger.spent(), here.ledger.head()
    with pytest.raises(EntryConflict, match=rf"{entry!r} after they parted.*Nothing was merged"):
        here.ledger.merge(there.ledger, keep_both=False)
    assert here.ledger.head() == head
    (twin,) = here.ledger.merge(there.ledger, keep_both=True)
    assert twin.startswith(f"{entry} (copy ")
    assert states(here.ledger)[entry] == ("committed", (5,))
    assert states(here.ledger)[twin] == ("committed", (5 if same_answer else 6,))
    assert here.ledger.spent() == before + TENTH
    assert here.ledger.check() == ()
    assert here.ledger.merge(there.ledger, keep_both=True) == ()


def test_an_id_taken_beforehand_hides_no_charge(apart, home, opened, tmp_path):
    """The id under which a second charge comes over is public: taking it must not stop it."""
    here, there = apart
    here.answer("new", [5])
    there.answer("new", [6])
    rehearsal = tmp_path / "rehearsal.ledger"
    home.copy(here.ledger, rehearsal)
    (twin,) = opened(path=rehearsal).ledger.merge(there.ledger, keep_both=True)
    here.reserve(twin)
    before = here.ledger.spent()
    (added,) = here.ledger.merge(there.ledger, keep_both=True)
    assert added != twin
    assert here.ledger.spent() == before + TENTH
    assert here.ledger.merge(there.ledger, keep_both=True) == ()


def test_two_charges_of_one_id_are_two_even_unanswered(apart):
    """The copy may still answer what it reserved."""
    here, there = apart
    here.reserve("new")
    there.reserve("new")
    with pytest.raises(EntryConflict):
        here.ledger.merge(there.ledger, keep_both=False)
    (twin,) = here.ledger.merge(there.ledger, keep_both=True)
    assert here.ledger.spent() == 4 * TENTH
    # Answered later, the answer finds its charge.
    there.answer("new", [8])
    assert here.ledger.merge(there.ledger, keep_both=True) == ()
    assert here.ledger.spent() == 4 * TENTH
    assert states(here.ledger)[twin] == ("committed", (8,))


def test_another_question_under_one_id_is_a_conflict(apart):
    here, there = apart
    here.answer("new", [1])
    there.answer("new", [1], curve=gdp(0.3))
    with pytest.raises(EntryConflict, match="'new'"):
        here.ledger.merge(there.ledger, keep_both=False)
    here.ledger.merge(there.ledger, keep_both=True)
    assert here.ledger.spent() == 3 * TENTH + Fraction(9, 100)


def test_a_merge_past_the_cap_is_kept_said_and_blocks(apart):
    here, there = apart
    here.answer("mine", curve=gdp(0.8))
    there.answer("theirs", curve=gdp(0.8))
    here.ledger.merge(there.ledger, keep_both=False)
    assert here.ledger.spent() == Fraction(130, 100)
    assert here.ledger.remaining() == Fraction(-30, 100)
    assert here.ledger.total() == gdp(squared=Fraction(130, 100))
    (finding,) = here.ledger.check()
    assert "above the capacity 1; nothing more can be charged" in finding
    with pytest.raises(BudgetExceeded, match=r"exceeded by 0.3 since another copy.*nothing fits"):
        here.reserve("more", gdp(1e-6))
    # What was charged before is still answered and drawn.
    assert here.reserve("shared").values == (1,)
    assert here.answer("begun", [4]).values == (4,)
    # And a further copy may still be counted in.
    there.answer("one more")
    assert here.ledger.merge(there.ledger, keep_both=False) == ("one more",)


def test_ledgers_that_were_opened_apart_are_not_merged(opened, tmp_path):
    here, there = opened(), opened(path=tmp_path / "other.ledger")
    there.answer("q")
    with pytest.raises(LedgerMismatch, match="not copies of one"):
        here.ledger.merge(there.ledger, keep_both=True)
    assert here.ledger.entries() == ()


@pytest.mark.parametrize("damaged", ["here", "there"])
def test_a_broken_chain_is_not_merged(apart, damaged, home):
    here, there = apart
    there.answer("theirs")
    home.tamper(
        (here if damaged == "here" else there).ledger,
        "UPDATE events SET cost = '1/1000' WHERE entry = 'begun'",
    )
    with pytest.raises(LedgerCorrupt, match=r"the chain breaks at row 3.*nothing was merged"):
        here.ledger.merge(there.ledger, keep_both=True)
    assert "theirs" not in {entry.id for entry in here.ledger.entries()}


def test_the_longest_ids_have_twins(apart):
    here, there = apart
    entry = "x" * 200
    here.answer(entry, [1])
    there.answer(entry, [2])
    (twin,) = here.ledger.merge(there.ledger, keep_both=True)
    assert here.reserve(twin, request={"query": "count", "of": entry}).values == (2,)


def test_what_has_another_id_here_is_known_again(apart, opened, home, tmp_path):
    """The copy's copy meets its own entry under the id that the merge gave it."""
    here, there = apart
    here.answer("new", [1])
    there.reserve("new")
    home.copy(there.ledger, tmp_path / "third.ledger")
    third = opened(path=tmp_path / "third.ledger")
    (twin,) = here.ledger.merge(there.ledger, keep_both=True)
    assert here.answer(twin, [2], request={"query": "count", "of": "new"}).values == (2,)
    third.ledger.merge(here.ledger, keep_both=True)
    held = states(third.ledger)
    assert held["new"] == ("committed", (2,))
    assert sorted(values for state, values in held.values() if values) == [(1,), (1,), (2,)]
    assert third.ledger.spent() == here.ledger.spent() == 4 * TENTH
    assert third.ledger.check() == ()


@pytest.mark.parametrize(
    ("home", "seed"),
    [
        *(("files", seed) for seed in range(12)),
        *(("database", seed) for seed in range(2)),
        pytest.param("database", 2, marks=pytest.mark.soak),
    ],
    indirect=["home"],
)
def test_no_draw_is_ever_left_out(opened, home, tmp_path, seed):
    """Three copies, random calls and merges; every answer shown is charged in the last sum."""
    dice = random.Random(seed)
    desks = [opened(gdp(3), tmp_path / "0.ledger")]
    desks[0].answer("first", [0])
    for number in (1, 2):
        home.copy(desks[0].ledger, tmp_path / f"{number}.ledger")
        desks.append(opened(gdp(3), tmp_path / f"{number}.ledger"))
    shown, draws = {("first", 0)}, 0
    for _ in range(40):
        desk = dice.choice(desks)
        act = dice.random()
        if act < 0.25:
            desk.ledger.merge(dice.choice(desks).ledger, keep_both=True)
            continue
        entry = dice.choice("abcdef")
        try:
            reservation = desk.reserve(entry)
        except EntryConflict:
            continue
        if act < 0.8:
            draws += 1
            (value,) = desk.ledger.commit(reservation, [draws]).values
            shown.add((entry, value))
    for other in desks[1:]:
        desks[0].ledger.merge(other.ledger, keep_both=True)
    entries = desks[0].ledger.entries()
    stored = {(entry.id.partition(" ")[0], *entry.values) for entry in entries if entry.values}
    assert shown <= stored
    assert desks[0].ledger.spent() == TENTH * len(entries) >= TENTH * len(shown)
    assert desks[0].ledger.check() == ()
    assert Ledger.existing(desks[0].ledger.store).total() == gdp(squared=TENTH * len(entries))
