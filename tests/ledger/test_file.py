"""The file: where it may lie, what it refuses, and what is said when it is damaged."""

import os
import re
import resource
import shutil
import signal
import sqlite3
import tempfile
import threading
from contextlib import closing, contextmanager
from fractions import Fraction
from pathlib import Path, PurePosixPath

import pytest

from neyman.curves import gdp
from neyman.errors import (
    InvalidParameter,
    LedgerCorrupt,
    LedgerMismatch,
    LedgerUnavailable,
    NeymanError,
)
from neyman.ledger import Ledger, _paths, _sqlite, store_of
from neyman.ledger._paths import LOCAL, file_system
from neyman.ledger._schema import VERSION

MOUNTS = r"""
22 1 252:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
23 22 0:21 / /proc rw,nosuid - proc proc rw
40 22 0:35 / /mnt/share rw - nfs4 server:/export rw,vers=4.2
41 40 0:36 / /mnt/share/local rw shared:2 master:3 - xfs /dev/vdb rw
42 22 0:37 / /mnt/with\040space rw - cifs //server/share rw
43 22 0:38 / /mnt/over rw - ext4 /dev/vdc rw
44 22 0:39 / /mnt/over rw - fuse.sshfs host:/ rw
45 22 0:40 / /mnt/c rw - 9p drvfs rw
this line is not of the format
46 22 0:41 / /mnt/cut rw - 
"""  # noqa: W291


@pytest.fixture
def home(files):
    """Files alone: what is tested here is theirs."""
    return files


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/home/me/b.ledger", "ext4"),
        ("/mnt/share/b", "nfs4"),
        ("/mnt/shared/b", "ext4"),
        ("/mnt/share/local/b", "xfs"),
        ("/mnt/with space/b", "cifs"),
        ("/mnt/over/b", "fuse.sshfs"),
        ("/mnt/c/Users/me/b", "9p"),
        ("/mnt/cut/b", "ext4"),
    ],
)
def test_the_mount_table_is_read(path, kind):
    assert file_system(MOUNTS, PurePosixPath(path)) == kind
    assert (kind in LOCAL) == (kind in {"ext4", "xfs"})


def test_no_table_tells_nothing():
    assert file_system("", PurePosixPath("/b")) is None


@pytest.mark.parametrize(
    "kind",
    ["nfs", "nfs4", "cifs", "smb3", "fuse.sshfs", "9p", "lustre", "virtiofs", "fuse.vmhgfs-fuse"],
)
def test_network_file_systems_are_refused(opened, monkeypatch, tmp_path, kind):
    monkeypatch.setattr(_paths, "file_system_of", lambda _: kind)
    with pytest.raises(LedgerUnavailable, match=f"\\({kind}\\) that is not known as local"):
        opened()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "path", [":memory:", "", "file:b.ledger", "file:b?mode=memory", "a\0b", None, 5, b"b"]
)
def test_what_is_no_file_is_refused(path):
    with pytest.raises(InvalidParameter, match="local disk"):
        Ledger.open(path, cap=gdp(1), unit="plane", neighbors="add_remove")


def other_program(path):
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("CREATE TABLE theirs (a)")


def newer(path):
    Ledger.open(path, cap=gdp(1), unit="plane", neighbors="add_remove")
    with closing(sqlite3.connect(path)) as raw:
        raw.execute(f"PRAGMA user_version = {VERSION + 1}")


