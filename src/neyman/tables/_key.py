"""Keys: the values that rows of a group have in a column."""

import re
from datetime import date, datetime
from decimal import Decimal
from numbers import Integral, Real
from typing import Final, TypeAlias

from neyman.arguments import written
from neyman.errors import InvalidTable

__all__ = [
    "LARGEST_HALF",
    "LARGEST_NARROW",
    "LARGEST_WHOLE",
    "WHOLE_TEXT",
    "ZEROS",
    "Key",
    "key_of",
    "key_text",
    "plain_text",
    "whole_of",
]

Key: TypeAlias = str | int | bool | date

LARGEST_WHOLE: Final = 2**53
"""Up to here a double tells whole numbers apart."""
LARGEST_NARROW: Final = 2**24 - 1
"""Up to here a float of 4 bytes does, and what became it was no other whole number."""
LARGEST_HALF: Final = 2**11 - 1
"""Of a float of 2 bytes."""
_INT64 = 2**63

WHOLE_TEXT: Final = "^(0|-?[1-9][0-9]*)[.]0+$"
"""What is the text of a whole number but for its last part, `ZEROS`: 1.0, as programs write whole
numbers of a column in which some are unknown."""
ZEROS: Final = "[.]0+$"


def key_text(key: Key) -> str:
    """Return the canonical text of a key."""
    match key:
        case bool():
            return "true" if key else "false"
        case date():
            return key.isoformat()
        case _:
            return str(key)


def plain_text(value: str) -> str:
    """Return the canonical text of a CSV field: 1.0 becomes 1, and all other text stays."""
    # `$` would let a line break follow.
    return value.partition(".")[0] if re.fullmatch(WHOLE_TEXT[1:-1], value) else value


def whole_of(value: float | Real | Decimal) -> int | None:
    """Return a float or decimal as an integer if it is whole, such as the code 1.0; else None."""
    try:
        number = float(value)
    except OverflowError:
        return None
    # NaN is not below, and infinity not either.
    if not abs(number) <= LARGEST_WHOLE or value != int(number):
        return None
    return int(number)


def key_of(value: object, column: str) -> Key:
    """Return the key of a value.

    Raises:
        InvalidTable: if it is not a key that all engines distinguish in the same way.
    """
    match value:
        case datetime():
            fix = "write a date"
        case bool() | date():
            return value
        case str():
            if "\0" not in value and value == value.encode("utf-8", "replace").decode():
                return str(value)
            fix = "write text without NUL and without half surrogates"
        case Integral():
            if -_INT64 <= int(value) < _INT64:
                return int(value)
            fix = "write an integer of 64 bits"
        case Real() | Decimal():
            whole = whole_of(value)
            if whole is not None:
                return whole
            fix = "write whole numbers such as 1, or cut the column into Bins"
            if value != value:
                fix = "write None for the rows without a value"
        case _:
            fix = "write text, integers, booleans or dates"
    raise InvalidTable(f"{written(value)} is no key of column {column!r}; {fix}")
