"""Sixteen writers for the last steps of an allowance; a broken ledger that must be caught."""

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from neyman.accounting import Amount
from neyman.curves import gdp
from neyman.errors import BudgetExceeded, EntryConflict
from neyman.ledger._events import Events
from neyman.ledger._records import canonical

WRITERS, STEPS = 16, 40
# Whether writers meet is up to the machine, so what shows only where they do may take a few races.
RACES = 20


def allow(desk, entry="autumn", steps=STEPS):
    return desk.ledger.allow(
        entry=entry,
        step=gdp(0.1),
        steps=steps,
        request={},
        source="d",
        unit="plane",
        neighbors="add_remove",
    )


def race(spawn, work):
    """Run work(report, writer) in all writers at once; return their reports."""
    entry, exit_ = os.pipe()

    def behind_the_gate(report, writer):
        os.close(exit_)
        os.read(entry, 1)
        work(report, writer)

    children = [
        spawn(lambda report, writer=writer: behind_the_gate(report, writer))
        for writer in range(WRITERS)
    ]
    os.close(exit_)
    os.close(entry)
    ends = [child.finish() for child in children]
    assert [status for _, status in ends] == [0] * WRITERS, ends
    return [report for reports, _ in ends for report in reports]


def takes(allowance, name):
    allowance.take(name, steps=1)


def checks_then_writes(allowance, name):
    """Broken: two transactions, so that another writer fits between them."""
    if allowance.left() < 1:
        raise BudgetExceeded
    time.sleep(0.005)
    record = {
        "of": allowance._event,
        "step": allowance.declared[0].step.to_json(),
        "steps": [1],
        "revealed": True,
    }
    allowance._access.write(
        lambda tables, meta: Events(tables, meta).append(
            f"{allowance.id}/{name}", "reserve", canonical(record), cost=Amount(0)
        ),
        "",
    )


def winners(spawn, allowance, take):
    """Let all writers take steps until none is left; return who won what."""

    def work(report, writer):
        for number in range(STEPS + 1):
            try:
                take(allowance, f"{writer}/{number}")
            except BudgetExceeded:
                return
            report([writer, number])
            # A writer that never rests keeps the others asleep, and then nothing races.
            time.sleep(0.01)

    return race(spawn, work)


@pytest.mark.parametrize(
    ("home", "races"),
    [
        ("files", 1),
        ("database", 1),
        pytest.param("files", 20, marks=pytest.mark.soak),
        pytest.param("database", 5, marks=pytest.mark.soak),
    ],
    indirect=["home"],
)
def test_sixteen_writers_never_pass_the_count(spawn, opened, tmp_path, races):
    shared = 0
    for number in range(max(races, 1) * RACES):
        desk = opened(path=tmp_path / f"{number}")
        allowance = allow(desk)
        won = winners(spawn, allowance, takes)
        assert len(won) == STEPS
        assert {f"autumn/{writer}/{n}" for writer, n in won} == {
            entry.id for entry in desk.ledger.entries() if entry.of
        }
        assert (allowance.left(), allowance.stock().taken) == (0, (STEPS,))
        assert desk.ledger.check() == ()
        shared += len({writer for writer, _ in won}) > 1
        if number + 1 >= races and shared:
            return
    pytest.fail("one writer took all steps in every race")


def test_the_race_catches_check_then_write(spawn, opened, tmp_path):
    def overdrawn(number):
        desk = opened(path=tmp_path / f"{number}")
        won = winners(spawn, allow(desk), checks_then_writes)
        found = any("is overdrawn" in finding for finding in desk.ledger.check())
        assert found == (len(won) > STEPS)
        return found

    assert any(overdrawn(number) for number in range(RACES))


def test_racing_writers_make_one_allowance(spawn, opened):
    desk = opened()

    def work(report, writer):
        allowance = allow(desk)
        allowance.take(f"{writer}", steps=1)
        report([allowance._event])

    assert len({event for (event,) in race(spawn, work)}) == 1
    assert desk.ledger.allowance("autumn").left() == STEPS - WRITERS
    assert desk.ledger.check() == ()


def test_one_name_is_taken_once(spawn, opened):
    desk = opened()
    allowance = allow(desk)

    def work(report, writer):
        try:
            allowance.take("epoch", steps=5)
        except EntryConflict:
            return
        report(writer)

    assert len(race(spawn, work)) == 1
    assert (allowance.left(), desk.ledger.check()) == (STEPS - 5, ())


def test_one_checkpoint_is_committed(spawn, opened):
    """Two run a block that left nothing: one is stored, and the other has to discard its own."""
    desk = opened()
    allowance = allow(desk)
    blocks = [allowance.take("epoch", steps=5, revealed=False) for _ in range(2)]

    def work(report, writer):
        try:
            blocks[writer % 2].commit(f"digest {writer}")
        except EntryConflict:
            return
        report(f"digest {writer}")

    (stored,) = race(spawn, work)
    assert allowance.take("epoch", steps=5).checkpoint == stored


def test_threads_take_of_one_handle(opened):
    desk = opened()
    allowance, lock, won = allow(desk), threading.Lock(), []

    def take(number):
        try:
            allowance.take(f"{number}", steps=3)
        except BudgetExceeded:
            return
        with lock:
            won.append(number)

    with ThreadPoolExecutor(WRITERS) as pool:
        list(pool.map(take, range(30)))
    assert (len(won), allowance.left()) == (13, 1)
    assert desk.ledger.check() == ()
