"""The HTML that a notebook shows for an object, in light and dark themes."""

from importlib import import_module
from typing import Final

from neyman.displayed import Displayed

__all__ = ["html_of"]

# The module for the objects of each package, imported when first used.
_SHOWN_BY: Final = {
    "aggregate": "_questions",
    "audit": "_audits",
    "curves": "_guarantees",
    "functional": "_functions",
    "ledger": "_ledgers",
    "publish": "_publications",
    "released": "_releases",
    "session": "_sessions",
    "tables": "_tables",
    "training": "_trainings",
}


def html_of(shown: Displayed) -> str:
    """Return the HTML of an object, at most 20 kB.

    Guarantee: it shows only public information, as the text of the object does. Nothing is charged,
    and no private row is read.
    """
    names = (kind.__module__.split(".") for kind in type(shown).__mro__)
    package = next(parts[1] for parts in names if parts[0] == "neyman")
    page: str = import_module(f"neyman.notebook.{_SHOWN_BY[package]}").html(shown)
    return page
