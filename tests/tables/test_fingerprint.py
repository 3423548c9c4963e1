"""A fingerprint is kept only where the file cannot have changed; else it is taken again."""

import hashlib
import mmap
import os
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from neyman import Rows, open_table
from neyman.errors import EngineFailure
from neyman.tables import Entity
from neyman.tables._engines._duckdb_engine import DuckDB
from neyman.tables._sources import _fingerprint
from neyman.tables._sources._fingerprint import opened_file

CHANGED = "the file has changed since the table was opened"


def write(path: Path, *rows: int) -> Path:
    """Write as many bytes for as many rows of one digit."""
    if path.suffix == ".csv":
        path.write_text("x\n" + "".join(f"{row}\n" for row in rows))
    else:
        pq.write_table(pa.table({"x": rows}), path)
    return path


def rewrite(path: Path, *rows: int) -> None:
    """Write other rows in place, as many bytes, and set the time of the last writing back."""
    before = path.stat()
    held = path.read_bytes()
    other = write(path.with_name(f"other{path.suffix}"), *rows).read_bytes()
    assert len(other) == len(held)
    with path.open("r+b") as file:
        file.write(other)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    after = path.stat()
    assert (after.st_ino, after.st_size, after.st_mtime_ns) == (
        before.st_ino,
        before.st_size,
        before.st_mtime_ns,
    )


@pytest.fixture
def read(monkeypatch) -> list[int]:
    """Return a list that grows by each file that is read for its fingerprint."""
    found: list[int] = []
    real = _fingerprint._digest
    monkeypatch.setattr(_fingerprint, "_digest", lambda *a: found.append(1) or real(*a))
    return found


def later(monkeypatch, seconds: float) -> None:
    """Let so much time pass for what looks at the clock."""
    real = time.time_ns
    monkeypatch.setattr(_fingerprint.time, "time_ns", lambda: real() + int(seconds * 1_000_000_000))


def local(monkeypatch, tells: bool = True) -> None:
    """Take the file system of the tests, whatever it is, for one that tells of every change."""
    monkeypatch.setattr(_fingerprint, "_tells_changes", lambda _: tells)


def test_an_old_file_is_read_for_its_fingerprint_once(tmp_path, monkeypatch, read):
    local(monkeypatch)
    write(tmp_path / "d.parquet", 1)
    later(monkeypatch, 3)
    table = open_table(tmp_path / "d.parquet", unit=Entity("x", max_rows=1))
    assert read == []
    first = table.count()
    assert first.source == table.bounded(2, 2).count().source == table.where("x > 0").count().source
    assert first.compute().tolist() == [1]
    assert read == [1]


def test_a_new_file_is_read_again_until_it_is_old(tmp_path, monkeypatch, read):
    """It may have changed within the same tick of the file system's clock."""
    local(monkeypatch)
    table = open_table(write(tmp_path / "d.parquet", 1), unit=Rows())
    source = table.count().source
    assert len(read) == 1
    assert table.count().compute().tolist() == [1]
    # The question's own, before the statement and after it.
    assert len(read) == 4
    later(monkeypatch, 3)
    assert table.count().source == source
    assert len(read) == 5
    assert table.count().compute().tolist() == [1]
    assert len(read) == 5


def test_a_file_system_that_may_hide_a_change_has_it_read_for_each_question(
    tmp_path, monkeypatch, read
):
    local(monkeypatch, tells=False)
    write(tmp_path / "d.parquet", 1)
    later(monkeypatch, 3)
    table = open_table(tmp_path / "d.parquet", unit=Rows())
    for asked in range(1, 4):
        table.count().compute()
        assert len(read) == asked


def test_a_file_that_cannot_be_flushed_is_read_for_each_question(tmp_path, monkeypatch, read):
    def refuse(_: int) -> None:
        raise OSError(30, "Read-only file system")

    local(monkeypatch)
    monkeypatch.setattr(os, "fsync", refuse)
    table = open_table(write(tmp_path / "d.parquet", 1), unit=Rows())
    later(monkeypatch, 3)
    table.count()
    table.count()
    assert len(read) == 2


@pytest.mark.parametrize("tells", [True, False])
@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
def test_a_rewritten_file_of_the_same_size_and_time_is_found(tmp_path, monkeypatch, suffix, tells):
    local(monkeypatch, tells)
    path = write(tmp_path / f"d{suffix}", 1, 2)
    later(monkeypatch, 3)
    table = open_table(path, unit=Rows())
    asked = table.count()
    rewrite(path, 3, 4)
    with pytest.raises(EngineFailure, match=CHANGED) as failed:
        asked.compute()
    assert failed.value.__context__ is None
    with pytest.raises(EngineFailure, match=CHANGED):
        table.count()
    assert open_table(path, unit=Rows()).count().source != asked.source


