"""A full disk, a file that turns read-only, clocks that are wrong: at random, again and again.

Each trial is a child that lives through random calls while the fault comes and goes, and reports
what it drew and showed. Held against the file afterwards: every draw is charged, every answer that
was shown is stored, the sum is right, and the ledger goes on without repair.
"""

import os
import random
import resource
import shutil
import tempfile
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path

import pytest

from neyman.curves import gdp
from neyman.errors import EntryConflict, LedgerUnavailable
from neyman.ledger import Ledger, _events
from neyman.ledger._chain import inherited_event
from neyman.ledger._events import Events

COST = Fraction(1, 100)
CALLS = 12


class FullDisk:
    """No file may grow beyond a random size: a write there is cut short, the next one fails."""

    @contextmanager
    def __call__(self, dice, path):
        log = path.with_name(f"{path.name}-wal")
        grown = max((place.stat().st_size for place in (path, log) if place.exists()), default=0)
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (dice.randrange(grown + 40_000), hard))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


class ReadOnly:
    """The file, or its directory, cannot be written."""

    @contextmanager
    def __call__(self, dice, path):
        place, mode, usual = dice.choice([(path, 0o444, 0o644), (path.parent, 0o555, 0o755)])
        place.chmod(mode)
        try:
            yield
        finally:
            place.chmod(usual)


def honest(ledger, reservation, values):
    return ledger.commit(reservation, values).values


def shows_its_own(ledger, reservation, values):
    """Broken: what was drawn is shown even where it could not be stored."""
    try:
        return ledger.commit(reservation, values).values
    except LedgerUnavailable:
        return tuple(values)


def open_ledger(path):
    return Ledger.open(path, cap=gdp(1), unit="plane", neighbors="add_remove")


def ask(ledger, entry):
    return ledger.reserve(
        entry=entry,
        request={"of": entry},
        source="",
        curve=gdp(squared=COST),
        unit="plane",
        neighbors="add_remove",
    )


def lives(report, path, fault, reveal, seed):
    """Random calls, each with the fault or without, by one who may not write what is read-only."""
    dice = random.Random(seed)
    if os.getuid() == 0:
        os.setuid(65534)
    ledger = open_ledger(path)
    refused = 0
    for number in range(CALLS):
        entry = f"{dice.randrange(number + 1)}"
        values = [dice.getrandbits(60) for _ in range(dice.choice([1, 900]))]
        try:
            reservation = _with(fault, dice, path, lambda entry=entry: ask(ledger, entry))
            if reservation.values is None:
                report(["drawn", entry])
                shown = _with(
                    fault, dice, path, lambda r=reservation, v=values: reveal(ledger, r, v)
                )
            else:
                shown = reservation.values
            report(["shown", entry, hash(tuple(shown))])
        except LedgerUnavailable:
            refused += 1
        except EntryConflict:
            continue
    report(["refused", refused])


def _with(fault, dice, path, call):
    if dice.random() < 0.5:
        return call()
    with fault(dice, path):
        return call()


def trial(spawn, fault, reveal, seed):
    """Return the broken promises, and how many calls the fault made fail."""
    home = Path(tempfile.mkdtemp())
    home.chmod(0o777)
    try:
        path = home / "b.ledger"
        # Here, for an ordinary user may not be able to import what is needed.
        ledger = open_ledger(path)
        ledger.commit(ask(ledger, "before"), [1])
        if os.getuid() == 0:
            for place in (home, path):
                os.chown(place, 65534, 65534)
        reports, status = spawn(lambda report: lives(report, path, fault, reveal, seed)).finish()
        assert status == 0, reports
        *seen, (_, refused) = reports
        ledger = Ledger.existing(path)
        found = list(ledger.check())
        entries = {entry.id: entry for entry in ledger.entries()}
        for kind, entry, *told in seen:
            if entry not in entries:
                found.append(f"{entry} was {kind} and is not charged")
            elif kind == "shown" and [hash(entries[entry].values)] != told:
                found.append(f"{entry} was shown otherwise than it is stored")
        if ledger.spent() != COST * len(entries):
            found.append(f"{ledger.spent()} spent on {len(entries)} entries")
        ledger.commit(ask(ledger, "after"), [1])
        return found + list(ledger.check()), refused
    finally:
        shutil.rmtree(home)


FAULTS = pytest.mark.parametrize("fault", [FullDisk(), ReadOnly()], ids=["full", "read-only"])


