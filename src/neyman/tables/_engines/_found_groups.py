"""Undeclared groups in the result of a statement: names, then integers."""

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from neyman.aggregate import FoundGroups, IntArray, KeyText

__all__ = ["read_groups"]

# Names are written by `_statements/_found.py`.
_DIGITS: Final = frozenset("0123456789abcdef:")


def read_groups(
    columns: list[npt.NDArray[Any]], parts: int, mark: str
) -> tuple[FoundGroups, IntArray] | None:
    """Return the groups of a statement's result, and the rows with a mark in place of a name.

    It is None if the result does not have names and integers.

    Groups whose keys are not UTF-8 are left out; that rule depends on the key alone.

    Args:
        columns: the names of the groups, then their integers.
        parts: the number of columns of a key.
        mark: the mark of rows that belong to no group.
    """
    names, integers = columns[0].tolist(), np.column_stack(columns[1:]).astype(np.int64)
    keys: list[KeyText | None] = []
    marked = [i for i, name in enumerate(names) if type(name) is str and name == mark]
    groups = [i for i, name in enumerate(names) if type(name) is not str or name != mark]
    for name in map(names.__getitem__, groups):
        if type(name) is not str or not _DIGITS.issuperset(name):
            return None
        keys.append(_decoded(name.split(":")))
    if any(key is not None and len(key) != parts for key in keys):
        return None
    kept = [i for i, key in zip(groups, keys, strict=True) if key is not None]
    found = FoundGroups(tuple(key for key in keys if key is not None), integers[kept])
    return found, integers[marked]


def _decoded(parts: list[str]) -> KeyText | None:
    try:
        return tuple(bytes.fromhex(part).decode("utf-8") for part in parts)
    except UnicodeDecodeError:
        return None
