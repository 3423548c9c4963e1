"""No value makes Spark or PostgreSQL fail: all nasty ones, in every role, in few statements."""

from datetime import date
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from neyman import col
from neyman.tables import Bins, Bounds, Entity, Expression, Keys, Rows, Table, open_table

SIDES = Keys({"side": ["good", "bad"]})
BOUNDS = {
    "real": Bounds(-1, 10, grid=0.25),
    "whole": Bounds(-1, 10, grid=1),
    "money": Bounds(-1, 10, grid=0.25),
    "single": Bounds(-(10**240), 10**240, grid=10**239),
}
INF = float("inf")
TEXTS = ["", "A ", "\u00e4", "a\u0308", "\u00df'\"; --", "\\Q.\\E\n\t", "${env:HOME}", "\U0001f600"]
TEXTS += ["x" * 10**6, "e\u0301" * 400, "1" * 10**5, "\U0010ffff", "\ufeff\u202e", "1e400"]
REALS = [
    float("nan"),
    INF,
    -INF,
    1.7e308,
    -1.7e308,
    5e-324,
    -5e-324,
    2.3e-308,
    9.3e18,
    -9.3e18,
    -0.0,
]
REALS += [2.0**200, -(2.0**201), 2.0**-200, 0.9 * 2.0**-200, 1e250, 1e-250, 0.0]
SINGLES = [float("nan"), INF, -INF, 2.0**127, -(2.0**127), 2.0**-149, -0.0]
INTEGERS = [-(2**63), 2**63 - 1, 2**53 + 1, 0]
DECIMALS = [Decimal(10) ** 28, -(Decimal(10) ** 28), Decimal("1e-9"), Decimal(0)]
DAYS = [date(1, 1, 1), date(1582, 10, 10), date(9999, 12, 31)]
NASTY: dict[str, tuple[Any, Any, list[Any]]] = {
    "text": (pa.string(), "a", TEXTS),
    "whole": (pa.int64(), 1, INTEGERS),
    "small": (pa.int16(), 1, [-(2**15), 2**15 - 1]),
    "truth": (pa.bool_(), True, [False]),
    "day": (pa.date32(), date(2020, 2, 29), DAYS),
    "real": (pa.float64(), 1.5, REALS),
    "single": (pa.float32(), 1.5, SINGLES),
    "money": (pa.decimal128(38, 9), Decimal("0.05"), DECIMALS),
}


def arrow(nasty: bool) -> pa.Table:
    """Three good rows, and rows of owners of their own that hold one nasty value each."""
    good = {name: value for name, (_, value, _) in NASTY.items()}
    rows = [{**good, "who": f"g{i}", "side": "good"} for i in range(3)]
    for name, (_, _, values) in NASTY.items() if nasty else ():
        rows += [
            {**good, name: value, "who": f"{name}{i}", "side": "bad"}
            for i, value in enumerate([*values, None])
        ]
    schema = pa.schema([("who", pa.string()), ("side", pa.string())])
    for name, (type_, _, _) in NASTY.items():
        schema = schema.append(pa.field(name, type_))
    return pa.Table.from_pylist(rows, schema)


