"""Whatever fails between computing and storing, no error holds an exact or an unrevealed number."""

import dis
import errno
import gc
import os
import random
import resource
import signal
import sqlite3
import types
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np
import pyarrow as pa
import pytest

import neyman as ny
from neyman import door
from neyman.aggregate import Aggregate, FoundGroups, UnknownGroups
from neyman.errors import (
    BrokenRandomness,
    EngineFailure,
    EntryConflict,
    LedgerUnavailable,
)
from neyman.ledger import Ledger, _sqlite
from neyman.mechanisms import FoldedLaw, Mechanism
from neyman.sealed import sealed
from neyman.sensitivity import NewGroups, Sensitivity
from neyman.tables import Bounds, Rows

# The sums of the rows are private; the rows themselves are the user's own, in the user's frames.
ROWS = (459_136_822, 459_136_823)
SECRET = 918_273_645
HIDDEN = "an unseen diagnosis"
ONE = Sensitivity(neighbors="add_remove", l1=Fraction(1), l2_squared=Fraction(1))
NOISE = ny.Gaussian(scale=2**20)


class Plain:
    def columns(self, noisy, noise, confidence):  # noqa: ARG002
        return {"count": noisy.tolist()}


def exact():
    return np.array([sum(ROWS), -sum(ROWS)], dtype=np.int64)


def question(compute=exact, **changes):
    asked = Aggregate(
        query={"statistic": "count"},
        source="here",
        unit="one row",
        sensitivity=ONE,
        size=2,
        reading=Plain(),
        compute=compute,
    )
    return replace(asked, **changes)


def unknown(find=None):
    """Ask for groups that nobody declared, of which one is never shown."""

    def found():
        keys = (("seen",), (HIDDEN.upper().lower(),))
        return FoundGroups(keys, np.array([[sum(ROWS)], [0]], dtype=np.int64))

    new = NewGroups(most=1, largest=1)
    groups = UnknownGroups(parsers={"key": str}, width=1, count=0, rows=1, find=find or found)
    return question(size=0, unknown=groups, sensitivity=replace(ONE, new_groups=new))


THRESHOLDED = ny.mechanisms.Thresholded(noise=NOISE, threshold=2**29)


@pytest.fixture
def ledger(tmp_path):
    return ny.Ledger.open(
        tmp_path / "a.ledger",
        cap=ny.approx_dp(2, 1e-3),
        unit="one row",
        neighbors="add_remove",
        delta_aside=5e-4,
    )


@pytest.fixture
def drawn(monkeypatch):
    """Collect what is drawn: each draw, and what it makes of the sums."""
    secrets: list[int] = [SECRET]
    draw = FoldedLaw.draw

    def spy(law, count, source):
        noise = draw(law, count, source)
        for value in noise.tolist():
            secrets.extend([SECRET + value, -SECRET + value])
        return noise

    monkeypatch.setattr(FoldedLaw, "draw", spy)
    return secrets


@pytest.fixture
def failing(ledger, drawn, leaks):
    """Ask, and return the error with no secret in it."""

    def ask(asked, noise=NOISE, entry="a") -> BaseException:
        caught = None
        try:
            ny.release(asked, noise, ledger, entry=entry)
        except BaseException as error:
            caught = error
        assert caught is not None
        assert leaks(caught, [*drawn, HIDDEN]) == []
        assert caught.__context__ is caught.__cause__ is None
        return caught

    return ask


# -- whatever fails ----------------------------------------------------------------------------


def deep():
    return deep() + sum(ROWS)


class Odd(BaseException):
    """Cannot be made anew without what it was made of."""

    def __init__(self, value, /):
        self.value = value


@pytest.mark.parametrize(
    ("raised", "kind", "said"),
    [
        (ValueError, EngineFailure, "is not shown"),
        (OSError, EngineFailure, "operating system"),
        (MemoryError, EngineFailure, "memory ran out"),
        (StopIteration, EngineFailure, "is not shown"),
        (KeyboardInterrupt, KeyboardInterrupt, ""),
        (SystemExit, SystemExit, "1"),
        (GeneratorExit, GeneratorExit, ""),
        (Odd, KeyboardInterrupt, ""),
        (lambda _: EngineFailure("the disk is gone"), EngineFailure, "the disk is gone"),
    ],
)
@pytest.mark.parametrize("step", ["compute", "draw", "add", "commit"])
def test_an_error_at_any_step_holds_no_private_number(
    failing, ledger, monkeypatch, raised, kind, said, step
):
    def stop(*held):
        error = raised(f"row 17: {sum(ROWS)}, {held}")
        error.add_note(f"noted {sum(ROWS)}")
        error.rows = [exact()]
        error.__context__ = KeyError(sum(ROWS))
        raise error

    if step == "draw":
        monkeypatch.setattr(FoldedLaw, "draw", stop)
    if step == "add":
        monkeypatch.setattr(Mechanism, "add_noise", stop)
    if step == "commit":
        monkeypatch.setattr(Ledger, "commit", stop)
    caught = failing(question(stop if step == "compute" else exact))
    assert type(caught) is kind
    assert said in str(caught)
    assert ledger.entries()[0].state == "reserved"
    assert ledger.spent() > 0


