"""What the noisy count that a group is shown by counts, in words."""

from collections.abc import Mapping

__all__ = ["counted", "in_counted"]


def counted(query: Mapping[str, object]) -> str:
    """Return what the groups of a question are counted in: rows, or the units themselves."""
    return "units" if query.get("statistic") == "count_units" else "rows"


def in_counted(query: Mapping[str, object], threshold: int, weight: int) -> str:
    """Write a threshold for people, such as "1,060 rows".

    Args:
        query: the question.
        threshold: in lattice units.
        weight: how many of them each row, or unit, is.
    """
    return f"{threshold / weight:,.6g} {counted(query)}"
