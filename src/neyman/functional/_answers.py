"""What a session answers with: a release, and the function that was made of it."""

from typing import Any, Protocol, runtime_checkable

from neyman.functional._abstract import Released

__all__ = ["Answer", "found_in", "release_of"]


@runtime_checkable
class Answer(Protocol):
    """A release beside its function, or beside its functions by group."""

    @property
    def release(self) -> Released:
        """What was released."""
        ...

    @property
    def found(self) -> Any:
        """What `function` or `functions` makes of it; of one group the function of that group."""
        ...


def found_in(given: object) -> Any:
    """Return the function or functions of an answer; anything else as it is."""
    return given.found if isinstance(given, Answer) else given


def release_of(given: Released | Answer) -> Released:
    """Return the release of an answer; a release as it is."""
    return given.release if isinstance(given, Answer) else given
