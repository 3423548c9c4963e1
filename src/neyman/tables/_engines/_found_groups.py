"""Groups that nobody declared, as a statement gives them: names, then integers."""

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from neyman.aggregate import FoundGroups, KeyText

__all__ = ["read_groups"]

# Names are written by `_statements/_found.py`.
_DIGITS: Final = frozenset("0123456789abcdef:")


def read_groups(columns: list[npt.NDArray[Any]], parts: int) -> FoundGroups | None:
    """Return what a statement gave, or None if it is not names and integers.

    Groups whose keys are no UTF-8 are left out: a rule about the key alone.

    Args:
        columns: names of the groups, then their integers.
        parts: how many columns a key has.
    """
    names, integers = columns[0].tolist(), np.column_stack(columns[1:]).astype(np.int64)
    keys: list[KeyText | None] = []
    for name in names:
        if type(name) is not str or not _DIGITS.issuperset(name):
            return None
        keys.append(_decoded(name.split(":")))
    if any(key is not None and len(key) != parts for key in keys):
        return None
    kept = [i for i, key in enumerate(keys) if key is not None]
    return FoundGroups(tuple(key for key in keys if key is not None), integers[kept])


def _decoded(parts: list[str]) -> KeyText | None:
    try:
        return tuple(bytes.fromhex(part).decode("utf-8") for part in parts)
    except UnicodeDecodeError:
        return None
