"""Allowances: what may be taken of them, by whom, after what; and what merged copies do to them."""

import pickle
from fractions import Fraction

import pytest

from neyman.accounting import dp_sgd
from neyman.curves import TradeOff, gdp, laplace, poisson, pure_dp
from neyman.errors import (
    BudgetExceeded,
    EntryConflict,
    InvalidCall,
    InvalidParameter,
    LedgerCorrupt,
    LedgerMismatch,
    RelationMismatch,
)
from neyman.ledger import Ledger, Steps

STEP = gdp(0.1)
NOISIER = gdp(0.05)
DIGEST = "sha256:0123"


def sgd(noise, probability, neighbors="add_remove"):
    return dp_sgd(
        noise_multiplier=noise, sampling_probability=probability, steps=1, neighbors=neighbors
    )


def allow(desk, entry="autumn", steps=20, step=STEP, **given):
    asked = {
        "request": {"model": "m"},
        "source": "d",
        "unit": "plane",
        "neighbors": "add_remove",
    }
    return desk.ledger.allow(entry=entry, step=step, steps=steps, **{**asked, **given})


def test_an_allowance_is_charged_whole_before_any_step(opened):
    desk = opened()
    allowance = allow(desk)
    assert (allowance.cost, desk.ledger.spent()) == (Fraction(1, 5), Fraction(1, 5))
    assert allowance.declared == (Steps(STEP, 20),)
    with allowance.take("a", steps=15) as block:
        assert allowance.left() == 5
        block.commit(DIGEST)
    assert desk.ledger.spent() == Fraction(1, 5)
    assert [(e.id, e.state, e.of, e.cost, e.checkpoint) for e in desk.ledger.entries()] == [
        ("autumn", "reserved", None, Fraction(1, 5), None),
        ("autumn/a", "committed", "autumn", 0, DIGEST),
    ]
    assert desk.ledger.total() == gdp(squared=Fraction(1, 5))
    assert desk.ledger.check() == ()


def test_the_same_steps_asked_again_are_the_same_allowance(opened):
    desk = opened()
    first = allow(desk)
    first.take("a", steps=3)
    again = allow(opened())
    assert again == first == desk.ledger.allowance("autumn")
    assert again.left() == pickle.loads(pickle.dumps(first)).left() == 17
    assert [entry.state for entry in desk.ledger.entries()] == ["reserved", "reserved"]
    assert desk.ledger.spent() == Fraction(1, 5)


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"steps": 21}, "steps: 20 of gdp.*in the ledger, 21 of gdp"),
        ({"step": NOISIER}, "schedule of steps"),
        ({"request": {"model": "n"}}, "another request .*model: 'm' in the ledger, 'n' now"),
        ({"source": "e"}, "another dataset"),
    ],
)
def test_an_id_stands_for_one_allowance(opened, given, named):
    desk = opened()
    allow(desk)
    with pytest.raises(EntryConflict, match=named):
        allow(desk, **given)
    assert desk.ledger.spent() == Fraction(1, 5)


def test_ids_of_questions_allowances_and_takes_are_apart(opened):
    desk = opened()
    allowance = allow(desk)
    taken = allowance.take("a", steps=1)
    reservation = desk.reserve("q")
    for call, named in [
        (lambda: desk.reserve("autumn"), "an allowance of steps; got a question"),
        (lambda: desk.reserve("autumn/a"), "steps taken of an allowance; got a question"),
        (lambda: allow(desk, "q"), "a question; got an allowance"),
        (lambda: desk.ledger.allowance("q"), "a question; got an allowance"),
        (lambda: desk.ledger.allowance("autumn/a"), "steps taken"),
        (lambda: desk.ledger.allowance("winter"), "no allowance 'winter'"),
    ]:
        with pytest.raises(EntryConflict, match=named):
            call()
    desk.reserve("autumn/b")
    with pytest.raises(EntryConflict, match="a question; got steps taken"):
        allowance.take("b", steps=1)
    for entry in ("autumn", taken.id):
        with pytest.raises(EntryConflict, match="got a question"):
            desk.ledger.commit(
                type(reservation)(
                    entry=entry, curve=STEP, cost=Fraction(0), left=desk.ledger.left()
                ),
                [1],
            )
    assert desk.ledger.check() == ()


