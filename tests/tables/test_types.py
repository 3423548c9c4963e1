"""Every column type: extremes add up by the rule, and no value raises."""

import math
from datetime import date
from decimal import Decimal

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from neyman.errors import InvalidTable
from neyman.tables import Bounds, Entity, Keys, Rows, open_table

WIDE = Bounds(-(2**50), 2**50, grid=1)


def opened(fill, kind, cells, bounds=WIDE, unit=Rows()):  # noqa: B008
    rows = [("other", 1)] + [("extreme", cell) for cell in cells]
    database, name = fill("types", ("g VARCHAR", "i INTEGER"), [])
    database.execute(f"ALTER TABLE {name} DROP i; ALTER TABLE {name} ADD COLUMN x {kind}")
    for g, cell in rows:
        value = "?" if isinstance(cell, float | bool | date) else f"({cell})"
        database.execute(
            f"INSERT INTO {name} VALUES (?, CAST({value} AS {kind}))",
            [g, cell] if value == "?" else [g],
        )
    return open_table(
        (database, name), unit=unit, bounds={"x": bounds}, max_table_rows=2**12, name="t"
    )


@pytest.mark.shows("odd-values")
@pytest.mark.parametrize(
    ("kind", "cells", "total"),
    [
        ("TINYINT", [-128, 127], -1),
        ("SMALLINT", [-32768], -32768),
        ("INTEGER", [2**31 - 1], 2**31 - 1),
        ("BIGINT", [-(2**63), 2**63 - 1], 0),
        ("BIGINT", [2**63 - 1, 2**63 - 1], 2**51),
        ("UTINYINT", [255], 255),
        ("USMALLINT", [65535], 65535),
        ("UINTEGER", [2**32 - 1], 2**32 - 1),
        ("UBIGINT", [2**64 - 1], 2**50),
        ("HUGEINT", [-(2**127), 2**127 - 1, 5], 5),
        ("UHUGEINT", [2**128 - 1, 7], 2**50 + 7),
        ("DECIMAL(38, 9)", ["'-99999999999999999999999999999.999999999'", "1.5"], 2 - 2**50),
        ("DECIMAL(18, 3)", ["1.499", "'-1.5'"], 0),
        ("FLOAT", [3.4e38, -math.inf, 1.5], 2),
        ("DOUBLE", [1e308, -1e308, math.inf, -math.inf, math.nan, 5e-324, -0.0, 2.5], 3),
        ("BOOLEAN", [True, False, True], 2),
    ],
)
def test_extremes(fill, kind, cells, total):
    table = opened(fill, kind, [*cells, "NULL"])
    keys = Keys({"g": ["extreme", "other"]})
    assert table.sum("x", keys).compute().tolist() == [total, 1]
    assert table.count(keys).compute().tolist() == [len(cells) + 1, 1]
    known = [cell for cell in cells if cell == cell]
    assert table.mean("x").compute().tolist()[0] == 2**50 * (len(known) + 1)


@pytest.mark.parametrize(
    "kind",
    ["VARCHAR", "DATE", "TIMESTAMP", "TIME", "BLOB", "INTERVAL", "UUID", "INTEGER[]", "JSON",
     "STRUCT(a INTEGER)", "MAP(INTEGER, INTEGER)", "INTEGER[2]", "ENUM('a')", "BIT"],
)  # fmt: skip
def test_columns_that_are_no_numbers(database, kind):
    database.execute(f"CREATE OR REPLACE TABLE no_numbers (x {kind})")
    with pytest.raises(InvalidTable, match="cannot be added up"):
        open_table((database, "no_numbers"), unit=Rows(), bounds={"x": WIDE}, name="t")


@pytest.mark.parametrize("kind", ["TIME", "INTERVAL", "BIT", "TIMESTAMP", "BLOB", "TEXT[]"])
def test_columns_that_name_no_unit(database, kind):
    database.execute(f"CREATE OR REPLACE TABLE no_units (x {kind})")
    with pytest.raises(InvalidTable, match="cannot name a unit"):
        open_table((database, "no_units"), unit=Entity("x", max_rows=1), name="t")


