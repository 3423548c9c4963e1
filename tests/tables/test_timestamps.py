"""Timestamps of every unit and zone: one value, wherever they lie; no row makes an engine fail."""

from datetime import UTC, date, datetime, timedelta, timezone

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from neyman import col
from neyman.errors import InvalidParameter, InvalidTable
from neyman.tables import Bins, Bounds, Entity, Keys, Rows, UnknownKeys, open_table

W = col("w")
UNITS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
SECONDS = int(datetime(2024, 1, 2, 3, 4, 5, tzinfo=UTC).timestamp())
LEAST, MOST = -(2**63), 2**63 - 1


def frame(unit, zone, cells) -> pa.Table:
    return pa.table({"w": pa.array(cells, pa.int64()).cast(pa.timestamp(unit, zone))})


def opened(kind, table, folder):
    if kind == "frame":
        return open_table(table, unit=Rows(), name="t")
    if kind == "parquet":
        pq.write_table(table, folder / "t.parquet")
        return open_table(folder / "t.parquet", unit=Rows())
    connection = duckdb.connect()
    connection.register("arrow", table)
    connection.execute("CREATE TABLE t AS FROM arrow")
    return open_table((connection, "t"), unit=Rows(), name="t")


def counted(table, *conditions) -> list[int]:
    return [int(table.where(condition).count().compute()[0]) for condition in conditions]


@pytest.mark.shows("timestamps")
@pytest.mark.parametrize("kind", ["frame", "parquet", "duckdb"])
@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Berlin"])
@pytest.mark.parametrize("unit", UNITS)
def test_units_and_zones_are_read_alike(kind, unit, zone, tmp_path):
    """A zone changes the hands of a clock, and not the instant: all are read in UTC."""
    table = opened(kind, frame(unit, zone, [SECONDS * UNITS[unit], 0, None]), tmp_path)
    moment = (W.year() == 2024) & (W.date() == date(2024, 1, 2)) & (W.hour() == 3)
    exact = datetime(2024, 1, 2, 3, 4, 5) == W
    berlin = datetime(2024, 1, 2, 4, 4, 5, tzinfo=timezone(timedelta(hours=1))) == W
    assert counted(table, moment, exact, berlin, W.is_null()) == [1, 1, 1, 1]


@pytest.mark.shows("timestamps")
@pytest.mark.parametrize(
    ("unit", "zone", "kind"),
    [
        *((unit, zone, "frame") for unit in UNITS for zone in (None, "UTC")),
        *((unit, None, "duckdb") for unit in UNITS),
        *((unit, zone, "parquet") for unit in ("ms", "us", "ns") for zone in (None, "UTC")),
    ],
)
def test_what_no_year_has_is_null_and_fails_nowhere(unit, zone, kind, tmp_path):
    cells = [LEAST, LEAST + 1, MOST, MOST - 1, -MOST + 10, SECONDS * UNITS[unit]]
    table = opened(kind, frame(unit, zone, cells), tmp_path)
    parts = (W.year() + W.hour() + W.week() + W.hours_since(date(1, 1, 1))) * 0
    known, unknown, all_rows = counted(table, parts == 0, W.is_null(), parts.coalesce(0) == 0)
    assert (known + unknown, all_rows) == (6, 6)
    # Of nanoseconds 64 bits hold the years 1677 to 2262 only; DuckDB keeps two for infinity.
    assert unknown == (2 if unit == "ns" else 5)
    assert counted(table, W.year() == 2024) == [1]