@pytest.mark.parametrize(
    ("make", "error", "word"),
    [
        (Path.mkdir, LedgerUnavailable, "is a directory"),
        (os.mkfifo, LedgerUnavailable, "no regular file"),
        (lambda path: path.write_text("some text " * 100), LedgerCorrupt, "not, or no longer"),
        (lambda path: path.symlink_to(path), LedgerUnavailable, "could not be|looked up"),
        (lambda path: path.symlink_to("no/where"), LedgerUnavailable, "does not exist"),
        (other_program, LedgerCorrupt, "no ledger; write another path"),
        (newer, LedgerUnavailable, f"has format {VERSION + 1}.*upgrade"),
    ],
)
def test_what_is_no_ledger_is_refused_and_left_alone(opened, tmp_path, make, error, word):
    path = tmp_path / "budget.ledger"
    make(path)
    before = path.read_bytes() if path.is_file() else None
    for attempt in (opened, lambda: Ledger.existing(path)):
        with pytest.raises(error, match=word) as refusal:
            attempt()
        assert refusal.value.__context__ is None
    assert before is None or path.read_bytes() == before


def test_missing_places_are_refused(tmp_path):
    with pytest.raises(LedgerUnavailable, match="does not exist; make it first"):
        Ledger.existing(tmp_path / "no" / "b")
    with pytest.raises(LedgerUnavailable, match=r"there is no ledger at '.*b'; write the path"):
        Ledger.existing(tmp_path / "b")
    with pytest.raises(LedgerUnavailable, match="cannot be looked up"):
        Ledger.existing(tmp_path / ("x" * 300))
    assert list(tmp_path.iterdir()) == []


def test_an_empty_file_becomes_a_ledger_only_when_opened(opened, tmp_path):
    path = tmp_path / "budget.ledger"
    path.touch()
    assert not store_of(path).exists()
    with pytest.raises(LedgerCorrupt, match="opening row"):
        Ledger.existing(path)
    assert opened().answer("q", [1]).values == (1,)
    assert store_of(path).exists()


def test_odd_names_are_names(opened, tmp_path):
    for name in ("a b", "q?mode=memory", "100%41", "#hash", "größe", "-wal"):
        assert opened(path=tmp_path / name).answer("q", [1]).values == (1,)
        assert (tmp_path / name).is_file()


def test_a_link_leads_to_the_ledger(opened, tmp_path):
    desk = opened()
    (tmp_path / "link").symlink_to(desk.ledger.store.path)
    assert Ledger.existing(tmp_path / "link") == desk.ledger


def test_the_file_keeps_the_promised_modes(opened):
    seen = {}

    class Spy(sqlite3.Connection):
        def close(self):
            for name in ("journal_mode", "synchronous", "wal_autocheckpoint"):
                seen[name] = self.execute(f"PRAGMA {name}").fetchone()[0]
            super().close()

    desk = opened()
    connect = sqlite3.connect
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sqlite3, "connect", lambda *a, **k: connect(*a, factory=Spy, **k))
        desk.reserve("q")
    assert seen == {"journal_mode": "wal", "synchronous": 2, "wal_autocheckpoint": 0}


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE events SET cost = '1/1000'",
        "UPDATE meta SET capacity = '100'",
        "DELETE FROM events",
        "DELETE FROM meta",
        "INSERT OR REPLACE INTO events SELECT * FROM events",
        "REPLACE INTO events SELECT 9, event, entry || '9', kind, '1/1000', payload, at, digest "
        "FROM events WHERE kind = 'reserve'",
        "REPLACE INTO events SELECT 9, replace(event, substr(event, 1, 1), 'x'), entry, kind, "
        "'1/1000', payload, at, digest FROM events WHERE kind = 'reserve'",
        "INSERT OR REPLACE INTO meta SELECT * FROM meta",
        f"INSERT INTO events VALUES (9, 'e', 'new', 'reserve', '1', '{{}}', '', '{'d' * 64}')",
        f"INSERT INTO events VALUES (9, '{'e' * 32}', 'new', 'reserve', '1', '{{}}', '', 'd')",
        f"INSERT INTO events VALUES (9, '{'e' * 32}', 'new', 'commit', "
        f"NULL, '{{}}', '', '{'d' * 64}')",
        f"INSERT INTO events VALUES (9, '{'e' * 32}', 'q', 'reserve', "
        f"'1', '{{}}', '', '{'d' * 64}')",
        f"INSERT INTO events VALUES (9, '{'e' * 32}', 'q', 'refund', "
        f"NULL, '{{}}', '', '{'d' * 64}')",
    ],
)
def test_the_file_is_append_only(opened, statement):
    desk = opened()
    desk.answer("q")
    with (
        closing(sqlite3.connect(desk.ledger.store.path)) as raw,
        pytest.raises(sqlite3.IntegrityError),
    ):
        raw.execute(statement)
    assert desk.ledger.spent() == Fraction(1, 100)
    assert desk.ledger.check() == ()


