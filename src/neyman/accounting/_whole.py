"""Counts that a user gives."""

import operator
from typing import Any

from neyman.errors import InvalidParameter

__all__ = ["whole_number"]


def whole_number(value: Any, name: str, *, least: int) -> int:
    """Return a whole number of at least `least`.

    Raises:
        InvalidParameter: if it is none, or a truth value.
    """
    try:
        count = operator.index(value)
    except TypeError:
        count = least - 1
    if count < least or isinstance(value, bool):
        raise InvalidParameter(f"{name} must be an int of at least {least}; got {value!r}")
    return count
