"""No value of any type, in any role, makes DuckDB fail or moves the answer about other rows."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any, final

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from neyman import col, when
from neyman.tables import (
    Bins,
    Bounds,
    Entity,
    Expression,
    ForeignKey,
    Keys,
    Rows,
    Table,
    Unit,
    UnknownKeys,
    open_table,
)
from neyman.tables._types import Type

# Of each type: a value that nothing is wrong with, then nasty ones, in DuckDB's words.
TEXT = (
    "'a'",
    "''",
    "repeat('x', 1000000)",
    "repeat('1', 100000)",
    "repeat('e' || chr(769), 400)",
    "'a' || chr(0)",
    "chr(0)",
    "chr(1114111)",
    "chr(65279) || chr(8238)",
    "chr(57344) || chr(983040)",
    "'1e400'",
    "'nan'",
    "'-0'",
    "'9223372036854775808'",
    "E'\\r\\n\\t'",
    "'${env:HOME}'",
)
VALUES: Mapping[str, tuple[str, ...]] = {
    "VARCHAR": TEXT,
    "TINYINT": ("1", "-128", "127"),
    "UTINYINT": ("1", "255"),
    "SMALLINT": ("1", "-32768"),
    "USMALLINT": ("1", "65535"),
    "INTEGER": ("1", "-2147483648", "2147483647"),
    "UINTEGER": ("1", "4294967295"),
    "BIGINT": ("1", "-9223372036854775808", "9223372036854775807", "9007199254740993"),
    "UBIGINT": ("1", "18446744073709551615", "9223372036854775808"),
    "HUGEINT": ("1", f"{-(2**127)}", f"{2**127 - 1}"),
    "UHUGEINT": ("1", f"{2**128 - 1}"),
    "DECIMAL(38,0)": ("1", "9" * 38, "-" + "9" * 38),
    "DECIMAL(38,38)": ("0.1", "0." + "9" * 38, "-0." + "9" * 38),
    "DECIMAL(18,3)": ("1.5", "-" + "9" * 15 + ".999"),
    "DECIMAL(4,1)": ("1.5", "-999.9"),
    "DOUBLE": (
        *("1.5", "'nan'", "'inf'", "'-inf'", "1.7e308", "-1.7e308", "5e-324", "-5e-324", "-0.0"),
        *("9.3e18", "-9.3e18", "4.7e18", "1e250", "1.6e60", "6e-61", "0"),
    ),
    "FLOAT": ("1.5", "'nan'", "'inf'", "'-inf'", "3.4e38", "1e-45", "-0.0", "9.3e18"),
    "BOOLEAN": ("'true'", "'false'"),
    "DATE": (
        *("'2020-02-29'", "'infinity'", "'-infinity'", "'5881580-07-10'", "'5877642-06-25 (BC)'"),
        *(
            "'0001-01-01'",
            "'9999-12-31'",
            "'10000-01-01'",
            "'0001-12-31 (BC)'",
            "'0044-03-15 (BC)'",
        ),
    ),
    "UUID": ("'00000000-0000-0000-0000-000000000001'", "'ffffffff-ffff-ffff-ffff-ffffffffffff'"),
    "ENUM('happy', '', 'a')": ("'a'", "'happy'", "''"),
}
BOUNDS = {
    "x": Bounds(0, 1, grid=1),
    "v": Bounds(-1, 10, grid=0.25),
    "o": Bounds(-(10**240), 10**240, grid=10**239),
}
GROUPS = Keys({"side": ["good", "bad"]})
EDGES = Bins([-1, 0, 1e-250, 1, 1e250], outside="drop")
DAYS = Bins([date(1, 1, 1), date(2000, 1, 1), date(9999, 12, 31)], outside="drop")
DAY = date(2020, 1, 1)
TEXTS, FRACTIONS = {"VARCHAR", "UUID", "ENUM"}, {"DECIMAL", "DOUBLE", "FLOAT"}


def family(type_: str) -> str:
    return type_.partition("(")[0]


def rows(type_: str, nasty: bool) -> Iterator[str]:
    """Three good rows of three owners, and each nasty value twice, of an owner of its own."""
    values = VALUES[type_]
    # Numbers in quotes: -128 alone would be the negative of 128.
    good, *bad = values if "'" in values[0] else [f"'{value.strip(chr(39))}'" for value in values]
    for i, value in enumerate((good, good, "NULL")):
        yield f"({value}::{type_}, {good}::{type_}, 'g{i}', 'good', 1.0::DOUBLE)"
    for i, value in enumerate(bad if nasty else []):
        for other in (value, good):
            yield f"({value}::{type_}, {other}::{type_}, 'b{i}', 'bad', 1.0::DOUBLE)"


def expressions(type_: str) -> list[Expression]:
    """Every operation that the type has, on values of it alone and in pairs."""
    v, o = col("v"), col("o")
    always = [v == o, v != o, v.is_null(), v.coalesce(o), when(v == o).then(v).otherwise(o)]
    match family(type_):
        case "VARCHAR" | "UUID" | "ENUM":
            texts = [v.lower(), v.prefix(2), v.prefix(1000), v.as_text(), v.lower().prefix(1)]
            truths = [v.starts_with("a"), v < o, v >= o, v.between("a", o), v.is_in(["a", ""])]
            return [*always, *texts, *truths, v.length(), v.length() / o.length()]
        case "BOOLEAN":
            return [*always, v.as_number(), ~v, v & o, v | o]
        case "DATE":
            parts = [v.year(), v.month(), v.day(), v.weekday(), v.days_since(o), o.days_since(DAY)]
            cuts = [v.cut([date(1, 1, 1), DAY]), v.cut([DAY, date(9999, 12, 31)], labels=["x"])]
            return [*always, *parts, *cuts, v < o, v.between(o, DAY), v.is_in([DAY])]
        case _:
            pairs = [v + o, v - o, v * o, v / o, o / v, v // o, o // v, v % o, o % v]
            ends = [v.minimum(o), v.maximum(o), v.clip(-1, 1), abs(v), -v, v.as_number()]
            if family(type_) == "DECIMAL":
                # Doubles by way of text: what is done with them is done with doubles below.
                return [*always, v + o, v / o, v // o, v * v, abs(v), v.round(0.001), v > 0]
            steps = [v.round(0.001), v.round(1e60), v // 3, v % 0.1, v / 1e-60, v / 1e60, v * v * v]
            cuts = [v.cut([-1, 0, 1]), v.cut([0, 1, 1e60], labels=["a", "b"])]
            truths = [v < o, v > 0, v <= 1e60, v.between(-1, o), v.is_in([0, 1])]
            return [*always, *pairs, *ends, *steps, *cuts, *truths]


def key_lists(type_: str) -> list[Any]:
    match family(type_):
        case "VARCHAR" | "UUID" | "ENUM":
            return [["a", "1"]]
        case "BOOLEAN":
            return [[True]]
        case "DATE":
            return [[date(2020, 2, 29), date(9999, 12, 31)], DAYS]
        case "DECIMAL" | "DOUBLE" | "FLOAT":
            return [EDGES, Bins([0, 1], outside="clip")]
        case _:
            return [[1, -128, 2**63 - 1], EDGES, Bins([0, 1], outside="clip")]


def always_true(value: Expression, schema: Any) -> Expression:
    """Whatever a value is, it has to be computed for this, and is neither NaN nor infinite."""
    (type_,) = value.types(schema)
    match type_:
        case Type.TRUTH:
            return value.coalesce(True) | ~value.coalesce(False)
        case Type.TEXT:
            return value.coalesce("") >= ""
        case Type.DAY:
            return value.coalesce(DAY) >= date(1, 1, 1)
        case Type.NUMBER:
            return (value * 0).coalesce(0) == 0


def whole(type_: str) -> tuple[Expression, list[Any]]:
    """Return a made column that has keys, and some of them."""
    match family(type_):
        case "VARCHAR" | "UUID" | "ENUM":
            return col("v").prefix(2), ["a", "00"]
        case "BOOLEAN":
            return ~col("v"), [True]
        case "DATE":
            return col("v").year(), [2020, 9999]
        case _:
            return col("v").round(1), [1, 2**62]


@final
class Held:
    """The rows of one type, and what leads from them to owners."""

    def __init__(self, source: Any, name: str | None, owners: Any, owners_name: str | None) -> None:
        self.source, self.name, self.owners, self.owners_name = source, name, owners, owners_name

    def opened(self, unit: Unit) -> Table:
        bounds = {name: bound for name, bound in BOUNDS.items() if name == "x"}
        return open_table(self.source, unit=unit, bounds=bounds, name=self.name)

    def every_operation(self, type_: str) -> Any:
        """Return how many rows there are, once each operation has been done on all of them."""
        table = self.opened(Entity("u", max_rows=2))
        for value in expressions(type_):
            table = table.where(always_true(value, table.view.schema))
        return table.count(GROUPS)

    def few(self, type_: str) -> Iterator[tuple[str, Any]]:
        """What reads the values in different ways."""
        if family(type_) not in FRACTIONS:
            yield "unit", self.opened(Entity("v", max_rows=3)).sum("x", GROUPS)
        if family(type_) not in TEXTS | {"DATE"}:
            yield "sum", self.opened(Rows()).with_bounds(BOUNDS).sum("v", GROUPS)

    def all(self, type_: str) -> Iterator[tuple[str, Any]]:
        """Every role; the answers are of the groups good and bad, or of keys crossed with them."""
        yield from self.few(type_)
        table = self.opened(Entity("u", max_rows=2))
        for i, keys in enumerate(key_lists(type_)):
            yield f"keys {i}", table.count(GROUPS * Keys({"v": keys}))
        made, keys = whole(type_)
        yield "made", table.with_columns(m=made).count(GROUPS * Keys({"m": keys}))
        if family(type_) not in TEXTS | {"DATE"}:
            yield "variance", table.with_bounds(BOUNDS).variance("v", GROUPS)
            yield "wide", table.with_bounds(BOUNDS).mean("o", GROUPS)
        if family(type_) not in FRACTIONS:
            units = self.opened(Entity("v", max_rows=3))
            more = {"on": "v", "columns": ["w"], "name": self.owners_name}
            yield "joined", units.join(self.owners, how="left", **more).count(GROUPS)
            key = ForeignKey("v", self.owners, owner="w", name=self.owners_name)
            led = self.opened(Entity(key, max_rows=4))
            yield "foreign key", led.count(GROUPS)


@pytest.fixture(scope="module")
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as found:
        yield found


def stored(connection: duckdb.DuckDBPyConnection, type_: str, nasty: bool) -> Held:
    values = ", ".join(rows(type_, nasty))
    connection.execute(
        f"CREATE OR REPLACE TABLE t AS FROM (VALUES {values}) AS t(v, o, u, side, x)"
    )
    connection.execute("CREATE OR REPLACE TABLE owners AS SELECT v, u AS w FROM t")
    return Held((connection, "t"), "t", (connection, "owners"), "owners")


def answers(questions: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    return {what: question.compute().tolist() for what, question in questions}


def some(types: Iterable[str]) -> list[Any]:
    """The types that differ most in every run, all of them in a long one."""
    usual = {"VARCHAR", "UHUGEINT", "DECIMAL(18,3)", "DOUBLE", "DATE"}
    return [t if t in usual else pytest.param(t, marks=pytest.mark.soak) for t in types]


@pytest.mark.parametrize("type_", some(VALUES))
def test_nasty_values_neither_fail_nor_move_the_others(connection, type_):
    questions = list(stored(connection, type_, nasty=False).all(type_))
    alone = answers(questions)
    held = stored(connection, type_, nasty=True)
    found = answers(questions)
    many = 2 * len(VALUES[type_]) - 2
    done = held.every_operation(type_)
    assert done.compute().tolist() == [3, many]
    for what, answer in found.items():
        half = len(answer) // 2
        if what == "foreign key":
            # Who is led to by a good value, a nasty row owns in part as well.
            continue
        assert answer[:half] == alone[what][:half], what
    groups = held.opened(Rows())
    if family(type_) not in FRACTIONS:
        unknown = groups.count(UnknownKeys("v")).unknown
        assert unknown is not None
        assert 0 < len(unknown.find().keys) <= len(VALUES[type_])


def laid_out(connection: duckdb.DuckDBPyConnection, how: str, folder: Path) -> Any:
    if how == "arrow":
        return connection.table("t").to_arrow_table()
    connection.execute(f"COPY t TO '{folder}/t.parquet' (FORMAT parquet, ROW_GROUP_SIZE 2048)")
    return folder / "t.parquet"


# What a file or a frame holds of these types is the same there.
KEPT = [type_ for type_ in VALUES if family(type_) not in {"HUGEINT", "UHUGEINT", "UUID", "ENUM"}]


@pytest.mark.parametrize("how", ["arrow", "parquet"])
@pytest.mark.parametrize("type_", some(KEPT))
def test_files_and_frames_answer_alike(connection, tmp_path, type_, how):
    held = stored(connection, type_, nasty=True)
    source = laid_out(connection, how, tmp_path)
    other = Held(source, "t" if how == "arrow" else None, None, None)
    assert answers(other.few(type_)) == answers(held.few(type_))
    many = 2 * len(VALUES[type_]) - 2
    assert other.every_operation(type_).compute().tolist() == [3, many]


@pytest.mark.parametrize("type_", ["DECIMAL(38,0)", "DECIMAL(38,3)", "DECIMAL(20,3)"])
def test_a_decimal_of_more_digits_than_its_type_is_null(type_):
    """DuckDB fails to write the least of 128 bits, which Arrow and Parquet can hold."""
    width, scale = (int(part) for part in type_[8:-1].split(","))
    numbers = [1, -(2**127), 2**127 - 1, -(10**width), 10**width, 10**width - 1]
    held = b"".join(number.to_bytes(16, "little", signed=True) for number in numbers)
    v = pa.Array.from_buffers(pa.decimal128(width, scale), len(numbers), [None, pa.py_buffer(held)])
    table = pa.table({"v": v, "x": [1.0] * len(v)})
    found = open_table(table, unit=Rows(), bounds={"v": Bounds(0, 5, grid=1)}, name="t")
    assert found.where(col("v").is_null()).count().compute().tolist() == [4]
    assert found.sum("v").compute().tolist() == [5 + (scale == 0)]
    assert found.count(Keys({"v": Bins([0, 5], outside="clip")})).compute().tolist() == [2]


def test_a_parquet_file_may_hold_such_decimals(tmp_path):
    path, good = tmp_path / "t.parquet", (123456789).to_bytes(16, "big")
    v = pa.array([Decimal(123456789), Decimal(1)], pa.decimal128(38, 0))
    pq.write_table(
        pa.table({"v": v}), path, use_dictionary=False, compression="none", write_statistics=False
    )
    content = path.read_bytes()
    assert content.count(good) == 1
    path.write_bytes(content.replace(good, (2**127).to_bytes(16, "big")))
    table = open_table(path, unit=Rows(), bounds={"v": Bounds(0, 5, grid=1)})
    assert table.sum("v").compute().tolist() == [1]
    assert table.where(col("v").is_null()).count().compute().tolist() == [1]
