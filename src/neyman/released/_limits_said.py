"""How much of a unit counts in an answer, in words."""

from collections.abc import Mapping
from typing import Final, cast

from neyman.released._counted import PER_UNIT

__all__ = ["limits_said"]

_IN_EACH: Final = "max_rows_per_group"


def limits_said(query: Mapping[str, object]) -> str | None:
    """Say what of one unit counts in an answer: "at most 5 rows of one patient (1 a year)".

    Args:
        query: the question, as the ledger records it.

    Returns:
        The contribution limits in words; None where each row is a unit.
    """
    unit = _record(query.get("unit"))
    entity, rows, in_each = (unit.get(name) for name in ("entity", "max_rows", _IN_EACH))
    if not isinstance(entity, str) or not isinstance(rows, int):
        return None
    once = in_each == 1 and query.get("statistic") == "count"
    once = once or query.get("statistic") in PER_UNIT
    grouped = query.get("keys") is not None
    if not grouped:
        most = min(rows, in_each) if isinstance(in_each, int) else rows
        return f"each {entity} once" if once else f"at most {_many(most, 'row')} of one {entity}"
    if once:
        return f"each {entity} once in each group{_groups(rows, _record(query.get('keys')))}"
    said = f"at most {_many(rows, 'row')} of one {entity}"
    known = cast("list[tuple[list[str], int]]", unit.get("max_rows_per") or [])
    least = min([rows, *(most for _, most in known)])
    if isinstance(in_each, int) and in_each < rows and in_each <= least:
        return f"{said}, {in_each:,} in each group"
    acting = [_claim(columns, most) for columns, most in known if most == least < rows]
    return f"{said} ({', '.join(acting)})" if acting else said


def _groups(most: int, keys: Mapping[str, object]) -> str:
    """Return the most groups that a unit counts in, where there are more."""
    values = keys.get("values")
    there = len(cast("list[object]", values)) if isinstance(values, list) else keys.get("count")
    if isinstance(there, int) and there <= most:
        return ""
    return f", at most {_many(most, 'group')}"


def _claim(columns: list[str], rows: int) -> str:
    """Write ["year", "ward"] with 1 as "1 a year and ward"."""
    name = " and ".join(columns)
    return f"{rows:,} {'an' if name[:1].lower() in tuple('aeio') else 'a'} {name}"


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def _record(written: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", written) if isinstance(written, Mapping) else {}
