"""Error messages for wrong calls, in sentences instead of Python's few words."""

import inspect
from collections.abc import Callable
from difflib import get_close_matches
from functools import wraps
from types import FunctionType
from typing import Any, ParamSpec, TypeVar, cast

from neyman.errors import InvalidCall

__all__ = ["plain_calls", "plain_calls_of"]

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")


def plain_calls(function: Callable[P, R]) -> Callable[P, R]:
    """Return the function with a better error for a call with wrong arguments.

    Raises:
        InvalidCall: by the call; it is a `TypeError`, like Python's own.
    """

    @wraps(function)
    def call(*args: P.args, **named: P.kwargs) -> R:
        try:
            return function(*args, **named)
        except TypeError as error:
            # An error from inside the function has passed through a second frame.
            if error.__traceback__ is None or error.__traceback__.tb_next is not None:
                raise
            refused = _sentence(function, len(args), list(named))
        raise InvalidCall(refused)

    return call


def plain_calls_of(kind: type[T]) -> type[T]:
    """Apply `plain_calls` to a class and its public methods."""
    for name, member in list(vars(kind).items()):
        if name.startswith("_") and name != "__init__":
            continue
        if isinstance(member, FunctionType):
            setattr(kind, name, plain_calls(member))
        elif isinstance(member, staticmethod | classmethod):
            wrapped = cast("staticmethod[..., Any]", member)
            setattr(kind, name, type(wrapped)(plain_calls(wrapped.__func__)))
    return kind


def _sentence(function: Callable[..., object], places: int, names: list[str]) -> str:
    """Return what is missing or too much, with the names of arguments but not their values."""
    called, how = _called(function), _how(function)
    parameters = _parameters(function)
    if any(one.name.startswith("_") for one in parameters):
        return f"{called} is not made by hand; see help(neyman.{called}) for what makes one"
    places -= len(inspect.signature(function).parameters) - len(parameters)
    by_place = [one.name for one in parameters if one.kind is one.POSITIONAL_OR_KEYWORD]
    by_name = [one.name for one in parameters if one.kind is not one.VAR_POSITIONAL]
    for name in names:
        if name not in by_name:
            near = get_close_matches(name, by_name, n=1, cutoff=0.6)
            meant = f"; did you mean {near[0]}?" if near else "."
            return f"{called}() has no argument {name!r}{meant} {how}"
    if places > len(by_place):
        most = len(by_place)
        many = {0: "no arguments", 1: "one argument"}.get(most, f"{most} arguments")
        return f"{called}() takes {many} without names; got {places}. {how}"
    for name in by_place[:places]:
        if name in names:
            return f"{called}() got {name} twice, by its place and by its name. {how}"
    given = {*by_place[:places], *names}
    lacking = [one.name for one in parameters if _needed(one) and one.name not in given]
    return f"{called}() needs {', '.join(lacking)}. {how}"


def _called(function: Callable[..., object]) -> str:
    """Return the name as it is written in a call; for a method without its object."""
    owner, _, name = function.__qualname__.rpartition(".")
    return owner if name == "__init__" else name


def _how(function: Callable[..., object]) -> str:
    """Return the call as text: what it needs, and the names of its other parameters."""
    called, parameters = _called(function), _parameters(function)
    needed = [
        f"{one.name}=..." if one.kind is one.KEYWORD_ONLY else one.name
        for one in parameters
        if _needed(one)
    ]
    more = [one.name for one in parameters if one.default is not one.empty]
    also = f"; it also takes {', '.join(more)}" if more else ""
    return f"Write {called}({', '.join(needed)}){also}"


def _parameters(function: Callable[..., object]) -> list[inspect.Parameter]:
    """Return the parameters that a caller writes."""
    found = inspect.signature(function).parameters.values()
    return [one for one in found if one.name not in ("self", "cls")]


def _needed(one: inspect.Parameter) -> bool:
    return one.default is one.empty and one.kind is not one.VAR_KEYWORD
