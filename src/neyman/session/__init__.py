"""A session: one object for a table, its privacy unit and its budget."""

from importlib import import_module
from typing import TYPE_CHECKING

from neyman.session._declared import By, Ends, cap_given
from neyman.session._open import open  # noqa: A004
from neyman.session._question import Question
from neyman.session._session import Session
from neyman.session._spends import Spends, check_share

if TYPE_CHECKING:
    from neyman.session._functions import FunctionRelease as FunctionRelease
    from neyman.session._functions import FunctionReleases as FunctionReleases
    from neyman.session._page import page_of as page_of
    from neyman.session._plan import Planned as Planned

# Imported when first used: released functions take longer to import than a count takes to run.
_HOME_OF = {
    "FunctionRelease": "_functions",
    "FunctionReleases": "_functions",
    "Planned": "_plan",
    "page_of": "_page",
}

__all__ = [
    "By",
    "Ends",
    "FunctionRelease",
    "FunctionReleases",
    "Planned",
    "Question",
    "Session",
    "Spends",
    "cap_given",
    "check_share",
    "open",
    "page_of",
]


def __getattr__(name: str) -> object:
    """Import a name when it is first used."""
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)


def __dir__() -> list[str]:
    return __all__
