"""How much of a unit counts in an answer, in words."""

from collections.abc import Mapping, Sequence
from typing import Final, cast

from neyman.released._counted import PER_UNIT, entity_of
from neyman.released._written import record_of

__all__ = ["limits_said", "said_elsewhere"]

_IN_EACH: Final = "max_rows_per_group"


def limits_said(query: Mapping[str, object]) -> str | None:
    """Say how much of one unit counts: "at most 5 rows of each patient, at most 1 per year".

    Args:
        query: the question, as the ledger records it.

    Returns:
        The contribution limits in words; None where each row is a unit.
    """
    unit = record_of(query.get("unit"))
    entity, rows, in_each = entity_of(query), unit.get("max_rows"), unit.get(_IN_EACH)
    if entity is None or not isinstance(rows, int):
        return None
    once = in_each == 1 and query.get("statistic") == "count"
    once = once or query.get("statistic") in PER_UNIT
    grouped = query.get("keys") is not None
    if not grouped:
        most = min(rows, in_each) if isinstance(in_each, int) else rows
        return f"each {entity} once" if once else f"at most {_many(most, 'row')} of each {entity}"
    if once:
        return f"each {entity} once in each group{_groups(rows, record_of(query.get('keys')))}"
    said = f"at most {_many(rows, 'row')} of each {entity}"
    known = cast("list[tuple[list[str], int]]", unit.get("max_rows_per") or [])
    least = min([rows, *(most for _, most in known)])
    if isinstance(in_each, int) and in_each < rows and in_each <= least:
        return f"{said}, at most {in_each:,} in each group"
    acting = [_claim(columns, most) for columns, most in known if most == least < rows]
    return ", ".join([said, *acting])


def said_elsewhere(at: int, batch: Sequence[str]) -> str:
    """Say which question of a batch tells what limits and bounds did to this one, too.

    Args:
        at: its place, from 0.
        batch: what the questions are called, in order; those beyond go by their number.
    """
    where = f"'{batch[at]}'" if at < len(batch) else f"question {at + 1} of the batch"
    return (
        f"For the effect of limits and bounds, see {where}, where the same rows count under the "
        "same limits."
    )


def _groups(most: int, keys: Mapping[str, object]) -> str:
    """Return the most groups that a unit counts in, where there are more."""
    values = keys.get("values")
    there = len(cast("list[object]", values)) if isinstance(values, list) else keys.get("count")
    if isinstance(there, int) and there <= most:
        return ""
    return f", at most {_many(most, 'group')}"


def _claim(columns: list[str], rows: int) -> str:
    """Write ["year", "ward"] with 1 as "at most 1 per year and ward"."""
    return f"at most {rows:,} per {' and '.join(columns)}"


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