def test_what_is_no_allowance_is_refused(opened):
    desk = opened()
    for given, error, named in [
        ({"entry": "autumn/x"}, InvalidParameter, "holds '/'"),
        ({"steps": 0}, InvalidParameter, "from 1 to"),
        ({"steps": True}, InvalidParameter, "from 1 to"),
        ({"step": None}, InvalidParameter, "of one kind or of several"),
        ({"steps": {STEP: 3}}, InvalidParameter, "of one kind or of several"),
        ({"step": None, "steps": {}}, InvalidParameter, "of one kind or of several"),
        ({"step": 1}, InvalidParameter, "no trade-off function"),
        ({"unit": "seat"}, RelationMismatch, "seat"),
        ({"neighbors": "replace_one"}, RelationMismatch, "replace_one"),
        ({"step": sgd(1, 0.1, "replace_one")}, RelationMismatch, "write a step of that relation"),
        ({"source": 3}, InvalidParameter, "source"),
        ({"request": "m"}, InvalidParameter, "request"),
    ]:
        with pytest.raises(error, match=named):
            allow(desk, **given)
    with pytest.raises(InvalidCall):
        desk.ledger.allow(entry="autumn")
    assert desk.ledger.entries() == ()


def test_beyond_the_cap_the_refusal_counts_steps(opened):
    desk = opened()
    desk.reserve("q", gdp(0.5))
    with pytest.raises(
        BudgetExceeded, match=r"Nothing was charged.*You asked for 76 steps; 75 fit"
    ):
        allow(desk, steps=76)
    assert desk.ledger.left_steps(STEP) == 75
    assert desk.ledger.left_steps(gdp(2)) == 0
    allow(desk, steps=75)
    assert desk.ledger.left_steps(STEP) == 0
    with pytest.raises(BudgetExceeded, match="nothing fits any more"):
        allow(desk, "winter", steps=1)


@pytest.mark.parametrize("squared", ["1/7", "1/1000", "1/999983", "3/4", "1", "1/123456789"])
def test_left_steps_is_the_largest_number_that_fits(opened, squared):
    desk = opened()
    assert desk.ledger.left_steps(gdp(squared=Fraction(squared))) == 1 // Fraction(squared)


def test_steps_beyond_the_last_are_refused(opened):
    desk = opened()
    allowance = allow(desk)
    allowance.take("a", steps=18)
    with pytest.raises(BudgetExceeded, match=r"'autumn' has 2 steps left.*got 3"):
        allowance.take("b", steps=3)
    allowance.take("b", steps=2)
    assert allowance.left() == 0
    with pytest.raises(BudgetExceeded, match="has 0 steps left"):
        allowance.take("c", steps=1)
    # Nothing that was not taken is an entry.
    assert [entry.id for entry in desk.ledger.entries()] == ["autumn", "autumn/a", "autumn/b"]


def test_a_step_may_be_one_that_the_declared_step_dominates(opened):
    desk = opened(gdp(100))
    declared = sgd(1, 0.01)
    allowance = allow(desk, step=declared, steps=10)
    weaker = [declared, sgd(1.5, 0.01), sgd(1, 0.005), sgd(2, 0.001)]
    for number, step in enumerate(weaker):
        assert step.implies(declared)
        assert allowance.left(step) == 10 - number
        allowance.take(f"{number}", steps=1, step=step)
    for stronger in (sgd(0.99, 0.001), sgd(2, 0.011), gdp(1), laplace(1)):
        assert not stronger.implies(declared)
        with pytest.raises(InvalidParameter, match="not proved to be at least as private"):
            allowance.take("stronger", steps=1, step=stronger)
    with pytest.raises(RelationMismatch):
        allowance.take("other", steps=1, step=sgd(2, 0.001, "replace_one"))
    assert allowance.left() == 6
    assert desk.ledger.check() == ()


