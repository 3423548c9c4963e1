"""Joins and foreign keys: who owns a joined row, what is refused, and what must be local."""

from collections import Counter
from dataclasses import replace
from datetime import date, datetime

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlglot import exp

from neyman.errors import EngineFailure, InvalidTable, UnknownColumn
from neyman.nodes import Nodes
from neyman.tables import (
    Bins,
    Bounds,
    Entity,
    ForeignKey,
    Keys,
    Rows,
    UnknownKeys,
    col,
    open_table,
)
from neyman.tables import _sql as sql
from neyman.tables._joins import _owners as owners
from random_cases import random_cases

MOMENT = datetime(2024, 1, 1)
ITEMS = {
    "order_id": [1, 1, 2, 3, 9, None],
    "price": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
    "carrier": ["AA", "UA", "AA", "XX", "AA", "AA"],
}
ORDERS = {"order_id": [1, 2, 2, 2, 3, 3, None], "customer": ["a", "a", "b", "b", None, "c", "d"]}
REVIEWS = {"who": ["a", "a", "b", None], "order": [1, 1, 2, 1], "stars": [1, 2, 3, 5]}
CARRIERS = {"carrier": ["AA", "UA", None], "city": ["x", None, "y"], "length": [1, 2.5, 9]}
KEYS = Keys({"carrier": ["AA", "UA", "XX"]})
PRICE = {"price": Bounds(0, 9, grid=1)}
STARS = {"stars": Bounds(0, 5, grid=1)}


def key(orders=ORDERS, **changed):
    given = {"on": "order_id", "to": pa.table(orders), "owner": "customer", "name": "orders"}
    return ForeignKey(**(given | changed))


def items(unit=None, rows=ITEMS):
    unit = unit or Entity(key(), max_rows=100)
    return open_table(pa.table(rows), unit=unit, bounds=PRICE, name="items")


def test_a_row_counts_once_for_each_owner():
    table = items()
    assert table.protects == "all rows of one customer"
    # Order 2 has two owners, though b is named twice; order 9 and NULL have none.
    assert table.count(KEYS).compute().tolist() == [3, 1, 1]
    assert table.sum("price").compute().tolist() == [1 + 2 + 3 + 3 + 4]
    assert table.count(Keys({"customer": ["c", "b", "a"]})).compute().tolist() == [1, 1, 3]
    one = table.bounded(max_rows=1)
    assert one.count(KEYS).compute().sum() == 3
    assert one.protects == table.protects


@pytest.mark.shows("foreign-keys")
def test_keys_in_a_chain():
    accounts = pa.table({"account": ["x", "y", "y"], "customer": [7, 8, 9]})
    orders = {"order_id": [1, 2, 3, 3], "acc": ["x", "y", "z", None]}
    step = ForeignKey({"acc": "account"}, accounts, owner="customer", name="accounts")
    table = items(Entity(key(orders, owner=step), max_rows=9))
    assert table.view.schema.names[-1] == "customer"
    assert table.count(Keys({"customer": [7, 8, 9, 10]})).compute().tolist() == [2, 1, 1, 0]
    assert len(table.count().source.split("frame:")) == 4
    assert table.count().query["unit"]["through"]["owner"]["on"] == [["acc", "account"]]


@pytest.mark.parametrize(
    "ask",
    [
        lambda t: t.count(UnknownKeys("customer")),
        lambda t: t.count(Keys({"customer": Bins([0, 5, 9], outside="drop")})),
        lambda t: t.with_bounds({"customer": Bounds(0, 9, grid=1)}).sum("customer"),
        lambda t: t.where(col("customer") == "a"),
    ],
)
def test_the_owners_name_is_compared_with_declared_keys_only(ask):
    said = (
        "column 'customer' names the unit in another table, and can be compared with declared keys "
        "only; write by=Keys({'customer': [...]}), or a column of this table"
    )
    with pytest.raises(InvalidTable) as caught:
        ask(items())
    assert str(caught.value) == said


def test_keys_of_several_columns():
    orders = {"order_id": [1, 1], "carrier": ["AA", "UA"], "customer": ["a", "b"]}
    table = items(Entity(key(orders, on=["order_id", "carrier"]), max_rows=9))
    # The other table has a column called carrier as well, which is not brought.
    assert table.count(Keys({"customer": ["a", "b"]})).compute().tolist() == [1, 1]


def reviewed(how="inner", **changed):
    given = {"on": {"customer": "who", "order_id": "order"}, "how": how, "name": "reviews"}
    return items().join(pa.table(REVIEWS), **(given | {"bounds": STARS} | changed))


