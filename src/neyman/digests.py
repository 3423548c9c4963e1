"""Digests that distinguish computations, from all their parameters, without a list of these."""

import hashlib
import json
from datetime import date
from fractions import Fraction
from typing import Any, Final, cast

import numpy as np
import numpy.typing as npt

from neyman.errors import InvalidParameter

__all__ = ["digest"]

_ABSENT: Final = object()


def digest(*parts: object) -> str:
    """Return a SHA-256 digest of values, of everything in them, and of their classes.

    There is no list of parameters, so none can be forgotten: all attributes of an object count,
    whatever its own record contains. The digest is the same in every process and on every machine.
    Digests are stored: a class that moves to another module sets `digest_name`, a class variable,
    to the full name under which it is stored.

    Args:
        *parts: numbers, text, bytes, dates, None, NumPy arrays, lists, mappings, and objects of
            these.

    Raises:
        InvalidParameter: if one contains something else, such as a function.

    >>> digest(Fraction(1, 2)) == digest(0.5)
    False
    """
    return hashlib.sha256(json.dumps([_written(part) for part in parts]).encode()).hexdigest()


def _written(value: object) -> object:
    """Return lists of text that differ if two values differ."""
    match value:
        case None | bool() | int() | str():
            return [_kind(value), str(value)]
        case float():
            return [_kind(value), value.hex()]
        case Fraction() | date():
            return [type(value).__name__, str(value)]
        case np.generic():
            return _array(np.asarray(cast("object", value)))
        case bytes():
            return ["bytes", value.hex()]
        case np.ndarray():
            return _array(cast("npt.NDArray[Any]", value))
        case list() | tuple():
            several = cast("list[object]", value)
            return [_kind(several).replace("tuple", "list"), *map(_written, several)]
        case dict():
            pairs = cast("dict[object, object]", value).items()
            return [
                _kind(cast("object", value)),
                *([_written(key), _written(held)] for key, held in pairs),
            ]
        case _:
            return _object(value)


def _kind(value: object) -> str:
    """Return the name of a built-in type, or the full name of another type."""
    kind = type(value)
    own = kind.__module__ == "builtins"
    return kind.__name__ if own else f"{kind.__module__}.{kind.__qualname__}"


def _array(array: npt.NDArray[Any]) -> object:
    if array.dtype.hasobject:
        raise InvalidParameter(
            f"an array must hold numbers or fixed-width text; got dtype {array.dtype}"
        )
    held = hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()
    return ["array", array.dtype.str, list(array.shape), held]


def _object(value: object) -> object:
    """Return the class of an object, and all its attributes."""
    kind = type(value)
    known = [vars(base).get("__slots__") for base in kind.__mro__[:-1]]
    held = getattr(value, "__dict__", None)
    # The content of a class written in C is not visible.
    if callable(value) or (held is None and None in (known or [None])):
        raise InvalidParameter(
            "a part of a question must be a number, text, or a frozen dataclass of these, so that "
            f"two questions can be compared; got a value of type {kind.__name__}"
        )
    slots = (name for part in known for name in ([part] if isinstance(part, str) else part or ()))
    # An abstract base may name attributes of its subclasses.
    found = ((name, getattr(value, name, _ABSENT)) for name in sorted({*slots, *(held or ())}))
    attributes = [[name, _written(part)] for name, part in found if part is not _ABSENT]
    # Of the class itself and not inherited: another class is another computation.
    name = vars(kind).get("digest_name", f"{kind.__module__}.{kind.__qualname__}")
    return [name, *attributes]
