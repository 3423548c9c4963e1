"""Statistics found by themselves, and built from their fields: a new one is tried unasked."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from random import Random
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from neyman.errors import InvalidParameter, InvalidTable
from neyman.tables import Bounds, Measured, Statistic

__all__ = ["Built", "Over", "drawn", "statistics"]

_TRIES = 200
_SIMPLE: dict[Any, list[Any]] = {
    Bounds: [Bounds(-1, 2, grid=1), Bounds(0, 9, grid=0.5)],
    bool: [False, True],
    int: [0, 1, 2, 3, 10],
    type(None): [None],
}


@dataclass(frozen=True)
class Over:
    """Stands for a column with its bounds until there is a table."""

    column: str


@dataclass(frozen=True)
class Built:
    """A statistic as plain data: the name of its class, and its fields."""

    name: str
    held: tuple[tuple[str, Any], ...]

    def on(self, measured: Callable[[str], Measured]) -> Statistic:
        """Make it."""
        kind = {found.__qualname__: found for found in statistics(everywhere=True)}[self.name]
        return kind(**{name: _made(value, measured) for name, value in self.held})


def statistics(*, everywhere: bool = False) -> Iterator[type[Statistic]]:
    """Yield each concrete class, of the library alone or of whoever wrote some."""
    waiting, seen = [Statistic], set[type]()
    while waiting:
        kind = waiting.pop()
        waiting += kind.__subclasses__()
        own = kind.__module__.startswith("neyman.") and not kind.__name__.startswith("_")
        # A dataclass with slots leaves the class behind that it was made of.
        real = getattr(inspect.getmodule(kind), kind.__qualname__, kind) is kind
        if not inspect.isabstract(kind) and (own or everywhere) and real and kind not in seen:
            seen.add(kind)
            yield kind


def drawn(draw: Random, kind: type[Statistic], columns: list[str], depth: int = 1) -> Built:
    """Draw its fields until the class takes them."""
    bounds = Bounds(-1, 2, grid=1)
    for _ in range(_TRIES):
        hints = get_type_hints(kind)
        held = tuple(
            (field.name, _value(draw, kind, field.name, hints[field.name], columns, depth))
            for field in fields(kind)
            if field.init
        )
        built = Built(kind.__qualname__, held)
        try:
            built.on(lambda column: Measured(column, bounds))
        except (InvalidParameter, InvalidTable):
            continue
        return built
    raise AssertionError(
        f"{kind.__qualname__} refused {_TRIES} draws of its fields; say in tests/fuzz/built.py "
        "what they may be"
    )


def _value(draw: Random, owner: type, name: str, hint: Any, columns: list[str], depth: int) -> Any:
    def one(inner: Any) -> Any:
        return _value(draw, owner, name, inner, columns, depth)

    origin, inner = get_origin(hint), get_args(hint)
    if hint is Statistic:
        kinds = [kind for kind in statistics() if depth or Statistic not in _held(kind)]
        return drawn(draw, draw.choice(kinds), columns, depth - 1)
    if hint in _SIMPLE:
        return draw.choice(_SIMPLE[hint])
    if hint is Measured:
        return Over(draw.choice(columns))
    if origin is Literal:
        return draw.choice(inner)
    if origin in (Union, types.UnionType):
        return one(draw.choice(inner))
    if origin is tuple:
        repeated = inner[:1] * draw.choice([0, 1, 1, 2, 2, 3])
        return tuple(map(one, repeated if inner[-1] is ... else inner))
    raise AssertionError(
        f"the fuzzer cannot draw {hint} for {owner.__qualname__}.{name}; write how into _SIMPLE or "
        "_value of tests/fuzz/built.py, so that the statistic is tried like the others"
    )


def _held(kind: type) -> set[Any]:
    return {part for hint in get_type_hints(kind).values() for part in (hint, *get_args(hint))}


def _made(value: Any, measured: Callable[[str], Measured]) -> Any:
    match value:
        case Over(column):
            return measured(column)
        case Built():
            return value.on(measured)
        case tuple():
            return tuple(_made(part, measured) for part in value)
        case _:
            return value