@pytest.mark.shows("codes")
@pytest.mark.parametrize(
    ("kind", "cells", "units"),
    [
        ("BIGINT", [1, 1, 2, "NULL"], 2),
        ("HUGEINT", [2**127 - 1, -(2**127)], 2),
        ("UHUGEINT", [2**128 - 1, 2**128 - 2], 2),
        ("BOOLEAN", [True, False, True], 2),
        ("DATE", [date(2020, 1, 1), date(2020, 1, 2)], 2),
        ("UUID", ["uuid()", "uuid()"], 2),
        ("VARCHAR", ["'a'", "'A'", "'a '", "''", "'ä'", "'a\u0308'", "chr(0)"], 7),
        ("ENUM('a', 'b')", ["'a'", "'b'", "'a'"], 2),
        # Whole floats are told apart up to 2^53; what is none, or beyond, is nobody's, as NULL is.
        ("DOUBLE", [1.0, 1.0, 2.0, -0.0, 0.0, 2.0**53, 2.0**53 - 1, "NULL"], 5),
        ("DOUBLE", [0.5, math.nan, math.inf, -math.inf, 2.0**53 + 2, 1e300, 5e-324], 0),
        ("FLOAT", [1.0, 2.0, 2.5, math.nan, 1e30], 2),
        # Four bytes: 2^24 + 1 has become 2^24.
        ("FLOAT", ["16777215", "-16777215", "16777216", "16777217", "'-16777217'", "2e7"], 2),
        ("DECIMAL(9, 2)", ["1", "1.00", "1.01", "'-7'"], 2),
        ("DECIMAL(18, 0)", ["999999999999999999", "999999999999999998"], 2),
        ("DECIMAL(38, 30)", ["1", "1.000000000000000000000000000001", "12345678"], 2),
        ("DECIMAL(38, 0)", ["4611686018427387904", "4611686018427387903", "1" + "0" * 37], 2),
    ],
)
def test_units_of_every_type(database, kind, cells, units):
    database.execute(f"CREATE OR REPLACE TABLE units (who {kind})")
    for cell in cells:
        if isinstance(cell, bool | date | float):
            database.execute("INSERT INTO units VALUES (?)", [cell])
        else:
            database.execute(f"INSERT INTO units VALUES (CAST({cell} AS {kind}))")
    table = open_table((database, "units"), unit=Entity("who", max_rows=1), name="t")
    assert table.count().compute().tolist() == [units]


@pytest.mark.parametrize(
    ("kind", "cells", "keys", "counts"),
    [
        ("UBIGINT", ["18446744073709551615", "5"], [5, -1, 2**63 - 1], [1, 0, 0]),
        ("TINYINT", ["5"], [5, 300, -(2**63)], [1, 0, 0]),
        ("HUGEINT", ["170141183460469231731687303715884105727", "5"], [5], [1]),
        ("BOOLEAN", ["true", "false", "true", "NULL"], [False, True], [1, 2]),
        ("DATE", ["'2020-02-29'", "'infinity'", "'0044-03-15 (BC)'"],
         [date(2020, 2, 29), date(1, 1, 1)], [1, 0]),
        ("VARCHAR", ["'1'", "''", "'A'"], ["a", "A", "", "01"], [0, 1, 1, 0]),
        ("ENUM('a', 'b')", ["'a'"], ["a", "c"], [1, 0]),
        ("DOUBLE", ["1.0", "1.0", "2.0", "1.5", "'nan'", "'inf'", "NULL", "'-0.0'", "1e300"],
         [1, 2.0, 0, 3], [2, 1, 1, 0]),
        ("FLOAT", ["1.0", "2.5", "'nan'"], [1.0, 2.0], [1, 0]),
        ("FLOAT", ["16777217", "16777215"], [2**24, 2**24 + 1, 2**24 - 1], [0, 0, 1]),
        ("DOUBLE", ["9007199254740993", "9007199254740992"], [2**53, 2**53 + 1], [2, 0]),
        ("DECIMAL(5, 1)", ["1", "1.0", "1.5", "NULL"], [1, Decimal("2.0")], [2, 0]),
        ("DECIMAL(38, 9)", ["1", "1.000000001", "'-99999999999999999999999999999'"],
         [1, -1], [1, 0]),
    ],
)  # fmt: skip
def test_keys_of_every_type(database, kind, cells, keys, counts):
    values = ", ".join(f"(CAST({cell} AS {kind}))" for cell in cells)
    database.execute(f"CREATE OR REPLACE TABLE keyed (g {kind})")
    database.execute(f"INSERT INTO keyed VALUES {values}")
    table = open_table((database, "keyed"), unit=Rows(), name="t")
    assert table.count(Keys({"g": keys})).compute().tolist() == counts


