"""A question in one sentence."""

from collections.abc import Mapping
from typing import cast

from neyman.released import columns_of, counts_units, limits_said, units_of

__all__ = ["asked"]

_NAMES = {
    "quantile": "quantiles",
    "field": "density",
    "count_units": "number of units",
    "crosstab": "count",
}


def asked(query: Mapping[str, object]) -> str:
    """Say what was asked, of which groups, and how much of a unit counts at most.

    Such as "count by carrier; at most 100 rows of one tailnum".

    Args:
        query: the question, as the ledger records it.
    """
    keys = _record(query.get("keys"))
    groups = [str(name) for name in _list(keys.get("columns", keys.get("unknown")))]
    margin = query.get("margin")
    by = groups if margin is None else [str(name) for name in _list(margin)]
    steps = [_record(step).get("step") for step in _list(query.get("made"))]
    chosen = ", of the rows that a condition keeps" if "where" in steps else ""
    limits = limits_said(query)
    counted = "" if limits is None else f"; {limits}"
    return f"{_what(query)}{f' by {_and(by)}' if by else ''}{_margins(query)}{chosen}{counted}"


def _margins(query: Mapping[str, object]) -> str:
    """Say which margins are shown of a contingency table."""
    shown = [[str(name) for name in _list(one)] for one in _list(query.get("margins"))]
    said = [f"by {_and(names)}" if names else "in total" for names in shown]
    return f", with sums {', '.join(said)}" if said else ""


def _what(query: Mapping[str, object]) -> str:
    parts = _list(query.get("parts")) if query.get("statistic") == "together" else [query]
    return _and([_one({**query, **_record(part)}) for part in parts])


def _one(query: Mapping[str, object]) -> str:
    name = str(query.get("statistic", "answer"))
    said = _NAMES.get(name, name.replace("_", " "))
    if counts_units(query):
        return f"number of {units_of(query)}"
    if name == "survival" and query.get("columns"):
        times, *events = [str(column) for column in _list(query["columns"])]
        return f"survival by {times}, where {_and(list(dict.fromkeys(events)))} is the event"
    if "response" in query:
        features = [_column(feature) for feature in _list(query.get("features"))]
        return f"{said} of {_column(query['response'])} on {_and(features)}"
    listed = [str(column) for column in _list(query.get("columns"))]
    columns = listed or list(columns_of(query))
    if name == "regression" and len(columns) == 2:
        return f"{said} of {columns[1]} on {columns[0]}"
    return f"{said} of {_and(columns)}" if columns else said


def _and(words: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def _column(written: object) -> str:
    return str(_record(written).get("column", written))


def _list(written: object) -> list[object]:
    return cast("list[object]", written) if isinstance(written, list) else []


def _record(written: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", written) if isinstance(written, Mapping) else {}
