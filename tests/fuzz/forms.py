"""Expressions drawn from the library's own list of operations, by their types alone."""

from __future__ import annotations

from datetime import date, datetime
from random import Random
from typing import Any

from neyman.errors import InvalidParameter, InvalidTable
from neyman.tables import read_expression
from neyman.tables._expressions._operations import OPERATIONS
from neyman.tables._types import Type

__all__ = ["condition", "number"]

_COLUMNS = {
    Type.NUMBER: ("x", "y", "k"),
    Type.TEXT: ("g",),
    Type.DAY: ("d",),
    Type.TIME: ("w",),
    Type.TRUTH: ("b",),
}
_FORMATS = ("%d.%m.%Y", "%Y-%m-%d", "%Y%m%d", "%Y-%m-%d %H:%M", "%d/%m/%YT%H:%M:%S")
_LITERALS: dict[Type, tuple[Any, ...]] = {
    Type.NUMBER: (0, 1, 2, -1, 0.5, 9, 10**15),
    Type.TEXT: ("a", "", "1", "é", "nobody's", "month", "week", "+09:00", *_FORMATS),
    Type.DAY: (date(1, 1, 1), date(2000, 2, 29), date(9999, 12, 31)),
    Type.TIME: (datetime(1, 1, 1), datetime(2000, 2, 29, 12, 30), datetime(9999, 12, 31, 23)),
    Type.TRUTH: (True, False),
}
_TRIES = 50


def number(draw: Random, depth: int) -> Any:
    """Draw a form that gives a number."""
    return _accepted(draw, Type.NUMBER, depth)


def condition(draw: Random, depth: int) -> Any:
    """Draw a form that is true or not."""
    return _accepted(draw, Type.TRUTH, depth)


def _accepted(draw: Random, kind: Type, depth: int) -> Any:
    for _ in range(_TRIES):
        form = _form(draw, kind, depth)
        try:
            read_expression(_listed(form))
        except (InvalidParameter, InvalidTable):
            continue
        return form
    return ("col", _COLUMNS[kind][0])


def _form(draw: Random, kind: Type, depth: int) -> Any:
    if depth == 0 or draw.random() < 0.2:
        return _leaf(draw, kind)
    fitting = [
        operation
        for operation in OPERATIONS.values()
        if operation.gives == kind or (operation.gives is None and kind in operation.among)
    ]
    operation = draw.choice(fitting)
    size = draw.randint(operation.least, min(operation.most, operation.least + 2))
    size += operation.odd and size % 2 == 0
    shared = kind if operation.gives is None else draw.choice(sorted(operation.among, key=repr))
    takes = [shared if one is None else one for one in operation.takes(size)]
    parts = [
        draw.choice(_LITERALS[one]) if place >= operation.literal else _form(draw, one, depth - 1)
        for place, one in enumerate(takes)
    ]
    return (operation.name, *parts)


def _leaf(draw: Random, kind: Type) -> Any:
    if draw.random() < 0.7:
        return ("col", draw.choice(_COLUMNS[kind]))
    return draw.choice(_LITERALS[kind])


def _listed(form: Any) -> Any:
    return [_listed(part) for part in form] if isinstance(form, tuple) else form