def test_under_replace_one_each_case_is_proved(home, tmp_path):
    ledger = Ledger.open(
        home.place(tmp_path / "replaced"), cap=gdp(100), unit="plane", neighbors="replace_one"
    )
    declared = sgd(1, 0.01, "replace_one")
    allowance = ledger.allow(
        entry="autumn",
        step=declared,
        steps=3,
        request={},
        source="d",
        unit="plane",
        neighbors="replace_one",
    )
    allowance.take("same", steps=1, step=sgd(1, 0.01, "replace_one"))
    with pytest.raises(RelationMismatch):
        allowance.take("other", steps=1, step=sgd(2, 0.001))
    with pytest.raises(InvalidParameter, match="not proved"):
        allowance.take("unproved", steps=1, step=sgd(2, 0.01, "replace_one"))
    assert (allowance.left(), ledger.check()) == (2, ())


def test_a_schedule_is_taken_kind_by_kind(opened):
    desk = opened()
    kinds = {gdp(0.2): 5, gdp(0.1): 10}
    allowance = allow(desk, step=None, steps=kinds)
    assert allowance.cost == Fraction(30, 100)
    with pytest.raises(InvalidParameter, match="2 kinds of steps"):
        allowance.take("a", steps=1)
    with pytest.raises(InvalidParameter, match="2 kinds of steps"):
        allowance.left()
    assert [allowance.left(gdp(mu)) for mu in (0.2, 0.15, 0.1, 0.05)] == [5, 5, 15, 15]
    # Of its own kind first, and then of the one that dominates it.
    allowance.take("weak", steps=12, step=gdp(0.1))
    assert allowance.stock().taken == (2, 10)
    assert [allowance.left(gdp(mu)) for mu in (0.2, 0.1)] == [3, 3]
    with pytest.raises(BudgetExceeded, match=r"3 steps left of the 15.*got 4"):
        allowance.take("weaker", steps=4, step=gdp(0.05))
    allowance.take("strong", steps=3, step=gdp(0.2))
    assert allowance.stock().rest() == (Steps(gdp(0.2), 0), Steps(gdp(0.1), 0))
    with pytest.raises(EntryConflict, match="schedule"):
        allow(desk, step=None, steps={gdp(0.2): 6, gdp(0.1): 10})
    assert allow(desk, step=None, steps=kinds) == allowance
    assert desk.ledger.check() == ()


# -- after a death ----------------------------------------------------------------------------


def test_what_may_have_left_the_process_is_consumed_for_good(opened):
    allowance = allow(opened())
    allowance.take("a", steps=5)
    for revealed in (True, False):
        with pytest.raises(EntryConflict, match="its 5 steps are consumed"):
            allowance.take("a", steps=5, revealed=revealed)
    assert allowance.left() == 15


def test_what_left_nothing_is_run_once_more_and_no_more(opened):
    desk = opened()
    allowance = allow(desk)
    allowance.take("a", steps=5, revealed=False)
    again = allowance.take("a", steps=5, revealed=False)
    assert (again.checkpoint, allowance.left()) == (None, 15)
    assert desk.ledger.entries()[-1].state == "redrawn"
    with pytest.raises(EntryConflict, match="drawn twice"):
        allowance.take("a", steps=5, revealed=False)
    again.commit(DIGEST)
    assert allowance.take("a", steps=5).checkpoint == DIGEST
    assert (allowance.left(), desk.ledger.check()) == (15, ())


def test_a_second_run_of_what_left_nothing_leaves_nothing_either(opened):
    """Else the logs of the second run and the checkpoint of the first are two runs, paid once."""
    allowance = allow(opened())
    first = allowance.take("a", steps=5, revealed=False)
    with pytest.raises(EntryConflict, match="Take it with revealed=False"):
        allowance.take("a", steps=5)
    assert allowance.take("a", steps=5, revealed=False).checkpoint is None
    first.commit(DIGEST)
    assert allowance.take("a", steps=5).checkpoint == DIGEST


