"""Who looks for private numbers in all that an error carries, as a debugger or a crash report does.

Walked are the error, those before it, their arguments, notes and attributes, the variables of every
frame of their tracebacks, and what those hold, four steps deep: containers, arrays, objects,
closures, generators. Not walked are modules, types and what is global.
"""

import gc
import sys
import types
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np
import pytest

import neyman as ny

_SOURCE = str(Path(ny.__file__).parent)
_DEPTH = 4
_PLAIN = (type(None), bool, float, complex, type, types.ModuleType, types.CodeType)


def leaks(error: BaseException, secrets: Iterable[object]) -> list[str]:
    """Return where a secret, a number or a text, stands in what an error carries.

    The caller's own frames come first and hold what the caller holds; they are left out.
    """
    wanted = {str(secret) for secret in secrets}
    found: list[str] = []
    seen: dict[int, object] = {}
    trace = error.__traceback__
    while trace is not None and not trace.tb_frame.f_code.co_filename.startswith(_SOURCE):
        trace = trace.tb_next
    waiting = deque([("error", error.with_traceback(trace), _DEPTH)])
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
    elif isinstance(thing, types.FrameType):
        yield from ((f".{name}", value) for name, value in thing.f_locals.items())
    elif isinstance(thing, types.FunctionType):
        yield from ((f".{place}", cell) for place, cell in enumerate(thing.__closure__ or ()))
        yield ".defaults", (thing.__defaults__, thing.__kwdefaults__)
    else:
        # All else is taken apart by what Python's collector of garbage follows.
        yield from ((f"[{place}]", part) for place, part in enumerate(gc.get_referents(thing)))


@pytest.fixture(name="leaks")
def _leaks() -> Callable[..., list[str]]:
    return leaks


Place = tuple[str, int]


class Lines:
    """Sees the lines of some rooms that run once the rows are read, and raises at one of them."""

    def __init__(self) -> None:
        self.seen: dict[Place, None] = {}
        self.read = False
        self._rooms: tuple[str, ...] = ()
        self._target: tuple[Place, BaseException] | None = None

    def run(self, work: Callable[[], object], rooms: tuple[str, ...], stop=None) -> None:
        """Run `work`; `stop` is a line and what is raised the first time that it is reached."""
        self._rooms = tuple(f"{_SOURCE}/{room}" for room in rooms)
        self.read, self._target = False, stop
        before = sys.gettrace()
        sys.settrace(self._trace)
        try:
            work()
        finally:
            sys.settrace(before)

    def _trace(self, frame, event, _argument):
        if not frame.f_code.co_filename.startswith(self._rooms):
            return None
        if event == "line" and self.read:
            place = (frame.f_code.co_filename, frame.f_lineno)
            self.seen[place] = None
            if self._target is not None and self._target[0] == place:
                raised, self._target = self._target[1], None
                raise raised
        return self._trace


@pytest.fixture
def lines() -> Lines:
    return Lines()
