"""Who looks for private numbers in all that an error carries, as a debugger or a crash report does.

Walked are the error, those before it, their arguments, notes and attributes, the variables of every
frame of their tracebacks, and what those hold: containers, arrays, objects, closures, partials,
generators, frames of generators. Not walked are modules, types and what is global.
"""

import sys
import types
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import neyman as ny

_PLAIN = (type(None), bool, float, complex, type, types.ModuleType, types.CodeType)


def leaks(error: BaseException, secrets: Iterable[object], depth: int = 4) -> list[str]:
    """Return where a secret, a number or a text, stands in what an error carries."""
    wanted = {str(secret) for secret in secrets}
    found: list[str] = []
    seen: dict[int, object] = {}
    waiting = deque([("error", error, depth)])
    while waiting:
        path, thing, left = waiting.popleft()
        if isinstance(thing, _PLAIN) or id(thing) in seen:
            continue
        seen[id(thing)] = thing
        told = _told(thing)
        found += [f"{path}: {secret}" for secret in wanted if secret in told]
        if left:
            # Errors and frames lead on; only what lies in a frame's variables is deeper.
            cost = not isinstance(thing, BaseException | types.TracebackType | types.FrameType)
            waiting += [(f"{path}{name}", part, left - cost) for name, part in _parts(thing)]
    return found


def _told(thing: object) -> str:
    if isinstance(thing, bytes | bytearray | memoryview):
        return bytes(thing).decode("latin-1")
    if isinstance(thing, np.ndarray):
        return str(thing.tolist())
    return str(thing) if isinstance(thing, str | int | np.generic) else ""


def _parts(thing: object) -> Iterator[tuple[str, object]]:
    if isinstance(thing, types.TracebackType):
        yield f" {thing.tb_frame.f_code.co_name}", thing.tb_frame
        yield "", thing.tb_next
        return
    if isinstance(thing, types.FrameType):
        yield from ((f".{name}", value) for name, value in thing.f_locals.items())
        return
    if isinstance(thing, BaseException):
        yield "", thing.__traceback__
        yield "<-", thing.__context__
        yield "<-", thing.__cause__
        yield ".args", thing.args
    if isinstance(thing, types.FunctionType):
        yield from ((f".{n}", _content(c)) for n, c in enumerate(thing.__closure__ or ()))
        yield ".defaults", thing.__defaults__
        return
    if isinstance(thing, partial):
        yield ".partial", (thing.func, thing.args, thing.keywords)
    if isinstance(thing, types.MethodType):
        yield ".self", thing.__self__
        yield ".function", thing.__func__
    if isinstance(thing, types.GeneratorType):
        yield " frame", thing.gi_frame
    if isinstance(thing, Mapping):
        yield from ((f"[{key!r}]", value) for key, value in list(thing.items()))
        yield ".keys", list(thing)
    elif isinstance(thing, list | tuple | set | frozenset | deque):
        yield from ((f"[{place}]", part) for place, part in enumerate(thing))
    yield from _attributes(thing)


def _attributes(thing: object) -> Iterator[tuple[str, object]]:
    yield from ((f".{name}", value) for name, value in getattr(thing, "__dict__", {}).items())
    for kind in type(thing).__mro__:
        names = kind.__dict__.get("__slots__", ())
        for name in (names,) if isinstance(names, str) else tuple(names):
            yield f".{name}", getattr(thing, name, None)


def _content(cell: types.CellType) -> object:
    try:
        return cell.cell_contents
    except ValueError:
        return None


@pytest.fixture(name="leaks")
def _leaks() -> Callable[..., list[str]]:
    return leaks


Place = tuple[str, int]
_SOURCE = str(Path(ny.__file__).parent)


class Lines:
    """Sees every line of the library that runs, and raises at one of them."""

    def __init__(self) -> None:
        self.seen: dict[Place, None] = {}
        self._target: tuple[Place, BaseException] | None = None

    def run(self, work: Callable[[], object], at: Place | None = None, raises=None) -> None:
        """Run `work`; at the first time at a line, raise."""
        self._target = None if at is None else (at, raises)
        before = sys.gettrace()
        sys.settrace(self._trace)
        try:
            work()
        finally:
            sys.settrace(before)

    def _trace(self, frame, event, _argument):
        if not frame.f_code.co_filename.startswith(_SOURCE):
            return None
        if event == "line":
            place = (frame.f_code.co_filename, frame.f_lineno)
            self.seen[place] = None
            if self._target is not None and self._target[0] == place:
                raised, self._target = self._target[1], None
                raise raised
        return self._trace


@pytest.fixture
def lines() -> Lines:
    return Lines()
