"""Several files as one table: lists, patterns and folders whose names are columns."""

import time
from datetime import date

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neyman as ny
from neyman.errors import EngineFailure, InvalidTable
from neyman.publish import plan, read_spec
from neyman.tables import Bounds, Entity, Keys, Rows, open_table

YEARS = {2024: ["a", "a", "b"], 2025: ["b", "c"]}


@pytest.fixture
def visits(tmp_path):
    """Two years, a folder for each."""
    for year, who in YEARS.items():
        folder = tmp_path / "visits" / f"year={year}"
        folder.mkdir(parents=True)
        rows = pa.table({"who": who, "x": [float(i) for i in range(len(who))]})
        pq.write_table(rows, folder / "part.parquet")
    (tmp_path / "visits" / "_SUCCESS").write_text("")
    (tmp_path / "visits" / "read me.txt").write_text("not a table")
    return tmp_path / "visits"


def counts(source, by=None, unit=Rows()):  # noqa: B008
    return open_table(source, unit=unit).count(by).compute().tolist()


def test_a_list_is_one_table(visits):
    parts = [visits / "year=2024/part.parquet", str(visits / "year=2025/part.parquet")]
    assert counts(parts) == [5]
    assert counts(parts, unit=Entity("who", max_rows=1)) == [3]
    table = open_table(parts, unit=Rows(), bounds={"x": Bounds(0, 9, grid=1)})
    assert table.sum("x").compute().tolist() == [4]


@pytest.mark.shows("several-files")
@pytest.mark.parametrize("given", ["", "year=*", "*/part.parquet", "**/*.parquet"])
def test_folders_and_patterns_have_columns_of_their_names(visits, given):
    by_year = Keys({"year": [2024, 2025, 2026]})
    assert counts(visits / given, by_year) == [3, 2, 0]
    assert counts(str(visits / given), by_year) == [3, 2, 0]


def test_one_folder_has_its_own_name_as_a_column(visits):
    table = open_table(visits / "year=2025", unit=Entity("who", max_rows=9))
    assert table.count(Keys({"year": [2024, 2025]})).compute().tolist() == [0, 2]
    assert table.where("year = 2025 and x > 0").count().compute().tolist() == [1]


def test_a_path_of_one_file_is_that_file(visits):
    file = visits / "year=2025" / "part.parquet"
    assert open_table(file, unit=Rows()).view.schema.names == ["who", "x"]
    alone = open_table([file], unit=Rows()).view.schema.names
    assert alone == ["who", "x", "year"]


@pytest.mark.parametrize(
    ("names", "keys", "expected"),
    [
        (["day=2024-01-31", "day=2024-02-01"], [date(2024, 1, 31)], [1]),
        (["ward=n%2Fs", "ward=7"], ["n/s", "7"], [1, 1]),
        (["ward=a", "ward=__HIVE_DEFAULT_PARTITION__"], ["a", None], [1, 1]),
        (["code=01", "code=2"], ["01", "2"], [1, 1]),
    ],
)
def test_types_of_folders(tmp_path, names, keys, expected):
    for name in names:
        (tmp_path / name).mkdir()
        pq.write_table(pa.table({"x": [1]}), tmp_path / name / "a.parquet")
    assert counts(tmp_path, Keys({names[0].partition("=")[0]: keys})) == expected


def test_csv_files_are_one_table(tmp_path):
    (tmp_path / "a.csv").write_text("who,ward\n1,north\n2,south\n")
    (tmp_path / "b.csv").write_text("ward,who\nnorth,1\n")
    assert counts(tmp_path, Keys({"ward": ["north", "south"]})) == [2, 1]
    assert counts(str(tmp_path / "*.csv"), unit=Entity("who", max_rows=9)) == [3]


def test_broken_text_of_one_file_is_mended(tmp_path):
    rows = pa.array([b"ok", b"\xff"], pa.binary()).view(pa.string())
    pq.write_table(pa.table({"g": rows}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"g": ["ok"]}), tmp_path / "b.parquet")
    assert counts(tmp_path, Keys({"g": ["ok", None]})) == [2, 1]


