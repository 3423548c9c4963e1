"""A ledger charges trainings two numbers, and says what they cost before and what fits after."""

import sqlite3
from contextlib import closing
from fractions import Fraction

import pytest

from neyman.accounting import Budget, budget_for, dp_sgd
from neyman.curves import approx_dp, gdp, identity, laplace
from neyman.errors import BudgetExceeded, InvalidParameter, LedgerMismatch, UnsupportedComposition
from neyman.ledger import Ledger
from neyman.ledger._sqlite_tables import OBJECTS

CAP = approx_dp(8, 1e-5)
RUN = dp_sgd(noise_multiplier=1, sampling_probability=0.01, steps=1000)
WORDS = {"unit": "example", "neighbors": "add_remove"}


def ask(ledger, entry, curve):
    return ledger.reserve(entry=entry, request={"of": entry}, source="d", curve=curve, **WORDS)


@pytest.fixture
def ledger(tmp_path):
    return Ledger.open(tmp_path / "a.ledger", cap=CAP, **WORDS)


def test_a_training_is_priced_before_and_charged_the_same(ledger):
    price = ledger.price(RUN)
    assert (ledger.spent(), ledger.entries()) == (0, ())
    assert repr(price) == "Price(mu=0.474, delta=8.11e-8, share=0.0817)"
    assert price.epsilon is None
    reserved = ask(ledger, "a", RUN)
    assert (reserved.cost, reserved.delta) == (price.cost, price.delta)
    assert ledger.check() == ()
    # The entry records the run, and not the bound.
    assert ledger.entries()[0].curve == RUN
    assert ledger.total().implies(CAP)


def test_twelve_runs_fit_and_the_thirteenth_says_how_much_of_it_would(ledger):
    for number in range(12):
        ask(ledger, str(number), RUN)
    with pytest.raises(
        BudgetExceeded, match=r"You asked for 1,000 steps; \d+ fit|fewer than"
    ) as said:
        ask(ledger, "13", RUN)
    assert "Nothing was charged" in str(said.value)
    assert ledger.check() == ()
    # As the tables of the theory have it, for one who fixed everything beforehand and who did not.
    assert ledger.composed() == RUN**12
    assert float(ledger.composed().epsilon(1e-5)) == pytest.approx(6.870, abs=2e-3)
    assert float(ledger.total().epsilon(1e-5)) == pytest.approx(7.898, abs=3e-3)
    assert ledger.total().implies(CAP)


def test_how_many_of_the_steps_fit(ledger):
    many = dp_sgd(1, 0.01, 20_000)
    with pytest.raises(BudgetExceeded) as said:
        ask(ledger, "a", many)
    found = int(str(said.value).split("steps; ")[1].split(" fit")[0].replace(",", ""))
    # 15,584 fit in one plan under the cap.
    assert 0.99 * 15_584 < found < 15_584
    assert ask(ledger, "a", dp_sgd(1, 0.01, found)).values is None
    assert ledger.check() == ()


def test_a_cap_without_a_delta_names_those_that_have_one(tmp_path):
    plain = Ledger.open(tmp_path / "b", cap=gdp(2), **WORDS)
    with pytest.raises(BudgetExceeded, match=r"approx_dp\(epsilon, delta\), or gdp\(mu\) @ approx"):
        ask(plain, "a", RUN)
    # Where a tail would not help, nobody says so.
    with pytest.raises(BudgetExceeded) as said:
        ask(plain, "a", laplace(9))
    assert "tail" not in str(said.value)
    two = Ledger.open(tmp_path / "c", cap=gdp(2) @ approx_dp(0, 1e-6), **WORDS)
    assert (two.capacity, two.delta_aside) == (4, Fraction("1e-6"))
    ask(two, "a", RUN)
    assert two.check() == ()


