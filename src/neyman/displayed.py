"""The HTML of an object at the end of a notebook cell."""

from importlib import import_module

__all__ = ["Displayed"]


class Displayed:
    """An object that JupyterLab, VS Code and other notebooks display as HTML."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        """Return the HTML. `neyman.notebook` is imported here, because it imports this module."""
        made: str = import_module("neyman.notebook").html_of(self)
        return made