def test_a_block_is_entered_once(opened):
    block = allow(opened()).take("a", steps=5)
    with block:
        pass
    with pytest.raises(EntryConflict, match="entered before"), block:
        pytest.fail("steps were run twice")


def test_what_was_committed_comes_back_and_is_not_run_again(opened):
    allowance = allow(opened())
    taken = allowance.take("a", steps=5)
    assert taken.commit(DIGEST).checkpoint == DIGEST
    taken.commit(DIGEST)
    with pytest.raises(EntryConflict, match="discard its parameters, and load that checkpoint"):
        taken.commit("another")
    found = allowance.take("a", steps=5)
    assert (found.checkpoint, allowance.left()) == (DIGEST, 15)
    with pytest.raises(EntryConflict, match=r"would take its steps twice.*sha256:0123"), found:
        pytest.fail("steps were run twice")


@pytest.mark.parametrize("given", [{"steps": 6}, {"steps": 5, "step": NOISIER}])
def test_a_name_stands_for_the_same_steps(opened, given):
    allowance = allow(opened())
    allowance.take("a", steps=5, revealed=False)
    with pytest.raises(EntryConflict, match="taken before for other steps"):
        allowance.take("a", revealed=False, **given)
    assert allowance.left() == 15


def test_a_block_that_ends_early_leaves_its_steps_taken(opened):
    desk = opened()
    allowance = allow(desk)
    with pytest.raises(KeyError), allowance.take("a", steps=5):
        raise KeyError
    assert (desk.ledger.entries()[-1].state, allowance.left()) == ("reserved", 15)
    with (
        pytest.raises(EntryConflict, match="ends without a commit"),
        allowance.take("b", steps=5, revealed=False),
    ):
        pass
    with allowance.take("b", steps=5, revealed=False) as block:
        block.commit(DIGEST)
    with allowance.take("c", steps=5):
        pass
    assert (allowance.left(), desk.ledger.check()) == (5, ())


def test_what_cannot_be_taken(opened):
    allowance = allow(opened())
    for name, given, named in [
        ("", {"steps": 1}, "name"),
        ("a\n", {"steps": 1}, "printable"),
        ("a" * 200, {"steps": 1}, "together"),
        ("a", {"steps": 0}, "whole number"),
        ("a", {"steps": 1.5}, "whole number"),
        ("a", {"steps": 1, "revealed": 1}, "revealed"),
        ("a", {"steps": 1, "step": "gdp"}, "no trade-off function"),
    ]:
        with pytest.raises(InvalidParameter, match=named):
            allowance.take(name, **given)
    with pytest.raises(InvalidParameter, match="checkpoint"):
        allowance.take("a", steps=1).commit("")
    assert allowance.left() == 19


def test_an_allowance_of_another_ledger_is_not_taken_of(opened, home, tmp_path):
    desk = opened(path=tmp_path / "one")
    allowance = allow(desk)
    taken = allowance.take("a", steps=1)
    if home.blob == "BLOB":
        other = opened(path=tmp_path / "two").ledger
        allow(opened(path=tmp_path / "two"))
        desk.ledger.store.path.write_bytes(other.store.path.read_bytes())
        for call in (
            lambda: allowance.take("b", steps=1),
            allowance.left,
            lambda: taken.commit(DIGEST),
        ):
            with pytest.raises(LedgerMismatch, match="replaced by another ledger"):
                call()


def test_a_pure_account_has_allowances_too(opened):
    desk = opened(pure_dp(1))
    allowance = allow(desk, step=laplace(0.1), steps=10)
    assert (allowance.cost, desk.ledger.remaining()) == (1, 0)
    allowance.take("a", steps=10, step=laplace(0.05))
    assert (allowance.left(), desk.ledger.check()) == (0, ())


