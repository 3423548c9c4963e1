"""Formats: a file of the first one opens, loses nothing and is changed whole or not at all."""

import os
import shutil
import signal
import sqlite3
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import pytest

from neyman.curves import gdp, laplace
from neyman.errors import LedgerCorrupt, LedgerUnavailable
from neyman.ledger import Ledger, _paths, _sqlite, _sqlite_tables

HEAD = "2fbb203e75dcfedd4f6c7b9f9759c1bf86fc689a9cb2e82fa5e42398bc251a12"
# Written by the release that had the first format: `Connection.iterdump` of a ledger.
# Of mu squared: the bound of laplace(0.25) when the file was written.
LAPLACE = Fraction(28358025748631856372813482326969, 324518553658426726783156020576256)
FIRST = Path(__file__).with_name("format_1.sql").read_text(encoding="utf-8")


@pytest.fixture
def home(files):
    """Files alone: what is tested here is theirs."""
    return files


@pytest.fixture
def first(tmp_path):
    path = tmp_path / "first.ledger"
    with closing(sqlite3.connect(path, isolation_level=None)) as raw:
        raw.executescript(FIRST)
    return path


def rows(path):
    with closing(sqlite3.connect(path)) as raw:
        return raw.execute(
            "SELECT seq, entry, kind, cost, payload, at FROM events ORDER BY seq"
        ).fetchall()


def version(path):
    with closing(sqlite3.connect(path)) as raw:
        return raw.execute("PRAGMA user_version").fetchone()[0]


def ask(ledger, entry, curve, request=None):
    return ledger.reserve(
        entry=entry,
        request=request or {"query": "count", "of": entry},
        source="flights",
        curve=curve,
        unit="plane",
        neighbors="add_remove",
    )


def test_a_ledger_of_the_first_format_opens_and_goes_on(first):
    before = rows(first)
    ledger = Ledger.open(first, cap=gdp(1), unit="plane", neighbors="add_remove")
    assert (version(first), rows(first), len(before)) == (3, before, 7)
    assert ledger.check() == ()
    assert {entry.id: (entry.state, entry.values) for entry in ledger.entries()} == {
        "a": ("committed", (7, -3)),
        "b": ("reserved", None),
        "c": ("redrawn", None),
        "d größe": ("committed", (2**80,)),
    }
    # What it was charged when it was asked, which is a little more than today.
    assert ledger.spent() == Fraction(14, 100) + LAPLACE
    assert 0 < LAPLACE - laplace(0.25).outer_gaussian() < 1e-12
    # The secret is the same: the dataset is recognised, and answers are replayed.
    assert ask(ledger, "a", gdp(0.1)).values == (7, -3)
    assert ledger.commit(ask(ledger, "b", laplace(0.25)), [5]).values == (5,)
    ledger.commit(ask(ledger, "e", gdp(0.1)), [6])
    assert ledger.check() == ()


def test_copies_updated_apart_have_one_chain(first, tmp_path):
    twin = tmp_path / "twin.ledger"
    shutil.copy(first, twin)
    heads = {Ledger.existing(path).head() for path in (first, twin)}
    # Computed once and kept: a digest that changed would cut old copies off.
    assert heads == {HEAD}


class Mortal(sqlite3.Connection):
    """Dies before its n-th statement."""

    left = 0

    def execute(self, *given):
        Mortal.left -= 1
        if Mortal.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().execute(*given)


@pytest.mark.parametrize("step", [4, pytest.param(1, marks=pytest.mark.soak)])
def test_a_kill_at_any_statement_leaves_the_old_file_or_the_new(spawn, first, tmp_path, step):
    before, seen, deaths = rows(first), set(), 0
    connect = sqlite3.connect
    for at in range(1, 200, step):
        path = tmp_path / f"{at}.ledger"
        shutil.copy(first, path)

        def look(_report, path=path, at=at):
            Mortal.left = at
            sqlite3.connect = lambda *a, **k: connect(*a, factory=Mortal, **k)
            Ledger.existing(path)

        _, status = spawn(look).finish()
        found = version(path)
        seen.add(found)
        assert rows(path) == before
        ledger = Ledger.existing(path)
        assert (ledger.check(), len(ledger.entries()), version(path)) == ((), 4, 3)
        if status == 0:
            break
        assert status == -signal.SIGKILL
        deaths += 1
    assert seen == {1, 3}
    assert 40 / step < deaths < 199 / step


