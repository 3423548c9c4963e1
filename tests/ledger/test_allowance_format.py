"""Format 4 is format 3 by a new number, written with the first row that format 3 does not know."""

import os
import signal
import sqlite3
from contextlib import closing

import pytest

from neyman.accounting import dp_sgd
from neyman.curves import approx_dp, gdp
from neyman.errors import BudgetExceeded, LedgerUnavailable
from neyman.ledger import Ledger, _postgres, _sqlite_tables
from neyman.ledger._schema import SAME_TABLES, VERSION


def marked(home, ledger):
    """Return the format that the store says."""
    if home.blob == "BLOB":
        ((version,),) = home.ask(ledger, "PRAGMA user_version")
        return version
    ((mark,),) = home.ask(ledger, "SELECT obj_description('meta'::regclass, 'pg_class')")
    return int(mark.removeprefix("neyman.ledger "))


def older(home, ledger):
    """Make a ledger one of format 3, which has the same tables."""
    statement = (
        "PRAGMA user_version = 3"
        if home.blob == "BLOB"
        else "COMMENT ON TABLE meta IS 'neyman.ledger 3'"
    )
    home.ask(ledger, statement)
    assert marked(home, ledger) == SAME_TABLES == 3


def allow(ledger):
    return ledger.allow(
        entry="autumn",
        step=gdp(0.1),
        steps=10,
        request={},
        source="d",
        unit="plane",
        neighbors="add_remove",
    )


def test_a_new_ledger_has_format_4(opened, home):
    assert marked(home, opened().ledger) == VERSION == 4


def test_questions_leave_a_ledger_of_format_3_as_it_is(opened, home):
    desk = opened()
    older(home, desk.ledger)
    desk.answer("q")
    assert (desk.ledger.check(), desk.ledger.stocks()) == ((), ())
    assert marked(home, desk.ledger) == 3


def test_the_first_allowance_makes_it_format_4(opened, home):
    desk = opened()
    desk.answer("before")
    older(home, desk.ledger)
    before = desk.ledger.export()["chain"]["rows"]
    allow(desk.ledger).take("a", steps=2)
    assert marked(home, desk.ledger) == 4
    assert desk.ledger.export()["chain"]["rows"][: len(before)] == before
    assert opened().ledger.check() == ()


def test_a_refused_allowance_leaves_it_format_3(opened, home):
    desk = opened(gdp(0.1))
    older(home, desk.ledger)
    with pytest.raises(BudgetExceeded, match="fit"):
        allow(desk.ledger)
    assert marked(home, desk.ledger) == 3


def test_a_cost_with_a_tail_makes_it_format_4(home, tmp_path):
    """Format 3 charges a curve by another rule, and its check would find the charge too small."""
    place = home.place(tmp_path / "aside.ledger")
    ledger = Ledger.open(place, cap=approx_dp(8, 1e-5), unit="plane", neighbors="add_remove")
    older(home, ledger)
    run = dp_sgd(noise_multiplier=1, sampling_probability=0.01, steps=1000)
    for entry, curve, version in (("noise", gdp(0.1), 3), ("run", run, 4)):
        ledger.reserve(
            entry=entry,
            request={},
            source="d",
            curve=curve,
            unit="plane",
            neighbors="add_remove",
        )
        assert marked(home, ledger) == version
    assert ledger.check() == ()


def test_merging_a_copy_with_allowances_makes_it_format_4(opened, home, tmp_path):
    desk = opened()
    home.copy(desk.ledger, tmp_path / "copy.ledger")
    copy = opened(path=tmp_path / "copy.ledger").ledger
    older(home, desk.ledger)
    older(home, copy)
    assert desk.ledger.merge(copy, keep_both=False) == ()
    assert marked(home, desk.ledger) == 3
    allow(copy).take("a", steps=3)
    assert desk.ledger.merge(copy, keep_both=False) == ("autumn", "autumn/a")
    assert marked(home, desk.ledger) == 4
    assert desk.ledger.allowance("autumn").left() == 7


def test_a_release_of_format_3_refuses_it(opened, home, monkeypatch):
    desk = opened()
    older(home, desk.ledger)
    allow(desk.ledger)
    for module in (_sqlite_tables, _postgres):
        monkeypatch.setattr(module, "VERSION", 3)
    for call in (opened, desk.ledger.entries, lambda: desk.reserve("q")):
        with pytest.raises(LedgerUnavailable, match="has format 4, and this release reads"):
            call()
    monkeypatch.undo()
    assert (len(desk.ledger.entries()), desk.ledger.check()) == (1, ())


@pytest.mark.parametrize("home", ["database"], indirect=True)
def test_who_does_not_own_the_tables_cannot_make_them_format_4(opened, home):
    desk = opened()
    older(home, desk.ledger)
    schema = desk.ledger.store.schema
    home.ask(desk.ledger, "CREATE ROLE trains LOGIN")
    home.ask(desk.ledger, f"GRANT USAGE ON SCHEMA {schema} TO trains")
    home.ask(desk.ledger, f"GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA {schema} TO trains")
    trainer = Ledger.existing(
        f"{home.server.url.replace('neyman@', 'trains@')}?ledger={schema.removeprefix('neyman_')}"
    )
    with pytest.raises(LedgerUnavailable, match=r"needs a ledger of format 4.*only its owner"):
        allow(trainer)
    assert (trainer.entries(), marked(home, desk.ledger)) == ((), 3)
    allow(desk.ledger)
    # From then on, who may insert may take.
    trainer.allowance("autumn").take("a", steps=3).commit("digest")
    assert (desk.ledger.allowance("autumn").left(), desk.ledger.check()) == (7, ())


class Mortal(sqlite3.Connection):
    """Dies before its n-th statement."""

    left = 0

    def execute(self, *given):
        Mortal.left -= 1
        if Mortal.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().execute(*given)


def test_a_kill_at_any_statement_leaves_3_without_or_4_with_the_allowance(spawn, files, tmp_path):
    seen, deaths, connect = set(), 0, sqlite3.connect
    for at in range(1, 200):
        path = tmp_path / f"{at}.ledger"
        ledger = Ledger.open(path, cap=gdp(1), unit="plane", neighbors="add_remove")
        older(files, ledger)

        def dies(_report, ledger=ledger, at=at):
            Mortal.left = at
            sqlite3.connect = lambda *a, **k: connect(*a, factory=Mortal, **k)
            allow(ledger)

        _, status = spawn(dies).finish()
        with closing(connect(path)) as raw:
            version = raw.execute("PRAGMA user_version").fetchone()[0]
        entries = [entry.id for entry in ledger.entries()]
        assert (version, entries) in ((3, []), (4, ["autumn"]))
        seen.add(version)
        assert ledger.check() == ()
        if status == 0:
            break
        assert status == -signal.SIGKILL
        deaths += 1
        assert allow(ledger).left() == 10
    assert seen == {3, 4}
    assert 20 < deaths < 199


@pytest.mark.parametrize("version", [2, 5])
@pytest.mark.parametrize("home", ["database"], indirect=True)
def test_other_formats_of_a_database_are_refused(opened, home, version):
    desk = opened()
    home.ask(desk.ledger, f"COMMENT ON TABLE meta IS 'neyman.ledger {version}'")
    with pytest.raises(LedgerUnavailable, match=f"format {version}.*formats 3 to 4"):
        desk.ledger.entries()