def numbers(name: str) -> list[Expression]:
    v, o = col(name), col("real")
    if name != "real":
        return [v + o, o / v, v // 3, abs(v), v.round(0.001), v.minimum(o)]
    pairs = [v + o, v - o, v * o, v / o, o / v, v // o, o // v, v % o, o % v]
    ends = [v.minimum(o), v.maximum(o), v.clip(-1, 1), abs(v), -v]
    steps = [
        v.round(0.001),
        v.round(1e60),
        v // 3,
        v % 0.1,
        v / 1e-60,
        v / 1e60,
        v.cut([0, 1, 1e60]),
    ]
    return [*pairs, *ends, *steps]


def all_true(table: Table) -> Table:
    """Keep all rows, once every operation has been done on the nasty values of each type."""
    text, day, truth = col("text"), col("day"), col("truth")
    for name in ("whole", "small", "real", "single", "money"):
        for value in numbers(name):
            table = table.where((value * 0).coalesce(0) == 0)
    for value in (text.lower(), text.prefix(2), text.prefix(1000), text.coalesce("x")):
        table = table.where(value.coalesce("") >= "")
    parts = [day.year(), day.month(), day.day(), day.weekday(), day.days_since(date(2020, 1, 1))]
    for value in (
        *parts,
        text.length(),
        truth.as_number(),
        day.cut([date(1, 1, 1), date(2020, 1, 1)]),
    ):
        table = table.where((value * 0).coalesce(0) == 0)
    for value in (~truth, text.starts_with("a"), text.is_in(["a", ""]), day < date(2020, 1, 1)):
        table = table.where(value.coalesce(True) | ~value.coalesce(False))
    return table


def questions(made: dict[str, Any]) -> dict[str, Any]:
    table = open_table(**made, unit=Entity("who", max_rows=2), bounds=BOUNDS)
    days = Bins([date(1, 1, 1), date(2000, 1, 1), date(9999, 12, 31)], outside="clip")
    edges = Bins([-1, 0, 1e-250, 1, 1e250], outside="clip")
    asked = {
        "sums": table.mean("real", SIDES),
        "wide": table.sum("single", SIDES),
        "bins": table.count(SIDES * Keys({"day": days}) * Keys({"money": edges})),
        "keys": table.count(SIDES * Keys({"whole": [1, 2**63 - 1], "text": ["a", ""]})),
    }
    for name in ("text", "day"):
        units = open_table(**made, unit=Entity(name, max_rows=2), bounds=BOUNDS)
        asked[f"unit {name}"] = units.sum("real", SIDES)
    return asked


def answers(made: dict[str, Any]) -> dict[str, list[int]]:
    return {what: question.compute().tolist() for what, question in questions(made).items()}


@pytest.fixture
def spark_settings():
    """Spark's defaults: what it compiles must not fail either."""
    return {}


@pytest.fixture(scope="module")
def alone():
    """Without them DuckDB's answers will do: integers are the same on all engines."""
    return answers({"source": arrow(nasty=False), "name": "good"})


# Spark plans and compiles so long a condition for half a minute.
@pytest.mark.parametrize(
    "store", ["duckdb", "postgres", pytest.param("spark", marks=pytest.mark.soak)], indirect=True
)
def test_every_operation_on_nasty_values_is_answered(store):
    rows = arrow(nasty=True)
    table = open_table(**store.fill(rows, "nasty"), unit=Entity("who", max_rows=2), bounds=BOUNDS)
    assert all_true(table).count(SIDES).compute().tolist() == [3, len(rows) - 3]


def test_nasty_values_neither_fail_nor_move_the_others(store, alone):
    found = answers(store.fill(arrow(nasty=True), "nasty"))
    for what, answer in found.items():
        # A unit's name is of both sides; of the rest the first half is of the good rows.
        if not what.startswith("unit"):
            assert answer[: len(answer) // 2] == alone[what][: len(answer) // 2], what


def test_text_of_any_bytes_in_spark(spark):
    """Spark holds it; it is NULL, as on all engines."""
    broken = [b"caf\xe9", b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80", b"\xe2", b"\xff\0"]
    rows = [("a", 1.0), ("caf\u00e9", 1.0), ("x\0y", 1.0)]
    frame = spark.createDataFrame(
        [(bytearray(v.encode()), x) for v, x in rows] + [(bytearray(v), 1.0) for v in broken],
        "v binary, x double",
    ).selectExpr("CAST(v AS STRING) AS v", "x")
    table = open_table(frame, unit=Rows(), name="broken")
    texts = table.where((col("v").length() >= 0) & ((col("v").lower() < "m") | (col("v") >= "m")))
    assert texts.count().compute().tolist() == [3]
    assert table.where(col("v").is_null()).count().compute().tolist() == [len(broken)]
    units = open_table(frame, unit=Entity("v", max_rows=1), name="broken")
    assert units.count().compute().tolist() == [3]


def parts_of_moments() -> Expression:
    """Something of each operation on a timestamp, which is a number where the timestamp is one."""
    w = col("w")
    clock = w.year() + w.month() + w.day() + w.week() + w.weekday() + w.hour() + w.minute()
    gone = w.hours_since(date(2020, 1, 1)) + (w - w) + w.seconds_since("1970-01-01T00:00:00")
    firsts = [w.truncate(unit).year() for unit in ("year", "quarter", "month", "week", "day")]
    return (
        clock + gone + w.second() + w.at_offset("+09:00").hour() + sum(firsts, start=w.date().day())
    )


def known_and_null(table: Table) -> list[int]:
    """Count the moments of which all parts are numbers, and those that are none."""
    conditions = [parts_of_moments() * 0 == 0, col("w").is_null()]
    return [int(table.where(condition).count().compute()[0]) for condition in conditions]


def test_timestamps_out_of_range_are_null_in_postgres(postgres):
    for kind in ("timestamp", "timestamptz"):
        postgres.execute(f"DROP TABLE IF EXISTS moments; CREATE TABLE moments (w {kind})")
        for written in (
            *("infinity", "-infinity", "4713-01-01 00:00:00 BC", "294276-12-31 23:59:59.999999"),
            *("0001-12-31 23:59:59 BC", "10000-01-02 00:00:00", "2020-02-29 12:00:00+00"),
        ):
            postgres.execute(f"INSERT INTO moments VALUES ('{written}')")
        table = open_table((postgres, "moments"), unit=Rows())
        assert known_and_null(table) == [1, 6]
    postgres.execute("DROP TABLE moments")


def test_timestamps_out_of_range_are_null_in_spark(spark):
    """A zone with summer time moves nothing: hours that it skips stay as they are."""
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", "Europe/Berlin")
    ends = f"({2**63 - 1}L), ({-(2**63) + 1}L), (253402300800000000L), (-62135596800000001L)"
    moments = session.sql(
        f"SELECT timestamp_micros(v) AS w FROM VALUES {ends}, (1711850400000000L), (0L) AS t(v)"
    )
    table = open_table(moments, unit=Rows(), name="t")
    assert known_and_null(table) == [2, 4]


@pytest.mark.soak
def test_local_timestamps_out_of_range_are_null_in_spark(spark):
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", "Europe/Berlin")
    local = session.sql(
        "SELECT CAST(v AS TIMESTAMP_NTZ) AS w FROM VALUES ('+294247-01-10T04:00:54'), "
        "('-290308-12-21T19:59:06'), ('+10000-01-01'), ('0000-12-31'), ('2024-03-31T02:30:00') "
        "AS t(v)"
    )
    table = open_table(local, unit=Rows(), name="t")
    assert known_and_null(table) == [1, 4]
    assert table.where(col("w").hour() * 60 + col("w").minute() == 150).count().compute() == [1]


def test_days_are_days_where_summer_time_skips_a_midnight_in_spark(spark):
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", "America/Sao_Paulo")
    dates = session.sql("SELECT DATE '2018-11-04' AS a, DATE '2018-11-05' AS b")
    table = open_table(dates, unit=Rows(), name="t")
    days = col("b").days_since(col("a"))
    assert table.where((days == 1) & (col("b").weekday() == 1)).count().compute() == [1]
