"""A limit of memory, and where rows go that it does not hold."""

import stat
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from neyman.errors import EngineFailure, InvalidParameter, InvalidTable
from neyman.tables import Entity, ForeignKey, Rows, open_table
from neyman.tables._engines import _duckdb_session
from neyman.tables._engines._duckdb_session import private_session
from neyman.tables._engines._room import Room
from neyman.tables._sources import _frames


@pytest.fixture
def settings(monkeypatch):
    """The settings of each private connection that is opened."""
    seen = []
    connect = duckdb.connect

    def noted(*arguments, **named):
        seen.append(dict(named["config"]))
        return connect(*arguments, **named)

    monkeypatch.setattr(_duckdb_session.duckdb, "connect", noted)
    return seen


@pytest.mark.parametrize(
    ("said", "size"),
    [
        ("2GB", 2 * 10**9),
        ("2 GB", 2 * 10**9),
        ("1.5GiB", 3 * 2**29),
        ("500MB", 500 * 10**6),
        ("512MiB", 2**29),
        ("0.1TB", 10**11),
        ("700000KB", 7 * 10**8),
    ],
)
def test_sizes(said, size):
    assert Room.of(said, None).limit == size


@pytest.mark.parametrize(
    "wrong",
    [
        "2",
        "2G",
        "GB",
        "80%",
        "2gb",
        "-2GB",
        "1e3GB",
        "2GB;",
        "0GB",
        "499MB",
        "1.GB",
        ".5GB",
        "٢GB",
        "9999999999TB",
        "2  GB",
        " 2GB",
        "2GB\n",
        "",
        "2GB; SET x = 1",
        2,
        2.5,
        True,
        b"2GB",
    ],
)
def test_no_sizes(wrong):
    with pytest.raises(InvalidParameter, match=r"memory_limit=.*write"):
        open_table(pa.table({"x": [1]}), unit=Rows(), name="d", memory_limit=wrong)


@pytest.mark.parametrize("kind", ["missing", "file", "nul", 3])
def test_no_folders(tmp_path, kind):
    (tmp_path / "file").touch()
    wrong = {"nul": "a\0b", 3: 3}.get(kind, tmp_path / str(kind))
    with pytest.raises(InvalidParameter, match="temporary_directory="):
        open_table(pa.table({"x": [1]}), unit=Rows(), name="d", temporary_directory=wrong)


def sources(folder: Path):
    table = pa.table({"who": ["a", "b", "b"], "x": [1, 2, 3]})
    pq.write_table(table, folder / "d.parquet")
    table.to_pandas().to_csv(folder / "d.csv", index=False)
    frame = table.to_pandas()
    return [(folder / "d.parquet", None), (folder / "d.csv", None), (table, "d"), (frame, "d")]


@pytest.mark.shows("memory-limit")
def test_every_question_of_files_and_frames_is_held_to_it(tmp_path, settings):
    unit = Entity("who", max_rows=1)
    for source, name in sources(tmp_path):
        for limit, counted in (("2GB", f"{153 * 10**7}B"), ("500MB", f"{255 * 10**6}B")):
            table = open_table(source, unit=unit, name=name, memory_limit=limit)
            settings.clear()
            assert table.count().compute().tolist() == [2]
            assert [each["memory_limit"] for each in settings] == [counted]
        table = open_table(source, unit=unit, name=name)
        settings.clear()
        assert table.count().compute().tolist() == [2]
        assert "memory_limit" not in settings[0]


def test_a_limit_makes_no_other_question(tmp_path):
    path, _ = sources(tmp_path)[0]
    plain = open_table(path, unit=Rows()).count()
    limited = open_table(
        path, unit=Rows(), memory_limit="2GB", temporary_directory=tmp_path
    ).count()
    assert limited.query == plain.query
    assert limited.source == plain.source


def test_a_join_takes_the_smaller_limit(tmp_path, settings):
    path, _ = sources(tmp_path)[0]
    owners = pa.table({"key": [1, 2, 3], "owner": ["a", "b", "b"]})
    unit = Entity(ForeignKey({"x": "key"}, owners, owner="owner", name="o"), max_rows=1)
    table = open_table(path, unit=unit, memory_limit="1GB", temporary_directory=tmp_path)
    settings.clear()
    assert table.count().compute().tolist() == [2]
    (held,) = settings
    assert held["memory_limit"] == f"{68 * 10**7}B"
    assert Path(held["temp_directory"]).parent == tmp_path
    assert Room(5, None).beside(Room(3, "a")) == Room(3, "a")
    assert Room(None, "b").beside(Room(None, "a")) == Room(None, "b")