# -- copies -----------------------------------------------------------------------------------


def parted(opened, home, tmp_path, before=()):
    desk = opened()
    allowance = allow(desk)
    for name, steps in before:
        allowance.take(name, steps=steps)
    home.copy(desk.ledger, tmp_path / "copy.ledger")
    return desk, opened(path=tmp_path / "copy.ledger")


def test_takes_of_both_copies_add(opened, home, tmp_path):
    desk, copy = parted(opened, home, tmp_path, before=[("both", 2)])
    desk.ledger.allowance("autumn").take("here", steps=7)
    copy.ledger.allowance("autumn").take("there", steps=8).commit(DIGEST)
    assert desk.ledger.merge(copy.ledger, keep_both=False) == ("autumn/there",)
    allowance = desk.ledger.allowance("autumn")
    assert (allowance.left(), allowance.stock().taken) == (3, (17,))
    assert allowance.take("there", steps=8).checkpoint == DIGEST
    assert (desk.ledger.check(), desk.ledger.spent()) == ((), Fraction(1, 5))


def test_two_copies_that_each_take_all_overdraw(opened, home, tmp_path):
    desk, copy = parted(opened, home, tmp_path)
    for side in (desk, copy):
        side.ledger.allowance("autumn").take(f"{side is desk}", steps=20)
    desk.ledger.merge(copy.ledger, keep_both=False)
    (finding,) = desk.ledger.check()
    assert "'autumn' is overdrawn" in finding
    assert "20 of gdp(mu=0.1) more" in finding
    assert "cap is no longer proved" in finding
    allowance = desk.ledger.allowance("autumn")
    assert allowance.left() == 0
    with pytest.raises(BudgetExceeded, match="merged copies took 20 more"):
        allowance.take("more", steps=1)
    # What was taken beyond is in the total, and nothing else is charged on top of it.
    assert desk.ledger.total() == gdp(squared=Fraction(2, 5))
    for call in (lambda: desk.reserve("q"), lambda: allow(desk, "winter")):
        with pytest.raises(BudgetExceeded, match="cap is no longer proved"):
            call()
    assert desk.ledger.export()["allowances"][0]["overdrawn"] is True


def test_one_name_taken_apart_is_taken_twice(opened, home, tmp_path):
    desk, copy = parted(opened, home, tmp_path)
    for side in (desk, copy):
        side.ledger.allowance("autumn").take("epoch 1", steps=6)
    with pytest.raises(EntryConflict, match=r"epoch 1.*after they parted"):
        desk.ledger.merge(copy.ledger, keep_both=False)
    (twin,) = desk.ledger.merge(copy.ledger, keep_both=True)
    assert twin.startswith("autumn/epoch 1 (copy ")
    assert desk.ledger.allowance("autumn").left() == 8
    assert desk.ledger.merge(copy.ledger, keep_both=True) == ()
    assert (desk.ledger.allowance("autumn").left(), desk.ledger.check()) == (8, ())


def test_one_take_committed_apart_is_taken_twice(opened, home, tmp_path):
    desk = opened()
    taken = allow(desk).take("a", steps=6, revealed=False)
    home.copy(desk.ledger, tmp_path / "copy.ledger")
    copy = opened(path=tmp_path / "copy.ledger")
    taken.commit("here")
    copy.ledger.allowance("autumn").take("a", steps=6, revealed=False).commit("there")
    desk.ledger.merge(copy.ledger, keep_both=True)
    assert (desk.ledger.allowance("autumn").left(), desk.ledger.check()) == (8, ())