@pytest.mark.parametrize(
    ("kind", "key", "write"),
    [
        ("VARCHAR", 1, "write str keys"),
        ("INTEGER", "1", "write int keys"),
        ("INTEGER", True, "write int keys"),
        ("BOOLEAN", 1, "write bool keys"),
        ("DATE", "2020-01-01", "write date keys"),
        ("DOUBLE", "1", "write int keys for its whole numbers, or cut it into Bins"),
        ("DECIMAL(5, 1)", True, "write int keys for its whole numbers"),
        ("DOUBLE", 1.5, "1.5 is no key of column 'g'; write whole numbers such as 1"),
        ("DOUBLE", math.nan, "nan is no key"),
        ("DOUBLE", math.inf, "inf is no key"),
        ("DOUBLE", 2.0**53 + 2, "is no key"),
        ("VARCHAR", 1.0, "write str keys"),
        ("TIME", 1, "group by another column"),
        ("TIMESTAMP", date(2020, 1, 1), "make a column by .year"),
    ],
)
def test_keys_of_another_type(database, kind, key, write):
    database.execute(f"CREATE OR REPLACE TABLE mistyped (g {kind})")
    with pytest.raises(InvalidTable, match=write):
        open_table((database, "mistyped"), unit=Rows(), name="t").count(Keys({"g": [key]}))


def test_collations_merge_no_groups_and_no_units():
    """Under a collation 'a' = 'A': a row would count in two groups."""
    connection = duckdb.connect()
    connection.execute("CREATE TABLE t (who VARCHAR COLLATE NOCASE, g VARCHAR COLLATE NOCASE)")
    connection.execute("INSERT INTO t VALUES ('p', 'a'), ('P', 'A'), ('p', 'a')")
    connection.execute("SET default_collation = 'nocase'")
    keys = Keys({"g": ["a", "A"]})
    rows = open_table((connection, "t"), unit=Rows(), name="t")
    assert rows.count(keys).compute().tolist() == [2, 1]
    units = open_table((connection, "t"), unit=Entity("who", 2, {"g": 1}), name="t")
    assert units.count(keys).compute().tolist() == [1, 1]
    assert units.count_units().compute().tolist() == [2]


def test_decimals_are_rounded_like_their_text(database):
    database.execute("CREATE OR REPLACE TABLE decimals (x DECIMAL(30, 2))")
    cells = [Decimal("0.05"), Decimal("0.15"), Decimal("0.25"), Decimal("-0.05"), Decimal("0.35")]
    for cell in cells:
        database.execute(f"INSERT INTO decimals VALUES ({cell})")
    table = open_table(
        (database, "decimals"), unit=Rows(), bounds={"x": Bounds(-1, 1, grid=0.1)}, name="t"
    )
    expected = sum(math.floor(float(cell) / 0.1 + 0.5) for cell in cells)
    assert table.sum("x").compute().tolist() == [expected]


def test_floats_of_two_bytes_name_units_below_2048(tmp_path):
    who = pa.array(np.array([1, 2047, 2048, 2049], np.float16))
    pq.write_table(pa.table({"who": who}), tmp_path / "t.parquet")
    table = open_table(tmp_path / "t.parquet", unit=Entity("who", max_rows=1))
    assert table.count().compute().tolist() == [2]
