"""Sessions, with their questions, plans and functions."""

from collections.abc import Iterator

from neyman.notebook import _ledgers, _publications, _questions, _releases, _tables
from neyman.notebook._card import card, facts, lines, quiet
from neyman.session import FunctionRelease, FunctionReleases, Planned, Question, Session

__all__ = ["html"]


def html(shown: object) -> str:
    """Return the HTML of a session, a question, a plan or a function."""
    match shown:
        case Session():
            return card("Session", _session(shown))
        case Question():
            return _questions.html(shown.aggregate)
        case Planned():
            return _publications.html(shown.preview())
        case FunctionRelease() | FunctionReleases():
            return _releases.html(shown.release)
        case _:
            return card(type(shown).__name__, [lines(str(shown))])


def _session(shown: Session) -> Iterator[str]:
    yield _tables.html(shown.table)
    if shown.ledger is None:
        yield quiet("No ledger: questions can be previewed, but not released.")
    else:
        yield _ledgers.html(shown.ledger)
    if shown.releases:
        yield facts({"Released in this session": ", ".join(shown.releases)})
