"""Joined rows, and what is kept of them, are the same on every engine."""

import math
from datetime import date

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from neyman.tables import Bounds, Entity, ForeignKey, Keys, open_table

WORDS = ["a", "A", "a ", "", "ä", "a\u0308", "ß'\"; --", "\\Q.\\E\n\t", "${env:HOME}", "\U0001f600"]
WHOLES = [-(2**63), 2**63 - 1, 2**53 + 1, 2**53, 0, 1]
DAYS = [date(1, 1, 1), date(2020, 2, 29)]


def or_null(*values: object) -> st.SearchStrategy:
    return st.one_of(st.none(), st.sampled_from(values))


def lists(*columns: st.SearchStrategy) -> st.SearchStrategy:
    return st.lists(st.tuples(*columns), max_size=12)


ORDER, WHO = or_null(*WHOLES[:3]), or_null(*WORDS[:4])
SCHEMAS = {
    "items": {"order_id": pa.int64(), "code": pa.string(), "x": pa.float64(), "n": pa.int16()},
    "orders": {"id": pa.int64(), "who": pa.string(), "day": pa.date32()},
    "reviews": {"client": pa.string(), "id": pa.int32(), "stars": pa.float32()},
}
QUESTION = {
    "items": lists(
        ORDER, or_null(*WORDS), or_null(math.nan, math.inf, -9.0, 0.5, 1.0, 1e308), or_null(0, 1, 2)
    ),
    "orders": lists(ORDER, WHO, or_null(*DAYS)),
    "reviews": lists(WHO, or_null(0, 1, 2), or_null(math.nan, 1.0, 2.5)),
    "limits": st.builds(
        dict,
        max_rows=st.integers(1, 9),
        max_rows_per=st.dictionaries(
            st.sampled_from(["code", "n", ("n", "order_id")]), st.integers(1, 3)
        ),
    ),
    "how": st.sampled_from(["inner", "left"]),
}
PUBLIC = {
    "code": [word for word in WORDS if word],
    "city": WORDS[::-1][1:],
    "weight": [None, 1e308, -0.0, 0.1, -1e-320, math.inf, -math.inf, 7.0, 2.0],
    "day": [DAYS[i % 2] for i in range(9)],
    "big": [WHOLES[i % 6] for i in range(9)],
    "yes": [None if i == 4 else i % 2 == 0 for i in range(9)],
}
BOUNDS = {"x": Bounds(-2, 3, grid=0.5)}
ALL, COUNT = slice(None), slice(-1, None)
KEYS = {
    "who": Keys({"who": WORDS[:4]}),
    "city": Keys({"city": WORDS}),
    "big, yes": Keys({"big": WHOLES, "yes": [True, False]}),
    "next, n": Keys({"next": DAYS, "n": [0, 1]}),
}


def arrow(name, rows) -> pa.Table:
    parts = list(zip(*rows, strict=True)) or [()] * len(SCHEMAS[name])
    named = zip(SCHEMAS[name].items(), parts, strict=True)
    return pa.table({column: pa.array(part, type_) for (column, type_), part in named})


def answers(fill, tables, limits, how, chosen=ALL) -> dict[str, list[int]]:
    held = {name: fill(arrow(name, rows), name) for name, rows in tables.items()}
    orders, reviews = held["orders"], held["reviews"]
    key = ForeignKey({"order_id": "id"}, orders["source"], owner="who", name=orders["name"])
    table = (
        open_table(**held["items"], unit=Entity(key, **limits), bounds=BOUNDS)
        .join(
            reviews["source"],
            on={"who": "client", "n": "id"},
            how=how,
            name=reviews["name"],
            bounds={"stars": Bounds(0, 5, grid=0.5)},
        )
        .join_public(
            PUBLIC,
            on="code",
            how=how,
            columns={"city": "city", "weight": "weight", "big": "big", "yes": "yes", "day": "next"},
            bounds={"weight": Bounds(-9, 9, grid=0.1)},
        )
    )
    asked = {
        "count by two columns, one of them public": table.count(KEYS["next, n"]),
        "mean of a public column": table.mean("weight", KEYS["who"]),
        "sum of a joined column by a public one": table.sum("stars", KEYS["city"]),
        "mean of an own column by public ones": table.mean("x", KEYS["big, yes"]),
        "count": table.count(),
    }
    return {what: asked[what].compute().tolist() for what in list(asked)[chosen]}


def in_memory(table, name):
    return {"source": table, "name": name}


def many(examples: int):
    # No shrinking: a cluster is slow, and the tables are printed whole.
    return settings(
        max_examples=examples,
        phases=[Phase.generate],
        suppress_health_check=[HealthCheck.function_scoped_fixture],
    )


def test_same_joins(store):
    def same(items, orders, reviews, limits, how):
        tables = {"items": items, "orders": orders, "reviews": reviews}
        # The first tables tried hold no rows: of them, one question.
        chosen = ALL if items or orders or reviews else COUNT
        there, here = (
            answers(fill, tables, limits, how, chosen) for fill in (store.fill, in_memory)
        )
        assert there == here

    store.try_tables(3, same, **QUESTION)


@pytest.mark.soak
@many(80)
@given(**QUESTION)
def test_same_joins_of_many_tables(store, items, orders, reviews, limits, how):
    tables = {"items": items, "orders": orders, "reviews": reviews}
    assert answers(store.fill, tables, limits, how) == answers(in_memory, tables, limits, how)


def test_names_of_joined_tables_are_never_sql(store):
    nasty = 'a"; DROP TABLE t; --${env:HOME}`'
    first = store.fill(pa.table({nasty: ["a", "b"], "n": [1, 2]}), "items")
    other = store.fill(pa.table({nasty: ["a", "a"], "'": ["x", None]}), "orders")
    table = open_table(**first, unit=Entity(nasty, max_rows=9)).join(
        other["source"], on=nasty, how="left", columns={"'": nasty + "2"}, name=other["name"]
    )
    table = table.join_public({nasty: [1], "b": ["\\'"]}, on={"n": nasty}, how="left")
    assert table.count(Keys({nasty + "2": ["x"], "b": ["\\'"]})).compute().tolist() == [1]