def test_an_endless_recursion_is_named(failing):
    assert "nested too deeply" in str(failing(question(deep)))


@pytest.mark.parametrize("wrong", [lambda: exact()[:1], lambda: exact() * 1.0, lambda: sum(ROWS)])
def test_an_answer_of_another_shape_or_type_is_not_in_the_error(failing, wrong):
    assert type(failing(question(wrong))) is EngineFailure


def test_groups_that_are_not_shown_are_not_in_the_error(failing, monkeypatch):
    monkeypatch.setattr(
        ny.mechanisms.Thresholded,
        "shown",
        lambda _, counts: np.array([f"{counts[0]}"]).astype("M8[s]"),
    )
    assert type(failing(unknown(), THRESHOLDED)) is EngineFailure


def test_an_answer_that_is_stored_may_be_in_the_error_of_a_bad_reading(ledger, drawn, leaks):
    class Bad(Plain):
        def columns(self, *_):
            raise ValueError("no columns")

    with pytest.raises(ValueError, match="no columns") as caught:
        ny.release(question(reading=Bad()), NOISE, ledger, entry="a")
    stored = ledger.entries()[0].values
    assert leaks(caught.value, set(drawn) - set(stored)) == []


# -- the ledger fails at the last step -----------------------------------------------------------


def moved(ledger):
    ledger.store.path.rename(f"{ledger.store.path}.away")


def linked(ledger):
    os.link(ledger.store.path, f"{ledger.store.path}.again")


def overwritten(ledger):
    with ledger.store.path.open("r+b") as file:
        file.write(b"not a ledger at all, but something else" * 200)


@pytest.mark.parametrize("fault", [moved, linked, overwritten])
def test_a_ledger_that_is_lost_before_the_commit_keeps_the_draw_to_itself(failing, ledger, fault):
    def computed():
        fault(ledger)
        return exact()

    assert isinstance(failing(question(computed)), ny.errors.NeymanError)