def test_a_file_rewritten_within_one_tick_is_found(tmp_path, monkeypatch):
    """All that the file system says is the same: the bytes tell."""
    path = write(tmp_path / "d.csv", 1, 2)
    stamp = _fingerprint._stamp(str(path.resolve()))
    monkeypatch.setattr(_fingerprint, "_stamp", lambda _: stamp)
    monkeypatch.setattr(_fingerprint, "_stamp_of", lambda _: stamp)
    local(monkeypatch)
    table = open_table(path, unit=Rows())
    asked = table.count()
    path.write_text("x\n3\n4\n")
    with pytest.raises(EngineFailure, match=CHANGED):
        asked.compute()
    with pytest.raises(EngineFailure, match=CHANGED):
        table.count()


@pytest.mark.parametrize("change", ["rewritten", "replaced"])
@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
def test_a_file_that_changes_during_the_statement_is_found(tmp_path, monkeypatch, suffix, change):
    local(monkeypatch)
    path = write(tmp_path / f"d{suffix}", 1, 2)
    later(monkeypatch, 3)
    asked = open_table(path, unit=Rows()).count()
    real = DuckDB.read

    def meanwhile(engine, statement):
        found = real(engine, statement)
        if change == "rewritten":
            rewrite(path, 3, 4)
        else:
            write(tmp_path / f"new{suffix}", 3, 4).rename(path)
        return found

    monkeypatch.setattr(DuckDB, "read", meanwhile)
    with pytest.raises(EngineFailure, match=CHANGED):
        asked.compute()


def test_a_file_that_is_put_back_after_the_statement_is_found(tmp_path, monkeypatch):
    local(monkeypatch)
    path = write(tmp_path / "d.csv", 1, 2)
    later(monkeypatch, 3)
    asked = open_table(path, unit=Rows()).count()
    real = DuckDB.read

    def meanwhile(engine, statement):
        path.rename(tmp_path / "aside")
        write(path, 3, 4)
        found = real(engine, statement)
        (tmp_path / "aside").rename(path)
        return found

    monkeypatch.setattr(DuckDB, "read", meanwhile)
    with pytest.raises(EngineFailure, match=CHANGED):
        asked.compute()


def test_a_write_through_a_memory_map_changes_the_time_where_the_fingerprint_is_kept(
    tmp_path, monkeypatch
):
    """The page was written to before, and would not tell, had it not been put on the disk."""
    path = write(tmp_path / "d.csv", 1, 2).resolve()
    if not _fingerprint._tells_changes(path.stat().st_dev):
        pytest.skip("the tests' file system may hide a change: there the file is read again")
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0) as mapped:
        mapped[2] = ord("3")
        later(monkeypatch, 3)
        opened = opened_file(path)
        assert opened.identity.startswith("sha256:")
        assert opened.seen[0].kept
        time.sleep(0.02)
        mapped[2] = ord("4")
        with pytest.raises(EngineFailure, match=CHANGED):
            opened.check()


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 16, 29, 64])
def test_a_fingerprint_is_of_every_byte_in_its_place(tmp_path, monkeypatch, size):
    """Pieces of 8 bytes, read by 4."""
    monkeypatch.setattr(_fingerprint, "_PIECE", 8)
    monkeypatch.setattr(_fingerprint, "_READ", 4)
    path = tmp_path / "d.csv"
    whole = bytes(range(size))
    others = [whole[:i] + b"\xff" + whole[i + 1 :] for i in range(size)]
    others += [whole + b"\0", whole[8:] + whole[:8]] if size > 8 else [whole + b"\0"]
    found: set[str] = set()
    for content in dict.fromkeys((whole, *others)):
        path.write_bytes(content)
        found.add(opened_file(path).identity)
    assert len(found) == len({whole, *others})
    path.write_bytes(whole)
    pieces = [hashlib.sha256(whole[i : i + 8]).digest() for i in range(0, size, 8)]
    by_hand = hashlib.sha256(size.to_bytes(8, "big") + b"".join(pieces)).hexdigest()
    assert opened_file(path).identity == f"sha256:{by_hand}"


@pytest.mark.parametrize(
    ("kinds", "tells"),
    [
        (["ext4"], True),
        (["xfs"], True),
        (["nfs4"], False),
        (["tmpfs"], False),
        (["overlay"], False),
        (["ext4", "fuse.sshfs"], False),
        ([], False),
    ],
)
def test_only_local_file_systems_that_are_known_tell_of_every_change(
    tmp_path, monkeypatch, kinds, tells
):
    device = os.makedev(8, 17)
    lines = ["22 1 8:1 / / rw - btrfs /dev/sda1 rw"]
    lines += [
        f"{30 + i} 22 8:17 / /data rw,x - {kind} /dev/sdb1 rw" for i, kind in enumerate(kinds)
    ]
    (tmp_path / "mounts").write_text("\n".join(lines) + "\n")
    monkeypatch.setattr(_fingerprint, "_MOUNTS", tmp_path / "mounts")
    monkeypatch.setattr(_fingerprint.sys, "platform", "linux")
    assert _fingerprint._tells_changes(device) is tells
    monkeypatch.setattr(_fingerprint.sys, "platform", "darwin")
    assert not _fingerprint._tells_changes(device)