def test_a_tenth_of_delta_is_set_aside_unless_something_else_is_written(tmp_path):
    usual = Ledger.open(tmp_path / "a", cap=CAP, **WORDS)
    assert usual.delta_aside == Fraction("1e-6")
    # Which lowers what Gaussian noise may spend by about half a per cent.
    without = budget_for(CAP, 0).filter.capacity
    assert 0.99 < usual.capacity / without < 0.998
    assert Ledger.open(tmp_path / "b", cap=CAP, delta_aside=0, **WORDS).capacity == without
    whole = Ledger.open(tmp_path / "c", cap=CAP, delta_aside=1e-5, **WORDS)
    assert (whole.account, whole.capacity) == ("epsilon", 8)
    assert str(whole.price(laplace(2))) == "Price(epsilon=2, delta=0, share=0.25)"
    assert Ledger.open(tmp_path / "d", cap=gdp(1), **WORDS).delta_aside == 0
    with pytest.raises(InvalidParameter, match="delta_aside"):
        Ledger.open(tmp_path / "e", cap=gdp(1), delta_aside=1e-6, **WORDS)


def test_a_ledger_keeps_what_it_was_opened_with(tmp_path):
    """One of an older release has nothing aside: it opens as before, and stays so."""
    old = Ledger.open(tmp_path / "old", cap=CAP, delta_aside=0, **WORDS)
    ask(old, "a", gdp(0.3))
    again = Ledger.open(tmp_path / "old", cap=CAP, **WORDS)
    assert (again.delta_aside, again.capacity) == (0, old.capacity)
    assert Ledger.open(tmp_path / "old", cap=CAP, delta_aside=0, **WORDS).check() == ()
    with pytest.raises(LedgerMismatch, match="created with delta_aside=0; got delta_aside=1e-06"):
        Ledger.open(tmp_path / "old", cap=CAP, delta_aside=1e-6, **WORDS)
    with pytest.raises(UnsupportedComposition, match="set no delta aside"):
        ask(again, "b", gdp(0.1) @ approx_dp(0, 1e-7))


def test_the_state_in_one_line(ledger):
    assert ledger.state() == (
        "0 % of mu^2, 0 % of delta spent; all releases together satisfy "
        "approx_dp(epsilon=8, delta=1e-05)"
    )
    ask(ledger, "a", RUN)
    assert ledger.state().startswith("8.17 % of mu^2, 8.11 % of delta spent;")


def test_nothing_asked_composes_to_nothing(ledger):
    assert ledger.composed() == identity()


def rewritten(ledger, cost):
    with closing(sqlite3.connect(ledger.store.settled().path)) as raw:
        raw.execute("DROP TRIGGER events_update")
        raw.execute("UPDATE events SET cost = ?", (cost,))
        raw.execute(OBJECTS["events_update"])
        raw.commit()
    return [found for found in ledger.check() if "was charged" in found]


@pytest.mark.parametrize(
    ("factor", "delta", "sound"),
    [
        # Another release may choose another tail: what it wrote is proved by its own delta.
        (1, "2e-8", True),
        (1, "5e-7", True),
        (Fraction(99, 100), "2e-8", False),
        (Fraction(99, 100), "5e-7", False),
        (2, "0", False),
    ],
)
def test_a_charge_is_proved_by_the_delta_that_it_was_charged(ledger, factor, delta, sound):
    ask(ledger, "a", RUN)
    slack = Fraction(delta)
    mu = Fraction(RUN.mu(slack=float(slack))) if slack else Fraction(1, 2)
    found = rewritten(ledger, f"{factor * mu**2}, {slack}" if slack else str(factor * mu**2))
    assert (found == []) == sound


def test_a_price_of_another_version_stays_sound(ledger, monkeypatch):
    """The broken twin of `check` compared what was charged with the price of today."""
    ask(ledger, "a", RUN)
    amount = ledger.price(RUN)
    monkeypatch.setattr(Budget, "cost", lambda *_: pytest.fail("priced anew"))
    assert ledger.check() == ()
    assert amount.share > 0
