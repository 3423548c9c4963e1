"""Tables that name the unit, and joins, in a spec: what Python asks, and what mistakes say."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neyman as ny
from neyman.cli import main
from neyman.errors import InvalidTable, SpecError
from neyman.publish import plan, publish, read_spec

THROUGH = """
[data]
path = "items.parquet"
[unit]
entity = "customer"
max_rows = 4
[unit.through]
on = { order = "id" }
to = "orders.parquet"
[join_public.kinds]
path = "kinds.csv"
on = "kind"
how = "left"
columns = { group = "family" }
[derive]
twice = "price * 2"
[columns.twice]
lower = 0
upper = 20
grid = 1
[keys.families]
family = ["food", "tools"]
[budget]
ledger = "t.ledger"
mu = 3
[[query]]
entry = "a"
statistic = "mean"
column = "twice"
by = "families"
mu = 0.5
"""
PRIVATE = """
[data]
path = "orders.parquet"
[unit]
entity = "customer"
max_rows = 3
[join.people]
path = "people.parquet"
on = "customer"
how = "inner"
columns = "age"
[columns.age]
lower = 0
upper = 99
grid = 1
[budget]
ledger = "t.ledger"
mu = 3
[[query]]
entry = "a"
statistic = "sum"
column = "age"
mu = 0.5
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    items = {
        "order": [i % 40 for i in range(160)],
        "kind": [["bread", "saw", "nail"][i % 3] for i in range(160)],
        "price": [float(i % 11) for i in range(160)],
    }
    orders = {
        "id": list(range(40)),
        "customer": [f"c{i % 9}" for i in range(40)],
        "account": [i % 20 for i in range(40)],
    }
    accounts = {"number": list(range(20)), "owner": [f"c{i % 7}" for i in range(20)]}
    people = {"customer": [f"c{i}" for i in range(9)], "age": [20 + i for i in range(9)]}
    tables = {"items": items, "orders": orders, "people": people, "accounts": accounts}
    for name, columns in tables.items():
        pq.write_table(pa.table(columns), tmp_path / f"{name}.parquet")
    (tmp_path / "kinds.csv").write_text("kind,group\nbread,food\nsaw,tools\n", encoding="utf-8")
    return tmp_path


def planned(folder, text, *changes):
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    (folder / "s.toml").write_text(text, encoding="utf-8")
    return plan(read_spec(folder / "s.toml"), folder)


def same(found, asked):
    assert found.query == asked.query
    assert found.unit == asked.unit
    assert found.compute().tolist() == asked.compute().tolist()


def test_a_unit_that_another_table_names_and_a_public_join(folder):
    prepared = planned(folder, THROUGH)
    owner = ny.ForeignKey({"order": "id"}, folder / "orders.parquet", owner="customer")
    table = ny.open_table(folder / "items.parquet", unit=ny.Entity(owner, max_rows=4))
    table = table.join_public(
        folder / "kinds.csv", on="kind", how="left", columns={"group": "family"}
    )
    table = table.with_columns(twice=ny.col("price") * 2)
    table = table.with_bounds({"twice": ny.Bounds(0, 20, 1)})
    keys = ny.Keys({"family": ["food", "tools"]})
    same(prepared.steps[0].aggregate, table.mean("twice", keys))
    names = {path.name for path in prepared.files}
    assert names == {"items.parquet", "orders.parquet", "kinds.csv"}
    assert prepared.unit == "all rows of one customer"
    assert publish(prepared).releases[0].columns["family"] == ["food", "tools"]


def test_a_chain_of_tables_leads_to_the_unit(folder):
    change = (
        '[unit.through]\non = { order = "id" }\nto = "orders.parquet"\n',
        '[[unit.through]]\non = { order = "id" }\nto = "orders.parquet"\n'
        '[[unit.through]]\non = { account = "number" }\nto = "accounts.parquet"\n',
    )
    prepared = planned(folder, THROUGH, change, ('entity = "customer"', 'entity = "owner"'))
    step = ny.ForeignKey({"account": "number"}, folder / "accounts.parquet", owner="owner")
    step = ny.ForeignKey({"order": "id"}, folder / "orders.parquet", owner=step)
    table = ny.open_table(folder / "items.parquet", unit=ny.Entity(step, max_rows=4))
    assert prepared.steps[0].aggregate.query["unit"] == table.count().query["unit"]
    assert prepared.unit == "all rows of one owner"
    assert len(prepared.files) == 4


def test_a_private_join(folder):
    prepared = planned(folder, PRIVATE)
    table = ny.open_table(folder / "orders.parquet", unit=ny.Entity("customer", max_rows=3))
    bounds = {"age": ny.Bounds(0, 99, 1)}
    table = table.join(
        folder / "people.parquet", on="customer", how="inner", columns=["age"], bounds=bounds
    )
    same(prepared.steps[0].aggregate, table.sum("age"))


