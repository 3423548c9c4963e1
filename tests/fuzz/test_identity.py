"""A question's identity in a ledger follows from what will run, whatever it says of itself."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, fields
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import ClassVar

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from sqlglot import exp

import neyman as ny
from fuzz.built import drawn, statistics
from fuzz.tables import POOLS
from neyman import functional, publish
from neyman.digests import digest
from neyman.errors import EntryConflict, InvalidParameter
from neyman.functional import Interval, Target
from neyman.tables import (
    Bounds,
    Component,
    Count,
    Entity,
    ForeignKey,
    Keys,
    Measured,
    Rows,
    Statistic,
    col,
    open_table,
)

ROWS = pa.table({"who": ["a", "a", "b"], "g": ["x", "y", "x"], "v": [5.0, 40.0, 90.0]})
BOUNDS = {"v": Bounds(0, 100, grid=1)}


def table(unit=Rows(), bounds=BOUNDS, source=ROWS, **given):  # noqa: B008
    name = None if isinstance(source, Path) else "rows"
    return open_table(source, unit=unit, bounds=bounds, name=name, **given)


@dataclass(frozen=True)
class Beyond(Statistic):
    """Forgets its threshold in the record."""

    column: Measured
    steps: int

    @property
    def columns(self):
        return (self.column,)

    @property
    def components(self):
        late = lambda k: exp.case().when(k[0] > self.steps, "1").else_("0")  # noqa: E731
        return (Component(late, 0, 1),)

    @property
    def names(self):
        return Count().names

    def describe(self):
        return {"statistic": "beyond"}

    def reading(self, *, unit_rows, weight=1):
        return Count().reading(unit_rows=unit_rows, weight=weight)


def kinds() -> list[type[Statistic]]:
    return sorted({*statistics(), Beyond}, key=lambda kind: kind.__qualname__)


@pytest.mark.parametrize("kind", kinds(), ids=lambda kind: kind.__qualname__)
def test_two_questions_have_one_identity_if_one_statement_runs_and_else_two(kind, monkeypatch):
    """Found by subclass, and with records that say nothing at all."""
    for each in kinds():
        monkeypatch.setattr(each, "describe", lambda _: {"statistic": "alike"})
    columns = pa.table({name: pa.array([1.0]) for name in "xyz"})
    numbers = {name: Bounds(0, 10 + i, grid=1) for i, name in enumerate("xyz")}
    opened = open_table(columns, unit=Rows(), bounds=numbers, name="t")
    draw, found = Random(1), {}
    for _ in range(12):
        question = opened.aggregate(drawn(draw, kind, list("xyz")).on(opened.measured))
        found.setdefault(question.sql(), []).append(question.query)
    for same in found.values():
        assert all(query == same[0] for query in same)
    identities = [str(same[0]) for same in found.values()]
    assert len(set(identities)) == len(identities)
    assert len(identities) > 1 or not fields(kind) or kind is Count


def test_a_parameter_that_a_record_forgets_is_another_question_to_a_ledger(tmp_path):
    rows = table()
    few, many = (rows.aggregate(Beyond(rows.measured("v"), steps)) for steps in (10, 90))
    assert {k: v for k, v in few.query.items() if k != "computation"} == {
        k: v for k, v in many.query.items() if k != "computation"
    }
    ledger = ny.Ledger.open(
        tmp_path / "l.ledger", cap=ny.gdp(1), unit="one row", neighbors="add_remove"
    )
    noise = ny.Gaussian.calibrate(few.sensitivity, mu=0.1)
    ny.release(few, noise, ledger, entry="late")
    assert ny.release(few, noise, ledger, entry="late").replayed
    with pytest.raises(EntryConflict, match="computation"):
        ny.release(many, noise, ledger, entry="late")


def test_what_changes_the_reading_alone_shares_the_identity():
    plain, poisson = (table().aggregate(Count(poisson=flag)) for flag in (False, True))
    assert plain.query == poisson.query


ASKED = {
    "plain": lambda: table().mean("v"),
    "bounds": lambda: table(bounds={"v": Bounds(0, 101, grid=1)}).mean("v"),
    "grid": lambda: table(bounds={"v": Bounds(0, 100, grid=2)}).mean("v"),
    "most rows": lambda: table(max_table_rows=5).mean("v"),
    "unit": lambda: table(Entity("who", max_rows=2)).mean("v"),
    "limit": lambda: table(Entity("who", max_rows=3)).mean("v"),
    "other unit": lambda: table(Entity("g", max_rows=2)).mean("v"),
    "through": lambda: table(
        Entity(ForeignKey("g", pa.table({"g": ["x"], "o": ["p"]}), owner="o", name="o"), max_rows=2)
    ).mean("v"),
    "keys": lambda: table().mean("v", Keys({"g": ["x", "y"]})),
    "order of keys": lambda: table().mean("v", Keys({"g": ["y", "x"]})),
    "where": lambda: table().where(col("v") > 5).mean("v"),
    "other where": lambda: table().where(col("v") > 6).mean("v"),
    "public": lambda: table().join_public({"g": ["x"], "w": [1]}, on="g", how="left").mean("v"),
    "other public": lambda: (
        table()
        .join_public({"g": ["x"], "w": [2]}, on="g", how="left", columns=["w"])
        .with_bounds({"w": Bounds(0, 9, grid=1)})
        .mean("w")
    ),
    "crosstab": lambda: publish.crosstab(table(), Keys({"g": ["x", "y"]}), whole=True),
    "weights": lambda: publish.crosstab(
        table(), Keys({"g": ["x", "y"]}), [[]], shares=(2, 1), whole=True
    ),
    "quantiles": lambda: publish.quantiles(table(), "v", [0.5]),
    "quantiles by": lambda: publish.quantiles(table(), "v", [0.5], by=Keys({"g": ["x"]})),
    "quantiles of a grid": lambda: publish.quantiles(
        table(), "v", [0.5], bounds=Bounds(0, 100, grid=2)
    ),
    "density": lambda: publish.density(table(), "v", bandwidth=2),
    "bandwidth": lambda: publish.density(table(), "v", bandwidth=3),
    "dropped": lambda: publish.density(
        table(), "v", bandwidth=2, domain=Interval(0, 100, outside="drop")
    ),
    "target": lambda: publish.density(table(), "v", bandwidth=2, target=functional.Cumulative()),
    "density of a unit": lambda: publish.density(
        table(Entity("who", max_rows=2)), "v", bandwidth=2
    ),
}


def test_whatever_changes_the_integers_changes_the_digest():
    found = {name: ask().query["computation"] for name, ask in ASKED.items()}
    assert len(set(found.values())) == len(found), found


def test_a_digest_does_not_depend_on_rows_nor_on_where_a_file_lies(tmp_path):
    place, other = tmp_path / "a.parquet", tmp_path / "b" / "c.parquet"
    other.parent.mkdir()
    pyarrow.parquet.write_table(ROWS, place)
    shutil.copy(place, other)
    assert table(source=place).mean("v").query == table(source=other).mean("v").query
    assert table().mean("v").query == table(source=ROWS.slice(1)).mean("v").query
    text: dict[Path, object] = {}
    for path in (tmp_path / "a.csv", tmp_path / "b" / "d.csv"):
        pyarrow.csv.write_csv(ROWS, path)
        text[path] = table(source=path).mean("v").query
    assert len({str(query) for query in text.values()}) == 1
    digests = []
    for name in ("t", "other"):
        connection = duckdb.connect()
        connection.register("arrow", ROWS)
        connection.execute(f"CREATE TABLE {name} AS FROM arrow")
        digests.append(table(source=(connection, name)).mean("v").query)
    assert digests[0] == digests[1]


@dataclass(frozen=True)
class Forgetful(Target):
    """Forgets its weight in the record."""

    first: Fraction
    kind: ClassVar[str] = "forgetful"

    def weights(self, frequencies, bandwidth):  # noqa: ARG002
        return np.concatenate([[float(self.first)], np.ones(len(frequencies) - 1)])


ARRAYS = {
    "plain": {},
    "weight": {"target": Forgetful(Fraction(2))},
    "other weight": {"target": Forgetful(Fraction(3))},
    "bandwidth": {"bandwidth": 0.5},
    "domain": {"domain": Interval(0, 20, outside="clip")},
    "outside": {"domain": Interval(0, 10, outside="drop")},
    "unit": {"units": functional.Units(np.array([1]), 1)},
    "more of a unit": {"units": functional.Units(np.array([1]), 2)},
    "relation": {"neighbors": "replace_one"},
}


def test_of_arrays_all_that_a_basis_holds_is_in_the_identity():
    asked = {
        "domain": Interval(0, 10, outside="clip"),
        "bandwidth": 1,
        "neighbors": "add_remove",
        "unit": "one person",
        "name": "n",
    }
    found = {
        name: functional.density(np.array([1.0]), **(asked | other)).query["computation"]
        for name, other in ARRAYS.items()
    }
    assert len(set(found.values())) == len(found)


def test_a_digest_tells_values_types_and_classes_apart_and_refuses_what_it_cannot():
    @dataclass(frozen=True)
    class One:
        held: object

    class Slotted:
        __slots__ = ("held",)

        def __init__(self, held):
            self.held = held

    values = [
        *(1, True, "1", 1.0, Fraction(1), b"1", None, "", (), (1,), ((1,),), (1, 1), {"a": 1}),
        *(
            {"a": 2},
            One(1),
            One(2),
            One((1,)),
            Slotted(1),
            Slotted(2),
            np.array([1]),
            np.array([1.0]),
        ),
        *(np.array([[1]]), np.float32(1), -0.0, 0.0, Beyond, *POOLS["date"][:2]),
    ]
    digests = [digest(value) for value in values if value is not Beyond]
    assert len(set(digests)) == len(digests)
    assert digest(float("nan")) == digest(float("nan"))
    for opaque in (len, lambda: 1, object(), duckdb.connect, np.array([None]), Beyond):
        with pytest.raises(InvalidParameter, match=r"must .*; got "):
            digest(opaque)