def test_what_is_spilled_is_the_users_alone_and_goes_away(tmp_path):
    # 60 MB by DuckDB's count: less than may be asked for.
    room = Room(2 * 10**8 + 60 * 10**8 // 85, str(tmp_path))
    with private_session(room) as connection:
        (folder,) = tmp_path.iterdir()
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        connection.execute("CREATE TABLE t AS SELECT md5(i::VARCHAR) AS x FROM range(2000000) s(i)")
        assert any(folder.rglob("*"))
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_left_by_questions(tmp_path, monkeypatch):
    # DuckDB's own choice would be .tmp here.
    monkeypatch.chdir(tmp_path)
    spilled = tmp_path / "spilled"
    spilled.mkdir()
    for source, name in sources(tmp_path):
        before = sorted(tmp_path.rglob("*"))
        table = open_table(source, unit=Rows(), name=name, temporary_directory="spilled")
        assert table.count().compute().tolist() == [3]
        assert sorted(tmp_path.rglob("*")) == before
        with suppress(FileNotFoundError):
            spilled.rmdir()
        with pytest.raises(EngineFailure):
            table.count().compute()
        spilled.mkdir()


def test_a_connections_room_is_its_own(tmp_path):
    connection = duckdb.connect()
    connection.execute("CREATE TABLE t AS SELECT 1 AS x")
    for given in ({"memory_limit": "2GB"}, {"temporary_directory": tmp_path}):
        with pytest.raises(InvalidTable, match="SET memory_limit"):
            open_table((connection, "t"), unit=Rows(), name="d", **given)


@pytest.mark.shows("versions")
def test_a_private_connection_reads_nothing_but_its_file(tmp_path):
    for name in ("asked", "other"):
        pq.write_table(pa.table({"x": [1, 2]}), tmp_path / f"{name}.parquet")
    (tmp_path / "rows.csv").write_text("x\n1\n")
    here = pa.table({"x": [3]})
    asked = f"FROM '{tmp_path}/asked.parquet'"
    with private_session(Room(), [f"{tmp_path}/asked.parquet"]) as connection:
        assert connection.execute(f"SELECT sum(x) {asked}").fetchall() == [(3,)]
        for closed in (
            f"FROM '{tmp_path}/other.parquet'",
            f"FROM read_csv('{tmp_path}/rows.csv')",
            f"FROM '{tmp_path}/*.parquet'",
            f"FROM read_text('{tmp_path}/rows.csv')",
            f"COPY (SELECT 1) TO '{tmp_path}/out.csv'",
            f"ATTACH '{tmp_path}/new.duckdb' AS o",
            "FROM 'https://example.org/a.parquet'",
            "FROM here",
            "INSTALL httpfs",
            "LOAD httpfs",
            "SET enable_external_access = true",
            "SET allowed_paths = ['/']",
            "SET python_enable_replacements = true",
            "SET lock_configuration = false",
            "RESET lock_configuration",
        ):
            with pytest.raises(duckdb.Error):
                connection.execute(closed)
        # What Python hands over is read.
        connection.register("handed", here)
        assert connection.execute("FROM handed").fetchall() == [(3,)]
    assert not (tmp_path / "out.csv").exists()


def test_a_setting_that_duckdb_refuses_is_said_and_not_taken_for_a_broken_table(monkeypatch):
    _frames._described.cache_clear()
    monkeypatch.setitem(_duckdb_session._CLOSED, "memory_limit", "seven")
    with pytest.raises(InvalidTable, match=r"Memory must have a number .*neyman\[tables\]"):
        open_table(pa.table({"x": [1]}), unit=Rows(), name="d")


def test_a_setting_refused_once_the_question_runs_is_said_too(monkeypatch):
    table = open_table(pa.table({"x": [1]}), unit=Rows(), name="d")
    monkeypatch.setitem(_duckdb_session._CLOSED, "memory_limit", "seven")
    with pytest.raises(EngineFailure, match=r"Memory must have a number .*stays charged"):
        table.count().compute()


def test_a_progress_bar_is_turned_off_on_private_connections_and_on_ones_own():
    # As DuckDB takes it, a program without a file is someone typing, who gets a bar.
    program = """
import duckdb
from neyman.tables._engines._duckdb_session import own_session, private_session
from neyman.tables._engines._room import Room

def bar(connection):
    return connection.execute("SELECT current_setting('enable_progress_bar')").fetchone()[0]

host = duckdb.connect()
with private_session(Room()) as private, own_session(host) as own:
    print(bar(host), bar(private), bar(own))
print(bar(host))
"""
    found = subprocess.run(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, check=True, timeout=300
    )
    assert found.stdout == "True False False\nTrue\n"