@pytest.mark.parametrize(
    ("statement", "finding"),
    [
        ("DROP TRIGGER events_delete", "events_delete is missing or altered"),
        ("DROP INDEX events_once", "events_once is missing or altered"),
        ("UPDATE events SET cost = '2' WHERE kind = 'reserve'", "above the capacity"),
        ("UPDATE events SET cost = '1/101' WHERE kind = 'reserve'", "was charged .* costs 0.01"),
        ("UPDATE events SET cost = 'x' WHERE kind = 'reserve'", "no fraction"),
        ("UPDATE events SET cost = '1/0' WHERE kind = 'reserve'", "no fraction"),
        ("UPDATE events SET payload = '{' WHERE kind = 'reserve'", "record of 'q'"),
        ("UPDATE events SET payload = '{}' WHERE kind = 'reserve'", "request of 'q'"),
        ("UPDATE events SET payload = '[1]' WHERE kind = 'reserve'", "record of 'q'"),
        ("UPDATE events SET payload = '{\"values\":[1.5]}' WHERE kind = 'commit'", "values of 'q'"),
        ("DELETE FROM events WHERE kind = 'reserve'", "'q' has an event before, or without"),
        ("UPDATE meta SET capacity = '2'", "exceeds cap"),
        ("UPDATE meta SET capacity = '-1'", "none that a ledger writes"),
        ("UPDATE meta SET account = 'rho'", "none that a ledger writes"),
    ],
)
def test_check_finds_what_is_wrong(opened, home, statement, finding):
    desk = opened()
    desk.answer("q")
    assert desk.ledger.check() == ()
    if statement.startswith("DROP"):
        with closing(sqlite3.connect(desk.ledger.store.path)) as raw:
            raw.execute(statement)
    else:
        home.tamper(desk.ledger, statement)
    findings = desk.ledger.check()
    assert any(re.search(finding, found) for found in findings), findings


@pytest.mark.parametrize(
    ("statement", "call"),
    [
        ("UPDATE events SET payload = '{' WHERE kind = 'reserve'", lambda d: d.ledger.entries()),
        ("UPDATE events SET payload = '{' WHERE kind = 'reserve'", lambda d: d.reserve("q")),
        ("UPDATE events SET payload = '{' WHERE kind = 'commit'", lambda d: d.reserve("q")),
        ("UPDATE events SET payload = '[' WHERE kind = 'commit'", lambda d: d.ledger.entries()),
        ("UPDATE events SET cost = '0.01' WHERE kind = 'reserve'", lambda d: d.ledger.spent()),
        ("UPDATE events SET cost = 'x' WHERE kind = 'reserve'", lambda d: d.reserve("new")),
        ("UPDATE events SET cost = CAST(x'ff' AS TEXT) WHERE cost IS NOT NULL", lambda d: d.costs),
        ("UPDATE meta SET cap = 'x'", lambda d: Ledger.existing(d.ledger.store.path)),
        ("UPDATE meta SET neighbors = 'x'", lambda d: Ledger.existing(d.ledger.store.path)),
        ("DELETE FROM meta", lambda d: d.ledger.spent()),
        ("DROP TABLE events", lambda d: d.ledger.spent()),
        ("DROP TABLE meta", lambda d: d.ledger.spent()),
    ],
)
def test_a_garbled_file_is_said_to_be_one(opened, home, statement, call):
    desk = opened()
    desk.answer("q")
    if "DROP" in statement:
        with closing(sqlite3.connect(desk.ledger.store.path)) as raw:
            raw.execute(statement)
    else:
        home.tamper(desk.ledger, statement)
    with pytest.raises(LedgerCorrupt, match=r"backup|check") as refusal:
        call(desk)
    assert refusal.value.__context__ is None
    assert refusal.value.__cause__ is None