def test_a_broken_text_moves_one_unit_where_columns_come_in_another_order(tmp_path):
    pq.write_table(pa.table({"who": ["p1"], "ward": ["x"]}), tmp_path / "a.parquet")
    whole = [f"p{i}".encode() for i in range(50)]
    for broken, units in ([], 50), ([b"\xff"], 50):
        who = pa.array([*whole, *broken], pa.binary()).view(pa.string())
        table = pa.table({"ward": ["x"] * len(who), "who": who})
        pq.write_table(table, tmp_path / "b.parquet")
        assert counts(tmp_path, unit=Entity("who", max_rows=1)) == [units]
        assert counts(tmp_path, Keys({"ward": ["x"]})) == [51 + len(broken)]


@pytest.mark.parametrize("unit", ["ms", "us"])
def test_a_timestamp_out_of_range_moves_no_other_in_any_zone(tmp_path, monkeypatch, unit):
    # Far from both ends of a day; 2^62 is out of range in milliseconds, and the least integer is.
    noon = 1704110400 * {"ms": 10**3, "us": 10**6}[unit]
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    try:
        for name, more in ("a", []), ("b", [2**62 if unit == "ms" else -(2**63) + 2]):
            when = pa.array([noon, noon, *more], pa.int64()).cast(pa.timestamp(unit, "UTC"))
            pq.write_table(pa.table({"t": when}), tmp_path / f"{name}.parquet")
        table = open_table(tmp_path, unit=Rows()).with_columns(hour=ny.col("t").hour())
        assert table.count(Keys({"hour": [12, 7, 17]})).compute().tolist() == [4, 0, 0]
    finally:
        monkeypatch.undo()
        time.tzset()


def test_a_folder_may_hold_folders_that_are_called_like_files(tmp_path):
    (tmp_path / "all" / "sub.parquet").mkdir(parents=True)
    for name in ("all/a.parquet", "all/sub.parquet/part-0.parquet"):
        pq.write_table(pa.table({"x": [1]}), tmp_path / name)
    assert counts(tmp_path / "all") == [2]


def test_columns_of_one_name_in_one_file_are_refused(tmp_path):
    pq.write_table(pa.table({"a": [1], "b": [2]}), tmp_path / "a.parquet")
    twice = pa.table([[1], [2], [2]], names=["a", "b", "b"])
    pq.write_table(twice, tmp_path / "b.parquet")
    with pytest.raises(InvalidTable, match="differ at most by case"):
        counts(tmp_path)


@pytest.mark.shows("several-files")
def test_the_same_contents_are_the_same_dataset(visits, tmp_path):
    def identity(source):
        return open_table(source, unit=Rows()).engine.identity

    parts = sorted(map(str, visits.rglob("*.parquet")))
    assert identity(parts) == identity(parts[::-1]) == identity(visits)
    copied = tmp_path / "copy"
    for i, part in enumerate(sorted(visits.rglob("*.parquet"))):
        (copied / part.parent.name).mkdir(parents=True)
        (copied / part.parent.name / f"{i}.parquet").write_bytes(part.read_bytes())
    assert identity(copied) == identity(visits)
    (copied / "year=2024" / "0.parquet").rename(copied / "year=2025" / "0.parquet")
    assert identity(copied) != identity(visits)
    assert identity(visits / "year=2024") != identity(visits)


def test_a_file_that_changes_is_seen(visits):
    table = open_table(visits, unit=Rows())
    question = table.count()
    pq.write_table(pa.table({"who": ["z"], "x": [1.0]}), visits / "year=2024/part.parquet")
    with pytest.raises(EngineFailure, match="has changed since the table was opened"):
        question.compute()


def test_files_are_joined_like_one(visits, tmp_path):
    pq.write_table(pa.table({"who": ["a", "c"], "z": [1, 2]}), tmp_path / "p.parquet")
    table = open_table(visits, unit=Entity("who", max_rows=9))
    joined = table.join(tmp_path / "p.parquet", on="who", how="inner")
    assert joined.count(Keys({"year": [2024, 2025]})).compute().tolist() == [2, 1]
    both = open_table(tmp_path / "p.parquet", unit=Entity("who", max_rows=9))
    again = both.join([*visits.rglob("*.parquet")], on="who", how="inner")
    assert again.count().compute().tolist() == [3]


