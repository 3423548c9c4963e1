"""Tables of nasty values, as plain data: drawn, without one unit, and as Arrow."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from decimal import Decimal
from math import inf, nan
from random import Random
from typing import Any

import pyarrow as pa

__all__ = ["POOLS", "Data", "Gone", "Relation", "data_of", "gone_of", "without"]

TYPES = {
    "text": pa.string(),
    "int64": pa.int64(),
    "int8": pa.int8(),
    "uint64": pa.uint64(),
    "bool": pa.bool_(),
    "date": pa.date32(),
    "clock": pa.timestamp("us"),
    "instant": pa.timestamp("us", "UTC"),
    "seconds": pa.timestamp("s"),
    "double": pa.float64(),
    "float": pa.float32(),
    "decimal": pa.decimal128(38, 9),
}

_MOMENTS = [
    datetime(1, 1, 1),
    datetime(9999, 12, 31, 23, 59, 59, 999_999),
    datetime(1969, 12, 31, 23, 59, 59, 999_999),
    datetime(2000, 2, 29, 12, 30),
    datetime(2024, 3, 31, 2, 30),
]

# Values that engines have been known to confuse, to round or to fail on.
POOLS: Mapping[str, Sequence[Any]] = {
    "text": [
        *(
            "a",
            "b",
            "A",
            "1",
            "1.0",
            "01",
            " 1",
            "",
            " ",
            "é",
            "e\u0301",
            "ß",
            "ss",
            "İ",
            "i\u0307",
        ),
        *(
            "a\u200bb",
            "ab",
            "\U0010ffff",
            "\ue000",
            "a\ue000b",
            "'",
            '"',
            '","',
            "a\nb",
            "NULL",
            "nan",
        ),
        *("%", "\\", "--", "${u}", "x" * 300),
        *("29.02.2024", "30.2.2024", "2024-02-29", "0000-01-01", "20240229", "2024-02-29 24:00"),
    ],
    "int64": [0, 1, -1, 2, 7, 2**31, 2**53, 2**53 + 1, -(2**53) - 1, 2**63 - 1, -(2**63), 10**15],
    "int8": [0, 1, -1, 2, 127, -128],
    "uint64": [0, 1, 2, 2**53 + 1, 2**63, 2**64 - 1],
    "bool": [True, False],
    "date": [
        date(1, 1, 1),
        date(9999, 12, 31),
        date(1969, 12, 31),
        date(2000, 2, 29),
        date(2024, 3, 1),
    ],
    "clock": _MOMENTS,
    "instant": [moment.replace(tzinfo=UTC) for moment in _MOMENTS],
    "seconds": [moment.replace(microsecond=0) for moment in _MOMENTS],
    "double": [
        *(
            0.0,
            -0.0,
            1.0,
            -1.0,
            0.5,
            1.5,
            2.0,
            9.0,
            -9.0,
            0.1,
            5e-324,
            1e308,
            -1e308,
            inf,
            -inf,
            nan,
        ),
        *(2.0**53, 1e15 + 0.5, 3.75, -2.25),
    ],
    "float": [0.0, -0.0, 1.0, -1.0, 0.5, 9.0, 1e-45, 3e38, inf, -inf, nan],
    "decimal": [
        Decimal(x) for x in ("0", "1", "-1", "0.5", "1E-9", "9", "-12345678901234567890.5")
    ],
}
_NUMBERS = ("int64", "int8", "uint64", "double", "float", "decimal", "bool")
_UNITS = ("text", "int64", "int8", "uint64", "bool", "date", "double", "float", "decimal")


@dataclass(frozen=True)
class Relation:
    """A table: (name, type) of its columns, and rows."""

    columns: tuple[tuple[str, str], ...]
    rows: tuple[tuple[Any, ...], ...]

    def arrow(self) -> pa.Table:
        values = zip(*self.rows, strict=True) if self.rows else [()] * len(self.columns)
        return pa.table(
            {
                name: pa.array(list(held), TYPES[kind])
                for (name, kind), held in zip(self.columns, values, strict=True)
            }
        )

    def place(self, name: str) -> int:
        return [column for column, _ in self.columns].index(name)

    def keeping(self, kept: Any) -> Relation:
        return replace(self, rows=tuple(row for row in self.rows if kept(row)))


# "t", and what is joined: "p" of the same units; "m" and "o", through which owners are found.
Data = Mapping[str, Relation]


@dataclass(frozen=True)
class Gone:
    """The unit by which neighbours differ.

    Attributes:
        unit: its name; of a unit that is a row, its place.
        kind: "row", "entity" or "owner".
        led: whether rows that lead to no one else are gone with their owner.
        turned: whether the rest comes in the opposite order.
    """

    kind: str
    unit: Any
    led: bool = False
    turned: bool = False


def data_of(draw: Random, lacks: Collection[str] = ()) -> Data:
    """Draw the four tables; few distinct values in each column, and some rows twice.

    Args:
        draw: the source of all.
        lacks: types that no column is to have.
    """
    unit = draw.choice([kind for kind in _UNITS if kind not in lacks])
    numbers = [kind for kind in _NUMBERS if kind not in lacks]
    kinds = {name: draw.choice(numbers) for name in "xyz"}
    columns = [("u", unit), ("g", "text"), ("k", "int64"), ("d", "date"), ("b", "bool")]
    moments = [kind for kind in ("clock", "instant", "seconds") if kind not in lacks]
    columns += [("w", draw.choice(moments)), ("x", kinds["x"]), ("y", kinds["y"]), ("f", "int64")]
    pools = {name: _pool(draw, kind) for name, kind in [*columns, ("z", kinds["z"])]}
    pools["who"] = pools["u"]
    pools["a"] = _pool(draw, "int64")
    size = draw.choice([0, 1, 2, 5, 12, 12, 25, 25, 25, 60])
    return {
        "t": _drawn(draw, columns, pools, size),
        "p": _drawn(draw, [("u", unit), ("k", "int64"), ("z", kinds["z"])], pools, size // 2),
        "m": _drawn(draw, [("f", "int64"), ("a", "int64")], pools, draw.choice([0, 4, 8])),
        "o": _drawn(draw, [("a", "int64"), ("who", unit)], pools, draw.choice([0, 4, 8])),
    }


def _pool(draw: Random, kind: str) -> list[Any]:
    values = draw.sample(POOLS[kind], min(len(POOLS[kind]), draw.choice([1, 2, 3, 3, 5])))
    # A unit, or a value, that is half of the table.
    return [*values, *[values[0]] * draw.choice([0, 0, 4]), *[None] * draw.choice([0, 0, 1])]


def _drawn(draw: Random, columns: Any, pools: Any, size: int) -> Relation:
    rows = [tuple(draw.choice(pools[name]) for name, _ in columns) for _ in range(size)]
    rows += draw.choices(rows, k=size // 4) if rows else []
    return Relation(tuple(columns), tuple(rows))


def gone_of(draw: Random, data: Data, kind: str) -> Gone | None:
    """Draw a unit that is there, the heavy ones rather."""
    turned, led = draw.random() < 0.3, kind == "owner" and draw.random() < 0.5
    if kind == "row":
        rows = len(data["t"].rows)
        return Gone(kind, draw.randrange(rows), turned=turned) if rows else None
    table, name = ("t", "u") if kind == "entity" else ("o", "who")
    there = [row[data[table].place(name)] for row in data[table].rows]
    there = [unit for unit in there if unit is not None]
    return Gone(kind, draw.choice(there), led, turned) if there else None


def without(data: Data, gone: Gone) -> Data:
    """Return the neighbour."""
    left = dict(data)
    if gone.kind == "row":
        rows = data["t"].rows
        left["t"] = replace(data["t"], rows=rows[: gone.unit] + rows[gone.unit + 1 :])
    else:
        names = [("p", "u"), ("t", "u") if gone.kind == "entity" else ("o", "who")]
        for table, name in names:
            at = data[table].place(name)
            left[table] = data[table].keeping(lambda row, at=at: not _same(row[at], gone.unit))
    if gone.kind == "owner" and gone.led:
        # One step leads from t.f to o.a, two lead over m: what leads to no one by either.
        was, now = _leading(data), _leading(left)
        left["m"] = data["m"].keeping(lambda row: row[1] not in was[0] or row[1] in now[0])
        at = data["t"].place("f")
        # By one step or by two: what leads on by either stays.
        lost = (was[0] - now[0]) | (was[1] - now[1])
        left["t"] = data["t"].keeping(lambda row: row[at] not in lost or row[at] in now[0] | now[1])
    if gone.turned:
        left = {name: replace(part, rows=part.rows[::-1]) for name, part in left.items()}
    return left


def _leading(data: Data) -> tuple[set[Any], set[Any]]:
    """Return which a, and which f over m, lead to some owner."""
    owners = {a for a, who in data["o"].rows if who is not None}
    return owners, {f for f, a in data["m"].rows if a in owners}


def _same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and one == other
