"""Turns: one draw for rivals of one entry, no wait for others, nothing kept by the dead."""

import gc
import os
import secrets
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from fractions import Fraction

import numpy as np
import pytest

import neyman as ny
from neyman.aggregate import Aggregate
from neyman.errors import EntryConflict, InvalidParameter, LedgerUnavailable
from neyman.ledger import Ledger
from neyman.sensitivity import Sensitivity

RIVALS = 8
ONLY_FILES = pytest.mark.parametrize("home", ["files"], indirect=True)
# It only ends what hangs.
PATIENCE_S = 120


class Plain:
    """Shows the noisy integers as they are."""

    def columns(self, noisy, noise, confidence):  # noqa: ARG002
        return {"count": noisy.tolist()}


def ask(ledger, compute, entry="q"):
    """Ask through the door; return the answer."""
    aggregate = Aggregate(
        query={"statistic": "count"},
        source="here",
        unit="plane",
        sensitivity=Sensitivity(neighbors="add_remove", l1=Fraction(1), l2_squared=Fraction(1)),
        size=1,
        reading=Plain(),
        compute=compute,
    )
    return ny.release(aggregate, ny.Gaussian(scale=1000), ledger, entry=entry).columns["count"]


def slow():
    time.sleep(0.3)
    return np.array([5], dtype=np.int64)


@pytest.fixture
def kinds(home):
    """Tell what happened in a ledger."""
    return lambda ledger: [
        kind for (kind,) in home.ask(ledger, "SELECT kind FROM events ORDER BY seq")
    ]


def rivals(spawn, ledger, draw, refused):
    """Let eight processes ask one entry at once; return their answers and refusals.

    One that is refused touches the file `refused`.
    """
    entry, ready = os.pipe()

    def work(report):
        os.close(ready)
        os.read(entry, 1)
        try:
            report(ask(ledger, draw))
        except EntryConflict:
            refused.touch()
            report("refused")

    children = [spawn(work) for _ in range(RIVALS)]
    os.close(ready)
    os.close(entry)
    ends = [child.finish() for child in children]
    assert [status for _, status in ends] == [0] * RIVALS, ends
    return [answer for (answer,), _ in ends]


def test_rival_processes_find_the_one_answer(spawn, opened, kinds, tmp_path):
    ledger = opened().ledger
    answers = rivals(spawn, ledger, slow, tmp_path / "refused")
    assert answers == [list(ledger.entries()[0].values)] * RIVALS
    assert kinds(ledger) == ["reserve", "commit"]
    assert ledger.check() == ()


def test_without_turns_rivals_use_the_redraw_up(spawn, opened, kinds, monkeypatch, tmp_path):
    ledger, refused = opened().ledger, tmp_path / "refused"

    def draws_until_another_is_refused():
        until = time.monotonic() + PATIENCE_S
        while not refused.exists() and time.monotonic() < until:
            time.sleep(0.01)
        return slow()

    monkeypatch.setattr(type(ledger.store), "turn", lambda *_: nullcontext())
    answers = rivals(spawn, ledger, draws_until_another_is_refused, refused)
    assert "refused" in answers
    assert "redraw" in kinds(ledger)


def test_rival_threads_find_the_one_answer(opened, kinds):
    ledger = opened().ledger
    with ThreadPoolExecutor(RIVALS) as pool:
        answers = list(pool.map(lambda _: ask(ledger, slow), range(RIVALS)))
    assert answers == [list(ledger.entries()[0].values)] * RIVALS
    assert kinds(ledger) == ["reserve", "commit"]


def test_other_entries_do_not_wait(spawn, opened):
    ledger = opened().ledger
    with ledger.turn("a"):
        with ThreadPoolExecutor(1) as pool:
            assert len(pool.submit(ask, ledger, slow, "thread").result(PATIENCE_S)) == 1
        child = spawn(lambda report: report(ask(ledger, slow, "process")))
        assert child.finish()[1] == 0


def test_a_killed_holder_passes_its_turn_on_and_leaves_the_redraw(spawn, opened, kinds):
    ledger = opened().ledger
    killed = threading.Event()
    drawn_after = []

    def kill():
        killed.set()
        holder.kill()

    def draw():
        drawn_after.append(killed.is_set())
        return slow()

    def never(report):
        report("drawing")
        time.sleep(PATIENCE_S)

    holder = spawn(lambda report: ask(ledger, lambda: never(report)))
    assert b"drawing" in os.read(holder.pipe, 100)
    threading.Timer(0.3, kill).start()
    answer = ask(ledger, draw)
    assert drawn_after == [True]
    assert kinds(ledger) == ["reserve", "redraw", "commit"]
    assert answer == list(ledger.entries()[0].values)
    assert holder.finish()[1] == -signal.SIGKILL


WAITER = "waits for a turn"