def run(spawn, fault, trials, first=0):
    ends = [trial(spawn, fault, honest, first + seed) for seed in range(trials)]
    return [line for found, _ in ends for line in found], sum(refused for _, refused in ends)


@pytest.mark.shows("crashes")
@FAULTS
def test_a_disk_that_refuses_loses_nothing(spawn, fault):
    found, refused = run(spawn, fault, trials=8)
    assert found == []
    assert refused > 8


@pytest.mark.soak
@FAULTS
def test_a_disk_that_refuses_two_hundred_times_loses_nothing(spawn, fault):
    found, refused = run(spawn, fault, trials=200, first=1000)
    print(f"{refused} calls refused")
    assert found == []
    assert refused > 200


@FAULTS
def test_the_faults_catch_who_shows_what_is_not_stored(spawn, fault):
    def caught(seed):
        found, _ = trial(spawn, fault, shows_its_own, seed)
        return any("shown otherwise" in line for line in found)

    assert any(map(caught, range(20)))


class Clock:
    """One machine's: years off, standing still, running backwards or jumping about."""

    def __init__(self, dice):
        self.dice = dice
        self.time = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=dice.randrange(-9999, 9999))
        self.step = dice.choice([0, 0, 1, -1, -3600, None])

    def __call__(self):
        step = self.dice.randrange(-(10**8), 10**8) if self.step is None else self.step
        self.time += timedelta(seconds=step)
        return self.time.isoformat(timespec="microseconds")


def clocks(opened, copy, monkeypatch, folder, seed):
    """Two machines ask, answer and merge copies by their own clocks; return what went wrong."""
    dice = random.Random(seed)
    times = [Clock(dice) for _ in range(2)]
    if dice.random() < 0.3:
        # Both stand still at the same time: no two events can be told apart by when they were.
        times = [times[0].time.isoformat] * 2
    desks = [opened(gdp(3), folder / f"{seed}-0")]
    desks[0].answer("first", [0])
    copy(desks[0].ledger, folder / f"{seed}-1")
    desks.append(opened(gdp(3), folder / f"{seed}-1"))
    shown = [("first", 0)]
    for _ in range(20):
        machine = dice.randrange(2)
        monkeypatch.setattr(_events, "now", times[machine])
        if dice.random() < 0.2:
            desks[machine].ledger.merge(desks[1 - machine].ledger, keep_both=True)
            continue
        entry = dice.choice("abcdef")
        try:
            reservation = desks[machine].reserve(entry)
        except EntryConflict:
            continue
        if reservation.values is None and dice.random() < 0.8:
            # Answers that fall on the same few numbers are still answers apart.
            shown += [
                (entry, *desks[machine].ledger.commit(reservation, [dice.randrange(2)]).values)
            ]
    desks[0].ledger.merge(desks[1].ledger, keep_both=True)
    ledger = desks[0].ledger
    entries = ledger.entries()
    stored = [(e.id.partition(" ")[0], *e.values) for e in entries if e.values]
    found = [f"{one} was drawn more often" for one in shown if stored.count(one) < shown.count(one)]
    if ledger.spent() != COST * len(entries):
        found.append(f"{ledger.spent()} spent on {len(entries)} entries")
    return found + list(ledger.check())


# In these, two equal answers fall at the same time.
TELLING = (6, 8, 9)


@pytest.mark.parametrize(
    ("home", "seed"),
    [
        *(("files", seed) for seed in range(20)),
        *(
            pytest.param("database", seed, marks=() if seed in TELLING else pytest.mark.soak)
            for seed in range(20)
        ),
    ],
    indirect=["home"],
)
def test_clocks_decide_nothing(opened, home, monkeypatch, tmp_path, seed):
    assert clocks(opened, home.copy, monkeypatch, tmp_path, seed) == []


def test_the_clocks_catch_events_told_apart_by_their_time(opened, home, monkeypatch, tmp_path):
    """Broken: an event is what it says and when, so that two equal answers are one."""

    def append(self, entry, kind, payload, *, cost=None):
        told = (entry, kind, None if cost is None else str(cost), payload, _events.now())
        self.add(inherited_event("", told), *told)

    monkeypatch.setattr(Events, "append", append)
    assert any(
        clocks(opened, home.copy, monkeypatch, tmp_path, seed) for seed in (*TELLING, *range(40))
    )


@pytest.mark.soak
def test_clocks_decide_nothing_two_hundred_times(opened, home, monkeypatch, tmp_path):
    for seed in range(1000, 1200):
        assert clocks(opened, home.copy, monkeypatch, tmp_path, seed) == [], seed
