"""What the noisy count that a group is shown by counts, in words."""

from collections.abc import Mapping
from typing import cast

__all__ = ["counted", "counts_units", "in_counted"]


def counted(query: Mapping[str, object]) -> str:
    """Return what the groups of a question are counted in: rows, or the units themselves."""
    return "units" if counts_units(query) else "rows"


def counts_units(query: Mapping[str, object]) -> bool:
    """Return whether a count is one of units: of each at most one row counts in a group."""
    unit = query.get("unit")
    record = cast("Mapping[str, object]", unit if isinstance(unit, Mapping) else {})
    one = record.get("max_rows_per_group") == 1 and "entity" in record
    statistic = query.get("statistic")
    return statistic == "count_units" or (statistic == "count" and one)


def in_counted(query: Mapping[str, object], threshold: int, weight: int) -> str:
    """Write a threshold for people, such as "1,060 rows".

    Args:
        query: the question.
        threshold: in lattice units.
        weight: how many of them each row, or unit, is.
    """
    return f"{threshold / weight:,.6g} {counted(query)}"