def test_rows_of_two_units_are_refused():
    """Buyer a bought of nine others: without a, each of the nine would lose a joined row."""
    trades = pa.table({"buyer": ["a"] * 9 + list("bcdefghij"), "seller": [*"bcdefghij", *"z" * 9]})
    table = open_table(trades, unit=Entity("buyer", max_rows=1), name="trades")
    with pytest.raises(InvalidTable, match="names units 'seller', and names them 'buyer'"):
        table.join(trades, on={"buyer": "seller"}, how="inner", columns=[], name="trades")
    again = table.join(trades, on="buyer", how="inner", columns={"seller": "s"}, name="trades")
    assert again.count().compute().tolist() == [10]
    other = {"on": {"buyer": "seller"}, "how": "inner", "columns": [], "name": "others"}
    joined = table.join(trades, **other)
    with pytest.raises(InvalidTable, match="names units 'buyer', and names them 'seller'"):
        joined.join(trades, on="buyer", how="inner", columns=[], name="others")
    with pytest.raises(InvalidTable, match="leads to units by a foreign key"):
        items().join(
            pa.table(ITEMS), on={"customer": "carrier"}, how="inner", columns=[], name="items"
        )
    assert items().join(
        pa.table(ORDERS), on=["customer", "order_id"], how="inner", columns=[], name="orders"
    )


def test_a_chain_that_passes_its_end_is_refused():
    orders = {"order_id": [1, 2], "parent": [2, 2], "customer": ["a", "b"]}
    end = ForeignKey({"parent": "order_id"}, pa.table(orders), owner="customer", name="orders")
    with pytest.raises(InvalidTable, match="comes twice through the table that names the unit"):
        items(Entity(key(orders, owner=end), max_rows=1))
    end = ForeignKey({"parent": "order_id"}, pa.table(orders), owner="customer", name="others")
    assert items(Entity(key(orders, owner=end), max_rows=1))


def test_a_private_join_multiplies_within_a_unit():
    inner = reviewed()
    assert inner.count(KEYS).compute().tolist() == [2 + 1, 2, 0]
    assert inner.sum("stars").compute().tolist() == [3 + 3 + 3]
    left = reviewed("left")
    assert left.count(KEYS).compute().tolist() == [2 + 1 + 1, 2, 1]
    assert left.sum("stars").compute().tolist() == [9]
    # Bounds hold after the join, however the rows multiplied.
    assert inner.bounded(max_rows=1).count().compute().tolist() == [2]
    assert len(inner.count().source.split("frame:")) == 4


def test_every_question_goes_over_joined_rows():
    table = reviewed("left").join_public(CARRIERS, on="carrier", how="left")
    assert table.mean("stars", KEYS).compute().shape == (6,)
    assert table.count(Keys({"city": ["x"], "carrier": ["AA"]})).compute().tolist() == [4]
    nodes = Nodes(start=0.0, end=5.0, step=1.0, number=6, closed=False, dropped=False)
    counts = table.countable("stars").counter([nodes]).count()
    assert counts.tolist() == [0, 2, 2, 1, 0, 0]
    assert table.countable("stars").describe()["made"][1]["join_public"]["rows"] == 2


@pytest.mark.shows("join-public")
@pytest.mark.parametrize(
    "form", ["mapping", "arrow", "pandas", "polars", "csv", "parquet", "duckdb"]
)
def test_a_public_table_in_any_form(tmp_path, form):
    table = pa.table(CARRIERS)
    connection = duckdb.connect()
    connection.register("carriers", table)
    connection.execute("CREATE TABLE public AS FROM carriers")
    given = {
        "mapping": lambda: CARRIERS,
        "arrow": lambda: table,
        "pandas": table.to_pandas,
        "polars": lambda: pl.from_arrow(table),
        "csv": lambda: tmp_path / "carriers.csv",
        "parquet": lambda: str(tmp_path / "carriers.parquet"),
        "duckdb": lambda: (connection, "public"),
    }[form]()
    pq.write_table(table, tmp_path / "carriers.parquet")
    pd.DataFrame(CARRIERS).to_csv(tmp_path / "carriers.csv", index=False)
    joined = items().join_public(
        given, on="carrier", how="left", bounds={"length": Bounds(0, 9, grid=0.5)}
    )
    assert joined.sum("length", KEYS).compute().tolist() == [6, 5, 0]
    assert joined.count(Keys({"city": ["x", "y"]})).compute().tolist() == [3, 0]
    record = joined.count().query["made"][0]["join_public"]
    same = items().join_public(CARRIERS, on="carrier", how="left").count().query["made"][0]
    # However the table comes, the question is the same, and a stored answer stays free.
    assert record == same["join_public"]
    changed = CARRIERS | {"city": ["z", None, "y"]}
    other = items().join_public(changed, on="carrier", how="left").count().query["made"][0]
    assert record != other["join_public"]


