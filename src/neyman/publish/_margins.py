"""Margins of one count: several ways to add up the very rows that the cells count."""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Final

import numpy as np

from neyman.aggregate import Aggregate, IntArray
from neyman.arguments import check_list, check_type
from neyman.errors import InvalidTable
from neyman.sensitivity import Sensitivity
from neyman.tables import Keys, Table, UnknownKeys

__all__ = ["MOST", "folded", "margin_index", "margins"]

# Sums stay below it.
MOST: Final = 2**62


def margins(table: Table, by: Keys, columns: Sequence[Sequence[str]]) -> tuple[Aggregate, ...]:
    """Ask for margins of the count by `by`: one question for each list of columns.

    A row counts in a margin where it counts in a cell, after the same limits: margins of one `by`
    add up before noise, as `table.count` of single columns would not (rows with another key, units
    cut elsewhere). Release them in a batch, and put them together with `contingency`.

    A unit with at most m rows, at most r of them in a cell, moves a margin's groups of c cells by

        l1 = m,  l2^2 = q s^2 + (m - q s)^2,  s = min(c r, m),  q = floor(m / s)

    Args:
        table: whose rows.
        by: the cells.
        columns: for each margin some of the columns of `by`; all of them for the cells, none for
            the total.

    Raises:
        InvalidParameter: if the margins are no lists, or the cells no keys.
        InvalidTable: if nobody declared the groups, a column is not one of `by`, or sums could
            leave 62 bits.
    """
    check_type("table", table, Table, "a table, from open_table(...)")
    check_type("by", by, Keys | UnknownKeys, 'the cells, Keys({"carrier": [...]})')
    check_list("columns", columns, 'a list of columns for each margin, such as [["carrier"], []]')
    for names in columns:
        one = repr([names]) if isinstance(names, str) else '["carrier"]'
        check_list("columns", names, f"a list for each margin, such as [{one}]")
    return tuple(_margin(table, by, tuple(names)) for names in columns)


def _margin(table: Table, by: Keys, names: tuple[str, ...]) -> Aggregate:
    cells = table.count(by)
    if cells.unknown is not None:
        raise InvalidTable(
            f"margins by {by!r} were asked for, whose cells nobody declared; write "
            "by=Keys({column: keys, ...})"
        )
    kept = by.project(*names) if names else None
    index, size = margin_index(by, names)
    most = int(np.bincount(index).max())
    if most * table.max_table_rows > MOST:
        raise InvalidTable(
            f"a margin of {most} cells with max_table_rows={table.max_table_rows} rows each could "
            "leave 62 bits; write a smaller max_table_rows where the table is opened"
        )

    def made(counts: IntArray) -> IntArray:
        found = np.zeros(size, np.int64)
        np.add.at(found, index, counts)
        return found

    return Aggregate(
        query=dict(cells.query) | {"margin": list(names)},
        source=cells.source,
        unit=cells.unit,
        sensitivity=folded(cells.sensitivity, most, size),
        size=size,
        reading=cells.reading,
        compute=lambda: made(cells.compute()),
        keys={} if kept is None else kept.to_columns(),
        sql=cells.sql,
        companion=None if cells.companion is None else cells.companion.after(made),
        check=cells.check,
    )


def margin_index(by: Keys, names: tuple[str, ...]) -> tuple[IntArray, int]:
    """Return the margin's group of each cell, in the order of `project`, and how many there are."""
    code = np.zeros(len(by), np.int64)
    places = dict(zip(by.columns, by.places(), strict=True))
    sizes = dict(zip(by.columns, map(len, by.domains), strict=True))
    for name in names:
        code = code * sizes[name] + places[name]
    if by.chosen is None:
        return code, math.prod(sizes[name] for name in names)
    _, first, inverse = np.unique(code, return_index=True, return_inverse=True)
    order = np.argsort(first)
    return np.argsort(order)[inverse], len(order)


def folded(cells: Sensitivity, most: int, size: int) -> Sensitivity:
    """Return the most that a unit moves `size` sums of at most `most` cells each.

    It moves a cell by at most r, a group so by at most m r, and all by at most l1; the squares of
    numbers up to m r of a given sum are most where as many as can be are m r.
    """
    total, one = cells.l1, cells.largest
    if total is None or one is None:
        raise InvalidTable("counts without l1 and largest move were given; count by declared keys")
    group = min(Fraction(most * one), total)
    full, rest = divmod(total, group)
    return Sensitivity(
        neighbors=cells.neighbors,
        l1=total,
        l2_squared=full * group**2 + rest**2,
        coordinates=None if cells.coordinates is None else min(cells.coordinates, size),
        largest=int(group),
    )
