"""Records, read as strictly as they were written."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Protocol, TypeVar

from neyman.errors import InvalidParameter
from neyman.numerics import exact, rational

__all__ = ["number", "strictly"]


def number(value: object) -> Fraction:
    """Return the rational that a record writes as a decimal or as a ratio.

    Raises:
        ValueError: if it is no such text, not finite, or too long.
    """
    found = rational(value)
    if found is None:
        raise ValueError("no number")
    return exact(found, "a number")


class Written(Protocol):
    """What is written to a record, version and all."""

    def to_json(self) -> dict[str, object]:
        """Return the record."""
        ...


_Thing = TypeVar("_Thing", bound=Written)


def strictly(
    make: Callable[[Mapping[str, object]], _Thing], record: Mapping[str, object], what: str
) -> _Thing:
    """Return what `make` reads from a record, if it would be written just so.

    Raises:
        InvalidParameter: if the record is malformed, of a later version, or of something else.
    """
    found: _Thing | None = None
    try:
        found = make(record)
        same = found.to_json() == record
    except (KeyError, TypeError, ValueError, OverflowError, AttributeError, RecursionError):
        same = False
    if found is None or not same:
        raise InvalidParameter(
            f"a record of {what} is malformed or of another version; write it by to_json"
        )
    return found