def test_a_public_table_of_rows_and_of_every_type():
    days = [date(2024, 2, 29), date(1, 1, 1)]
    rows = {"day": [days[0], None, days[1]], "on": [True, False, None], "n": [2, 3, 5]}
    table = open_table(pa.table(rows), unit=Rows(), name="t")
    public = {"day": days, "kind": [True, False], "weight": [2**62, -3], "next": days[::-1]}
    joined = table.join_public(public, on="day", how="inner")
    assert joined.count().sensitivity.l1 == 1
    assert joined.count(Keys({"kind": [True, False]})).compute().tolist() == [1, 1]
    assert joined.count(Keys({"next": [days[1]]})).compute().tolist() == [1]
    assert joined.count(Keys({"weight": [-3, 2**62, 1]})).compute().tolist() == [1, 1, 0]
    twice = joined.join_public({"on": [True], "m": [1]}, on="on", how="left")
    assert twice.count(Keys({"m": [1]})).compute().tolist() == [1]


@pytest.mark.parametrize(
    ("ask", "says"),
    [
        (lambda: reviewed(on={"order_id": "order"}), "mixes rows of different units.*'customer'"),
        (lambda: reviewed(how="outer"), "how='outer' is no kind of join"),
        (lambda: reviewed(on=[]), "names no columns"),
        (lambda: reviewed(on=3), "names no columns"),
        (lambda: reviewed(columns=3), "names no columns"),
        (lambda: reviewed(columns={"stars": "PRICE"}), "both tables have a column 'price'"),
        (lambda: reviewed(bounds=PRICE), "bounds must be of the joined columns.*got 'price'"),
        (
            lambda: reviewed(on={"customer": "stars"}, bounds={}),
            "'customer' is of type text and column 'stars' of type integer, which do not match",
        ),
        (lambda: reviewed(name=None), "write name="),
        (
            lambda: items(Rows()).join(pa.table(REVIEWS), on="x", how="left", name="r"),
            "whose unit is one row.*or write join_public",
        ),
        (lambda: items(Entity(key(), max_rows=1), ITEMS | {"customer": [1] * 6}), "both tables"),
        (
            lambda: items(Entity(key({"order_id": [MOMENT], "customer": [1]}), max_rows=1)),
            "timestamp",
        ),
        (
            lambda: items(Entity(key({"order_id": [1], "customer": [MOMENT]}), max_rows=1)),
            "timestamp",
        ),
        (lambda: key(owner=3), "owner=3 names no unit"),
        (lambda: key(on=()), "names no columns"),
        (
            lambda: public({"carrier": ["AA", "AA"], "x": [1, 2]}),
            "two rows of the key carrier='AA'",
        ),
        (lambda: public({"carrier": ["AA"], "x": [1, 2]}), "not of one length"),
        (lambda: public({"carrier": [None], "x": [1]}), "has 0 rows with a key"),
        (lambda: public({"carrier": ["A", 1], "x": [1, 2]}), "holds int and str"),
        (lambda: public({"carrier": [1], "x": [1]}), "write str keys"),
        (lambda: public({"carrier": ["A"], "x": [None]}), "nothing but NULL"),
        (lambda: public({"carrier": ["A"], "x": [2**63]}), "cannot go into a statement"),
        (lambda: public({"carrier": ["A\0"], "x": [1]}), "cannot go into a statement"),
        (lambda: public({"carrier": ["A"], "price": [1]}), "both tables have a column 'price'"),
        (lambda: public((duckdb.connect(), "t")), "the database has no table 't'"),
        (lambda: public((None, "t")), "Write a data frame"),
        (lambda: public(7), "a int is no table"),
    ],
)
def test_refusals(ask, says):
    with pytest.raises(InvalidTable, match=says):
        ask()


def public(table, **changed):
    return items().join_public(table, **({"on": "carrier", "how": "left"} | changed))


def test_unknown_columns():
    for ask in (
        lambda: reviewed(on={"customer": "whom"}),
        lambda: reviewed(columns=["star"]),
        lambda: items(Entity(key(owner="client"), max_rows=1)),
        lambda: items(Entity(key(on="order"), max_rows=1)),
        lambda: public(CARRIERS, on="carier"),
        lambda: public(CARRIERS, columns=["town"]),
    ):
        with pytest.raises(UnknownColumn):
            ask()