def test_damaged_pages_are_said_to_be_damaged(opened):
    desk = opened()
    for number in range(30):
        desk.answer(f"{number}")
    size = desk.ledger.store.path.stat().st_size
    assert size > 4096 * 4
    for page in range(1, size // 4096):
        whole = desk.ledger.store.path.read_bytes()
        desk.ledger.store.path.write_bytes(
            whole[: page * 4096] + bytes([0xFF]) * 4096 + whole[(page + 1) * 4096 :]
        )
        refused = None
        try:
            findings = desk.ledger.check()
        except NeymanError as error:
            refused = error
        assert findings if refused is None else refused.__context__ is None
        desk.ledger.store.path.write_bytes(whole)
    assert desk.ledger.check() == ()


def test_a_replaced_file_is_noticed(opened, tmp_path):
    desk = opened()
    other = opened(path=tmp_path / "other").ledger
    other.store.path.replace(desk.ledger.store.path)
    with pytest.raises(LedgerMismatch, match="was replaced"):
        desk.reserve("q")


def test_a_deleted_file_is_not_made_again(opened):
    desk = opened()
    desk.ledger.store.path.unlink()
    with pytest.raises(LedgerUnavailable, match="there is no ledger at"):
        desk.reserve("q")
    with pytest.raises(LedgerUnavailable, match="there is no ledger at"):
        desk.ledger.turn("q")
    assert list(desk.ledger.store.path.parent.iterdir()) == []


def test_a_held_lock_is_waited_for_and_then_named(opened, monkeypatch):
    desk = opened()
    monkeypatch.setattr(_sqlite, "_PATIENCE_S", 0.2)
    with closing(sqlite3.connect(desk.ledger.store.path, isolation_level=None)) as raw:
        raw.execute("BEGIN IMMEDIATE")
        with pytest.raises(LedgerUnavailable, match="locked by another process") as refusal:
            desk.reserve("q")
        assert refusal.value.__context__ is None
        # Readers need not wait for a writer.
        assert desk.ledger.spent() == 0
    assert desk.answer("q", [1]).values == (1,)


def test_the_disk_is_full(spawn, opened):
    """A limit on file sizes makes every write fail as a full disk does."""
    desk = opened()
    desk.answer("before")

    def crowded(report):
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        reservation = desk.reserve("reserved before")
        for name, call in {
            "reserve": lambda: desk.reserve("q"),
            "commit": lambda: desk.ledger.commit(reservation, [7]),
        }.items():
            resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
            try:
                call()
            except LedgerUnavailable as error:
                report([name, str(error), str(error.__context__)])
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    reports, status = spawn(crowded).finish()
    assert status == 0
    (name, text, context), (other, said, other_context) = reports
    assert (name, other, context, other_context) == ("reserve", "commit", "None", "None")
    assert "Nothing was drawn" in text
    assert "stays charged and its values were not revealed" in said
    states = {entry.id: entry.state for entry in desk.ledger.entries()}
    assert states == {"before": "committed", "reserved before": "reserved"}
    assert desk.ledger.check() == ()


@contextmanager
def read_only(opened, locked):
    """A ledger with one entry, whose file or directory an ordinary user cannot write."""
    home = Path(tempfile.mkdtemp())
    try:
        desk = opened(path=home / "b")
        desk.answer("q", [7])
        desk.ledger.store.path.chmod(0o444 if locked == "the file" else 0o666)
        home.chmod(0o777 if locked == "the file" else 0o555)
        yield desk
    finally:
        home.chmod(0o777)
        shutil.rmtree(home)


def as_nobody(spawn, calls):
    """Return what each call says to an ordinary user: its result, or its refusal."""

    def work(report):
        if os.getuid() == 0:
            os.setuid(65534)
        for call in calls:
            try:
                report(repr(call()))
            except LedgerUnavailable as error:
                report(f"{error} {error.__context__}")

    reports, status = spawn(work).finish()
    assert status == 0, reports
    return reports


@pytest.mark.parametrize("locked", ["the file", "the directory"])
def test_a_read_only_copy_may_be_looked_at_and_not_charged(spawn, opened, locked):
    with read_only(opened, locked) as desk:
        before = {p: p.read_bytes() for p in desk.ledger.store.path.parent.iterdir()}
        same, spent, found, *refused = as_nobody(
            spawn,
            [
                lambda: Ledger.existing(desk.ledger.store.path) == desk.ledger,
                lambda: str(desk.ledger.spent()),
                desk.ledger.check,
                lambda: desk.reserve("q"),
                lambda: desk.reserve("r"),
                lambda: opened(path=desk.ledger.store.path),
            ],
        )
        assert (same, spent, found) == ("True", "'1/100'", "()")
        assert len(refused) == 3
        assert all("which is read-only for this user. Nothing was" in text for text in refused)
        assert all(text.endswith("None") for text in refused)
        assert {p: p.read_bytes() for p in desk.ledger.store.path.parent.iterdir()} == before


def test_a_read_only_copy_with_a_log_is_refused(spawn, opened):
    with read_only(opened, "the file") as desk:
        log = desk.ledger.store.path.with_name("b-wal")
        log.touch()
        looks = [lambda: Ledger.existing(desk.ledger.store.path) == desk.ledger]
        assert as_nobody(spawn, looks) == ["True"]
        log.write_bytes(b"entries")
        (text,) = as_nobody(spawn, looks)
        assert "-wal with newer entries" in text


def test_a_copy_that_changes_while_it_is_read_is_refused(opened, monkeypatch):
    desk = opened()
    monkeypatch.setattr(_sqlite, "unwritable", lambda path: path)
    assert Ledger.existing(desk.ledger.store.path) == desk.ledger
    versions = iter([(1,), (2,)])
    monkeypatch.setattr(_sqlite, "_version", lambda _: next(versions))
    with pytest.raises(LedgerUnavailable, match="changed while it was read"):
        Ledger.existing(desk.ledger.store.path)


def test_a_reader_of_an_empty_file_is_waited_for(opened, tmp_path, monkeypatch):
    path = tmp_path / "budget.ledger"
    with closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as raw:
        raw.execute("BEGIN")
        raw.execute("SELECT * FROM sqlite_master").fetchall()
        monkeypatch.setattr(_sqlite, "_PATIENCE_S", 0.1)
        with pytest.raises(LedgerUnavailable, match="locked by another process"):
            opened()
        monkeypatch.setattr(_sqlite, "_PATIENCE_S", 30.0)
        done = threading.Timer(0.3, raw.execute, ["COMMIT"])
        done.start()
        assert opened().answer("q", [1]).values == (1,)
        done.join()


def test_a_second_name_of_the_file_is_refused_for_its_log_has_only_one(opened):
    """SQLite names the log after the path: under another name the last charges are missing."""
    desk = opened()
    desk.answer("q", curve=gdp(0.1))
    twin = desk.ledger.store.path.with_name("twin.ledger")
    twin.hardlink_to(desk.ledger.store.path)
    for path in (twin, desk.ledger.store.path):
        with pytest.raises(LedgerUnavailable, match="second name"):
            Ledger.existing(path)
    with pytest.raises(LedgerUnavailable, match="second name"):
        desk.answer("r", curve=gdp(0.1))
    twin.unlink()
    assert desk.ledger.spent() == gdp(0.1).outer_gaussian()
