"""A spec with its mistakes out of the way, so that those behind them are seen. It is never used."""

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from decimal import Decimal
from typing import Any, Final, cast

from pydantic_core import ErrorDetails

from neyman.publish._queries._query import SHOWN

__all__ = ["mended"]

_ASKED: Final = {"entry": "\0", "statistic": "count", "mu": 1}
# What stands in for a section that cannot be mended: nothing is wrong with it.
_STAND_INS: Final[Mapping[str, Mapping[str, Any]]] = {
    "data": {"path": "data.csv"},
    "unit": {"entity": "unit", "max_rows": 1},
    "budget": {"ledger": "ledger", "mu": 1, "delta_for_groups": Decimal("1e-6")},
}
_SPENDS: Final = ("mu", "epsilon", "rho", "share", "noise", "companion")
_REPLACED: Final = SHOWN.union(_SPENDS)
_NAMED: Final[Mapping[str, Mapping[str, Any]]] = {
    "columns": {"lower": 0, "upper": 1, "grid": 1},
    "keys": {"column": ["value"]},
    "unknown": {"columns": ["column"]},
}


def mended(
    fields: Mapping[str, Any],
    problems: Sequence[ErrorDetails],
    instead: Callable[[ErrorDetails], str | None],
) -> dict[str, Any]:
    """Return the fields of a spec without the problems that were told.

    A key or a statistic that is close to one that there is becomes that one, an unknown key goes.
    What else is wrong with a query may be what it spends or how it is displayed, which is replaced;
    if it is neither, the query is left out the next time. A section that is right stands in for a
    wrong one, so that what refers to it stays right, too.

    Args:
        fields: of a spec.
        problems: what is told.
        instead: what was meant by an unknown key or statistic.
    """
    found = deepcopy(dict(fields))
    dropped: set[int] = set()
    for problem in problems:
        steps = problem["loc"]
        if not steps or _rewritten(found, problem, instead(problem)):
            continue
        if steps[0] == "query" and len(steps) > 1 and isinstance(steps[1], int):
            if not _paid_anew(found["query"], steps[1]):
                dropped.add(steps[1])
        else:
            _replace(found, steps)
    if isinstance(found.get("query"), list):
        asked = cast("list[Any]", found["query"])
        kept = [query for i, query in enumerate(asked) if i not in dropped]
        found["query"] = kept or [dict(_ASKED)]
    return found


def _rewritten(fields: dict[str, Any], problem: ErrorDetails, meant: str | None) -> bool:
    """Write what was meant in place of a key or of a statistic; return whether that mends it."""
    steps = problem["loc"]
    if problem["type"] == "extra_forbidden":
        holder, key = _at(fields, steps[:-1]), steps[-1]
        if not isinstance(holder, dict) or key not in holder:
            return False
        value = cast("dict[Any, Any]", holder).pop(key)
        if meant is not None:
            cast("dict[Any, Any]", holder).setdefault(meant, value)
        return True
    if problem["type"] == "union_tag_invalid" and meant is not None:
        holder = _at(fields, steps)
        if isinstance(holder, dict):
            holder["statistic"] = meant
            return True
    return False


def _paid_anew(queries: Any, number: int) -> bool:
    """Have a query spend and show what is right; return whether it is another one then."""
    query: object = queries[number]
    if not isinstance(query, dict):
        return False
    held = cast("dict[str, Any]", query)
    kept = {name: value for name, value in held.items() if name not in _REPLACED} | {"mu": 1}
    changed = kept != held
    held.clear()
    held.update(kept)
    return changed


def _at(fields: Any, steps: Sequence[int | str]) -> Any:
    """Return what lies at a place; of the way there only what was written."""
    value: Any = fields
    for step in steps:
        if isinstance(value, dict):
            value = cast("dict[Any, Any]", value).get(step, value)
        elif isinstance(value, list) and isinstance(step, int):
            value = cast("list[Any]", value)[step]
    return cast("Any", value)


def _replace(fields: dict[str, Any], steps: Sequence[int | str]) -> None:
    """Put a right section in the place of a wrong one."""
    section = str(steps[0])
    if section == "query":
        fields["query"] = [dict(_ASKED)]
    elif section in _STAND_INS:
        fields[section] = dict(_STAND_INS[section])
    elif section in _NAMED and len(steps) > 1 and isinstance(fields.get(section), dict):
        fields[section][steps[1]] = dict(_NAMED[section])
    elif section in ("join", "join_public"):
        # The ones name the others.
        fields.pop("join", None)
        fields.pop("join_public", None)
    else:
        fields.pop(section, None)