def test_one_id_allowed_apart_is_charged_twice_with_its_takes(opened, home, tmp_path):
    desk = opened()
    home.copy(desk.ledger, tmp_path / "copy.ledger")
    copy = opened(path=tmp_path / "copy.ledger")
    for side in (desk, copy):
        allow(side).take(f"{side is desk}", steps=15)
    desk.ledger.merge(copy.ledger, keep_both=True)
    stocks = desk.ledger.stocks()
    # Each take stays with the allowance that it was taken of, whatever its id is now.
    assert [stock.taken for stock in stocks] == [(15,), (15,)]
    assert stocks[1].id.startswith("autumn (copy ")
    assert desk.ledger.spent() == Fraction(2, 5)
    assert desk.ledger.allowance(stocks[1].id).left() == 5
    assert desk.ledger.check() == ()


def test_a_copy_holds_what_was_taken(opened, home, tmp_path):
    desk, copy = parted(opened, home, tmp_path, before=[("a", 5)])
    again = desk.ledger.copy(home.place(tmp_path / "again.ledger"))
    for ledger in (copy.ledger, again):
        assert (ledger.allowance("autumn").left(), ledger.head()) == (15, desk.ledger.head())
        assert ledger.check() == ()


# -- what a check finds -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ('"steps":[5]', '"steps":[50]', "overdrawn: merged copies took 30"),
        ('"steps":[5]', '"steps":[5,1]', "cannot be read"),
        ('"steps":[5]', '"steps":"5"', "cannot be read"),
        ('"mu_squared":"1/100"', '"mu_squared":"1/10"', "not proved to be dominated"),
    ],
)
def test_a_forged_take_is_found(opened, home, old, new, named):
    desk = opened()
    allow(desk).take("a", steps=5)
    home.tamper(
        desk.ledger,
        f"UPDATE events SET payload = replace(payload, '{old}', '{new}') "
        "WHERE entry = 'autumn/a' AND kind = 'reserve'",
    )
    found = desk.ledger.check()
    assert any("chain breaks" in finding for finding in found)
    assert any(named in finding for finding in found), found


def test_a_forged_allowance_is_found(opened, home):
    desk = opened()
    allow(desk).take("a", steps=5)
    home.tamper(
        desk.ledger,
        "UPDATE events SET payload = replace(payload, ',20]]', ',2000]]') WHERE entry = 'autumn'",
    )
    assert any("other steps than it declares" in finding for finding in desk.ledger.check())


def test_a_lost_allowance_is_found(opened, home):
    desk = opened()
    allowance = allow(desk)
    allowance.take("a", steps=5)
    home.tamper(desk.ledger, "DELETE FROM events WHERE entry = 'autumn'")
    found = desk.ledger.check()
    assert any("that this ledger does not hold" in finding for finding in found), found
    with pytest.raises(LedgerCorrupt, match="no longer in the ledger"):
        allowance.take("b", steps=1)


# -- dominated steps --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("weaker", "step"),
    [
        pytest.param(poisson(gdp(0.7), 0.02), poisson(gdp(1), 0.03), marks=pytest.mark.soak),
        (poisson(laplace(0.5), 0.1), poisson(laplace(0.6), 0.2)),
        (poisson(gdp(1), 0.1).swap(), poisson(gdp(1), 0.2).swap()),
    ],
)
def test_sampled_steps_are_dominated_in_each_direction(weaker: TradeOff, step: TradeOff):
    assert weaker.implies(step)
    assert not step.implies(weaker)
    # The proof is for each direction and survives composition: hockey-sticks of ten steps.
    epsilons = [-1.0, -0.1, 0.0, 0.05, 0.3, 1.0]
    for one, other in ((weaker.remove, step.remove), (weaker.add, step.add)):
        least = TradeOff(one, one) ** 10
        most = TradeOff(other, other) ** 10
        assert (least.delta(epsilons) <= most.delta(epsilons) * (1 + 1e-9)).all()


def test_a_larger_rate_or_less_noise_is_not_dominated():
    assert not poisson(gdp(0.5), 0.2).implies(poisson(gdp(1), 0.1))
    assert not poisson(gdp(1.1), 0.05).implies(poisson(gdp(1), 0.1))
    assert not poisson(gdp(1), 0.1).implies(poisson(gdp(1), 0.1).swap())
