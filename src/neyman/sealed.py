"""Errors without private values, for everything between reading rows and storing an answer."""

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

# Errors of this library whose messages are about files, engines and settings, never about rows.
_SPEAKING: Final = (
    BrokenRandomness,
    EngineFailure,
    EntryConflict,
    LedgerCorrupt,
    LedgerUnavailable,
)
_CAUSES: Final[tuple[tuple[type[Exception], str], ...]] = (
    (MemoryError, " (memory ran out)"),
    (RecursionError, " (the question is nested too deeply for Python)"),
    (OSError, " (the operating system reported an error with a file, the disk or the network)"),
)


def sealed(work: Callable[[], T]) -> T:
    """Run work on private values. If it fails, raise a new error without any of them.

    A traceback holds the frames that the error passed through, and with them their variables. An
    error holds its arguments and earlier errors. None of these leaves this function.

    The handlers make no calls. Python checks for Ctrl-C when a call ends and when a function or a
    loop begins; an interrupt there would hold the error that is being handled as its context.

    Args:
        work: computes and stores the answer; its result may be revealed.

    Raises:
        BrokenRandomness, EngineFailure, EntryConflict, LedgerCorrupt, LedgerUnavailable: with the
            original message if `work` raised one of them. Any other error becomes an EngineFailure.
        KeyboardInterrupt, SystemExit: if `work` was stopped. It is a new one, and the exit status
            is 1.
    """
    words: tuple[object, ...] = ()
    try:
        try:
            return work()
        except BaseException as error:
            # Drop the frames at once: if one of them holds the error, they are a reference cycle.
            error.__traceback__ = error.__context__ = error.__cause__ = None
            raise
    except _SPEAKING as error:
        kind, words = error.__class__, error.args
    except BaseException as error:
        kind = error.__class__
    raise withheld(kind, words)


def withheld(kind: type[BaseException], words: tuple[object, ...] = ()) -> BaseException:
    """Return a new error in place of one of this kind, with advice and nothing about the rows.

    Args:
        kind: the class of the error that was raised.
        words: its arguments, if they may be shown.
    """
    if issubclass(kind, _SPEAKING) and words:
        return kind(*words)
    if issubclass(kind, SystemExit):
        return SystemExit(1)
    if not issubclass(kind, Exception):
        # The program is being stopped, as by Ctrl-C.
        with suppress(Exception):
            return kind()
        return KeyboardInterrupt()
    why = next((why for cause, why in _CAUSES if issubclass(kind, cause)), "")
    return EngineFailure(
        f"the question failed before its answer was stored{why}. The original error is not shown, "
        "because it can quote private values. The data may have been read, so the entry stays "
        "charged. Remove the cause and ask once more under the same entry id; that is not charged "
        "again"
    )
