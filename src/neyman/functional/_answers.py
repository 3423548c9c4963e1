"""The answer of a session: a release and its function."""

from typing import Any, Protocol, runtime_checkable

from neyman.functional._abstract import Released

__all__ = ["Answer", "found_in", "release_of"]


@runtime_checkable
class Answer(Protocol):
    """A release with its function, or with its functions by group."""

    @property
    def release(self) -> Released:
        """The release."""
        ...

    @property
    def found(self) -> Any:
        """The result of `function` or `functions`; for one group, the function of that group."""
        ...


def found_in(given: object) -> Any:
    """Return the function or functions of an answer, and any other object unchanged."""
    return given.found if isinstance(given, Answer) else given


def release_of(given: Released | Answer) -> Released:
    """Return the release of an answer, and a release unchanged."""
    return given.release if isinstance(given, Answer) else given