def test_a_join_on_no_column_of_the_table_tells_which_is_near():
    with pytest.raises(UnknownColumn, match="no column 'custmer'; close to it are 'customer'"):
        reviewed(on={"custmer": "who"})


def test_a_joined_column_has_no_bounds_until_they_are_declared():
    with pytest.raises(InvalidTable, match="column 'stars' has no bounds"):
        reviewed(bounds={}).sum("stars")
    # What is called like a column with bounds brings none along.
    renamed = items().join_public(
        {"carrier": ["AA"], "price": [7]}, on="carrier", how="left", columns={"price": "list"}
    )
    with pytest.raises(InvalidTable, match="column 'list' has no bounds"):
        renamed.sum("list")


def test_files_and_frames_together(tmp_path):
    pq.write_table(pa.table(ITEMS), tmp_path / "items.parquet")
    pd.DataFrame({"order_id": [1, 2], "customer": ["a", "b"]}).to_csv(
        tmp_path / "orders.csv", index=False
    )
    unit = Entity(ForeignKey("order_id", tmp_path / "orders.csv", owner="customer"), max_rows=9)
    table = open_table(tmp_path / "items.parquet", unit=unit, bounds=PRICE)
    more = table.join(
        tmp_path / "orders.csv",
        on={"customer": "customer", "order_id": "order_id"},
        how="inner",
        columns=[],
    )
    with pytest.raises(InvalidTable, match=r"Write the columns that the join brings") as refused:
        table.join(tmp_path / "orders.csv", on="customer", how="inner")
    assert "order_id" not in str(refused.value)
    third = more.join(pa.table(REVIEWS), on={"customer": "who"}, how="left", name="r")
    assert third.count().compute().tolist() == [2 * 2 + 1]
    asked = third.count()
    assert asked.source.count("sha256:") == 3
    # Each of the files must be the one that was opened.
    (tmp_path / "orders.csv").write_text("order_id,customer\n1,a\n")
    with pytest.raises(EngineFailure, match="has changed since"):
        asked.compute()
    with pytest.raises(EngineFailure, match="has changed since"):
        third.sum("price")


def test_tables_of_one_connection(tmp_path):
    connection, other = duckdb.connect(), duckdb.connect()
    for each in (connection, other):
        each.register("i", pa.table(ITEMS))
        each.register("o", pa.table(ORDERS))
        each.execute("CREATE TABLE items AS FROM i; CREATE TABLE orders AS FROM o")

    def asked(to, name):
        unit = Entity(ForeignKey("order_id", to, owner="customer", name=name), max_rows=9)
        return open_table((connection, "items"), unit=unit, name="clinic").count(KEYS)

    assert asked((connection, "orders"), "clinic").compute().tolist() == [3, 1, 1]
    assert asked(pa.table(ORDERS), "frame").compute().tolist() == [3, 1, 1]
    with pytest.raises(InvalidTable, match="of two connections"):
        asked((other, "orders"), "clinic")
    pq.write_table(pa.table(ORDERS), tmp_path / "orders.parquet")
    with pytest.raises(InvalidTable, match="a file cannot be joined with a table of your conn"):
        asked(tmp_path / "orders.parquet", None)


# Small databases: a few units, orders of several owners, keys that repeat and that match nothing.
WHO = st.sampled_from(["a", "b", "c", None])
PLACE = st.sampled_from([1, 2, 3, None])
ROWS = st.fixed_dictionaries(
    {
        "items": st.lists(st.tuples(PLACE, st.sampled_from([-9.0, 0.0, 9.0, None])), max_size=8),
        "orders": st.lists(st.tuples(PLACE, PLACE), max_size=6),
        "accounts": st.lists(st.tuples(PLACE, WHO), max_size=6),
        "reviews": st.lists(st.tuples(WHO, PLACE), max_size=6),
    }
)
UNITS = st.one_of(
    st.builds(dict, max_rows=st.integers(1, 5)),
    st.builds(
        dict,
        max_rows=st.integers(1, 6),
        max_rows_per=st.builds(lambda rows: {"order_id": rows}, st.integers(1, 3)),
    ),
)
COLUMNS = {
    "items": {"order_id": pa.int64(), "x": pa.float64()},
    "orders": {"order_id": pa.int64(), "account": pa.int64()},
    "accounts": {"account": pa.int64(), "customer": pa.string()},
    "reviews": {"customer": pa.string(), "stars": pa.int64()},
}


def arrow(name, rows):
    parts = list(zip(*rows, strict=True)) or [(), ()]
    named = zip(COLUMNS[name].items(), parts, strict=True)
    return pa.table({column: pa.array(part, type_) for (column, type_), part in named})


