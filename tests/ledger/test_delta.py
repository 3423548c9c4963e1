"""Two accounts in one ledger: what a release tells, and what may fail outright."""

import sqlite3
from contextlib import closing
from fractions import Fraction

import pytest

from neyman.curves import approx_dp, gdp, laplace
from neyman.errors import BudgetExceeded, LedgerCorrupt, UnsupportedComposition
from neyman.ledger import Ledger
from neyman.ledger._schema import SAME_TABLES
from neyman.ledger._sqlite_tables import OBJECTS

CAP = approx_dp(2, 1e-6)


def opened(path, share=5e-7, cap=CAP):
    return Ledger.open(path, cap=cap, unit="one row", neighbors="add_remove", delta_aside=share)


def ask(ledger, entry, curve):
    return ledger.reserve(
        entry=entry,
        request={"of": entry},
        source="here",
        curve=curve,
        unit="one row",
        neighbors="add_remove",
    )


@pytest.fixture
def ledger(tmp_path):
    return opened(tmp_path / "a.ledger")


def failing(mu=0.1, delta=1e-7):
    return gdp(mu) @ approx_dp(0, delta)


def test_both_are_charged_exactly_and_shown(ledger):
    reserved = ask(ledger, "a", failing())
    assert (reserved.cost, reserved.delta) == (Fraction(1, 100), Fraction("1e-7"))
    ask(ledger, "b", gdp(0.1))
    assert (ledger.spent(), ledger.spent_delta()) == (Fraction(2, 100), Fraction("1e-7"))
    assert ledger.remaining_delta() == Fraction("4e-7")
    assert [entry.delta for entry in ledger.entries()] == [Fraction("1e-7"), 0]
    assert ledger.total() == gdp(squared=Fraction(2, 100)) @ approx_dp(0, 1e-7)
    record = ledger.export()
    assert record["delta_aside"] == "1/2000000"
    assert (record["delta_spent"], record["delta_remaining"]) == ("1/10000000", "1/2500000")
    assert record["entries"][0]["delta"] == "1/10000000"
    assert ledger.check() == ()


def test_neither_is_charged_if_one_does_not_fit(ledger):
    for curve in (failing(delta=6e-7), failing(mu=1)):
        with pytest.raises(BudgetExceeded, match="Nothing was charged"):
            ask(ledger, "a", curve)
    assert (ledger.spent(), ledger.spent_delta(), ledger.entries()) == (0, 0, ())
    for entry in "12345":
        ask(ledger, entry, failing(mu=0.01))
    assert ledger.remaining_delta() == 0
    with pytest.raises(BudgetExceeded, match="delta = "):
        ask(ledger, "6", failing(mu=0.01, delta=1e-12))
    assert ask(ledger, "7", gdp(0.01)).delta == 0


def test_all_that_is_spent_keeps_the_cap(ledger):
    ask(ledger, "a", gdp(squared=ledger.capacity) @ approx_dp(0, 5e-7))
    assert (ledger.remaining(), ledger.remaining_delta()) == (0, 0)
    assert ledger.total().implies(CAP)
    assert ledger.check() == ()


def test_an_answer_keeps_its_groups(ledger):
    reserved = ask(ledger, "a", failing())
    groups = ((("a", "1"), ("ü", "2")), ())
    ledger.commit(reserved, [3, 4], groups)
    again = ask(ledger, "a", failing())
    assert (again.values, again.groups) == ((3, 4), groups)
    # Who commits later is given what was first.
    assert ledger.commit(reserved, [5], ((("z",),),)).groups == groups
    assert ledger.entries()[0].groups == groups
    assert ledger.export()["entries"][0]["groups"] == [[["a", "1"], ["ü", "2"]], []]
    assert ledger.check() == ()


@pytest.mark.parametrize("groups", ["7", '{"a": 1}', "[[[1]]]", "[7]", "null"])
def test_groups_that_no_ledger_wrote(ledger, groups):
    ledger.commit(ask(ledger, "a", failing()), [3])
    with closing(sqlite3.connect(ledger.store.settled().path)) as raw:
        raw.execute("DROP TRIGGER events_update")
        raw.execute(
            "UPDATE events SET payload = ? WHERE kind = 'commit'",
            (f'{{"groups":{groups},"values":[3]}}',),
        )
        raw.execute(OBJECTS["events_update"])
        raw.commit()
    with pytest.raises(LedgerCorrupt, match="groups"):
        ledger.entries()