@pytest.fixture
def full_disk():
    """No file may grow any more, from the call on until the test is over."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    yield lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_disk_that_fills_up_before_the_commit_keeps_the_draw_to_itself(failing, full_disk):
    def computed():
        full_disk()
        return exact()

    assert type(failing(question(computed))) is LedgerUnavailable


class Connection(sqlite3.Connection):
    """A connection that fails once, at the COMMIT of its next row."""

    fails = ""
    wrote = False

    def execute(self, sql, *given):
        self.wrote |= sql.startswith("INSERT")
        if sql != "COMMIT" or not self.wrote or not Connection.fails:
            return super().execute(sql, *given)
        when, Connection.fails = Connection.fails, ""
        if when == "after":
            super().execute(sql, *given)
        raise full(given)


def full(given):
    error = sqlite3.OperationalError(f"database or disk is full, {given}")
    error.sqlite_errorcode = sqlite3.SQLITE_FULL
    return error


@pytest.fixture
def commit_fails(monkeypatch):
    """Let the next COMMIT fail, "before" anything is stored or "after"."""
    connect = sqlite3.connect
    monkeypatch.setattr(
        _sqlite.sqlite3,
        "connect",
        lambda *given, **named: connect(*given, factory=Connection, **named),
    )
    return lambda when: setattr(Connection, "fails", when)


class Counted:
    """The sums of the rows, and how often they were computed; `fault` runs each time."""

    def __init__(self, fault=lambda: None):
        self.reads, self.fault = 0, fault

    def __call__(self):
        self.reads += 1
        self.fault()
        return exact()


def test_a_commit_that_failed_is_drawn_once_more_and_never_a_third_time(
    failing, ledger, commit_fails, drawn
):
    query = Counted(lambda: commit_fails("before"))
    for state in ("reserved", "redrawn"):
        assert type(failing(question(query))) is LedgerUnavailable
        assert ledger.entries()[0].state == state
    with pytest.raises(EntryConflict, match="drawn twice"):
        ny.release(question(query), NOISE, ledger, entry="a")
    assert query.reads == 2
    assert len(set(drawn)) == 9


def test_a_redraw_forgets_the_first_draw(failing, ledger, commit_fails, drawn):
    first = Counted(lambda: commit_fails("before"))
    failing(question(first))
    lost = set(drawn) - {SECRET}
    drawn.clear()
    answer = ny.release(question(), NOISE, ledger, entry="a")
    assert len(lost) == 4
    assert not lost & set(answer.columns["count"])
    assert set(answer.columns["count"]) <= set(drawn)
    held = [thing for thing in gc.get_objects() if type(thing) in (list, tuple) and len(thing) < 9]
    held = [thing for thing in held if thing is not lost and not lost.isdisjoint(ints(thing))]
    assert held == []
    for file in ledger.store.path.parent.iterdir():
        assert not [value for value in lost if str(value).encode() in file.read_bytes()]


def ints(thing):
    return [part for part in thing if type(part) is int]


def test_a_commit_that_failed_after_it_was_stored_is_answered_with_what_is_stored(
    failing, ledger, commit_fails, drawn
):
    query = Counted(lambda: commit_fails("after"))
    assert type(failing(question(query))) is LedgerUnavailable
    stored = ledger.entries()[0].values
    answer = ny.release(question(query), NOISE, ledger, entry="a")
    assert answer.replayed
    assert query.reads == 1
    assert tuple(answer.columns["count"]) == stored
    assert set(stored) <= set(drawn)


# -- randomness ------------------------------------------------------------------------------------


FAIR = os.urandom


def refuses(_size):
    raise OSError(errno.EIO, f"row 17: {SECRET}")


@pytest.mark.parametrize(
    "bits", [refuses, bytes, lambda size: FAIR(size)[:-1], lambda _: None], ids=range(4)
)
def test_randomness_that_breaks_after_the_charge_is_told_without_a_number(
    failing, ledger, monkeypatch, bits
):
    def computed():
        monkeypatch.setattr(os, "urandom", bits)
        return exact()

    caught = failing(question(computed))
    assert type(caught) is BrokenRandomness
    assert "may be released once more" in str(caught)
    assert ledger.entries()[0].state == "reserved"
    monkeypatch.setattr(os, "urandom", FAIR)
    assert not ny.release(question(), NOISE, ledger, entry="a").replayed


@pytest.mark.parametrize(
    "ask",
    [
        lambda ledger: ny.release(question(), NOISE, ledger, entry="a"),
        lambda ledger: ny.release_batch([(question(), NOISE)] * 2, ledger, entry="a"),
        lambda ledger: ny.release(unknown(), THRESHOLDED, ledger, entry="a"),
    ],
)
def test_randomness_that_is_broken_before_the_charge_costs_nothing(ledger, monkeypatch, ask):
    monkeypatch.setattr(os, "urandom", lambda size: b"\xff" * size)
    with pytest.raises(BrokenRandomness, match="repeats"):
        ask(ledger)
    assert ledger.spent() == 0


# -- stopped at any line -----------------------------------------------------------------------


def let_go():
    """Free the ledger's lock, which is left behind if one is stopped right after taking it."""
    if _sqlite._ONE_AT_A_TIME.locked():
        _sqlite._ONE_AT_A_TIME.release()


class Stopped:
    """Asks one question again and again, stopped at each line that runs once the rows are read."""

    def __init__(self, ledger, drawn, leaks, lines):
        self.ledger, self.drawn, self.leaks, self.lines = ledger, drawn, leaks, lines

    def __call__(self, asked, noise, rooms, kind=KeyboardInterrupt, step=1):
        """Return where an error told a secret."""
        self.lines.run(lambda: self.ask(asked, noise, "first"), rooms)
        found: list[str] = []
        places, stopped = list(self.lines.seen)[::step], 0
        for number, place in enumerate(places):
            self.drawn[1:] = []
            try:
                self.lines.run(
                    lambda entry=f"e{number}": self.ask(asked, noise, entry), rooms, (place, kind())
                )
            except BaseException as error:
                stopped += 1
                let_go()
                told = self.leaks(error, {*self.drawn, HIDDEN} - self.stored())
                found += [f"{place}: {leak}" for leak in told]
        assert stopped > 0.9 * len(places) > 0
        return found

    def ask(self, asked, noise, entry):
        ny.release(asked, noise, self.ledger, entry=entry)

    def stored(self):
        """Return what may be shown: answers that are stored."""
        return {value for entry in self.ledger.entries() for value in entry.values or ()}


@pytest.fixture
def stopped(ledger, drawn, leaks, lines):
    return Stopped(ledger, drawn, leaks, lines)


DOOR = ("door.py", "sealed.py", "aggregate/", "mechanisms/")
COMMIT = tuple(f"ledger/_{file}" for file in ("ledger", "sqlite", "records", "events", "trust"))