def question(database, limits, how):
    tables = {name: arrow(name, rows) for name, rows in database.items()}
    account = ForeignKey("account", tables["accounts"], owner="customer", name="accounts")
    order = ForeignKey("order_id", tables["orders"], owner=account, name="orders")
    bounds = {"x": Bounds(-1, 2, grid=1)}
    unit = Entity(order, **limits)
    table = open_table(tables["items"], unit=unit, bounds=bounds, name="items")
    if how is not None:
        table = table.join(tables["reviews"], on="customer", how=how, name="reviews")
    return table.sum("x", Keys({"order_id": [1, 2, 3]}))


def reached(database):
    """The owners of each row of each table."""
    accounts = [{who} - {None} for _, who in database["accounts"]]

    def through(keys, name, owners):
        return [
            set().union(
                *(
                    own
                    for (k, *_), own in zip(database[name], owners, strict=True)
                    if k is not None and k == key
                )
            )
            for key in keys
        ]

    orders = through([account for _, account in database["orders"]], "accounts", accounts)
    return {
        "accounts": accounts,
        "orders": orders,
        "items": through([order for order, _ in database["items"]], "orders", orders),
        "reviews": [{who} - {None} for who, _ in database["reviews"]],
    }


def without(database, unit, owned):
    """A neighbour: without all rows that lead to this unit and to no one else."""
    return {
        name: [row for row, own in zip(rows, owned[name], strict=True) if own != {unit}]
        for name, rows in database.items()
    }


def is_bounded(database, limits, how, units="abc"):
    asked = question(database, limits, how)
    whole, owned = asked.compute(), reached(database)
    for unit in units:
        rest = without(database, unit, owned)
        # Or of the tables that name it alone, where what led to it is nobody's.
        named = database | {name: rest[name] for name in ("accounts", "reviews")}
        for neighbour in (rest, named) if rest != named else (rest,):
            if neighbour == database:
                continue
            change = whole - question(neighbour, limits, how).compute()
            if np.abs(change).sum() > asked.sensitivity.l1:
                return False
            if (change**2).sum() > asked.sensitivity.l2_squared:
                return False
    return True


@pytest.mark.shows("join-units")
@random_cases(6, soak=80)
@given(database=ROWS, limits=UNITS, how=st.sampled_from([None, "inner", "left"]))
def test_removing_a_unit(database, limits, how):
    assert is_bounded(database, limits, how)


def test_owners_that_are_not_local_fail(monkeypatch):
    """One owner an order, the first in the alphabet: without it, the rows become another's."""
    database = {
        "items": [(1, 9.0), (2, 9.0), (3, 9.0)],
        "orders": [(1, 1), (2, 1), (3, 2)],
        "accounts": [(1, "a"), (1, "b"), (2, "b")],
        "reviews": [],
    }
    # Which row is kept hangs on the salt, and that on the limits.
    limits = [{"max_rows": 1, "max_rows_per": {"order_id": rows}} for rows in range(1, 9)]
    assert all(is_bounded(database, each, None, "a") for each in limits)

    def one_owner(engine, view, foreign):
        engine, made = genuine(engine, view, foreign)
        (last,) = made.joins
        of, unit = sql.column("v0", "pairs"), exp.Min(this=sql.column("u", "pairs"))
        pairs = last.relation.this.copy().subquery(sql.identifier("pairs"))
        first = exp.select(sql.named(of, "v0"), sql.named(unit, "u")).from_(pairs).group_by(of)
        twin = replace(last, relation=first.subquery(sql.identifier("neyman_owner")))
        return engine, replace(made, joins=(twin,))

    genuine = owners.owned
    monkeypatch.setattr("neyman.tables._open.owned", one_owner)
    assert not all(is_bounded(database, each, None, "a") for each in limits)


@random_cases(6, soak=80)
@given(database=ROWS)
def test_owners_are_those_of_the_definition(database):
    counts = Counter(
        who
        for (_, _), own in zip(database["items"], reached(database)["items"], strict=True)
        for who in own
    )
    accounts = ForeignKey(
        "account", arrow("accounts", database["accounts"]), owner="customer", name="a"
    )
    order = ForeignKey("order_id", arrow("orders", database["orders"]), owner=accounts, name="o")
    table = open_table(
        arrow("items", database["items"]), unit=Entity(order, max_rows=1000), name="items"
    )
    found = table.count(Keys({"customer": ["a", "b", "c"]})).compute().tolist()
    assert found == [counts[who] for who in "abc"]