@pytest.mark.shows("timestamps")
@pytest.mark.parametrize("kind", ["frame", "parquet", "duckdb"])
@pytest.mark.parametrize("unit", ["s", "ms", "us"])
def test_years_that_nanoseconds_cannot_count_are_read_alike(kind, unit, tmp_path):
    moments = [datetime(year, 7, 4, 12, 30) for year in (1, 1500, 2024, 2500, 9999)]
    cells = [(one - datetime(1970, 1, 1)) // timedelta(seconds=1) * UNITS[unit] for one in moments]
    table = opened(kind, frame(unit, None, cells), tmp_path)
    assert counted(table, *(moment == W for moment in moments)) == [1] * len(moments)
    assert counted(table, W.hour() == 12, W.is_null(), W.year() < 1600) == [5, 0, 2]


@pytest.mark.parametrize("kind", ["frame", "parquet", "duckdb"])
def test_nanoseconds_before_1970_are_rounded_down(kind, tmp_path):
    table = opened(kind, frame("ns", None, [-1, -1000, 999]), tmp_path)
    first = W.date() == date(1969, 12, 31)
    last = datetime(1969, 12, 31, 23, 59, 59, 999_999) == W
    assert counted(table, first, last, datetime(1970, 1, 1) == W) == [2, 2, 1]


def test_stays_by_month_of_a_pandas_frame():
    came = pd.to_datetime(["2024-01-31 22:00", "2024-02-01 01:30", "2024-02-29 12:00", None])
    stay = pd.DataFrame({"who": ["a", "b", "b", "c"], "came": came})
    stay["left"] = stay["came"] + pd.Timedelta(hours=36)
    table = open_table(stay, unit=Entity("who", max_rows=2), name="t").with_columns(
        month=col("came").truncate("month"),
        year=col("came").year(),
        days=col("left") - col("came"),
        hours=col("left").hours_since(col("came")),
    )
    months = Keys({"month": [date(2024, 1, 1), date(2024, 2, 1)]})
    assert table.count(months).compute().tolist()[:2] == [1, 2]
    assert table.count(Keys({"year": [2023, 2024]})).compute().tolist()[:2] == [0, 3]
    grids = {"days": Bounds(0, 10, grid=0.5), "hours": Bounds(0, 100, grid=1)}
    table = table.with_bounds(grids)
    assert table.sum("days").compute().tolist()[0] == 3 * 3
    assert table.sum("hours").compute().tolist()[0] == 3 * 36
    weeks = [date(2024, 1, 29), date(2024, 2, 5), date(2024, 3, 4)]
    bins = table.count(Keys({"came": Bins(weeks, outside="drop")}))
    assert bins.compute().tolist()[:2] == [2, 1]
    found = table.count(UnknownKeys("month")).unknown.find()
    assert sorted(found.integers.ravel().tolist()) == [1, 2]


def test_a_literal_in_iso_8601_is_what_stands_beside_it():
    table = open_table(
        pa.table({"w": [datetime(2024, 1, 2, 12)], "d": [date(2024, 1, 2)], "g": ["2024-01-02"]}),
        unit=Rows(),
        name="t",
    )
    true = [
        W > "2024-01-02",
        W >= "2024-01-02T12:00",
        W == "2024-01-02 14:00:00+02:00",
        W.between("2024-01-02", "2024-01-03"),
        col("d") < W,
        W.is_in(["2024-01-02T12:00:00", "2024-01-02T13:00:00"]),
        col("d") == "2024-01-02",
        col("d").days_since("2024-01-01") == 1,
        col("d") < "2024-01-02T00:01",
        col("g") == "2024-01-02",
        W - col("d") == 0.5,
        W.at_offset("+12:00").date() == "2024-01-03",
        W.at_offset("-12:30").hour() == 23,
    ]
    assert counted(table, *true) == [1] * len(true)


def test_what_leaves_the_years_by_an_offset_is_null():
    rows = pa.table({"w": [datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999_999)]})
    table = open_table(rows, unit=Rows(), name="t")
    assert counted(table, W.at_offset("-00:01").is_null(), W.at_offset("+00:01").is_null()) == [
        1,
        1,
    ]


def test_a_timestamp_is_no_key_no_unit_and_no_number():
    table = open_table(pa.table({"w": [datetime(2024, 1, 1)]}), unit=Rows(), name="t")
    with pytest.raises(InvalidTable, match=r"timestamp.*truncate\('month'\)"):
        table.count(Keys({"w": [date(2024, 1, 1)]}))
    with pytest.raises(InvalidTable, match=r"timestamp.*truncate\('month'\)"):
        table.count(UnknownKeys("w"))
    with pytest.raises(InvalidTable, match="cannot name a unit"):
        open_table(pa.table({"w": [datetime(2024, 1, 1)]}), unit=Entity("w", 1), name="t")
    with pytest.raises(InvalidTable, match="cannot be added up"):
        table.with_bounds({"w": Bounds(0, 1, grid=1)})


def test_dates_of_csv_and_of_pandas_are_read_by_a_declared_format(tmp_path):
    """What pandas gives as `.dt.date` is text in ISO 8601: no dtype tells of it, and no row may."""
    path = tmp_path / "visits.csv"
    path.write_text(
        'day,came\n31.01.2024,2024-01-31 22:15\n1.2.2024,2024-02-01 08:00:00\n"",\n30.2.2024,x\n'
    )
    table = open_table(path, unit=Rows())
    day, came = col("day").to_date("%d.%m.%Y"), col("came").to_timestamp("%Y-%m-%d %H:%M")
    made = table.with_columns(month=day.truncate("month"), hour=came.hour(), gone=came - day)
    months = Keys({"month": [date(2024, 1, 1), date(2024, 2, 1)]})
    assert made.count(months).compute().tolist() == [1, 1]
    assert made.count(Keys({"hour": [8, 22]})).compute().tolist() == [0, 1]
    assert counted(table, day.is_null(), came.is_null(), (came - day) * 24 == 22.25) == [2, 3, 1]
    days = pd.Series(pd.to_datetime(["2024-01-31", "2024-02-01", None])).dt.date
    frame = pd.DataFrame({"day": days})
    table = open_table(frame, unit=Rows(), name="t")
    day = col("day").to_date("%Y-%m-%d")
    assert counted(table, day.month() == 1, day.month() == 2, day.is_null()) == [1, 1, 1]
    with pytest.raises(InvalidTable, match=r"\.to_date\(\"%Y-%m-%d\"\)"):
        table.where(col("day").year() == 2024)
    with pytest.raises(InvalidParameter, match="the format is '%y'; write one of '%Y-%m-%d', "):
        col("day").to_date("%y")
