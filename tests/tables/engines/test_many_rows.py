"""Units of thousands of rows, many of them equal: those are kept that come first by digest."""

import hashlib
import json
import random
from collections import Counter, defaultdict
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from neyman.nodes import Nodes
from neyman.tables import Bounds, Entity, Keys, open_table

GROUPS = ["a", "b"]
BOUNDS = {"x": Bounds(-50, 50, grid=1)}


def crowd() -> list[tuple[str, str, float]]:
    """Pairs on both sides of each cut, blocks of equal rows that are whole and that are not."""
    draw = random.Random(7)
    rows = [("all alike", "a", 1.0)] * 2049 + [("all alike", "b", -3.0)] * 1024
    for n, u in ((125, "below"), (126, "at"), (620, "more"), (2500, "many")):
        for _ in range(n):
            rows.append((u, draw.choice("aab"), float(draw.randint(-5, 5))))
    rows += [("apart", "a", float(i % 101 - 50)) for i in range(700)]
    rows += [("few", "a", 2.0), ("few", "b", 2.0)]
    draw.shuffle(rows)
    return rows


def md5(*parts: object) -> str:
    return hashlib.md5(":".join(map(str, parts)).encode(), usedforsecurity=False).hexdigest()


def kept(rows: list[tuple[str, str, float]], question: Any, unit: Entity) -> dict[int, list[int]]:
    """Plain Python: r rows of a pair by their digests, m of a unit by the second halves."""
    said = {name: question.query[name] for name in ("unit", "keys")}
    salt = hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()
    limits = unit.limits(["g"], len(GROUPS))
    # Where r is m, the cut to m does the other's work.
    first = None if limits.cut_total == limits.rows else limits.rows
    units: dict[str, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    for u, g, x in rows:
        units[u][GROUPS.index(g)].append(int(x))
    answer: dict[int, list[int]] = defaultdict(list)
    for u, pairs in units.items():
        total = sum(min(len(ks), limits.rows) for ks in pairs.values())
        heavy = []
        for j, ks in pairs.items():
            if len(ks) <= limits.rows and total <= limits.total:
                answer[j] += ks
                continue
            seen: Counter[int] = Counter()
            hashed = []
            for k in ks:
                seen[k] += 1
                hashed.append((md5(salt, j, k, seen[k], u), k))
            heavy += [(digest[16:], j, k) for digest, k in sorted(hashed)[:first]]
        for _, j, k in sorted(heavy)[: limits.total]:
            answer[j].append(k)
    return answer


UNITS = {
    "1": Entity("u", max_rows=2, max_rows_per={"g": 1}),
    "77": Entity("u", max_rows=154, max_rows_per={"g": 77}),
    "400": Entity("u", max_rows=800, max_rows_per={"g": 400}),
    "20 of 31": Entity("u", max_rows=31, max_rows_per={"g": 20}),
    "31": Entity("u", max_rows=31),
}
# Many rows of a pair, and both cuts; the others in the long trials.
ON_SPARK = {"400", "20 of 31"}


@pytest.mark.parametrize(
    ("store", "unit"),
    [
        pytest.param(engine, UNITS[name], id=f"{engine}-{name}", marks=marks)
        for engine in ("duckdb", "postgres", "spark")
        for name in UNITS
        for marks in [() if engine != "spark" or name in ON_SPARK else pytest.mark.soak]
    ],
    indirect=["store"],
)
def test_the_first_rows_are_kept(store, unit):
    rows = crowd()
    u, g, x = zip(*rows, strict=True)
    given = store.fill(pa.table({"u": u, "g": g, "x": x}))
    question = open_table(**given, unit=unit, bounds=BOUNDS).sum("x", Keys({"g": GROUPS}))
    answer = kept(rows, question, unit)
    assert question.compute().ravel().tolist() == [sum(answer[j]) for j in range(len(GROUPS))]


def test_the_first_rows_are_counted_at_their_places(store):
    rows = [row for row in crowd() if row[1] == "a"]
    u, _, x = zip(*rows, strict=True)
    unit = Entity("u", max_rows=20)
    nodes = Nodes(start=-50.0, end=50.0, step=1.0, number=101, closed=False, dropped=False)
    records = open_table(**store.fill(pa.table({"u": u, "x": x})), unit=unit).countable("x")
    asked = {"unit": records.describe()["unit"], "keys": None}
    salt = hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()
    units: dict[str, list[int]] = defaultdict(list)
    for u, _, x in rows:
        units[u].append(int(x) + 50)
    expected = np.zeros(nodes.number, np.int64)
    for u, places in units.items():
        seen: Counter[int] = Counter()
        hashed = []
        for k in places:
            seen[k] += 1
            hashed.append((md5(salt, 0, k, seen[k], u), k))
        for _, k in sorted(hashed)[:20] if len(places) > 20 else hashed:
            expected[k] += 1
    assert (records.counter([nodes]).count() == expected).all()