def test_a_changed_share_breaks_the_chain(ledger):
    ask(ledger, "a", failing())
    with closing(sqlite3.connect(ledger.store.settled().path)) as raw:
        raw.execute("DROP TRIGGER meta_update")
        raw.execute("UPDATE meta SET capacity = replace(capacity, '1/2000000', '1/1500000')")
        raw.execute(OBJECTS["meta_update"])
        raw.commit()
    found = "\n".join(Ledger.existing(ledger.store).check())
    assert "exceeds cap" in found
    assert "the chain breaks at row 1" in found


def test_a_charge_that_forgot_its_delta_is_found(ledger):
    ask(ledger, "a", failing())
    with closing(sqlite3.connect(ledger.store.settled().path)) as raw:
        raw.execute("DROP TRIGGER events_update")
        raw.execute("UPDATE events SET cost = '1/100'")
        raw.execute(OBJECTS["events_update"])
        raw.commit()
    assert any("was charged" in found for found in ledger.check())


def test_copies_that_spent_apart_are_added_up(ledger, tmp_path):
    import shutil

    ask(ledger, "a", failing(mu=0.01, delta=3e-7))
    twin = tmp_path / "twin.ledger"
    shutil.copy(ledger.store.settled().path, twin)
    ask(ledger, "b", failing(mu=0.01))
    other = Ledger.existing(twin)
    ask(other, "c", failing(mu=0.01, delta=2e-7))
    assert ledger.merge(other, keep_both=False) == ("c",)
    assert ledger.spent_delta() == Fraction("6e-7")
    assert any("is spent, above the capacity" in found for found in ledger.check())
    with pytest.raises(BudgetExceeded, match="the cap is exceeded by 0 and delta = 1e-07"):
        ask(ledger, "d", gdp(0.001))


def test_a_ledger_of_format_2_keeps_its_chain(tmp_path):
    """Rows, digests and head stay; the format's number alone changes, at the first use."""
    path = tmp_path / "old.ledger"
    old = Ledger.open(path, cap=gdp(1), unit="one row", neighbors="add_remove")
    ask(old, "a", laplace(0.1))
    head = old.head()
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("PRAGMA user_version = 2")
        before = (
            raw.execute("SELECT * FROM events").fetchall(),
            raw.execute("SELECT * FROM meta").fetchall(),
        )
    ledger = Ledger.open(path, cap=gdp(1), unit="one row", neighbors="add_remove")
    assert (ledger.head(), ledger.check(), ledger.delta_aside) == (head, (), 0)
    with closing(sqlite3.connect(path)) as raw:
        assert raw.execute("PRAGMA user_version").fetchone() == (SAME_TABLES,)
        after = (
            raw.execute("SELECT * FROM events").fetchall(),
            raw.execute("SELECT * FROM meta").fetchall(),
        )
    assert after == before
    with pytest.raises(UnsupportedComposition, match="set no delta aside"):
        ask(ledger, "b", failing())


def test_what_to_write_follows_from_what_is_short(tmp_path):
    """Noise is asked for where noise helps, and a smaller delta where that does."""
    both = {"unit": "one row", "neighbors": "add_remove"}
    cap = approx_dp(1, 1e-6)
    part = Ledger.open(tmp_path / "part", cap=cap, delta_aside=5e-7, **both)

    def asked(curve, ledger):
        with pytest.raises(BudgetExceeded) as refused:
            ledger.reserve(entry="a", request={}, source="s", curve=curve, **both)
        return str(refused.value)

    said = asked(gdp(0.01) @ approx_dp(0, 1e-3), part)
    assert "are spent and" in said
    assert " remain, so" in said
    assert said.endswith("ask with a smaller delta, or not at all")
    assert asked(gdp(9), part).endswith("ask with more noise, or not at all")
    said = asked(gdp(9) @ approx_dp(0, 1e-3), part)
    assert said.endswith("ask with more noise and a smaller delta, or not at all")
    whole = Ledger.open(tmp_path / "whole", cap=cap, delta_aside=1e-6, **both)
    with pytest.raises(UnsupportedComposition, match=r"delta_aside is all of its delta.*smaller"):
        whole.reserve(entry="a", request={}, source="s", curve=gdp(0.01), **both)