def test_files_that_are_no_one_table_are_refused(visits, tmp_path):
    first = visits / "year=2024" / "part.parquet"
    for name, rows in {
        "other.parquet": {"who": ["a"], "x": [1]},
        "more.parquet": {"who": ["a"], "x": [1.0], "y": [1]},
    }.items():
        pq.write_table(pa.table(rows), visits / "year=2025" / name)
        with pytest.raises(InvalidTable, match=r"same columns of the same types.*column '[xy]' is"):
            counts(visits)
        (visits / "year=2025" / name).unlink()
    with pytest.raises(InvalidTable, match="each file must be given once"):
        counts([first, first])
    with pytest.raises(InvalidTable, match="each file must be given once"):
        counts([first, visits / "year=2024"])
    (first.parent / "link.parquet").hardlink_to(first)
    with pytest.raises(InvalidTable, match="each file must be given once"):
        counts([first.parent / "link.parquet", first])
    (first.parent / "link.parquet").unlink()
    pq.write_table(pa.table({"who": ["a"], "x": [1.0]}), tmp_path / "flat.parquet")
    with pytest.raises(InvalidTable, match="must lie in folders of the same columns"):
        counts([first, tmp_path / "flat.parquet"])
    (tmp_path / "t.csv").write_text("who,x\n")
    with pytest.raises(InvalidTable, match=r"of one kind; got .csv and .parquet"):
        counts([tmp_path / "flat.parquet", tmp_path / "t.csv"])
    (tmp_path / "u.csv").write_text("secret,x\n")
    with pytest.raises(InvalidTable) as refused:
        counts([tmp_path / "t.csv", tmp_path / "u.csv"])
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ([], "a table must have 1 to 4,096 files; got 0"),
        ([7], "a list of files must hold paths; got a int"),
        ("none/*.parquet", r"the pattern .* has no .parquet or .csv files"),
        (["missing.parquet"], "there is no file missing.parquet"),
    ],
)
def test_no_files_are_refused(given, says):
    with pytest.raises(InvalidTable, match=says):
        open_table(given, unit=Rows())


def test_a_unit_is_not_named_by_folders(visits, tmp_path):
    with pytest.raises(InvalidTable, match=r"'year' is made of the names of folders"):
        open_table(visits, unit=Entity("year", max_rows=5))
    (tmp_path / "empty").mkdir()
    with pytest.raises(InvalidTable, match=r"the folder .* has no .parquet or .csv files"):
        open_table(tmp_path / "empty", unit=Rows())
    with pytest.raises(InvalidTable, match="a file names itself"):
        open_table(visits, unit=Rows(), name="visits")


def test_a_workbook_is_read_through_a_frame(tmp_path):
    (tmp_path / "wards.xlsx").write_bytes(b"PK")
    with pytest.raises(InvalidTable, match=r'is a workbook.*pandas.read_excel."wards.xlsx"'):
        ny.open(tmp_path / "wards.xlsx", unit=ny.Rows())


SPEC = """
[data]
path = {path}
[unit]
entity = "who"
max_rows = 6
[keys.year]
year = [2024, 2025]
[budget]
ledger = "t.ledger"
mu = 1
[[query]]
entry = "a"
statistic = "count"
by = "year"
mu = 0.1
"""


@pytest.mark.parametrize(
    "path",
    ['"visits"', '"visits/*/*.parquet"', '["visits/year=2024", "visits/year=2025/part.parquet"]'],
)
def test_a_spec_takes_them(visits, path):
    (visits.parent / "s.toml").write_text(SPEC.format(path=path), encoding="utf-8")
    found = plan(read_spec(visits.parent / "s.toml"), visits.parent)
    assert found.steps[0].aggregate.compute().tolist() == [3, 2]
    assert sorted(found.files) == sorted(visits.rglob("*.parquet"))


def test_the_shell_takes_them(visits, monkeypatch, capsys):
    from neyman.cli import main

    monkeypatch.chdir(visits.parent)
    who = ["--unit", "who", "--max-rows", "5", "--mu", "0.3", "--ledger", "l.ledger"]
    files = ["visits/year=2024/part.parquet", "visits/year=2025/part.parquet"]
    asked = ["count", *files, *who, "--budget", "mu=1", "--id", "a", "--by", "year=2024,2025"]
    assert main([*asked, "--json"]) == 0, capsys.readouterr().err
    assert main(["count", "visits", *who, "--id", "b"]) == 0, capsys.readouterr().err