def test_many_may_open_an_old_file_at_once(spawn, first):
    children = [spawn(lambda report: report(Ledger.existing(first).head())) for _ in range(16)]
    ends = [child.finish() for child in children]
    assert [status for _, status in ends] == [0] * 16
    assert len({report for reports, _ in ends for report in reports}) == 1
    assert Ledger.existing(first).check() == ()


def test_a_failure_on_the_way_changes_nothing(first, monkeypatch):
    before = rows(first)

    def fails(*_):
        raise sqlite3.OperationalError("disk I/O error")

    with monkeypatch.context() as patch:
        patch.setattr(_sqlite_tables, "link", fails)
        with pytest.raises(LedgerCorrupt):
            Ledger.existing(first)
    assert (version(first), rows(first)) == (1, before)


def test_an_old_file_that_cannot_be_written_is_looked_at_as_it_is(first, monkeypatch):
    content = first.read_bytes()
    monkeypatch.setattr(_sqlite, "unwritable", lambda path: path)
    ledger = Ledger.existing(first)
    assert len(ledger.entries()) == 4
    assert ledger.check() == ()
    with pytest.raises(LedgerUnavailable, match="read-only"):
        ask(ledger, "e", gdp(0.1))
    assert first.read_bytes() == content
    assert list(first.parent.iterdir()) == [first]
    assert _paths.unwritable(first) is None


@pytest.mark.parametrize("change", ["DROP TABLE meta", "DROP TABLE events", "DELETE FROM meta"])
def test_a_damaged_old_file_is_said_to_be_damaged(first, change):
    with closing(sqlite3.connect(first, isolation_level=None)) as raw:
        raw.execute("DROP TRIGGER meta_delete")
        raw.execute(change)
    with pytest.raises(LedgerCorrupt, match="backup"):
        Ledger.existing(first)
    assert version(first) == 1


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        ("CREATE TRIGGER a AFTER INSERT ON events BEGIN SELECT 1; END", "trigger 'a'"),
        ("CREATE VIEW a AS SELECT * FROM events", "view 'a'"),
    ],
)
def test_an_old_file_with_something_added_is_left_as_it_is(first, statement, named):
    with closing(sqlite3.connect(first, isolation_level=None)) as raw:
        raw.execute(statement)
        before = raw.execute("SELECT * FROM sqlite_master").fetchall()
    with pytest.raises(LedgerCorrupt, match=f"{named} is no part of a ledger.*left as it was"):
        Ledger.existing(first)
    with closing(sqlite3.connect(first)) as raw:
        assert raw.execute("SELECT * FROM sqlite_master").fetchall() == before
    assert version(first) == 1


def test_a_later_format_is_refused_and_left_alone(first):
    with closing(sqlite3.connect(first)) as raw:
        raw.execute("PRAGMA user_version = 5")
    content = first.read_bytes()
    with pytest.raises(LedgerUnavailable, match=r"format 5.*reads formats up to 4; upgrade neyman"):
        Ledger.existing(first)
    assert first.read_bytes() == content


def test_a_release_of_the_first_format_cannot_charge_a_file_that_was_updated(first):
    """One that looked at the version just before the update was made."""
    with closing(sqlite3.connect(first, isolation_level=None)) as old:
        assert old.execute("PRAGMA user_version").fetchone() == (1,)
        ledger = Ledger.existing(first)
        with pytest.raises(sqlite3.IntegrityError):
            old.execute(
                "INSERT INTO events (entry, kind, cost, payload, at) "
                "VALUES ('x', 'reserve', '1/100', '{}', '')"
            )
    assert ledger.check() == ()
