"""A fixed corpus of statements, and the digest of each as it is rendered for each engine.

The guarantee rests on these texts. Where statements were changed on purpose, write their digests
anew, from the root of the repository, with

    python tests/tables/engines/rendered.py FOLDER

It writes the texts to the folder. Do it before the change and after, and read the differences.
"""

import hashlib
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
from sqlglot import exp

from neyman.nodes import beyond
from neyman.tables import (
    Bins,
    Bounds,
    Entity,
    ForeignKey,
    Keys,
    LinearRegression,
    Rows,
    UnknownKeys,
    col,
    open_table,
    when,
)
from neyman.tables._engines import _duckdb_engine, _postgres_words, _spark_words
from neyman.tables._engines._engine import Engine
from neyman.tables._engines._postgres_source import _KINDS
from neyman.tables._engines._spelling import Spelling

DIGESTS = Path(__file__).with_suffix(".json")
SPELLINGS: dict[str, Spelling] = {
    "duckdb": _duckdb_engine._SPELLING,
    "spark": _spark_words.SPELLING,
    "postgres": _postgres_words.SPELLING,
}
VISITS = pa.schema(
    {
        "id": pa.int64(),
        "who": pa.string(),
        "ward": pa.string(),
        "day": pa.date32(),
        "x": pa.float64(),
        "n": pa.int32(),
        "price": pa.decimal128(12, 2),
        "known": pa.bool_(),
        "came": pa.timestamp("us"),
        "left": pa.timestamp("ns", "UTC"),
    }
).empty_table()
OWNERS = pa.schema({"key": pa.int64(), "owner": pa.string()}).empty_table()
BOUNDS = {
    "x": Bounds(-2, 3, grid=0.1),
    "n": Bounds(0, 9, grid=1),
    "price": Bounds(0, 100, grid=0.5),
}
WARDS = Keys({"ward": ["north", "it's\\ ${x}", "süd"]})
X, N, DAY, WARD, CAME = col("x"), col("n"), col("day"), col("ward"), col("came")
MADE = {
    "arithmetic": when(X > 1.5).then(abs(N * 2.0 - X / 3.0) % 7).otherwise(X // 2 - -N),
    "rounded": X.clip(0, 2).round(0.25),
    "greater": X.maximum(N).minimum(3).coalesce(0),
    "days": DAY.year() * 12 + DAY.month() + DAY.day() + DAY.weekday(),
    "since": DAY.days_since(date(2020, 2, 29)),
    "clock": CAME.hour() * 60 + CAME.minute() + CAME.at_offset("+09:00").second(),
    "stay": (col("left") - CAME) * 24 + CAME.hours_since(DAY),
    "truncated": CAME.truncate("quarter") - DAY.truncate("week") + CAME.truncate("month").week(),
    "texts": WARD.lower().prefix(3).length(),
}
CHOSEN = (
    (WARD.is_in(["a", "b"]) & ~WARD.starts_with("c"))
    | (X.between(0, 1) & (date(2020, 1, 1) <= DAY))
    | CAME.between(datetime(2020, 1, 1, 12), "2021-02-03")
    | (N.is_null() & (col("known") == True) & (WARD.as_text() != ""))  # noqa: E712
)


def ask() -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield a name and a question: one of everything that a statement is made of."""
    rows = open_table(VISITS, unit=Rows(), bounds=BOUNDS, name="d")
    units = open_table(VISITS, unit=Entity("who", max_rows=5), bounds=BOUNDS, name="d")
    owner = ForeignKey({"id": "key"}, OWNERS, owner="owner", name="o")
    owned = open_table(VISITS, unit=Entity(owner, max_rows=5), bounds=BOUNDS, name="d")
    made = rows.with_columns(**MADE).with_bounds({name: Bounds(0, 4, grid=0.25) for name in MADE})
    joined = rows.join_public({"ward": ["north"], "beds": [7]}, on="ward", how="left")
    regression = LinearRegression(units.measured("n"), (units.measured("x"),))
    yield "count", rows.count
    yield "units by keys", lambda: units.count_units(WARDS)
    yield "sum by two keys", lambda: rows.sum("x", Keys({"n": [1, 2], "known": [True, False]}))
    yield "sum of decimals", lambda: units.sum("price", Keys({"day": [date(2020, 2, 29)]}))
    yield "mean by bins", lambda: units.mean("x", Keys({"n": Bins([0, 3, 9], outside="drop")}))
    yield "variance", lambda: units.variance("n", WARDS)
    yield "correlation", lambda: rows.correlation("x", "n")
    yield "regression", lambda: units.aggregate(regression)
    yield "unknown groups", lambda: units.count(UnknownKeys("ward", "day"))
    yield "rows where", lambda: units.where(CHOSEN).count()
    for name in MADE:
        yield f"made: {name}", lambda name=name: made.sum(name)
    yield "cut", lambda: rows.with_columns(g=X.cut([0, 1, 2])).count(UnknownKeys("g"))
    yield "joined", lambda: joined.count(Keys({"beds": [7]}))
    yield "of a foreign key", lambda: owned.count(WARDS)
    yield "at nodes", lambda: units.countable("x", by=WARDS).counter([beyond(3.0)])


@contextmanager
def noted() -> Iterator[list[exp.Query]]:
    """Note each statement that a question is about to be made of."""
    statements: list[exp.Query] = []
    looked = Engine.refuse_stand_ins

    def note(_: Engine, *asked: exp.Query) -> None:
        statements.extend(asked)

    changed: Any = Engine
    changed.refuse_stand_ins = note
    try:
        yield statements
    finally:
        changed.refuse_stand_ins = looked


def corpus() -> dict[str, exp.Query]:
    """Return the statements."""
    found: dict[str, exp.Query] = {}
    for name, question in ask():
        with noted() as statements:
            question()
        found |= zip((name, f"{name}, with its companion"), statements, strict=False)
    number = _KINDS["numeric"].number
    assert number is not None
    found["numeric of PostgreSQL"] = exp.select(number(exp.column("x", quoted=True)))
    return found


def texts() -> dict[str, dict[str, str]]:
    """Return, for each engine, the statements' texts by their names."""
    statements = corpus()
    return {
        engine: {name: spelling.text(statement) for name, statement in statements.items()}
        for engine, spelling in SPELLINGS.items()
    }


def digests(found: dict[str, dict[str, str]]) -> dict[str, dict[str, str]]:
    """Return the SHA-256 of each text."""
    return {
        engine: {name: hashlib.sha256(text.encode()).hexdigest() for name, text in named.items()}
        for engine, named in found.items()
    }


if __name__ == "__main__":
    now = texts()
    DIGESTS.write_text(json.dumps(digests(now), indent=1) + "\n")
    for engine, named in now.items():
        written = "".join(f"-- {name}\n{text}\n" for name, text in named.items())
        (Path(sys.argv[1]) / f"{engine}.sql").write_text(written, encoding="utf-8")
