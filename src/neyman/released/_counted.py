"""What the noisy count that a group is shown by counts, in words."""

from collections.abc import Mapping
from typing import Final, cast

from neyman.released._entities import many_of

__all__ = ["PER_UNIT", "counted", "counts_units", "entity_of", "in_counted", "units_of"]

# Answers that a unit adds to once in each group.
PER_UNIT: Final = ("count_units", "mean_per_unit", "sum_per_unit")


def counted(query: Mapping[str, object]) -> str:
    """Return what the groups of a question are counted in: rows, or the units themselves."""
    return units_of(query) if query.get("statistic") in PER_UNIT else "rows"


def units_of(query: Mapping[str, object]) -> str:
    """Return what the units of a question are called, such as "patients"."""
    return many_of(entity_of(query))


def entity_of(query: Mapping[str, object]) -> str | None:
    """Return the column that names the units of a question; None where each row is one."""
    unit = query.get("unit")
    if not isinstance(unit, Mapping):
        return None
    entity = cast("Mapping[str, object]", unit).get("entity")
    return entity if isinstance(entity, str) else None


def counts_units(query: Mapping[str, object]) -> bool:
    """Return whether a question counts units."""
    return query.get("statistic") == "count_units"


def in_counted(query: Mapping[str, object], threshold: int, weight: int) -> str:
    """Write a threshold for people, such as "1,060 rows".

    Args:
        query: the question.
        threshold: in lattice units.
        weight: how many of them each row, or unit, is.
    """
    return f"{threshold / weight:,.6g} {counted(query)}"
