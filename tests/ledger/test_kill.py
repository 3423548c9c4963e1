"""Processes killed at any instant: nothing revealed is lost, nothing drawn goes uncharged.

Every trial forks a child that lives through whole entries, reserve -> draw -> commit -> reveal,
and kills it with SIGKILL: either by itself at a random line of the ledger's code, or from outside
at a random time, which mostly falls into SQLite's writes. The next child goes on with the same
file. Two broken lives, run through the same harness, must be caught.

A kill does not lose what the kernel was given; power loss does: see test_power. On PostgreSQL the
server is killed too, and its connections are cut, under a life that asks again.
"""

import os
import random
import secrets
import signal
import time
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import pytest

from ledger.kills import WAYS, Witness, caught, killed_at_lines, trial
from neyman.curves import gdp
from neyman.errors import BudgetExceeded, EntryConflict, LedgerUnavailable
from neyman.ledger import Ledger, Reservation
from neyman.overriding import override

# What an answer costs: a life has four of them, and eight in the long trials.
QUARTER, EIGHTH = Fraction(1, 4), Fraction(1, 8)
COSTS = pytest.mark.parametrize("cost", [QUARTER, pytest.param(EIGHTH, marks=pytest.mark.soak)])


@dataclass(frozen=True)
class Place:
    """Where a ledger is kept, and what each of its answers costs."""

    address: str | Path
    cost: Fraction


def open_ledger(place):
    return Ledger.open(place.address, cap=gdp(1), unit="plane", neighbors="add_remove")


def ask(ledger, entry, cost):
    return ledger.reserve(
        entry=entry,
        request={"query": "count", "of": entry},
        source="flights",
        curve=gdp(squared=cost),
        unit="plane",
        neighbors="add_remove",
    )


def next_to_draw(ledger, number, cost):
    for entry in (f"{number}", f"{number} again", f"{number} at last"):
        try:
            return ask(ledger, entry, cost)
        except EntryConflict:
            continue
    return None


def honest(report, place):
    """Live by the rules until the budget is spent."""
    ledger = open_ledger(place)
    for number in range(40):
        with ledger.turn(f"{number}"):
            try:
                reservation = next_to_draw(ledger, number, place.cost)
            except BudgetExceeded:
                return
            if reservation is None:
                continue
            if reservation.values is None:
                report(["drawing", reservation.entry])
                reservation = ledger.commit(reservation, [secrets.randbits(60)])
        report(["revealed", reservation.entry, list(reservation.values)])


def reveals_first(report, place):
    """Broken: the answer is out before it is on the disk."""
    ledger = open_ledger(place)
    for number in range(40):
        try:
            reservation = next_to_draw(ledger, number, place.cost)
        except BudgetExceeded:
            return
        if reservation is None:
            continue
        values = reservation.values or [secrets.randbits(60)]
        report(["revealed", reservation.entry, list(values)])
        ledger.commit(reservation, values)


def charges_last(report, place):
    """Broken: the charge is written when the answer is there."""
    ledger = open_ledger(place)
    for number in range(int(1 / place.cost)):
        report(["drawing", f"{number}"])
        values = [secrets.randbits(60)]
        try:
            reservation = ask(ledger, f"{number}", place.cost)
        except EntryConflict:
            continue
        if reservation.values is None:
            reservation = ledger.commit(reservation, values)
        report(["revealed", reservation.entry, list(reservation.values)])


class Answers(Witness):
    """What an outsider saw of the answers of one ledger."""

    kills_of_one = 8

    @override
    def findings(self):
        ledger = open_ledger(self.place)
        found = list(ledger.check())
        entries = {entry.id: entry for entry in ledger.entries()}
        for kind, entry, *values in self.reports:
            if entry not in entries:
                found.append(f"{kind} {entry} is not charged")
            elif kind == "revealed" and list(entries[entry].values or ()) != values[0]:
                found.append(f"{entry} was revealed otherwise than it is stored")
        if ledger.spent() != self.place.cost * len(entries) or ledger.spent() > 1:
            found.append(f"{ledger.spent()} spent on {len(entries)} entries")
        return found


def places(home, directory, cost):
    """Return what gives a place to a name."""
    return lambda name: Place(home.place(directory / f"{name}.ledger"), cost)


@pytest.mark.shows("crashes")
@WAYS
@pytest.mark.parametrize(
    ("home", "kills", "cost"),
    [
        ("files", 16, QUARTER),
        ("database", 6, QUARTER),
        pytest.param("files", 1000, EIGHTH, marks=pytest.mark.soak),
        pytest.param("database", 200, EIGHTH, marks=pytest.mark.soak),
    ],
    indirect=["home"],
)
def test_nothing_is_lost_to_a_kill(spawn, home, tmp_path, way, kills, cost):
    named = places(home, tmp_path, cost)
    found, killed = trial(spawn, named, honest, way, kills, seed=kills, watched=Answers)
    assert found == []
    assert killed >= kills


@COSTS
@pytest.mark.parametrize("life", [reveals_first, charges_last])
def test_the_harness_catches_a_broken_life(spawn, files, tmp_path, life, cost):
    # About one kill in ten meets a broken life where it breaks a promise. The seeds are fixed, but
    # the lines are counted anew for each Python: forty kills would miss one in 70, 200 one in 10^9.
    def named(seed):
        directory = tmp_path / seed
        directory.mkdir()
        return places(files, directory, cost)

    assert caught(spawn, named, life, kills=40, seeds=range(3, 8), watched=Answers)


