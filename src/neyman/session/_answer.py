"""What a question of a session is answered with."""

from typing import TYPE_CHECKING, TypeAlias

from neyman.released import Release

if TYPE_CHECKING:
    from neyman.session._functions import FunctionRelease, FunctionReleases

__all__ = ["Answer", "answer_of"]

Answer: TypeAlias = "Release | FunctionRelease | FunctionReleases"


def answer_of(release: Release) -> Answer:
    """Return a release of a function as the function; any other as it is."""
    if "coefficient" not in release.columns:
        return release
    # A first count does not wait for all that a function is read with.
    from neyman.session._functions import functions_of

    return functions_of(release)
