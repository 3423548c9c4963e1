"""A question in one sentence."""

from collections.abc import Callable, Mapping
from typing import TypeAlias, cast

from neyman.released import columns_of, counts_units, limits_said, units_of

__all__ = ["asked", "what_of"]

Words: TypeAlias = Callable[[str], str]

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
    limits = limits_said(query)
    return what_of(query) + ("" if limits is None else f"; {limits}")


def what_of(query: Mapping[str, object], *, called: Words = str) -> str:
    """Say the same without what limits count.

    Args:
        query: the question, as the ledger records it.
        called: what a column is called; its name by default.
    """
    steps = [_record(step).get("step") for step in _list(query.get("made"))]
    chosen = ", of the rows that a condition keeps" if "where" in steps else ""
    return f"{_short(query, called)}{chosen}"


def _short(query: Mapping[str, object], words: Words) -> str:
    margin = query.get("margin")
    groups = [str(name) for name in (_groups(query) if margin is None else _list(margin))]
    by = f" by {_and([words(name) for name in groups])}" if groups else ""
    return f"{_what(query, words)}{by}{_margins(query, words)}"


def _groups(query: Mapping[str, object]) -> list[object]:
    keys = _record(query.get("keys"))
    return _list(keys.get("columns", keys.get("unknown")))


def _margins(query: Mapping[str, object], words: Words) -> str:
    """Say which margins are shown of a contingency table."""
    shown = [[words(str(name)) for name in _list(one)] for one in _list(query.get("margins"))]
    said = [f"by {_and(names)}" if names else "in total" for names in shown]
    return f", with sums {', '.join(said)}" if said else ""


def _what(query: Mapping[str, object], words: Words) -> str:
    parts = _list(query.get("parts")) if query.get("statistic") == "together" else [query]
    return _and([_one({**query, **_record(part)}, words) for part in parts])


def _one(query: Mapping[str, object], words: Words) -> str:
    name = str(query.get("statistic", "answer"))
    said = _NAMES.get(name, name.replace("_", " "))
    if counts_units(query):
        return f"number of {units_of(query)}"
    if name == "survival" and query.get("columns"):
        # The times may stand twice: as where they end, and as what is observed.
        named = dict.fromkeys(str(column) for column in _list(query["columns"]))
        times, *events = map(words, named)
        return f"survival by {times}" + (f", where {_and(events)} is the event" if events else "")
    if "response" in query:
        features = [words(_column(feature)) for feature in _list(query.get("features"))]
        return f"{said} of {words(_column(query['response']))} on {_and(features)}"
    listed = [str(column) for column in _list(query.get("columns"))]
    columns = [words(column) for column in listed or columns_of(query)]
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