def declared(lines):
    def computed():
        lines.read = True
        return exact()

    return question(computed)


def hidden(lines):
    def found():
        lines.read = True
        keys = (("seen",), (HIDDEN.upper().lower(),))
        return FoundGroups(keys, np.array([[sum(ROWS)], [0]], dtype=np.int64))

    return unknown(found)


def test_an_answer_stopped_at_a_line_of_door_noise_or_commit_tells_nothing(stopped, lines):
    """Every seventh line; all of them below."""
    assert stopped(declared(lines), NOISE, DOOR + COMMIT, step=7) == []


@pytest.mark.soak
@pytest.mark.parametrize("kind", [KeyboardInterrupt, MemoryError])
@pytest.mark.parametrize(
    ("asked", "noise"), [(declared, NOISE), (hidden, THRESHOLDED)], ids=["declared", "hidden"]
)
def test_an_answer_stopped_at_any_line_tells_nothing(stopped, lines, kind, asked, noise):
    assert stopped(asked(lines), noise, DOOR + COMMIT, kind) == []


@pytest.mark.soak
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_table_stopped_at_any_line_of_its_engine_tells_nothing(stopped, lines):
    table = ny.open_table(
        pa.table({"cost": [*ROWS]}),
        name="costs",
        unit=Rows(),
        bounds={"cost": Bounds(0, 2**30, grid=1)},
        max_table_rows=100,
    )
    asked = table.sum("cost")

    def computed():
        lines.read = True
        return asked.compute()

    noise = ny.Gaussian(scale=2**40)
    assert stopped(replace(asked, compute=computed), noise, ("tables/_engines/",)) == []


@pytest.fixture
def alarm():
    """Raise as Ctrl-C does after some seconds, and again at once, while the first is handled."""

    rings = []

    def stop(*_):
        rings.append(None)
        if len(rings) % 2 == 0:
            signal.setitimer(signal.ITIMER_REAL, 0)
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, stop)
    yield lambda seconds: signal.setitimer(signal.ITIMER_REAL, seconds, 2e-5 if seconds else 0)
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.soak
def test_an_answer_stopped_by_signals_at_random_tells_nothing(ledger, drawn, leaks, alarm):
    dice, errors = random.Random(7), []

    def computed():
        alarm(dice.uniform(1e-6, 8e-3))
        return exact()

    for number in range(400):
        try:
            ny.release(question(computed), NOISE, ledger, entry=f"e{number}")
        except BaseException as error:
            alarm(0)
            let_go()
            errors.append(error)
        alarm(0)
    stored = {value for one in ledger.entries() for value in one.values or ()}
    assert [leak for error in errors for leak in leaks(error, set(drawn) - stored)] == []
    assert len(errors) > 50


# -- the walker and the seal -------------------------------------------------------------------


def leaky(work):
    """Broken: a new error without a context, raised where the numbers still stand."""
    values = exact().tolist()
    try:
        return work(values)
    except Exception:
        raise EngineFailure("withheld") from None


def chained(work):
    """Broken: `from None` hides the first error from people, not from programs."""
    try:
        return work(exact())
    except Exception:
        raise EngineFailure("withheld") from None


def boxed(way):
    """Broken: the numbers are not in a variable, and in reach of one."""

    def twin(_work):
        kept = way(FoundGroups((), exact()))
        raise EngineFailure(f"withheld {type(kept).__name__}")

    return twin


WAYS = (
    lambda box: [box],
    lambda box: lambda: box,
    lambda box: partial(print, box),
    lambda box: (one for one in [box]),
    ValueError,
    lambda box: types.SimpleNamespace(box=box).__repr__,
)


@pytest.mark.parametrize("twin", [leaky, chained, *map(boxed, WAYS)])
def test_broken_twin_that_keeps_the_numbers_is_caught(ledger, leaks, monkeypatch, twin):
    def fails(_values):
        raise ValueError("no")

    monkeypatch.setattr(door, "sealed", lambda _work: twin(fails))
    with pytest.raises(EngineFailure) as caught:
        ny.release(question(), NOISE, ledger, entry="a")
    assert leaks(caught.value, [SECRET])


def test_the_seal_handles_errors_without_a_place_where_ctrl_c_is_heard():
    names = [step.opname for step in dis.get_instructions(sealed)]
    calls = [place for place, name in enumerate(names) if name.startswith("CALL")]
    first = names.index("PUSH_EXC_INFO")
    last = len(names) - 1 - names[::-1].index("POP_EXCEPT")
    assert not [place for place in calls if first < place < last]
    assert not {"JUMP_BACKWARD", "SEND", "YIELD_VALUE"} & set(names)
