"""What is asked of joined rows is what would be asked of the rows, had they been written out."""

import numpy as np
import pyarrow as pa
import pytest

import neyman as ny
from neyman import functional, publish
from neyman.errors import EntryConflict, InvalidParameter, InvalidTable

N = 400
RNG = np.random.default_rng(5)
ITEMS = pa.table({"order_id": RNG.integers(0, 60, N), "minutes": RNG.gamma(3.0, 9.0, N)})
OWNERS = {int(order): f"p{order % 25}" for order in range(0, 60, 1) if order % 7}
ORDERS = pa.table({"order_id": list(OWNERS), "customer": list(OWNERS.values())})
WARDS = {"order_id": list(range(50)), "hour": [order % 24 + 0.5 for order in range(50)]}
# Nothing is cut: a cut hangs on the question, which says how its rows were made.
LIMITS = {"max_rows": N}
BOUNDS = {"minutes": ny.Bounds(0, 60, grid=1)}


def joined():
    key = ny.ForeignKey("order_id", ORDERS, owner="customer", name="orders")
    table = ny.open_table(ITEMS, unit=ny.Entity(key, **LIMITS), bounds=BOUNDS, name="items")
    hours = {"hour": ny.Bounds(0, 24, grid=0.5)}
    return table.join_public(WARDS, on="order_id", how="left", bounds=hours)


def written():
    rows = ITEMS.to_pydict()
    hours = dict(zip(*WARDS.values(), strict=True))
    rows["customer"] = [OWNERS.get(order) for order in rows["order_id"]]
    rows["hour"] = [hours.get(order) for order in rows["order_id"]]
    return ny.open_table(
        pa.table(rows),
        unit=ny.Entity("customer", **LIMITS),
        bounds=BOUNDS | {"hour": ny.Bounds(0, 24, grid=0.5)},
        name="items",
    )


ASKED = {
    "count": lambda table: table.count(),
    "sum": lambda table: table.sum("hour"),
    "mean": lambda table: table.mean("minutes"),
    "density": lambda table: publish.density(
        table, "hour", domain=functional.Circle(24), bandwidth=1
    ),
    "two": lambda table: publish.density(
        table,
        ["minutes", "hour"],
        domain=functional.Box(
            functional.Interval(0, 60, outside="clip"), functional.Interval(0, 24, outside="clip")
        ),
        bandwidth=(6, 2),
    ),
    "survival": lambda table: publish.survival(
        table, duration="minutes", observed="hour", horizon=60, bandwidth=6
    ),
    "regression": lambda table: publish.regression(
        table,
        x="hour",
        y="minutes",
        domain=functional.Circle(24),
        response=functional.Interval(0, 60, outside="clip"),
        bandwidth=3,
    ),
}


@pytest.mark.parametrize("asked", ASKED)
def test_the_same_integers(asked):
    one, other = ASKED[asked](joined()), ASKED[asked](written())
    assert one.compute().tolist() == other.compute().tolist()
    assert one.sensitivity == other.sensitivity
    assert one.unit == other.unit == "all rows of one customer"
    assert one.source != other.source
    assert one.query != other.query


def test_a_release_of_joined_rows_is_charged_and_stored(tmp_path):
    table = joined()
    ledger = ny.Ledger.open(
        tmp_path / "shop.ledger", cap=ny.gdp(1), unit=table.protects, neighbors="add_remove"
    )
    asked = table.mean("minutes")
    noise = ny.Gaussian.calibrate(asked.sensitivity, mu=0.5)
    first = ny.release(asked, noise, ledger, entry="minutes")
    again = ny.release(joined().mean("minutes"), noise, ledger, entry="minutes")
    assert again.replayed
    assert again.columns == first.columns
    # Another public table, or rows of one owner table written anew under its name, is another
    # question; the second cannot be seen, for data in memory are known by their name.
    other = table.join_public({"order_id": [1], "more": [2]}, on="order_id", how="left")
    with pytest.raises(EntryConflict):
        ny.release(other.mean("minutes"), noise, ledger, entry="minutes")


def test_bias_shows_no_private_table():
    public = ny.open_table(ITEMS, unit=ny.Rows(), name="last year")
    private = ny.open_table(
        ITEMS.append_column("who", pa.array(["a"] * N)),
        unit=ny.Entity("who", max_rows=5),
        bounds=BOUNDS,
        name="this year",
    )
    with pytest.raises(InvalidTable, match="must have the same filters"):
        publish.bias(lambda table: table.count(), joined(), public)
    key = ny.ForeignKey("order_id", ORDERS, owner="customer", name="orders")
    through = ny.open_table(ITEMS, unit=ny.Entity(key, max_rows=5), name="items")
    orders = ny.open_table(ORDERS, unit=ny.Rows(), name="orders")
    with pytest.raises(InvalidTable, match=r"must find .* by a foreign key"):
        publish.bias(lambda table: table.count(), through, orders)
    # Rows of others, but the private orders.
    unit = ny.Entity(key, max_rows=5)
    others = ny.open_table(ITEMS.slice(0, 5), unit=unit, name="other items")
    with pytest.raises(InvalidParameter, match="got the table itself"):
        publish.bias(lambda table: table.count(), through, others)
    asked = ny.open_table(
        ITEMS.append_column("who", pa.array(["a"] * N)), unit=ny.Rows(), name="last year"
    )
    who = pa.table({"who": ["a"]})
    with pytest.raises(InvalidTable, match="whose unit is one row"):
        publish.bias(
            lambda table: table.join(who, on="who", how="inner", name="who").count(),
            private,
            asked,
        )
