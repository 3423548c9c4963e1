"""The fields of a stored record, checked for type and size."""

import json
import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Final, cast

from neyman.arguments import brief
from neyman.errors import InvalidParameter
from neyman.numerics import rational

__all__ = ["LONGEST_TEXT", "MOST_ITEMS", "Fields", "object_of_text"]

LONGEST_TEXT: Final = 10_000
MOST_ITEMS: Final = 10_000
_MOST: Final = 2**52


class Fields:
    """The fields of one object in a stored record.

    Args:
        record: the object in the file.
        where: name of its place, for errors.
        names: the names that it must have, and no others.

    Raises:
        InvalidParameter: if the record is not an object with exactly these names.
    """

    def __init__(self, record: object, where: str, names: set[str]) -> None:
        if not isinstance(record, Mapping):
            raise InvalidParameter(f"{where} must be an object; write what to_json gives")
        known = cast("Mapping[object, object]", record)
        odd = {*known} ^ names
        if odd:
            first = min(odd, key=str)
            fault = "is missing" if first in names else "is unknown"
            raise InvalidParameter(
                f"{where} must have the keys {', '.join(sorted(names))}; {brief(repr(first))} "
                f"{fault}. Write what to_json gives"
            )
        self._known = cast("Mapping[str, object]", record)
        self._where = where

    def any(self, name: str) -> object:
        """Return a field as it is."""
        return self._known[name]

    def text(self, name: str) -> str:
        """Return a text."""
        value = self._known[name]
        if not isinstance(value, str) or len(value) > LONGEST_TEXT:
            raise self._refused(name, f"a text of at most {LONGEST_TEXT} characters")
        return value

    def text_or_none(self, name: str) -> str | None:
        """Return a text, or None for null."""
        return None if self._known[name] is None else self.text(name)

    def flag(self, name: str) -> bool:
        """Return true or false."""
        value = self._known[name]
        if not isinstance(value, bool):
            raise self._refused(name, "true or false")
        return value

    def whole(self, name: str) -> int:
        """Return a whole number of at least 0."""
        value = self._known[name]
        if type(value) is not int or not 0 <= value <= _MOST:
            raise self._refused(name, "a whole number from 0 to 2^52")
        return value

    def whole_or_none(self, name: str) -> int | None:
        """Return a whole number, or None for null."""
        return None if self._known[name] is None else self.whole(name)

    def ratio(self, name: str) -> Fraction:
        """Return an exact number, stored as text."""
        value = self._known[name]
        found = rational(value) if isinstance(value, str) else None
        if found is None:
            raise self._refused(name, 'an exact number as text, such as "11/10"')
        return found

    def ratio_or_none(self, name: str) -> Fraction | None:
        """Return an exact number, or None for null."""
        return None if self._known[name] is None else self.ratio(name)

    def items(self, name: str) -> list[Any]:
        """Return a list."""
        value = self._known[name]
        if not isinstance(value, list) or len(cast("list[Any]", value)) > MOST_ITEMS:
            raise self._refused(name, f"a list of at most {MOST_ITEMS} items")
        return cast("list[Any]", value)

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a list of texts."""
        values = self.items(name)
        if not all(isinstance(one, str) and len(one) <= LONGEST_TEXT for one in values):
            raise self._refused(name, f"a list of texts of at most {LONGEST_TEXT} characters")
        return tuple(values)

    def plain(self, name: str) -> dict[str, Any]:
        """Return an object of texts, numbers, booleans and lists of these."""
        value = self._known[name]
        if not isinstance(value, dict) or not is_plain(cast("dict[object, object]", value)):
            raise self._refused(
                name, "an object of texts, finite numbers, truth values and lists of these"
            )
        return cast("dict[str, Any]", value)

    def _refused(self, name: str, instead: str) -> InvalidParameter:
        return InvalidParameter(
            f"{self._where}.{name} must be {instead}; got a value of another kind or size. "
            "Write what to_json gives"
        )


def is_plain(found: Mapping[Any, object]) -> bool:
    """Return whether an object has only texts, numbers, booleans and short lists of these."""
    parts: list[object] = []
    for value in found.values():
        several = isinstance(value, list | tuple)
        parts += cast("list[object]", value) if several else [value]
        if len(parts) > MOST_ITEMS:
            return False
    return all(isinstance(key, str) for key in found) and all(map(_is_scalar, parts))


def _is_scalar(value: object) -> bool:
    match value:
        case None | bool():
            return True
        case int():
            return abs(value) <= _MOST
        case float():
            return math.isfinite(value)
        case str():
            return len(value) <= LONGEST_TEXT
        case _:
            return False


def object_of_text(text: str, where: str) -> object:
    """Return the value of a JSON text; refuse repeated names, and numbers that JSON does not have.

    Raises:
        InvalidParameter: if the text is not such a value.
    """
    try:
        return json.loads(text, object_pairs_hook=_no_name_twice, parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise InvalidParameter(
            f"{where} must be JSON without repeated names and with finite numbers only; got "
            f"a text of {len(text)} characters that is not. Write what save() writes"
        ) from None


def _no_name_twice(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError
    return found


def _no_number(written: str) -> float:
    raise ValueError(written)
