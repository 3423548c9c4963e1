"""Margins of a count: sums over the same rows that the cells count."""

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

# The bound of sums.
MOST: Final = 2**62


def margins(table: Table, by: Keys, columns: Sequence[Sequence[str]]) -> tuple[Aggregate, ...]:
    """Count margins of the cells of `by`: one question for each list of columns.

    A row counts in a margin if it counts in a cell, after the same limits. So margins of one `by`
    add up before noise. Counts by single columns (`table.count`) would not: they include rows with
    other keys, and limits drop other rows. Release the margins in a batch, and combine them with
    `contingency`.

    A unit with at most m rows, at most r of them in a cell, changes a margin's groups of c cells by

        l1 = m,  l2^2 = q s^2 + (m - q s)^2,  s = min(c r, m),  q = floor(m / s)

    Args:
        table: the table.
        by: the cells.
        columns: for each margin a list of columns of `by`; all of them for the cells, an empty list
            for the total.

    Raises:
        InvalidParameter: if the margins are not lists, or the cells are not keys.
        InvalidTable: if the groups are not declared, a column is not in `by`, or sums could exceed
            62 bits.
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
            f"margins need declared cells; got {by!r}. Write by=Keys({{column: keys, ...}})"
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
    """Return each cell's group in the margin, in the order of `project`, and their number."""
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
    """Return the sensitivity of `size` sums of at most `most` = m cells each.

    A unit changes a cell by at most r, so a group by at most m r, and all by at most l1. Numbers up
    to m r with a given sum have the largest squares if as many as possible equal m r.
    """
    total, one = cells.l1, cells.largest
    if total is None or one is None:
        raise InvalidTable(
            "margins need counts with a known l1 sensitivity; these have none. Count by declared "
            "keys"
        )
    group = min(Fraction(most * one), total)
    full, rest = divmod(total, group)
    return Sensitivity(
        neighbors=cells.neighbors,
        l1=total,
        l2_squared=full * group**2 + rest**2,
        coordinates=None if cells.coordinates is None else min(cells.coordinates, size),
        largest=int(group),
    )