@pytest.mark.parametrize("name", ["items.parquet", "orders.parquet", "kinds.csv"])
def test_no_report_replaces_a_table(folder, capsys, name):
    planned(folder, THROUGH)
    before = (folder / name).read_bytes()
    assert main(["release", "s.toml", "--report", name]) == 1
    assert "--report" in capsys.readouterr().err
    assert (folder / name).read_bytes() == before
    assert not (folder / "t.ledger").exists()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('on = { order = "id" }', "on = 3", "unit.through.on: it should be text"),
        ('to = "orders.parquet"', "", "unit.through.to: is missing; a table that rows point to"),
        ('how = "left"', "", "join_public.kinds.how: is missing; a join needs path"),
        ('how = "left"', 'how = "outer"', "join_public.kinds.how: it should be 'inner' or 'left'"),
        ('on = "kind"', "on = []", "join_public.kinds.on: "),
        ("max_rows = 4", "", "an entity needs max_rows"),
        ('entity = "customer"\nmax_rows = 4', "rows = true", r"delete \[unit.through\]"),
        ("[join_public.kinds]", "[join_public.kinds]\nbounds = 3", "join_public.kinds.bounds: no"),
    ],
)
def test_mistakes_are_told_by_their_place(folder, old, new, said):
    with pytest.raises(SpecError, match=said):
        planned(folder, THROUGH, (old, new))


def test_what_does_not_go_with_the_table_is_told_by_its_section(folder):
    with pytest.raises(InvalidTable, match=r"^join_public\.kinds: "):
        planned(folder, THROUGH, ('{ group = "family" }', '["grup"]'))
    with pytest.raises(InvalidTable, match=r"^derive: .*'prize'"):
        planned(folder, THROUGH, ('"price * 2"', '"prize * 2"'))
    with pytest.raises(InvalidTable, match=r"^columns: .*'family'"):
        planned(folder, THROUGH, ("[columns.twice]", "[columns.family]"), ('"twice"', '"family"'))
    with pytest.raises(InvalidTable, match=r"^join\.people: .*unit"):
        planned(
            folder, PRIVATE, ('on = "customer"', 'on = { id = "age" }'), ('"age"\n[col', "[]\n[col")
        )


SHOPS = """
[join_public.shops]
path = "shops.csv"
on = "shop"
how = "inner"
before = "visits"
[join.visits]
path = "visits.parquet"
on = ["customer", "town"]
how = "inner"
columns = { minutes = "age" }
"""


def shops(folder):
    (folder / "shops.csv").write_text("shop,town\n0,here\n1,there\n", encoding="utf-8")
    orders = {"customer": [f"c{i % 9}" for i in range(40)], "shop": [i % 3 for i in range(40)]}
    visits = {
        "customer": [f"c{i % 9}" for i in range(30)],
        "town": [["here", "there", "else"][i % 3] for i in range(30)],
        "minutes": list(range(30)),
    }
    pq.write_table(pa.table(orders), folder / "orders.parquet")
    pq.write_table(pa.table(visits), folder / "visits.parquet")


def test_a_public_join_before_a_private_one_brings_what_it_is_joined_on(folder):
    shops(folder)
    text = PRIVATE.partition("[join.people]")[0] + SHOPS
    text += "[columns.age]" + PRIVATE.partition("[columns.age]")[2]
    prepared = planned(folder, text)
    table = ny.open_table(folder / "orders.parquet", unit=ny.Entity("customer", max_rows=3))
    table = table.join_public(folder / "shops.csv", on="shop", how="inner")
    table = table.join(
        folder / "visits.parquet",
        on=["customer", "town"],
        how="inner",
        columns={"minutes": "age"},
        bounds={"age": ny.Bounds(0, 99, 1)},
    )
    same(prepared.steps[0].aggregate, table.sum("age"))
    assert table.sum("age").compute().tolist() != [0]
    assert publish(prepared).releases
    with pytest.raises(ny.errors.UnknownColumn, match=r"^join\.visits: .*'town'"):
        planned(folder, text, ('before = "visits"\n', ""))
    with pytest.raises(SpecError) as caught:
        planned(folder, text, ('before = "visits"', 'before = "visit"'))
    assert (
        "join_public.shops.before must be the NAME of a [join.NAME]; got 'visit'. Write one of "
        "visits, or leave it out"
    ) in str(caught.value)


def test_removing_a_customer_moves_what_is_joined_so_no_more_than_is_said(folder):
    shops(folder)
    text = PRIVATE.partition("[join.people]")[0] + SHOPS
    text += "[columns.age]" + PRIVATE.partition("[columns.age]")[2]
    (whole,) = planned(folder, text).steps
    before, most = whole.aggregate.compute(), whole.aggregate.sensitivity.l1
    moved = 0
    kept = {name: pq.read_table(folder / f"{name}.parquet") for name in ("orders", "visits")}
    for who in range(9):
        for name, table in kept.items():
            rest = table.filter(pa.compute.not_equal(table["customer"], f"c{who}"))
            pq.write_table(rest, folder / f"{name}.parquet")
        (step,) = planned(folder, text).steps
        moved = max(moved, abs(step.aggregate.compute() - before).sum())
    assert 0 < moved <= most
