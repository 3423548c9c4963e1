"""The statement gives what its rules say, row by row, in plain Python."""

import hashlib
import json
import math
from collections import Counter, defaultdict
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neyman.aggregate import Aggregate
from neyman.tables import Bounds, Entity, Keys, Rows, Table, open_table
from random_cases import random_cases

BOUNDS = Bounds(-2, 3, grid=0.5)
GROUPS = ["a", "b", "ü'\"; --"]
KEYS = Keys({"g": GROUPS})
COLUMNS = ("u VARCHAR", "g VARCHAR", "x DOUBLE")

values = st.one_of(
    st.none(),
    st.sampled_from([math.nan, math.inf, -math.inf, 1e308, -1e308, 5e-324, 0.25, -0.25, -0.0]),
    st.floats(-4, 5),
    st.sampled_from([0.5, 1.0]),
)
row = st.tuples(
    st.sampled_from(["u", "v", "w", "", None]),
    st.sampled_from([*GROUPS, "not declared", None]),
    values,
)
# Most lists are short unless they must be long, and then limits cut nothing.
rows = st.one_of(st.lists(row, max_size=40), st.lists(row, min_size=25, max_size=40))
units = st.one_of(
    st.just(Rows()),
    st.builds(Entity, st.just("u"), max_rows=st.integers(1, 12)),
    st.builds(
        lambda most, known: Entity("u", max_rows=most, max_rows_per=known),
        st.integers(1, 12),
        # Groups by a column that no question is grouped by ask for nothing.
        st.dictionaries(st.sampled_from(["g", "x", ("g", "u")]), st.integers(1, 4)),
    ),
    st.builds(
        lambda most, rows: Entity("u", max_rows=most).bounded(max_rows_per_group=rows),
        st.integers(1, 12),
        st.integers(1, 4),
    ),
)


def md5(*parts: object) -> str:
    return hashlib.md5(":".join(map(str, parts)).encode(), usedforsecurity=False).hexdigest()


def salt_of(aggregate: Aggregate) -> str:
    # Of the rows and the limits alone: questions about the same rows keep the same ones.
    said = {name: aggregate.query[name] for name in ("unit", "keys")}
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


def step(x: float) -> int:
    inside = min(max(x, float(BOUNDS.lower)), float(BOUNDS.upper))
    return math.floor(inside / float(BOUNDS.grid) + 0.5)


def declared(unit, keyed: bool) -> tuple[int, int, int]:
    """m, r and the number of groups, each limit as small as the others make it."""
    there = len(GROUPS) if keyed else 1
    known = [rows for columns, rows in unit.max_rows_per if keyed and columns == ("g",)]
    if unit.max_rows_per_group is not None:
        known.append(unit.max_rows_per_group)
    in_each = min([unit.max_rows, *known])
    return min(unit.max_rows, there * in_each), in_each, there


