"""How much of the public rows counts, and how many values bounds move."""

from dataclasses import replace
from functools import reduce

from neyman.aggregate import Aggregate, IntArray
from neyman.publish._asked import Asked
from neyman.publish._numbers_of import counted
from neyman.publish._wide import of_known_units, outside, row_count
from neyman.tables import Rows, col

__all__ = ["share_kept", "share_moved"]


def share_kept(asked: Asked, own: IntArray | None) -> float | None:
    """Return the share of the rows that limits keep; None where there are no rows.

    Of a statistic of units it is that of the groups of a unit, on average.

    Args:
        asked: the query, of public rows.
        own: the exact integers of its companion.
    """
    table = asked.table
    if asked.query.per_unit and own is not None:
        whole, kept, lost = (int(part) for part in own[:3])
        return (whole + kept) / (whole + kept + lost) if own[:3].any() else None
    for column in () if asked.query.statistic_name == "several" else asked.query.bounds:
        table = table.where(~col(column).as_number().is_null())
    rows = replace(of_known_units(table), unit=Rows())
    every = int(counted(rows.count(asked.by))[0].sum())
    return int(counted(table.count(asked.by))[0].sum()) / every if every else None


def share_moved(asked: Asked, question: Aggregate, own: IntArray | None) -> float | None:
    """Return the share of the values that bounds move; None where there are none to tell.

    Where a unit has several rows it is the average over units, as a release tells it.
    """
    companion = question.companion
    if companion is not None and own is not None:
        units = int(own[:3].sum())
        return int(own[3]) / units if companion.record["bounds"] and units else None
    held = [outside(name, asked.table.bounds[name]) for name in asked.query.bounds]
    rows = row_count(asked.table)
    return (
        row_count(asked.table, reduce(lambda one, other: one | other, held)) / rows
        if held and rows
        else None
    )