def one_entry(report, place):
    ledger = open_ledger(place)
    with ledger.turn("0"):
        reservation = ask(ledger, "0", place.cost)
        if reservation.values is None:
            report(["drawing", reservation.entry])
            reservation = ledger.commit(reservation, [secrets.randbits(60)])
    report(["revealed", reservation.entry, list(reservation.values)])


@pytest.mark.parametrize(
    ("home", "step"),
    [
        ("files", 80),
        ("database", 400),
        *(pytest.param(home, 1, marks=pytest.mark.soak) for home in ("files", "database")),
    ],
    indirect=["home"],
)
def test_the_lines_of_one_entry(spawn, home, tmp_path, step):
    named = places(home, tmp_path, EIGHTH)
    assert killed_at_lines(spawn, named, one_entry, step, Answers) == []


def test_a_kill_while_drawing_leaves_one_redraw(spawn, opened):
    desk = opened()

    def dies_drawing(_report):
        reservation = desk.reserve("q")
        assert isinstance(reservation, Reservation)
        os.kill(os.getpid(), signal.SIGKILL)

    for state in ("reserved", "redrawn"):
        assert spawn(dies_drawing).finish()[1] == -signal.SIGKILL
        assert [entry.state for entry in desk.ledger.entries()] == [state]
    with pytest.raises(EntryConflict, match="stays charged"):
        desk.reserve("q")
    assert desk.ledger.spent() == Fraction(1, 100)


def commits_first(ledger, reservation, report):
    reservation = ledger.commit(reservation, [secrets.randbits(60)])
    report(["revealed", reservation.entry, list(reservation.values)])


def commits_last(ledger, reservation, report):
    """Broken: what is shown may not be stored."""
    values = [secrets.randbits(60)]
    report(["revealed", reservation.entry, values])
    ledger.commit(reservation, values)


def stubborn(report, ledger, cost, answer):
    """Live by the rules, and ask again whatever the server does."""
    number = 0
    until = time.monotonic() + 300
    while time.monotonic() < until:
        try:
            with ledger.turn(f"{number}"):
                reservation = next_to_draw(ledger, number, cost)
                if reservation is not None and reservation.values is None:
                    report(["drawing", reservation.entry])
                    answer(ledger, reservation, report)
        except LedgerUnavailable:
            report(["cut", ""])
            time.sleep(0.02)
            continue
        except BudgetExceeded:
            return
        number += 1


def disturbed(spawn, place, disturb, answer):
    """Disturb one life until it ends; return its findings, and how often it was and was felt."""
    ledger, witness = open_ledger(place), Answers(place)
    child = spawn(lambda report: stubborn(report, ledger, place.cost, answer))
    times = 0
    while os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        disturb()
        times += 1
    reports, status = child.finish()
    assert status == 0, reports
    witness.reports = [report for report in reports if report[0] != "cut"]
    return witness.findings(), times, len(reports) - len(witness.reports)


def cutting(server, dice):
    """Cut all of the ledger's connections at random times."""
    import psycopg

    with psycopg.connect(server.address, autocommit=True) as admin:
        while True:
            time.sleep(dice.uniform(0, 0.4))
            admin.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE application_name = 'neyman ledger'"
            )
            yield


def crashing(server, dice):
    """Kill the server at random times, as a crash does, and let it recover."""
    while True:
        time.sleep(dice.uniform(0, 1))
        server.stop(mode="immediate")
        server.start()
        yield


def lives_disturbed(spawn, named, disturbing, answer, least):
    """Return what was lost, over as many lives as it takes to disturb them so often, once felt."""
    found, times, refused, lives = [], 0, 0, 0
    while times < least or (refused == 0 and lives < 20 * least):
        lives += 1
        lost, more, felt = disturbed(spawn, named(f"{lives}"), lambda: next(disturbing), answer)
        found, times, refused = found + lost, times + more, refused + felt
    print(f"{times} times in {lives} lives, {refused} calls refused")
    assert refused > 0
    return found


@pytest.mark.parametrize(
    ("least", "cost"), [(3, QUARTER), pytest.param(100, EIGHTH, marks=pytest.mark.soak)]
)
@pytest.mark.parametrize("way", [cutting, crashing])
def test_nothing_is_lost_with_the_server(spawn, start_postgres, way, least, cost):
    server = start_postgres()
    disturbing = way(server, random.Random(least))

    def named(name):
        return Place(f"{server.url}?ledger=t{name}", cost)

    assert lives_disturbed(spawn, named, disturbing, commits_first, least) == []
    disturbing.close()


@COSTS
@pytest.mark.parametrize("home", ["database"], indirect=True)
def test_the_cuts_catch_who_shows_what_is_not_stored(spawn, postgres_server, home, tmp_path, cost):
    # Every third cut or so falls between the two: a hundred would all miss one time in 10^17.
    disturbing = cutting(postgres_server, random.Random(3))
    assert any(
        lives_disturbed(
            spawn, places(home, tmp_path / f"{number}", cost), disturbing, commits_last, 5
        )
        for number in range(20)
    )
    disturbing.close()