def bounded(table, unit, salt: str, keyed: bool, measured: bool) -> dict[int, list[int]]:
    """Rows (unit, group, k) -> the k that are kept in each group."""
    kept: dict[int, list[int]] = defaultdict(list)
    if unit.entity is None:
        for _, j, k in table:
            kept[j].append(k)
        return kept
    units: dict[str, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    for u, j, k in table:
        if u is not None:
            units[u][j].append(k)
    most, in_each, there = declared(unit, keyed)
    # Where r is m, the cut to m does the other's work.
    in_all = in_each > 1 and most < there * in_each
    first = None if in_all and in_each == most else in_each
    for u, groups in units.items():
        # With one row in a group, the cut to m rows is one of groups.
        names = sorted(groups, key=lambda j: md5(salt, j, u))
        left = {j: groups[j] for j in (names[:most] if in_each == 1 else names)}
        total = sum(min(len(ks), in_each) for ks in left.values())
        heavy = []
        for j, ks in left.items():
            if total <= most and len(ks) <= in_each:
                kept[j] += ks
                continue
            seen: Counter[int] = Counter()
            hashed = []
            for k in ks:
                seen[k] += 1
                hashed.append((md5(salt, j, *([k] if measured else []), seen[k], u), k))
            heavy += [(digest[16:], j, k) for digest, k in sorted(hashed)[:first]]
        for _, j, k in sorted(heavy)[:most]:
            kept[j].append(k)
    return kept


def reference(table, unit, aggregate: Aggregate, by: Keys | None) -> list[int]:
    place = {row[0]: j for j, row in enumerate(by.rows())} if by else None
    measured = aggregate.query["statistic"] != "count"
    coded = []
    for u, g, x in table:
        j = 0 if place is None else place.get(g)
        if j is None or (measured and (x is None or math.isnan(x))):
            continue
        coded.append((u, j, step(x) if measured else 0))
    kept = bounded(coded, unit, salt_of(aggregate), by is not None, measured)
    low, high = BOUNDS.steps
    centre = (low + high) // 2
    weight = max(high - centre, centre - low)
    answer = []
    for j in range(1 if by is None else len(by)):
        answer += {
            "count": [len(kept[j])],
            "sum": [sum(kept[j])],
            "mean": [weight * len(kept[j]), sum(k - centre for k in kept[j])],
        }[str(aggregate.query["statistic"])]
    return answer


def ask(table: Table, statistic: str, by: Keys | None) -> Aggregate:
    return {
        "count": lambda: table.count(by),
        "sum": lambda: table.sum("x", by),
        "mean": lambda: table.mean("x", by),
    }[statistic]()


@pytest.fixture(scope="module")
def question(fill):
    """One question of whatever rows the table holds when it runs."""

    @cache
    def asked(unit, statistic, keyed):
        source = fill("reference", COLUMNS, [])
        table = open_table(source, unit=unit, bounds={"x": BOUNDS}, name="reference")
        return ask(table, statistic, KEYS if keyed else None)

    return asked


@pytest.mark.shows("limits")
@pytest.mark.parametrize("statistic", ["count", "sum", "mean"])
@random_cases(12, soak=200)
@given(rows=rows, unit=units, keyed=st.booleans())
def test_integers_follow_the_rules(fill, question, statistic, rows, unit, keyed):
    aggregate = question(unit, statistic, keyed)
    fill("reference", COLUMNS, rows)
    found = aggregate.compute()
    assert found.tolist() == reference(rows, unit, aggregate, KEYS if keyed else None)
    assert len(found) == aggregate.size


def test_the_order_of_rows_does_not_matter(fill):
    rows = [("u", "a", i / 7 - 2) for i in range(30)] + [("u", "b", 1.0)] * 9
    unit = Entity("u", max_rows=8, max_rows_per={"g": 5})
    answers = set()
    for table in (rows, rows[::-1], rows[15:] + rows[:15]):
        opened = open_table(
            fill("reference", COLUMNS, table), unit=unit, bounds={"x": BOUNDS}, name="reference"
        )
        answers.add(tuple(opened.mean("x", KEYS).compute().tolist()))
    assert len(answers) == 1


def test_equal_rows_part_ways(fill):
    """Rows of one value are kept in proportion, not all or none: 400 of two values, 100 kept."""
    rows = [("u", "a", 0.0)] * 200 + [("u", "a", 1.0)] * 200
    table = open_table(
        fill("reference", COLUMNS, rows),
        unit=Entity("u", max_rows=100),
        bounds={"x": BOUNDS},
        name="reference",
    )
    (total,) = table.sum("x").compute().tolist()
    # Hypergeometric, mean 50 and deviation 4.3 rows: six deviations, error rate 2e-9.
    assert abs(total / 2 - 50) < 26


def test_another_question_keeps_other_rows(fill):
    rows = [("u", "a", x / 10) for x in range(-20, 30)]
    table = open_table(
        fill("reference", COLUMNS, rows),
        unit=Entity("u", max_rows=5),
        bounds={"x": BOUNDS},
        name="reference",
    )
    assert table.sum("x").compute() != table.sum("x", Keys({"g": ["a"]})).compute()
