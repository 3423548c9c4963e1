"""One object for a table, its unit and its budget: ask, preview, release, report."""

from neyman.session._functions import FunctionRelease, FunctionReleases
from neyman.session._open import open  # noqa: A004
from neyman.session._plan import Planned
from neyman.session._question import Question
from neyman.session._session import Session

__all__ = [
    "FunctionRelease",
    "FunctionReleases",
    "Planned",
    "Question",
    "Session",
    "open",
]
