"""Which columns of an answer are keys, and what a group is called by them."""

from collections.abc import Iterable, Mapping
from typing import cast

from neyman.released._written import record_of

__all__ = ["called", "keys_asked"]

_ENDS = ("_from", "_to")


def keys_asked(query: Mapping[str, object], columns: Iterable[str]) -> tuple[str, ...]:
    """Return the columns that the question names as its groups: for records that do not say it."""
    asked = record_of(query.get("keys"))
    listed = asked.get("columns", asked.get("unknown"))
    named = set(map(str, cast("list[object]", listed))) if isinstance(listed, list) else set[str]()
    cut = set(record_of(asked.get("bins")))
    whole = (named - cut) | {name + end for name in cut for end in _ENDS}
    return tuple(column for column in columns if column in whole)


def called(keys: Mapping[str, object]) -> str:
    """Return the name of a group, such as "JFK · -60 to 0" of a text and a bin."""
    first, last = _ENDS
    words: list[str] = []
    for name, key in keys.items():
        start = name.removesuffix(first)
        if f"{start}{last}" in keys and start != name:
            words.append(f"{key} to {keys[start + last]}")
        elif f"{name.removesuffix(last)}{first}" not in keys or not name.endswith(last):
            words.append(str(key))
    return " · ".join(words)
