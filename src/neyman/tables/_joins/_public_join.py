"""A join with a public table, one row per key, written into the statement as keys are.

It is public, so it is read at once: for duplicates, types, and a digest in the question's record.
As part of the text it goes to any engine. A row matches at most one of its rows, so a unit has no
more rows than before.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import pairwise
from typing import cast, final

from sqlglot import exp

from neyman.errors import InvalidTable
from neyman.tables import _kind as kind
from neyman.tables import _sql as sql
from neyman.tables._key import Key, key_text, whole_of
from neyman.tables._keys._listed import places_of
from neyman.tables._kind import Cast, Kind
from neyman.tables._on import How, On, Taken, pairs_of, refuse_no_how, taken_of, with_columns
from neyman.tables._schema import Column
from neyman.tables._sources._public import Cell, PublicTable
from neyman.tables._sql import Tree
from neyman.tables._view import Joined, View

__all__ = ["looked_up"]

_MOST = 10**6


def looked_up(
    view: View, table: object, *, on: On, columns: Taken, how: How
) -> tuple[View, tuple[str, ...]]:
    """Return the rows joined with the row of a public table that has their key, if any.

    Returns:
        The joined rows, and the names of the new columns.

    Raises:
        InvalidTable: if the public table cannot be read, has two rows with one key or more than
            10^6 rows, columns do not match, or two columns have the same name.
        UnknownColumn: if a table does not have a column.
    """
    refuse_no_how(how)
    pairs = pairs_of(on)
    public = PublicTable.of(table)
    taken = taken_of(columns, public.schema, pairs)
    found = public.columns(list(dict.fromkeys([*(theirs for _, theirs in pairs), *taken])))
    keys = [_keys(public, theirs, found[theirs], view.schema[ours]) for ours, theirs in pairs]
    more = [_alike(public.numbers(found[theirs], theirs)) for theirs in taken]
    cells = _sorted([*keys, *more], pairs)
    alias = f"neyman_public_{len(view.joins)}"
    lists: list[_List] = []
    same: list[Tree] = []
    for i, (ours, theirs) in enumerate(pairs):
        _kind_of(cells[i], theirs)
        value, parse = view.schema[ours].compared(cast("tuple[Key, ...]", cells[i]))
        lists.append(_List(f"v{i}", cells[i], parse))
        same.append(value.eq(sql.column(f"v{i}", alias)))
    new: list[Column] = []
    for i, (theirs, ours) in enumerate(taken.items()):
        made, parse = _kind_of(cells[len(pairs) + i], theirs)
        lists.append(_List(f"c{i}", cells[len(pairs) + i], parse))
        new.append(Column(ours, f"c{i}", made, sql.column(f"c{i}", alias)))
    step = {
        "join_public": {
            "on": [list(pair) for pair in pairs],
            "columns": [list(pair) for pair in taken.items()],
            "how": how,
            "rows": len(cells[0]),
            "sha256": _digest(cells),
        }
    }
    rows = _rows(lists).subquery(sql.identifier(alias))
    made_view = replace(
        view,
        schema=with_columns(view.schema, new, told=True),
        made=(*view.made, step),
        joins=(*view.joins, Joined(rows, exp.and_(*same), left=how == "left")),
    )
    return made_view, tuple(taken.values())


def _keys(public: PublicTable, name: str, cells: list[Cell], column: Column) -> list[Cell]:
    """Return the keys in the type of the private column; keys that are NULL there become NULL."""
    fitting = cells if str in column.kind.keys else public.numbers(cells, name)
    if int in column.kind.keys:
        # Codes such as 1.0; what is not whole matches nothing.
        fitting = [whole_of(cell) if isinstance(cell, float) else cell for cell in fitting]
    canonical = column.kind.canonical
    if canonical is not None:
        fitting = [canonical(cell) if isinstance(cell, str) else cell for cell in fitting]
    return [None if cell in column.kind.absent else cell for cell in fitting]


def _alike(cells: list[Cell]) -> list[Cell]:
    """Return whole numbers among floats as floats."""
    if {type(cell) for cell in cells} - {type(None)} != {int, float}:
        return cells
    return [float(cell) if type(cell) is int else cell for cell in cells]


def _sorted(
    cells: Sequence[Sequence[Cell]], pairs: Sequence[tuple[str, str]]
) -> list[tuple[Cell, ...]]:
    """Return the columns, row by row in the order of the keys, without rows that have no key.

    Raises:
        InvalidTable: if there are no rows, too many, or two with one key.
    """
    width = len(pairs)
    rows = [row for row in zip(*cells, strict=True) if None not in row[:width]]
    if not 0 < len(rows) <= _MOST:
        raise InvalidTable(
            f"the public table has {len(rows)} rows with a key, and one to {_MOST} go into a "
            "statement; write only rows that matter"
        )
    rows.sort(key=lambda row: [_text(cell) for cell in row[:width]])
    for before, after in pairwise(rows):
        if before[:width] == after[:width]:
            key = ", ".join(
                f"{theirs}={cell!r}" for (_, theirs), cell in zip(pairs, after, strict=False)
            )
            raise InvalidTable(
                f"the public table has two rows of the key {key}, and each row of the table would "
                "count twice; write one row a key, or join on further columns"
            )
    return list(zip(*rows, strict=True))


def _text(cell: Cell) -> str:
    match cell:
        case None:
            return ""
        case float():
            return {"inf": "Infinity", "-inf": "-Infinity"}.get(repr(cell), repr(cell))
        case _:
            return key_text(cell)


def _digest(cells: Sequence[Sequence[Cell]]) -> str:
    rows = [
        [None if cell is None else [type(cell).__name__, _text(cell)] for cell in column]
        for column in cells
    ]
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest()


def _same(value: Tree) -> Tree:
    return value


_KINDS: dict[type, tuple[Kind, Cast]] = {
    str: (kind.TEXT, _same),
    int: (kind.INTEGER, lambda value: sql.cast(value, "BIGINT")),
    float: (kind.FLOAT, lambda value: sql.cast(value, "DOUBLE")),
    bool: (kind.BOOLEAN, lambda value: sql.cast(value, "BOOLEAN")),
    date: (kind.DATE, lambda value: sql.cast(value, "DATE")),
}


def _kind_of(cells: Sequence[Cell], name: str) -> tuple[Kind, Cast]:
    found = {type(cell) for cell in cells if cell is not None}
    if len(found) != 1:
        mixed = " and ".join(sorted(kind.__name__ for kind in found)) or "nothing but NULL"
        raise InvalidTable(
            f"column {name!r} of the public table holds {mixed}; write cells of one type, or leave "
            "it out of columns"
        )
    return _KINDS[found.pop()]


@final
@dataclass(frozen=True, slots=True)
class _List:
    """A column as one literal.

    Attributes:
        name: name of the column in the statement.
        cells: the cells, row by row.
        parse: the map from a cell's text to its value.
    """

    name: str
    cells: tuple[Cell, ...]
    parse: Cast

    def rows(self) -> exp.Select:
        """Return places and values, without NULL."""
        texts = [None if cell is None else _text(cell) for cell in self.cells]
        return places_of(texts, self.parse)


def _rows(lists: Sequence[_List]) -> exp.Select:
    """Return the rows: the first list has all places."""
    names = [f"neyman_{part.name}" for part in lists]
    first = lists[0].rows().subquery(sql.identifier(names[0]))
    query = exp.Select().from_(first)
    for part, alias in zip(lists[1:], names[1:], strict=True):
        at = sql.column("j", alias).eq(sql.column("j", names[0]))
        rows = part.rows().subquery(sql.identifier(alias))
        query = query.join(rows, on=at, join_type="left")
    for part, alias in zip(lists, names, strict=True):
        query = query.select(sql.named(sql.column("v", alias), part.name))
    return query
