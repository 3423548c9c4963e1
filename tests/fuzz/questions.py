"""Questions as plain data: drawn, and asked of tables wherever they lie."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from itertools import product
from random import Random
from typing import Any

from fuzz.built import Built, drawn, statistics
from fuzz.forms import condition, number
from fuzz.functions import FUNCTIONS, function
from fuzz.tables import Data
from neyman.aggregate import Aggregate
from neyman.tables import (
    Bins,
    Bounds,
    Entity,
    ForeignKey,
    Keys,
    Rows,
    Table,
    Unit,
    UnknownKeys,
    Values,
    open_table,
    read_expression,
)

__all__ = ["Ask", "Places", "ask_of", "unit_of"]

# Of each table, what `open_table` takes: a source, and a name or None.
Places = Mapping[str, tuple[object, str | None]]

BOUNDS: Mapping[str, Bounds] = {
    "small": Bounds(-1, 2, grid=1),
    "half": Bounds(0, 9, grid=0.5),
    "tenth": Bounds(-1, 1, grid=0.1),
    "one": Bounds(0, 1, grid=1),
    "large": Bounds(-(10**15), 10**15, grid=10**12),
    "fine": Bounds(0, 10, grid=0.0001),
}


@dataclass(frozen=True)
class Ask:
    """One question.

    Attributes:
        kind: of the unit: "row", "entity" or "owner".
        max_rows: of a unit.
        steps: of the foreign keys, 1 or 2.
        limits: other limits, of the table once it is open.
        join: with "p": how, and the columns beside the unit's.
        public: with a public table: how, and on which columns.
        made: the form of a column "e".
        where: the form of a condition.
        by: the groups: a word, and what it takes.
        bounds: of all numbers.
        most: max_table_rows.
        what: a statistic, or the name of a function and its parameters.
    """

    what: Any
    kind: str = "row"
    max_rows: int = 1
    steps: int = 1
    limits: tuple[tuple[str, int], ...] = ()
    join: tuple[str, tuple[str, ...]] | None = None
    public: tuple[str, tuple[str, ...], tuple[tuple[Any, ...], ...]] | None = None
    made: Any = None
    where: Any = None
    by: Any = None
    bounds: str = "small"
    most: int = 2**20

    def of(self, places: Places) -> Aggregate:
        """Ask it."""
        table = self.table(places)
        groups = keys_of(self.by)
        if isinstance(self.what, Built):
            return table.aggregate(self.what.on(table.measured), groups)
        name, given = self.what
        return FUNCTIONS[name](table, groups, **dict(given))

    def table(self, places: Places) -> Table:
        """Open the table as the question wants it."""
        source, name = places["t"]
        bounds = BOUNDS[self.bounds]
        numbers = dict.fromkeys(("x", "y", "k"), bounds)
        unit = unit_of(self, places)
        table = open_table(source, unit=unit, bounds=numbers, max_table_rows=self.most, name=name)
        if self.limits:
            table = table.bounded(**dict(self.limits))
        if self.join is not None:
            how, on = self.join
            whose = "u" if self.kind == "entity" else "who"
            other, label = places["p"]
            pairs = {whose: "u"} | {column: column for column in on}
            table = table.join(
                other, on=pairs, how=how, columns=["z"], bounds={"z": bounds}, name=label
            )
        if self.public is not None:
            how, on, rows = self.public
            listed = dict(zip((*on, "q"), map(list, zip(*rows, strict=True)), strict=True))
            table = table.join_public(listed, on=list(on), how=how, bounds={"q": bounds})
        if self.made is not None:
            table = table.with_columns(e=read_expression(_listed(self.made)))
            table = table.with_bounds({"e": bounds})
        return table if self.where is None else table.where(read_expression(_listed(self.where)))


def unit_of(ask: Ask, places: Places) -> Unit:
    """Say who is protected: the only place that does."""
    if ask.kind == "row":
        return Rows()
    if ask.kind == "entity":
        return Entity("u", max_rows=ask.max_rows)
    (owners, label), (middle, second) = places["o"], places["m"]
    if ask.steps == 1:
        key = ForeignKey({"f": "a"}, owners, owner="who", name=label)
    else:
        last = ForeignKey("a", owners, owner="who", name=label)
        key = ForeignKey("f", middle, owner=last, name=second)
    return Entity(key, max_rows=ask.max_rows)


def keys_of(by: Any) -> Keys | UnknownKeys | None:
    """Make the groups."""
    if by is None:
        return None
    word, *given = by
    made: dict[str, Callable[..., Keys | UnknownKeys]] = {
        "keys": lambda *pairs: Keys({name: list(keys) for name, keys in pairs}),
        "rest": lambda *parts: Keys(
            {name: Values(keys, missing=a, other=b) for name, keys, a, b in parts}
        ),
        "tuples": Keys.tuples,
        "bins": lambda name, edges, outside: Keys({name: Bins(edges, outside=outside)}),
        "both": lambda name, keys, edges: Keys({name: keys, "x": Bins(edges, outside="clip")}),
        "public": lambda name, keys: Keys.of_public({name: list(keys)}, name),
        "unknown": UnknownKeys,
    }
    return made[word](*given)


def ask_of(draw: Random, data: Data, kind: str) -> Ask:
    """Draw a question of these tables."""
    columns = ["x", "y", "k"]
    join = public = made = None
    if kind != "row" and draw.random() < 0.3:
        join = (draw.choice(["inner", "left"]), draw.choice([(), (), ("k",)]))
        columns.append("z")
    if draw.random() < 0.2:
        public = _public(draw, data)
        columns.append("q")
    if draw.random() < 0.3:
        made = number(draw, 2)
        columns.append("e")
    limits = _limits(draw) if kind != "row" and draw.random() < 0.3 else ()
    by = _keys(draw, data)
    return Ask(
        what=_what(draw, columns, by),
        kind=kind,
        max_rows=draw.choice([1, 1, 2, 3, 5, 9]),
        steps=draw.choice([1, 2]),
        limits=limits,
        join=join,
        public=public,
        made=made,
        where=condition(draw, 2) if draw.random() < 0.3 else None,
        by=by,
        bounds=draw.choice([*BOUNDS, "small", "small", "one"]),
        most=draw.choice([2**20, 2**20, 2**20, 3]),
    )


def _what(draw: Random, columns: list[str], by: Any) -> Any:
    if draw.random() < 0.65 or (by is not None and by[0] == "unknown"):
        kind = draw.choice(sorted(statistics(), key=lambda kind: kind.__qualname__))
        return drawn(draw, kind, columns)
    return function(draw, columns, by)


def _limits(draw: Random) -> tuple[tuple[str, int], ...]:
    name = draw.choice(["max_rows", "max_rows_per_group"])
    return ((name, draw.choice([1, 2, 4])),)


def _distinct(draw: Random, data: Data, column: str, most: int) -> list[Any]:
    at = data["t"].place(column)
    there = sorted({row[at] for row in data["t"].rows if row[at] is not None}, key=repr)
    # One that no row has, too.
    more = {"g": ["nobody's"], "k": [12345], "b": []}[column]
    found = [*draw.sample(there, min(len(there), most)), *(more if draw.random() < 0.3 else [])]
    return found or more or [True]


def _keys(draw: Random, data: Data) -> Any:
    edges = sorted(draw.sample([-9, -1, 0, 0.5, 1, 2, 9, 10**15], draw.choice([2, 3, 4])))
    days = sorted(draw.sample(["0001-01-01", "1970-01-01", "2024-03-01", "9999-12-31"], 3))
    g, k = _distinct(draw, data, "g", 3), _distinct(draw, data, "k", 3)
    # Floats and decimals that are whole are keys, as integers are; true and false are not.
    x: tuple[Any, ...] = (0, 1.0, -1)
    if dict(data["t"].columns)["x"] == "bool":
        x = (True, False)
    return draw.choice(
        [
            None,
            None,
            ("keys", ("g", tuple(g))),
            ("keys", ("k", tuple(k))),
            ("keys", ("g", tuple(g)), ("k", tuple(k))),
            ("keys", ("b", (True, False))),
            ("keys", ("x", x)),
            ("tuples", ("g", "k"), tuple(dict.fromkeys((x, y) for x in g[:2] for y in k[:2]))[:3]),
            ("bins", "x", tuple(edges), draw.choice(["drop", "clip"])),
            ("both", "g", tuple(g), tuple(edges)),
            ("bins", "d", tuple(map(date.fromisoformat, days)), draw.choice(["drop", "clip"])),
            ("public", "g", tuple(g)),
            ("rest", ("g", tuple(g), None, "others")),
            ("rest", ("x", x, "no x", draw.choice([None, "other x"]))),
            ("rest", ("g", tuple(g), "no g", "other g"), ("k", tuple(k), "no k", "other k")),
            ("unknown", *draw.choice(_FOUND)),
        ]
    )


_FOUND = [("g",), ("k",), ("d",), ("b",), ("x",), ("g", "k"), ("u", "k")]


def _public(draw: Random, data: Data) -> Any:
    on = draw.choice([("g",), ("k",), ("g", "k")])
    parts = [_distinct(draw, data, column, 4) for column in on]
    rows = tuple((*key, draw.choice([0, 1, 2.5, -9])) for key in product(*parts))
    return draw.choice(["inner", "left"]), on, rows


def _listed(form: Any) -> Any:
    return [_listed(part) for part in form] if isinstance(form, tuple) else form
