"""Which columns of an answer are keys, by its question: for records that do not say it."""

from collections.abc import Iterable, Mapping
from typing import cast

__all__ = ["keys_asked"]

_ENDS = ("_from", "_to")


def keys_asked(query: Mapping[str, object], columns: Iterable[str]) -> tuple[str, ...]:
    """Return those of the columns that the question names as its groups, in their order."""
    written = query.get("keys")
    if not isinstance(written, Mapping):
        return ()
    asked = cast("Mapping[str, object]", written)
    listed = asked.get("columns", asked.get("unknown"))
    named = set(map(str, cast("list[object]", listed))) if isinstance(listed, list) else set[str]()
    bins = asked.get("bins")
    cut = set(map(str, cast("Mapping[str, object]", bins))) if isinstance(bins, Mapping) else set()
    whole = (named - cut) | {name + end for name in cut for end in _ENDS}
    return tuple(column for column in columns if column in whole)
