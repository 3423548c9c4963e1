"""Errors without private values: what happens between reading rows and storing an answer."""

from collections.abc import Callable
from contextlib import suppress
from typing import Final, TypeVar

from neyman.errors import (
    BrokenRandomness,
    EngineFailure,
    EntryConflict,
    LedgerCorrupt,
    LedgerUnavailable,
)

__all__ = ["sealed", "withheld"]

T = TypeVar("T")

# Errors of this library's whose words are of files, engines and settings, never of rows.
_SPEAKING: Final = (
    BrokenRandomness,
    EngineFailure,
    EntryConflict,
    LedgerCorrupt,
    LedgerUnavailable,
)
_CAUSES: Final[tuple[tuple[type[Exception], str], ...]] = (
    (MemoryError, " (memory ran out)"),
    (RecursionError, " (Python's stack ran out)"),
    (OSError, " (the operating system refused something: files, disk, network)"),
)


def sealed(work: Callable[[], T]) -> T:
    """Run what sees private values; what it raises comes out as an error without any of them.

    A traceback holds the frames that the error passed, and so their variables; an error holds its
    arguments, and the errors that came before it. All of that ends here: out goes a new error.

    No call stands in the handlers. Python looks for Ctrl-C where a call ends or a function or a
    loop begins, and an interrupt there would carry along what is being handled.

    Args:
        work: computes and stores; what it returns may be shown.

    Raises:
        BrokenRandomness, EngineFailure, EntryConflict, LedgerCorrupt, LedgerUnavailable: in their
            own words if `work` raised one of them; else an EngineFailure.
        KeyboardInterrupt, SystemExit: if `work` was stopped; a new one, and the exit status is 1.
    """
    words: tuple[object, ...] = ()
    try:
        try:
            return work()
        except BaseException as error:
            # The frames go at once: where one of them holds the error they would be a cycle.
            error.__traceback__ = error.__context__ = error.__cause__ = None
            raise
    except _SPEAKING as error:
        kind, words = error.__class__, error.args
    except BaseException as error:
        kind = error.__class__
    raise withheld(kind, words)


def withheld(kind: type[BaseException], words: tuple[object, ...] = ()) -> BaseException:
    """Return a new error for one of this kind, which says what to do and nothing of the rows.

    Args:
        kind: of the error that was raised.
        words: of it, if they may be told.
    """
    if issubclass(kind, _SPEAKING) and words:
        return kind(*words)
    if issubclass(kind, SystemExit):
        return SystemExit(1)
    if not issubclass(kind, Exception):
        # Somebody stops the program, as Ctrl-C does.
        with suppress(Exception):
            return kind()
        return KeyboardInterrupt()
    why = next((why for cause, why in _CAUSES if issubclass(kind, cause)), "")
    return EngineFailure(
        f"the question failed before its answer was stored{why}, and what was said is withheld, "
        "for it can quote private values. Data may have been touched, so the entry stays charged; "
        "remove the cause and ask once more under the same entry id"
    )
