"""Whatever fails between computing and storing, no error holds an exact or an unrevealed number."""

import errno
import gc
import dis
import os
import resource
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import neyman as ny
from neyman.aggregate import FoundGroups, UnknownGroups
from neyman.errors import (
    BrokenRandomness,
    EngineFailure,
    EntryConflict,
    LedgerUnavailable,
)
from neyman.ledger import Ledger, _sqlite
from neyman.mechanisms import FoldedLaw, Mechanism
from neyman.sealed import sealed
from neyman.sensitivity import NewGroups

# The sums of the rows are private; the rows themselves are the user's own, in the user's frames.
ROWS = (459_136_822, 459_136_823)
SECRET = 918_273_645
HIDDEN = "an unseen diagnosis"
ONE = ny.Sensitivity(neighbors="add_remove", l1=Fraction(1), l2_squared=Fraction(1))
NOISE = ny.Gaussian(scale=2**20)


class Plain:
    def columns(self, noisy, noise, confidence):  # noqa: ARG002
        return {"count": noisy.tolist()}


def exact():
    return np.array([sum(ROWS), -sum(ROWS)], dtype=np.int64)


def question(compute=exact, **changes):
    asked = ny.Aggregate(
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


THRESHOLDED = ny.Thresholded(noise=NOISE, threshold=2**29)


@pytest.fixture
def ledger(tmp_path):
    return ny.Ledger.open(
        tmp_path / "a.ledger",
        cap=ny.approx_dp(2, 1e-3),
        unit="one row",
        neighbors="add_remove",
        delta_for_groups=5e-4,
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


def stops(error: BaseException) -> Callable[[], None]:
    def stop():
        raise error

    return stop


def deep():
    return deep() + sum(ROWS)


@pytest.mark.parametrize(
    ("error", "kind", "said"),
    [
        (ValueError(f"row 17: {SECRET}"), EngineFailure, "withheld"),
        (OSError(errno.ENOSPC, f"row 17: {SECRET}"), EngineFailure, "operating system"),
        (MemoryError(SECRET), EngineFailure, "memory ran out"),
        (KeyError(SECRET), EngineFailure, "withheld"),
        (StopIteration(SECRET), EngineFailure, "withheld"),
        (BaseExceptionGroup("all", [ValueError(SECRET)]), None, ""),
        (KeyboardInterrupt(SECRET), KeyboardInterrupt, ""),
        (SystemExit(SECRET), SystemExit, "1"),
        (GeneratorExit(SECRET), GeneratorExit, ""),
        (EngineFailure("the disk is gone"), EngineFailure, "the disk is gone"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else None,
)
@pytest.mark.parametrize("step", ["compute", "draw", "add", "commit"])
def test_an_error_at_any_step_holds_no_private_number(
    failing, ledger, monkeypatch, error, kind, said, step
):
    error.add_note(f"noted {SECRET}")
    error.__cause__ = ValueError(SECRET)
    stop = stops(error)
    if step == "draw":
        monkeypatch.setattr(FoldedLaw, "draw", lambda *_: stop())
    if step == "add":
        monkeypatch.setattr(Mechanism, "add_noise", lambda _, values: stop() or values)
    if step == "commit":
        monkeypatch.setattr(Ledger, "commit", lambda *_: stop())
    caught = failing(question(stop if step == "compute" else exact))
    assert kind is None or type(caught) is kind
    assert said in str(caught)
    assert ledger.entries()[0].state == "reserved"
    assert ledger.spent() > 0


def test_an_endless_recursion_is_named(failing):
    assert "stack ran out" in str(failing(question(deep)))


@pytest.mark.parametrize("wrong", [np.array([SECRET]), np.array([1.0 * SECRET, 0.0])])
def test_an_answer_of_another_shape_or_type_is_not_in_the_error(failing, wrong):
    assert type(failing(question(lambda: wrong * 1))) is EngineFailure


def test_groups_that_are_not_shown_are_not_in_the_error(failing, monkeypatch):
    monkeypatch.setattr(
        ny.Thresholded, "shown", lambda _, counts: np.array([f"{counts[0]}"]).astype("M8[s]")
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


def fails_at(monkeypatch, statement, after):
    """Let SQLite fail once at a statement, before it is done or after; tell how often it was."""
    execute, calls = SlowConnection.execute, []

    def failing_once(self, sql, *given):
        if not sql.startswith(statement) or calls:
            return execute(self, sql, *given)
        calls.append(sql)
        if after:
            execute(self, sql, *given)
        error = sqlite3.OperationalError(f"database or disk is full, {given}")
        error.sqlite_errorcode = sqlite3.SQLITE_FULL
        raise error

    connect = sqlite3.connect
    monkeypatch.setattr(SlowConnection, "execute", failing_once)
    monkeypatch.setattr(
        _sqlite.sqlite3,
        "connect",
        lambda *given, **named: connect(*given, factory=SlowConnection, **named),
    )
    return calls


class SlowConnection(sqlite3.Connection):
    """A connection whose calls can be replaced."""

    def execute(self, sql, *given):
        return super().execute(sql, *given)


class Counted:
    """The sums of the rows, and how often they were computed; `fault` runs each time."""

    def __init__(self, fault=lambda: None):
        self.reads, self.fault = 0, fault

    def __call__(self):
        self.reads += 1
        self.fault()
        return exact()


def test_a_commit_that_failed_is_drawn_once_more_and_never_a_third_time(
    failing, ledger, monkeypatch, drawn
):
    query = Counted(lambda: fails_at(monkeypatch, "COMMIT", after=False))
    for state in ("reserved", "redrawn"):
        assert type(failing(question(query))) is LedgerUnavailable
        monkeypatch.setattr(SlowConnection, "execute", sqlite3.Connection.execute)
        assert ledger.entries()[0].state == state
    with pytest.raises(EntryConflict, match="drawn twice"):
        ny.release(question(query), NOISE, ledger, entry="a")
    assert query.reads == 2
    assert len(set(drawn)) == 9


def test_a_redraw_forgets_the_first_draw(failing, ledger, monkeypatch, drawn):
    first = Counted(lambda: fails_at(monkeypatch, "COMMIT", after=False))
    failing(question(first))
    lost = set(drawn) - {SECRET}
    monkeypatch.setattr(SlowConnection, "execute", sqlite3.Connection.execute)
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
    failing, ledger, monkeypatch, drawn
):
    query = Counted(lambda: fails_at(monkeypatch, "COMMIT", after=True))
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
    assert "may be asked once more" in str(caught)
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


def stopped_everywhere(lines, ask, secrets, leaks, wanted, kind):
    """Stop a question at every line that it runs; return where an error told a secret."""
    lines.run(lambda: ask("first"))
    places = [place for place in lines.seen if wanted(place[0])]
    found: list[str] = []
    stopped = 0
    for number, place in enumerate(places):
        secrets[1:] = []
        try:
            lines.run(lambda number=number: ask(f"e{number}"), at=place, raises=kind())
        except BaseException as error:
            stopped += 1
            stored = set(ask.stored())
            found += [f"{place}: {leak}" for leak in leaks(error, set(secrets) - stored)]
        # Between lines Ctrl-C is not heard; here a lock can be left behind.
        if _sqlite._ONE_AT_A_TIME.locked():
            _sqlite._ONE_AT_A_TIME.release()
    assert stopped > 0.9 * len(places)
    return found


class Asks:
    """Asks one kind of question under any id, in a ledger that has room for thousands."""

    def __init__(self, ledger, asked, noise):
        self.ledger, self.asked, self.noise = ledger, asked, noise

    def __call__(self, entry):
        ny.release(self.asked, self.noise, self.ledger, entry=entry)

    def stored(self):
        """Return what may be shown: answers that are stored."""
        return [value for entry in self.ledger.entries()[-1:] for value in entry.values or ()]


@pytest.mark.parametrize(
    ("asked", "noise"), [(question(), NOISE), (unknown(), THRESHOLDED)], ids=["declared", "unknown"]
)
def test_a_question_stopped_at_any_line_tells_no_private_number(
    ledger, drawn, leaks, lines, asked, noise
):
    def wanted(file):
        return "/mechanisms/" in file or file.endswith(("/door.py", "/sealed.py", "/aggregate.py"))

    ask = Asks(ledger, asked, noise)
    assert stopped_everywhere(lines, ask, drawn, leaks, wanted, KeyboardInterrupt) == []
