"""Reports that people read. The page needs the extra `tables`; the words need nothing."""

from importlib import import_module
from typing import TYPE_CHECKING

from neyman.report._explain import explain
from neyman.report._explanation import Explanation, Section, Sentence

if TYPE_CHECKING:
    from neyman.report._functions import ReadOff as ReadOff
    from neyman.report._functions import figures as figures
    from neyman.report._functions import read_off as read_off
    from neyman.report._ledger_page import ledger_html as ledger_html
    from neyman.report._page import html as html
    from neyman.report._rehearsal import rehearsal_html as rehearsal_html

__all__ = [
    "Explanation",
    "ReadOff",
    "Section",
    "Sentence",
    "explain",
    "figures",
    "html",
    "ledger_html",
    "read_off",
    "rehearsal_html",
]

_LATER = {
    "ReadOff": "neyman.report._functions",
    "figures": "neyman.report._functions",
    "html": "neyman.report._page",
    "ledger_html": "neyman.report._ledger_page",
    "read_off": "neyman.report._functions",
    "rehearsal_html": "neyman.report._rehearsal",
}


def __getattr__(name: str) -> object:
    """Load at its first use what shows releases: they come from `publish`."""
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LATER[name]), name)