@pytest.fixture(autouse=True)
def no_waiter_outlives_its_test():
    """One that still held a descriptor would disturb who counts them."""
    yield
    for thread in threading.enumerate():
        if thread.name == WAITER:
            thread.join(PATIENCE_S)
            assert not thread.is_alive()


def free(ledger, *, within=PATIENCE_S):
    """Tell whether a thread gets the turn."""
    got = threading.Event()

    def wait():
        with ledger.turn("q"):
            got.set()

    threading.Thread(target=wait, name=WAITER, daemon=True).start()
    return got.wait(within)


def taken(ledger):
    """Tell whether a thread waits for the turn, and still does after a second."""
    return not free(ledger, within=1)


def test_a_fork_of_a_killed_holder_keeps_nothing(spawn, opened):
    ledger = opened().ledger
    heir_in, heir_out = os.pipe()

    def holds_and_forks(report):
        with ledger.turn("q"):
            if os.fork() == 0:
                os.close(heir_out)
                report("forked")
                os.read(heir_in, 1)
                os._exit(0)
            time.sleep(PATIENCE_S)

    holder = spawn(holds_and_forks)
    assert b"forked" in os.read(holder.pipe, 100)
    try:
        assert taken(ledger)
        holder.kill()
        os.waitpid(holder.pid, 0)
        # The forked process lives on, and waits for this one.
        assert free(ledger)
    finally:
        os.close(heir_out)
        os.close(heir_in)
        os.close(holder.pipe)


def test_a_fork_that_leaves_the_turn_does_not_end_its_parents(spawn, opened):
    ledger = opened().ledger
    turn = ledger.turn("q")

    def leaves(report):
        turn.__exit__(None, None, None)
        # Its own turns go on as ever.
        with ledger.turn("other"):
            report("left")

    with turn:
        assert spawn(leaves).finish() == (["left"], 0)
        assert taken(ledger)
    assert free(ledger)


def test_a_wait_can_be_interrupted(spawn, opened):
    ledger = opened().ledger

    def waits(report):
        # Where the tests run in the background, the signal may be ignored.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            report("waiting")
            with ledger.turn("q"):
                report("got it")
        except KeyboardInterrupt:
            report("interrupted")
        # What was interrupted is not held against it.
        with ledger.turn("other"):
            report("on")

    with ledger.turn("q"):
        child = spawn(waits)
        assert os.read(child.pipe, 100) == b'"waiting"\n'
        time.sleep(0.3)
        os.kill(child.pid, signal.SIGINT)
        reports, status = child.finish()
    assert (reports, status) == (["interrupted", "on"], 0)
    assert free(ledger)


def test_a_turn_ends_with_an_error_in_it(opened):
    ledger = opened().ledger
    with pytest.raises(ZeroDivisionError), ledger.turn("q"):
        raise ZeroDivisionError
    assert free(ledger)


def test_a_turn_inside_a_turn_is_refused(opened):
    ledger = opened().ledger
    for entry in ("q", "other"):
        with (
            ledger.turn("q"),
            pytest.raises(InvalidParameter, match="End one before the next"),
            ledger.turn(entry),
        ):
            pass
    assert free(ledger)


@pytest.mark.parametrize("entry", ["", "x" * 201, None, 5])
def test_a_turn_is_an_entrys(opened, entry, tmp_path):
    ledger = opened().ledger
    with pytest.raises(InvalidParameter, match="printable"):
        ledger.turn(entry)
    assert not (tmp_path / "budget.ledger.turns").exists()


@ONLY_FILES
def test_the_file_of_turns_is_empty_and_shared_as_the_ledger_is(opened):
    ledger = opened().ledger
    ledger.store.path.chmod(0o664)
    before = os.umask(0o077)
    try:
        with ledger.turn("q"):
            pass
    finally:
        os.umask(before)
    turns = ledger.store.path.with_name("budget.ledger.turns")
    assert turns.read_bytes() == b""
    assert turns.stat().st_mode & 0o777 == 0o664
    turns.unlink()
    assert free(ledger)


@ONLY_FILES
def test_a_file_of_turns_that_cannot_be_used_is_named(opened):
    ledger = opened().ledger
    ledger.store.path.with_name("budget.ledger.turns").mkdir()
    with pytest.raises(LedgerUnavailable, match=r"turns' cannot be used \(EISDIR\)") as refusal:
        ask(ledger, slow)
    assert refusal.value.__context__ is None
    assert ledger.entries() == ()


@pytest.mark.parametrize("turns", [5, pytest.param(20, marks=pytest.mark.soak)])
def test_nothing_is_left_open(opened, turns):
    desk = opened()
    gc.collect()  # What other tests left to be collected is gone before the count.
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    for number in range(turns):
        with desk.ledger.turn(f"{number}"):
            desk.answer(f"{number}", [secrets.randbits(8)])
    assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208
    assert Ledger.existing(desk.ledger.store) == desk.ledger
